/* Products with NEON's fused steps: tiles of 4 x 16 in sixteen registers. */
#include "objects/objects.h"
#include "operators/products/gemm_kernel.h"

#ifdef MOCK_ISA_ARM
#include <arm_neon.h>
#include <string.h>

#define NR 16
#define VECTOR float32x4_t
#define ZERO() vdupq_n_f32(0)
#define SPLAT(x) vdupq_n_f32(x)
#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define FMA(x, y, sum) vfmaq_f32(sum, x, y)

MOCK_GEMM_TILE(tile, , NR, 4)
MOCK_GEMM_ROWS_KERNEL(rows, , 4)

static void tile(size_t count, size_t k, const float *a, const float *b, float *out) {
    if (count > 2) tile_of(4, 4, k, a, b, out);
    else if (count == 2) tile_of(2, 4, k, a, b, out);
    else tile_of(1, 4, k, a, b, out);
}

const mock_gemm_kernels mock_gemm_neon = {4, NR, tile, rows};
#else
typedef int mock_no_neon;
#endif
