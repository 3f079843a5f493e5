/* aclOpExecutor: first phase (builder), second phase (launch), repeatable executors and their addresses.
 *
 * Codes: 161001 a null pointer; 161002 any other bad parameter, also an executor of another operator and a
 * workspace that is too small (these leave the executor as it is); 361001 the runtime refused the task,
 * whose text stays in place and whose executor is gone; 561101 an executor that was consumed or destroyed
 * before, or never was one; 561000 out of host memory or handles.
 *
 * 161001, 161002, 361001 and 561000 are what the guide names for these cases (guide: aclnn, return codes;
 * the header has them as ACLNN_ERR_...). 561101 is our own choice. An executor serves one second phase
 * (guide: aclnn, two-phase calls), or many once it is repeatable (guide: aclnn,
 * aclSetAclOpExecutorRepeatable). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "objects/dtype.h"
#include "objects/object.h"
#include "objects/objects.h"
#include "objects/public.h"
#include "objects/slab.h"
#include "streams/streams.h"

aclnnStatus mock_null_parameter(const char *function, const char *param) {
    mock_error_text("EZ1001", "%s: %s is a null pointer", function, param);
    return ACLNN_ERR_PARAM_NULLPTR;
}

aclnnStatus mock_bad_parameter(const char *function, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mock_error_text("EZ1001", "%s: %s", function, text);
    return ACLNN_ERR_PARAM_INVALID;
}

mock_build mock_build_begin(const mock_task_ops *task, uint64_t *size, aclOpExecutor **executor) {
    mock_build b = {NULL, task->name, size, executor, 0};
    b.plan = mock_slab_take(MOCK_SLAB_PLAN);
    if (b.plan == NULL) {
        mock_error_text("EZ9999", "%s: out of host memory", task->name);
        b.status = ACLNN_ERR_INNER;
        return b;
    }
    b.plan->task = task;
    b.plan->workspace = NULL;
    b.plan->need = 0;
    b.plan->repeatable = false;
    b.plan->count = 0;
    b.plan->once = false;
    b.plan->order = NULL;
    b.plan->members = NULL;
    b.plan->member_count = 0;
    b.plan->extra = NULL;
    b.plan->extra_bytes = 0;
    b.plan->dense = NULL;
    return b;
}

/* Blocked formats are refused, but for weights of products (own choice). */
static bool plain_format(aclFormat format) {
    switch ((int)format) {
        case ACL_FORMAT_UNDEFINED: case ACL_FORMAT_NCHW: case ACL_FORMAT_NHWC: case ACL_FORMAT_ND:
        case ACL_FORMAT_HWCN: case ACL_FORMAT_NDHWC: case ACL_FORMAT_NCDHW: case ACL_FORMAT_NC:
        case ACL_FORMAT_NCL:
            return true;
        default:
            return false;
    }
}

/* An output that maps two indices to one element. Only the common case, an expanded dimension, is looked
 * for (own choice). */
static bool writes_twice(const mock_view *v) {
    for (int i = 0; i < v->rank; i++) {
        if (v->dims[i] > 1 && v->strides[i] == 0 && v->span != 0) return true;
    }
    return false;
}

static void copy_view(mock_view *to, const mock_view *from) {
    /* All of them: a copy of a constant size is a few moves, one of the rank's size a string instruction. */
    memcpy(to->dims, from->dims, sizeof to->dims);
    memcpy(to->strides, from->strides, sizeof to->strides);
    to->address = from->address;
    to->offset = from->offset;
    to->span = from->span;
    to->dtype = from->dtype;
    to->rank = from->rank;
}

/* The storage shape is not compared with what the view reaches: programs name the view's own sizes there, or those
 * from before a storage grew (implementation of the open operators). Bytes outside of a live block fault on
 * the device. */
static void check_tensor(mock_build *b, const mock_tensor *t, const char *param, mock_role role) {
    if (mock_dtype_class(t->view.dtype) == MOCK_CLASS_NONE && (role & MOCK_QUANTISED) == 0) {
        mock_build_fail(b, "%s has data type %s, which is not supported", param,
            mock_dtype_name(t->view.dtype));
    } else if (!plain_format(t->format) && ((role & MOCK_NZ) == 0 || t->format != ACL_FORMAT_FRACTAL_NZ)) {
        mock_build_fail(b, "%s has format %d; only plain formats such as ND are supported", param,
            (int)t->format);
    } else if ((role & (MOCK_OUT | MOCK_SPREAD)) == MOCK_OUT && writes_twice(&t->view)) {
        mock_build_fail(b, "%s is written, but has stride 0", param);
    }
}

