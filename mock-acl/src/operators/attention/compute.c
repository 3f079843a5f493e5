/* The computation of attention.
 *
 * Own choice where the guide says nothing: products and softmax in f32, the sum of a row in f64, rounded
 * once when stored; a row that sees nothing gives 0 (guide: aclnn, with the rows that are not valid) and a
 * logarithm of minus infinity; rows beyond a sequence's length likewise. What a row does not see has no
 * effect, NaN neither; what it sees does as in softmax and a sum of products: NaN and infinities propagate.
 * The result does not depend on layouts or threads. Workspace: the keys transposed and the values of one
 * head, and a block of rows with their scores. */
#include "objects/objects.h"
#include "operators/attention/compute.h"
#include "operators/operators.h"
#include "operators/products/products.h"

#include <math.h>
#include <string.h>


#define ROWS 64

typedef struct layout {
    const char *name;
    int8_t rank, batch, position, head, result;
} layout;

enum { BSH, SBH, BSND, BNSD, BNSD_BSND, LAYOUTS };
static const layout layouts[LAYOUTS] = {
    {"BSH", 3, 0, 1, -1, BSH},
    {"SBH", 3, 1, 0, -1, SBH},
    {"BSND", 4, 0, 1, 2, BSND},
    {"BNSD", 4, 0, 2, 1, BNSD},
    {"BNSD_BSND", 4, 0, 2, 1, BSND},
};

int mock_layout_named(const char *name) {
    for (int i = 0; i < LAYOUTS; i++)
        if (strcmp(layouts[i].name, name) == 0) return i;
    return -1;
}

const char *mock_layout_name(int layout) { return layouts[layout].name; }

int mock_layout_result(int layout) { return layouts[layout].result; }

bool mock_heads_of(int named, const mock_view *v, int64_t heads, mock_heads *out) {
    const layout *l = &layouts[named];
    if (v->rank != l->rank) return false;
    const int last = v->rank - 1;
    const int64_t width = v->dims[last];
    if (l->head < 0 ? width % heads != 0 : v->dims[l->head] != heads) return false;
    const int64_t dim = l->head < 0 ? width / heads : width;
    const int64_t step = l->head < 0 ? dim * v->strides[last] : v->strides[l->head];
    *out = (mock_heads){
        {v->dims[l->batch], heads, v->dims[l->position], dim},
        {v->strides[l->batch], step, v->strides[l->position], v->strides[last]},
    };
    return true;
}

int64_t mock_layout_heads(int named, const mock_view *v, int64_t dim) {
    const layout *l = &layouts[named];
    if (v->rank != l->rank || dim == 0) return 0;
    return l->head < 0 ? v->dims[v->rank - 1] / dim : v->dims[l->head];
}

static void mock_spread_strides(const mock_view *v, bool row_less, int64_t *strides) {
    /* From the last dimension on; three have no heads, and two no batch, or no rows instead. */
    static const int8_t places[5][4] = {{0}, {0}, {3, 2}, {3, 2, 0}, {3, 2, 1, 0}};
    for (int i = 0; i < 4; i++) strides[i] = 0;
    for (int i = 0; i < v->rank; i++) {
        const int d = v->rank - 1 - i, place = row_less && i == 1 ? 0 : places[v->rank][i];
        strides[place] = v->dims[d] == 1 ? 0 : v->strides[d];
    }
}

static uint64_t part_bytes(int64_t rows, int64_t columns) {
    return mock_workspace_bytes((uint64_t)rows * (uint64_t)columns, sizeof(float));
}

uint64_t mock_attention_workspace(int64_t kv, int64_t dim, int64_t v_dim) {
    return part_bytes(dim, kv) + part_bytes(kv, v_dim) + part_bytes(ROWS, kv) + part_bytes(ROWS, dim) +
           part_bytes(ROWS, v_dim);
}

/* One head of key and value, shared by the query heads of its group. */
typedef struct job {
    const mock_plan *plan;
    const mock_attention *a;
    mock_heads query, out;
    const char *query_first;
    char *out_first;
    const char *mask, *shift;
    int64_t mask_strides[4], shift_strides[4];
    char *lse, *most, *sum;
    float *keys, *values, *scores, *rows, *results;
    int64_t batch, kv_head, group;
    int64_t q_len, kv_len, dim, v_dim;
    bool finite; /* all values are */
} job;

