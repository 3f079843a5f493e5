/* Descriptors, executors and their states: what is accepted, what is refused and with which code. */
#include <pthread.h>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_mul.h"
#include "base/base.h"
#include "objects/objects.h"
#include "objects/slab.h"
#include "operators/support.h"

static aclTensor *plain(int64_t n, void *memory) {
    return aclCreateTensor(&n, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &n, 1, memory);
}

static void tensors_tell_what_they_were_made_of(void) {
    const int64_t dims[] = {2, 3}, strides[] = {1, 2}, storage[] = {10};
    int64_t *values, offset;
    uint64_t count;
    aclDataType dtype;
    aclFormat format;
    void *address;
    aclTensor *t = aclCreateTensor(dims, 2, ACL_FLOAT16, strides, 4, ACL_FORMAT_NCHW, storage, 1, &offset);
    CHECK(aclGetViewShape(t, &values, &count) == 0 && count == 2 && values[0] == 2 && values[1] == 3);
    free(values);
    CHECK(aclGetViewStrides(t, &values, &count) == 0 && count == 2 && values[0] == 1 && values[1] == 2);
    free(values);
    CHECK(aclGetStorageShape(t, &values, &count) == 0 && count == 1 && values[0] == 10);
    free(values);
    CHECK(aclGetViewOffset(t, &offset) == 0 && offset == 4);
    CHECK(aclGetDataType(t, &dtype) == 0 && dtype == ACL_FLOAT16);
    CHECK(aclGetFormat(t, &format) == 0 && format == ACL_FORMAT_NCHW);
    CHECK(aclSetRawTensorAddr(t, dims[0] == 2 ? &count : NULL) == 0);
    CHECK(aclGetRawTensorAddr(t, &address) == 0 && address == &count);
    CHECK(aclGetRawTensorAddr(t, NULL) == 161001 && strstr(stub_text(), "addr") != NULL);
    CHECK(aclInitTensor(t, dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == 0);
    CHECK(aclGetViewStrides(t, &values, &count) == 0 && values[0] == 3 && values[1] == 1);
    free(values);
    /* A failing initialisation leaves the tensor as it was. */
    CHECK(aclInitTensor(t, dims, 9, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == 161002);
    CHECK(aclGetDataType(t, &dtype) == 0 && dtype == ACL_FLOAT);
    CHECK(aclDestroyTensor(t) == 0);
    CHECK(aclDestroyTensor(t) == 161002);
    CHECK(aclDestroyTensor(NULL) == 0 && aclDestroyScalar(NULL) == 0 && aclDestroyIntArray(NULL) == 0);
    CHECK(aclGetFormat(t, &format) == 161002 && aclGetFormat(NULL, &format) == 161001);
    CHECK(aclGetViewShape((aclTensor *)&dims, &values, &count) == 161002);
}

static void impossible_tensors_are_not_made(void) {
    const int64_t dims[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, minus[] = {2, -1}, huge[] = {INT64_MAX / 2, 16};
    CHECK(aclCreateTensor(dims, 9, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 8, NULL) == NULL);
    CHECK(strstr(stub_text(), "at most 8") != NULL);
    CHECK(aclCreateTensor(dims, 8, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 9, NULL) == NULL);
    CHECK(aclCreateTensor(minus, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
    CHECK(strstr(stub_text(), "viewDims[1] is -1") != NULL);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, minus, 0, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, -1, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, minus, 2, NULL) == NULL);
    CHECK(aclCreateTensor(dims, 2, (aclDataType)5, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, (aclFormat)99, dims, 2, NULL) == NULL);
    CHECK(aclCreateTensor(huge, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, huge, 2, NULL) == NULL);
    CHECK(aclCreateTensor(NULL, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 2, NULL) == NULL);
    stub_inject(7);
    CHECK(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL) == NULL);
}

static void lists_and_arrays_own_what_they_hold(void) {
    uint64_t size = 0;
    aclIntArray *ints = aclCreateIntArray((int64_t[]){1, 2, 3}, 3);
    aclFloatArray *floats = aclCreateFloatArray((float[]){1, 2}, 2);
    aclBoolArray *bools = aclCreateBoolArray((bool[]){true}, 1);
    CHECK(aclGetIntArraySize(ints, &size) == 0 && size == 3);
    CHECK(aclGetFloatArraySize(floats, &size) == 0 && size == 2);
    CHECK(aclGetBoolArraySize(bools, &size) == 0 && size == 1);
    CHECK(aclGetIntArraySize((aclIntArray *)(void *)floats, &size) == 161002);
    CHECK(aclGetIntArraySize(ints, NULL) == 161001);
    CHECK(aclCreateIntArray(NULL, 2) == NULL);
    CHECK(aclDestroyIntArray(ints) == 0 && aclDestroyIntArray(ints) == 161002);
    CHECK(aclDestroyFloatArray((aclFloatArray *)(void *)bools) == 161002);
    CHECK(aclDestroyFloatArray(floats) == 0 && aclDestroyBoolArray(bools) == 0);
    const aclTensor *tensors[] = {plain(2, NULL), plain(3, NULL)};
    const aclScalar *scalars[] = {scalar_int(1), scalar_float(2)};
    aclTensorList *list = aclCreateTensorList(tensors, 2);
    aclScalarList *numbers = aclCreateScalarList(scalars, 2);
    CHECK(aclGetTensorListSize(list, &size) == 0 && size == 2);
    CHECK(aclGetScalarListSize(numbers, &size) == 0 && size == 2);
    CHECK(aclCreateTensorList((const aclTensor *[]){tensors[0], NULL}, 2) == NULL);
    CHECK(aclDestroyScalarList(numbers) == 0 && aclDestroyTensorList(list) == 0);
    CHECK(aclDestroyTensor(tensors[0]) == 161002 && aclDestroyScalar(scalars[1]) == 161002);
    CHECK(aclDestroyTensorList(list) == 161002 && aclDestroyScalarList(NULL) == 0);
    CHECK(aclCreateScalar(NULL, ACL_FLOAT) == NULL && aclCreateScalar(&size, (aclDataType)5) == NULL);
}

typedef struct add_case {
    sample x, y, out;
    aclScalar *one;
    uint64_t size;
    aclOpExecutor *executor;
} add_case;

static add_case add_begin(void) {
    add_case c = {sample_new(ACL_FLOAT, "", DIMS(4)), sample_new(ACL_FLOAT, "", DIMS(4)),
        sample_new(ACL_FLOAT, "", DIMS(4)), scalar_int(1), 99, NULL};
    sample_fill(&c.x, 0, 1);
    sample_fill(&c.y, 0, 1);
    CHECK(aclnnAddGetWorkspaceSize(c.x.handle, c.y.handle, c.one, c.out.handle, &c.size, &c.executor) == 0);
    CHECK(c.size == 0 && c.executor != NULL);
    return c;
}

static void add_end(add_case *c) {
    sample_free(&c->x);
    sample_free(&c->y);
    sample_free(&c->out);
    aclDestroyScalar(c->one);
}

static void check_sum(const sample *out, const sample *x, const sample *y) {
    for (int i = 0; i < 4; i++) {
        CHECK(sample_get(out, i) == (float)(sample_get(x, i) + sample_get(y, i)));
    }
}

static void add_check(const add_case *c) {
    check_sum(&c->out, &c->x, &c->y);
}

static void an_executor_runs_once(void) {
    add_case c = add_begin();
    CHECK(aclnnMul(NULL, 0, c.executor, NULL) == 161002);
    CHECK(strstr(stub_text(), "aclnnAddGetWorkspaceSize") != NULL);
    CHECK(aclnnAdd(NULL, 0, NULL, NULL) == 161001);
    CHECK(aclnnAdd(NULL, 0, (aclOpExecutor *)(void *)c.one, NULL) == 561101);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 0 && stub_queued() == 1);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 561101);
    CHECK(aclDestroyAclOpExecutor(c.executor) == 561101);
    CHECK(aclSetAclOpExecutorRepeatable(c.executor) == 561101);
    /* The descriptors may go before the task runs. */
    void *memory[] = {c.x.memory, c.y.memory, c.out.memory};
    CHECK(aclDestroyTensor(c.x.handle) == 0 && aclDestroyTensor(c.y.handle) == 0);
    CHECK(aclDestroyTensor(c.out.handle) == 0 && aclDestroyScalar(c.one) == 0);
    CHECK(stub_drain() == 0);
    add_check(&c);
    for (int i = 0; i < 3; i++) device_free(memory[i]);
}