bool mock_build_view(
    mock_build *b, mock_view *v, const aclTensor *tensor, const char *param, mock_role role) {
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensor);
    if (tensor == NULL) b->status = mock_null_parameter(b->name, param);
    else if (t == NULL) mock_build_fail(b, "%s is not a live aclTensor", param);
    else check_tensor(b, t, param, role);
    if (b->status != 0) return false;
    copy_view(v, &t->view);
    v->role = (uint8_t)(role & ~MOCK_NZ);
    v->absent = false;
    v->list = false;
    v->width = 0;
    if (t->format == ACL_FORMAT_FRACTAL_NZ) mock_build_blocked(b, v, t, param);
    return b->status == 0;
}

const mock_view *mock_build_tensor(
    mock_build *b, const aclTensor *tensor, const char *param, mock_role role) {
    if (b->status != 0) return NULL;
    mock_view *v = &b->plan->views[b->plan->count];
    if (!mock_build_view(b, v, tensor, param, role)) return NULL;
    b->plan->count++;
    return v;
}

const mock_view *mock_build_optional(
    mock_build *b, const aclTensor *tensor, const char *param, mock_role role) {
    if (tensor != NULL || b->status != 0) return mock_build_tensor(b, tensor, param, role);
    mock_view *v = &b->plan->views[b->plan->count++];
    *v = (mock_view){.role = (uint8_t)role, .absent = true};
    return v;
}

void mock_build_order(mock_build *b, const uint8_t *order, size_t count) {
    if (b->status != 0) return;
    b->plan->order = order;
    b->plan->ordered = (uint8_t)count;
}

/* Whether the order has each operand once. */
static bool orders_all(const mock_plan *plan) {
    uint64_t seen[(UINT8_MAX + 1) / 64] = {0};
    if (plan->order == NULL) return true;
    for (unsigned i = 0; i < plan->ordered; i++) {
        const uint8_t index = plan->order[i];
        const uint64_t bit = (uint64_t)1 << index % 64;
        if (index >= plan->count || (seen[index / 64] & bit) != 0) return false;
        seen[index / 64] |= bit;
    }
    return plan->ordered == plan->count;
}

void mock_build_nothing(mock_build *b) {
    if (b->status == 0) b->plan->views[b->plan->count++] = (mock_view){.absent = true};
}

const mock_scalar *mock_build_scalar(mock_build *b, const aclScalar *scalar, const char *param) {
    if (b->status != 0) return NULL;
    const mock_scalar *s = mock_object_get(MOCK_OBJECT_SCALAR, scalar);
    if (scalar == NULL) b->status = mock_null_parameter(b->name, param);
    else if (s == NULL) mock_build_fail(b, "%s is not a live aclScalar", param);
    else if (mock_dtype_class(s->dtype) == MOCK_CLASS_NONE) {
        mock_build_fail(b, "%s has data type %s, which is not supported", param, mock_dtype_name(s->dtype));
    }
    return b->status != 0 ? NULL : s;
}

const mock_array *mock_build_ints(mock_build *b, const aclIntArray *array, const char *param) {
    if (b->status != 0) return NULL;
    const mock_array *a = mock_object_get(MOCK_OBJECT_ARRAY, array);
    if (array == NULL) b->status = mock_null_parameter(b->name, param);
    else if (a == NULL || a->dtype != ACL_INT64) mock_build_fail(b, "%s is not a live aclIntArray", param);
    return b->status != 0 ? NULL : a;
}

void mock_build_fail(mock_build *b, const char *format, ...) {
    char text[400];
    va_list args;
    if (b->status != 0) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    b->status = mock_bad_parameter(b->name, "%s", text);
}

/* Where the operands are, for the log of calls. */
static void note_operands(const mock_plan *plan) {
    for (unsigned i = 0; i < plan->count; i++) {
        const void *const address = plan->views[i].address;
        if (!plan->views[i].absent && !plan->views[i].list) mock_note_given(&address, 1);
    }
    for (size_t i = 0; i < plan->member_count; i++) {
        const void *const address = plan->members[i].address;
        mock_note_given(&address, 1);
    }
}

