/* Tensor descriptors, data buffers and datasets: what they say, what they own, and the codes of bad input. */
#include "acl/acl_op_compiler.h"
#include "acl/error_codes/ge_error_codes.h"
#include "acl/super_kernel.h"
#include "check.h"

static aclTensorDesc *desc(int n, const int64_t *dims) {
    aclTensorDesc *d = aclCreateTensorDesc(ACL_FLOAT16, n, dims, ACL_FORMAT_NCHW);
    CHECK(d != NULL);
    return d;
}

static void a_descriptor_says_what_it_was_made_of(void) {
    const int64_t dims[] = {2, 3, 4, 5};
    aclTensorDesc *d = desc(4, dims);
    int64_t size = 0;
    CHECK(aclGetTensorDescType(d) == ACL_FLOAT16 && aclGetTensorDescFormat(d) == ACL_FORMAT_NCHW);
    CHECK(aclGetTensorDescNumDims(d) == 4 && aclGetTensorDescElementCount(d) == 120);
    CHECK(aclGetTensorDescSize(d) == 240 && aclGetTensorDescDim(d, 3) == 5 && aclGetTensorDescDim(d,
        4) == -1);
    OK(aclGetTensorDescDimV2(d, 2, &size));
    CHECK(size == 4);
    CODE(aclGetTensorDescDimV2(d, 4, &size), 100000);
    CODE(aclGetTensorDescDimV2(d, 0, NULL), 100000);
    CHECK(strcmp(aclGetTensorDescName(d), "") == 0 && aclGetTensorDescAddress(d) == NULL);
    CHECK(aclGetTensorDescByIndex(d, 0) == d && aclGetTensorDescByIndex(d, 1) == NULL);
    aclSetTensorDescName(d, "x");
    CHECK(strcmp(aclGetTensorDescName(d), "x") == 0);
    aclSetTensorDescName(d, NULL);
    CHECK(strcmp(aclGetTensorDescName(d), "") == 0);
    aclDestroyTensorDesc(d);
    CHECK(aclGetTensorDescNumDims(d) == 0);
    aclTensorDesc *scalar = desc(0, NULL);
    CHECK(aclGetTensorDescElementCount(scalar) == 1 && aclGetTensorDescSize(scalar) == 2);
    aclDestroyTensorDesc(scalar);
}

static void unknown_and_huge_sizes(void) {
    aclTensorDesc *open = desc(2, (int64_t[]){-1, 3}), *rank = desc(1, (int64_t[]){-2});
    aclTensorDesc *huge = desc(2, (int64_t[]){INT64_MAX, 4}), *wide = desc(1, (int64_t[]){INT64_MAX});
    CHECK(aclGetTensorDescElementCount(open) == 0 && aclGetTensorDescNumDims(open) == 2);
    CHECK(aclGetTensorDescNumDims(rank) == ACL_UNKNOWN_RANK);
    CHECK(aclGetTensorDescElementCount(huge) == 0 && aclGetTensorDescSize(huge) == 0);
    CHECK(aclGetTensorDescElementCount(wide) == INT64_MAX);
    aclDestroyTensorDesc(open);
    aclDestroyTensorDesc(rank);
    aclDestroyTensorDesc(huge);
    aclDestroyTensorDesc(wide);
}

static void the_origin_is_what_getters_read(void) {
    aclTensorDesc *d = desc(1, (int64_t[]){7});
    int64_t range[2][2] = {{1, 8}, {2, -1}}, got[2];
    OK(aclSetTensorShape(d, 2, (int64_t[]){1, 1}));
    OK(aclSetTensorFormat(d, ACL_FORMAT_NC1HWC0));
    CHECK(aclGetTensorDescNumDims(d) == 1 && aclGetTensorDescFormat(d) == ACL_FORMAT_NCHW);
    OK(aclSetTensorOriginShape(d, 2, (int64_t[]){5, 6}));
    OK(aclSetTensorOriginFormat(d, ACL_FORMAT_ND));
    CHECK(aclGetTensorDescNumDims(d) == 2 && aclGetTensorDescFormat(d) == ACL_FORMAT_ND);
    CODE(aclGetTensorDescDimRange(d, 0, 2, got), 100000);
    OK(aclSetTensorShapeRange(d, 2, range));
    OK(aclGetTensorDescDimRange(d, 1, 2, got));
    CHECK(got[0] == 2 && got[1] == -1);
    CODE(aclGetTensorDescDimRange(d, 1, 1, got), 100000);
    CODE(aclGetTensorDescDimRange(d, 1, 2, NULL), 100000);
    OK(aclSetTensorStorageShape(d, 1, (int64_t[]){9}));
    OK(aclSetTensorStorageFormat(NULL, ACL_FORMAT_ND));
    OK(aclSetTensorValueRange(d, 1, range));
    OK(aclSetTensorDynamicInput(d, "in"));
    OK(aclSetTensorPlaceMent(d, ACL_MEMTYPE_HOST));
    OK(aclSetTensorConst(d, got, sizeof got));
    OK(aclSetTensorConst(d, got, 8));
    CODE(aclSetTensorConst(d, got, 0), 100000);
    CODE(aclSetTensorConst(d, NULL, 8), 100000);
    CODE(aclSetTensorDynamicInput(d, NULL), 100000);
    CODE(aclSetTensorOriginShape(d, 1, NULL), 100000);
    CODE(aclSetTensorOriginShape(d, 129, got), 100000);
    aclDestroyTensorDesc(d);
    CODE(aclSetTensorConst(d, got, 8), 100000);
}

