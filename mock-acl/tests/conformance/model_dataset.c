/* Part of racl (mock-acl). Datasets, descriptions and configurations of offline models; codes of bad
 * input. */
#include "conform.h"

static aclmdlDataset *dataset(void) {
    aclmdlDataset *set = aclmdlCreateDataset();
    NEED(set != NULL);
    return set;
}

RULE(model, a_new_dataset_is_empty, "guide: aclmdlCreateDataset") {
    aclmdlDataset *set = dataset();
    TRUE(aclmdlGetDatasetNumBuffers(set) == 0);
    TRUE(aclmdlGetDatasetBuffer(set, 0) == NULL);
    EXPECT(aclmdlDestroyDataset(set), 0);
}

RULE(model, buffers_keep_their_order, "guide: aclmdlAddDatasetBuffer") {
    aclmdlDataset *set = dataset();
    aclDataBuffer *buffers[20];
    int i;
    for (i = 0; i < 20; i++) {
        buffers[i] = aclCreateDataBuffer(NULL, (size_t)i);
        OK(aclmdlAddDatasetBuffer(set, buffers[i]));
    }
    TRUE(aclmdlGetDatasetNumBuffers(set) == 20);
    for (i = 0; i < 20; i++) TRUE(aclmdlGetDatasetBuffer(set, (size_t)i) == buffers[i]);
    OK(aclmdlDestroyDataset(set));
    for (i = 0; i < 20; i++) EXPECT(aclDestroyDataBuffer(buffers[i]), 0);
}

RULE(model, one_buffer_twice, "implementation: aclmdlAddDatasetBuffer") {
    aclmdlDataset *set = dataset();
    aclDataBuffer *b = aclCreateDataBuffer(NULL, 1);
    OK(aclmdlAddDatasetBuffer(set, b));
    EXPECT(aclmdlAddDatasetBuffer(set, b), 0);
    TRUE(aclmdlGetDatasetNumBuffers(set) == 2);
}

RULE(model, datasets_of_null, "implementation: aclmdlAddDatasetBuffer and others") {
    aclmdlDataset *set = dataset();
    aclDataBuffer *b = aclCreateDataBuffer(NULL, 1);
    EXPECT(aclmdlAddDatasetBuffer(NULL, b), 100000);
    EXPECT(aclmdlAddDatasetBuffer(set, NULL), 100000);
    EXPECT(aclmdlDestroyDataset(NULL), 100000);
    TRUE(aclmdlGetDatasetNumBuffers(NULL) == 0 && aclmdlGetDatasetBuffer(NULL, 0) == NULL);
    TRUE(aclmdlGetDatasetTensorDesc(NULL, 0) == NULL);
}

RULE(model, a_dataset_copies_descriptors, "guide: aclmdlSetDatasetTensorDesc") {
    const int64_t dims[1] = {3};
    aclmdlDataset *set = dataset();
    aclTensorDesc *d = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
    OK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(NULL, 1)));
    TRUE(aclmdlGetDatasetTensorDesc(set, 0) == NULL);
    OK(aclmdlSetDatasetTensorDesc(set, d, 0));
    TRUE(aclmdlGetDatasetTensorDesc(set, 0) != d);
    aclDestroyTensorDesc(d);
    TRUE(aclGetTensorDescDim(aclmdlGetDatasetTensorDesc(set, 0), 0) == 3);
}

RULE(model, null_takes_a_descriptor_away, "implementation: aclmdlSetDatasetTensorDesc") {
    aclmdlDataset *set = dataset();
    aclTensorDesc *d = aclCreateTensorDesc(ACL_FLOAT, 0, NULL, ACL_FORMAT_ND);
    OK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(NULL, 1)));
    OK(aclmdlSetDatasetTensorDesc(set, d, 0));
    EXPECT(aclmdlSetDatasetTensorDesc(set, NULL, 0), 0);
    TRUE(aclmdlGetDatasetTensorDesc(set, 0) == NULL);
    EXPECT(aclmdlSetDatasetTensorDesc(set, d, 1), 100000);
    EXPECT(aclmdlSetDatasetTensorDesc(NULL, d, 0), 100000);
}