aclnnStatus mock_build_finish(mock_build *b) {
    if (b->status == 0 && !orders_all(b->plan)) {
        mock_error_text("EZ9999", "%s: an order of %u operands for %u", b->name, b->plan->ordered, b->plan->count);
        b->status = ACLNN_ERR_INNER;
    }
    if (b->status == 0 && b->size == NULL) b->status = mock_null_parameter(b->name, "workspaceSize");
    if (b->status == 0 && b->executor == NULL) b->status = mock_null_parameter(b->name, "executor");
    if (b->status == 0) {
        const uint64_t need = b->plan->need;
        aclOpExecutor *executor = mock_object_new(MOCK_OBJECT_EXECUTOR, b->plan);
        if (executor != NULL) {
            if (mock_logs_calls()) note_operands(b->plan);
            *b->size = need;
            *b->executor = executor;
            return 0;
        }
        mock_error_text("EZ9999", "%s: no executor handle left", b->name);
        b->status = ACLNN_ERR_INNER;
    }
    if (b->plan != NULL) mock_plan_drop(b->plan);
    return b->status;
}

void mock_plan_drop(void *plan) {
    mock_plan *p = plan;
    free(p->members);
    free(p->extra);
    if (p->dense != NULL) mock_plan_drop_dense(p);
    mock_slab_give(MOCK_SLAB_PLAN, p);
}

/* A task's own copy of a repeatable executor's plan. */
static mock_plan *clone_plan(const mock_plan *from) {
    mock_plan *plan = mock_slab_take(MOCK_SLAB_PLAN);
    if (plan == NULL) return NULL;
    plan->task = from->task;
    plan->need = from->need;
    plan->repeatable = from->repeatable;
    plan->count = from->count;
    plan->once = false;
    plan->order = from->order;
    plan->ordered = from->ordered;
    plan->dense = NULL;
    memcpy(plan->params, from->params, sizeof plan->params);
    memcpy(plan->views, from->views, from->count * sizeof plan->views[0]);
    const bool copied = mock_plan_copy_heap(plan, from);
    if (copied && (from->dense == NULL || mock_plan_make_dense(plan))) return plan;
    mock_plan_drop(plan);
    return NULL;
}

static aclnnStatus bad_executor(const char *function, const void *executor) {
    if (executor == NULL) return mock_null_parameter(function, "executor");
    mock_error_text("EZ9999", "%s: the executor was consumed or destroyed already, or is not an executor",
        function);
    return MOCK_ERR_EXECUTOR;
}

/* The checks that leave the executor as it is (own choice: a mistake shows at the call, not on the
 * device). */
static aclnnStatus check_launch(
    const mock_task_ops *task, const void *workspace, uint64_t size, const mock_plan *plan) {
    if (plan->task != task) {
        return mock_bad_parameter(task->name, "the executor was made by %sGetWorkspaceSize",
            plan->task->name);
    }
    if (size < plan->need) {
        return mock_bad_parameter(task->name, "the workspace has %llu bytes, %llu are needed",
            (unsigned long long)size, (unsigned long long)plan->need);
    }
    if (plan->need != 0 && workspace == NULL) return mock_null_parameter(task->name, "workspace");
    return 0;
}

/* What the runtime refuses is 361001 (guide: aclnn, return codes); the executor is used up then, too (own
 * choice). The tensors may be destroyed after it: the task has its own copy of their views (own choice). */
