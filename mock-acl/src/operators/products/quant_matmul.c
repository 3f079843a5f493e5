/* QuantMatmulV3 to V5 and WeightNz: (x1 x2 + bias) * scale, times a scale for each row where one is given, of 8-bit
 * integers (guide: aclnn, page of each).
 *
 * Sums are exact in 32 bits and wrap beyond them (own choice). scale has one element or one for each
 * column: f32, bf16, or 64 bits whose lower half is an f32. A bias of s32 is added before the scales, one
 * of a float type after them. Both happen in f64, rounded once (own choice). Results of 8 or 32 bits,
 * offsets, groups and 4-bit operands are refused.
 *
 * Workspace: one matrix of sums in s32, and one of the sums of a block in f32, where they are exact. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/gemm.h"
#include "operators/products/matmul.h"
#include "operators/products/products.h"
#include "operators/products/quant.h"

/* 1024 products of two numbers up to 2^7 are at most 2^24, which f32 holds exactly in any order. */
#define EXACT 1024
#define CHUNK 256
#define MAX_RANK 6

enum { X1, X2, SCALE, ROWS, BIAS, OUT, OPERANDS };
static const char *name_of(const mock_build *b, unsigned index) {
    static const char *const names[] = {"x1", "x2", "scale", "pertokenScaleOptional", "bias", "out"};
    static const char *const of_v5[] = {"x1", "x2", "x2Scale", "x1Scale", "bias", "out"};
    const bool later = strcmp(b->name, "aclnnQuantMatmulV5") == 0 || strcmp(b->name, "aclnnQuantMatmulWeightNz") == 0;
    return (later ? of_v5 : names)[index];
}

typedef struct quant_matmul {
    int64_t m, n, k;
    bool turn_1, turn_2;
} quant_matmul;

static char *batch_at(const mock_view *v, char *first, const mock_view *out, const int64_t *index) {
    const int lead = out->rank - v->rank;
    int64_t at = 0;
    for (int i = lead; i < out->rank - 2; i++) {
        if (v->dims[i - lead] != 1) at += index[i] * v->strides[i - lead];
    }
    return first + at * (int64_t)mock_dtype_size(v->dtype);
}

static mock_strided operand(const mock_view *v, const char *first, bool turn) {
    const int64_t across = v->strides[v->rank - 2], along = v->strides[v->rank - 1];
    return (mock_strided){first, turn ? along : across, turn ? across : along, v->dtype};
}

/* The sums of one matrix, block by block along k. */
static bool add_up(const quant_matmul *p, mock_strided a, mock_strided b, int32_t *sums, float *block) {
    const size_t count = (size_t)(p->m * p->n);
    memset(sums, 0, count * sizeof *sums);
    for (int64_t from = 0; from < p->k; from += EXACT) {
        const size_t k = (size_t)(p->k - from < EXACT ? p->k - from : EXACT);
        mock_strided x = a, y = b;
        x.data = (const int8_t *)a.data + from * a.column;
        y.data = (const int8_t *)b.data + from * b.row;
        if (!mock_gemm_strided((size_t)p->m, (size_t)p->n, k, x, y, block, p->n, 1)) return false;
        for (size_t i = 0; i < count; i++) {
            sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)(int32_t)block[i]);
        }
    }
    return true;
}

/* `n` numbers from `from` on of an operand with one dimension; one element serves all. */
static void load_numbers(const mock_plan *plan, unsigned index, int64_t from, size_t n, double *to) {
    const mock_view *v = &plan->views[index];
    const bool one = v->rank == 0 || v->dims[v->rank - 1] == 1;
    const int64_t step = one ? 0 : v->strides[v->rank - 1];
    const char *first = (const char *)mock_plan_pointer(plan, index) +
                        from * step * (int64_t)mock_dtype_size(v->dtype);
    if (v->dtype != ACL_INT64 && v->dtype != ACL_UINT64) {
        const double *loaded = mock_load(MOCK_F64, v->dtype, first, step, n, to);
        if (loaded != to) memcpy(to, loaded, n * sizeof *to);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t packed;
        float number;
        memcpy(&packed, first + (int64_t)i * step * 8, sizeof packed);
        const uint32_t low = (uint32_t)packed;
        memcpy(&number, &low, sizeof number);
        to[i] = number;
    }
}

static void finish(const mock_plan *plan, const quant_matmul *p, const int32_t *sums, char *out) {
    const mock_view *v = &plan->views[OUT], *bias = &plan->views[BIAS];
    const bool before = !bias->absent && bias->dtype == ACL_INT32, after = !bias->absent && !before;
    double scale[CHUNK], more[CHUNK] = {0}, row[CHUNK], mine = 1;
    for (int64_t j = 0; j < p->n; j += CHUNK) {
        const size_t n = (size_t)(p->n - j < CHUNK ? p->n - j : CHUNK);
        load_numbers(plan, SCALE, j, n, scale);
        if (!bias->absent) load_numbers(plan, BIAS, j, n, more);
        for (int64_t i = 0; i < p->m; i++) {
            const int32_t *sum = sums + i * p->n + j;
            if (!plan->views[ROWS].absent) load_numbers(plan, ROWS, i, 1, &mine);
            for (size_t x = 0; x < n; x++) {
                row[x] = ((double)sum[x] + (before ? more[x] : 0)) * scale[x] * mine + (after ? more[x] : 0);
            }
            const int64_t at = i * v->strides[v->rank - 2] + j * v->strides[v->rank - 1];
            mock_store(MOCK_F64, v->dtype, out + at * (int64_t)mock_dtype_size(v->dtype),
                v->strides[v->rank - 1], n, row);
        }
    }
}

