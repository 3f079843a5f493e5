/* Offline models: loaded, described, executed; gears, open shapes, external weights, bundles; damaged
 * containers. */
#include <unistd.h>
#include "models/writer.h"

static model_writer w;
static const float weights[] = {1, 2, 3, 4, 5, 6};
static const float bias[] = {10, 20};

/* y = max(x w + b, 0) over rows of three. */
static void affine(int64_t rows, const int64_t *range) {
    m_begin(&w);
    const uint32_t x = m_tensor(&w, "x", ACL_FLOAT, M_INPUT, 2, (int64_t[]){rows, 3}, range);
    const uint32_t weight = m_weight(&w, "w", 2, (int64_t[]){3, 2}, weights, 6);
    const uint32_t b = m_weight(&w, "b", 1, (int64_t[]){2}, bias, 2);
    const uint32_t p = m_tensor(&w, "p", ACL_FLOAT, M_INNER, 2, (int64_t[]){rows, 2}, NULL);
    const uint32_t s = m_tensor(&w, "s", ACL_FLOAT, M_INNER, 2, (int64_t[]){rows, 2}, NULL);
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 2, (int64_t[]){rows, 2}, NULL);
    if (w.dynamic == 0 && rows == -1 && range == NULL) {
        m_gear(&w, 1, 1, (uint64_t[]){1});
        m_gear(&w, 1, 1, (uint64_t[]){4});
    }
    m_op(&w, "MatMul", 2, (uint32_t[]){x, weight}, p, 0);
    m_op(&w, "Add", 2, (uint32_t[]){p, b}, s, 1);
    m_string(&w, ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES, "bias_add");
    m_op(&w, "ClampMin", 1, (uint32_t[]){s}, y, 1);
    m_float(&w, "min", 0);
    m_finish(&w);
}

static void expect_rows(const void *y, const float *x, int rows) {
    float got[32];
    read_back(got, y, 8 * (size_t)rows);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++) {
            float sum = bias[j];
            for (int k = 0; k < 3; k++) sum += x[3 * i + k] * weights[2 * k + j];
            CHECK(got[2 * i + j] == (sum > 0 ? sum : 0));
        }
}

static const float rows_of_x[] = {1, 2, 3, -4, -5, -6, 7, 8, 9, 0.5f, 0, -1};

static aclmdlDataset *set_of(void *a, size_t a_size, void *b, size_t b_size) {
    aclmdlDataset *set = aclmdlCreateDataset();
    OK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(a, a_size)));
    if (b != NULL) OK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(b, b_size)));
    return set;
}

static void a_static_model_runs(void) {
    const uint64_t before = live().library_objects, blocks = live().device_allocations;
    uint32_t id = 0;
    affine(2, NULL);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    aclmdlDataset *in = set_of(uploaded(rows_of_x, 24), 24, NULL, 0), *out = set_of(device(16), 16, NULL, 0);
    OK(aclmdlExecute(id, in, out));
    expect_rows(aclGetDataBufferAddr(aclmdlGetDatasetBuffer(out, 0)), rows_of_x, 2);
    aclrtStream s = new_stream();
    OK(mock_acl_hold_stream(s));
    OK(aclmdlExecuteAsync(id, in, out, s));
    OK(aclmdlUnload(id)); /* what is queued keeps it */
    CODE(aclmdlUnload(id), 145003);
    CODE(aclmdlExecute(id, in, out), 145003);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    expect_rows(aclGetDataBufferAddr(aclmdlGetDatasetBuffer(out, 0)), rows_of_x, 2);
    OK(aclrtDestroyStream(s));
    free_set(in);
    free_set(out);
    CHECK(live().library_objects == before && live().device_allocations == blocks);
}

