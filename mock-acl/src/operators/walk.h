/* Walks several strided operands of one shape together, row by row. Adjacent dimensions are merged and the
 * order follows the memory of the first operand, so contiguous operands are one single row.
 *
 * Broadcasting follows the guide (aclnn, broadcasting): trailing dimensions match or are 1. */
#ifndef MOCK_OPERATORS_WALK_H_
#define MOCK_OPERATORS_WALK_H_

#include "objects/objects.h"

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

/* "[2, 3]" in a buffer of the caller. */
typedef struct mock_shape_text {
    char text[8 * 21 + 3];
} mock_shape_text;

#endif
