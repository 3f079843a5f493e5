/* Norms of channels, the second dimension: GroupNorm, GroupNormSilu, GroupNormSiluV2, InstanceNorm, and
 * BatchNorm and BatchNormElemt, whose statistics are given but in training (guide: aclnn, page of each).
 *
 * f32, f16 and bf16, all of it computed in f64 in a fixed order and rounded once (own choice). GroupNorm
 * gives mean and 1 / sqrt(variance + eps) of each group, InstanceNorm mean and variance of each channel;
 * variances divide by the number of elements. BatchNorm without training does not touch saveMean and saveInvstd (own
 * choice). With training it normalises with the statistics of the input, saves mean and inverse deviation, and moves
 * the running ones, which may be null, by momentum; the running variance takes that which divides by one element less,
 * 0 for a single element (own choice). No workspace. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* The order of the operands; the statistics are outputs of groups, inputs of batches. */
enum { X, WEIGHT, BIAS, OUT, MEAN, SPREAD, SAVE_MEAN, SAVE_SPREAD };

typedef struct channel_norm {
    int64_t groups;
    double eps;
    bool silu, variance; /* variance: instead of the inverse deviation */
    bool training;
    double momentum;
} channel_norm;

/* What one channel of one image becomes: (x - mean) * scale * weight + bias. */
typedef struct affine {
    double mean, scale, weight, bias;
    bool silu;
} affine;

/* Images `n` and channels from `c` on, `images` and `channels` of them. */
static mock_view part(const mock_view *v, int64_t images, int64_t channels) {
    mock_view some = *v;
    some.dims[0] = images;
    some.dims[1] = channels;
    return some;
}

static char *corner(const mock_view *v, char *first, int64_t n, int64_t c) {
    return first + (n * v->strides[0] + c * v->strides[1]) * (int64_t)mock_dtype_size(v->dtype);
}

static void statistics(const mock_view *some, char *first, double *mean, double *variance) {
    int64_t i[MOCK_MAX_RANK] = {0};
    const double count = (double)mock_element_count(some);
    double sum = 0, squares = 0;
    *mean = *variance = NAN;
    if (count == 0) return;
    do {
        sum += mock_read_real(some->dtype, mock_element_at(some, first, i));
    } while (mock_next(some, i));
    *mean = sum / count;
    do {
        const double away = mock_read_real(some->dtype, mock_element_at(some, first, i)) - *mean;
        squares += away * away;
    } while (mock_next(some, i));
    *variance = squares / count;
}

static void apply(const affine *a, const mock_view *x, char *from, const mock_view *out, char *to) {
    int64_t i[MOCK_MAX_RANK] = {0};
    if (mock_element_count(x) == 0) return;
    do {
        const double v = mock_read_real(x->dtype, mock_element_at(x, from, i));
        double y = (v - a->mean) * a->scale * a->weight + a->bias;
        if (a->silu) y *= mock_logistic(y);
        mock_write_real(out->dtype, mock_element_at(out, to, i), y);
    } while (mock_next(x, i));
}

/* An element of an operand of one dimension, `otherwise` where there is none. */
static double element(const mock_view *v, char *first, int64_t k, double otherwise) {
    return v->absent ? otherwise : mock_read_real(v->dtype, mock_element_at(v, first, &k));
}

static void channel(
    const mock_plan *plan, char *const *first, affine a, int64_t n, int64_t images, int64_t c) {
    const mock_view *views = plan->views;
    const mock_view x = part(&views[X], images, 1), out = part(&views[OUT], images, 1);
    a.weight = element(&views[WEIGHT], first[WEIGHT], c, 1);
    a.bias = element(&views[BIAS], first[BIAS], c, 0);
    apply(&a, &x, corner(&views[X], first[X], n, c), &out, corner(&views[OUT], first[OUT], n, c));
}

static aclError run_groups(void *arg) {
    const mock_plan *plan = arg;
    const channel_norm *p = MOCK_PARAMS((mock_plan *)arg, channel_norm);
    const mock_view *x = &plan->views[X], *mean_out = &plan->views[MEAN], *spread = &plan->views[SPREAD];
    char *first[MOCK_MAX_OPERANDS];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    const int64_t each = p->groups == 0 ? 0 : x->dims[1] / p->groups;
    const mock_view group = part(x, 1, each);
    for (int64_t n = 0; n < x->dims[0]; n++) {
        for (int64_t g = 0; g < p->groups; g++) {
            double mean, variance;
            const int64_t at[MOCK_MAX_RANK] = {n, g};
            statistics(&group, corner(x, first[X], n, g * each), &mean, &variance);
            const affine a = {mean, 1 / sqrt(variance + p->eps), 1, 0, p->silu};
            mock_write_real(mean_out->dtype, mock_element_at(mean_out, first[MEAN], at), mean);
            mock_write_real(spread->dtype, mock_element_at(spread, first[SPREAD], at),
                p->variance ? variance : a.scale);
            for (int64_t c = g * each; c < (g + 1) * each; c++) channel(plan, first, a, n, 1, c);
        }
    }
    return 0;
}

