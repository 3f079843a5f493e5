/* Operators on every tensor of a list: what is refused, and numbers in device memory. */
#include "aclnnop/aclnn_foreach_abs.h"
#include "aclnnop/aclnn_foreach_add_list.h"
#include "aclnnop/aclnn_foreach_add_list_v2.h"
#include "aclnnop/aclnn_foreach_exp.h"
#include "aclnnop/aclnn_foreach_mul_list.h"
#include "aclnnop/aclnn_foreach_mul_scalar.h"
#include "aclnnop/aclnn_foreach_mul_scalar_list.h"
#include "aclnnop/aclnn_foreach_mul_scalar_v2.h"
#include "operators/support.h"

#define COUNT 3

typedef struct group {
    sample members[COUNT];
    uint64_t count;
    aclTensorList *list;
} group;

static group group_new(aclDataType type, uint64_t count, int64_t rows) {
    group g = {.count = count};
    const aclTensor *handles[COUNT];
    for (uint64_t i = 0; i < count; i++) {
        g.members[i] = sample_new(type, "", DIMS(rows, (int64_t)i + 1));
        sample_fill(&g.members[i], -4, 5);
        handles[i] = g.members[i].handle;
    }
    g.list = aclCreateTensorList(handles, count);
    return g;
}

static void group_free(group *g) {
    CHECK(aclDestroyTensorList(g->list) == 0);
    for (uint64_t i = 0; i < g->count; i++) device_free(g->members[i].memory);
}

static void bad_lists_are_refused(void) {
    group x = group_new(ACL_FLOAT, 3, 2), out = group_new(ACL_FLOAT, 3, 2), fewer = group_new(ACL_FLOAT, 2,
        2);
    group half = group_new(ACL_FLOAT16, 3, 2), longer = group_new(ACL_FLOAT, 3, 5),
        whole = group_new(ACL_INT32, 3, 2);
    group flags = group_new(ACL_BOOL, 3, 2);
    aclTensorList *none = aclCreateTensorList(NULL, 0);
    sample number = sample_new(ACL_FLOAT, "", DIMS(1)), numbers = sample_new(ACL_FLOAT, "", DIMS(2));
    aclScalar *scalar = scalar_float(2), *a = scalar_float(1), *b = scalar_float(2);
    aclScalarList *two = aclCreateScalarList((const aclScalar *[]){a, b}, 2);
    LAUNCH(aclnnForeachExp, x.list, out.list);
    REFUSED(161001, "x is a null", aclnnForeachExp, NULL, out.list);
    REFUSED(161001, "out is a null", aclnnForeachExp, x.list, NULL);
    REFUSED(161002, "x is an empty list", aclnnForeachExp, none, out.list);
    REFUSED(161002, "out has 2 tensors, x has 3", aclnnForeachExp, x.list, fewer.list);
    REFUSED(161002, "out[0] has data type FLOAT16", aclnnForeachExp, x.list, half.list);
    REFUSED(161002, "out[0] has shape [5, 1], expected [2, 1]", aclnnForeachExp, x.list, longer.list);
    REFUSED(161002, "x has data type INT32, which", aclnnForeachExp, whole.list, whole.list);
    REFUSED(161002, "x has data type BOOL, which", aclnnForeachAbs, flags.list, flags.list);
    REFUSED(161001, "x1 is a null", aclnnForeachMulList, NULL, x.list, out.list);
    REFUSED(161001, "x2 is a null", aclnnForeachMulList, x.list, NULL, out.list);
    REFUSED(161002, "x2 has 2 tensors, x1 has 3", aclnnForeachMulList, x.list, fewer.list, out.list);
    REFUSED(161002, "x2[0] has data type FLOAT16", aclnnForeachMulList, x.list, half.list, out.list);
    REFUSED(161002, "x2[0] has shape", aclnnForeachMulList, x.list, longer.list, out.list);
    REFUSED(161001, "scalar is a null", aclnnForeachMulScalarV2, x.list, NULL, out.list);
    REFUSED(161002, "scalar has data type FLOAT, which does not go", aclnnForeachMulScalarV2, whole.list,
        scalar,
        whole.list);
    REFUSED(161001, "scalar is a null", aclnnForeachMulScalar, x.list, NULL, out.list);
    REFUSED(161002, "scalar has shape [2]", aclnnForeachMulScalar, x.list, numbers.handle, out.list);
    REFUSED(161001, "scalars is a null", aclnnForeachMulScalarList, x.list, NULL, out.list);
    REFUSED(161002, "scalars has 2 numbers, x has 3", aclnnForeachMulScalarList, x.list, two, out.list);
    REFUSED(161002, "not a live aclScalarList", aclnnForeachMulScalarList, x.list,
        (aclScalarList *)(void *)none, out.list);
    REFUSED(161001, "alpha is a null", aclnnForeachAddListV2, x.list, x.list, NULL, out.list);
    REFUSED(161001, "alpha is a null", aclnnForeachAddList, x.list, x.list, NULL, out.list);
    CHECK(aclDestroyScalar(b) == 0);
    REFUSED(161002, "scalars is not a live aclScalar", aclnnForeachMulScalarList, fewer.list, two,
        fewer.list);
    CHECK(aclDestroyScalarList(two) == 161002 && aclDestroyScalar(scalar) == 0);
    CHECK(aclDestroyTensorList(none) == 0);
    group *all[] = {&x, &out, &fewer, &half, &longer, &whole, &flags};
    for (int i = 0; i < 7; i++) group_free(all[i]);
    sample_free(&number);
    sample_free(&numbers);
}

