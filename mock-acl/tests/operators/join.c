/* Tensor lists: joined, split, refused, and given other addresses. */
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_split_tensor.h"
#include "aclnnop/aclnn_split_with_size.h"
#include "aclnnop/aclnn_stack.h"
#include "operators/support.h"

static aclTensorList *list_of(uint64_t count, const sample *members) {
    const aclTensor *handles[1100];
    for (uint64_t i = 0; i < count; i++) handles[i] = members[i].handle;
    aclTensorList *list = aclCreateTensorList(handles, count);
    CHECK(list != NULL);
    return list;
}

/* The list owns the tensors. */
static void list_free(aclTensorList *list, uint64_t count, sample *members) {
    CHECK(aclDestroyTensorList(list) == 0);
    for (uint64_t i = 0; i < count; i++) device_free(members[i].memory);
}

static void a_thousand_tensors_are_joined(void) {
    static sample parts[1024];
    for (int i = 0; i < 1024; i++) {
        parts[i] = sample_new(i % 3 == 0 ? ACL_INT32 : ACL_FLOAT, i % 2 == 0 ? "" : "g", DIMS(2, 3));
        sample_fill(&parts[i], -50, 50);
    }
    aclTensorList *list = list_of(1024, parts);
    sample cat = sample_new(ACL_FLOAT, "g", DIMS(2, 3072));
    sample stack = sample_new(ACL_FLOAT, "", DIMS(2, 1024, 3));
    LAUNCH(aclnnCat, list, -1, cat.handle);
    LAUNCH(aclnnStack, list, 1, stack.handle);
    for (int64_t i = 0; i < 6144; i++) {
        const double want = sample_get(&parts[i % 3072 / 3], i / 3072 * 3 + i % 3);
        CHECK(sample_get(&cat, i) == want && sample_get(&stack, i) == want);
    }
    list_free(list, 1024, parts);
    sample_free(&cat);
    sample_free(&stack);
}

/* A launch of a repeatable executor has its own copy of the members. */
static void members_take_new_addresses(void) {
    sample parts[2] = {sample_new(ACL_FLOAT, "", DIMS(2)), sample_new(ACL_FLOAT, "", DIMS(1))};
    sample whole = sample_new(ACL_FLOAT, "", DIMS(3)), other = sample_new(ACL_FLOAT, "", DIMS(3));
    sample_fill(&whole, 0, 1);
    sample_fill(&other, 0, 1);
    aclTensorList *list = list_of(2, parts), *none = aclCreateTensorList(NULL, 0);
    aclIntArray *sizes = aclCreateIntArray((int64_t[]){2, 1}, 2);
    uint64_t size;
    aclOpExecutor *executor;
    CHECK(aclnnSplitWithSizeGetWorkspaceSize(whole.handle, sizes, 0, list, &size, &executor) == 0);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 1, list, other.memory) == 161002);
    CHECK(strstr(stub_text(), "not repeatable") != NULL);
    CHECK(aclSetAclOpExecutorRepeatable(executor) == 0);
    CHECK(aclnnSplitWithSize(NULL, 0, executor, NULL) == 0);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 1, list, other.memory + 4) == 0);
    CHECK(aclSetInputTensorAddr(executor, 0, whole.handle, other.memory) == 0);
    CHECK(aclnnSplitWithSize(NULL, 0, executor, NULL) == 0);
    sample_set(&parts[1], 0, 7);
    CHECK(stub_drain() == 0);
    CHECK(sample_get(&parts[0], 0) == sample_get(&other, 0));
    CHECK(sample_get(&parts[1], 0) == sample_get(&whole, 2));
    CHECK(sample_get(&other, 1) == sample_get(&other, 2));
    CHECK(AclSetDynamicTensorAddr(executor, 1, 0, list, parts[0].memory) == 0);
    CHECK(aclSetDynamicTensorAddr(executor, 0, 0, list, parts[0].memory) == 161002);
    CHECK(aclSetDynamicInputTensorAddr(executor, 1, 0, list, parts[0].memory) == 161002);
    CHECK(AclSetDynamicInputTensorAddr(executor, 0, 0, list, parts[0].memory) == 161002);
    CHECK(AclSetDynamicOutputTensorAddr(executor, 0, 2, list, parts[0].memory) == 161002);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 0, none, parts[0].memory) == 161002);
    CHECK(strstr(stub_text(), "relativeIndex 0") != NULL);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 0, NULL, parts[0].memory) == 161001);
    CHECK(aclSetDynamicOutputTensorAddr(
        executor, 0, 0, (aclTensorList *)(void *)sizes, parts[0].memory) == 161002);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 0, list, NULL) == 161001);
    CHECK(aclSetDynamicOutputTensorAddr(NULL, 0, 0, list, parts[0].memory) == 161001);
    CHECK(aclSetTensorAddr(executor, 1, parts[0].handle, parts[0].memory) == 161002);
    sample longer[2] = {sample_new(ACL_FLOAT, "", DIMS(5)), sample_new(ACL_FLOAT, "", DIMS(1))};
    aclTensorList *different = list_of(2, longer);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 0, different, longer[0].memory) == 161002);
    CHECK(strstr(stub_text(), "tensors[0] differs") != NULL);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    list_free(different, 2, longer);
    list_free(list, 2, parts);
    CHECK(aclDestroyTensorList(none) == 0 && aclDestroyIntArray(sizes) == 0);
    sample_free(&whole);
    sample_free(&other);
}

