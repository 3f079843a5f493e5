/* A set of dimensions that an operator reduces, bit i for dimension i. */
#ifndef MOCK_OP_DIMS_H_
#define MOCK_OP_DIMS_H_

#include "operators/walk.h"

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

#endif