static void an_unused_executor_is_destroyed(void) {
    add_case c = add_begin();
    CHECK(stub_live(MOCK_OBJECT_EXECUTOR) == 1);
    CHECK(aclDestroyAclOpExecutor(c.executor) == 0 && stub_live(MOCK_OBJECT_EXECUTOR) == 0);
    CHECK(aclDestroyAclOpExecutor(NULL) == 161001);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 561101);
    add_end(&c);
}

static void a_refused_launch_consumes_the_executor(void) {
    add_case c = add_begin();
    stub_refuse(107002);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 361001);
    CHECK(strstr(stub_text(), "refused by the runtime") != NULL);
    stub_refuse(0);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 561101);
    add_end(&c);
}

static void repeatable_executors_take_new_addresses(void) {
    add_case c = add_begin();
    CHECK(aclSetTensorAddr(c.executor, 0, c.x.handle, c.y.memory) == 161002);
    CHECK(aclSetAclOpExecutorRepeatable(c.executor) == 0);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 0 && aclnnAdd(NULL, 0, c.executor, NULL) == 0);
    CHECK(stub_queued() == 2 && stub_drain() == 0);
    add_check(&c);
    sample z = sample_new(ACL_FLOAT, "", DIMS(4)), wide = sample_new(ACL_FLOAT, "", DIMS(5));
    sample_fill(&z, 0, 1);
    /* A queued task keeps the addresses it was queued with. */
    sample_fill(&c.out, 0, 1);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 0);
    CHECK(AclSetInputTensorAddr(c.executor, 1, c.y.handle, z.memory) == 0);
    CHECK(stub_drain() == 0);
    add_check(&c);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 0 && stub_drain() == 0);
    check_sum(&c.out, &c.x, &z);
    CHECK(aclSetOutputTensorAddr(c.executor, 0, c.out.handle, z.memory) == 0);
    CHECK(aclSetTensorAddr(c.executor, 1, c.y.handle, c.y.memory) == 0);
    CHECK(aclnnAdd(NULL, 0, c.executor, NULL) == 0 && stub_drain() == 0);
    check_sum(&z, &c.x, &c.y);
    CHECK(aclSetTensorAddr(c.executor, 3, c.x.handle, z.memory) == 161002);
    CHECK(aclSetInputTensorAddr(c.executor, 2, c.x.handle, z.memory) == 161002);
    CHECK(aclSetOutputTensorAddr(c.executor, 1, c.x.handle, z.memory) == 161002);
    CHECK(aclSetTensorAddr(c.executor, 0, wide.handle, z.memory) == 161002);
    CHECK(aclSetTensorAddr(c.executor, 0, NULL, z.memory) == 161001);
    CHECK(aclSetTensorAddr(c.executor, 0, c.x.handle, NULL) == 161001);
    CHECK(aclSetTensorAddr(NULL, 0, c.x.handle, z.memory) == 161001);
    aclTensorList *list = aclCreateTensorList(NULL, 0);
    CHECK(aclSetDynamicTensorAddr(c.executor, 0, 0, list, z.memory) == 161002);
    CHECK(AclSetDynamicInputTensorAddr(c.executor, 0, 0, NULL, z.memory) == 161001);
    CHECK(aclDestroyTensorList(list) == 0);
    CHECK(aclDestroyAclOpExecutor(c.executor) == 0);
    sample_free(&z);
    sample_free(&wide);
    add_end(&c);
}