/* The task reads the number; members and numbers take new addresses. */
static void numbers_are_read_late(void) {
    group x = group_new(ACL_INT32, 3, 2);
    sample number = sample_new(ACL_INT64, "", DIMS(1)), other = sample_new(ACL_INT64, "", DIMS(1));
    sample fresh = sample_new(ACL_INT32, "", DIMS(2, 2));
    uint64_t size;
    aclOpExecutor *executor;
    CHECK(aclnnForeachMulScalarGetWorkspaceSize(x.list, number.handle, x.list, &size, &executor) == 0);
    CHECK(size == 0 && aclSetAclOpExecutorRepeatable(executor) == 0);
    sample_fill(&x.members[1], 1, 3);
    sample_set(&number, 0, 3);
    sample_set(&other, 0, 5);
    CHECK(aclSetDynamicOutputTensorAddr(executor, 0, 1, x.list, fresh.memory) == 0);
    CHECK(aclnnForeachMulScalar(NULL, 0, executor, NULL) == 0 && stub_drain() == 0);
    CHECK_ALL(fresh, 0, 3 * sample_get(&x.members[1], i));
    CHECK(aclSetInputTensorAddr(executor, 1, number.handle, other.memory) == 0);
    CHECK(aclnnForeachMulScalar(NULL, 0, executor, NULL) == 0 && stub_drain() == 0);
    CHECK_ALL(fresh, 0, 5 * sample_get(&x.members[1], i));
    CHECK(aclSetInputTensorAddr(executor, 1, number.handle, other.memory + 4) == 0);
    CHECK(aclnnForeachMulScalar(NULL, 0, executor, NULL) == 0 && stub_drain() == 507015);
    CHECK(aclSetInputTensorAddr(executor, 1, number.handle, other.memory) == 0);
    CHECK(aclSetDynamicInputTensorAddr(executor, 0, 2, x.list, fresh.memory + 1) == 0);
    CHECK(aclnnForeachMulScalar(NULL, 0, executor, NULL) == 0 && stub_drain() == 507015);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    group_free(&x);
    sample_free(&number);
    sample_free(&other);
    sample_free(&fresh);
}

int main(void) {
    bad_lists_are_refused();
    numbers_are_read_late();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_foreach: ok");
    return 0;
}