static void formats_give_other_shapes(void) {
    aclTensorDesc *d = desc(4, (int64_t[]){2, 35, 4, 5}), *out = NULL;
    OK(aclTransTensorDescFormat(d, ACL_FORMAT_NHWC, &out));
    CHECK(aclGetTensorDescDim(out, 1) == 4 && aclGetTensorDescDim(out, 3) == 35);
    aclDestroyTensorDesc(out);
    OK(aclTransTensorDescFormat(d, ACL_FORMAT_NC1HWC0, &out));
    CHECK(aclGetTensorDescNumDims(out) == 5 && aclGetTensorDescDim(out, 1) == 3 && aclGetTensorDescDim(out,
        4) == 16);
    aclDestroyTensorDesc(out);
    CODE(aclTransTensorDescFormat(d, ACL_FORMAT_FRACTAL_NZ, &out), 145020);
    CODE(aclTransTensorDescFormat(d, ACL_FORMAT_NHWC, NULL), 100000);
    CODE(aclTransTensorDescFormat(NULL, ACL_FORMAT_NHWC, &out), 100000);
    aclDestroyTensorDesc(d);
    d = aclCreateTensorDesc(ACL_INT8, 2, (int64_t[]){33, 40}, ACL_FORMAT_ND);
    OK(aclTransTensorDescFormat(d, ACL_FORMAT_FRACTAL_NZ, &out));
    CHECK(aclGetTensorDescDim(out, 0) == 2 && aclGetTensorDescDim(out, 1) == 3 && aclGetTensorDescDim(out,
        3) == 32);
    aclDestroyTensorDesc(out);
    aclDestroyTensorDesc(d);
}

static void bad_input_gives_no_descriptor(void) {
    const int64_t dims[] = {1};
    CHECK(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND) == NULL);
    CHECK(aclCreateTensorDesc(ACL_FLOAT, 1, NULL, ACL_FORMAT_ND) == NULL);
    CHECK(aclCreateTensorDesc(ACL_FLOAT, 129, dims, ACL_FORMAT_ND) == NULL);
    CHECK(aclGetTensorDescType(NULL) == ACL_DT_UNDEFINED &&
        aclGetTensorDescFormat(NULL) == ACL_FORMAT_UNDEFINED);
    CHECK(aclGetTensorDescElementCount(NULL) == 0 && strcmp(aclGetTensorDescName(NULL), "") == 0);
    CHECK(aclGetTensorDescDim(NULL, 0) == -1 && aclGetTensorDescByIndex(NULL, 0) == NULL);
    aclDestroyTensorDesc(NULL);
    aclmdlDataset *wrong = aclmdlCreateDataset();
    CHECK(aclGetTensorDescNumDims((aclTensorDesc *)(void *)wrong) == 0);
    OK(aclmdlDestroyDataset(wrong));
}

static void a_dataset_owns_descriptors_not_buffers(void) {
    const uint64_t before = live().library_objects;
    char bytes[8];
    aclmdlDataset *set = aclmdlCreateDataset();
    aclDataBuffer *a = aclCreateDataBuffer(bytes, 8);
    CODE(aclmdlAddDatasetBuffer(set, NULL), 100000);
    CODE(aclmdlAddDatasetBuffer(NULL, a), 100000);
    for (int i = 0; i < 20; i++) OK(aclmdlAddDatasetBuffer(set, a));
    CHECK(aclmdlGetDatasetNumBuffers(set) == 20 && aclmdlGetDatasetBuffer(set, 19) == a);
    CHECK(aclmdlGetDatasetBuffer(set, 20) == NULL && aclmdlGetDatasetBuffer(NULL, 0) == NULL);
    aclTensorDesc *d = desc(1, (int64_t[]){3});
    CHECK(aclmdlGetDatasetTensorDesc(set, 0) == NULL);
    OK(aclmdlSetDatasetTensorDesc(set, d, 0));
    aclDestroyTensorDesc(d);
    CHECK(aclGetTensorDescDim(aclmdlGetDatasetTensorDesc(set, 0), 0) == 3);
    CODE(aclmdlSetDatasetTensorDesc(set, d, 0), 100000);
    d = desc(1, (int64_t[]){4});
    OK(aclmdlSetDatasetTensorDesc(set, d, 0));
    OK(aclmdlSetDatasetTensorDesc(set, d, 1));
    OK(aclmdlSetDatasetTensorDesc(set, NULL, 1));
    CHECK(aclmdlGetDatasetTensorDesc(set, 1) == NULL);
    CODE(aclmdlSetDatasetTensorDesc(set, d, 20), 100000);
    aclDestroyTensorDesc(d);
    CHECK(live().library_objects == before + 3);
    OK(aclmdlDestroyDataset(set));
    CODE(aclmdlDestroyDataset(set), 100000);
    CHECK(aclmdlGetDatasetNumBuffers(set) == 0);
    OK(aclDestroyDataBuffer(a));
    CODE(aclDestroyDataBuffer(a), 100000);
    CHECK(aclGetDataBufferAddr(a) == NULL && aclGetDataBufferSizeV2(a) == 0);
    CHECK(live().library_objects == before);
}