static bool advance(int64_t *index, const mock_view *out) {
    for (int i = out->rank - 2; i-- > 0;) {
        if (++index[i] < out->dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

static aclError run_quant_matmul(void *arg) {
    const mock_plan *plan = arg;
    const quant_matmul *p = MOCK_PARAMS((mock_plan *)arg, quant_matmul);
    const mock_view *views = plan->views, *out = &views[OUT];
    int32_t *sums = mock_plan_workspace(plan);
    int64_t index[MOCK_MAX_RANK] = {0};
    char *first[OPERANDS];
    if (sums == NULL) return MOCK_DEVICE_FAULT;
    for (unsigned i = 0; i < OPERANDS; i++) {
        first[i] = views[i].absent ? NULL : mock_plan_pointer(plan, i);
        if (!views[i].absent && first[i] == NULL) return MOCK_DEVICE_FAULT;
    }
    if (mock_views_share(out, first[OUT], &views[X1], first[X1])) return MOCK_DEVICE_FAULT;
    if (mock_views_share(out, first[OUT], &views[X2], first[X2])) return MOCK_DEVICE_FAULT;
    if (out->span == 0) return 0;
    float *block = (float *)(void *)sums +
                   mock_workspace_bytes((uint64_t)(p->m * p->n), sizeof(float)) / sizeof(float);
    do {
        const mock_strided a = operand(&views[X1], batch_at(&views[X1], first[X1], out, index), p->turn_1);
        const mock_strided b = operand(&views[X2], batch_at(&views[X2], first[X2], out, index), p->turn_2);
        if (!add_up(p, a, b, sums, block)) return MOCK_DEVICE_FAULT;
        finish(plan, p, sums, batch_at(out, first[OUT], out, index));
    } while (advance(index, out));
    return 0;
}

static bool one_of(int32_t dtype, const int32_t *types) {
    while (*types >= 0 && *types != dtype) types++;
    return *types >= 0;
}

static void check_types(mock_build *b) {
    static const int32_t bytes[] = {ACL_INT8, -1}, rows[] = {ACL_FLOAT, -1};
    static const int32_t scales[] = {ACL_FLOAT, ACL_BF16, ACL_INT64, ACL_UINT64, -1};
    static const int32_t biases[] = {ACL_INT32, ACL_FLOAT, ACL_BF16, ACL_FLOAT16, -1};
    static const int32_t results[] = {ACL_FLOAT16, ACL_BF16, -1};
    static const int32_t *const allowed[] = {bytes, bytes, scales, rows, biases, results};
    for (int i = 0; i < OPERANDS; i++) {
        const mock_view *v = &b->plan->views[i];
        if (v->absent || one_of(v->dtype, allowed[i])) continue;
        mock_build_fail(b, "%s has data type %s, which is not supported there", name_of(b, i),
            mock_dtype_name(v->dtype));
    }
}

/* One dimension, or a row of two, with `n` elements or, when `one`, with one. */
static void check_vector(mock_build *b, unsigned index, int64_t n, bool one) {
    const mock_view *v = &b->plan->views[index];
    mock_shape_text text;
    if (b->status != 0 || v->absent) return;
    const bool row = v->rank == 1 || (v->rank == 2 && v->dims[0] == 1);
    if (row && (v->dims[v->rank - 1] == n || (one && v->dims[v->rank - 1] == 1))) return;
    mock_build_fail(b, "%s has shape %s, expected [%lld]", name_of(b, index), mock_shape(v, &text),
        (long long)n);
}

static void check_rank(mock_build *b, unsigned index) {
    const mock_view *v = &b->plan->views[index];
    mock_shape_text text;
    if (b->status != 0 || (v->rank >= 2 && v->rank <= MAX_RANK)) return;
    mock_build_fail(b, "%s has shape %s; it must have 2 to %d dimensions", name_of(b, index),
        mock_shape(v, &text), MAX_RANK);
}

static void plan_quant_matmul(mock_build *b, bool turn_1, bool turn_2) {
    if (b->status != 0) return;
    const mock_view *x = &b->plan->views[X1], *y = &b->plan->views[X2], *out = &b->plan->views[OUT];
    quant_matmul *p = MOCK_PARAMS(b->plan, quant_matmul);
    mock_view batch_x = *x, batch_y = *y, shape;
    mock_shape_text sx, sy;
    check_types(b);
    check_rank(b, X1);
    check_rank(b, X2);
    if (b->status != 0) return;
    *p = (quant_matmul){x->dims[x->rank - (turn_1 ? 1 : 2)], y->dims[y->rank - (turn_2 ? 2 : 1)],
        x->dims[x->rank - (turn_1 ? 2 : 1)], turn_1, turn_2};
    batch_x.rank = (uint8_t)(x->rank - 2);
    batch_y.rank = (uint8_t)(y->rank - 2);
    if (y->dims[y->rank - (turn_2 ? 1 : 2)] != p->k) {
        mock_build_fail(b, "the inner dimensions of x1 %s and x2 %s differ", mock_shape(x, &sx),
            mock_shape(y, &sy));
    } else if (!mock_broadcast(&batch_x, &batch_y, &shape)) {
        mock_build_fail(b, "the batch dimensions of x1 %s and x2 %s do not broadcast", mock_shape(x, &sx),
            mock_shape(y, &sy));
    }
    if (b->status != 0) return;
    shape.dims[shape.rank++] = p->m;
    shape.dims[shape.rank++] = p->n;
    mock_require_shape(b, out, "out", &shape, "the shape of the product");
    check_vector(b, SCALE, p->n, true);
    check_vector(b, BIAS, p->n, false);
    check_vector(b, ROWS, p->m, false);
    if (b->status != 0 || out->span == 0) return;
    b->plan->need = 2 * mock_workspace_bytes((uint64_t)(p->m * p->n), sizeof(float));
}

static void build(
    mock_build *b, const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *bias,
    const aclTensor *rows, const aclTensor *out, const char *scale_name, const char *rows_name) {
    mock_build_quantised(b, x1, "x1");
    mock_build_weight(b, x2, "x2");
    mock_build_quantised(b, scale, scale_name);
    mock_build_optional(b, rows, rows_name, MOCK_IN);
    mock_build_optional(b, bias, "bias", MOCK_IN);
    mock_build_tensor(b, out, "out", MOCK_OUT);
}

MOCK_OPERATOR(aclnnQuantMatmulV3, run_quant_matmul)
MOCK_OPERATOR(aclnnQuantMatmulV4, run_quant_matmul)
MOCK_OPERATOR(aclnnQuantMatmulV5, run_quant_matmul)
MOCK_OPERATOR(aclnnQuantMatmulWeightNz, run_quant_matmul)

aclnnStatus aclnnQuantMatmulV3GetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *offset,
    const aclTensor *bias, bool transposeX1, bool transposeX2, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnQuantMatmulV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnQuantMatmulV3_task, workspaceSize, executor);
    build(&b, x1, x2, scale, bias, NULL, out, "scale", "pertokenScaleOptional");
    mock_refuse_tensor(&b, offset, "offset");
    plan_quant_matmul(&b, transposeX1, transposeX2);
    return mock_build_finish(&b);
}

aclnnStatus aclnnQuantMatmulV4GetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *offset,
    const aclTensor *pertokenScaleOptional, const aclTensor *bias, bool transposeX1, bool transposeX2,
    const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnQuantMatmulV4GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnQuantMatmulV4_task, workspaceSize, executor);
    build(&b, x1, x2, scale, bias, pertokenScaleOptional, out, "scale", "pertokenScaleOptional");
    mock_refuse_tensor(&b, offset, "offset");
    plan_quant_matmul(&b, transposeX1, transposeX2);
    return mock_build_finish(&b);
}