static void executions_are_checked(void) {
    uint32_t id = 0;
    affine(2, NULL);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    aclmdlDataset *in = set_of(device(24), 24, NULL, 0), *out = set_of(device(16), 16, NULL, 0);
    aclmdlDataset *small = set_of(device(8), 8, NULL, 0), *empty = aclmdlCreateDataset();
    CODE(aclmdlExecute(id, NULL, out), 100000);
    CODE(aclmdlExecute(id, in, NULL), 100000);
    CODE(aclmdlExecute(id, small, out), 145000);
    CODE(aclmdlExecute(id, in, small), 145000);
    CODE(aclmdlExecute(id, empty, out), 145000);
    CODE(aclmdlExecute(id + 1, in, out), 145003);
    CODE(aclmdlExecuteAsync(id, in, out, (aclrtStream)&id), 107017);
    aclrtStream s = new_stream();
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CODE(aclmdlExecuteAsync(id, in, out, s), 207000);
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(mock_acl_fail_task("aclmdlExecute", 1, 507015));
    CODE(aclmdlExecute(id, in, out), 507015);
    OK(aclmdlExecute(id, in, out));
    aclmdlExecConfigHandle *c = aclmdlCreateExecConfigHandle();
    int32_t timeout = 5;
    OK(aclmdlSetExecConfigOpt(c, ACL_MDL_STREAM_SYNC_TIMEOUT, &timeout, sizeof timeout));
    OK(aclmdlExecuteV2(id, in, out, s, c));
    OK(mock_acl_hold_stream(s));
    CODE(aclmdlExecuteV2(id, in, out, s, c), 507046);
    OK(mock_acl_release_stream(s));
    OK(aclmdlExecuteAsyncV2(id, in, out, s, c));
    CODE(aclmdlExecuteV2(id, in, out, s, NULL), 100000);
    timeout = -2;
    CODE(aclmdlSetExecConfigOpt(c, ACL_MDL_EVENT_SYNC_TIMEOUT, &timeout, sizeof timeout), 100000);
    CODE(aclmdlSetExecConfigOpt(c, ACL_MDL_WORK_SIZET, &timeout, sizeof timeout), 100000);
    CODE(aclmdlSetExecConfigOpt(c, ACL_MDL_EVENT_SYNC_TIMEOUT, &timeout, 8), 100000);
    OK(aclmdlDestroyExecConfigHandle(c));
    OK(aclrtSynchronizeStream(s));
    up();
}

static void descriptions(void) {
    uint32_t id = 0;
    size_t index = 9;
    aclmdlIODims dims;
    aclmdlBatch batch;
    aclmdlIODimsRange ranges;
    affine(2, NULL);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    aclmdlDesc *d = aclmdlCreateDesc();
    CHECK(aclmdlGetNumInputs(d) == 0);
    CODE(aclmdlGetDesc(d, 77), 145003);
    CODE(aclmdlGetDesc(NULL, id), 100000);
    OK(aclmdlGetDesc(d, id));
    OK(aclmdlUnload(id)); /* the description stays */
    CHECK(aclmdlGetNumInputs(d) == 1 && aclmdlGetNumOutputs(d) == 1);
    CHECK(aclmdlGetInputSizeByIndex(d, 0) == 24 && aclmdlGetOutputSizeByIndex(d, 0) == 16);
    CHECK(aclmdlGetInputSizeByIndex(d, 1) == 0 && aclmdlGetOutputSizeByIndex(NULL, 0) == 0);
    CHECK(strcmp(aclmdlGetInputNameByIndex(d, 0), "x") == 0 && strcmp(aclmdlGetOutputNameByIndex(d, 0),
        "y") == 0);
    CHECK(strcmp(aclmdlGetInputNameByIndex(d, 1), "") == 0);
    CHECK(aclmdlGetInputFormat(d, 0) == ACL_FORMAT_ND && aclmdlGetOutputFormat(d, 1) == ACL_FORMAT_UNDEFINED);
    CHECK(aclmdlGetInputDataType(d, 0) == ACL_FLOAT && aclmdlGetOutputDataType(d, 7) == ACL_DT_UNDEFINED);
    OK(aclmdlGetInputIndexByName(d, "x", &index));
    CHECK(index == 0);
    OK(aclmdlGetOutputIndexByName(d, "y", &index));
    CODE(aclmdlGetInputIndexByName(d, "y", &index), 100000);
    CODE(aclmdlGetInputIndexByName(d, NULL, &index), 100000);
    OK(aclmdlGetInputDims(d, 0, &dims));
    CHECK(dims.dimCount == 2 && dims.dims[0] == 2 && dims.dims[1] == 3 && strcmp(dims.name, "x") == 0);
    OK(aclmdlGetInputDimsV2(d, 0, &dims));
    OK(aclmdlGetOutputDims(d, 0, &dims));
    OK(aclmdlGetCurOutputDims(d, 0, &dims));
    CHECK(dims.dims[1] == 2);
    CODE(aclmdlGetCurOutputDims(d, 1, &dims), 100000);
    CODE(aclmdlGetInputDims(d, 0, NULL), 100000);
    OK(aclmdlGetDynamicBatch(d, &batch));
    CHECK(batch.batchCount == 0);
    OK(aclmdlGetInputDimsRange(d, 0, &ranges));
    CHECK(ranges.rangeCount == 0);
    CHECK(strcmp(aclmdlGetOpAttr(d, "op1", ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES), "bias_add") == 0);
    CHECK(strcmp(aclmdlGetOpAttr(d, "op0", ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES), "") == 0);
    CHECK(aclmdlGetOpAttr(d, "op1", "other") == NULL && aclmdlGetOpAttr(d, "op9", "other") == NULL);
    CHECK(strcmp(aclmdlGetTensorRealName(d, "x"), "x") == 0 && aclmdlGetTensorRealName(d, "q") == NULL);
    OK(aclmdlGetDescFromMem(d, w.bytes, w.size));
    CHECK(aclmdlGetNumInputs(d) == 1);
    CODE(aclmdlGetDescFromFile(d, "/nowhere/model"), 145002);
    OK(aclmdlDestroyDesc(d));
    CODE(aclmdlDestroyDesc(d), 100000);
}