static void bad_addresses_fail_on_the_device(void) {
    add_case c = add_begin();
    const int64_t n = 4;
    aclTensor *lost = aclCreateTensor(&n, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &n, 1, NULL);
    aclTensor *odd = aclCreateTensor(&n, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &n, 1, c.x.memory + 2);
    aclTensor *late = aclCreateTensor(&n, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &n, 1, c.x.memory + 4);
    LAUNCH_EXPECTING(507015, aclnnMul, c.x.handle, lost, c.out.handle);
    LAUNCH_EXPECTING(507015, aclnnMul, odd, c.x.handle, c.out.handle);
    LAUNCH_EXPECTING(507015, aclnnMul, c.x.handle, c.x.handle, late);
    CHECK(aclDestroyTensor(lost) == 0 && aclDestroyTensor(odd) == 0 && aclDestroyTensor(late) == 0);
    CHECK(aclDestroyAclOpExecutor(c.executor) == 0);
    add_end(&c);
}

static void bad_operands_are_refused(void) {
    add_case c = add_begin();
    uint64_t size = 7;
    aclOpExecutor *executor = NULL;
    const int64_t n = 4, zero = 0, three = 3;
    aclTensor *gone = plain(4, NULL);
    aclTensor *spread = aclCreateTensor(&n, 1, ACL_FLOAT, &zero, 0, ACL_FORMAT_ND, &n, 1, c.x.memory);
    aclTensor *beyond = aclCreateTensor(&n, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &three, 1, c.x.memory);
    aclTensor *fractal = aclCreateTensor(&n, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_FRACTAL_NZ, &n, 1, c.x.memory);
    aclTensor *complex = aclCreateTensor(&n, 1, ACL_COMPLEX64, NULL, 0, ACL_FORMAT_ND, &n, 1, c.x.memory);
    CHECK(aclDestroyTensor(gone) == 0);
    REFUSED(161001, "self is a null", aclnnAdd, NULL, c.y.handle, c.one, c.out.handle);
    REFUSED(161001, "other is a null", aclnnAdd, c.x.handle, NULL, c.one, c.out.handle);
    REFUSED(161001, "alpha is a null", aclnnAdd, c.x.handle, c.y.handle, NULL, c.out.handle);
    REFUSED(161001, "out is a null", aclnnAdd, c.x.handle, c.y.handle, c.one, NULL);
    REFUSED(161002, "self is not a live", aclnnAdd, gone, c.y.handle, c.one, c.out.handle);
    REFUSED(161002, "alpha is not a live", aclnnAdd, c.x.handle, c.y.handle, (aclScalar *)(void *)gone,
        c.out.handle);
    REFUSED(161002, "stride 0", aclnnAdd, c.x.handle, c.y.handle, c.one, spread);
    REFUSED(161002, "format 29", aclnnAdd, fractal, c.y.handle, c.one, c.out.handle);
    REFUSED(161002, "COMPLEX64", aclnnAdd, complex, c.y.handle, c.one, c.out.handle);
    CHECK(aclnnMulGetWorkspaceSize(c.x.handle, c.y.handle, c.out.handle, NULL, &executor) == 161001);
    CHECK(aclnnMulGetWorkspaceSize(c.x.handle, c.y.handle, c.out.handle, &size, NULL) == 161001);
    stub_inject(561103);
    CHECK(aclnnMulGetWorkspaceSize(c.x.handle, c.y.handle, c.out.handle, &size, &executor) == 561103);
    CHECK(size == 7 && executor == NULL);
    /* An expanded input is fine. */
    LAUNCH(aclnnMul, spread, spread, c.out.handle);
    CHECK(sample_get(&c.out, 3) == (float)(sample_get(&c.x, 0) * sample_get(&c.x, 0)));
    CHECK(aclnnInit(NULL) == 0 && aclnnFinalize() == 0);
    aclTensor *pair[] = {spread, beyond};
    CHECK(aclDumpOpTensors("Add", "add", pair, 1, 1, NULL) == 0);
    CHECK(aclDumpOpTensors("Add", NULL, pair, 1, 1, NULL) == 161001);
    aclTensor *all[] = {spread, beyond, fractal, complex};
    for (int i = 0; i < 4; i++) CHECK(aclDestroyTensor(all[i]) == 0);
    CHECK(aclDestroyAclOpExecutor(c.executor) == 0);
    add_end(&c);
}

