/* Mm, Matmul, BatchMatMul and Addmm (guide: aclnn, page of each). f32, f16 and bf16 operands are widened
 * to f32, products are accumulated in f32 in a fixed order (op_gemm.c) and rounded once to the type of
 * out (own choice). cubeMathType is checked, 0 to 3, and has no effect: f32 is never computed in less
 * (own choice).
 *
 * Workspace: an operand whose rows are not contiguous (a transposed or otherwise strided view) is copied
 * there, one matrix at a time; a result that is not f32 with contiguous rows is accumulated there in f32,
 * and so is Addmm's. */
#include "op_dtype.h"
#include "op_gemm.h"
#include "op_walk.h"

#define ALIGN 512
#define CHUNK 512
#define MAX_RANK 6 /* guide: aclnn, aclnnMatmul: 1 to 6 dimensions */
#define MAX_BATCH_RANK (MAX_RANK - 2)

/* One operand as a stack of matrices: strides in elements, batch strides 0 where it is broadcast. */
typedef struct stack {
    int64_t row;
    int64_t column;
    int64_t batch[MAX_BATCH_RANK];
} stack;

typedef struct matmul {
    int64_t m, n, k;
    int64_t batch[MAX_BATCH_RANK];
    stack a, b, out;
    float alpha, beta;
    uint8_t batch_rank;
    /* Index of the left operand; the right one and the result follow. Addmm has self before it. */
    uint8_t first;
    bool copy_a, copy_b, scratch;
} matmul;

/* Where one matrix of the product comes from and goes to. */
typedef struct operands {
    const char *a, *b, *self;
    char *out, *workspace;
} operands;

static size_t aligned(int64_t rows, int64_t columns, size_t size) {
    return ((size_t)rows * (size_t)columns * size + ALIGN - 1) / ALIGN * ALIGN;
}

/* Row-major copy, in blocks of rows so that a transposed source is read along its memory. */
#define GATHER(T)                                                                                          \
    for (int64_t top = 0; top < rows; top += 16) {                                                         \
        const int64_t end = top + 16 < rows ? top + 16 : rows;                                             \
        for (int64_t j = 0; j < columns; j++) {                                                            \
            for (int64_t i = top; i < end; i++) {                                                          \
                ((T *)to)[i * columns + j] = ((const T *)from)[i * s->row + j * s->column];                \
            }                                                                                              \
        }                                                                                                  \
    }

static void gather(void *to, const void *from, int64_t rows, int64_t columns, const stack *s, size_t size) {
    if (size == 4) {
        GATHER(uint32_t)
    } else {
        GATHER(uint16_t)
    }
}

/* The operand as the product takes it; a copy uses up its part of the workspace. */
static mock_matrix prepare(
    operands *o, const char *from, bool copy, int64_t rows, int64_t columns, const stack *s, int32_t dtype) {
    const size_t size = mock_dtype_size(dtype);
    if (!copy) return (mock_matrix){from, s->row, dtype};
    const mock_matrix made = {o->workspace, columns, dtype};
    gather(o->workspace, from, rows, columns, s, size);
    o->workspace += aligned(rows, columns, size);
    return made;
}

/* out = alpha * product + beta * self: computed in f32, rounded once to the type of out. beta 0 does not
 * read self, so a NaN in it has no effect; alpha 0 does read the product (own choice). */
static void finish_rows(const mock_plan *plan, const matmul *p, const operands *o, const float *product) {
    const mock_view *out = &plan->views[p->first + 2];
    const mock_view *self = &plan->views[0];
    const bool blend = p->first == 1;
    const int64_t self_row = self->rank == 2 && self->dims[0] != 1 ? self->strides[0] : 0;
    const int last = self->rank - 1;
    const int64_t self_column = last >= 0 && self->dims[last] != 1 ? self->strides[last] : 0;
    const int64_t self_size = (int64_t)mock_dtype_size(self->dtype);
    float sum[CHUNK], addend[CHUNK];
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j += CHUNK) {
            const size_t n = (size_t)(p->n - j < CHUNK ? p->n - j : CHUNK);
            const float *row = product + i * p->n + j;
            if (blend) {
                for (size_t x = 0; x < n; x++) sum[x] = p->alpha * row[x];
                row = sum;
            }
            if (blend && p->beta != 0) {
                const char *at = o->self + (i * self_row + j * self_column) * self_size;
                const float *more = mock_load_f32(self->dtype, at, self_column, n, addend);
                for (size_t x = 0; x < n; x++) sum[x] += p->beta * more[x];
            }
            char *to = o->out + (i * p->out.row + j * p->out.column) * (int64_t)mock_dtype_size(out->dtype);
            mock_store(MOCK_F32, out->dtype, to, p->out.column, n, row);
        }
    }
}

