/* Walks several strided operands of one shape together, row by row. Adjacent dimensions are merged and the
 * order follows the memory of the first operand, so contiguous operands are one single row.
 *
 * Broadcasting follows the guide (aclnn, broadcasting): trailing dimensions match or are 1. */
#ifndef MOCK_OP_WALK_H_
#define MOCK_OP_WALK_H_

#include "objects/object.h"

#define MOCK_WALK_OPERANDS 4

typedef struct mock_walk {
    /* The current row: `n` elements, operand k starts at row[k] and advances by step[k] elements. */
    size_t n;
    char *row[MOCK_WALK_OPERANDS];
    int64_t step[MOCK_WALK_OPERANDS];
    size_t size[MOCK_WALK_OPERANDS];

    int rank;
    unsigned operands;
    int64_t dims[MOCK_MAX_RANK];
    int64_t index[MOCK_MAX_RANK];
    int64_t strides[MOCK_WALK_OPERANDS][MOCK_MAX_RANK];
} mock_walk;

void mock_walk_begin(mock_walk *w, int rank, const int64_t *dims);
/* `view` must broadcast to the walk's shape; `first` is its first element. */
void mock_walk_add(mock_walk *w, const mock_view *view, void *first);
/* The first row; false when the shape is empty. */
bool mock_walk_first(mock_walk *w);
bool mock_walk_next(mock_walk *w);

/* Shape helpers of the first phase. */
/* The common shape of two views; false when they do not broadcast. */
bool mock_broadcast(const mock_view *a, const mock_view *b, mock_view *out);
bool mock_same_shape(const mock_view *a, const mock_view *b);
int64_t mock_count(const mock_view *v);
bool mock_is_contiguous(const mock_view *v);
/* "[2, 3]" in a buffer of the caller. */
typedef struct mock_shape_text {
    char text[8 * 21 + 3];
} mock_shape_text;
const char *mock_shape(const mock_view *v, mock_shape_text *buffer);
/* Fails with both shapes when `out` does not have the shape of `expected`. */
void mock_require_shape(
    mock_build *b, const mock_view *out, const char *param, const mock_view *expected, const char *because);
/* The index of a dimension given as -rank..rank-1 (a scalar counts as rank 1), or -1 after failing. */
int mock_require_dim(mock_build *b, const char *param, int64_t dim, int rank);

#endif