static void a_long_name_is_shortened(void) {
    char name[200];
    uint32_t id = 0;
    aclmdlIODims dims;
    memset(name, 'n', sizeof name);
    name[199] = 0;
    m_begin(&w);
    const uint32_t x = m_tensor(&w, name, ACL_FLOAT, M_INPUT, 1, (int64_t[]){4}, NULL);
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 1, (int64_t[]){4}, NULL);
    m_op(&w, "Abs", 1, &x, y, 0);
    m_finish(&w);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    aclmdlDesc *d = aclmdlCreateDesc();
    OK(aclmdlGetDesc(d, id));
    OK(aclmdlGetInputDims(d, 0, &dims));
    char expected[64];
    snprintf(expected, sizeof expected, "acl_modelId_%u_input_0", id);
    CHECK(strcmp(dims.name, expected) == 0 && strcmp(aclmdlGetTensorRealName(d, expected), name) == 0);
    OK(aclmdlDestroyDesc(d));
    OK(aclmdlUnload(id));
}

static void gears_choose_the_batch(void) {
    uint32_t id = 0;
    aclmdlBatch batch;
    aclmdlHW hw;
    aclmdlIODims dims;
    size_t index = 0, gears = 9;
    uint64_t choice = 0;
    affine(-1, NULL);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    aclmdlDesc *d = aclmdlCreateDesc();
    OK(aclmdlGetDesc(d, id));
    CHECK(aclmdlGetNumInputs(d) == 2 && aclmdlGetInputSizeByIndex(d, 0) == 48 &&
        aclmdlGetOutputSizeByIndex(d, 0) == 32);
    OK(aclmdlGetInputIndexByName(d, ACL_DYNAMIC_TENSOR_NAME, &index));
    CHECK(index == 1 && aclmdlGetInputSizeByIndex(d, 1) == 8);
    OK(aclmdlGetDynamicBatch(d, &batch));
    CHECK(batch.batchCount == 2 && batch.batch[0] == 1 && batch.batch[1] == 4);
    OK(aclmdlGetDynamicHW(d, 0, &hw));
    OK(aclmdlGetInputDynamicGearCount(d, (size_t)-1, &gears));
    CHECK(hw.hwCount == 0 && gears == 0);
    CODE(aclmdlGetInputDynamicGearCount(d, 0, &gears), 100000);
    OK(aclmdlGetInputDims(d, 0, &dims));
    CHECK(dims.dims[0] == -1);
    void *x = uploaded(rows_of_x, 48), *y = device(32);
    aclmdlDataset *in = set_of(x, 48, device(8), 8), *out = set_of(y, 32, NULL, 0);
    CODE(aclmdlExecute(id, in, out), 145013);
    CODE(aclmdlSetDynamicBatchSize(id, in, 1, 3), 145013);
    CODE(aclmdlSetDynamicBatchSize(id, in, 1, 0), 100000);
    CODE(aclmdlSetDynamicBatchSize(id, in, 2, 4), 100000);
    CODE(aclmdlSetDynamicBatchSize(id, NULL, 1, 4), 100000);
    CODE(aclmdlSetDynamicBatchSize(id + 1, in, 1, 4), 145003);
    CODE(aclmdlSetDynamicHWSize(id, in, 1, 4, 4), 145013);
    OK(aclmdlSetDynamicBatchSize(id, in, 1, 4));
    read_back(&choice, aclGetDataBufferAddr(aclmdlGetDatasetBuffer(in, 1)), 8);
    CHECK(choice == 4);
    OK(aclmdlGetCurOutputDims(d, 0, &dims));
    CHECK(dims.dims[0] == 4);
    OK(aclmdlExecute(id, in, out));
    expect_rows(y, rows_of_x, 4);
    OK(aclrtMemset(y, 32, 0, 32));
    OK(aclmdlSetDynamicBatchSize(id, in, 1, 1));
    OK(aclmdlExecute(id, in, out));
    expect_rows(y, rows_of_x, 1);
    CHECK(byte_at((char *)y + 15) == 0);
    OK(aclUpdateDataBuffer(aclmdlGetDatasetBuffer(in, 1), y, 2));
    CODE(aclmdlSetDynamicBatchSize(id, in, 1, 4), 145012);
    up();
}

