/* What stands behind the handles of acl_meta.h: tensors, scalars, arrays, lists and executors, with the element
 * types and the builder of every operator's first phase.
 *
 * Uses memory and streams, to read operands and to launch, and the engine's tasks. Operators, models, dumps and
 * the control interface use it. */
#ifndef MOCK_OBJECTS_OBJECTS_H_
#define MOCK_OBJECTS_OBJECTS_H_

#include "engine/engine.h"
#include "objects/blocked.h"
#include "objects/dtype.h"
#include "objects/isa.h"
#include "objects/object.h"
#include "objects/public.h"
#include "objects/vector.h"

/* ---- objects/array.c ---- */
/* Takes back every object that a program still holds; for a reset of the whole mock. */
void mock_nn_reset(void);
double mock_scalar_double(const mock_scalar *scalar);
int64_t mock_scalar_int(const mock_scalar *scalar);

/* ---- objects/blocked.c ---- */
/* Whether the mock knows where the elements of this format lie. */
bool mock_blocked_format(aclFormat format);
/* The layout of a tensor with these dimensions and elements of `size` bytes; `width` is n0 or c0, 0 for the usual one.
 * False for another format, a wrong number of dimensions, or more elements than fit in memory. */
bool mock_blocked_lay(
    mock_blocked *l, aclFormat format, size_t size, const int64_t *dims, int rank, int64_t width);
/* Whether the storage has these dimensions. */
bool mock_blocked_is(const mock_blocked *l, const int64_t *storage, size_t rank);
void mock_blocked_pack(const mock_blocked *l, size_t size, const void *dense, void *stored);
void mock_blocked_unpack(const mock_blocked *l, size_t size, const void *stored, void *dense);

/* ---- objects/dtype.c ---- */
const char *mock_dtype_name(int32_t dtype);
size_t mock_dtype_size(int32_t dtype);
mock_class mock_dtype_class(int32_t dtype);
/* f32, f16 or bf16. */
bool mock_dtype_is_float(int32_t dtype);
/* Any of f32, f16, bf16, f64. */
bool mock_dtype_is_floating(int32_t dtype);
bool mock_dtype_is_integer(int32_t dtype);
/* The common type of two types that have a class (guide: aclnn, type promotion between tensors). */
int32_t mock_dtype_promote(int32_t a, int32_t b);
/* Whether a result of type `from` may be stored as `to`: floats not as integers, nothing else as bool
 * (guide: aclnn, type conversion). */
bool mock_dtype_castable(int32_t from, int32_t to);
/* Whether load and store leave rows of this shape where they are. */
bool mock_is_direct(mock_class class, int32_t dtype, int64_t step);
/* `n` elements of type `dtype`, `step` elements apart, in the class's type. Gives `row` itself when it
 * already is that, else `buffer`. */
const void *mock_load(mock_class class, int32_t dtype, const void *row, int64_t step, size_t n, void *buffer);
/* The reverse of mock_load. Nothing to do when `values` is `row`. */
void mock_store(mock_class class, int32_t dtype, void *row, int64_t step, size_t n, const void *values);
static inline const float *mock_load_f32(
    int32_t dtype, const void *row, int64_t step, size_t n, float *buffer) {
    return (const float *)mock_load(MOCK_F32, dtype, row, step, n, buffer);
}

/* ---- objects/executor.c ---- */
mock_build mock_build_begin(const mock_task_ops *task, uint64_t *size, aclOpExecutor **executor);
/* Adds an operand; its index in the plan is the order of these calls, which is that of the first phase: addresses are
 * set by it. NULL after a failure. */
const mock_view *mock_build_tensor(mock_build *b, const aclTensor *tensor, const char *param, mock_role role);
/* The same for an operand that may be null; it keeps its index and is marked absent. */
const mock_view *mock_build_optional(
    mock_build *b, const aclTensor *tensor, const char *param, mock_role role);
/* The order in which the first phase takes its `count` operands, where another one than they were added in: each index
 * once, or the first phase fails (a mistake of the mock). */
void mock_build_order(mock_build *b, const uint8_t *order, size_t count);
/* Nothing, where an operator of the same kind takes another operand; what addresses are set by does not count it. */
void mock_build_nothing(mock_build *b);
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
/* Inside a task: host pointer to the first element of an operand, NULL for a bad address; a member of a
 * list and the workspace likewise. */
void *mock_plan_pointer(const mock_plan *plan, unsigned index);
void *mock_view_pointer(const mock_view *view);
void *mock_plan_workspace(const mock_plan *plan);
/* ---- objects/touch.c ---- */
/* The running task touches what the view shows; false: it races, and fails. */
bool mock_view_touch(const mock_view *v);
/* Error texts: a null parameter, a bad handle or value. Both return their code. */
aclnnStatus mock_null_parameter(const char *function, const char *param);
aclnnStatus mock_bad_parameter(const char *function, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- objects/isa.c ---- */
mock_isa mock_isa_used(void);

/* ---- objects/list.c ---- */
/* A list of 1 to MOCK_MAX_LIST tensors as one operand; its members are reached with mock_members, whose
 * result is valid until the next list. */
const mock_view *mock_build_list(
    mock_build *b, const aclTensorList *list, const char *param, mock_role role);
mock_view *mock_members(const mock_plan *plan, const mock_view *operand);
/* Zeroed room in plan->extra, once for a plan; NULL after a failure. */
void *mock_build_extra(mock_build *b, size_t bytes);

#endif
