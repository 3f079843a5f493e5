/* WeightQuantBatchMatmulV2 and V3: y = x ((weight + antiquantOffset) * antiquantScale) + bias, with a
 * weight of 8 or 4 bits (guide: aclnn, page of each).
 *
 * A weight of INT32 has eight elements of 4 bits in each of its last dimension, the first one in the lowest
 * bits (own choice).
 *
 * Scale and offset have one element, one for each column of the weight, or one for each column in each
 * group of antiquantGroupSize rows, a multiple of 32 below k. The weight is widened to f32 without a
 * rounding to the type of x, products are accumulated in f32, the bias is added there, and the result is
 * rounded once (own choice). innerPrecise, 0 or 1, has no effect. Results of 8 bits (quantScale,
 * quantOffset) are refused.
 *
 * Workspace: a block of columns of the weight in f32, and of the result. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/gemm.h"
#include "operators/products/matmul.h"
#include "operators/products/products.h"
#include "operators/products/quant.h"

#define COLUMNS 96 /* that are widened at a time */
#define GROUP 32
#define IN_WORD 8 /* elements of 4 bits in one of INT32 */

enum { X, WEIGHT, SCALE, OFFSET, BIAS, Y };

typedef struct weight_quant {
    int64_t m, n, k;
    int64_t group; /* rows of the weight that one scale serves */
} weight_quant;

/* A scale, an offset or a bias as groups x columns. */
typedef struct grid {
    const char *first;
    int64_t row, column;
    int32_t dtype;
} grid;

static grid grid_of(const mock_plan *plan, unsigned index, bool grouped) {
    const mock_view *v = &plan->views[index];
    grid g = {v->absent ? NULL : mock_plan_pointer(plan, index), 0, 0, v->dtype};
    if (v->absent || v->rank == 0) return g;
    const int last = v->rank - 1;
    if (v->dims[last] != 1) g.column = v->strides[last];
    if (grouped && v->rank == 2 && v->dims[0] != 1) g.row = v->strides[0];
    return g;
}

static void load_grid(const grid *g, int64_t row, int64_t column, size_t n, float *to) {
    const int64_t at = (row * g->row + column * g->column) * (int64_t)mock_dtype_size(g->dtype);
    const float *from = mock_load_f32(g->dtype, g->first + at, g->column, n, to);
    if (from != to) memcpy(to, from, n * sizeof *to);
}

/* Row `p` of the weight, columns from `column` on. */
static void load_weight(
    const mock_plan *plan, const void *weight, int64_t p, int64_t column, size_t n, float *to) {
    const mock_view *v = &plan->views[WEIGHT];
    const int64_t row = v->strides[0], step = v->strides[1];
    if (v->dtype == ACL_INT8) {
        mock_load_f32(ACL_INT8, (const int8_t *)weight + p * row + column * step, step, n, to);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        const int64_t c = column + (int64_t)j;
        const int64_t nibble = v->dtype == ACL_INT32 ? (p * row + c / IN_WORD * step) * IN_WORD + c % IN_WORD
                                                     : v->offset + p * row + c * step;
        to[j] = (float)mock_nibble(weight, nibble);
    }
}

static void widen(
    const mock_plan *plan, const weight_quant *p, const void *weight, int64_t column, size_t n, float *to) {
    const grid scale = grid_of(plan, SCALE, true), offset = grid_of(plan, OFFSET, true);
    float factor[COLUMNS], shift[COLUMNS] = {0};
    for (int64_t row = 0; row < p->k; row++, to += n) {
        if (row % p->group == 0) {
            load_grid(&scale, row / p->group, column, n, factor);
            if (offset.first != NULL) load_grid(&offset, row / p->group, column, n, shift);
        }
        load_weight(plan, weight, row, column, n, to);
        for (size_t j = 0; j < n; j++) to[j] = (to[j] + shift[j]) * factor[j];
    }
}

static void finish(
    const mock_plan *plan, const weight_quant *p, const float *product, int64_t column, size_t n, char *y) {
    const mock_view *out = &plan->views[Y];
    const grid bias = grid_of(plan, BIAS, false);
    float more[COLUMNS] = {0}, sum[COLUMNS];
    if (bias.first != NULL) load_grid(&bias, 0, column, n, more);
    for (int64_t i = 0; i < p->m; i++, product += n) {
        for (size_t j = 0; j < n; j++) sum[j] = bias.first == NULL ? product[j] : product[j] + more[j];
        const int64_t at = i * out->strides[0] + column * out->strides[1];
        char *to = y + at * (int64_t)mock_dtype_size(out->dtype);
        mock_store(MOCK_F32, out->dtype, to, out->strides[1], n, sum);
    }
}

