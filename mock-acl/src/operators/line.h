/* Operators that work on whole lines of f32 values: the trailing dimensions, or one dimension, of a
 * tensor. */
#ifndef MOCK_OP_LINE_H_
#define MOCK_OP_LINE_H_

#include "objects/object.h"

/* The part of a view that one line covers. A direct line is contiguous f32 and is used where it lies. */
typedef struct mock_line {
    mock_view view;
    size_t count;
    bool direct;
} mock_line;

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

#endif