static void bad_members_fail_on_the_device(void) {
    sample good = sample_new(ACL_FLOAT, "", DIMS(2)), out = sample_new(ACL_FLOAT, "", DIMS(4));
    const int64_t two = 2;
    aclTensor *lost = aclCreateTensor(&two, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &two, 1, NULL);
    aclTensorList *list = aclCreateTensorList((const aclTensor *[]){good.handle, lost}, 2);
    LAUNCH_EXPECTING(507015, aclnnCat, list, 0, out.handle);
    CHECK(aclDestroyTensorList(list) == 0);
    device_free(good.memory);
    sample_free(&out);
}

static void bad_lists_are_refused(void) {
    sample x[2] = {sample_new(ACL_FLOAT, "", DIMS(2, 3)), sample_new(ACL_FLOAT, "", DIMS(2, 4))};
    sample same[2] = {sample_new(ACL_FLOAT, "", DIMS(2)), sample_new(ACL_FLOAT16, "", DIMS(2))};
    sample points[1] = {sample_new(ACL_FLOAT, "", 0, (int64_t[]){0})};
    sample deep[1] = {sample_new(ACL_FLOAT, "", DIMS(1, 1, 1, 1, 1, 1, 1, 1))};
    sample out = sample_new(ACL_FLOAT, "", DIMS(2, 7)), whole = sample_new(ACL_INT32, "", DIMS(2, 7));
    aclTensorList *pair = list_of(2, x), *lines = list_of(2, same);
    aclTensorList *point = list_of(1, points), *deepest = list_of(1, deep);
    aclTensorList *none = aclCreateTensorList(NULL, 0), *gone = list_of(1, x);
    const aclTensor *many[1025];
    for (int i = 0; i < 1025; i++) many[i] = x[0].handle;
    aclTensorList *long_one = aclCreateTensorList(many, 1025);
    aclScalar *number = scalar_float(1);
    aclScalarList *numbers = aclCreateScalarList((const aclScalar *[]){number}, 1);
    LAUNCH(aclnnCat, pair, 1, out.handle);
    REFUSED(161001, "tensors is a null", aclnnCat, NULL, 0, out.handle);
    REFUSED(161001, "out is a null", aclnnCat, pair, 0, NULL);
    REFUSED(161002, "tensors is an empty list", aclnnCat, none, 0, out.handle);
    REFUSED(161002, "1025 tensors", aclnnCat, long_one, 0, out.handle);
    REFUSED(161002, "not a live aclTensorList", aclnnCat, (aclTensorList *)(void *)numbers, 0, out.handle);
    REFUSED(161002, "not a live aclTensorList", aclnnStack, (aclTensorList *)(void *)out.handle, 0,
        out.handle);
    REFUSED(161002, "tensors[1] has shape [2, 4]", aclnnCat, pair, 0, out.handle);
    REFUSED(161002, "tensors[1] has shape [2, 4]", aclnnStack, pair, 0, out.handle);
    REFUSED(161002, "dim 2 is out", aclnnCat, pair, 2, out.handle);
    REFUSED(161002, "dim -4 is out", aclnnStack, pair, -4, out.handle);
    REFUSED(161002, "cannot be stored as INT32", aclnnCat, pair, 1, whole.handle);
    REFUSED(161002, "out has shape", aclnnCat, lines, 0, out.handle);
    REFUSED(161002, "out has shape", aclnnStack, lines, 0, out.handle);
    REFUSED(161002, "no dimension to join", aclnnCat, point, 0, out.handle);
    REFUSED(161002, "at most 7", aclnnStack, deepest, 0, out.handle);
    aclIntArray *sizes = aclCreateIntArray((int64_t[]){3, 4}, 2), *wrong = aclCreateIntArray((int64_t[]){3,
        5}, 2);
    aclIntArray *few = aclCreateIntArray((int64_t[]){7}, 1), *negative = aclCreateIntArray((int64_t[]){-1,
        8}, 2);
    aclIntArray *small = aclCreateIntArray((int64_t[]){3, 3}, 2);
    sample halves[2] = {sample_new(ACL_FLOAT, "", DIMS(2, 3)), sample_new(ACL_FLOAT, "", DIMS(2, 3))};
    aclTensorList *equal = list_of(2, halves);
    LAUNCH(aclnnSplitWithSize, out.handle, sizes, 1, pair);
    REFUSED(161001, "self is a null", aclnnSplitWithSize, NULL, sizes, 1, pair);
    REFUSED(161001, "splitSize is a null", aclnnSplitWithSize, out.handle, NULL, 1, pair);
    REFUSED(161001, "out is a null", aclnnSplitWithSize, out.handle, sizes, 1, NULL);
    REFUSED(161002, "out is an empty list", aclnnSplitWithSize, out.handle, sizes, 1, none);
    REFUSED(161002, "splitSize[1] is 5", aclnnSplitWithSize, out.handle, wrong, 1, pair);
    REFUSED(161002, "splitSize[0] is -1", aclnnSplitWithSize, out.handle, negative, 1, pair);
    REFUSED(161002, "the parts have 6 of the 7", aclnnSplitWithSize, out.handle, small, 1, equal);
    REFUSED(161002, "splitSize has 1 entries", aclnnSplitWithSize, out.handle, few, 1, pair);
    REFUSED(161002, "dim 2 is out", aclnnSplitWithSize, out.handle, sizes, 2, pair);
    REFUSED(161002, "out[0] has data type FLOAT, self has INT32", aclnnSplitWithSize, whole.handle, sizes, 1,
        pair);
    REFUSED(161002, "out[1] has shape", aclnnSplitWithSize, out.handle, sizes, 1, equal);
    REFUSED(161002, "no dimension to split", aclnnSplitWithSize, points[0].handle, sizes, 0, pair);
    REFUSED(161002, "no dimension to split", aclnnSplitTensor, points[0].handle, 1, 0, pair);
    REFUSED(161002, "splitSections is 0", aclnnSplitTensor, out.handle, 0, 1, pair);
    REFUSED(161002, "self has 4 parts", aclnnSplitTensor, out.handle, 2, 1, pair);
    REFUSED(161002, "dim 5 is out", aclnnSplitTensor, out.handle, 2, 5, pair);
    REFUSED(161002, "self has 1 parts", aclnnSplitTensor, out.handle, UINT64_MAX, 1, pair);
    REFUSED(161001, "self is a null", aclnnSplitTensor, NULL, 2, 1, pair);
    REFUSED(161001, "out is a null", aclnnSplitTensor, out.handle, 2, 1, NULL);
    CHECK(aclDestroyTensor(x[0].handle) == 0);
    REFUSED(161002, "tensors[0] is not a live aclTensor", aclnnCat, gone, 0, out.handle);
    CHECK(aclDestroyTensorList(gone) == 161002 && aclDestroyTensorList(long_one) == 161002);
    CHECK(aclDestroyTensorList(pair) == 161002);
    for (int i = 0; i < 2; i++) device_free(x[i].memory);
    list_free(lines, 2, same);
    list_free(point, 1, points);
    list_free(deepest, 1, deep);
    list_free(equal, 2, halves);
    CHECK(aclDestroyTensorList(none) == 0 && aclDestroyScalarList(numbers) == 0);
    aclIntArray *all[] = {sizes, wrong, few, negative, small};
    for (int i = 0; i < 5; i++) CHECK(aclDestroyIntArray(all[i]) == 0);
    sample_free(&out);
    sample_free(&whole);
}

/* Nothing to split still is one part. */
static void empty_dimensions(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(0, 2)), parts[1] = {sample_new(ACL_FLOAT, "", DIMS(0, 2))};
    aclTensorList *list = list_of(1, parts);
    LAUNCH(aclnnSplitTensor, x.handle, 3, 0, list);
    LAUNCH(aclnnSplitTensor, x.handle, 0, 0, list);
    LAUNCH(aclnnCat, list, 0, x.handle);
    list_free(list, 1, parts);
    sample_free(&x);
}

int main(void) {
    a_thousand_tensors_are_joined();
    members_take_new_addresses();
    bad_members_fail_on_the_device();
    bad_lists_are_refused();
    empty_dimensions();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_join: ok");
    return 0;
}
