/* Mm, Matmul and BatchMatMul, and what every matrix product shares (guide: aclnn, page of each). f32, f16 and bf16
 * operands are widened to f32, products are accumulated in f32 in a fixed order (operators/products/gemm.c) and
 * rounded once to the type of out (own choice). Where f64 and integers are allowed they are computed as such,
 * integers in 64 bits of which the low ones are stored (own choice). cubeMathType is checked, 0 to 3, and has no
 * effect: f32 is never computed in less (own choice).
 *
 * Workspace: a result that is not f32, or is blended with self, is accumulated there in f32. An out that shares
 * memory with a factor is met on the device: 507015 (own choice: a card gives wrong numbers). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/gemm.h"
#include "operators/products/matmul.h"
#include "operators/products/products.h"

#include <string.h>


#define CHUNK 512
#define MAX_RANK (MOCK_MAX_BATCH_RANK + 2) /* guide: aclnn, aclnnMatmul: 1 to 6 dimensions */

/* One operand as a stack of matrices: strides in elements, batch strides 0 where it is broadcast. */
typedef struct stack {
    int64_t row;
    int64_t column;
    int64_t batch[MOCK_MAX_BATCH_RANK];
} stack;

typedef struct matmul {
    int64_t m, n, k;
    int64_t batch[MOCK_MAX_BATCH_RANK];
    stack a, b, out;
    double alpha, beta;
    uint8_t batch_rank;
    int8_t self, x, y, to, class;
    /* Whether the result has a dimension of rows, of columns; of a vector operand one is missing. */
    bool has_rows, has_columns, add_up, scratch;
} matmul;

/* Where one matrix of the product comes from and goes to. */
typedef struct operands {
    const char *a, *b, *self;
    char *out;
    float *workspace, *sum;
} operands;

bool mock_views_share(const mock_view *v, const void *x, const mock_view *w, const void *y) {
    const char *first = x, *second = y;
    if (v->span == 0 || w->span == 0) return false;
    if (first == second) return true;
    if (mock_element_count(v) != v->span || mock_element_count(w) != w->span) return false;
    return first < second + w->span * (int64_t)mock_dtype_size(w->dtype) &&
           second < first + v->span * (int64_t)mock_dtype_size(v->dtype);
}

/* The strides of self, broadcast to the result. */
static stack spread_self(const mock_view *self, const mock_view *out, const matmul *p) {
    int64_t strides[MOCK_MAX_RANK];
    stack s = {0, 0, {0}};
    const int lead = out->rank - self->rank;
    for (int i = 0; i < out->rank; i++) {
        strides[i] = i < lead || self->dims[i - lead] == 1 ? 0 : self->strides[i - lead];
    }
    const int batches = p->add_up ? 0 : p->batch_rank;
    for (int i = 0; i < batches; i++) s.batch[i] = strides[i];
    if (p->has_rows) s.row = strides[batches];
    if (p->has_columns) s.column = strides[out->rank - 1];
    return s;
}

/* out = alpha * product + beta * self: computed in f32, rounded once to the type of out. beta 0 does not
 * read self, so a NaN in it has no effect; alpha 0 does read the product (own choice). */
static void finish_rows(const mock_plan *plan, const matmul *p, const operands *o, const float *product) {
    const int32_t to = plan->views[p->to].dtype;
    const bool blend = p->self >= 0;
    const mock_view *self = &plan->views[blend ? p->self : p->to];
    const stack s = blend ? spread_self(self, &plan->views[p->to], p) : (stack){0, 0, {0}};
    const int64_t size = (int64_t)mock_dtype_size(self->dtype);
    float sum[CHUNK], addend[CHUNK];
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j += CHUNK) {
            const size_t n = (size_t)(p->n - j < CHUNK ? p->n - j : CHUNK);
            const float *row = product + i * p->n + j;
            if (blend) {
                for (size_t x = 0; x < n; x++) sum[x] = (float)p->alpha * row[x];
                row = sum;
            }
            if (blend && p->beta != 0) {
                const char *from = o->self + (i * s.row + j * s.column) * size;
                const float *more = mock_load_f32(self->dtype, from, s.column, n, addend);
                for (size_t x = 0; x < n; x++) sum[x] += (float)p->beta * more[x];
            }
            char *at = o->out + (i * p->out.row + j * p->out.column) * (int64_t)mock_dtype_size(to);
            mock_store(MOCK_F32, to, at, p->out.column, n, row);
        }
    }
}