static void gears_choose_dims(void) {
    uint32_t id = 0;
    aclmdlIODims dims[2], chosen = {.dimCount = 3, .dims = {2, 3, 2}};
    size_t gears = 0;
    m_begin(&w);
    const uint32_t a = m_tensor(&w, "a", ACL_FLOAT, M_INPUT, 2, (int64_t[]){-1, 3}, NULL);
    const uint32_t b = m_tensor(&w, "b", ACL_FLOAT, M_INPUT, 1, (int64_t[]){-1}, NULL);
    const uint32_t s = m_tensor(&w, "s", ACL_FLOAT, M_INNER, 1, (int64_t[]){-1}, NULL);
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 1, (int64_t[]){-1}, NULL);
    m_gear(&w, 3, 2, (uint64_t[]){2, 2});
    m_gear(&w, 3, 2, (uint64_t[]){5, 1});
    m_op(&w, "ReduceSum", 1, &a, s, 1);
    m_ints(&w, "dims", 1, (int64_t[]){1});
    m_op(&w, "Mul", 2, (uint32_t[]){s, b}, y, 0);
    m_finish(&w);
    OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
    aclmdlDesc *d = aclmdlCreateDesc();
    OK(aclmdlGetDesc(d, id));
    OK(aclmdlGetInputDynamicGearCount(d, (size_t)-1, &gears));
    CHECK(gears == 2);
    CODE(aclmdlGetInputDynamicDims(d, (size_t)-1, dims, 1), 100000);
    CODE(aclmdlGetInputDynamicDims(d, 0, dims, 2), 100000);
    OK(aclmdlGetInputDynamicDims(d, (size_t)-1, dims, 2));
    CHECK(dims[1].dimCount == 3 && dims[1].dims[0] == 5 && dims[1].dims[1] == 3 && dims[1].dims[2] == 1);
    void *y_memory = device(20);
    aclmdlDataset *in = set_of(uploaded(rows_of_x, 24), 24, uploaded(rows_of_x, 8), 8),
        *out = set_of(y_memory, 20, NULL, 0);
    OK(aclmdlAddDatasetBuffer(in, aclCreateDataBuffer(device(16), 16)));
    CODE(aclmdlSetInputDynamicDims(id, in, 2, &(aclmdlIODims){.dimCount = 3, .dims = {3, 3, 2}}), 145013);
    CODE(aclmdlSetInputDynamicDims(id, in, 2, &(aclmdlIODims){.dimCount = 3, .dims = {2, 4, 2}}), 145013);
    CODE(aclmdlSetInputDynamicDims(id, in, 2, &(aclmdlIODims){.dimCount = 2, .dims = {2, 3}}), 100000);
    CODE(aclmdlSetInputDynamicDims(id, in, 2, &(aclmdlIODims){.dimCount = 0}), 100000);
    OK(aclmdlSetInputDynamicDims(id, in, 2, &chosen));
    OK(aclmdlExecute(id, in, out));
    float got[2];
    read_back(got, y_memory, 8);
    CHECK(got[0] == 6 * 1 && got[1] == -15 * 2);
    up();
}