aclnnStatus mock_plan_launch(
    const mock_task_ops *task, void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream) {
    mock_plan *plan = mock_object_get(MOCK_OBJECT_EXECUTOR, executor);
    if (plan == NULL) return bad_executor(task->name, executor);
    const aclnnStatus status = check_launch(task, workspace, size, plan);
    if (status != 0) return status;
    if (plan->repeatable) {
        plan = clone_plan(plan);
        if (plan == NULL) return ACLNN_ERR_INNER;
    } else {
        plan = mock_object_take(MOCK_OBJECT_EXECUTOR, executor);
        if (plan == NULL) return bad_executor(task->name, executor);
    }
    plan->workspace = workspace;
    return mock_submit_kernel(stream, task, plan) == 0 ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

static __attribute__((noinline)) void *raced_view(const mock_view *v, uintptr_t first, size_t bytes) {
    return mock_view_touch(v) ? mock_device_view((const void *)first, bytes) : NULL;
}

/* NULL makes the task fail with 507015: outside of one live block, or not aligned to the element (own
 * choice). */
void *mock_view_pointer(const mock_view *v) {
    const size_t size = mock_dtype_size(v->dtype);
    /* Through an integer: the address is the program's and need not point into anything. */
    const uintptr_t first = (uintptr_t)v->address + (uintptr_t)v->offset * size;
    if (v->span != 0 && first % size != 0) return NULL;
    if (mock_races()) return raced_view(v, first, (size_t)v->span * size);
    return mock_device_view((const void *)first, (size_t)v->span * size);
}

void *mock_plan_pointer(const mock_plan *plan, unsigned index) {
    const mock_view *v = &plan->views[index];
    return v->width == 0 ? mock_view_pointer(v) : mock_plan_dense(plan, index);
}

/* NULL likewise: outside, or not aligned to 16 bytes (own choice: aclrtMalloc gives 64 and more). */
void *mock_plan_workspace(const mock_plan *plan) {
    if (plan->need != 0 && (uintptr_t)plan->workspace % 16 != 0) return NULL;
    if (!mock_touch_task(plan->workspace, plan->need, MOCK_WRITES)) return NULL;
    return mock_device_view(plan->workspace, plan->need);
}

/* At any time before the second phase (guide: aclnn; null is 561103 there, 161001 here). */
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
    MOCK_ENTER_OF(aclSetAclOpExecutorRepeatable, executor);
    mock_plan *plan = mock_object_get(MOCK_OBJECT_EXECUTOR, executor);
    if (plan == NULL) return bad_executor("aclSetAclOpExecutorRepeatable", executor);
    if (plan->once) {
        return mock_bad_parameter("aclSetAclOpExecutorRepeatable", "%s cannot be repeated", plan->task->name);
    }
    plan->repeatable = true;
    return 0;
}

/* Queued work has its own copy and runs (own choice). */
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) {
    MOCK_ENTER_OF(aclDestroyAclOpExecutor, executor);
    mock_plan *plan = mock_object_take(MOCK_OBJECT_EXECUTOR, executor);
    if (plan == NULL) return bad_executor("aclDestroyAclOpExecutor", executor);
    mock_plan_drop(plan);
    return 0;
}

/* The `index`-th operand of the first phase that has one of the roles; NULL beyond the last. */
static mock_view *find_operand(mock_plan *plan, size_t index, unsigned roles) {
    for (unsigned i = 0; i < plan->count; i++) {
        mock_view *v = &plan->views[plan->order == NULL ? i : plan->order[i]];
        if ((v->role & roles) == 0) continue;
        if (index-- == 0) return v;
    }
    return NULL;
}

static bool same_layout(const mock_view *a, const mock_view *b) {
    if (a->absent || a->list || a->dtype != b->dtype || a->rank != b->rank) return false;
    if (a->offset != b->offset) return false;
    return memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0 &&
           memcmp(a->strides, b->strides, a->rank * sizeof *a->strides) == 0;
}

/* Only of a repeatable executor and only with the layout of the first phase (guide: aclnn,
 * aclSetTensorAddr: the executor must be repeatable; own choice: the layout is checked, codes). */
static aclnnStatus set_address(
    const char *function, aclOpExecutor *executor, size_t index, unsigned roles, const aclTensor *tensor,
    void *address) {
    mock_plan *plan = mock_object_get(MOCK_OBJECT_EXECUTOR, executor);
    if (plan == NULL) return bad_executor(function, executor);
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensor);
    if (tensor == NULL) return mock_null_parameter(function, "tensor");
    if (t == NULL) return mock_bad_parameter(function, "tensor is not a live aclTensor");
    if (address == NULL && t->view.span != 0) return mock_null_parameter(function, "addr");
    if (!plan->repeatable) return mock_bad_parameter(function, "the executor is not repeatable");
    mock_view *v = find_operand(plan, index, roles);
    if (v == NULL) {
        return mock_bad_parameter(function, "index %llu is out of range for %s", (unsigned long long)index,
            plan->task->name);
    }
    if (!same_layout(v, &t->view) || (v->width != 0) != (t->format == ACL_FORMAT_FRACTAL_NZ)) {
        return mock_bad_parameter(function, "tensor differs from operand %llu of %s in type or layout",
            (unsigned long long)index, plan->task->name);
    }
    v->address = address;
    return 0;
}

/* Member `place` of the list that is operand `index`; `tensors` has a tensor with its layout at that place
 * (own choice: layout and codes as for single tensors). */