typedef union wide_row {
    double d[CHUNK];
    int64_t i[CHUNK];
} wide_row;

/* sums = left * sums + right * row */
static void add_row(const matmul *p, wide_row *sums, double left, double right, const void *row, size_t n) {
    const double *d = row;
    const int64_t *i = row;
    if (p->class == MOCK_F64) {
        for (size_t x = 0; x < n; x++) sums->d[x] = left * sums->d[x] + right * d[x];
        return;
    }
    const uint64_t a = (uint64_t)(int64_t)left, b = (uint64_t)(int64_t)right;
    for (size_t x = 0; x < n; x++) sums->i[x] = (int64_t)(a * (uint64_t)sums->i[x] + b * (uint64_t)i[x]);
}

static void add_product(
    const matmul *p, const mock_view *views, const operands *o, int64_t row, int64_t column, size_t n,
    wide_row *sums) {
    const mock_view *x = &views[p->x], *y = &views[p->y];
    const int64_t size_x = (int64_t)mock_dtype_size(x->dtype), size_y = (int64_t)mock_dtype_size(y->dtype);
    const mock_class class = (mock_class)p->class;
    wide_row buffer;
    for (int64_t k = 0; k < p->k; k++) {
        union {
            double d;
            int64_t i;
        } factor;
        const void *a = mock_load(class, x->dtype, o->a + (row * p->a.row + k * p->a.column) * size_x, 0, 1,
            &factor);
        const void *b = mock_load(
            class, y->dtype, o->b + (k * p->b.row + column * p->b.column) * size_y, p->b.column, n, &buffer);
        if (class == MOCK_F64) {
            for (size_t j = 0; j < n; j++) sums->d[j] += *(const double *)a * ((const double *)b)[j];
        } else {
            const uint64_t f = (uint64_t)*(const int64_t *)a;
            for (size_t j = 0; j < n; j++) {
                sums->i[j] = (int64_t)((uint64_t)sums->i[j] + f * (uint64_t)((const int64_t *)b)[j]);
            }
        }
    }
}

/* In f64 or s64, element by element along k. */
static void run_wide(const mock_plan *plan, const matmul *p, const operands *o) {
    const mock_view *views = plan->views, *out = &views[p->to];
    const mock_view *self = p->self < 0 ? NULL : &views[p->self];
    const stack s = self == NULL ? (stack){0, 0, {0}} : spread_self(self, out, p);
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j += CHUNK) {
            const size_t n = (size_t)(p->n - j < CHUNK ? p->n - j : CHUNK);
            wide_row sums, more;
            memset(&sums, 0, sizeof sums);
            add_product(p, views, o, i, j, n, &sums);
            if (self != NULL && p->beta == 0) {
                memset(&more, 0, sizeof more);
                add_row(p, &sums, p->alpha, 0, &more, n);
            } else if (self != NULL) {
                const char *from = o->self + (i * s.row + j * s.column) * (int64_t)mock_dtype_size(self->dtype);
                add_row(p, &sums, p->alpha, p->beta,
                    mock_load((mock_class)p->class, self->dtype, from, s.column, n, &more), n);
            }
            char *at = o->out + (i * p->out.row + j * p->out.column) * (int64_t)mock_dtype_size(out->dtype);
            mock_store((mock_class)p->class, out->dtype, at, p->out.column, n, &sums);
        }
    }
}

static bool run_matrix(const mock_plan *plan, const matmul *p, const operands *o) {
    if (p->class != MOCK_F32) {
        run_wide(plan, p, o);
        return true;
    }
    const mock_strided a = {o->a, p->a.row, p->a.column, plan->views[p->x].dtype};
    const mock_strided b = {o->b, p->b.row, p->b.column, plan->views[p->y].dtype};
    float *product = p->scratch ? o->workspace : (float *)(void *)o->out;
    const int64_t row = p->scratch ? p->n : p->out.row, column = p->scratch ? 1 : p->out.column;
    if (!mock_gemm_strided((size_t)p->m, (size_t)p->n, (size_t)p->k, a, b, product, row, column)) {
        return false;
    }
    if (p->add_up) {
        for (int64_t i = 0; i < p->m * p->n; i++) o->sum[i] += product[i];
    } else if (p->scratch) {
        finish_rows(plan, p, o, product);
    }
    return true;
}

