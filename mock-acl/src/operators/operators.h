/* What the families of operators share: walks over views, element-wise loops, places, lines, dimensions, vector
 * math.
 *
 * Uses objects. Every family uses it. */
#ifndef MOCK_OPERATORS_OPERATORS_H_
#define MOCK_OPERATORS_OPERATORS_H_

#include "objects/objects.h"
#include "operators/elementwise.h"
#include "operators/line.h"
#include "operators/vector_math.h"
#include "operators/walk.h"

/* ---- operators/dims.c ---- */
/* The members of a mask that has so many; NULL after a failure. */
const bool *mock_build_mask(mock_build *b, const aclBoolArray *outputMask, uint64_t count);
/* The set that a list names; an empty list means all (own choice: as PyTorch does). */
uint32_t mock_dims_read(mock_build *b, const mock_array *dims, const char *param, int rank);
uint32_t mock_dims_all(int rank);
/* The shape of the result, with dimensions of one where `keep`. */
mock_view mock_dims_shape(const mock_view *in, uint32_t reduced, bool keep);
/* The dimensions of `v` that are reduced, or those that are kept; the others count one. */
mock_view mock_dims_part(const mock_view *v, uint32_t reduced, bool want_reduced);
/* A view of the result in the dimensions of the input, with stride 0 where it is reduced; `dense` for one
 * of elements of eight bytes without gaps. */
mock_view mock_dims_result(const mock_view *in, uint32_t reduced, const mock_view *out, bool dense);
/* Whether the reduced dimensions are the last ones, apart from those of one element. */
bool mock_dims_last(const mock_view *in, uint32_t reduced);

/* ---- operators/elementwise.c ---- */
mock_number mock_number_of(const mock_scalar *scalar);
/* Fills the plan: kernels, the type to compute in and the operands (`b` -1 for none). The operands
 * broadcast to out; fails when they do not, when `type` cannot be stored in out, or when the kernels lack
 * its class. */
void mock_elementwise(
    mock_build *b, const mock_kernels *kernels, int32_t type, mock_number k, int first, int second, int out);
/* With `count` numbers. */
void mock_elementwise_numbers(
    mock_build *b, const mock_kernels *kernels, int32_t type, const mock_number *k, int count, int first,
    int second, int out);
aclError mock_elementwise_run(void *arg);
/* The same for views and MOCK_NUMBERS numbers that are given; `second` NULL for none. */
aclError mock_elementwise_views(
    const mock_kernels *kernels, mock_class class, const mock_number *k, const mock_view *out,
    const mock_view *first, const mock_view *second);
bool mock_has_class(const mock_kernels *kernels, mock_class class);
/* The type of tensor and scalar together: the tensor's, unless the scalar is of a higher kind; a float scalar
 * with an integer tensor gives f32 (guide: aclnn, type promotion of tensor and scalar). */
int32_t mock_promote_scalar(int32_t tensor, int32_t scalar);
/* Integers become f32 where only floats are computed (own choice: as PyTorch does). */
int32_t mock_float_type(int32_t type);

/* ---- operators/line.c ---- */
/* Dimensions first..first + rank - 1 of `v` as a line. */
mock_line mock_line_of(const mock_view *v, int first, int rank);
/* The values of the line that starts at `from`: there, or gathered into `scratch`. */
const float *mock_line_get(const mock_line *line, const void *from, float *scratch);
/* Writes a line, rounding to its type; nothing to do when `values` is `to`. */
void mock_line_put(const mock_line *line, void *to, const float *values);
/* Workspace bytes for `count` elements; parts of a workspace follow each other at this distance. */
uint64_t mock_workspace_bytes(uint64_t count, size_t size);
/* Sums in double, in an order that only depends on n (own choice: equal in every run). */
double mock_sum_f32(const float *x, size_t n);
/* The sum of (x - mean)^2. */
double mock_square_sum_f32(const float *x, size_t n, double mean);

/* ---- operators/place.c ---- */
/* The element at the indices `i`, as many as the view has dimensions; `first` is its first element. */
char *mock_element_at(const mock_view *v, char *first, const int64_t *i);
/* The next indices in row-major order; false after the last, when they are all 0 again. */
bool mock_next(const mock_view *v, int64_t *i);
/* The same without dimension `dim`, whose index stays. */
bool mock_next_but(const mock_view *v, int dim, int64_t *i);
/* One element of type `dtype`, of any type that has a class. */
double mock_read_real(int32_t dtype, const char *at);
int64_t mock_read_whole(int32_t dtype, const char *at);
void mock_write_real(int32_t dtype, char *at, double value);
void mock_write_whole(int32_t dtype, char *at, int64_t value);
/* Fails for a tensor that is neither null nor alive, of a parameter that is no operand. */
void mock_require_live(mock_build *b, const aclTensor *tensor, const char *param);
/* The first element of every operand, NULL for an absent one; false for a bad address. */
bool mock_plan_pointers(const mock_plan *plan, char **first);

/* ---- operators/walk.c ---- */
void mock_walk_begin(mock_walk *w, int rank, const int64_t *dims);
/* `view` must broadcast to the walk's shape; `first` is its first element. */
void mock_walk_add(mock_walk *w, const mock_view *view, void *first);
/* The first row; false when the shape is empty. */
bool mock_walk_first(mock_walk *w);
bool mock_walk_next(mock_walk *w);
/* The common shape of two views; false when they do not broadcast. */
bool mock_broadcast(const mock_view *a, const mock_view *b, mock_view *out);
bool mock_same_shape(const mock_view *a, const mock_view *b);
int64_t mock_element_count(const mock_view *v);
bool mock_is_contiguous(const mock_view *v);
const char *mock_shape(const mock_view *v, mock_shape_text *buffer);
/* Fails with both shapes when `out` does not have the shape of `expected`. */
void mock_require_shape(
    mock_build *b, const mock_view *out, const char *param, const mock_view *expected, const char *because);
/* The index of a dimension given as -rank..rank-1 (a scalar counts as rank 1), or -1 after failing. */
int mock_require_dim(mock_build *b, const char *param, int64_t dim, int rank);

#endif
