/* Operators by name: operands, constants, attributes, blocks, shapes that come back, handles, and what is refused. */
#include "acl/acl_op_compiler.h"
#include "check.h"

#define MOST 4

/* One call in the making; everything in it lives until `over`. */
typedef struct call {
    int inputs, outputs;
    aclTensorDesc *in[MOST], *out[MOST];
    aclDataBuffer *from[MOST], *to[MOST];
    void *memory[2 * MOST];
    int memories;
    aclopAttr *attr;
    aclrtStream stream;
} call;

static call begin(void) {
    return (call){.attr = aclopCreateAttr(), .stream = new_stream()};
}

static void over(call *c) {
    for (int i = 0; i < c->inputs; i++) aclDestroyTensorDesc(c->in[i]);
    for (int i = 0; i < c->inputs; i++) OK(aclDestroyDataBuffer(c->from[i]));
    for (int i = 0; i < c->outputs; i++) aclDestroyTensorDesc(c->out[i]);
    for (int i = 0; i < c->outputs; i++) OK(aclDestroyDataBuffer(c->to[i]));
    for (int i = 0; i < c->memories; i++) OK(aclrtFree(c->memory[i]));
    aclopDestroyAttr(c->attr);
    OK(aclrtDestroyStream(c->stream));
}

static void *filled(call *c, size_t size, const void *values) {
    void *p = c->memory[c->memories++] = device(size);
    if (values != NULL) OK(aclrtMemcpy(p, size, values, size, ACL_MEMCPY_HOST_TO_DEVICE));
    else OK(aclrtMemset(p, size, 0x7f, size));
    return p;
}

#define DIMS(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}

static void input(call *c, aclDataType type, int rank, const int64_t *dims, size_t size, const void *values) {
    c->in[c->inputs] = aclCreateTensorDesc(type, rank, dims, ACL_FORMAT_ND);
    c->from[c->inputs++] = aclCreateDataBuffer(filled(c, size, values), size);
}

/* As torch_npu does it: the bytes are in the descriptor, and no buffer is there. */
static void constant(call *c, aclDataType type, int rank, const int64_t *dims, size_t size, void *values) {
    c->in[c->inputs] = aclCreateTensorDesc(type, rank, dims, ACL_FORMAT_ND);
    OK(aclSetTensorConst(c->in[c->inputs], values, size));
    c->from[c->inputs++] = aclCreateDataBuffer(NULL, 0);
}

static void output(call *c, aclDataType type, int rank, const int64_t *dims, size_t size) {
    c->out[c->outputs] = aclCreateTensorDesc(type, rank, dims, ACL_FORMAT_ND);
    c->to[c->outputs++] = aclCreateDataBuffer(filled(c, size, NULL), size);
}

static aclError run(call *c, const char *type) {
    return aclopCompileAndExecute(type, c->inputs, (const aclTensorDesc *const *)c->in,
        (const aclDataBuffer *const *)c->from, c->outputs, (const aclTensorDesc *const *)c->out, c->to, c->attr,
        ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, c->stream);
}

static aclError run_v2(call *c, const char *type) {
    return aclopCompileAndExecuteV2(type, c->inputs, c->in, c->from, c->outputs, c->out, c->to, c->attr, ACL_ENGINE_SYS,
        ACL_COMPILE_SYS, NULL, c->stream);
}