RULE(model, a_buffer_refers_to_memory, "guide: aclUpdateDataBuffer") {
    char bytes[4];
    aclDataBuffer *b = aclCreateDataBuffer(bytes, 4);
    TRUE(aclGetDataBufferAddr(b) == bytes && aclGetDataBufferSizeV2(b) == 4);
    OK(aclUpdateDataBuffer(b, bytes + 1, 3));
    TRUE(aclGetDataBufferAddr(b) == bytes + 1 && aclGetDataBufferSizeV2(b) == 3);
    EXPECT(aclUpdateDataBuffer(NULL, bytes, 1), 100000);
    EXPECT(aclDestroyDataBuffer(NULL), 100000);
    OK(aclDestroyDataBuffer(b));
}

RULE_MOCK(model, destroyed_datasets_and_buffers_are_refused, "own choice") {
    aclmdlDataset *set = dataset();
    aclDataBuffer *b = aclCreateDataBuffer(NULL, 1);
    OK(aclDestroyDataBuffer(b));
    EXPECT(aclmdlAddDatasetBuffer(set, b), 100000);
    OK(aclmdlDestroyDataset(set));
    EXPECT(aclmdlDestroyDataset(set), 100000);
    EXPECT(aclDestroyDataBuffer(b), 100000);
}

/* ---- descriptions ---- */

RULE(model, an_empty_description, "implementation: aclmdlGetNumInputs and others") {
    size_t index = 7;
    aclmdlIODims dims;
    aclmdlDesc *d = aclmdlCreateDesc();
    NEED(d != NULL);
    TRUE(aclmdlGetNumInputs(d) == 0 && aclmdlGetNumOutputs(d) == 0);
    TRUE(aclmdlGetInputSizeByIndex(d, 0) == 0 && strcmp(aclmdlGetInputNameByIndex(d, 0), "") == 0);
    TRUE(aclmdlGetInputFormat(d, 0) == ACL_FORMAT_UNDEFINED && aclmdlGetOutputDataType(d,
        0) == ACL_DT_UNDEFINED);
    EXPECT(aclmdlGetInputDims(d, 0, &dims), 100000);
    EXPECT(aclmdlGetInputIndexByName(d, "x", &index), 100000);
    EXPECT(aclmdlDestroyDesc(d), 0);
}

RULE(model, descriptions_of_null, "implementation: aclmdlGetNumInputs and others") {
    aclmdlIODims dims;
    aclmdlBatch batch;
    size_t index = 0;
    TRUE(aclmdlGetNumInputs(NULL) == 0 && aclmdlGetNumOutputs(NULL) == 0);
    TRUE(aclmdlGetInputSizeByIndex(NULL, 0) == 0 && strcmp(aclmdlGetOutputNameByIndex(NULL, 0), "") == 0);
    EXPECT(aclmdlGetOutputDims(NULL, 0, &dims), 100000);
    EXPECT(aclmdlGetDynamicBatch(NULL, &batch), 100000);
    EXPECT(aclmdlGetOutputIndexByName(NULL, "x", &index), 100000);
    EXPECT(aclmdlDestroyDesc(NULL), 100000);
}

RULE(model, gears_of_an_empty_description, "implementation: aclmdlGetInputDynamicGearCount") {
    size_t count = 7;
    aclmdlBatch batch;
    aclmdlHW hw;
    aclmdlDesc *d = aclmdlCreateDesc();
    OK(aclmdlGetDynamicBatch(d, &batch));
    OK(aclmdlGetDynamicHW(d, 0, &hw));
    OK(aclmdlGetInputDynamicGearCount(d, (size_t)-1, &count));
    TRUE(batch.batchCount == 0 && hw.hwCount == 0 && count == 0);
    EXPECT(aclmdlGetInputDynamicGearCount(d, 0, &count), 100000);
    EXPECT(aclmdlGetInputDynamicGearCount(d, (size_t)-1, NULL), 100000);
    OK(aclmdlDestroyDesc(d));
}

RULE(model, attributes_have_one_name, "implementation: aclmdlGetOpAttr") {
    aclmdlDesc *d = aclmdlCreateDesc();
    TRUE(aclmdlGetOpAttr(d, "op", "something else") == NULL);
    TRUE(aclmdlGetOpAttr(NULL, "op", ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES) == NULL);
    TRUE(aclmdlGetTensorRealName(d, "nobody") == NULL && aclmdlGetTensorRealName(NULL, "x") == NULL);
    OK(aclmdlDestroyDesc(d));
}