static void absent_operands_keep_their_index(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(2, 3));
    aclIntArray *shape = aclCreateIntArray((int64_t[]){3}, 1);
    uint64_t size;
    aclOpExecutor *executor;
    CHECK(aclnnLayerNormGetWorkspaceSize(x.handle, shape, NULL, NULL, 0, x.handle, NULL, NULL, &size,
        &executor) == 0);
    CHECK(aclSetAclOpExecutorRepeatable(executor) == 0);
    CHECK(aclSetTensorAddr(executor, 1, x.handle, x.memory) == 161002);
    CHECK(aclSetTensorAddr(executor, 3, x.handle, x.memory) == 0);
    CHECK(aclSetOutputTensorAddr(executor, 0, x.handle, x.memory) == 0);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    aclDestroyIntArray(shape);
    sample_free(&x);
}

static void *churn(void *unused) {
    aclTensor *held[300];
    (void)unused;
    for (int i = 0; i < 300; i++) {
        mock_tensor *t = mock_slab_take(MOCK_SLAB_TENSOR);
        CHECK(t != NULL);
        held[i] = (aclTensor *)(void *)t;
    }
    for (int i = 0; i < 300; i++) mock_slab_give(MOCK_SLAB_TENSOR, held[i]);
    return NULL;
}

static void slabs_are_shared_by_threads(void) {
    pthread_t threads[4];
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, churn, NULL) == 0);
        for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static void a_reset_takes_what_is_held(void) {
    add_case c = add_begin();
    aclIntArray *array = aclCreateIntArray((int64_t[]){1}, 1);
    aclTensorList *list = aclCreateTensorList((const aclTensor *[]){c.x.handle}, 1);
    mock_nn_reset();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    CHECK(aclDestroyTensorList(list) == 161002 && aclDestroyIntArray(array) == 161002);
    CHECK(aclDestroyTensor(c.x.handle) == 161002 && aclDestroyScalar(c.one) == 161002);
    CHECK(aclDestroyAclOpExecutor(c.executor) != 0);
    device_free(c.x.memory);
    device_free(c.y.memory);
    device_free(c.out.memory);
}