static void gives(call *c, int output, const void *want, size_t size) {
    char got[4096];
    OK(aclrtSynchronizeStream(c->stream));
    OK(aclrtMemcpy(got, sizeof got, aclGetDataBufferAddr(c->to[output]), size, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(memcmp(got, want, size) == 0);
}

static void said(const char *part) {
    const char *text = aclGetRecentErrMsg();
    if (text != NULL && strstr(text, part) != NULL) return;
    fprintf(stderr, "'%s' does not say '%s'\n", text == NULL ? "" : text, part);
    exit(1);
}

static const float six[] = {1, 2, 3, 4, 5, 6};

static void elements_are_computed(void) {
    call c = begin();
    const float other[] = {10, 20, 30}, want[] = {11, 22, 33, 14, 25, 36};
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    input(&c, ACL_FLOAT, DIMS(3), sizeof other, other);
    output(&c, ACL_FLOAT, DIMS(2, 3), sizeof six);
    OK(run(&c, "Add"));
    gives(&c, 0, want, sizeof want);
    OK(aclopExecuteV2("Sub", 2, c.in, c.from, 1, c.out, c.to, c.attr, c.stream));
    gives(&c, 0, (float[]){-9, -18, -27, -6, -15, -24}, sizeof want);
    over(&c);
}

static void constants_and_attributes_are_read(void) {
    const float turned[] = {1, 4, 2, 5, 3, 6}, padded[] = {9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9};
    int64_t order[] = {1, 0};
    int32_t pads[] = {0, 1, 1, 0}, narrow[] = {1, 0};
    float nine = 9;
    call c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    constant(&c, ACL_INT64, DIMS(2), sizeof order, order);
    output(&c, ACL_FLOAT, DIMS(3, 2), sizeof six);
    OK(run(&c, "Transpose"));
    gives(&c, 0, turned, sizeof turned);
    over(&c);

    /* Of s32, in memory of the host. */
    c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    c.in[1] = aclCreateTensorDesc(ACL_INT32, DIMS(2), ACL_FORMAT_ND);
    OK(aclSetTensorPlaceMent(c.in[1], ACL_MEMTYPE_HOST));
    c.from[c.inputs++] = aclCreateDataBuffer(narrow, sizeof narrow);
    output(&c, ACL_FLOAT, DIMS(3, 2), sizeof six);
    OK(run(&c, "Transpose"));
    gives(&c, 0, turned, sizeof turned);
    over(&c);

    /* The value is a constant, then one on the device. */
    for (int device_value = 0; device_value < 2; device_value++) {
        c = begin();
        input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
        constant(&c, ACL_INT32, DIMS(2, 2), sizeof pads, pads);
        if (device_value) input(&c, ACL_FLOAT, 0, NULL, sizeof nine, &nine);
        else constant(&c, ACL_FLOAT, 0, NULL, sizeof nine, &nine);
        output(&c, ACL_FLOAT, DIMS(3, 4), sizeof padded);
        OK(aclopSetAttrString(c.attr, "mode", "constant"));
        OK(aclopSetAttrBool(c.attr, "paddings_contiguous", 1));
        OK(run(&c, "PadV3"));
        gives(&c, 0, padded, sizeof padded);
        OK(aclopSetAttrString(c.attr, "mode", "reflect"));
        CODE(run(&c, "PadV3"), 207000);
        said("mode reflect");
        over(&c);
    }

    c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    output(&c, ACL_FLOAT, DIMS(2, 2), 16);
    OK(aclopSetAttrBool(c.attr, "transpose_x2", 1));
    OK(run(&c, "MatMul"));
    gives(&c, 0, (float[]){14, 32, 32, 77}, 16);
    over(&c);
}

static void parts_are_cut_out(void) {
    const float twelve[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int64_t from[] = {1, 1}, size[] = {2, -1}, to[] = {3, -1}, step[] = {1, 2};
    call c = begin();
    input(&c, ACL_FLOAT, DIMS(3, 4), sizeof twelve, twelve);
    constant(&c, ACL_INT64, DIMS(2), sizeof from, from);
    constant(&c, ACL_INT64, DIMS(2), sizeof size, size);
    output(&c, ACL_FLOAT, DIMS(2, 3), 24);
    OK(run(&c, "Slice"));
    gives(&c, 0, (float[]){5, 6, 7, 9, 10, 11}, 24);
    over(&c);
    c = begin();
    input(&c, ACL_FLOAT, DIMS(3, 4), sizeof twelve, twelve);
    constant(&c, ACL_INT64, DIMS(2), sizeof from, from);
    constant(&c, ACL_INT64, DIMS(2), sizeof to, to);
    constant(&c, ACL_INT64, DIMS(2), sizeof step, step);
    output(&c, ACL_FLOAT, DIMS(2), 8);
    OK(aclopSetAttrInt(c.attr, "shrink_axis_mask", 1));
    OK(aclopSetAttrInt(c.attr, "end_mask", 2));
    OK(run(&c, "StridedSlice")); /* x[1, 1::2] */
    gives(&c, 0, (float[]){5, 7}, 8);
    OK(aclopSetAttrInt(c.attr, "new_axis_mask", 1));
    CODE(run(&c, "StridedSlice"), 207000);
    over(&c);
}

/* 17 x 3 of f32 as (1, 2, 16, 8) and back, and times something. */
static void blocks_go_in_and_out(void) {
    float dense[51], want[256] = {0}, ones[17];
    call c = begin();
    for (int i = 0; i < 51; i++) dense[i] = (float)i + 1, want[i / 3 * 8 + i % 3] = dense[i];
    for (int i = 0; i < 17; i++) ones[i] = 1;
    input(&c, ACL_FLOAT, DIMS(17, 3), sizeof dense, dense);
    output(&c, ACL_FLOAT, DIMS(17, 3), sizeof want);
    OK(aclSetTensorFormat(c.out[0], ACL_FORMAT_FRACTAL_NZ));
    OK(aclSetTensorShape(c.out[0], DIMS(1, 2, 16, 8)));
    OK(run(&c, "Identity"));
    gives(&c, 0, want, sizeof want);
    call back = begin();
    input(&back, ACL_FLOAT, DIMS(17, 3), sizeof want, want);
    OK(aclSetTensorFormat(back.in[0], ACL_FORMAT_FRACTAL_NZ));
    OK(aclSetTensorShape(back.in[0], DIMS(1, 2, 16, 8)));
    output(&back, ACL_FLOAT, DIMS(17, 3), sizeof dense);
    OK(run(&back, "TransData"));
    gives(&back, 0, dense, sizeof dense);
    over(&back);
    call product = begin();
    input(&product, ACL_FLOAT, DIMS(1, 17), sizeof ones, ones);
    input(&product, ACL_FLOAT, DIMS(17, 3), sizeof want, want);
    OK(aclSetTensorFormat(product.in[1], ACL_FORMAT_FRACTAL_NZ));
    OK(aclSetTensorShape(product.in[1], DIMS(1, 2, 16, 8)));
    output(&product, ACL_FLOAT, DIMS(1, 3), 12);
    OK(run(&product, "MatMulV2")); /* sums of 1, 4, ... 49 and the columns beside it */
    gives(&product, 0, (float[]){425, 442, 459}, 12);
    OK(aclSetTensorShape(product.in[1], DIMS(2, 1, 16, 8)));
    CODE(run(&product, "MatMulV2"), 100021);
    said("storage shape");
    OK(aclSetTensorFormat(product.in[1], ACL_FRACTAL_Z_3D));
    CODE(run(&product, "MatMulV2"), 207000);
    said("format 33");
    over(&product);
    /* Descriptors of the storage alone. */
    aclDestroyTensorDesc(c.out[0]);
    c.out[0] = aclCreateTensorDesc(ACL_FLOAT, DIMS(1, 2, 16, 8), ACL_FORMAT_FRACTAL_NZ);
    OK(run(&c, "TransData"));
    gives(&c, 0, want, sizeof want);
    over(&c);
}

static void shapes_come_back(void) {
    int64_t size = 0;
    int64_t order[] = {1, 0};
    call c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    constant(&c, ACL_INT64, DIMS(2), sizeof order, order);
    output(&c, ACL_FLOAT, DIMS(-1, -1), sizeof six);
    CODE(aclopInferShape("Transpose", 2, c.in, c.from, 1, c.out, c.attr), 0);
    OK(aclGetTensorDescDimV2(c.out[0], 0, &size));
    CHECK(size == 3);
    aclDestroyTensorDesc(c.out[0]);
    c.out[0] = aclCreateTensorDesc(ACL_FLOAT, DIMS(-2), ACL_FORMAT_ND);
    OK(run_v2(&c, "Transpose"));
    gives(&c, 0, (float[]){1, 4, 2, 5, 3, 6}, sizeof six);
    CHECK(aclGetTensorDescNumDims(c.out[0]) == 2 && aclGetTensorDescDim(c.out[0], 0) == 3);
    aclDestroyTensorDesc(c.out[0]);
    c.out[0] = aclCreateTensorDesc(ACL_FLOAT, DIMS(-1, -1), ACL_FORMAT_ND);
    CODE(run_v2(&c, "Tile"), 148050);
    said("Tile");
    over(&c);
}

static void handles_run_many_times(void) {
    aclopHandle *handle = NULL;
    call c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    output(&c, ACL_FLOAT, DIMS(2, 3), sizeof six);
    OK(aclopSetAttrFloat(c.attr, "value", 2));
    const aclTensorDesc *in = c.in[0], *out = c.out[0];
    OK(aclopCreateHandle("Muls", 1, &in, 1, &out, c.attr, &handle));
    OK(aclopSetAttrFloat(c.attr, "value", 5)); /* the handle has its own */
    const aclDataBuffer *from = c.from[0];
    for (int i = 0; i < 3; i++) {
        OK(aclopExecWithHandle(handle, 1, &from, 1, c.to, c.stream));
        gives(&c, 0, (float[]){2, 4, 6, 8, 10, 12}, sizeof six);
    }
    CODE(aclopExecWithHandle(handle, 2, &from, 1, c.to, c.stream), 100021);
    CODE(aclopExecWithHandle(handle, 1, &from, 0, c.to, c.stream), 100022);
    CODE(aclopExecWithHandle(NULL, 1, &from, 1, c.to, c.stream), 100000);
    aclopDestroyHandle(handle);
    CODE(aclopExecWithHandle(handle, 1, &from, 1, c.to, c.stream), 100000);
    aclopDestroyHandle(handle);
    aclopDestroyHandle(NULL);
    CODE(aclopCreateHandle("NoSuchThing", 1, &in, 1, &out, NULL, &handle), 100024);
    CODE(aclopCreateHandle("Muls", 1, &in, 1, &out, NULL, NULL), 100000);
    over(&c);

    c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    output(&c, ACL_INT32, DIMS(2, 3), sizeof six);
    OK(aclopCast(c.in[0], c.from[0], c.out[0], c.to[0], 0, c.stream));
    gives(&c, 0, (int32_t[]){1, 2, 3, 4, 5, 6}, sizeof six);
    OK(aclopCreateHandleForCast(c.in[0], c.out[0], 0, &handle));
    from = c.from[0];
    OK(aclopExecWithHandle(handle, 1, &from, 1, c.to, c.stream));
    aclopDestroyHandle(handle);
    over(&c);
}

/* Work in between is freed when the stream is past it. */
static void nothing_is_left(void) {
    const uint8_t mask[] = {0, 0, 1, 0, 1, 1};
    float got[6];
    call c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    input(&c, ACL_BOOL, DIMS(2, 3), sizeof mask, mask);
    output(&c, ACL_FLOAT, DIMS(2, 3), sizeof six);
    OK(aclrtSynchronizeStream(c.stream));
    const mock_acl_live before = live();
    OK(aclopSetAttrFloat(c.attr, "scale", 0.5F));
    OK(aclopSetAttrBool(c.attr, "fixed_triu_mask", 0));
    OK(run(&c, "ScaledMaskedSoftmax"));
    OK(aclrtSynchronizeStream(c.stream));
    const mock_acl_live after = live();
    CHECK(after.device_allocations == before.device_allocations && after.executors == 0 && after.tensors == 0);
    CHECK(after.scalars == 0 && after.arrays == 0 && after.lists == 0);
    OK(aclrtMemcpy(got, sizeof got, aclGetDataBufferAddr(c.to[0]), sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(got[2] == 0 && got[3] == 1 && got[4] == 0 && got[0] > 0.3775F && got[0] < 0.3776F);
    over(&c);
}

static void bad_calls_are_refused(void) {
    aclrtStream s;
    call c = begin();
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    input(&c, ACL_FLOAT, DIMS(2, 3), sizeof six, six);
    output(&c, ACL_FLOAT, DIMS(2, 3), sizeof six);
    CODE(run(&c, NULL), 100000);
    CODE(run(&c, "DynamicGRUV2"), 207000);
    said("DynamicGRUV2 is not supported by mock-acl");
    CODE(aclopExecuteV2("DynamicGRUV2", 2, c.in, c.from, 1, c.out, c.to, c.attr, c.stream), 100024);
    said("DynamicGRUV2");
    CODE(run(&c, "Relu"), 100021);
    said("2 inputs");
    CODE(run(&c, "Transpose"), 100021);
    said("input 1 has to be a constant");
    const aclTensorDesc *const *in = (const aclTensorDesc *const *)c.in, *const *out = (const aclTensorDesc *const *)c.out;
    const aclDataBuffer *const *from = (const aclDataBuffer *const *)c.from;
#define CALL(...) aclopCompileAndExecute(__VA_ARGS__, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, c.stream)
    CODE(CALL("Add", -1, in, from, 1, out, c.to, c.attr), 100000);
    CODE(CALL("Add", 2, NULL, from, 1, out, c.to, c.attr), 100000);
    CODE(CALL("Add", 2, in, NULL, 1, out, c.to, c.attr), 100000);
    CODE(CALL("Add", 2, in, from, 1, NULL, c.to, c.attr), 100000);
    CODE(CALL("Add", 2, in, from, 1, out, NULL, c.attr), 100000);
    CODE(CALL("Add", 2, in, from, 0, out, c.to, c.attr), 100022);
    CODE(CALL("Add", 65, in, from, 1, out, c.to, c.attr), 100000);
    CODE(CALL("Add", 2, in, from, 1, out, c.to, (const aclopAttr *)&c), 100000);
    CODE(aclopCompileAndExecute("Add", 2, in, from, 1, out, c.to, NULL, (aclopEngineType)9, ACL_COMPILE_SYS, NULL, c.stream),
        100000);
    CODE(aclopCompile("Add", 2, in, 1, out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_UNREGISTERED, NULL), 100000);
    CODE(aclopCompile("Add", 2, in, 1, out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL), 0);
    CODE(aclopCompile("None", 2, in, 1, out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL), 207000);
    OK(CALL("Add", 2, in, from, 1, out, c.to, NULL));

    /* Too few bytes, a shape that does not fit, a kind of attribute, a type. */
    OK(aclUpdateDataBuffer(c.from[1], aclGetDataBufferAddr(c.from[1]), 20));
    CODE(run(&c, "Add"), 100021);
    said("20 bytes");
    OK(aclUpdateDataBuffer(c.from[1], NULL, 24));
    CODE(run(&c, "Add"), 100021);
    OK(aclUpdateDataBuffer(c.from[1], aclGetDataBufferAddr(c.from[0]), 24));
    OK(aclUpdateDataBuffer(c.to[0], aclGetDataBufferAddr(c.to[0]), 23));
    CODE(run(&c, "Add"), 100022);
    OK(aclUpdateDataBuffer(c.to[0], aclGetDataBufferAddr(c.to[0]), 24));
    OK(aclSetTensorOriginShape(c.in[1], DIMS(3, 2)));
    CODE(run(&c, "Add"), 500002);
    said("aclnnAdd");
    OK(aclSetTensorOriginShape(c.in[1], DIMS(2, 3)));
    OK(aclopSetAttrInt(c.attr, "alpha", 1));
    CODE(run(&c, "Axpy"), 100023);
    said("alpha");
    OK(aclSetTensorOriginShape(c.in[1], DIMS(1, 1, 1, 1, 1, 1, 1, 2, 3)));
    CODE(run(&c, "Add"), 100000);
    OK(aclSetTensorOriginShape(c.in[1], DIMS(-1, 3)));
    CODE(run(&c, "Add"), 100021);
    OK(aclSetTensorOriginShape(c.in[1], DIMS(INT64_MAX, INT64_MAX)));
    CODE(run(&c, "Add"), 100021);
    OK(aclSetTensorOriginShape(c.in[1], DIMS(2, 3)));

    /* A stream that records, one of nobody. */
    OK(aclmdlRICaptureBegin(c.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CODE(run(&c, "Add"), 207000);
    said("records");
    aclmdlRI ri = NULL;
    OK(aclmdlRICaptureEnd(c.stream, &ri));
    OK(aclmdlRIDestroy(ri));
    s = c.stream;
    c.stream = (aclrtStream)&c;
    CODE(run(&c, "Add"), 107017);
    c.stream = s;
    over(&c);
}

int main(void) {
    up();
    elements_are_computed();
    constants_and_attributes_are_read();
    parts_are_cut_out();
    blocks_go_in_and_out();
    shapes_come_back();
    handles_run_many_times();
    nothing_is_left();
    bad_calls_are_refused();
    puts("operators by name: ok");
    return 0;
}