static const char *element(
    const mock_heads *h, int32_t dtype, const char *first, int64_t b, int64_t n, int64_t s) {
    const int64_t at = b * h->strides[0] + n * h->strides[1] + s * h->strides[2];
    return first + at * (int64_t)mock_dtype_size(dtype);
}

static void load_row(const mock_heads *h, int32_t dtype, const char *from, float *to) {
    const float *x = mock_load_f32(dtype, from, h->strides[3], (size_t)h->dims[3], to);
    if (x != to) memcpy(to, x, (size_t)h->dims[3] * sizeof *to);
}

static void load_keys(job *j, const mock_view *key, const mock_heads *h, const char *first, int64_t b) {
    for (int64_t at = 0; at < j->kv_len; at += ROWS) {
        const int64_t n = j->kv_len - at < ROWS ? j->kv_len - at : ROWS;
        for (int64_t r = 0; r < n; r++) {
            const char *from = element(h, key->dtype, first, b, j->kv_head, at + r);
            load_row(h, key->dtype, from, j->rows + r * j->dim);
        }
        for (int64_t d = 0; d < j->dim; d++)
            for (int64_t r = 0; r < n; r++) j->keys[d * j->kv_len + at + r] = j->rows[r * j->dim + d];
    }
}

static void load_values(job *j, const mock_view *value, const mock_heads *h, const char *first, int64_t b) {
    float rest = 0;
    for (int64_t s = 0; s < j->kv_len; s++) {
        float *to = j->values + s * j->v_dim;
        load_row(h, value->dtype, element(h, value->dtype, first, b, j->kv_head, s), to);
        for (int64_t d = 0; d < j->v_dim; d++) rest += to[d] * 0.0f;
    }
    j->finite = rest == 0;
}

/* One row of a block: head `head` of the group, row `i` of the query; it sees low to high - 1. */
typedef struct row {
    int64_t head, i, low, high;
    float most;
    double sum;
} row;

static row row_at(const job *j, int64_t number) {
    const mock_attention *a = j->a;
    row r = {number / j->q_len + j->kv_head * j->group, number % j->q_len, 0, j->kv_len, 0, 0};
    if (!a->band) return r;
    const int64_t own = r.i + (a->from_end ? j->kv_len - j->q_len : 0);
    if (own - a->before > r.low) r.low = own - a->before;
    if (own + a->after + 1 < r.high) r.high = own + a->after + 1;
    return r;
}

static const char *spread_row(
    const job *j, const row *r, const char *first, const int64_t *strides, size_t size) {
    return first + (j->batch * strides[0] + r->head * strides[1] + r->i * strides[2]) * (int64_t)size;
}

static bool masked(const job *j, const char *mask, int64_t position) {
    return mask != NULL && mask[position * j->mask_strides[3]] != 0;
}

static void scale_row(const job *j, const row *r, float *s) {
    const float scale = j->a->scale;
    float buffer[ROWS];
    if (j->shift == NULL) {
        for (int64_t k = r->low; k < r->high; k++) s[k] *= scale;
        return;
    }
    const mock_view *v = &j->plan->views[j->a->shift];
    const size_t size = mock_dtype_size(v->dtype);
    const char *from = spread_row(j, r, j->shift, j->shift_strides, size);
    for (int64_t at = r->low; at < r->high; at += ROWS) {
        const int64_t n = r->high - at < ROWS ? r->high - at : ROWS, step = j->shift_strides[3];
        const float *x = mock_load_f32(v->dtype, from + at * step * (int64_t)size, step, (size_t)n, buffer);
        for (int64_t k = 0; k < n; k++)
            s[at + k] = j->a->shift_first ? scale * (s[at + k] + x[k]) : scale * s[at + k] + x[k];
    }
}