static const void *weight_pointer(const mock_plan *plan) {
    if (plan->views[WEIGHT].dtype == ACL_INT4) return mock_plan_nibbles(plan, WEIGHT);
    return mock_plan_pointer(plan, WEIGHT);
}

static bool missing(const mock_plan *plan, unsigned index) {
    return !plan->views[index].absent && mock_plan_pointer(plan, index) == NULL;
}

static aclError run_weight_quant(void *arg) {
    const mock_plan *plan = arg;
    const weight_quant *p = MOCK_PARAMS((mock_plan *)arg, weight_quant);
    const mock_view *x = &plan->views[X];
    const void *from = mock_plan_pointer(plan, X), *weight = weight_pointer(plan);
    char *y = mock_plan_pointer(plan, Y);
    float *block = mock_plan_workspace(plan);
    if (from == NULL || weight == NULL || y == NULL || block == NULL) return MOCK_DEVICE_FAULT;
    if (missing(plan, SCALE) || missing(plan, OFFSET) || missing(plan, BIAS)) return MOCK_DEVICE_FAULT;
    if (mock_views_share(&plan->views[Y], y, x, from)) return MOCK_DEVICE_FAULT;
    if (plan->views[Y].span == 0) return 0;
    float *product = block + mock_workspace_bytes((uint64_t)p->k * COLUMNS, sizeof(float)) / sizeof(float);
    for (int64_t j = 0; j < p->n; j += COLUMNS) {
        const size_t n = (size_t)(p->n - j < COLUMNS ? p->n - j : COLUMNS);
        const mock_strided a = {from, x->strides[0], x->strides[1], x->dtype};
        const mock_strided b = {block, (int64_t)n, 1, ACL_FLOAT};
        widen(plan, p, weight, j, n, block);
        if (!mock_gemm_strided((size_t)p->m, n, (size_t)p->k, a, b, product, (int64_t)n, 1)) {
            return MOCK_DEVICE_FAULT;
        }
        finish(plan, p, product, j, n, y);
    }
    return 0;
}

/* (guide: f16 or bf16 for x and what goes with it; the bias of bf16 may be f32) */
static void check_types(mock_build *b) {
    const mock_view *views = b->plan->views;
    const int32_t type = views[X].dtype;
    if (type != ACL_FLOAT16 && type != ACL_BF16) {
        mock_build_fail(b, "x has data type %s; FLOAT16 and BFLOAT16 are supported", mock_dtype_name(type));
    }
    const int32_t weight = views[WEIGHT].dtype;
    if (weight != ACL_INT8 && weight != ACL_INT4 && weight != ACL_INT32) {
        mock_build_fail(b, "weight has data type %s; INT8, INT4 and INT32 are supported",
            mock_dtype_name(weight));
    }
    const char *const names[] = {"", "", "antiquantScale", "antiquantOffsetOptional", "biasOptional", "y"};
    for (int i = SCALE; i <= Y; i++) {
        if (views[i].absent || views[i].dtype == type || (i == BIAS && views[i].dtype == ACL_FLOAT)) continue;
        mock_build_fail(b, "%s has data type %s, x has %s", names[i], mock_dtype_name(views[i].dtype),
            mock_dtype_name(type));
    }
}

/* One element, [n] or [1, n]; for groups [groups, n]. */
static void check_grid(mock_build *b, unsigned index, const char *name, int64_t groups, int64_t n) {
    mock_shape_text text;
    const mock_view *v = &b->plan->views[index];
    if (b->status != 0 || v->absent) return;
    const int64_t rows = v->rank == 2 ? v->dims[0] : 1;
    const int64_t columns = v->rank == 0 ? 1 : v->dims[v->rank - 1];
    const bool one = groups == 1 && rows == 1 && columns == 1;
    if (v->rank <= 2 && (one || (rows == groups && columns == n))) return;
    mock_build_fail(b, "%s has shape %s, expected [%lld, %lld]%s", name, mock_shape(v, &text),
        (long long)groups, (long long)n, groups == 1 ? ", one dimension or one element" : "");
}

