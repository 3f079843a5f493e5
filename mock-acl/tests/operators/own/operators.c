/* Part of racl (mock-acl). Operators that the program computes itself (mock_acl_operator.h). */
#include "mock_acl_operator.h"

#include "aclnnop/aclnn_ada_layer_norm.h"
#include "aclnnop/aclnn_ada_layer_norm_quant.h"
#include "aclnnop/aclnn_grouped_matmul.h"
#include "aclnnop/aclnn_group_norm_backward.h"
#include "aclnnop/aclnn_resize.h"
#include "add.h"
#include "objects/objects.h"
#include "operators/own/operator.h"

static void use(const char *name, const mock_acl_operator *functions) {
    CODE(mock_acl_register_operator(name, functions), 0);
}

/* out = x * scale + epsilon * shift over vectors of four, with 64 bytes of workspace that it writes. */
static int scale_check(const mock_acl_operator_call *call, uint64_t *workspace_size, void *user) {
    CHECK(call->struct_size == sizeof *call && call->count == 7 && *workspace_size == 0);
    CHECK(strcmp(call->name, "aclnnAdaLayerNorm") == 0 && call->workspace == NULL);
    CHECK(call->operands[0].tensors->data == NULL);
    *workspace_size = 64;
    return *(int *)user;
}

static int scale_compute(const mock_acl_operator_call *call, void *user) {
    const float *x = call->operands[0].tensors->data, *scale = call->operands[1].tensors->data;
    const float *shift = call->operands[2].tensors->data;
    float *out = call->operands[6].tensors->data;
    CHECK(call->workspace_size == 64 && call->workspace != NULL);
    memset(call->workspace, 1, call->workspace_size);
    for (int i = 0; i < 4; i++) out[i] = x[i] * scale[i] + (float)call->operands[5].numbers[0] * shift[i];
    return *(int *)user;
}

typedef struct scaled {
    float *x, *scale, *shift, *out, *workspace;
    aclTensor *tensors[4];
} scaled;

static scaled new_scaled(void) {
    scaled o = {vector(3), vector(5), vector(7), vector(0), device(64), {NULL}};
    float *memory[] = {o.x, o.scale, o.shift, o.out};
    for (int i = 0; i < 4; i++) o.tensors[i] = tensor(memory[i]);
    return o;
}

static aclnnStatus first(const scaled *o, aclOpExecutor **executor) {
    uint64_t size = 0;
    const aclnnStatus status = aclnnAdaLayerNormGetWorkspaceSize(
        o->tensors[0], o->tensors[1], o->tensors[2], NULL, NULL, 0.5, o->tensors[3], &size, executor);
    CHECK(status != 0 || size == 64);
    return status;
}

static void end_scaled(const scaled *o) {
    for (int i = 0; i < 4; i++) OK(aclDestroyTensor(o->tensors[i]));
}