/* Turns scores into exp(score - most); what is not seen becomes 0. The sum is 0 when nothing is. */
static void soften(const job *j, row *r, float *s, int64_t columns) {
    const char *mask = j->mask == NULL ? NULL : spread_row(j, r, j->mask, j->mask_strides, 1);
    int64_t seen = 0;
    r->most = -INFINITY;
    if (r->low < r->high) scale_row(j, r, s);
    for (int64_t k = r->low; k < r->high; k++) {
        if (masked(j, mask, k)) {
            s[k] = -INFINITY;
            continue;
        }
        seen++;
        if (s[k] > r->most || s[k] != s[k]) r->most = s[k];
        if (r->most != r->most) break;
    }
    const float most = r->most;
    for (int64_t k = 0; k < columns; k++)
        if (seen == 0 || k < r->low || k >= r->high) s[k] = 0;
    if (seen == 0) return;
    for (int64_t k = r->low; k < r->high; k += 4) {
        const size_t n = r->high - k < 4 ? (size_t)(r->high - k) : 4;
        f32x4 x = mock_splat(-INFINITY);
        memcpy(&x, s + k, n * sizeof *s);
        x = mock_exp4(x - most);
        memcpy(s + k, &x, n * sizeof *s);
        for (size_t i = 0; i < n; i++) r->sum += (double)x[i];
    }
}

/* The products without what a row does not see: 0 times infinity would be NaN. */
static void add_seen(const job *j, const row *r, const float *s, float *to) {
    const char *mask = j->mask == NULL ? NULL : spread_row(j, r, j->mask, j->mask_strides, 1);
    memset(to, 0, (size_t)j->v_dim * sizeof *to);
    for (int64_t k = r->low; k < r->high; k++) {
        if (masked(j, mask, k)) continue;
        for (int64_t d = 0; d < j->v_dim; d++) to[d] += s[k] * j->values[k * j->v_dim + d];
    }
}

/* A number for the row, as often as the last dimension has room. */
static void put_number(const job *j, const row *r, int operand, char *first, float number) {
    if (operand < 0) return;
    const mock_view *v = &j->plan->views[operand];
    const int64_t at = j->batch * v->strides[0] + r->head * v->strides[1] + r->i * v->strides[2];
    for (int64_t k = 0; k < v->dims[3]; k++)
        memcpy(first + (at + k * v->strides[3]) * (int64_t)sizeof number, &number, sizeof number);
}

static void put_row(const job *j, const row *r, float *result) {
    const mock_view *out = &j->plan->views[j->a->out];
    const bool nothing = r->sum == 0 && r->most == -INFINITY;
    const float factor = nothing ? 0 : (float)(1 / r->sum);
    for (int64_t d = 0; d < j->v_dim; d++) result[d] = nothing ? 0 : result[d] * factor;
    const char *to = element(&j->out, out->dtype, j->out_first, j->batch, r->head, r->i);
    mock_store(MOCK_F32, out->dtype, (void *)(uintptr_t)to, j->out.strides[3], (size_t)j->v_dim, result);
    put_number(j, r, j->a->lse, j->lse, nothing ? -INFINITY : r->most + (float)log(r->sum));
    put_number(j, r, j->a->most, j->most, r->most);
    put_number(j, r, j->a->sum, j->sum, (float)r->sum);
}

static bool run_block(job *j, int64_t first, int64_t count) {
    row rows[ROWS];
    int64_t columns = 0;
    const mock_view *query = &j->plan->views[MOCK_QUERY];
    for (int64_t i = 0; i < count; i++) {
        row *r = &rows[i];
        *r = row_at(j, first + i);
        if (r->high > columns) columns = r->high;
        const char *from = element(&j->query, query->dtype, j->query_first, j->batch, r->head, r->i);
        load_row(&j->query, query->dtype, from, j->rows + i * j->dim);
    }
    const mock_matrix q = {j->rows, j->dim, ACL_FLOAT}, k = {j->keys, j->kv_len, ACL_FLOAT};
    if (!mock_gemm((size_t)count, (size_t)columns, (size_t)j->dim, q, k, j->scores, columns)) return false;
    for (int64_t i = 0; i < count; i++) soften(j, &rows[i], j->scores + i * columns, columns);
    const mock_matrix p = {j->scores, columns, ACL_FLOAT}, v = {j->values, j->v_dim, ACL_FLOAT};
    if (j->finite && !mock_gemm((size_t)count, (size_t)j->v_dim, (size_t)columns, p, v, j->results, j->v_dim))
        return false;
    for (int64_t i = 0; i < count; i++) {
        float *result = j->results + i * j->v_dim;
        if (!j->finite) add_seen(j, &rows[i], j->scores + i * columns, result);
        put_row(j, &rows[i], result);
    }
    return true;
}

