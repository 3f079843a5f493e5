/* Gradients of Softmax, LogSoftmax and LayerNorm (guide: aclnn, page of each). f32, f16 and bf16, computed in
 * f64 from the operands as they are stored, in the order of the elements, rounded once (own choice). mean and
 * rstd have the dimensions of the input, of one element where it is normalised. Of outputMask's results those
 * that it leaves out may be null and are not written. Workspace: sums of the weights' gradients in f64. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* ---- softmax ---- */

enum { GRAD, OUTPUT, RESULT };

typedef struct softmax {
    int64_t dim;
    bool logarithms;
} softmax;

static double at_line(const mock_view *v, char *first, int64_t *i, int dim, int64_t k) {
    i[dim] = k;
    return mock_read_real(v->dtype, mock_element_at(v, first, i));
}

static void softmax_line(const mock_plan *plan, const softmax *p, char *const *first, int64_t *i) {
    const mock_view *grad = &plan->views[GRAD], *y = &plan->views[OUTPUT], *out = &plan->views[RESULT];
    const int dim = (int)p->dim;
    double sum = 0;
    for (int64_t k = 0; k < y->dims[dim]; k++) {
        const double g = at_line(grad, first[GRAD], i, dim, k);
        sum += p->logarithms ? g : g * at_line(y, first[OUTPUT], i, dim, k);
    }
    for (int64_t k = 0; k < y->dims[dim]; k++) {
        const double g = at_line(grad, first[GRAD], i, dim, k), value = at_line(y, first[OUTPUT], i, dim, k);
        const double result = p->logarithms ? g - exp(value) * sum : value * (g - sum);
        mock_write_real(out->dtype, mock_element_at(out, first[RESULT], i), result);
    }
    i[dim] = 0;
}

static aclError run_softmax(void *arg) {
    const mock_plan *plan = arg;
    const softmax *p = MOCK_PARAMS((mock_plan *)arg, softmax);
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(&plan->views[RESULT]) == 0) return 0;
    do softmax_line(plan, p, first, i);
    while (mock_next_but(&plan->views[RESULT], (int)p->dim, i));
    return 0;
}

static void require_floats(mock_build *b, const char *const *names, int count) {
    for (int i = 0; b->status == 0 && i < count; i++) {
        const mock_view *v = &b->plan->views[i];
        if (!v->absent && !mock_dtype_is_float(v->dtype))
            mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", names[i],
                mock_dtype_name(v->dtype));
    }
}

/* A tensor without dimensions is one line of one element. */
static void plan_softmax(mock_build *b, int64_t dim, bool logarithms) {
    static const char *const names[] = {"gradOutput", "output", "out"};
    require_floats(b, names, 3);
    if (b->status != 0) return;
    mock_view *views = b->plan->views;
    mock_require_shape(b, &views[GRAD], names[GRAD], &views[OUTPUT], "the shape of output");
    mock_require_shape(b, &views[RESULT], names[RESULT], &views[OUTPUT], "the shape of output");
    const int place = b->status != 0 ? 0 : mock_require_dim(b, "dim", dim, views[OUTPUT].rank);
    for (int i = 0; b->status == 0 && i < 3; i++) {
        if (views[i].rank != 0) continue;
        views[i].rank = 1;
        views[i].dims[0] = views[i].strides[0] = 1;
    }
    *MOCK_PARAMS(b->plan, softmax) = (softmax){place, logarithms};
}

#define SOFTMAX(NAME, LOGARITHMS)                                                                         \
    MOCK_OPERATOR(NAME, run_softmax)                                                                      \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *output, int64_t dim, \
        aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {                              \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                               \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                           \
        mock_build_tensor(&b, gradOutput, "gradOutput", MOCK_IN);                                         \
        mock_build_tensor(&b, output, "output", MOCK_IN);                                                 \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                      \
        plan_softmax(&b, dim, LOGARITHMS);                                                                \
        return mock_build_finish(&b);                                                                     \
    }

SOFTMAX(aclnnSoftmaxBackward, false)
SOFTMAX(aclnnLogSoftmaxBackward, true)

/* ---- layer norm ---- */

enum { GRAD_OUT, INPUT, MEAN, RSTD, WEIGHT, BIAS, GRAD_INPUT, GRAD_WEIGHT, GRAD_BIAS, OPERANDS };
static const char *const names_of_norm[] = {"gradOut", "input", "mean", "rstd", "weightOptional",
    "biasOptional", "gradInputOut", "gradWeightOut", "gradBiasOut"};

typedef struct norm {
    int64_t count; /* elements of a line */
    int8_t lead;   /* dimensions before it */
} norm;

typedef struct norm_state {
    const mock_plan *plan;
    const norm *p;
    char *first[MOCK_MAX_OPERANDS];
    double *weights, *biases;
} norm_state;

static double read_at(const norm_state *s, int operand, const int64_t *i) {
    const mock_view *v = &s->plan->views[operand];
    return mock_read_real(v->dtype, mock_element_at(v, s->first[operand], i));
}