/* Eager, and at each replay of a graph. */
static void computed_at_each_run(void) {
    up();
    int code = 0;
    const mock_acl_operator mine = {sizeof mine, scale_check, scale_compute, &code};
    aclrtStream s = new_stream();
    const scaled o = new_scaled();
    aclOpExecutor *executor = NULL;
    CODE(first(&o, &executor), 207000);
    CHECK(strstr(aclGetRecentErrMsg(), "aclnnAdaLayerNormGetWorkspaceSize is not supported") != NULL);
    use("aclnnAdaLayerNorm", &mine);
    OK(first(&o, &executor));
    OK(aclnnAdaLayerNorm(o.workspace, 64, executor, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(first_of(o.out) == 18.5F);

    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(first(&o, &executor));
    OK(aclnnAdaLayerNorm(o.workspace, 64, executor, s));
    OK(aclmdlRICaptureEnd(s, &graph));
    use("aclnnAdaLayerNorm", NULL); /* the graph keeps the functions */
    for (int i = 1; i <= 3; i++) {
        const float value = (float)i;
        const float host[] = {value, value, value, value};
        OK(aclrtMemcpy(o.x, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE));
        OK(aclmdlRIExecuteAsync(graph, s));
        OK(aclrtSynchronizeStream(s));
        CHECK(first_of(o.out) == value * 5 + 3.5F);
    }
    OK(aclmdlRIDestroy(graph));
    CODE(first(&o, &executor), 207000);
    end_scaled(&o);
    CHECK(live().executors == 0 && live().tensors == 0);
}

/* What goes wrong in the program's functions and around them. */
static void failures(void) {
    up();
    int refuse = 0, fail = 0;
    mock_acl_operator mine = {sizeof mine, scale_check, scale_compute, &refuse};
    aclrtStream s = new_stream();
    const scaled o = new_scaled();
    aclOpExecutor *executor = NULL;
    use("aclnnAdaLayerNorm", &mine);
    refuse = 161002;
    CODE(first(&o, &executor), 161002);
    CHECK(strstr(aclGetRecentErrMsg(), "aclnnAdaLayerNorm: refused with 161002") != NULL && executor == NULL);
    refuse = 0;
    OK(first(&o, &executor));
    CODE(aclnnAdaLayerNorm(o.workspace, 63, executor, s), 161002);
    CODE(aclnnAdaLayerNorm(NULL, 64, executor, s), 161001);
    CODE(aclSetAclOpExecutorRepeatable(executor), 161002);
    use("aclnnAdaLayerNorm", NULL); /* the executor keeps them */
    OK(aclnnAdaLayerNorm(o.workspace, 64, executor, s));
    CODE(aclnnAdaLayerNorm(o.workspace, 64, executor, s), 207000);
    use("aclnnAdaLayerNorm", &mine);
    CODE(aclnnAdaLayerNorm(o.workspace, 64, executor, s), 561101);
    OK(first(&o, &executor));
    CODE(aclnnAdaLayerNormQuant(o.workspace, 64, executor, s), 207000);
    OK(aclDestroyAclOpExecutor(executor));
    OK(mock_acl_fail("aclnnAdaLayerNormGetWorkspaceSize", 1, 561000));
    CODE(first(&o, &executor), 561000);
    OK(aclrtSynchronizeStream(s));
    CHECK(first_of(o.out) == 18.5F);

    /* A tensor whose memory is gone, then a computation that fails. */
    aclTensor *gone = tensor(device(16));
    scaled bad = o;
    void *memory = NULL;
    OK(aclGetRawTensorAddr(gone, &memory));
    OK(aclrtFree(memory));
    bad.tensors[1] = gone;
    OK(first(&bad, &executor));
    OK(aclnnAdaLayerNorm(o.workspace, 64, executor, s));
    CODE(aclrtSynchronizeStream(s), 507015);
    OK(aclDestroyTensor(gone));
    OK(aclrtDestroyStream(s));
    s = new_stream();
    mine.check = NULL;
    mine.user = &fail;
    use("aclnnAdaLayerNorm", &mine);
    uint64_t size = 1;
    OK(aclnnAdaLayerNormGetWorkspaceSize(
        o.tensors[0], o.tensors[1], o.tensors[2], NULL, NULL, 0.5, o.tensors[3], &size, &executor));
    CHECK(size == 0);
    OK(aclDestroyAclOpExecutor(executor));
    CODE(aclnnAdaLayerNormGetWorkspaceSize(
             NULL, o.tensors[1], o.tensors[2], NULL, NULL, 0.5, o.tensors[3], &size, &executor),
        161001);
    CODE(aclnnAdaLayerNormGetWorkspaceSize(
             (aclTensor *)(void *)s, o.tensors[1], o.tensors[2], NULL, NULL, 0.5, o.tensors[3], &size,
             &executor),
        161002);
    end_scaled(&o);
    CHECK(mock_acl_reset() == 0);
}

static int code_compute(const mock_acl_operator_call *call, void *user) {
    CHECK(call->count == 7);
    return *(int *)user;
}

static void failing_computation(void) {
    up();
    int fail = 507034;
    const mock_acl_operator mine = {sizeof mine, NULL, code_compute, &fail};
    aclrtStream s = new_stream();
    const scaled o = new_scaled();
    aclOpExecutor *executor = NULL;
    uint64_t size = 0;
    use("aclnnAdaLayerNorm", &mine);
    OK(aclnnAdaLayerNormGetWorkspaceSize(
        o.tensors[0], o.tensors[1], o.tensors[2], NULL, NULL, 0.5, o.tensors[3], &size, &executor));
    OK(aclnnAdaLayerNorm(NULL, 0, executor, s));
    CODE(aclrtSynchronizeStream(s), 507034);
    end_scaled(&o);
    CHECK(mock_acl_reset() == 0);
}

/* Lists, arrays, nulls and texts arrive as they were given, and stay when the caller's objects are gone. */
static int grouped(const mock_acl_operator_call *call, void *user) {
    const mock_acl_operand *x = &call->operands[0], *groups = &call->operands[7], *y = &call->operands[9];
    CHECK(x->kind == MOCK_ACL_OPERAND_TENSOR_LIST && x->count == 2 && x->is_read && !x->is_written);
    CHECK(y->count == 2 && y->is_written && strcmp(y->name, "y") == 0 && call->operands[2].is_null);
    CHECK(groups->kind == MOCK_ACL_OPERAND_INTEGERS && groups->count == 2 && groups->integers[1] == -4);
    CHECK(call->operands[8].integers[0] == 3 && call->operands[8].count == 1);
    for (int k = 0; k < 2; k++) {
        const float *a = x->tensors[k].data, *b = call->operands[1].tensors[k].data;
        for (int i = 0; i < 4; i++) ((float *)y->tensors[k].data)[i] = a[i] * b[i];
    }
    ++*(int *)user;
    return 0;
}

static aclTensorList *list_of(float *a, float *b) {
    const aclTensor *const members[] = {tensor(a), tensor(b)};
    return aclCreateTensorList(members, 2);
}

static void lists(void) {
    up();
    int runs = 0;
    const mock_acl_operator mine = {sizeof mine, NULL, grouped, &runs};
    const int64_t numbers[] = {1, -4};
    aclrtStream s = new_stream();
    float *y[] = {vector(0), vector(0)};
    aclTensorList *x = list_of(vector(2), vector(3)), *w = list_of(vector(5), vector(7));
    aclTensorList *out = list_of(y[0], y[1]);
    aclIntArray *groups = aclCreateIntArray(numbers, 2);
    aclOpExecutor *executor = NULL;
    uint64_t size = 1;
    use("aclnnGroupedMatmul", &mine);
    CODE(aclnnGroupedMatmulGetWorkspaceSize(
             x, w, NULL, NULL, NULL, NULL, NULL, groups, 3, NULL, &size, &executor), 161001);
    aclIntArray *no_array = (void *)x;
    aclTensorList *no_list = (void *)groups;
    CODE(aclnnGroupedMatmulGetWorkspaceSize(
             x, w, NULL, NULL, NULL, NULL, NULL, no_array, 3, out, &size, &executor), 161002);
    CODE(aclnnGroupedMatmulGetWorkspaceSize(
             x, w, no_list, NULL, NULL, NULL, NULL, groups, 3, out, &size, &executor), 161002);
    OK(aclnnGroupedMatmulGetWorkspaceSize(
        x, w, NULL, NULL, NULL, NULL, NULL, groups, 3, out, &size, &executor));
    CHECK(size == 0);
    OK(aclDestroyTensorList(x));
    OK(aclDestroyTensorList(w));
    OK(aclDestroyTensorList(out));
    OK(aclDestroyIntArray(groups));
    OK(aclnnGroupedMatmul(NULL, 0, executor, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(first_of(y[0]) == 10 && first_of(y[1]) == 21 && runs == 1);
}

static int texts(const mock_acl_operator_call *call, void *user) {
    const mock_acl_operand *mode = &call->operands[7];
    CHECK(mode->kind == MOCK_ACL_OPERAND_TEXT && !mode->is_null && mode->count == 7);
    CHECK(strcmp(mode->text, "dynamic") == 0 && call->operands[5].is_null && !call->operands[0].is_null);
    CHECK(call->operands[6].kind == MOCK_ACL_OPERAND_NUMBERS && call->operands[6].numbers[0] == 0.25);
    CHECK(call->operands[0].tensors->dtype == ACL_FLOAT && call->operands[0].tensors->rank == 1);
    CHECK(call->operands[0].tensors->dims[0] == 4 && call->operands[0].tensors->strides[0] == 1);
    ++*(int *)user;
    return 0;
}

static void text(void) {
    up();
    int runs = 0;
    const mock_acl_operator mine = {sizeof mine, NULL, texts, &runs};
    aclrtStream s = new_stream();
    aclTensor *t = tensor(vector(1)), *out = tensor(vector(1));
    aclOpExecutor *executor = NULL;
    uint64_t size = 0;
    char mode[] = "dynamic";
    use("aclnnAdaLayerNormQuant", &mine);
    OK(aclnnAdaLayerNormQuantGetWorkspaceSize(
        t, t, t, NULL, NULL, NULL, 0.25, mode, out, out, NULL, &size, &executor));
    memset(mode, 0, sizeof mode);
    OK(aclnnAdaLayerNormQuant(NULL, 0, executor, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(runs == 1);
    OK(aclDestroyTensor(t));
    OK(aclDestroyTensor(out));
}

static int arrays(const mock_acl_operator_call *call, void *user) {
    if (strcmp(call->name, "aclnnResize") == 0) {
        CHECK(call->operands[1].kind == MOCK_ACL_OPERAND_NUMBERS && call->operands[1].count == 2);
        CHECK(call->operands[1].numbers[0] == 0.5 && call->operands[1].numbers[1] == -2);
    } else if (strcmp(call->name, "aclnnGroupNormBackward") == 0) {
        CHECK(call->operands[9].kind == MOCK_ACL_OPERAND_BOOLEANS && call->operands[9].count == 3);
        CHECK(call->operands[9].integers[0] == 1 && call->operands[9].integers[1] == 0);
    } else {
        CHECK(call->operands[0].kind == MOCK_ACL_OPERAND_SCALAR && call->operands[0].count == 2);
        CHECK(call->operands[0].numbers[0] == 2.5 && call->operands[0].integers[1] == 9);
        CHECK(call->operands[1].kind == MOCK_ACL_OPERAND_SCALAR && call->operands[1].count == 1);
        CHECK(call->operands[1].numbers[0] == 2.5);
    }
    ++*(int *)user;
    return 0;
}

/* Scalars alone, for which stubs may lack: the mock computes every operator with a list of them. */
static const mock_own_parameter scalars_then_one[] = {
    {"scalars", MOCK_OWN_SCALARS, 0, false}, {"scalar", MOCK_OWN_SCALAR, 0, false}};
static const mock_own_operator of_scalars = {
    {"of scalars", mock_own_run, mock_plan_drop}, MOCK_API_aclnnResizeGetWorkspaceSize, MOCK_API_aclnnResize,
    "aclnnResizeGetWorkspaceSize", scalars_then_one, 2};

static void all_arrays(void) {
    up();
    int runs = 0;
    const mock_acl_operator mine = {sizeof mine, NULL, arrays, &runs};
    const float scales[] = {0.5F, -2}, power = 2.5F;
    const bool mask[] = {true, false, true};
    int64_t nine = 9;
    aclrtStream s = new_stream();
    aclTensor *t = tensor(vector(1));
    aclFloatArray *floats = aclCreateFloatArray(scales, 2);
    aclBoolArray *bools = aclCreateBoolArray(mask, 3);
    aclIntArray *ints = aclCreateIntArray(&nine, 1);
    const aclScalar *const members[] = {
        aclCreateScalar((void *)(uintptr_t)&power, ACL_FLOAT), aclCreateScalar(&nine, ACL_INT64)};
    aclScalarList *scalars = aclCreateScalarList(members, 2);
    aclOpExecutor *executor = NULL;
    uint64_t size = 0;
    use("aclnnResize", &mine);
    use("aclnnGroupNormBackward", &mine);
    aclFloatArray *no_floats = (void *)ints;
    aclBoolArray *no_bools = (void *)floats;
    CODE(aclnnResizeGetWorkspaceSize(t, no_floats, "nearest", t, &size, &executor), 161002);
    OK(aclnnResizeGetWorkspaceSize(t, floats, "nearest", t, &size, &executor));
    OK(aclnnResize(NULL, 0, executor, s));
    CODE(aclnnGroupNormBackwardGetWorkspaceSize(
             t, t, t, t, t, 1, 1, 1, 1, no_bools, t, t, t, &size, &executor), 161002);
    OK(aclnnGroupNormBackwardGetWorkspaceSize(
        t, t, t, t, t, 1, 1, 1, 1, bools, t, t, t, &size, &executor));
    OK(aclnnGroupNormBackward(NULL, 0, executor, s));
    mock_own_value values[] = {{.pointer = t}, {.pointer = t}};
    CODE(mock_own_first(&of_scalars, values, &size, &executor), 161002);
    values[0].pointer = scalars;
    CODE(mock_own_first(&of_scalars, values, &size, &executor), 161002);
    values[1].pointer = members[0];
    CODE(mock_own_first(&of_scalars, values, NULL, &executor), 161001);
    OK(mock_own_first(&of_scalars, values, &size, &executor));
    OK(mock_own_second(&of_scalars, NULL, 0, executor, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(runs == 3);
}

static void bad_registrations(void) {
    up();
    mock_acl_operator mine = {sizeof mine, NULL, code_compute, NULL};
    CODE(mock_acl_register_operator(NULL, &mine), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_register_operator("aclnnNoSuchOperator", &mine), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_register_operator("aclnnAdd", &mine), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_register_operator("aclnnAdaLayerNormGetWorkspaceSize", &mine), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_register_operator("aclnnSetPytorchRandom", &mine), MOCK_ACL_BAD_ARGUMENT);
    mine.struct_size--;
    CODE(mock_acl_register_operator("aclnnAdaLayerNorm", &mine), MOCK_ACL_BAD_ARGUMENT);
    mine.struct_size++;
    mine.compute = NULL;
    CODE(mock_acl_register_operator("aclnnAdaLayerNorm", &mine), MOCK_ACL_BAD_ARGUMENT);
    CODE(mock_acl_register_operator("aclnnAdaLayerNorm", NULL), 0);
    mine.compute = code_compute;
    use("aclnnAdaLayerNorm", &mine);
    use("aclnnAdaLayerNorm", &mine);
    up(); /* a reset takes it back */
    const scaled o = new_scaled();
    aclOpExecutor *executor = NULL;
    CODE(first(&o, &executor), 207000);
    end_scaled(&o);
}

int main(void) {
    computed_at_each_run();
    failures();
    failing_computation();
    lists();
    text();
    all_arrays();
    bad_registrations();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