/* Rows beyond the length of their sequence. */
static void put_rest(job *j) {
    for (int64_t n = 0; n < j->group; n++) {
        for (int64_t i = j->q_len; i < j->query.dims[2]; i++) {
            const row r = {n + j->kv_head * j->group, i, 0, 0, -INFINITY, 0};
            put_row(j, &r, j->results);
        }
    }
}

/* Keys and values of one sequence: a member of the lists, or a part of the tensors. */
static bool run_batch(job *j) {
    const mock_attention *a = j->a;
    const mock_view *key = &j->plan->views[MOCK_KEY], *value = &j->plan->views[MOCK_VALUE];
    mock_heads keys, values;
    int64_t b = j->batch;
    if (a->listed) {
        const int64_t member = key->span == 1 ? 0 : b;
        if (key->span != 1) b = 0;
        key = mock_members(j->plan, key) + member;
        value = mock_members(j->plan, value) + member;
    }
    const char *key_first = mock_view_pointer(key), *value_first = mock_view_pointer(value);
    if (key_first == NULL || value_first == NULL) return false;
    mock_heads_of(a->layout, key, a->kv_heads, &keys);
    mock_heads_of(a->layout, value, a->kv_heads, &values);
    for (j->kv_head = 0; j->kv_head < a->kv_heads; j->kv_head++) {
        load_keys(j, key, &keys, key_first, b);
        load_values(j, value, &values, value_first, b);
        const int64_t rows = j->group * j->q_len;
        for (int64_t at = 0; at < rows; at += ROWS)
            if (!run_block(j, at, rows - at < ROWS ? rows - at : ROWS)) return false;
        put_rest(j);
    }
    return true;
}

/* NULL is no operand here; a bad address makes `ok` false. */
static void *pointer_of(const mock_plan *plan, int operand, bool *ok) {
    if (operand < 0) return NULL;
    void *at = mock_plan_pointer(plan, (unsigned)operand);
    if (at == NULL) *ok = false;
    return at;
}

static bool open_job(job *j, const mock_plan *plan) {
    const mock_attention *a = j->a;
    bool ok = true;
    j->query_first = pointer_of(plan, MOCK_QUERY, &ok);
    j->out_first = pointer_of(plan, a->out, &ok);
    j->mask = pointer_of(plan, a->mask, &ok);
    j->shift = pointer_of(plan, a->shift, &ok);
    j->lse = pointer_of(plan, a->lse, &ok);
    j->most = pointer_of(plan, a->most, &ok);
    j->sum = pointer_of(plan, a->sum, &ok);
    mock_heads_of(a->layout, &plan->views[MOCK_QUERY], a->heads, &j->query);
    mock_heads_of(a->out_layout, &plan->views[a->out], a->heads, &j->out);
    const bool row_less = a->mask >= 0 && plan->views[a->mask].rank == 2 && j->query.dims[2] == 1;
    if (a->mask >= 0) mock_spread_strides(&plan->views[a->mask], row_less, j->mask_strides);
    if (a->shift >= 0) mock_spread_strides(&plan->views[a->shift], false, j->shift_strides);
    j->group = a->heads / a->kv_heads;
    j->dim = j->query.dims[3];
    j->v_dim = j->out.dims[3];
    char *work = mock_plan_workspace(plan);
    if (!ok || work == NULL) return false;
    j->keys = (float *)(void *)work;
    j->values = (float *)(void *)(work += part_bytes(j->dim, a->positions));
    j->scores = (float *)(void *)(work += part_bytes(a->positions, j->v_dim));
    j->rows = (float *)(void *)(work += part_bytes(ROWS, a->positions));
    j->results = (float *)(void *)(work + part_bytes(ROWS, j->dim));
    return true;
}

aclError mock_attention_run(void *arg) {
    mock_plan *plan = arg;
    job j = {.plan = plan, .a = MOCK_PARAMS(plan, mock_attention)};
    const int64_t *lengths = plan->extra;
    if (!open_job(&j, plan)) return MOCK_DEVICE_FAULT;
    if (plan->views[j.a->out].span == 0) return 0;
    for (j.batch = 0; j.batch < j.query.dims[0]; j.batch++) {
        j.q_len = lengths[2 * j.batch];
        j.kv_len = lengths[2 * j.batch + 1];
        if (!run_batch(&j)) return MOCK_DEVICE_FAULT;
    }
    return 0;
}
