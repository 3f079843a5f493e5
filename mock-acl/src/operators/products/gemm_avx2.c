/* Products with AVX2 and FMA: tiles of 4 x 24 in twelve registers. */
#include "objects/objects.h"
#include "operators/products/gemm_kernel.h"

#ifdef MOCK_ISA_X86
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma")))
#define NR 24
#define VECTOR __m256
#define ZERO() _mm256_setzero_ps()
#define SPLAT(x) _mm256_set1_ps(x)
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define FMA(x, y, sum) _mm256_fmadd_ps(x, y, sum)

MOCK_GEMM_TILE(tile, TARGET, NR, 8)
MOCK_GEMM_ROWS_KERNEL(rows, TARGET, 8)

TARGET static void tile(size_t count, size_t k, const float *a, const float *b, float *out) {
    if (count > 2) tile_of(4, 4, k, a, b, out);
    else if (count == 2) tile_of(2, 4, k, a, b, out);
    else tile_of(1, 4, k, a, b, out);
}

const mock_gemm_kernels mock_gemm_avx2 = {4, NR, tile, rows};
#else
typedef int mock_no_avx2;
#endif
