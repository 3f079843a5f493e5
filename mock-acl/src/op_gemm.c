/* A packed, cache-blocked product. Tiles of 6 x 16 stay in registers over a block of k; the blocks of k
 * are added up in order, so the result does not depend on anything but the operands and the machine: not
 * on layout, threads or addresses (own choice). Processors with FMA round product and sum of a step once,
 * others twice, so that two kinds of machine may differ in the last bits. */
#include "op_gemm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_base_rt.h"
#include "op_dtype.h"
#include "op_vector.h"

#define MR 6
#define NR 16
#define MC 96
#define KC 256
#define NC 512

typedef struct buffers {
    _Alignas(64) float a[MC * KC];
    float b[KC * NC];
} buffers;

static pthread_key_t buffers_key;
static pthread_once_t buffers_once = PTHREAD_ONCE_INIT;

static void make_key(void) {
    pthread_key_create(&buffers_key, free);
}

/* Kept until the thread ends: a fresh half megabyte for every product would cost more than small products
 * do. */
static buffers *thread_buffers(void) {
    pthread_once(&buffers_once, make_key);
    buffers *mine = pthread_getspecific(buffers_key);
    if (mine == NULL) {
        mine = aligned_alloc(64, sizeof *mine);
        if (mine != NULL) pthread_setspecific(buffers_key, mine);
    }
    return mine;
}

/* tile[MR][NR] = a panel (k x MR) times b panel (k x NR). */
typedef void (*tile_kernel)(size_t k, const float *a, const float *b, float *tile);

static void tile_portable(size_t k, const float *a, const float *b, float *tile) {
    for (int half = 0; half < NR; half += 8) {
        f32x4 acc[MR][2] = {{{0}}};
        for (size_t p = 0; p < k; p++) {
            const f32x4 b0 = mock_get(b + p * NR + half);
            const f32x4 b1 = mock_get(b + p * NR + half + 4);
#pragma GCC unroll 6
            for (int i = 0; i < MR; i++) {
                acc[i][0] += a[p * MR + (size_t)i] * b0;
                acc[i][1] += a[p * MR + (size_t)i] * b1;
            }
        }
        for (int i = 0; i < MR; i++) {
            mock_put(tile + i * NR + half, acc[i][0]);
            mock_put(tile + i * NR + half + 4, acc[i][1]);
        }
    }
}

#if defined(__x86_64__) && !defined(MOCK_PORTABLE)
#include <immintrin.h>

__attribute__((target("avx2,fma")))
static void tile_avx2(size_t k, const float *a, const float *b, float *tile) {
    __m256 acc[MR][2];
#pragma GCC unroll 6
    for (int i = 0; i < MR; i++) acc[i][0] = acc[i][1] = _mm256_setzero_ps();
    for (size_t p = 0; p < k; p++) {
        const __m256 b0 = _mm256_load_ps(b);
        const __m256 b1 = _mm256_load_ps(b + 8);
#pragma GCC unroll 6
        for (int i = 0; i < MR; i++) {
            const __m256 x = _mm256_broadcast_ss(a + i);
            acc[i][0] = _mm256_fmadd_ps(x, b0, acc[i][0]);
            acc[i][1] = _mm256_fmadd_ps(x, b1, acc[i][1]);
        }
        a += MR;
        b += NR;
    }
#pragma GCC unroll 6
    for (int i = 0; i < MR; i++) {
        _mm256_store_ps(tile + i * NR, acc[i][0]);
        _mm256_store_ps(tile + i * NR + 8, acc[i][1]);
    }
}

static tile_kernel best_kernel(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? tile_avx2 : tile_portable;
}
#else
static tile_kernel best_kernel(void) {
    return tile_portable;
}
#endif

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static const char *at(mock_matrix x, size_t row, size_t column) {
    const int64_t size = (int64_t)mock_dtype_size(x.dtype);
    return (const char *)x.data + ((int64_t)row * x.stride + (int64_t)column) * size;
}

/* Panels of MR rows, column by column; rows beyond the matrix are zero. */
static void pack_a(mock_matrix a, size_t row, size_t column, size_t rows, size_t columns, float *to) {
    float buffer[KC];
    for (size_t i = 0; i < rows; i++) {
        float *panel = to + i / MR * MR * columns + i % MR;
        const float *from = mock_load_f32(a.dtype, at(a, row + i, column), 1, columns, buffer);
        for (size_t p = 0; p < columns; p++) panel[p * MR] = from[p];
    }
    for (size_t i = rows; i % MR != 0; i++) {
        float *panel = to + i / MR * MR * columns + i % MR;
        for (size_t p = 0; p < columns; p++) panel[p * MR] = 0;
    }
}

/* Panels of NR columns, row by row; columns beyond the matrix are zero. */
static void pack_b(mock_matrix b, size_t row, size_t column, size_t rows, size_t columns, float *to) {
    float buffer[NC];
    for (size_t p = 0; p < rows; p++) {
        const float *from = mock_load_f32(b.dtype, at(b, row + p, column), 1, columns, buffer);
        size_t j = 0;
        for (; j + NR <= columns; j += NR) memcpy(to + j * rows + p * NR, from + j, NR * sizeof(float));
        if (j == columns) continue;
        float *last = to + j * rows + p * NR;
        memset(last, 0, NR * sizeof *last);
        memcpy(last, from + j, (columns - j) * sizeof *last);
    }
}

static void put_tile(const float *tile, float *c, int64_t stride, size_t rows, size_t columns, bool add) {
    for (size_t i = 0; i < rows; i++, tile += NR, c += stride) {
        if (columns == NR && add) {
            for (size_t j = 0; j < NR; j += 4) mock_put(c + j, mock_get(c + j) + mock_get(tile + j));
        } else if (add) {
            for (size_t j = 0; j < columns; j++) c[j] += tile[j];
        } else {
            memcpy(c, tile, columns * sizeof *c);
        }
    }
}

bool mock_gemm(size_t m, size_t n, size_t k, mock_matrix a, mock_matrix b, float *c, int64_t c_stride) {
    _Alignas(64) float tile[MR * NR];
    const tile_kernel kernel = best_kernel();
    buffers *pack = thread_buffers();
    if (pack == NULL) return false;
    if (k == 0) {
        for (size_t i = 0; i < m; i++) memset(c + (int64_t)i * c_stride, 0, n * sizeof *c);
    }
    for (size_t jc = 0; jc < n; jc += NC) {
        const size_t nc = least(NC, n - jc);
        for (size_t pc = 0; pc < k; pc += KC) {
            const size_t kc = least(KC, k - pc);
            pack_b(b, pc, jc, kc, nc, pack->b);
            for (size_t ic = 0; ic < m; ic += MC) {
                const size_t mc = least(MC, m - ic);
                pack_a(a, ic, pc, mc, kc, pack->a);
                for (size_t jr = 0; jr < nc; jr += NR) {
                    for (size_t ir = 0; ir < mc; ir += MR) {
                        float *to = c + (int64_t)(ic + ir) * c_stride + (int64_t)(jc + jr);
                        kernel(kc, pack->a + ir * kc, pack->b + jr * kc, tile);
                        put_tile(tile, to, c_stride, least(MR, mc - ir), least(NR, nc - jr), pc != 0);
                    }
                }
            }
        }
    }
    return true;
}