static void open_shapes_come_with_the_dataset(void) {
    const int64_t range[] = {1, 8, 3, 3}, endless[] = {0, -1, 3, 3};
    for (int bounded = 0; bounded < 2; bounded++) {
        uint32_t id = 0;
        size_t work = 9, size = 9;
        aclmdlIODimsRange ranges;
        affine(-1, bounded ? range : endless);
        OK(aclmdlQuerySizeFromMem(w.bytes, w.size, &work, &size));
        CHECK((work != 0) == (bounded == 1) && size != 0);
        OK(aclmdlLoadFromMem(w.bytes, w.size, &id));
        aclmdlDesc *d = aclmdlCreateDesc();
        OK(aclmdlGetDesc(d, id));
        CHECK(aclmdlGetInputSizeByIndex(d, 0) == (bounded ? 96 : 0));
        OK(aclmdlGetInputDimsRange(d, 0, &ranges));
        CHECK(ranges.rangeCount == 2 && ranges.range[0][1] == (bounded ? 8 : -1));
        void *y = device(64);
        aclmdlDataset *in = set_of(uploaded(rows_of_x, 48), 48, NULL, 0), *out = set_of(y, 64, NULL, 0);
        CODE(aclmdlExecute(id, in, out), 145021);
        aclTensorDesc *t = aclCreateTensorDesc(ACL_FLOAT, 2, (int64_t[]){4, 3}, ACL_FORMAT_ND);
        OK(aclmdlSetDatasetTensorDesc(in, t, 0));
        OK(aclmdlExecute(id, in, out));
        expect_rows(y, rows_of_x, 4);
        CHECK(aclGetTensorDescDim(aclmdlGetDatasetTensorDesc(out, 0), 0) == 4);
        aclTensorDesc *wrong = aclCreateTensorDesc(ACL_FLOAT, 2, (int64_t[]){9, 2}, ACL_FORMAT_ND);
        OK(aclmdlSetDatasetTensorDesc(in, wrong, 0));
        CODE(aclmdlExecute(id, in, out), 145021);
        up();
    }
}

static void user_memory_and_configurations(void) {
    uint32_t id = 0;
    size_t work = 0, weight = 0, type = ACL_MDL_LOAD_FROM_MEM_WITH_MEM;
    const void *model = w.bytes;
    affine(2, NULL);
    OK(aclmdlQuerySizeFromMem(w.bytes, w.size, &work, &weight));
    CHECK(work >= 32 && weight >= 72);
    void *own_work = device(work), *own_weights = device(weight);
    CODE(aclmdlLoadFromMemWithMem(w.bytes, w.size, &id, own_work, work - 1, own_weights, weight), 145000);
    CODE(aclmdlLoadFromMemWithMem(w.bytes, w.size, &id, own_work, work, &id, weight), 145007);
    const uint64_t blocks = live().device_allocations;
    OK(aclmdlLoadFromMemWithMem(w.bytes, w.size, &id, own_work, work, own_weights, weight));
    CHECK(live().device_allocations == blocks);
    OK(aclmdlUnload(id));
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    CODE(aclmdlLoadWithConfig(c, &id), 100000);
    CODE(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, 4), 100000);
    CODE(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, NULL, 8), 100000);
    CODE(aclmdlSetConfigOpt(NULL, ACL_MDL_LOAD_TYPE_SIZET, &type, 8), 100000);
    CODE(aclmdlSetConfigOpt(c, (aclmdlConfigAttr)99, &type, 8), 100000);
    CODE(aclmdlSetConfigOpt(c, ACL_MDL_FIFO_SIZET, &type, 8), 100000);
    OK(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, 8));
    CODE(aclmdlLoadWithConfig(c, &id), 100000);
    OK(aclmdlSetConfigOpt(c, ACL_MDL_MEM_ADDR_PTR, &model, 8));
    OK(aclmdlSetConfigOpt(c, ACL_MDL_MEM_SIZET, &w.size, 8));
    OK(aclmdlSetConfigOpt(c, ACL_MDL_WORKSPACE_ADDR_PTR, &own_work, 8));
    OK(aclmdlSetConfigOpt(c, ACL_MDL_WORKSPACE_SIZET, &work, 8));
    int32_t priority = 8;
    CODE(aclmdlSetConfigOpt(c, ACL_MDL_PRIORITY_INT32, &priority, 4), 100000);
    OK(aclmdlLoadWithConfig(c, &id));
    OK(aclmdlUnload(id));
    type = ACL_MDL_LOAD_FROM_FILE;
    OK(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, 8));
    CODE(aclmdlLoadWithConfig(c, &id), 100000);
    OK(aclmdlDestroyConfigHandle(c));
    OK(aclrtFree(own_work));
    OK(aclrtFree(own_weights));
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
}