/* Moves an operand of one dimension, if there is one, by a part of the way. */
static void move_running(const mock_view *v, char *first, int64_t c, double momentum, double to) {
    if (v->absent) return;
    const double before = element(v, first, c, 0);
    mock_write_real(v->dtype, mock_element_at(v, first, &c), (1 - momentum) * before + momentum * to);
}

static void train_channel(const mock_plan *plan, const channel_norm *p, char *const *first, int64_t c) {
    const mock_view *views = plan->views, *x = &views[X];
    const mock_view all = part(x, x->dims[0], 1);
    const double count = (double)mock_element_count(&all);
    double mean, variance;
    statistics(&all, corner(x, first[X], 0, c), &mean, &variance);
    const affine a = {mean, 1 / sqrt(variance + p->eps), 1, 0, false};
    mock_write_real(views[SAVE_MEAN].dtype, mock_element_at(&views[SAVE_MEAN], first[SAVE_MEAN], &c), mean);
    mock_write_real(
        views[SAVE_SPREAD].dtype, mock_element_at(&views[SAVE_SPREAD], first[SAVE_SPREAD], &c), a.scale);
    if (count > 0) {
        move_running(&views[MEAN], first[MEAN], c, p->momentum, mean);
        move_running(&views[SPREAD], first[SPREAD], c, p->momentum,
            count == 1 ? 0 : variance * (count / (count - 1)));
    }
    channel(plan, first, a, 0, x->dims[0], c);
}

static aclError run_batch(void *arg) {
    const mock_plan *plan = arg;
    const channel_norm *p = MOCK_PARAMS((mock_plan *)arg, channel_norm);
    const mock_view *x = &plan->views[X];
    char *first[MOCK_MAX_OPERANDS];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    for (int64_t c = 0; p->training && c < x->dims[1]; c++) train_channel(plan, p, first, c);
    for (int64_t c = 0; !p->training && c < x->dims[1]; c++) {
        const double mean = element(&plan->views[MEAN], first[MEAN], c, 0);
        const double spread = element(&plan->views[SPREAD], first[SPREAD], c, 1);
        const affine a = {mean, p->variance ? 1 / sqrt(spread + p->eps) : fabs(spread), 1, 0, false};
        channel(plan, first, a, 0, x->dims[0], c);
    }
    return 0;
}

/* ---- first phases ---- */

/* Types, the shape of out, and weight and bias of one element for each channel. */
static void check_common(mock_build *b) {
    const mock_view *views = b->plan->views;
    for (unsigned k = 0; k < b->plan->count; k++) {
        if (!views[k].absent && !mock_dtype_is_float(views[k].dtype))
            mock_build_fail(b, "operand %u has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", k,
                mock_dtype_name(views[k].dtype));
    }
    if (views[OUT].dtype != views[X].dtype)
        mock_build_fail(b, "the result has data type %s, the input %s", mock_dtype_name(views[OUT].dtype),
            mock_dtype_name(views[X].dtype));
    if (views[X].rank < 2)
        mock_build_fail(b, "the input has %d dimensions, expected 2 or more", views[X].rank);
    mock_require_shape(b, &views[OUT], "the result", &views[X], "the shape of the input");
}

static void check_channels(mock_build *b, int operand, const char *param) {
    const mock_view *v = &b->plan->views[operand];
    if (b->status != 0 || v->absent) return;
    const mock_view expected = {.rank = 1, .dims = {b->plan->views[X].dims[1]}};
    mock_require_shape(b, v, param, &expected, "one for each channel");
}

/* The statistics have the shape [images, groups] and then dimensions of one up to `rank`. */
static void check_statistics(mock_build *b, int64_t groups, int rank) {
    const mock_view *x = &b->plan->views[X];
    if (b->status != 0) return;
    mock_view expected = {.rank = (uint8_t)rank, .dims = {x->dims[0], groups, 1, 1}};
    mock_require_shape(b, &b->plan->views[MEAN], "the mean", &expected, "one for each group");
    mock_require_shape(b, &b->plan->views[SPREAD], "the deviation", &expected, "one for each group");
}