static bool run_matrix(const mock_plan *plan, const matmul *p, operands o) {
    const int32_t type_a = plan->views[p->first].dtype;
    const int32_t type_b = plan->views[p->first + 1].dtype;
    const mock_matrix a = prepare(&o, o.a, p->copy_a, p->m, p->k, &p->a, type_a);
    const mock_matrix b = prepare(&o, o.b, p->copy_b, p->k, p->n, &p->b, type_b);
    float *product = (float *)(void *)(p->scratch ? o.workspace : o.out);
    const int64_t stride = p->scratch ? p->n : p->out.row;
    if (!mock_gemm((size_t)p->m, (size_t)p->n, (size_t)p->k, a, b, product, stride)) return false;
    if (p->scratch) finish_rows(plan, p, &o, product);
    return true;
}

static bool find_operands(const mock_plan *plan, const matmul *p, operands *o) {
    o->self = p->first == 0 ? "" : mock_plan_pointer(plan, 0);
    o->a = mock_plan_pointer(plan, p->first);
    o->b = mock_plan_pointer(plan, p->first + 1u);
    o->out = mock_plan_pointer(plan, p->first + 2u);
    o->workspace = mock_plan_workspace(plan);
    return o->self != NULL && o->a != NULL && o->b != NULL && o->out != NULL && o->workspace != NULL;
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

static aclError run_matmul(void *arg) {
    const mock_plan *plan = arg;
    const matmul *p = MOCK_PARAMS((mock_plan *)arg, matmul);
    const mock_view *views = plan->views + p->first;
    int64_t index[MAX_BATCH_RANK] = {0};
    operands base;
    if (!find_operands(plan, p, &base)) return MOCK_DEVICE_FAULT;
    if (views[2].span == 0) return 0;
    do {
        operands o = base;
        o.a += batch_offset(&views[0], &p->a, index, p->batch_rank);
        o.b += batch_offset(&views[1], &p->b, index, p->batch_rank);
        o.out += batch_offset(&views[2], &p->out, index, p->batch_rank);
        if (!run_matrix(plan, p, o)) return MOCK_DEVICE_FAULT;
    } while (advance(index, p->batch, p->batch_rank));
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
    mock_build *b, const mock_view *x, const mock_view *y, matmul *p, mock_view *shape) {
    const mock_view batch_x = batch_of(x), batch_y = batch_of(y);
    const int64_t inner = y->rank >= 2 ? y->dims[y->rank - 2] : y->dims[0];
    mock_shape_text sx, sy;
    p->m = x->rank >= 2 ? x->dims[x->rank - 2] : 1;
    p->k = x->dims[x->rank - 1];
    p->n = y->rank >= 2 ? y->dims[y->rank - 1] : 1;
    if (p->k != inner) {
        mock_build_fail(b, "the inner dimensions of %s and %s differ", mock_shape(x, &sx),
            mock_shape(y, &sy));
        return false;
    }
    if (!mock_broadcast(&batch_x, &batch_y, shape)) {
        mock_build_fail(b, "the batch dimensions of %s and %s do not broadcast", mock_shape(x, &sx),
            mock_shape(y, &sy));
        return false;
    }
    p->batch_rank = shape->rank;
    for (int i = 0; i < shape->rank; i++) p->batch[i] = shape->dims[i];
    if (x->rank >= 2) shape->dims[shape->rank++] = p->m;
    if (y->rank >= 2) shape->dims[shape->rank++] = p->n;
    return true;
}

/* out has exactly the promoted type (own choice: the guide lets it be one that this converts to). */
static void check_types(mock_build *b, int32_t common, const mock_view *out, int8_t math_type) {
    for (unsigned i = 0; i < b->plan->count; i++) {
        const int32_t dtype = b->plan->views[i].dtype;
        if (mock_dtype_is_float(dtype)) continue;
        mock_build_fail(b, "operand %u has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", i,
            mock_dtype_name(dtype));
    }
    if (b->status == 0 && out->dtype != common) {
        mock_build_fail(b, "out has data type %s, the operands give %s", mock_dtype_name(out->dtype),
            mock_dtype_name(common));
    }
    if (math_type < 0 || math_type > 3) mock_build_fail(b, "cubeMathType is %d, expected 0 to 3", math_type);
}

static bool scattered(const stack *s, int64_t columns) {
    return columns > 1 && s->column != 1;
}

static void plan_workspace(
    mock_build *b, matmul *p, const mock_view *x, const mock_view *y, const mock_view *out) {
    p->copy_a = scattered(&p->a, p->k);
    p->copy_b = scattered(&p->b, p->n);
    p->scratch = p->first == 1 || out->dtype != ACL_FLOAT || scattered(&p->out, p->n);
    if (out->span == 0) return;
    b->plan->need = (p->copy_a ? aligned(p->m, p->k, mock_dtype_size(x->dtype)) : 0) +
                    (p->copy_b ? aligned(p->k, p->n, mock_dtype_size(y->dtype)) : 0) +
                    (p->scratch ? aligned(p->m, p->n, sizeof(float)) : 0);
}

/* Fills the plan for the operands from index `first` on; false after a failure. */
static bool plan_matmul(mock_build *b, int first, int8_t math_type, float alpha, float beta) {
    if (b->status != 0) return false;
    const mock_view *x = &b->plan->views[first], *y = x + 1, *out = x + 2;
    matmul *p = MOCK_PARAMS(b->plan, matmul);
    mock_view shape;
    mock_shape_text sx, sy;
    int32_t common = mock_dtype_promote(x->dtype, y->dtype);
    if (first == 1) common = mock_dtype_promote(common, b->plan->views[0].dtype);
    check_types(b, common, out, math_type);
    if (x->rank < 1 || y->rank < 1 || x->rank > MAX_RANK || y->rank > MAX_RANK) {
        mock_build_fail(b, "operands of shape %s and %s; 1 to %d dimensions are supported",
            mock_shape(x, &sx), mock_shape(y, &sy), MAX_RANK);
    }
    *p = (matmul){.alpha = alpha, .beta = beta, .first = (uint8_t)first};
    if (b->status != 0 || !product_shape(b, x, y, p, &shape)) return false;
    mock_require_shape(b, out, "out", &shape, "the shape of the product");
    if (b->status != 0) return false;
    p->a = make_stack(x, true, p->batch_rank);
    p->b = make_stack(y, false, p->batch_rank);
    /* Of a vector result only the matching stride is used. */
    p->out = (stack){0, 1, {0}};
    for (int i = 0; i < p->batch_rank; i++) p->out.batch[i] = out->strides[i];
    if (x->rank >= 2) p->out.row = out->strides[p->batch_rank];
    if (y->rank >= 2) p->out.column = out->strides[out->rank - 1];
    plan_workspace(b, p, x, y, out);
    return true;
}

/* (guide: aclnn, aclnnMm: 2 dimensions; aclnnBatchMatMul: 3) */
static void require_rank(mock_build *b, int first, int rank) {
    mock_shape_text sx, sy;
    if (b->status != 0) return;
    const mock_view *x = &b->plan->views[first], *y = x + 1;
    if (x->rank == rank && y->rank == rank) return;
    mock_build_fail(b, "operands of shape %s and %s; both must have %d dimensions", mock_shape(x, &sx),
        mock_shape(y, &sy), rank);
}

MOCK_OPERATOR(aclnnMm, run_matmul)
MOCK_OPERATOR(aclnnMatmul, run_matmul)
MOCK_OPERATOR(aclnnBatchMatMul, run_matmul)
MOCK_OPERATOR(aclnnAddmm, run_matmul)

#define PRODUCT(NAME, RANK)                                                                           \
    aclnnStatus NAME##GetWorkspaceSize(                                                               \
        const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType,            \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                          \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                           \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                       \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                 \
        mock_build_tensor(&b, mat2, "mat2", MOCK_IN);                                                 \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                  \
        if (RANK != 0) require_rank(&b, 0, RANK);                                                     \
        plan_matmul(&b, 0, cubeMathType, 1, 0);                                                       \
        return mock_build_finish(&b);                                                                 \
    }