static void plan_weight_quant(mock_build *b, int group_size) {
    if (b->status != 0) return;
    const mock_view *x = &b->plan->views[X], *w = &b->plan->views[WEIGHT];
    weight_quant *p = MOCK_PARAMS(b->plan, weight_quant);
    mock_shape_text sx, sw;
    check_types(b);
    mock_require_rank(b, X, "x", 2);
    mock_require_rank(b, WEIGHT, "weight", 2);
    if (b->status != 0) return;
    const int64_t in_element = w->dtype == ACL_INT32 ? IN_WORD : 1;
    *p = (weight_quant){x->dims[0], w->dims[1] * in_element, x->dims[1], 0};
    if (w->dims[0] != p->k) {
        mock_build_fail(b, "the inner dimensions of x %s and weight %s differ", mock_shape(x, &sx),
            mock_shape(w, &sw));
    } else if (group_size != 0 && (group_size < GROUP || group_size % GROUP != 0 || group_size >= p->k)) {
        mock_build_fail(b, "antiquantGroupSize is %d, expected 0 or a multiple of %d below %lld", group_size,
            GROUP, (long long)p->k);
    }
    /* Of a repeated row or column there may be more than bytes can be counted for (own choice). */
    if (p->m > INT32_MAX || p->k > INT32_MAX) {
        mock_build_fail(b, "x has shape %s; its dimensions are at most 2147483647", mock_shape(x, &sx));
    }
    p->group = group_size != 0 ? group_size : p->k == 0 ? 1 : p->k;
    const int64_t groups = group_size == 0 ? 1 : (p->k + p->group - 1) / p->group;
    check_grid(b, SCALE, "antiquantScale", groups, p->n);
    check_grid(b, OFFSET, "antiquantOffsetOptional", groups, p->n);
    check_grid(b, BIAS, "biasOptional", 1, p->n);
    const mock_view shape = {.rank = 2, .dims = {p->m, p->n}};
    mock_require_shape(b, &b->plan->views[Y], "y", &shape, "the shape of the product");
    if (b->status != 0 || b->plan->views[Y].span == 0) return;
    b->plan->need = mock_workspace_bytes((uint64_t)p->k * COLUMNS, sizeof(float)) +
                    mock_workspace_bytes((uint64_t)p->m * COLUMNS, sizeof(float));
}

static void build(
    mock_build *b, const aclTensor *x, const aclTensor *weight, const aclTensor *scale,
    const aclTensor *offset, const aclTensor *quant_scale, const aclTensor *quant_offset,
    const aclTensor *bias, const aclTensor *y) {
    mock_build_tensor(b, x, "x", MOCK_IN);
    mock_build_quantised(b, weight, "weight");
    mock_build_tensor(b, scale, "antiquantScale", MOCK_IN);
    mock_build_optional(b, offset, "antiquantOffsetOptional", MOCK_IN);
    mock_refuse_tensor(b, quant_scale, "quantScaleOptional");
    mock_refuse_tensor(b, quant_offset, "quantOffsetOptional");
    mock_build_optional(b, bias, "biasOptional", MOCK_IN);
    mock_build_tensor(b, y, "y", MOCK_OUT);
}

MOCK_OPERATOR(aclnnWeightQuantBatchMatmulV2, run_weight_quant)
MOCK_OPERATOR(aclnnWeightQuantBatchMatmulV3, run_weight_quant)

aclnnStatus aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
    const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize,
    const aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnWeightQuantBatchMatmulV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnWeightQuantBatchMatmulV2_task, workspaceSize, executor);
    build(&b, x, weight, antiquantScale, antiquantOffsetOptional, quantScaleOptional, quantOffsetOptional,
        biasOptional, y);
    plan_weight_quant(&b, antiquantGroupSize);
    return mock_build_finish(&b);
}

aclnnStatus aclnnWeightQuantBatchMatmulV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
    const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize,
    int innerPrecise, const aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnWeightQuantBatchMatmulV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnWeightQuantBatchMatmulV3_task, workspaceSize, executor);
    build(&b, x, weight, antiquantScale, antiquantOffsetOptional, quantScaleOptional, quantOffsetOptional,
        biasOptional, y);
    plan_weight_quant(&b, antiquantGroupSize);
    if (innerPrecise != 0 && innerPrecise != 1) {
        mock_build_fail(&b, "innerPrecise is %d, expected 0 or 1", innerPrecise);
    }
    return mock_build_finish(&b);
}
