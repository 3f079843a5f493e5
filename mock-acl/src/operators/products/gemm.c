/* A packed, cache-blocked product. Tiles stay in registers over a block of k; the blocks of k are added up
 * in order, so the result does not depend on anything but the operands and the instructions: not on layout,
 * threads, addresses or how many rows and columns there are beside (own choice). Instructions with FMA
 * round product and sum of a step once, others twice, so that two kinds may differ in the last bits. */
#include "objects/objects.h"
#include "operators/products/gemm.h"
#include "operators/products/gemm_kernel.h"
#include "operators/products/products.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_base_rt.h"

/* Multiples of the rows and columns of every set's tile. */
#define MC 96
#define KC 256
#define NC 960
/* With so few rows packing what they are multiplied with would cost more than the product. */
#define FEW 4

typedef struct buffers {
    _Alignas(64) float a[MC * KC];
    float b[KC * NC];
} buffers;

static pthread_key_t buffers_key;
static pthread_once_t buffers_once = PTHREAD_ONCE_INIT;

static void make_key(void) {
    pthread_key_create(&buffers_key, free);
}

/* Kept until the thread ends: a fresh megabyte for every product would cost more than small products
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

static const mock_gemm_kernels *kernels_used(void) {
    switch (mock_isa_used()) {
#ifdef MOCK_ISA_X86
        case MOCK_ISA_AVX2: return &mock_gemm_avx2;
        case MOCK_ISA_AVX512: return &mock_gemm_avx512;
#endif
#ifdef MOCK_ISA_ARM
        case MOCK_ISA_NEON: return &mock_gemm_neon;
#endif
        default: return &mock_gemm_baseline;
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The product as it is computed. */
typedef struct product {
    size_t m, n, k;
    mock_strided a, b;
    float *c;
    int64_t row, column;
    const mock_gemm_kernels *kernels;
    buffers *pack;
} product;

static const char *at(const mock_strided *x, size_t row, size_t column) {
    const int64_t size = (int64_t)mock_dtype_size(x->dtype);
    return (const char *)x->data + ((int64_t)row * x->row + (int64_t)column * x->column) * size;
}

static mock_strided turned(mock_strided x) {
    return (mock_strided){x.data, x.column, x.row, x.dtype};
}

/* Panels of rows that lie beside each other in memory: a column of the matrix is a row of the panels. */
static void pack_along(
    const mock_strided *x, size_t row, size_t column, size_t rows, size_t columns, size_t width, float *to) {
    float buffer[NC];
    for (size_t p = 0; p < columns; p++) {
        const float *from = mock_load_f32(x->dtype, at(x, row, column + p), 1, rows, buffer);
        size_t i = 0;
        for (; i + width <= rows; i += width) {
            float *panel = to + i * columns + p * width;
            for (size_t j = 0; j < width; j += 4) mock_put(panel + j, mock_get(from + i + j));
        }
        if (i == rows) continue;
        float *last = to + i * columns + p * width;
        memset(last, 0, width * sizeof *last);
        memcpy(last, from + i, (rows - i) * sizeof *last);
    }
}

/* Four rows become four columns of a panel. */
static void turn_four(const float *const *rows, size_t columns, size_t width, float *to) {
    size_t p = 0;
    for (; p + 4 <= columns; p += 4, to += 4 * width) {
        const f32x4 a = mock_get(rows[0] + p), b = mock_get(rows[1] + p);
        const f32x4 c = mock_get(rows[2] + p), d = mock_get(rows[3] + p);
        const f32x4 ab = mock_mix_low(a, b), cd = mock_mix_low(c, d);
        const f32x4 ab2 = mock_mix_high(a, b), cd2 = mock_mix_high(c, d);
        mock_put(to, mock_pair_low(ab, cd));
        mock_put(to + width, mock_pair_high(ab, cd));
        mock_put(to + 2 * width, mock_pair_low(ab2, cd2));
        mock_put(to + 3 * width, mock_pair_high(ab2, cd2));
    }
    for (; p < columns; p++, to += width) {
        for (size_t i = 0; i < 4; i++) to[i] = rows[i][p];
    }
}

/* The same when each row lies apart; four at a time. */
static void pack_across(
    const mock_strided *x, size_t row, size_t column, size_t rows, size_t columns, size_t width, float *to) {
    static const float zeros[KC];
    float buffer[4][KC];
    const size_t whole = (rows + width - 1) / width * width;
    for (size_t i = 0; i < whole; i += 4) {
        const float *from[4];
        for (size_t j = 0; j < 4; j++) {
            from[j] = i + j >= rows
                ? zeros
                : mock_load_f32(x->dtype, at(x, row + i + j, column), x->column, columns, buffer[j]);
        }
        turn_four(from, columns, width, to + i / width * width * columns + i % width);
    }
}

/* Panels of `width` rows, column by column; rows beyond the matrix are zero. */
static void pack(
    const mock_strided *x, size_t row, size_t column, size_t rows, size_t columns, size_t width, float *to) {
    if (x->row == 1) pack_along(x, row, column, rows, columns, width, to);
    else pack_across(x, row, column, rows, columns, width, to);
}

