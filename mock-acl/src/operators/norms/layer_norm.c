/* LayerNorm, FastLayerNorm and LayerNormWithImplMode over the trailing dimensions. Workspace: one line of
 * f32 for input and output and one each for weight and bias, as far as they are not contiguous f32.
 *
 * f32, f16 and bf16 (guide: aclnn, aclnnLayerNorm). Mean and variance are collected in f64 in two passes of
 * fixed order and rounded to f32; (x - mean) * rstd * weight + bias is computed in f32, each step rounded,
 * and rounded once to the type of out (own choice). mean and rstd are stored from f64. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* The order of the operands. */
enum { INPUT, WEIGHT, BIAS, OUT, MEAN, RSTD };

typedef struct layer_norm {
    double eps;
    int32_t axis;
} layer_norm;

/* What every line of one run shares. */
typedef struct norm_run {
    mock_line in, out;
    const float *weight, *bias;
    float *scratch;
    double eps;
    const mock_view *mean, *rstd;
} norm_run;

static mock_line trailing(const mock_view *v, int axis) {
    return mock_line_of(v, axis, v->rank - axis);
}

static bool needs_copy(const mock_view *v) {
    return !v->absent && !mock_line_of(v, 0, v->rank).direct;
}

static void normalise(float *y, const float *x, const norm_run *r, double mean, double rstd) {
    const size_t n = r->in.count;
    const float centre = (float)mean, scale = (float)rstd;
    for (size_t i = 0; i < n; i++) {
        const float v = (x[i] - centre) * scale;
        const float weighted = r->weight == NULL ? v : v * r->weight[i];
        y[i] = r->bias == NULL ? weighted : weighted + r->bias[i];
    }
}

static void put_statistic(const mock_view *v, void *to, double value) {
    if (!v->absent) mock_store(MOCK_F64, v->dtype, to, 1, 1, &value);
}

static void run_line(const norm_run *r, const void *from, void *to, void *mean, void *rstd) {
    const float *x = mock_line_get(&r->in, from, r->scratch);
    const double n = (double)r->in.count;
    const double average = mock_sum_f32(x, r->in.count) / n;
    const double inverse = 1 / sqrt(mock_square_sum_f32(x, r->in.count, average) / n + r->eps);
    float *y = r->out.direct ? to : r->scratch;
    normalise(y, x, r, average, inverse);
    mock_line_put(&r->out, to, y);
    put_statistic(r->mean, mean, average);
    put_statistic(r->rstd, rstd, inverse);
}

/* Weight or bias as a line of f32, from its place or from the next part of the workspace. */
static const float *whole_line(const mock_plan *plan, unsigned index, const void *from, char **workspace) {
    const mock_view *v = &plan->views[index];
    if (v->absent) return NULL;
    const mock_line line = mock_line_of(v, 0, v->rank);
    float *scratch = (float *)(void *)*workspace;
    if (!line.direct) *workspace += mock_workspace_bytes(line.count, sizeof(float));
    return mock_line_get(&line, from, scratch);
}

/* An absent operand gets some address that nobody follows. */
static bool find_operands(mock_plan *plan, void **pointers) {
    for (unsigned i = 0; i < plan->count; i++) {
        pointers[i] = plan->views[i].absent ? plan : mock_plan_pointer(plan, i);
        if (pointers[i] == NULL) return false;
    }
    return true;
}

static norm_run begin_run(const mock_plan *plan, void *const *pointers, char *workspace) {
    const layer_norm *p = MOCK_PARAMS((mock_plan *)(uintptr_t)plan, layer_norm);
    norm_run r = {.in = trailing(&plan->views[INPUT], p->axis), .out = trailing(&plan->views[OUT], p->axis)};
    r.scratch = (float *)(void *)workspace;
    if (!r.in.direct || !r.out.direct) workspace += mock_workspace_bytes(r.in.count, sizeof(float));
    r.weight = whole_line(plan, WEIGHT, pointers[WEIGHT], &workspace);
    r.bias = whole_line(plan, BIAS, pointers[BIAS], &workspace);
    r.eps = p->eps;
    r.mean = &plan->views[MEAN];
    r.rstd = &plan->views[RSTD];
    return r;
}

/* The leading dimensions; an absent operand becomes one that never moves. */
static void add_leading(mock_walk *w, const mock_view *v, void *first) {
    mock_view leading = *v;
    leading.rank = (uint8_t)(v->absent ? 0 : w->rank);
    mock_walk_add(w, &leading, first);
}

static aclError run_layer_norm(void *arg) {
    const mock_plan *plan = arg;
    const int axis = MOCK_PARAMS((mock_plan *)arg, layer_norm)->axis;
    void *pointers[MOCK_MAX_OPERANDS];
    char *workspace = mock_plan_workspace(plan);
    mock_walk w;
    if (workspace == NULL || !find_operands(arg, pointers)) return MOCK_DEVICE_FAULT;
    const norm_run r = begin_run(plan, pointers, workspace);
    mock_walk_begin(&w, axis, plan->views[INPUT].dims);
    add_leading(&w, &plan->views[OUT], pointers[OUT]);
    add_leading(&w, &plan->views[INPUT], pointers[INPUT]);
    add_leading(&w, &plan->views[MEAN], pointers[MEAN]);
    add_leading(&w, &plan->views[RSTD], pointers[RSTD]);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        for (size_t i = 0; i < w.n; i++) {
            void *at[4];
            for (int k = 0; k < 4; k++) {
                const int64_t bytes = (int64_t)i * w.step[k] * (int64_t)w.size[k];
                at[k] = w.row[k] + bytes;
            }
            run_line(&r, at[1], at[0], at[2], at[3]);
        }
    }
    return 0;
}

