/* Part of racl (mock-acl). Tensor descriptors of the model interface. */
#include "conform.h"

static const int64_t four[4] = {2, 3, 4, 5};

static aclTensorDesc *desc(int count, const int64_t *dims) {
    aclTensorDesc *d = aclCreateTensorDesc(ACL_FLOAT16, count, dims, ACL_FORMAT_NCHW);
    NEED(d != NULL);
    return d;
}

RULE(tensor, a_descriptor_keeps_type_and_format, "guide: aclCreateTensorDesc") {
    aclTensorDesc *d = desc(4, four);
    TRUE(aclGetTensorDescType(d) == ACL_FLOAT16);
    TRUE(aclGetTensorDescFormat(d) == ACL_FORMAT_NCHW);
    aclDestroyTensorDesc(d);
}

RULE(tensor, a_descriptor_keeps_dimensions, "guide: aclGetTensorDescDimV2") {
    aclTensorDesc *d = desc(4, four);
    int64_t size = 0;
    TRUE(aclGetTensorDescNumDims(d) == 4);
    EXPECT(aclGetTensorDescDimV2(d, 3, &size), 0);
    TRUE(size == 5);
    TRUE(aclGetTensorDescDim(d, 0) == 2);
    aclDestroyTensorDesc(d);
}

RULE(tensor, elements_and_bytes, "guide: aclGetTensorDescElementCount, aclGetTensorDescSize") {
    aclTensorDesc *d = desc(4, four);
    TRUE(aclGetTensorDescElementCount(d) == 120);
    TRUE(aclGetTensorDescSize(d) == 240);
    aclDestroyTensorDesc(d);
}

RULE(tensor, a_scalar_has_one_element, "implementation: aclGetTensorDescElementCount") {
    aclTensorDesc *d = desc(0, NULL);
    TRUE(aclGetTensorDescElementCount(d) == 1 && aclGetTensorDescNumDims(d) == 0);
    aclDestroyTensorDesc(d);
}

RULE(tensor, an_empty_tensor_has_none, "implementation: aclGetTensorDescElementCount") {
    const int64_t dims[2] = {3, 0};
    aclTensorDesc *d = desc(2, dims);
    TRUE(aclGetTensorDescElementCount(d) == 0 && aclGetTensorDescSize(d) == 0);
    aclDestroyTensorDesc(d);
}

RULE(tensor, an_open_size_counts_nothing, "implementation: aclGetTensorDescElementCount") {
    const int64_t dims[2] = {-1, 3};
    aclTensorDesc *d = desc(2, dims);
    TRUE(aclGetTensorDescElementCount(d) == 0 && aclGetTensorDescNumDims(d) == 2);
    aclDestroyTensorDesc(d);
}

RULE(tensor, an_unknown_rank_has_a_number_of_its_own, "guide: aclGetTensorDescNumDims") {
    const int64_t dims[1] = {-2};
    aclTensorDesc *d = desc(1, dims);
    TRUE(aclGetTensorDescNumDims(d) == ACL_UNKNOWN_RANK);
    aclDestroyTensorDesc(d);
}

RULE(tensor, too_many_elements_count_nothing, "implementation: aclGetTensorDescElementCount") {
    const int64_t dims[2] = {INT64_MAX, 4};
    aclTensorDesc *d = desc(2, dims);
    TRUE(aclGetTensorDescElementCount(d) == 0);
    aclDestroyTensorDesc(d);
}

RULE(tensor, a_negative_count_gives_none, "implementation: aclCreateTensorDesc") {
    TRUE(aclCreateTensorDesc(ACL_FLOAT, -1, four, ACL_FORMAT_ND) == NULL);
}

RULE(tensor, missing_dimensions_give_none, "implementation: aclCreateTensorDesc") {
    TRUE(aclCreateTensorDesc(ACL_FLOAT, 2, NULL, ACL_FORMAT_ND) == NULL);
}

