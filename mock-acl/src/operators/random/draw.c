#include "operators/random/draw.h"

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

mock_source mock_source_numbers(int64_t seed, int64_t offset) {
    return (mock_source){(uint64_t)seed, (uint64_t)offset, -1, -1};
}

static int add_number(mock_build *b, const aclTensor *tensor, const char *param) {
    const mock_view *v = mock_build_tensor(b, tensor, param, MOCK_IN);
    if (b->status != 0) return -1;
    if (v->dtype != ACL_INT64)
        mock_build_fail(b, "%s has data type %s, expected INT64", param, mock_dtype_name(v->dtype));
    else if (mock_element_count(v) != 1 || v->rank > 1)
        mock_build_fail(b, "%s has %lld elements in %d dimensions, expected one", param,
            (long long)mock_element_count(v), v->rank);
    return b->status != 0 ? -1 : b->plan->count - 1;
}

mock_source mock_source_tensors(
    mock_build *b, const aclTensor *seed, const aclTensor *offset, uint64_t more) {
    const int seed_at = add_number(b, seed, "seedTensor");
    return (mock_source){0, more, seed_at, add_number(b, offset, "offsetTensor")};
}

static bool read_number(const mock_plan *plan, int32_t at, uint64_t *value) {
    if (at < 0) return true;
    const char *p = mock_plan_pointer(plan, (unsigned)at);
    if (p != NULL) *value += (uint64_t)mock_read_whole(plan->views[at].dtype, p);
    return p != NULL;
}

bool mock_source_read(const mock_plan *plan, mock_source *s) {
    return read_number(plan, s->seed_at, &s->seed) && read_number(plan, s->offset_at, &s->offset);
}

void mock_draw_32(const mock_source *s, uint64_t first, size_t n, uint32_t *words) {
    uint32_t block[4];
    for (size_t k = 0; k < n; k++) {
        const uint64_t i = first + k;
        if (k == 0 || i % 4 == 0) mock_draw_block(s, i / 4, block);
        words[k] = block[i % 4];
    }
}

static uint64_t long_word(const uint32_t block[4], uint64_t i) {
    return block[2 * (i % 2)] | (uint64_t)block[2 * (i % 2) + 1] << 32;
}

void mock_draw_64(const mock_source *s, uint64_t first, size_t n, uint64_t *words) {
    uint32_t block[4];
    for (size_t k = 0; k < n; k++) {
        const uint64_t i = first + k;
        if (k == 0 || i % 2 == 0) mock_draw_block(s, i / 2, block);
        words[k] = long_word(block, i);
    }
}

uint64_t mock_draw_one(const mock_source *s, uint64_t index) {
    uint64_t word = 0;
    mock_draw_64(s, index, 1, &word);
    return word;
}

uint64_t mock_draw_below(uint64_t drawn, uint64_t count) {
    const uint64_t a0 = (uint32_t)drawn, a1 = drawn >> 32, b0 = (uint32_t)count, b1 = count >> 32;
    const uint64_t x = a0 * b1, y = a1 * b0;
    const uint64_t middle = (a0 * b0 >> 32) + (uint32_t)x + (uint32_t)y;
    return a1 * b1 + (x >> 32) + (y >> 32) + (middle >> 32);
}

/* The shape of `v` in that of `out`, which it broadcasts to. */
static mock_view spread_over(const mock_view *v, const mock_view *out) {
    mock_view spread = *v;
    spread.rank = out->rank;
    for (int d = 0; d < out->rank; d++) {
        const int from = d - (out->rank - v->rank);
        spread.dims[d] = out->dims[d];
        spread.strides[d] = from < 0 || v->dims[from] == 1 ? 0 : v->strides[from];
    }
    return spread;
}

/* Rows of operands: the whole tensors where all are dense, else the last dimension. */
typedef struct rows {
    mock_view views[1 + MOCK_CHUNK_INPUTS];
    char *first[1 + MOCK_CHUNK_INPUTS];
    int count;
    int64_t length;
} rows;

static void flatten(rows *r) {
    for (int k = 0; k < r->count; k++)
        if (!mock_is_contiguous(&r->views[k])) return;
    r->length = mock_element_count(&r->views[0]);
    for (int k = 0; k < r->count; k++) {
        r->views[k].rank = 1;
        r->views[k].dims[0] = r->length;
        r->views[k].strides[0] = 1;
    }
}

static bool open_rows(const mock_plan *plan, int out, const int *inputs, int count, rows *r) {
    r->count = 1 + count;
    for (int k = 0; k < r->count; k++) {
        const int at = k == 0 ? out : inputs[k - 1];
        r->views[k] = spread_over(&plan->views[at], &plan->views[out]);
        r->first[k] = mock_plan_pointer(plan, (unsigned)at);
        if (r->first[k] == NULL) return false;
        if (r->views[k].rank == 0) {
            r->views[k].rank = 1;
            r->views[k].dims[0] = 1;
            r->views[k].strides[0] = 1;
        }
    }
    r->length = r->views[0].dims[r->views[0].rank - 1];
    flatten(r);
    return true;
}

static int64_t step_of(const mock_view *v) {
    return v->strides[v->rank - 1];
}

static void load_inputs(const rows *r, const int64_t *i, int64_t at, mock_chunk *c) {
    for (int k = 1; k < r->count; k++) {
        const mock_view *v = &r->views[k];
        const char *from = mock_element_at(v, r->first[k], i);
        from += at * step_of(v) * (int64_t)mock_dtype_size(v->dtype);
        const double *got = mock_load(MOCK_F64, v->dtype, from, step_of(v), c->n, c->in[k - 1]);
        if (got != c->in[k - 1]) memcpy(c->in[k - 1], got, c->n * sizeof *got);
    }
}

aclError mock_fill_chunks(const mock_plan *plan, int out, mock_class class, const int *inputs, int count,
    mock_chunk_maker *make, const void *params) {
    rows r;
    mock_chunk c = {.first = 0};
    int64_t i[MOCK_MAX_RANK] = {0};
    if (mock_element_count(&plan->views[out]) == 0) return 0;
    if (!open_rows(plan, out, inputs, count, &r)) return MOCK_DEVICE_FAULT;
    const mock_view *to = &r.views[0];
    do {
        char *row = mock_element_at(to, r.first[0], i);
        for (int64_t at = 0; at < r.length; at += (int64_t)c.n) {
            c.n = r.length - at < MOCK_CHUNK ? (size_t)(r.length - at) : MOCK_CHUNK;
            load_inputs(&r, i, at, &c);
            if (!make(params, &c)) return MOCK_DEVICE_FAULT;
            char *target = row + at * step_of(to) * (int64_t)mock_dtype_size(to->dtype);
            mock_store(class, to->dtype, target, step_of(to), c.n,
                class == MOCK_I64 ? (const void *)c.whole : (const void *)c.real);
            c.first += c.n;
        }
    } while (mock_next_but(to, to->rank - 1, i));
    return 0;
}

void mock_keep_below(int32_t dtype, double *values, size_t n, double start, double end) {
    unsigned char stored[MOCK_CHUNK * sizeof(double)];
    double loaded[MOCK_CHUNK];
    mock_store(MOCK_F64, dtype, stored, 1, n, values);
    const double *got = mock_load(MOCK_F64, dtype, stored, 1, n, loaded);
    for (size_t k = 0; k < n; k++)
        if (got[k] >= end) values[k] = start;
}