static void attributes_of_operators(void) {
    aclopAttr *a = aclopCreateAttr();
    const char *texts[] = {"a", NULL};
    const int64_t row[] = {1, 2}, *rows[] = {row, NULL};
    OK(aclopSetAttrBool(a, "b", 1));
    OK(aclopSetAttrInt(a, "i", 1));
    OK(aclopSetAttrInt(a, "i", 2));
    OK(aclopSetAttrFloat(a, "f", 1));
    OK(aclopSetAttrDataType(a, "t", ACL_FLOAT));
    OK(aclopSetAttrString(a, "s", "text"));
    OK(aclopSetAttrListInt(a, "l", 2, row));
    OK(aclopSetAttrListInt(a, "l", 0, NULL));
    OK(aclopSetAttrListString(a, "ls", 1, texts));
    OK(aclopSetAttrListListInt(a, "ll", 1, (int[]){2}, rows));
    CODE(aclopSetAttrListListInt(a, "ll", 2, (int[]){2, 1}, rows), 100000);
    CODE(aclopSetAttrListString(a, "ls", 2, texts), 100000);
    CODE(aclopSetAttrListInt(a, "l", 1, NULL), 100000);
    CODE(aclopSetAttrListInt(a, "l", -1, row), 100000);
    CODE(aclopSetAttrString(a, "s", NULL), 100000);
    CODE(aclopSetAttrInt(a, NULL, 1), 100000);
    CODE(aclopSetAttrInt(NULL, "i", 1), 100000);
    aclopDestroyAttr(a);
    aclopDestroyAttr(NULL);
    CODE(aclopSetAttrInt(a, "i", 1), 100000);
    CODE(aclopExecuteV2("Add", 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), 100021);
}

static void options_of_the_compiler(void) {
    char value[16];
    for (int i = 0; i <= ACL_OP_DEBUG_OPTION; i++) CHECK(aclGetCompileoptSize((aclCompileOpt)i) != 0);
    CHECK(aclGetCompileoptSize((aclCompileOpt)99) == 0);
    CODE(aclGetCompileopt((aclCompileOpt)99, value, 16), 100000);
    CHECK(aclGetCompileoptSize(ACL_OP_JIT_COMPILE) == 8);
    OK(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, 8));
    CHECK(strcmp(value, "disable") == 0);
    OK(aclSetCompileopt(ACL_PRECISION_MODE, "force_fp16"));
    CHECK(aclGetCompileoptSize(ACL_PRECISION_MODE) == 11);
    OK(aclGetCompileopt(ACL_PRECISION_MODE, value, 11));
    CHECK(strcmp(value, "force_fp16") == 0);
    CODE(aclGetCompileopt(ACL_PRECISION_MODE, value, 10), 100000);
    CODE(aclSetCompileopt(ACL_PRECISION_MODE, NULL), 100000);
    CODE(aclSetCompileopt((aclCompileOpt)99, "x"), 100000);
}

static void scopes_are_checked(void) {
    aclrtStream s = new_stream();
    OK(aclskScopeBegin("one", s));
    OK(aclskScopeEnd("one", s));
    CODE(aclskScopeBegin(" ", s), 100000);
    CODE(aclskScopeBegin("one", (aclrtStream)&s), 107017);
    CODE(aclskOptimize(NULL, NULL), 100000);
    OK(aclrtDestroyStream(s));
}

static void a_reset_frees_what_is_left(void) {
    aclmdlDataset *set = aclmdlCreateDataset();
    aclTensorDesc *d = desc(1, (int64_t[]){3});
    char byte;
    OK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(&byte, 1)));
    OK(aclmdlSetDatasetTensorDesc(set, d, 0));
    CHECK(live().library_objects == 4);
    up();
    CHECK(live().library_objects == 0 && aclGetTensorDescNumDims(d) == 0);
}

int main(void) {
    up();
    a_descriptor_says_what_it_was_made_of();
    unknown_and_huge_sizes();
    the_origin_is_what_getters_read();
    formats_give_other_shapes();
    bad_input_gives_no_descriptor();
    a_dataset_owns_descriptors_not_buffers();
    attributes_of_operators();
    options_of_the_compiler();
    scopes_are_checked();
    a_reset_frees_what_is_left();
    return 0;
}