static const uint8_t later_order[] = {X1, X2, ROWS, SCALE, BIAS, OUT};

/* WeightNz takes what V5 does (guide: aclnn, aclnnQuantMatmulWeightNz); each also takes a plain x2 (own choice). */
#define LATER(NAME)                                                                                                   \
    aclnnStatus NAME##GetWorkspaceSize(                                                                               \
        const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale, const aclTensor *x2Scale,                 \
        const aclTensor *yScale, const aclTensor *x1Offset, const aclTensor *x2Offset, const aclTensor *yOffset,      \
        const aclTensor *bias, bool transposeX1, bool transposeX2, int64_t groupSize, aclTensor *out,                 \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                                          \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                                           \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                                       \
        build(&b, x1, x2, x2Scale, bias, x1Scale, out, "x2Scale", "x1Scale");                                         \
        mock_build_order(&b, later_order, sizeof later_order);                                                        \
        mock_refuse_tensor(&b, yScale, "yScale");                                                                     \
        mock_refuse_tensor(&b, x1Offset, "x1Offset");                                                                 \
        mock_refuse_tensor(&b, x2Offset, "x2Offset");                                                                 \
        mock_refuse_tensor(&b, yOffset, "yOffset");                                                                   \
        if (groupSize != 0) {                                                                                         \
            mock_build_fail(&b, "groupSize is %lld; only 0 is supported", (long long)groupSize);                      \
        }                                                                                                             \
        plan_quant_matmul(&b, transposeX1, transposeX2);                                                              \
        return mock_build_finish(&b);                                                                                 \
    }

LATER(aclnnQuantMatmulV5)
LATER(aclnnQuantMatmulWeightNz)
