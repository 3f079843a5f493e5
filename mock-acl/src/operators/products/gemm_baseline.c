/* Products with what every processor of the kind has: four lanes, product and sum rounded separately. */
#include "objects/objects.h"
#include "operators/products/gemm_kernel.h"

#define NR 8
#define VECTOR f32x4
#define ZERO() mock_splat(0)
#define SPLAT(x) mock_splat(x)
#define LOAD(p) mock_get(p)
#define STORE(p, v) mock_put(p, v)
#define FMA(x, y, sum) ((sum) + (x) * (y))

MOCK_GEMM_TILE(tile, , NR, 4)
MOCK_GEMM_ROWS_KERNEL(rows, , 4)

static void tile(size_t count, size_t k, const float *a, const float *b, float *out) {
    if (count > 2) tile_of(4, 4, k, a, b, out);
    else if (count == 2) tile_of(2, 4, k, a, b, out);
    else tile_of(1, 4, k, a, b, out);
}

const mock_gemm_kernels mock_gemm_baseline = {4, NR, tile, rows};