static void files_and_weights_beside_them(void) {
    char folder[] = "/tmp/mock-models-XXXXXX", path[64], weight_path[64];
    uint32_t id = 0;
    size_t work, weight;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/model", folder);
    snprintf(weight_path, sizeof weight_path, "%s/v.bin", folder);
    m_begin(&w);
    const uint32_t x = m_tensor(&w, "x", ACL_FLOAT, M_INPUT, 1, (int64_t[]){3}, NULL);
    const uint32_t v = m_external(&w, "v", 3, "v.bin");
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 1, (int64_t[]){3}, NULL);
    m_op(&w, "Mul", 2, (uint32_t[]){x, v}, y, 0);
    m_finish(&w);
    write_file(path, w.bytes, w.size);
    CODE(aclmdlLoadFromFile(path, &id), 145002);
    write_file(weight_path, weights, 8);
    CODE(aclmdlLoadFromFile(path, &id), 545003);
    write_file(weight_path, weights, 12);
    OK(aclmdlQuerySize(path, &work, &weight));
    CHECK(weight == 64);
    OK(aclmdlLoadFromFile(path, &id));
    void *result = device(12);
    aclmdlDataset *in = set_of(uploaded(rows_of_x, 12), 12, NULL, 0), *out = set_of(result, 12, NULL, 0);
    OK(aclmdlExecute(id, in, out));
    float got[3];
    read_back(got, result, 12);
    CHECK(got[0] == 1 && got[1] == 4 && got[2] == 9);
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    const size_t type = ACL_MDL_LOAD_FROM_FILE;
    const char *name = path;
    const float other[8] = {2, 2, 2};
    OK(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, 8));
    OK(aclmdlSetConfigOpt(c, ACL_MDL_PATH_PTR, &name, 8));
    void *placed = uploaded(other, 32);
    CODE(aclmdlSetExternalWeightAddress(c, "v.bin", placed, 12), 100000);
    OK(aclmdlSetExternalWeightAddress(c, "v.bin", placed, 32));
    uint32_t second = 0;
    OK(aclmdlLoadWithConfig(c, &second));
    CHECK(second != id);
    OK(aclmdlExecute(second, in, out));
    read_back(got, result, 12);
    CHECK(got[2] == 6);
    CODE(aclmdlLoadFromFile(NULL, &id), 100000);
    CODE(aclmdlLoadFromFile(path, NULL), 100000);
    CODE(aclmdlLoadFromFile(folder, &id), 145002);
    write_file(path, "IMOD is how a real one starts", 30);
    CODE(aclmdlLoadFromFile(path, &id), 545001);
    CHECK(strstr(aclGetRecentErrMsg(), "real offline model") != NULL);
    unlink(path);
    unlink(weight_path);
    rmdir(folder);
    up();
}

static void bundles(void) {
    static unsigned char bytes[40000];
    uint32_t bundle = 0, id = 0, again = 0;
    size_t n = 0, work = 0, weight = 0;
    affine(2, NULL);
    const uint64_t sizes[2] = {w.size, w.size};
    const size_t total = 64 + 16 + 2 * w.size;
    memcpy(bytes + 64, sizes, 16);
    memcpy(bytes + 80, w.bytes, w.size);
    memcpy(bytes + 80 + w.size, w.bytes, w.size);
    m_seal(bytes, total, 2, (const uint32_t[4]){2, 0, 0, 0}, 96);
    CODE(aclmdlLoadFromMem(bytes, total, &id), 145000);
    CODE(aclmdlBundleLoadFromMem(w.bytes, w.size, &bundle), 100000);
    OK(aclmdlBundleLoadFromMem(bytes, total, &bundle));
    OK(aclmdlBundleGetModelNum(bundle, &n));
    OK(aclmdlBundleGetModelId(bundle, 1, &id));
    CHECK(n == 2);
    CODE(aclmdlBundleGetModelId(bundle, 2, &id), 100000);
    CODE(aclmdlBundleGetModelNum(bundle + 1, &n), 148053);
    aclmdlDesc *d = aclmdlCreateDesc();
    OK(aclmdlGetDesc(d, id));
    OK(aclmdlBundleUnload(bundle));
    CODE(aclmdlGetDesc(d, id), 145003);
    CODE(aclmdlBundleUnload(bundle), 148053);
    OK(aclmdlDestroyDesc(d));
    OK(aclmdlBundleInitFromMem(bytes, total, NULL, 0, &bundle));
    OK(aclmdlBundleLoadModel(bundle, 1, &id));
    CODE(aclmdlBundleLoadModel(bundle, 1, &again), 145009);
    CODE(aclmdlBundleLoadModel(bundle, 2, &again), 100000);
    OK(aclmdlBundleUnloadModel(bundle, id));
    CODE(aclmdlBundleUnloadModel(bundle, id), 145003);
    OK(aclmdlBundleUnload(bundle));
    aclmdlBundleQueryInfo *q = aclmdlBundleCreateQueryInfo();
    OK(aclmdlBundleQueryInfoFromMem(bytes, total, q));
    OK(aclmdlBundleGetQueryModelNum(q, &n));
    OK(aclmdlBundleGetSize(q, 1, &work, &weight));
    CHECK(n == 2 && work != 0 && weight != 0);
    OK(aclmdlBundleGetVarWeightSize(q, &weight));
    CHECK(weight == 96);
    CODE(aclmdlBundleGetSize(q, 2, &work, &weight), 100000);
    OK(aclmdlBundleDestroyQueryInfo(q));
    CODE(aclmdlBundleQueryInfoFromFile("/nowhere", q), 100000);
}

