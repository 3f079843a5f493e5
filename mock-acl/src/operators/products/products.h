/* Matrix products, plain and quantised, and what is solved or added around them.
 *
 * Uses objects, the shared part, and memory for operands of half bytes. Attention and windows use its kernel,
 * mock_gemm and mock_gemm_strided. */
#ifndef MOCK_OPERATORS_PRODUCTS_PRODUCTS_H_
#define MOCK_OPERATORS_PRODUCTS_PRODUCTS_H_

#include "operators/products/gemm.h"

/* ---- operators/products/gemm.c ---- */
/* `a` is m x k and `b` is k x n, of f32, f16 or bf16; `c` is m x n f32 with rows `c_stride` apart, and is
 * overwritten. False when the packing buffer cannot be had. */
bool mock_gemm(size_t m, size_t n, size_t k, mock_matrix a, mock_matrix b, float *c, int64_t c_stride);
/* The same bits for operands with the same numbers in any other layout. */
bool mock_gemm_strided(
    size_t m, size_t n, size_t k, mock_strided a, mock_strided b, float *c, int64_t c_row, int64_t c_column);

#endif