PRODUCT(aclnnMm, 2)
PRODUCT(aclnnMatmul, 0)
PRODUCT(aclnnBatchMatMul, 3)

aclnnStatus aclnnAddmmGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2, const aclScalar *beta,
    const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddmmGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAddmm_task, workspaceSize, executor);
    const mock_view *addend = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, mat1, "mat1", MOCK_IN);
    mock_build_tensor(&b, mat2, "mat2", MOCK_IN);
    const mock_scalar *scale_self = mock_build_scalar(&b, beta, "beta");
    const mock_scalar *scale_product = mock_build_scalar(&b, alpha, "alpha");
    const mock_view *result = mock_build_tensor(&b, out, "out", MOCK_OUT);
    require_rank(&b, 1, 2);
    if (b.status == 0) {
        const float x = (float)mock_scalar_double(scale_product), y = (float)mock_scalar_double(scale_self);
        mock_view common;
        mock_shape_text have, want;
        if (plan_matmul(&b, 1, cubeMathType, x, y) &&
            (!mock_broadcast(addend, result, &common) || !mock_same_shape(&common, result))) {
            mock_build_fail(&b, "self with shape %s does not broadcast to %s", mock_shape(addend, &have),
                mock_shape(result, &want));
        }
    }
    return mock_build_finish(&b);
}