static void check_types(mock_build *b) {
    static const char *const names[] = {"input", "weightOptional", "biasOptional", "out", "meanOutOptional",
        "rstdOutOptional"};
    const mock_view *views = b->plan->views;
    for (int i = INPUT; i <= RSTD; i++) {
        if (views[i].absent || mock_dtype_is_float(views[i].dtype)) continue;
        mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", names[i],
            mock_dtype_name(views[i].dtype));
    }
    if (views[OUT].dtype != views[INPUT].dtype) {
        mock_build_fail(b, "out has data type %s, input has %s", mock_dtype_name(views[OUT].dtype),
            mock_dtype_name(views[INPUT].dtype));
    }
}

static void check_optional_shape(mock_build *b, int index, const char *param, const mock_view *expected) {
    const mock_view *v = &b->plan->views[index];
    if (!v->absent) mock_require_shape(b, v, param, expected, "from input and normalizedShape");
}

/* The number of leading dimensions. */
static int check_shapes(mock_build *b, const mock_array *normalized) {
    const mock_view *input = &b->plan->views[INPUT];
    mock_view tail = {.rank = 0}, statistics = *input;
    mock_shape_text have, want;
    const int64_t *dims = normalized->values;
    if (normalized->size == 0 || normalized->size > MOCK_MAX_RANK) {
        mock_build_fail(b, "normalizedShape has %llu entries", (unsigned long long)normalized->size);
        return 0;
    }
    for (uint64_t i = 0; i < normalized->size; i++) tail.dims[tail.rank++] = dims[i];
    const int axis = input->rank - tail.rank;
    mock_view expected = {.rank = tail.rank};
    for (int i = 0; i < tail.rank && axis >= 0; i++) expected.dims[i] = input->dims[axis + i];
    if (axis < 0 || !mock_same_shape(&tail, &expected)) {
        mock_build_fail(b, "normalizedShape %s is not the end of the input's shape %s",
            mock_shape(&tail, &have), mock_shape(input, &want));
        return 0;
    }
    for (int i = axis; i < input->rank; i++) statistics.dims[i] = 1;
    check_optional_shape(b, WEIGHT, "weightOptional", &tail);
    check_optional_shape(b, BIAS, "biasOptional", &tail);
    mock_require_shape(b, &b->plan->views[OUT], "out", input, "the shape of input");
    check_optional_shape(b, MEAN, "meanOutOptional", &statistics);
    check_optional_shape(b, RSTD, "rstdOutOptional", &statistics);
    return axis;
}

static uint64_t workspace_of(const mock_plan *plan, int axis) {
    const mock_line in = trailing(&plan->views[INPUT], axis), out = trailing(&plan->views[OUT], axis);
    const unsigned lines = (!in.direct || !out.direct) + needs_copy(&plan->views[WEIGHT]) +
                           needs_copy(&plan->views[BIAS]);
    return lines * mock_workspace_bytes(in.count, sizeof(float));
}

static aclnnStatus plan_layer_norm(
    mock_build b, const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional,
    const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional,
    aclTensor *rstdOutOptional) {
    mock_build_tensor(&b, input, "input", MOCK_IN);
    const mock_array *normalized = mock_build_ints(&b, normalizedShape, "normalizedShape");
    mock_build_optional(&b, weightOptional, "weightOptional", MOCK_IN);
    mock_build_optional(&b, biasOptional, "biasOptional", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_build_optional(&b, meanOutOptional, "meanOutOptional", MOCK_OUT);
    mock_build_optional(&b, rstdOutOptional, "rstdOutOptional", MOCK_OUT);
    if (b.status == 0) {
        check_types(&b);
        const int axis = check_shapes(&b, normalized);
        *MOCK_PARAMS(b.plan, layer_norm) = (layer_norm){eps, axis};
        if (b.status == 0) b.plan->need = workspace_of(b.plan, axis);
    }
    return mock_build_finish(&b);
}

#define LAYER_NORM(NAME)                                                                                    \
    MOCK_OPERATOR(NAME, run_layer_norm)                                                                     \
    aclnnStatus NAME##GetWorkspaceSize(                                                                     \
        const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional,        \
        const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional,              \
        aclTensor *rstdOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor) {                    \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                                 \
        return plan_layer_norm(mock_build_begin(&NAME##_task, workspaceSize, executor), input,              \
            normalizedShape, weightOptional, biasOptional, eps, out, meanOutOptional, rstdOutOptional);     \
    }
LAYER_NORM(aclnnLayerNorm)
LAYER_NORM(aclnnFastLayerNorm)

/* implMode 0, 1 or 2 chooses between precision and speed; here all are the same (own choice). */
MOCK_OPERATOR(aclnnLayerNormWithImplMode, run_layer_norm)
aclnnStatus aclnnLayerNormWithImplModeGetWorkspaceSize(
    const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional,
    const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional,
    aclTensor *rstdOutOptional, int32_t implMode, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLayerNormWithImplModeGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLayerNormWithImplMode_task, workspaceSize, executor);
    if (implMode < 0 || implMode > 2) mock_build_fail(&b, "implMode is %d, expected 0, 1 or 2", implMode);
    return plan_layer_norm(b, input, normalizedShape, weightOptional, biasOptional, eps, out,
        meanOutOptional, rstdOutOptional);
}
