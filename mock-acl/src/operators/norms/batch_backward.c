/* BatchNormBackward: the gradients of BatchNorm (guide: aclnn, aclnnBatchNormBackward).
 *
 * With training the statistics are saveMean and saveInvstd, as BatchNorm gives them, and depend on the input; without
 * they are runningMean and runningVar. f32, f16 and bf16, all of it computed in f64 in a fixed order and rounded once
 * (own choice). What outputMask leaves out is not touched and may be null. No workspace. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* In the order of the parameters, by which addresses are told; the statistics that are not used are absent. */
enum { GRAD, X, WEIGHT, MEAN, SPREAD, SAVE_MEAN, SAVE_SPREAD, GRAD_X, GRAD_WEIGHT, GRAD_BIAS, OPERANDS };

typedef struct batch_backward {
    double eps;
    bool training;
} batch_backward;

typedef struct sums {
    double mean, scale, weight, grads, products, count;
} sums;

/* All elements of channel c. */
static mock_view channel(const mock_view *v, char *first, int64_t c, char **from) {
    mock_view some = *v;
    some.dims[1] = 1;
    *from = first + c * v->strides[1] * (int64_t)mock_dtype_size(v->dtype);
    return some;
}

static double at(const mock_view *v, char *first, const int64_t *i) {
    return mock_read_real(v->dtype, mock_element_at(v, first, i));
}

static void add_up(const mock_view *views, char *const *first, int64_t c, sums *s) {
    int64_t i[MOCK_MAX_RANK] = {0};
    char *grads, *values;
    const mock_view grad = channel(&views[GRAD], first[GRAD], c, &grads);
    const mock_view x = channel(&views[X], first[X], c, &values);
    s->count = (double)mock_element_count(&x);
    if (s->count == 0) return;
    do {
        const double g = at(&grad, grads, i);
        s->grads += g;
        s->products += g * (at(&x, values, i) - s->mean) * s->scale;
    } while (mock_next(&x, i));
}

static void put_input(
    const mock_view *views, char *const *first, int64_t c, const batch_backward *p, const sums *s) {
    int64_t i[MOCK_MAX_RANK] = {0};
    char *grads, *values, *results;
    const mock_view grad = channel(&views[GRAD], first[GRAD], c, &grads);
    const mock_view x = channel(&views[X], first[X], c, &values);
    if (views[GRAD_X].absent || s->count == 0) return;
    const mock_view out = channel(&views[GRAD_X], first[GRAD_X], c, &results);
    do {
        double g = at(&grad, grads, i);
        if (p->training)
            g -= (s->grads + (at(&x, values, i) - s->mean) * s->scale * s->products) / s->count;
        mock_write_real(out.dtype, mock_element_at(&out, results, i), g * s->scale * s->weight);
    } while (mock_next(&x, i));
}

static void put(const mock_view *v, char *first, int64_t c, double value) {
    if (!v->absent) mock_write_real(v->dtype, mock_element_at(v, first, &c), value);
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const batch_backward *p = MOCK_PARAMS((mock_plan *)arg, batch_backward);
    const mock_view *views = plan->views;
    char *first[MOCK_MAX_OPERANDS];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    const int mean = p->training ? SAVE_MEAN : MEAN, deviation = p->training ? SAVE_SPREAD : SPREAD;
    for (int64_t c = 0; c < views[X].dims[1]; c++) {
        const double spread = at(&views[deviation], first[deviation], &c);
        sums s = {.mean = at(&views[mean], first[mean], &c),
            .scale = p->training ? spread : 1 / sqrt(spread + p->eps),
            .weight = views[WEIGHT].absent ? 1 : at(&views[WEIGHT], first[WEIGHT], &c)};
        add_up(views, first, c, &s);
        put_input(views, first, c, p, &s);
        put(&views[GRAD_WEIGHT], first[GRAD_WEIGHT], c, s.products);
        put(&views[GRAD_BIAS], first[GRAD_BIAS], c, s.grads);
    }
    return 0;
}

/* ---- first phase ---- */

static void check(mock_build *b) {
    static const char *const names[OPERANDS] = {"gradOut", "input", "weight", "the mean", "the deviation",
        "the mean", "the deviation", "gradInput", "gradWeight", "gradBias"};
    const mock_view *views = b->plan->views;
    for (int k = 0; k < OPERANDS; k++) {
        if (!views[k].absent && !mock_dtype_is_float(views[k].dtype))
            mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", names[k],
                mock_dtype_name(views[k].dtype));
    }
    if (views[X].rank < 2)
        mock_build_fail(b, "input has %d dimensions, expected 2 or more", views[X].rank);
    if (b->status != 0) return;
    const mock_view line = {.rank = 1, .dims = {views[X].dims[1]}};
    for (int k = 0; k < OPERANDS; k++) {
        const bool image = k == GRAD || k == GRAD_X;
        if (views[k].absent || k == X) continue;
        mock_require_shape(b, &views[k], names[k], image ? &views[X] : &line,
            image ? "the shape of input" : "one for each channel");
    }
}

/* A result that the mask leaves out is not looked at. */
static void result(mock_build *b, const bool *mask, int k, aclTensor *tensor, const char *param) {
    if (b->status != 0) return;
    if (mask[k]) mock_build_tensor(b, tensor, param, MOCK_OUT);
    else mock_build_optional(b, NULL, param, MOCK_OUT);
}

/* One that is not used only has to be live, if it is there. */
static void statistic(mock_build *b, const aclTensor *tensor, const char *param, bool used) {
    if (used) {
        mock_build_tensor(b, tensor, param, MOCK_IN);
    } else {
        mock_require_live(b, tensor, param);
        mock_build_optional(b, NULL, param, MOCK_IN);
    }
}

MOCK_OPERATOR(aclnnBatchNormBackward, run)
aclnnStatus aclnnBatchNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input,
    const aclTensor *weight, const aclTensor *runningMean, const aclTensor *runningVar,
    const aclTensor *saveMean, const aclTensor *saveInvstd, bool training, double eps,
    const aclBoolArray *outputMask, aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradBias,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnBatchNormBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnBatchNormBackward_task, workspaceSize, executor);
    mock_build_tensor(&b, gradOut, "gradOut", MOCK_IN);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    mock_build_optional(&b, weight, "weight", MOCK_IN);
    statistic(&b, runningMean, "runningMean", !training);
    statistic(&b, runningVar, "runningVar", !training);
    statistic(&b, saveMean, "saveMean", training);
    statistic(&b, saveInvstd, "saveInvstd", training);
    const bool *mask = mock_build_mask(&b, outputMask, 3);
    result(&b, mask, 0, gradInput, "gradInput");
    result(&b, mask, 1, gradWeight, "gradWeight");
    result(&b, mask, 2, gradBias, "gradBias");
    if (b.status == 0) check(&b);
    if (b.status == 0) *MOCK_PARAMS(b.plan, batch_backward) = (batch_backward){eps, training};
    return mock_build_finish(&b);
}