/* ---- loading ---- */

RULE(model, a_model_that_is_not_loaded, "implementation of the open graph engine: model ids") {
    up();
    aclmdlDesc *d = aclmdlCreateDesc();
    aclmdlDataset *in = dataset(), *out = dataset();
    EXPECT(aclmdlGetDesc(d, 4000), 145003);
    EXPECT(aclmdlUnload(4000), 145003);
    EXPECT(aclmdlExecute(4000, in, out), 145003);
}

RULE(model, execution_needs_datasets, "implementation: aclmdlExecute") {
    up();
    aclmdlDataset *set = dataset();
    EXPECT(aclmdlExecute(1, NULL, set), 100000);
    EXPECT(aclmdlExecute(1, set, NULL), 100000);
    EXPECT(aclmdlExecuteAsync(1, NULL, set, NULL), 100000);
}

RULE(model, a_file_that_is_not_there, "implementation of the open graph engine: paths") {
    up();
    uint32_t id = 0;
    size_t work = 0, weights = 0;
    EXPECT(aclmdlLoadFromFile("/nowhere/model.om", &id), 145002);
    EXPECT(aclmdlQuerySize("/nowhere/model.om", &work, &weights), 145002);
}

RULE(model, loading_from_null, "implementation: aclmdlLoadFromFile, aclmdlLoadFromMem") {
    up();
    uint32_t id = 0;
    char byte = 0;
    EXPECT(aclmdlLoadFromFile(NULL, &id), 100000);
    EXPECT(aclmdlLoadFromMem(NULL, 1, &id), 100000);
    EXPECT(aclmdlLoadFromMem(&byte, 0, &id), 100000);
    EXPECT(aclmdlLoadFromMem(&byte, 1, NULL), 100000);
}

RULE(model, a_few_bytes_are_no_model, "implementation of the open graph engine: sizes") {
    up();
    uint32_t id = 0;
    static const char bytes[16] = "0123456789abcde";
    EITHER(aclmdlLoadFromMem(bytes, sizeof bytes, &id), 145006, 145000);
}

RULE(model, bytes_of_another_kind_are_no_model, "implementation of the open graph engine: magic number") {
    up();
    uint32_t id = 0;
    static char bytes[8192];
    memset(bytes, 'x', sizeof bytes);
    EITHER(aclmdlLoadFromMem(bytes, sizeof bytes, &id), 145000, 145006);
}

RULE(model, sizes_of_null, "implementation: aclmdlQuerySize, aclmdlQuerySizeFromMem") {
    size_t size = 0;
    EXPECT(aclmdlQuerySize(NULL, &size, &size), 100000);
    EXPECT(aclmdlQuerySize("x", NULL, &size), 100000);
    EXPECT(aclmdlQuerySizeFromMem(NULL, 1, &size, &size), 100000);
}

RULE(model, sizes_to_choose_are_checked, "implementation: aclmdlSetDynamicBatchSize and others") {
    up();
    aclmdlDataset *set = dataset();
    aclmdlIODims dims;
    memset(&dims, 0, sizeof dims);
    EXPECT(aclmdlSetDynamicBatchSize(1, NULL, 0, 1), 100000);
    EXPECT(aclmdlSetDynamicBatchSize(1, set, 0, 0), 100000);
    EXPECT(aclmdlSetDynamicBatchSize(1, set, 0, 1), 100000);
    EXPECT(aclmdlSetDynamicHWSize(1, set, 0, 0, 1), 100000);
    EXPECT(aclmdlSetInputDynamicDims(1, set, 0, &dims), 100000);
    EXPECT(aclmdlSetInputDynamicDims(1, set, 0, NULL), 100000);
}

/* ---- configurations ---- */

RULE(model, a_configuration_needs_a_load_type, "implementation: aclmdlLoadWithConfig") {
    up();
    uint32_t id = 0;
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    NEED(c != NULL);
    EXPECT(aclmdlLoadWithConfig(c, &id), 100000);
    EXPECT(aclmdlLoadWithConfig(NULL, &id), 100000);
    EXPECT(aclmdlLoadWithConfig(c, NULL), 100000);
    EXPECT(aclmdlDestroyConfigHandle(c), 0);
    EXPECT(aclmdlDestroyConfigHandle(NULL), 100000);
}