RULE(tensor, null_has_answers_of_its_own, "implementation: aclGetTensorDescType and others") {
    TRUE(aclGetTensorDescType(NULL) == ACL_DT_UNDEFINED);
    TRUE(aclGetTensorDescFormat(NULL) == ACL_FORMAT_UNDEFINED);
    TRUE(aclGetTensorDescSize(NULL) == 0 && aclGetTensorDescElementCount(NULL) == 0);
    TRUE(aclGetTensorDescNumDims(NULL) == 0 && aclGetTensorDescDim(NULL, 0) == -1);
    TRUE(strcmp(aclGetTensorDescName(NULL), "") == 0);
    TRUE(aclGetTensorDescAddress(NULL) == NULL && aclGetTensorDescByIndex(NULL, 0) == NULL);
}

RULE(tensor, a_dimension_beyond_the_last, "implementation: aclGetTensorDescDim, aclGetTensorDescDimV2") {
    aclTensorDesc *d = desc(4, four);
    int64_t size = 7;
    TRUE(aclGetTensorDescDim(d, 4) == -1);
    EXPECT(aclGetTensorDescDimV2(d, 4, &size), 100000);
    EXPECT(aclGetTensorDescDimV2(d, 0, NULL), 100000);
    TRUE(size == 7);
    aclDestroyTensorDesc(d);
}

RULE(tensor, names_are_copied, "guide: aclSetTensorDescName") {
    aclTensorDesc *d = desc(4, four);
    char name[4] = "abc";
    TRUE(strcmp(aclGetTensorDescName(d), "") == 0);
    aclSetTensorDescName(d, name);
    name[0] = 'x';
    TRUE(strcmp(aclGetTensorDescName(d), "abc") == 0);
    aclSetTensorDescName(d, NULL);
    TRUE(strcmp(aclGetTensorDescName(d), "") == 0);
    aclDestroyTensorDesc(d);
}

RULE(tensor, the_shape_set_is_the_storage_shape, "implementation: aclSetTensorShape") {
    aclTensorDesc *d = desc(4, four);
    const int64_t one[1] = {9};
    OK(aclSetTensorShape(d, 1, one));
    TRUE(aclGetTensorDescNumDims(d) == 4);
    OK(aclSetTensorOriginShape(d, 1, one));
    TRUE(aclGetTensorDescNumDims(d) == 1 && aclGetTensorDescDim(d, 0) == 9);
    aclDestroyTensorDesc(d);
}

RULE(tensor, the_format_set_is_the_storage_format, "implementation: aclSetTensorFormat") {
    aclTensorDesc *d = desc(4, four);
    OK(aclSetTensorFormat(d, ACL_FORMAT_NC1HWC0));
    TRUE(aclGetTensorDescFormat(d) == ACL_FORMAT_NCHW);
    OK(aclSetTensorOriginFormat(d, ACL_FORMAT_ND));
    TRUE(aclGetTensorDescFormat(d) == ACL_FORMAT_ND);
    aclDestroyTensorDesc(d);
}

RULE(tensor, formats_of_null_are_no_error, "implementation: aclSetTensorStorageFormat and others") {
    EXPECT(aclSetTensorStorageFormat(NULL, ACL_FORMAT_ND), 0);
    EXPECT(aclSetTensorFormat(NULL, ACL_FORMAT_ND), 0);
    EXPECT(aclSetTensorOriginFormat(NULL, ACL_FORMAT_ND), 0);
}

RULE(tensor, shapes_of_null_are_errors, "implementation: aclSetTensorStorageShape and others") {
    aclTensorDesc *d = desc(4, four);
    EXPECT(aclSetTensorStorageShape(NULL, 1, four), 100000);
    EXPECT(aclSetTensorStorageShape(d, 1, NULL), 100000);
    EXPECT(aclSetTensorShape(NULL, 1, four), 100000);
    EXPECT(aclSetTensorOriginShape(d, 1, NULL), 100000);
    aclDestroyTensorDesc(d);
}

RULE(tensor, ranges_are_given_back, "guide: aclSetTensorShapeRange, aclGetTensorDescDimRange") {
    aclTensorDesc *d = desc(4, four);
    int64_t ranges[2][2] = {{1, 8}, {2, -1}}, got[2] = {0, 0};
    EXPECT(aclGetTensorDescDimRange(d, 0, 2, got), 100000);
    OK(aclSetTensorShapeRange(d, 2, ranges));
    EXPECT(aclGetTensorDescDimRange(d, 1, 2, got), 0);
    TRUE(got[0] == 2 && got[1] == -1);
    EXPECT(aclGetTensorDescDimRange(d, 2, 2, got), 100000);
    EXPECT(aclGetTensorDescDimRange(d, 1, 1, got), 100000);
    EXPECT(aclGetTensorDescDimRange(NULL, 1, 2, got), 100000);
    aclDestroyTensorDesc(d);
}