/* `i` has the places of the line and zeros behind them. */
static void norm_line(const norm_state *s, int64_t *i) {
    const mock_view *x = &s->plan->views[INPUT], *result = &s->plan->views[GRAD_INPUT];
    const int lead = s->p->lead;
    const mock_view line = {.rank = (uint8_t)(x->rank - lead)};
    mock_view inner = line;
    for (int d = lead; d < x->rank; d++) inner.dims[d - lead] = x->dims[d];
    const double mean = read_at(s, MEAN, i), rstd = read_at(s, RSTD, i), n = (double)s->p->count;
    const bool weighted = !s->plan->views[WEIGHT].absent;
    double sum = 0, product = 0;
    int64_t k = 0;
    do {
        const double g = read_at(s, GRAD_OUT, i), x_hat = (read_at(s, INPUT, i) - mean) * rstd;
        const double scaled = weighted ? g * read_at(s, WEIGHT, i + lead) : g;
        sum += scaled;
        product += scaled * x_hat;
        s->weights[k] += g * x_hat;
        s->biases[k++] += g;
    } while (mock_next(&inner, i + lead));
    if (result->absent) return;
    do {
        const double g = read_at(s, GRAD_OUT, i), x_hat = (read_at(s, INPUT, i) - mean) * rstd;
        const double scaled = weighted ? g * read_at(s, WEIGHT, i + lead) : g;
        const double value = rstd * (scaled - sum / n - x_hat * product / n);
        mock_write_real(result->dtype, mock_element_at(result, s->first[GRAD_INPUT], i), value);
    } while (mock_next(&inner, i + lead));
}

static void put_sums(const norm_state *s, int operand, const double *sums) {
    const mock_view *v = &s->plan->views[operand];
    int64_t i[MOCK_MAX_RANK] = {0}, k = 0;
    if (v->absent || mock_element_count(v) == 0) return;
    do mock_write_real(v->dtype, mock_element_at(v, s->first[operand], i), sums[k++]);
    while (mock_next(v, i));
}

static aclError run_norm(void *arg) {
    const mock_plan *plan = arg;
    norm_state s = {.plan = plan, .p = MOCK_PARAMS((mock_plan *)arg, norm)};
    const mock_view *x = &plan->views[INPUT];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, s.first)) return MOCK_DEVICE_FAULT;
    s.weights = mock_plan_workspace(plan);
    if (s.weights == NULL) return MOCK_DEVICE_FAULT;
    s.biases = s.weights + s.p->count;
    if (s.p->count != 0) memset(s.weights, 0, 2 * (size_t)s.p->count * sizeof *s.weights);
    mock_view lines = *x;
    lines.rank = (uint8_t)s.p->lead;
    if (mock_element_count(x) != 0) do
            norm_line(&s, i);
        while (mock_next(&lines, i));
    put_sums(&s, GRAD_WEIGHT, s.weights);
    put_sums(&s, GRAD_BIAS, s.biases);
    return 0;
}

static void check_norm(mock_build *b, const aclIntArray *shape, norm *p) {
    const mock_array *dims = mock_build_ints(b, shape, "normalizedShape");
    require_floats(b, names_of_norm, OPERANDS);
    if (b->status != 0) return;
    const mock_view *views = b->plan->views, *x = &views[INPUT];
    mock_view inner = {.rank = (uint8_t)dims->size}, outer = *x;
    mock_shape_text text;
    p->lead = (int8_t)(x->rank - (int)dims->size);
    if (dims->size == 0 || dims->size > x->rank ||
        memcmp(dims->values, x->dims + p->lead, dims->size * sizeof *x->dims) != 0) {
        mock_build_fail(b, "normalizedShape is not the end of input's shape %s", mock_shape(x, &text));
        return;
    }
    for (int d = p->lead; d < x->rank; d++) {
        inner.dims[d - p->lead] = x->dims[d];
        outer.dims[d] = 1;
    }
    p->count = mock_element_count(&inner);
    mock_require_shape(b, &views[GRAD_OUT], "gradOut", x, "the shape of input");
    mock_require_shape(b, &views[MEAN], "mean", &outer, "that of input with ones");
    mock_require_shape(b, &views[RSTD], "rstd", &outer, "that of input with ones");
    if (!views[GRAD_INPUT].absent)
        mock_require_shape(b, &views[GRAD_INPUT], "gradInputOut", x, "the shape of input");
    static const int of_line[] = {WEIGHT, BIAS, GRAD_WEIGHT, GRAD_BIAS};
    for (int k = 0; k < 4; k++)
        if (!views[of_line[k]].absent)
            mock_require_shape(b, &views[of_line[k]], names_of_norm[of_line[k]], &inner, "normalizedShape");
}

MOCK_OPERATOR(aclnnLayerNormBackward, run_norm)
aclnnStatus aclnnLayerNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input,
    const aclIntArray *normalizedShape, const aclTensor *mean, const aclTensor *rstd,
    const aclTensor *weightOptional, const aclTensor *biasOptional, const aclBoolArray *outputMask,
    aclTensor *gradInputOut, aclTensor *gradWeightOut, aclTensor *gradBiasOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLayerNormBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLayerNormBackward_task, workspaceSize, executor);
    const bool *mask = mock_build_mask(&b, outputMask, 3);
    aclTensor *const results[] = {gradInputOut, gradWeightOut, gradBiasOut};
    norm p = {0, 0};
    mock_build_tensor(&b, gradOut, "gradOut", MOCK_IN);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    mock_build_tensor(&b, mean, "mean", MOCK_IN);
    mock_build_tensor(&b, rstd, "rstd", MOCK_IN);
    mock_build_optional(&b, weightOptional, "weightOptional", MOCK_IN);
    mock_build_optional(&b, biasOptional, "biasOptional", MOCK_IN);
    for (int k = 0; b.status == 0 && k < 3; k++) {
        if (mask[k])
            mock_build_tensor(&b, results[k], names_of_norm[GRAD_INPUT + k], MOCK_OUT);
        else
            mock_build_optional(&b, NULL, names_of_norm[GRAD_INPUT + k], MOCK_OUT);
    }
    check_norm(&b, normalizedShape, &p);
    if (b.status == 0) {
        b.plan->need = 2 * mock_workspace_bytes((uint64_t)p.count, sizeof(double));
        *MOCK_PARAMS(b.plan, norm) = p;
    }
    return mock_build_finish(&b);
}