static aclError run_nothing(void *arg) {
    (void)arg;
    return 0;
}

/* The first phase of an operator with three tensors that come in this order. */
static aclnnStatus in_order(const aclTensor *tensor, const uint8_t *order, size_t count, bool early) {
    static const mock_task_ops task = {"in order", run_nothing, mock_plan_drop};
    aclOpExecutor *executor = NULL;
    uint64_t size;
    mock_build b = mock_build_begin(&task, &size, &executor);
    for (int k = 0; k < 3; k++) {
        if (k == 2 && early) mock_build_order(&b, order, count);
        mock_build_tensor(&b, tensor, "operand", MOCK_IN);
    }
    if (!early) mock_build_order(&b, order, count);
    const aclnnStatus status = mock_build_finish(&b);
    if (status == 0) CHECK(aclDestroyAclOpExecutor(executor) == 0);
    else CHECK(executor == NULL && strstr(stub_text(), "in order: an order of") != NULL);
    return status;
}

static void an_order_has_each_operand_once(void) {
    float memory[4];
    aclTensor *tensor = plain(4, memory);
    const uint8_t turned[] = {2, 0, 1}, twice[] = {0, 1, 1}, beyond[] = {0, 1, 3}, more[] = {0, 1, 2, 2};
    CHECK(in_order(tensor, turned, 3, false) == 0 && in_order(tensor, turned, 3, true) == 0);
    CHECK(in_order(tensor, NULL, 0, false) == 0);
    CHECK(in_order(tensor, turned + 1, 2, false) == ACLNN_ERR_INNER);
    CHECK(in_order(tensor, turned + 1, 2, true) == ACLNN_ERR_INNER);
    CHECK(in_order(tensor, twice, 3, false) == ACLNN_ERR_INNER);
    CHECK(in_order(tensor, beyond, 3, false) == ACLNN_ERR_INNER);
    CHECK(in_order(tensor, more, 4, false) == ACLNN_ERR_INNER);
    CHECK(aclDestroyTensor(tensor) == 0);
}

int main(void) {
    tensors_tell_what_they_were_made_of();
    impossible_tensors_are_not_made();
    lists_and_arrays_own_what_they_hold();
    an_executor_runs_once();
    an_unused_executor_is_destroyed();
    a_refused_launch_consumes_the_executor();
    repeatable_executors_take_new_addresses();
    bad_addresses_fail_on_the_device();
    bad_operands_are_refused();
    absent_operands_keep_their_index();
    an_order_has_each_operand_once();
    slabs_are_shared_by_threads();
    a_reset_takes_what_is_held();
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_objects: ok");
    return 0;
}