RULE(tensor, constants_are_checked, "implementation: aclSetTensorConst") {
    aclTensorDesc *d = desc(4, four);
    int64_t value = 3;
    EXPECT(aclSetTensorConst(d, &value, sizeof value), 0);
    EXPECT(aclSetTensorConst(d, &value, 0), 100000);
    EXPECT(aclSetTensorConst(d, NULL, sizeof value), 100000);
    EXPECT(aclSetTensorConst(NULL, &value, sizeof value), 100000);
    aclDestroyTensorDesc(d);
}

RULE(tensor, other_setters_are_checked, "implementation: aclSetTensorPlaceMent, aclSetTensorDynamicInput") {
    aclTensorDesc *d = desc(4, four);
    EXPECT(aclSetTensorPlaceMent(d, ACL_MEMTYPE_HOST), 0);
    EXPECT(aclSetTensorPlaceMent(NULL, ACL_MEMTYPE_HOST), 100000);
    EXPECT(aclSetTensorDynamicInput(d, "x"), 0);
    EXPECT(aclSetTensorDynamicInput(d, NULL), 100000);
    aclDestroyTensorDesc(d);
}

RULE(tensor, index_0_is_the_descriptor_itself, "guide: aclGetTensorDescByIndex") {
    aclTensorDesc *d = desc(4, four);
    TRUE(aclGetTensorDescByIndex(d, 0) == d);
    aclDestroyTensorDesc(d);
}

RULE_MOCK(tensor, a_destroyed_descriptor_is_refused, "own choice") {
    aclTensorDesc *d = desc(4, four);
    int64_t size = 0;
    aclDestroyTensorDesc(d);
    EXPECT(aclGetTensorDescDimV2(d, 0, &size), 100000);
    TRUE(aclGetTensorDescNumDims(d) == 0);
    aclDestroyTensorDesc(d);
}

RULE(tensor, sizes_of_types, "header: aclDataType; guide: aclDataTypeSize") {
    TRUE(aclDataTypeSize(ACL_FLOAT) == 4 && aclDataTypeSize(ACL_FLOAT16) == 2 &&
        aclDataTypeSize(ACL_BF16) == 2);
    TRUE(aclDataTypeSize(ACL_INT8) == 1 && aclDataTypeSize(ACL_BOOL) == 1 &&
        aclDataTypeSize(ACL_DOUBLE) == 8);
    TRUE(aclDataTypeSize(ACL_COMPLEX128) == 16 && aclDataTypeSize(ACL_DT_UNDEFINED) == 0);
}

static int has_shape(const aclTensorDesc *d, const int64_t *dims, size_t count) {
    if (aclGetTensorDescNumDims(d) != count) return 0;
    for (size_t i = 0; i < count; i++)
        if (aclGetTensorDescDim(d, i) != dims[i]) return 0;
    return 1;
}

RULE(tensor, plain_formats_permute_the_dimensions, "guide: formats") {
    const int64_t nchw[4] = {2, 3, 4, 5}, hwcn[4] = {4, 5, 3, 2}, nhwc[4] = {2, 4, 5, 3};
    aclTensorDesc *d = desc(4, nchw), *same = NULL, *h = NULL, *n = NULL;
    OK(aclTransTensorDescFormat(d, ACL_FORMAT_NCHW, &same));
    OK(aclTransTensorDescFormat(d, ACL_FORMAT_HWCN, &h));
    OK(aclTransTensorDescFormat(d, ACL_FORMAT_NHWC, &n));
    TRUE(has_shape(same, nchw, 4) && has_shape(h, hwcn, 4) && has_shape(n, nhwc, 4));
    aclDestroyTensorDesc(same);
    aclDestroyTensorDesc(h);
    aclDestroyTensorDesc(n);
    aclDestroyTensorDesc(d);
}
