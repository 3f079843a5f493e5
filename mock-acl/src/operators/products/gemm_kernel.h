/* The inner kernels of the product, one set for each kind of instructions.
 *
 * Every element of a result is one chain over k, from zero upwards, of the same steps in every kernel of a
 * set: a product does not depend on the kernel that its shape or layout selects. */
#ifndef MOCK_OPERATORS_PRODUCTS_GEMM_KERNEL_H_
#define MOCK_OPERATORS_PRODUCTS_GEMM_KERNEL_H_

#include <stddef.h>
#include "objects/objects.h"

#define MOCK_GEMM_MR 12
#define MOCK_GEMM_NR 32
#define MOCK_GEMM_ROWS 8

typedef struct mock_gemm_kernels {
    /* Rows and columns of a tile: rows are a multiple of 4, at most MR; columns at most NR. */
    size_t mr, nr;
    /* tile (rows x nr, dense) = a panel (k x mr) times b panel (k x nr); `rows` of the panel are needed. */
    void (*tile)(size_t rows, size_t k, const float *a, const float *b, float *tile);
    /* sums[j] += a[0] * b[0][j] + ... + a[k - 1] * b[k - 1][j], in this order; k is at most ROWS. */
    void (*rows)(size_t n, size_t k, const float *a, const float *const *b, float *sums);
} mock_gemm_kernels;

/* The kernels as loops over vectors of LANES floats, which each set defines with its own operations:
 * VECTOR, ZERO(), SPLAT(x), LOAD(p), STORE(p, v), FMA(x, y, sum). */
#define MOCK_GEMM_TILE(NAME, TARGET, NR, LANES)                                                            \
    TARGET static inline __attribute__((always_inline)) void NAME##_of(                                    \
        const size_t rows, size_t mr, size_t k, const float *a, const float *b, float *tile) {             \
        VECTOR acc[MOCK_GEMM_MR][NR / LANES];                                                              \
        _Pragma("GCC unroll 12") for (size_t i = 0; i < rows; i++) {                                       \
            _Pragma("GCC unroll 4") for (size_t j = 0; j < NR / LANES; j++) acc[i][j] = ZERO();            \
        }                                                                                                  \
        for (size_t p = 0; p < k; p++, a += mr, b += NR) {                                                 \
            VECTOR y[NR / LANES];                                                                          \
            _Pragma("GCC unroll 4") for (size_t j = 0; j < NR / LANES; j++) y[j] = LOAD(b + j * LANES);    \
            _Pragma("GCC unroll 12") for (size_t i = 0; i < rows; i++) {                                   \
                const VECTOR x = SPLAT(a[i]);                                                              \
                _Pragma("GCC unroll 4") for (size_t j = 0; j < NR / LANES; j++) {                          \
                    acc[i][j] = FMA(x, y[j], acc[i][j]);                                                   \
                }                                                                                          \
            }                                                                                              \
        }                                                                                                  \
        _Pragma("GCC unroll 12") for (size_t i = 0; i < rows; i++) {                                       \
            _Pragma("GCC unroll 4") for (size_t j = 0; j < NR / LANES; j++) {                              \
                STORE(tile + i * NR + j * LANES, acc[i][j]);                                               \
            }                                                                                              \
        }                                                                                                  \
    }

#define MOCK_GEMM_ROWS_KERNEL(NAME, TARGET, LANES)                                                         \
    TARGET static inline __attribute__((always_inline)) void NAME##_of(                                    \
        size_t n, const size_t k, const float *a, const float *const *b, float *sums) {                    \
        VECTOR x[MOCK_GEMM_ROWS];                                                                          \
        _Pragma("GCC unroll 8") for (size_t p = 0; p < MOCK_GEMM_ROWS; p++) {                              \
            x[p] = SPLAT(p < k ? a[p] : 0);                                                                \
        }                                                                                                  \
        for (size_t j = 0; j < n; j += LANES) {                                                            \
            VECTOR sum = LOAD(sums + j);                                                                   \
            _Pragma("GCC unroll 8") for (size_t p = 0; p < k; p++) sum = FMA(x[p], LOAD(b[p] + j), sum);   \
            STORE(sums + j, sum);                                                                          \
        }                                                                                                  \
    }                                                                                                      \
    /* The last columns, padded with zeros. */                                                             \
    TARGET static void NAME##_last(                                                                        \
        size_t n, size_t k, const float *a, const float *const *b, size_t from, float *sums) {             \
        float row[MOCK_GEMM_ROWS][LANES], last[LANES] = {0};                                               \
        const float *rows[MOCK_GEMM_ROWS];                                                                 \
        for (size_t p = 0; p < k; p++) {                                                                   \
            memset(row[p], 0, sizeof row[p]);                                                              \
            memcpy(row[p], b[p] + from, n * sizeof(float));                                                \
            rows[p] = row[p];                                                                              \
        }                                                                                                  \
        memcpy(last, sums + from, n * sizeof(float));                                                      \
        NAME##_of(LANES, k, a, rows, last);                                                                \
        memcpy(sums + from, last, n * sizeof(float));                                                      \
    }                                                                                                      \
    TARGET static void NAME(                                                                               \
        size_t n, size_t k, const float *a, const float *const *b, float *sums) {                          \
        const size_t whole = n / LANES * LANES;                                                            \
        if (k == MOCK_GEMM_ROWS) NAME##_of(whole, MOCK_GEMM_ROWS, a, b, sums);                             \
        else NAME##_of(whole, k, a, b, sums);                                                              \
        if (whole < n) NAME##_last(n - whole, k, a, b, whole, sums);                                       \
    }

extern const mock_gemm_kernels mock_gemm_baseline;
#ifdef MOCK_ISA_X86
extern const mock_gemm_kernels mock_gemm_avx2, mock_gemm_avx512;
#endif
#ifdef MOCK_ISA_ARM
extern const mock_gemm_kernels mock_gemm_neon;
#endif

#endif