static bool find_operands(const mock_plan *plan, const matmul *p, operands *o) {
    o->self = p->self < 0 ? "" : mock_plan_pointer(plan, (unsigned)p->self);
    o->a = mock_plan_pointer(plan, (unsigned)p->x);
    o->b = mock_plan_pointer(plan, (unsigned)p->y);
    o->out = mock_plan_pointer(plan, (unsigned)p->to);
    o->workspace = mock_plan_workspace(plan);
    if (o->self == NULL || o->a == NULL || o->b == NULL) return false;
    if (o->out == NULL || o->workspace == NULL) return false;
    o->sum = o->workspace + mock_workspace_bytes((uint64_t)(p->m * p->n), sizeof(float)) / sizeof(float);
    const mock_view *out = &plan->views[p->to];
    return !mock_views_share(out, o->out, &plan->views[p->x], o->a) &&
           !mock_views_share(out, o->out, &plan->views[p->y], o->b);
}

static int64_t batch_offset(const mock_view *v, const stack *s, const int64_t *index, int rank) {
    int64_t offset = 0;
    for (int i = 0; i < rank; i++) offset += index[i] * s->batch[i];
    return offset * (int64_t)mock_dtype_size(v->dtype);
}

static bool advance(int64_t *index, const int64_t *dims, int rank) {
    for (int i = rank; i-- > 0;) {
        if (++index[i] < dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

static bool run_batch(const mock_plan *plan, const matmul *p, const operands *base) {
    const mock_view *views = plan->views;
    int64_t index[MOCK_MAX_BATCH_RANK] = {0};
    const stack self = p->self < 0 ? (stack){0, 0, {0}} : spread_self(&views[p->self], &views[p->to], p);
    for (int i = 0; i < p->batch_rank; i++) {
        if (p->batch[i] == 0) return true;
    }
    do {
        operands o = *base;
        o.a += batch_offset(&views[p->x], &p->a, index, p->batch_rank);
        o.b += batch_offset(&views[p->y], &p->b, index, p->batch_rank);
        o.out += batch_offset(&views[p->to], &p->out, index, p->batch_rank);
        if (p->self >= 0) o.self += batch_offset(&views[p->self], &self, index, p->batch_rank);
        if (!run_matrix(plan, p, &o)) return false;
    } while (advance(index, p->batch, p->batch_rank));
    return true;
}

aclError mock_run_product(void *arg) {
    const mock_plan *plan = arg;
    const matmul *p = MOCK_PARAMS((mock_plan *)arg, matmul);
    operands o;
    if (!find_operands(plan, p, &o)) return MOCK_DEVICE_FAULT;
    if (plan->views[p->to].span == 0) return 0;
    if (p->add_up) memset(o.sum, 0, (size_t)(p->m * p->n) * sizeof(float));
    if (!run_batch(plan, p, &o)) return MOCK_DEVICE_FAULT;
    if (p->add_up) finish_rows(plan, p, &o, o.sum);
    return 0;
}

/* Splits a view into batch and matrix. A vector is one row (left) or one column (right). */
static stack make_stack(const mock_view *v, bool vector_row, int batch_rank) {
    stack s = {0, 1, {0}};
    const int batches = v->rank > 2 ? v->rank - 2 : 0;
    if (v->rank >= 2) s.row = v->strides[v->rank - 2];
    if (v->rank >= 2 || vector_row) s.column = v->strides[v->rank - 1];
    else s.row = v->strides[0];
    for (int i = 0; i < batches; i++) {
        const bool spread = v->dims[i] == 1;
        s.batch[batch_rank - batches + i] = spread ? 0 : v->strides[i];
    }
    return s;
}

static mock_view batch_of(const mock_view *v) {
    mock_view batch = *v;
    batch.rank = (uint8_t)(v->rank > 2 ? v->rank - 2 : 0);
    return batch;
}

/* The shape of the product; fails when the operands do not fit together. */
static bool product_shape(
    mock_build *b, const mock_product_parts *parts, const mock_view *x, const mock_view *y, matmul *p,
    mock_view *shape) {
    const mock_view batch_x = batch_of(x), batch_y = batch_of(y);
    const int64_t inner = y->rank >= 2 ? y->dims[y->rank - 2] : y->dims[0];
    const char *name_x = parts->names[parts->x], *name_y = parts->names[parts->y];
    mock_shape_text sx, sy;
    p->m = x->rank >= 2 ? x->dims[x->rank - 2] : 1;
    p->k = x->dims[x->rank - 1];
    p->n = y->rank >= 2 ? y->dims[y->rank - 1] : 1;
    if (p->k != inner) {
        mock_build_fail(b, "the inner dimensions of %s %s and %s %s differ", name_x,
            mock_shape(x, &sx), name_y, mock_shape(y, &sy));
        return false;
    }
    if (!mock_broadcast(&batch_x, &batch_y, shape)) {
        mock_build_fail(b, "the batch dimensions of %s %s and %s %s do not broadcast", name_x,
            mock_shape(x, &sx), name_y, mock_shape(y, &sy));
        return false;
    }
    p->batch_rank = shape->rank;
    for (int i = 0; i < shape->rank; i++) p->batch[i] = shape->dims[i];
    if (parts->add_up) shape->rank = 0;
    if (x->rank >= 2) shape->dims[shape->rank++] = p->m;
    if (y->rank >= 2) shape->dims[shape->rank++] = p->n;
    return true;
}

static bool type_allowed(const mock_product_parts *parts, int32_t dtype) {
    if (mock_dtype_is_float(dtype)) return true;
    for (const int32_t *more = parts->more; more != NULL && *more >= 0; more++) {
        if (*more == dtype) return true;
    }
    return false;
}

/* Of f32, f16 and bf16 each is stored as any other, rounded once from f32 (guide: aclnn, aclnnMatmul: out has a type
 * that the promoted one converts to); other types only as they are (own choice). */
static bool storable(const mock_product_parts *parts, int32_t common, int32_t out) {
    return out == common || (!parts->same && mock_dtype_is_float(common) && mock_dtype_is_float(out));
}

/* Gives the promoted type. */
static int32_t check_types(mock_build *b, const mock_product_parts *parts) {
    const mock_view *views = b->plan->views;
    int32_t common = ACL_DT_UNDEFINED;
    for (int i = 0; i < b->plan->count; i++) {
        const int32_t dtype = views[i].dtype;
        if (!type_allowed(parts, dtype)) {
            mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported%s",
                parts->names[i], mock_dtype_name(dtype), parts->more == NULL ? "" : ", and some others");
        }
        if (parts->same && dtype != views[0].dtype) {
            mock_build_fail(b, "%s has data type %s, %s has %s", parts->names[i], mock_dtype_name(dtype),
                parts->names[0], mock_dtype_name(views[0].dtype));
        }
        if (i == parts->out && i != parts->self) continue;
        common = common == ACL_DT_UNDEFINED ? dtype : mock_dtype_promote(common, dtype);
    }
    if (parts->more != NULL && !parts->same) common = mock_promote_scalar(common, parts->numbers);
    if (b->status == 0 && !storable(parts, common, views[parts->out].dtype)) {
        mock_build_fail(b, "%s has data type %s, the operands give %s", parts->names[parts->out],
            mock_dtype_name(views[parts->out].dtype), mock_dtype_name(common));
    }
    if (parts->math_type < 0 || parts->math_type > 3) {
        mock_build_fail(b, "cubeMathType is %d, expected 0 to 3", parts->math_type);
    }
    return common;
}

static void turn(mock_view *v) {
    const int64_t dim = v->dims[v->rank - 1], stride = v->strides[v->rank - 1];
    v->dims[v->rank - 1] = v->dims[v->rank - 2];
    v->strides[v->rank - 1] = v->strides[v->rank - 2];
    v->dims[v->rank - 2] = dim;
    v->strides[v->rank - 2] = stride;
}

static void check_ranks(mock_build *b, const mock_view *x, const mock_view *y) {
    mock_shape_text sx, sy;
    if (x->rank < 1 || y->rank < 1 || x->rank > MAX_RANK || y->rank > MAX_RANK) {
        mock_build_fail(b, "operands of shape %s and %s; 1 to %d dimensions are supported",
            mock_shape(x, &sx), mock_shape(y, &sy), MAX_RANK);
    }
}

/* Self broadcasts to the shape of the result (guide: aclnn, aclnnAddmm). */
static void check_self(mock_build *b, const mock_product_parts *parts, const mock_view *out) {
    mock_view common;
    mock_shape_text have, want;
    if (parts->self < 0 || b->status != 0) return;
    const mock_view *self = &b->plan->views[parts->self];
    if (mock_broadcast(self, out, &common) && mock_same_shape(&common, out)) return;
    mock_build_fail(b, "%s with shape %s does not broadcast to %s", parts->names[parts->self],
        mock_shape(self, &have), mock_shape(out, &want));
}

/* Strides of the result; of a vector only the matching one is used. */
static void place_result(matmul *p, const mock_view *out) {
    const int batches = p->add_up ? 0 : p->batch_rank;
    p->out = (stack){0, 1, {0}};
    for (int i = 0; i < batches; i++) p->out.batch[i] = out->strides[i];
    if (p->has_rows) p->out.row = out->strides[batches];
    if (p->has_columns) p->out.column = out->strides[out->rank - 1];
}

bool mock_plan_product(mock_build *b, const mock_product_parts *parts) {
    if (b->status != 0) return false;
    const mock_view *out = &b->plan->views[parts->out];
    mock_view x = b->plan->views[parts->x], y = b->plan->views[parts->y], shape;
    matmul *p = MOCK_PARAMS(b->plan, matmul);
    const int32_t common = check_types(b, parts);
    check_ranks(b, &x, &y);
    if (b->status != 0) return false;
    if (parts->turn_x) turn(&x);
    if (parts->turn_y) turn(&y);
    *p = (matmul){.alpha = parts->alpha, .beta = parts->beta, .self = parts->self, .x = parts->x,
        .y = parts->y, .to = parts->out, .add_up = parts->add_up, .has_rows = x.rank >= 2,
        .has_columns = y.rank >= 2, .class = (int8_t)mock_dtype_class(common)};
    if (!product_shape(b, parts, &x, &y, p, &shape)) return false;
    mock_require_shape(b, out, parts->names[parts->out], &shape, "the shape of the product");
    check_self(b, parts, out);
    if (b->status != 0) return false;
    p->a = make_stack(&x, true, p->batch_rank);
    p->b = make_stack(&y, false, p->batch_rank);
    place_result(p, out);
    p->scratch = p->class == MOCK_F32 && (p->self >= 0 || out->dtype != ACL_FLOAT || p->add_up);
    if (out->span == 0 || !p->scratch) return true;
    const uint64_t matrix = mock_workspace_bytes((uint64_t)(p->m * p->n), sizeof(float));
    b->plan->need = p->add_up ? 2 * matrix : matrix;
    return true;
}

void mock_require_rank(mock_build *b, unsigned index, const char *name, int rank) {
    mock_shape_text text;
    if (b->status != 0 || b->plan->views[index].rank == rank) return;
    mock_build_fail(b, "%s has shape %s; it must have %d dimension%s", name,
        mock_shape(&b->plan->views[index], &text), rank, rank == 1 ? "" : "s");
}

MOCK_OPERATOR(aclnnMm, mock_run_product)
MOCK_OPERATOR(aclnnMatmul, mock_run_product)
MOCK_OPERATOR(aclnnBatchMatMul, mock_run_product)
MOCK_OPERATOR(aclnnMatmulWeightNz, mock_run_product)
MOCK_OPERATOR(aclnnBatchMatMulWeightNz, mock_run_product)

static const char *const names[] = {"self", "mat2", "out"};

/* (guide: aclnn, aclnnMm: 2 dimensions; aclnnBatchMatMul: 3) */
#define PRODUCT(NAME, RANK)                                                                           \
    aclnnStatus NAME##GetWorkspaceSize(                                                               \
        const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType,            \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                          \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                           \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                       \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                 \
        mock_build_tensor(&b, mat2, "mat2", MOCK_IN_NZ);                                              \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                  \
        for (unsigned i = 0; RANK != 0 && i < 2; i++) mock_require_rank(&b, i, names[i], RANK);       \
        mock_plan_product(&b, &(mock_product_parts){                                                  \
            .self = -1, .x = 0, .y = 1, .out = 2, .math_type = cubeMathType, .names = names});        \
        return mock_build_finish(&b);                                                                 \
    }

PRODUCT(aclnnMm, 2)
PRODUCT(aclnnMatmul, 0)
PRODUCT(aclnnBatchMatMul, 3)
PRODUCT(aclnnMatmulWeightNz, 0)
PRODUCT(aclnnBatchMatMulWeightNz, 3)
