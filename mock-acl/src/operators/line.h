/* Operators that work on whole lines of f32 values: the trailing dimensions, or one dimension, of a
 * tensor. */
#ifndef MOCK_OPERATORS_LINE_H_
#define MOCK_OPERATORS_LINE_H_

#include "objects/objects.h"

/* The part of a view that one line covers. A direct line is contiguous f32 and is used where it lies. */
typedef struct mock_line {
    mock_view view;
    size_t count;
    bool direct;
} mock_line;

#endif
