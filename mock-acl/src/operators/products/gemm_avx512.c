/* Products with AVX-512: tiles of 12 x 32 in 24 registers. */
#include "objects/objects.h"
#include "operators/products/gemm_kernel.h"

#ifdef MOCK_ISA_X86
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f")))
#define NR 32
#define VECTOR __m512
#define ZERO() _mm512_setzero_ps()
#define SPLAT(x) _mm512_set1_ps(x)
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define FMA(x, y, sum) _mm512_fmadd_ps(x, y, sum)

MOCK_GEMM_TILE(tile, TARGET, NR, 16)
MOCK_GEMM_ROWS_KERNEL(rows, TARGET, 16)

TARGET static void tile(size_t count, size_t k, const float *a, const float *b, float *out) {
    if (count > 8) tile_of(12, 12, k, a, b, out);
    else if (count > 4) tile_of(8, 12, k, a, b, out);
    else if (count > 2) tile_of(4, 12, k, a, b, out);
    else if (count == 2) tile_of(2, 12, k, a, b, out);
    else tile_of(1, 12, k, a, b, out);
}

const mock_gemm_kernels mock_gemm_avx512 = {12, NR, tile, rows};
#else
typedef int mock_no_avx512;
#endif