static aclnnStatus plan_groups(mock_build *b, channel_norm p) {
    if (b->status != 0) return mock_build_finish(b);
    const mock_view *x = &b->plan->views[X];
    check_common(b);
    check_channels(b, WEIGHT, "gamma");
    check_channels(b, BIAS, "beta");
    if (b->status == 0 && (p.groups <= 0 || x->dims[1] % p.groups != 0))
        mock_build_fail(b, "group is %lld for %lld channels", (long long)p.groups, (long long)x->dims[1]);
    check_statistics(b, p.groups, 2);
    *MOCK_PARAMS(b->plan, channel_norm) = p;
    return mock_build_finish(b);
}

static void build_groups(mock_build *b, const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
    const aclTensor *out, const aclTensor *meanOut, const aclTensor *rstdOut) {
    mock_build_tensor(b, self, "self", MOCK_IN);
    mock_build_optional(b, gamma, "gamma", MOCK_IN);
    mock_build_optional(b, beta, "beta", MOCK_IN);
    mock_build_tensor(b, out, "out", MOCK_OUT);
    mock_build_tensor(b, meanOut, "meanOut", MOCK_OUT);
    mock_build_tensor(b, rstdOut, "rstdOut", MOCK_OUT);
}

/* N, C and HxW describe self (guide: aclnn, aclnnGroupNorm). */
MOCK_OPERATOR(aclnnGroupNorm, run_groups)
aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma,
    const aclTensor *beta, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps, aclTensor *out,
    aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGroupNormGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGroupNorm_task, workspaceSize, executor);
    build_groups(&b, self, gamma, beta, out, meanOut, rstdOut);
    if (b.status == 0 && b.plan->views[X].rank >= 2) {
        mock_view one = part(&b.plan->views[X], 1, 1);
        const int64_t *dims = b.plan->views[X].dims, size = mock_element_count(&one);
        if (N != dims[0] || C != dims[1] || HxW != size)
            mock_build_fail(&b, "N, C and HxW are %lld, %lld and %lld, self has %lld, %lld and %lld",
                (long long)N, (long long)C, (long long)HxW, (long long)dims[0], (long long)dims[1],
                (long long)size);
    }
    return plan_groups(&b, (channel_norm){group, eps, false, false, false, 0});
}

MOCK_OPERATOR(aclnnGroupNormSilu, run_groups)
aclnnStatus aclnnGroupNormSiluGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma,
    const aclTensor *beta, int64_t group, double eps, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGroupNormSiluGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGroupNormSilu_task, workspaceSize, executor);
    build_groups(&b, self, gamma, beta, out, meanOut, rstdOut);
    return plan_groups(&b, (channel_norm){group, eps, true, false, false, 0});
}

MOCK_OPERATOR(aclnnGroupNormSiluV2, run_groups)
aclnnStatus aclnnGroupNormSiluV2GetWorkspaceSize(const aclTensor *self, const aclTensor *gamma,
    const aclTensor *beta, int64_t group, double eps, bool activateSilu, aclTensor *out, aclTensor *meanOut,
    aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGroupNormSiluV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGroupNormSiluV2_task, workspaceSize, executor);
    build_groups(&b, self, gamma, beta, out, meanOut, rstdOut);
    return plan_groups(&b, (channel_norm){group, eps, activateSilu, false, false, 0});
}

/* The last dimension of four as the second. */
static void channels_second(mock_view *v) {
    const int64_t dim = v->dims[3], stride = v->strides[3];
    for (int d = 3; d > 1; d--) {
        v->dims[d] = v->dims[d - 1];
        v->strides[d] = v->strides[d - 1];
    }
    v->dims[1] = dim;
    v->strides[1] = stride;
}

static void plan_instances(mock_build *b, const char *format, double eps) {
    mock_view *views = b->plan->views;
    static const int images[] = {X, OUT, MEAN, SPREAD};
    const bool last = strcmp(format, "NHWC") == 0;
    if (!last && strcmp(format, "NCHW") != 0)
        mock_build_fail(b, "dataFormat is %s, expected NCHW or NHWC", format);
    for (int k = 0; k < 4; k++) {
        mock_view *v = &views[images[k]];
        if (v->rank != 4) mock_build_fail(b, "operand %d has %d dimensions, expected 4", images[k], v->rank);
        else if (last) channels_second(v);
    }
    check_common(b);
    check_channels(b, WEIGHT, "gamma");
    check_channels(b, BIAS, "beta");
    check_statistics(b, views[X].dims[1], 4);
    *MOCK_PARAMS(b->plan, channel_norm) = (channel_norm){views[X].dims[1], eps, false, true, false, 0};
}

