/* What stands behind the handles of acl_meta.h, and the builder that the first phase of every operator
 * uses.
 *
 * Sources in brackets as in base/base.h. "guide: aclnn" is the operator library's documentation: two-phase
 * calls, return codes, type promotion and conversion, and the page of each operator. No operator was ever
 * compared with a card: rounding and order of sums are our own choice wherever nothing else is named. */
#ifndef MOCK_OBJECTS_OBJECT_H_
#define MOCK_OBJECTS_OBJECT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/base.h"
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

/* QUANTISED beside IN: types that only quantised products read, see operators/products/quant.h. SPREAD beside OUT:
 * a stride of 0 is taken, and of several writes to an element one stays. NZ beside IN: FRACTAL_NZ is taken. */
typedef enum mock_role {
    MOCK_IN = 1, MOCK_OUT = 2, MOCK_INOUT = 3, MOCK_QUANTISED = 4, MOCK_SPREAD = 8, MOCK_OUT_SPREAD = 10,
    MOCK_NZ = 16, MOCK_IN_NZ = 17
} mock_role;

/* A strided view of device memory. `span` is the number of elements from the first to the last, 0 when
 * empty. An operand that is a list of tensors has no address: its `span` members start at place `offset`
 * of the plan's members. One that is stored as FRACTAL_NZ has `width`, its n0, else 0; its strides are those of a dense
 * copy, which mock_plan_pointer makes; `turned`, of one whose last two dimensions have changed places. */
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
    uint8_t width;
    bool turned;
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
    uint8_t ordered; /* how many the order has */
    const uint8_t *order; /* of the operands in the first phase, by which addresses are set; NULL for as they are */
    /* On the heap, NULL for most operators: the members of all lists, and numbers that do not fit in
     * `params`. */
    mock_view *members;
    size_t member_count;
    void *extra;
    size_t extra_bytes;
    /* Dense copies of operands in blocks, as many as operands; NULL without any such operand. */
    void **dense;
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

/* Defines an operator's task and its second phase. */
#define MOCK_OPERATOR(NAME, RUN)                                                                      \
    static const mock_task_ops NAME##_task = {#NAME, RUN, mock_plan_drop};                            \
    aclnnStatus NAME(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream) { \
        MOCK_ENTER_OF(NAME, workspace, executor, stream);                                             \
        return mock_plan_launch(&NAME##_task, workspace, workspaceSize, executor, stream);            \
    }

/* ---- objects/executor.c ---- */
/* Checks a tensor and fills `v`; false after a failure. `param` may name a member of a list. */
bool mock_build_view(
    mock_build *b, mock_view *v, const aclTensor *tensor, const char *param, mock_role role);

/* ---- objects/dense.c ---- */
/* Takes a tensor in FRACTAL_NZ as an operand: fills width and turned, or fails. */
void mock_build_blocked(mock_build *b, mock_view *v, const mock_tensor *t, const char *param);
/* Room for the pointers to dense copies; false when host memory is out. */
bool mock_plan_make_dense(mock_plan *plan);
void mock_plan_drop_dense(mock_plan *plan);
/* The dense copy of an operand in blocks, read anew by each call; NULL for a bad address. */
void *mock_plan_dense(const mock_plan *plan, unsigned index);

/* ---- objects/list.c ---- */
/* Copies members and extra; false when host memory is out. */
bool mock_plan_copy_heap(mock_plan *to, const mock_plan *from);

#endif
