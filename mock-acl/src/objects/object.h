/* What stands behind the handles of acl_meta.h, and the builder that the first phase of every operator
 * uses.
 *
 * Sources in brackets as in engine/core.h. "guide: aclnn" is the operator library's documentation: two-phase
 * calls, return codes, type promotion and conversion, and the page of each operator. No operator was ever
 * compared with a card: rounding and order of sums are our own choice wherever nothing else is named. */
#ifndef MOCK_NN_OBJECT_H_
#define MOCK_NN_OBJECT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "objects/public.h"
#include "objects/slab.h"

#define MOCK_MAX_RANK 8 /* guide: aclnn, aclnnCast: 0 to 8 dimensions */
#define MOCK_MAX_OPERANDS 12
#define MOCK_MAX_LIST 1024 /* tensors in one list (own choice) */
#define MOCK_PARAM_BYTES 256
/* The executor was consumed already, or never was one (own choice: the guide calls a second use an error
 * without a code; 561101 is its ACLNN_ERR_INNER_CREATE_EXECUTOR). */
#define MOCK_ERR_EXECUTOR 561101
/* What a stream carries after a kernel met a bad address or a bad index (header:
 * ACL_ERROR_RT_AICORE_EXCEPTION). */
#define MOCK_DEVICE_FAULT 507015

/* QUANTISED beside IN: types that only quantised products read, see operators/products/quant.h. */
typedef enum mock_role { MOCK_IN = 1, MOCK_OUT = 2, MOCK_INOUT = 3, MOCK_QUANTISED = 4 } mock_role;

/* A strided view of device memory. `span` is the number of elements from the first to the last, 0 when
 * empty. An operand that is a list of tensors has no address: its `span` members start at place `offset`
 * of the plan's members. */
typedef struct mock_view {
    void *address;
    int64_t offset;
    int64_t span;
    int64_t dims[MOCK_MAX_RANK];
    int64_t strides[MOCK_MAX_RANK];
    int32_t dtype;
    uint8_t rank;
    uint8_t role;
    bool absent;
    bool list;
} mock_view;

typedef struct mock_tensor {
    mock_slot slot;
    mock_view view;
    int64_t storage[MOCK_MAX_RANK];
    uint8_t storage_rank;
    aclFormat format;
} mock_tensor;

typedef struct mock_scalar {
    mock_slot slot;
    aclDataType dtype;
    _Alignas(16) unsigned char bytes[16];
} mock_scalar;

typedef struct mock_array {
    mock_slot slot;
    aclDataType dtype;
    uint64_t size;
    void *values;
} mock_array;

typedef struct mock_list {
    mock_slot slot;
    mock_object_kind members;
    uint64_t size;
    void **handles;
} mock_list;

/* A checked operator call. It is the executor until the second phase, and the argument of the task after
 * it. */
typedef struct mock_plan {
    mock_slot slot;
    const mock_task_ops *task;
    void *workspace;
    uint64_t need;
    bool repeatable;
    bool once; /* cannot be made repeatable */
    uint8_t count;
    /* On the heap, NULL for most operators: the members of all lists, and numbers that do not fit in
     * `params`. */
    mock_view *members;
    size_t member_count;
    void *extra;
    size_t extra_bytes;
    _Alignas(16) unsigned char params[MOCK_PARAM_BYTES];
    mock_view views[MOCK_MAX_OPERANDS];
} mock_plan;

/* The operator's own parameters inside a plan. */
#define MOCK_PARAMS(plan, type)                                                         \
    ((void)sizeof(char[sizeof(type) <= MOCK_PARAM_BYTES ? 1 : -1]), (type *)(void *)(plan)->params)

/* First phase. `status` sticks: after a failure the other functions do nothing, and finish returns it. */
typedef struct mock_build {
    mock_plan *plan;
    const char *name;
    uint64_t *size;
    aclOpExecutor **executor;
    aclnnStatus status;
} mock_build;

mock_build mock_build_begin(const mock_task_ops *task, uint64_t *size, aclOpExecutor **executor);
/* Adds an operand; its index in the plan is the order of these calls. NULL after a failure. */
const mock_view *mock_build_tensor(mock_build *b, const aclTensor *tensor, const char *param, mock_role role);
/* The same for an operand that may be null; it keeps its index and is marked absent. */
const mock_view *mock_build_optional(
    mock_build *b, const aclTensor *tensor, const char *param, mock_role role);
/* A list of 1 to MOCK_MAX_LIST tensors as one operand; its members are reached with mock_members, whose
 * result is valid until the next list. */
const mock_view *mock_build_list(
    mock_build *b, const aclTensorList *list, const char *param, mock_role role);
mock_view *mock_members(const mock_plan *plan, const mock_view *operand);
/* Zeroed room in plan->extra, once for a plan; NULL after a failure. */
void *mock_build_extra(mock_build *b, size_t bytes);
const mock_scalar *mock_build_scalar(mock_build *b, const aclScalar *scalar, const char *param);
const mock_array *mock_build_ints(mock_build *b, const aclIntArray *array, const char *param);
/* 161002 with a text that starts with the operator's name. */
void mock_build_fail(mock_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Gives the executor and plan->need out, or drops the plan. */
aclnnStatus mock_build_finish(mock_build *b);

/* Second phase. */
aclnnStatus mock_plan_launch(
    const mock_task_ops *task, void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream);
void mock_plan_drop(void *plan);
/* Copies members and extra; false when host memory is out. */
bool mock_plan_copy_heap(mock_plan *to, const mock_plan *from);
/* Checks a tensor and fills `v`; false after a failure. `param` may name a member of a list. */
bool mock_build_view(
    mock_build *b, mock_view *v, const aclTensor *tensor, const char *param, mock_role role);

/* Inside a task: host pointer to the first element of an operand, NULL for a bad address; a member of a
 * list and the workspace likewise. */
void *mock_plan_pointer(const mock_plan *plan, unsigned index);
void *mock_view_pointer(const mock_view *view);
void *mock_plan_workspace(const mock_plan *plan);

/* Defines an operator's task and its second phase. */
#define MOCK_OPERATOR(NAME, RUN)                                                                      \
    static const mock_task_ops NAME##_task = {#NAME, RUN, mock_plan_drop};                            \
    aclnnStatus NAME(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream) { \
        MOCK_ENTER(NAME);                                                                             \
        return mock_plan_launch(&NAME##_task, workspace, workspaceSize, executor, stream);            \
    }

double mock_scalar_double(const mock_scalar *scalar);
int64_t mock_scalar_int(const mock_scalar *scalar);


/* Error texts: a null parameter, a bad handle or value. Both return their code. */
aclnnStatus mock_null_parameter(const char *function, const char *param);
aclnnStatus mock_bad_parameter(const char *function, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