MOCK_OPERATOR(aclnnInstanceNorm, run_groups)
aclnnStatus aclnnInstanceNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma,
    const aclTensor *beta,
    const char *dataFormat, double eps, aclTensor *y, aclTensor *mean, aclTensor *variance,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInstanceNormGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInstanceNorm_task, workspaceSize, executor);
    mock_build_tensor(&b, x, "x", MOCK_IN);
    mock_build_tensor(&b, gamma, "gamma", MOCK_IN);
    mock_build_tensor(&b, beta, "beta", MOCK_IN);
    mock_build_tensor(&b, y, "y", MOCK_OUT);
    mock_build_tensor(&b, mean, "mean", MOCK_OUT);
    mock_build_tensor(&b, variance, "variance", MOCK_OUT);
    if (b.status == 0 && dataFormat == NULL) b.status = mock_null_parameter(b.name, "dataFormat");
    if (b.status == 0) plan_instances(&b, dataFormat, eps);
    return mock_build_finish(&b);
}

/* Without the last two where nothing is trained. */
static const uint8_t batch_order[] = {X, WEIGHT, BIAS, MEAN, SPREAD, OUT, SAVE_MEAN, SAVE_SPREAD};

static aclnnStatus plan_batch(mock_build *b, channel_norm p, const char *mean, const char *spread) {
    if (b->status != 0) return mock_build_finish(b);
    check_common(b);
    check_channels(b, WEIGHT, "weight");
    check_channels(b, BIAS, "bias");
    check_channels(b, MEAN, mean);
    check_channels(b, SPREAD, spread);
    if (p.training) check_channels(b, SAVE_MEAN, "saveMean");
    if (p.training) check_channels(b, SAVE_SPREAD, "saveInvstd");
    mock_build_order(b, batch_order, b->plan->count);
    *MOCK_PARAMS(b->plan, channel_norm) = p;
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnBatchNorm, run_batch)
aclnnStatus aclnnBatchNormGetWorkspaceSize(const aclTensor *input, const aclTensor *weight,
    const aclTensor *bias, aclTensor *runningMean, aclTensor *runningVar, bool training, double momentum,
    double eps, aclTensor *output, aclTensor *saveMean, aclTensor *saveInvstd, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnBatchNormGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnBatchNorm_task, workspaceSize, executor);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    mock_build_optional(&b, weight, "weight", MOCK_IN);
    mock_build_optional(&b, bias, "bias", MOCK_IN);
    mock_build_tensor(&b, output, "output", MOCK_OUT);
    if (training) {
        mock_build_optional(&b, runningMean, "runningMean", MOCK_INOUT);
        mock_build_optional(&b, runningVar, "runningVar", MOCK_INOUT);
        mock_build_tensor(&b, saveMean, "saveMean", MOCK_OUT);
        mock_build_tensor(&b, saveInvstd, "saveInvstd", MOCK_OUT);
    } else {
        mock_build_tensor(&b, runningMean, "runningMean", MOCK_IN);
        mock_build_tensor(&b, runningVar, "runningVar", MOCK_IN);
        mock_require_live(&b, saveMean, "saveMean");
        mock_require_live(&b, saveInvstd, "saveInvstd");
    }
    return plan_batch(&b, (channel_norm){1, eps, false, true, training, momentum}, "runningMean", "runningVar");
}

/* invstd is the inverse deviation, to which eps belongs already; its sign is lost, for the operators of CANN take the
 * variance out of it (their implementation; that variance is not rounded here to the type of invstd). */
MOCK_OPERATOR(aclnnBatchNormElemt, run_batch)
aclnnStatus aclnnBatchNormElemtGetWorkspaceSize(const aclTensor *input, const aclTensor *weight,
    const aclTensor *bias, aclTensor *mean, aclTensor *invstd, double eps, aclTensor *output,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnBatchNormElemtGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnBatchNormElemt_task, workspaceSize, executor);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    mock_build_optional(&b, weight, "weight", MOCK_IN);
    mock_build_optional(&b, bias, "bias", MOCK_IN);
    mock_build_tensor(&b, output, "output", MOCK_OUT);
    mock_build_tensor(&b, mean, "mean", MOCK_IN);
    mock_build_tensor(&b, invstd, "invstd", MOCK_IN);
    return plan_batch(&b, (channel_norm){1, eps, false, false, false, 0}, "mean", "invstd");
}