RULE(model, options_have_sizes_and_ranges, "implementation: aclmdlSetConfigOpt") {
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    size_t type = ACL_MDL_LOAD_FROM_FILE, wrong = 7;
    const char *none = NULL;
    EXPECT(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof type), 0);
    EXPECT(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, 4), 100000);
    EXPECT(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &wrong, sizeof wrong), 100000);
    EXPECT(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, NULL, sizeof wrong), 100000);
    EXPECT(aclmdlSetConfigOpt(c, ACL_MDL_PATH_PTR, &none, sizeof none), 100000);
    EXPECT(aclmdlSetConfigOpt(c, ACL_MDL_WEIGHT_ADDR_PTR, &none, sizeof none), 0);
    EXPECT(aclmdlSetConfigOpt(NULL, ACL_MDL_PATH_PTR, &none, sizeof none), 100000);
    OK(aclmdlDestroyConfigHandle(c));
}

RULE(model, a_path_goes_with_files, "implementation: aclmdlLoadWithConfig") {
    up();
    uint32_t id = 0;
    size_t type = ACL_MDL_LOAD_FROM_FILE;
    const char *path = "/nowhere/model.om";
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    OK(aclmdlSetConfigOpt(c, ACL_MDL_LOAD_TYPE_SIZET, &type, sizeof type));
    EXPECT(aclmdlLoadWithConfig(c, &id), 100000);
    OK(aclmdlSetConfigOpt(c, ACL_MDL_PATH_PTR, &path, sizeof path));
    EXPECT(aclmdlLoadWithConfig(c, &id), 145002);
    OK(aclmdlSetConfigOpt(c, ACL_MDL_WEIGHT_PATH_PTR, &path, sizeof path));
    EXPECT(aclmdlLoadWithConfig(c, &id), 100000);
}

RULE(model, weights_elsewhere_have_whole_blocks, "implementation: aclmdlSetExternalWeightAddress") {
    up();
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    void *memory = device(64);
    EXPECT(aclmdlSetExternalWeightAddress(c, "w", memory, 64), 0);
    EXPECT(aclmdlSetExternalWeightAddress(c, "w", memory, 33), 100000);
    EXPECT(aclmdlSetExternalWeightAddress(c, "w", memory, 0), 100000);
    EXPECT(aclmdlSetExternalWeightAddress(c, NULL, memory, 32), 100000);
    EXPECT(aclmdlSetExternalWeightAddress(c, "w", NULL, 32), 100000);
}

RULE(model, time_outs_of_executions, "implementation: aclmdlSetExecConfigOpt") {
    aclmdlExecConfigHandle *c = aclmdlCreateExecConfigHandle();
    int32_t timeout = -1;
    NEED(c != NULL);
    EXPECT(aclmdlSetExecConfigOpt(c, ACL_MDL_STREAM_SYNC_TIMEOUT, &timeout, sizeof timeout), 0);
    timeout = -2;
    EXPECT(aclmdlSetExecConfigOpt(c, ACL_MDL_STREAM_SYNC_TIMEOUT, &timeout, sizeof timeout), 100000);
    EXPECT(aclmdlSetExecConfigOpt(c, ACL_MDL_EVENT_SYNC_TIMEOUT, &timeout, 8), 100000);
    EXPECT(aclmdlSetExecConfigOpt(c, ACL_MDL_EVENT_SYNC_TIMEOUT, NULL, 4), 100000);
    OK(aclmdlDestroyExecConfigHandle(c));
}

RULE(model, attributes_of_operators_are_checked, "implementation: aclopSetAttr...") {
    aclopAttr *a = aclopCreateAttr();
    const int64_t values[2] = {1, 2};
    NEED(a != NULL);
    EXPECT(aclopSetAttrInt(a, "i", 1), 0);
    EXPECT(aclopSetAttrListInt(a, "l", 2, values), 0);
    EXPECT(aclopSetAttrInt(a, NULL, 1), 100000);
    EXPECT(aclopSetAttrInt(NULL, "i", 1), 100000);
    EXPECT(aclopSetAttrString(a, "s", NULL), 100000);
    aclopDestroyAttr(a);
}