static void put_row(float *c, int64_t step, const float *sums, size_t n, bool add) {
    size_t j = 0;
    if (step != 1) {
        for (; j < n; j++) c[(int64_t)j * step] = add ? c[(int64_t)j * step] + sums[j] : sums[j];
    } else if (add) {
        for (; j + 4 <= n; j += 4) mock_put(c + j, mock_get(c + j) + mock_get(sums + j));
        for (; j < n; j++) c[j] += sums[j];
    } else {
        memcpy(c, sums, n * sizeof *c);
    }
}

/* One block of packed rows times one of packed columns. */
static void run_block(const product *p, size_t row, size_t column, size_t m, size_t n, size_t k, bool add) {
    _Alignas(64) float tile[MOCK_GEMM_MR * MOCK_GEMM_NR];
    const size_t mr = p->kernels->mr, nr = p->kernels->nr;
    for (size_t j = 0; j < n; j += nr) {
        for (size_t i = 0; i < m; i += mr) {
            const size_t rows = least(mr, m - i), columns = least(nr, n - j);
            p->kernels->tile(rows, k, p->pack->a + i * k, p->pack->b + j * k, tile);
            float *to = p->c + (int64_t)(row + i) * p->row + (int64_t)(column + j) * p->column;
            for (size_t x = 0; x < rows; x++, to += p->row) {
                put_row(to, p->column, tile + x * nr, columns, add);
            }
        }
    }
}

static void run_packed(const product *p) {
    const mock_strided columns = turned(p->b);
    /* Of few rows packed columns stay in the first cache. */
    const size_t width = p->m <= FEW ? p->kernels->nr : NC;
    for (size_t jc = 0; jc < p->n; jc += width) {
        const size_t nc = least(width, p->n - jc);
        for (size_t pc = 0; pc < p->k; pc += KC) {
            const size_t kc = least(KC, p->k - pc);
            pack(&columns, jc, pc, nc, kc, p->kernels->nr, p->pack->b);
            for (size_t ic = 0; ic < p->m; ic += MC) {
                const size_t mc = least(MC, p->m - ic);
                pack(&p->a, ic, pc, mc, kc, p->kernels->mr, p->pack->a);
                run_block(p, ic, jc, mc, nc, kc, pc != 0);
            }
        }
    }
}

/* A few rows of sums over one block of k and some columns, from the rows of b where they lie. */
static void run_rows(const product *p, size_t column, size_t from, size_t n, size_t k) {
    float *sums = p->pack->b, *wide = sums + FEW * NC, *factors = p->pack->a;
    memset(sums, 0, p->m * NC * sizeof *sums);
    for (size_t i = 0; i < p->m; i++) {
        const float *row = mock_load_f32(p->a.dtype, at(&p->a, i, from), p->a.column, k, factors + i * KC);
        if (row != factors + i * KC) memcpy(factors + i * KC, row, k * sizeof *row);
    }
    /* A single column is loaded at once. */
    const float *only = n != 1 ? NULL : mock_load_f32(p->b.dtype, at(&p->b, from, column), p->b.row, k, wide);
    for (size_t x = 0; x < k; x += MOCK_GEMM_ROWS) {
        const size_t count = least(MOCK_GEMM_ROWS, k - x);
        const float *rows[MOCK_GEMM_ROWS];
        for (size_t y = 0; y < count; y++) {
            const void *row = at(&p->b, from + x + y, column);
            rows[y] = n == 1 ? only + x + y : mock_load_f32(p->b.dtype, row, 1, n, wide + y * NC);
        }
        for (size_t i = 0; i < p->m; i++) {
            p->kernels->rows(n, count, factors + i * KC + x, rows, sums + i * NC);
        }
    }
    for (size_t i = 0; i < p->m; i++) {
        float *to = p->c + (int64_t)i * p->row + (int64_t)column * p->column;
        put_row(to, p->column, sums + i * NC, n, from != 0);
    }
}

static void run_few(const product *p) {
    for (size_t jc = 0; jc < p->n; jc += NC) {
        for (size_t pc = 0; pc < p->k; pc += KC) {
            run_rows(p, jc, pc, least(NC, p->n - jc), least(KC, p->k - pc));
        }
    }
}

bool mock_gemm_strided(
    size_t m, size_t n, size_t k, mock_strided a, mock_strided b, float *c, int64_t c_row, int64_t c_column) {
    product p = {m, n, k, a, b, c, c_row, c_column, kernels_used(), thread_buffers()};
    if (p.pack == NULL) return false;
    /* Few columns are few rows of the turned product. */
    if (n <= FEW && m > n) {
        p = (product){n, m, k, turned(b), turned(a), c, c_column, c_row, p.kernels, p.pack};
    }
    if (k == 0) {
        for (size_t i = 0; i < m; i++) {
            for (size_t j = 0; j < n; j++) c[(int64_t)i * c_row + (int64_t)j * c_column] = 0;
        }
    }
    if (p.m <= FEW && (p.b.column == 1 || p.n == 1)) run_few(&p);
    else run_packed(&p);
    return true;
}

bool mock_gemm(size_t m, size_t n, size_t k, mock_matrix a, mock_matrix b, float *c, int64_t c_stride) {
    const mock_strided x = {a.data, a.stride, 1, a.dtype}, y = {b.data, b.stride, 1, b.dtype};
    return mock_gemm_strided(m, n, k, x, y, c, c_stride, 1);
}
