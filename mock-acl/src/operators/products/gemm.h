/* One matrix product, C = A B, with f32 accumulation. */
#ifndef MOCK_OPERATORS_PRODUCTS_GEMM_H_
#define MOCK_OPERATORS_PRODUCTS_GEMM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/base.h"

/* A row-major matrix whose rows are `stride` elements apart. */
typedef struct mock_matrix {
    const void *data;
    int64_t stride;
    int32_t dtype;
} mock_matrix;

/* A matrix with any strides, in elements: transposed, with gaps, with rows or columns repeated (0). */
typedef struct mock_strided {
    const void *data;
    int64_t row, column;
    int32_t dtype;
} mock_strided;

#endif