static aclnnStatus set_dynamic_address(
    const char *function, aclOpExecutor *executor, size_t index, size_t place, unsigned roles,
    const aclTensorList *tensors, void *address) {
    mock_plan *plan = mock_object_get(MOCK_OBJECT_EXECUTOR, executor);
    if (plan == NULL) return bad_executor(function, executor);
    if (tensors == NULL) return mock_null_parameter(function, "tensors");
    const mock_list *list = mock_object_get(MOCK_OBJECT_LIST, tensors);
    if (list == NULL || list->members != MOCK_OBJECT_TENSOR) {
        return mock_bad_parameter(function, "tensors is not a live aclTensorList");
    }
    if (!plan->repeatable) return mock_bad_parameter(function, "the executor is not repeatable");
    const mock_view *v = find_operand(plan, index, roles);
    if (v == NULL || !v->list) {
        return mock_bad_parameter(function, "operand %llu of %s is not a tensor list",
            (unsigned long long)index, plan->task->name);
    }
    if (place >= (size_t)v->span || place >= list->size) {
        return mock_bad_parameter(function, "relativeIndex %llu is out of range for %lld and %llu members",
            (unsigned long long)place, (long long)v->span, (unsigned long long)list->size);
    }
    mock_view *member = mock_members(plan, v) + place;
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, list->handles[place]);
    if (t == NULL || !same_layout(member, &t->view)) {
        return mock_bad_parameter(function, "tensors[%llu] differs from its place in operand %llu of %s",
            (unsigned long long)place, (unsigned long long)index, plan->task->name);
    }
    if (address == NULL && member->span != 0) return mock_null_parameter(function, "addr");
    member->address = address;
    return 0;
}

#define SETTER(NAME, ROLES)                                                                        \
    aclnnStatus NAME(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr) { \
        MOCK_ENTER_OF(NAME, executor, tensor, addr);                                               \
        return set_address(#NAME, executor, index, ROLES, tensor, addr);                           \
    }

#define DYNAMIC_SETTER(NAME, ROLES)                                                                  \
    aclnnStatus NAME(                                                                                \
        aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, aclTensorList *tensors, \
        void *addr) {                                                                                \
        MOCK_ENTER_OF(NAME, executor, tensors, addr);                                                \
        return set_dynamic_address(#NAME, executor, irIndex, relativeIndex, ROLES, tensors, addr);   \
    }

SETTER(aclSetTensorAddr, MOCK_INOUT)
SETTER(AclSetTensorAddr, MOCK_INOUT)
SETTER(aclSetInputTensorAddr, MOCK_IN)
SETTER(AclSetInputTensorAddr, MOCK_IN)
SETTER(aclSetOutputTensorAddr, MOCK_OUT)
SETTER(AclSetOutputTensorAddr, MOCK_OUT)
DYNAMIC_SETTER(aclSetDynamicTensorAddr, MOCK_INOUT)
DYNAMIC_SETTER(AclSetDynamicTensorAddr, MOCK_INOUT)
DYNAMIC_SETTER(aclSetDynamicInputTensorAddr, MOCK_IN)
DYNAMIC_SETTER(AclSetDynamicInputTensorAddr, MOCK_IN)
DYNAMIC_SETTER(aclSetDynamicOutputTensorAddr, MOCK_OUT)
DYNAMIC_SETTER(AclSetDynamicOutputTensorAddr, MOCK_OUT)

/* Not needed by anything, and may be called any number of times (own choice). */
aclnnStatus aclnnInit(const char *configPath) {
    MOCK_ENTER(aclnnInit);
    (void)configPath;
    return 0;
}

aclnnStatus aclnnFinalize(void) {
    MOCK_ENTER(aclnnFinalize);
    return 0;
}

/* Checks its arguments; the mock has nowhere to dump to (own choice). */
aclnnStatus aclDumpOpTensors(
    const char *opType, const char *opName, aclTensor **tensors, size_t inputTensorNum,
    size_t outputTensorNum, aclrtStream stream) {
    MOCK_ENTER_OF(aclDumpOpTensors, stream);
    (void)stream;
    if (opType == NULL) return mock_null_parameter("aclDumpOpTensors", "opType");
    if (opName == NULL) return mock_null_parameter("aclDumpOpTensors", "opName");
    if (tensors == NULL) return mock_null_parameter("aclDumpOpTensors", "tensors");
    for (size_t i = 0; i < inputTensorNum + outputTensorNum; i++) {
        if (mock_object_get(MOCK_OBJECT_TENSOR, tensors[i]) != NULL) continue;
        return mock_bad_parameter("aclDumpOpTensors", "tensors[%zu] is not a live aclTensor", i);
    }
    return 0;
}