/* Every byte of the body changed, and every length: a code, or a model that loads and unloads. */
static void damaged_containers_give_codes(void) {
    static unsigned char copy[16384];
    affine(-1, NULL);
    const uint32_t counts[4] = {w.tensors, w.ops, w.gears, w.dynamic};
    uint32_t id = 0;
    CODE(aclmdlLoadFromMem(w.bytes, 63, &id), 145006);
    CODE(aclmdlLoadFromMem(w.bytes, w.size - 1, &id), 145006);
    CODE(aclmdlLoadFromMem(w.bytes, 0, &id), 100000);
    CODE(aclmdlLoadFromMem("not a container at all, but long enough to be one: 64 bytes it is..", 66, &id),
        145000);
    memcpy(copy, w.bytes, w.size);
    copy[100] ^= 1;
    CODE(aclmdlLoadFromMem(copy, w.size, &id), 545002);
    unsigned refused = 0;
    for (size_t at = 64; at < w.size; at++)
        for (int flip = 0; flip < 3; flip++) {
            memcpy(copy, w.bytes, w.size);
            copy[at] ^= flip == 0 ? 1 : flip == 1 ? 0x80 : 0xFF;
            m_seal(copy, w.size, 1, counts, w.weight_bytes);
            const aclError code = aclmdlLoadFromMem(copy, w.size, &id);
            refused += code != 0;
            if (code == 0) OK(aclmdlUnload(id));
            aclGetRecentErrMsg();
        }
    CHECK(refused > w.size / 2);
    for (size_t size = 64; size < w.size; size += 3) {
        memcpy(copy, w.bytes, size);
        m_seal(copy, size, 1, counts, w.weight_bytes < size - 64 ? w.weight_bytes : 0);
        CHECK(aclmdlLoadFromMem(copy, size, &id) != 0);
        aclGetRecentErrMsg();
    }
    m_seal(copy, 64, 1, (const uint32_t[4]){0xFFFFFFFFu, 0xFFFFFFFFu, 9, 9}, UINT64_MAX);
    CHECK(aclmdlLoadFromMem(copy, 64, &id) != 0);
    m_begin(&w);
    const uint32_t x = m_tensor(&w, "x", ACL_FLOAT, M_INPUT, 1, (int64_t[]){4}, NULL);
    const uint32_t y = m_tensor(&w, "y", ACL_FLOAT, M_OUTPUT, 1, (int64_t[]){4}, NULL);
    m_op(&w, "Conv2D", 1, &x, y, 0);
    m_finish(&w);
    CODE(aclmdlLoadFromMem(w.bytes, w.size, &id), 545005);
    CHECK(strstr(aclGetRecentErrMsg(), "Conv2D") != NULL);
}

int main(void) {
    up();
    a_static_model_runs();
    executions_are_checked();
    descriptions();
    a_long_name_is_shortened();
    gears_choose_the_batch();
    gears_choose_dims();
    open_shapes_come_with_the_dataset();
    user_memory_and_configurations();
    files_and_weights_beside_them();
    bundles();
    damaged_containers_give_codes();
    up();
    CHECK(live().library_objects == 0);
    return 0;
}
