/* ConvolutionBackward of one or two dimensions, transposed or not (guide: aclnn, aclnnConvolutionBackward).
 *
 * Both convolutions join the same elements: place `at` of the small side, which a convolution gives and a
 * transposed one takes, with the elements of its window on the large side, times the weight of small channel,
 * large channel and place in the window. So the gradients of both are sums over the same loop. f32, f16 and
 * bf16, sums in f64 in the order of the loop, rounded once (own choice). Of outputMask's results those that it
 * leaves out may be null and are not written; biasSizes and cubeMathType are not looked at (own choice).
 * Workspace: operands and results in f64. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/windows/window.h"

enum { GRAD, IN, KERNEL, GRAD_IN, GRAD_KERNEL, GRAD_BIAS, OPERANDS };
static const char *const names[] = {"gradOutput", "input", "weight", "gradInput", "gradWeight", "gradBias"};

typedef struct conv_backward {
    mock_window w; /* over the large side */
    int64_t groups, images;
    int64_t small, large; /* channels of one group */
    bool transposed;
} conv_backward;

typedef struct numbers {
    const double *small, *large, *kernel;
    double *to_side, *to_kernel; /* the gradients of the input, wherever it is, and of the weight */
} numbers;

/* One small element with its window in one large channel. */
static void join(
    const conv_backward *p, const numbers *n, int64_t small, int64_t large, int64_t kernel, const int64_t *at) {
    const mock_window *w = &p->w;
    for (int64_t r = 0; r < w->kernel[0]; r++) {
        const int64_t y = mock_window_place(w, 0, at[0], r);
        if (y < 0 || y >= w->size[0]) continue;
        for (int64_t c = 0; c < w->kernel[1]; c++) {
            const int64_t x = mock_window_place(w, 1, at[1], c), k = kernel + r * w->kernel[1] + c;
            if (x < 0 || x >= w->size[1]) continue;
            const int64_t there = large + y * w->size[1] + x;
            if (p->transposed)
                n->to_side[small] += n->kernel[k] * n->large[there];
            else
                n->to_side[there] += n->kernel[k] * n->small[small];
            n->to_kernel[k] += n->small[small] * n->large[there];
        }
    }
}

static void join_planes(
    const conv_backward *p, const numbers *n, int64_t small, int64_t large, int64_t kernel) {
    const mock_window *w = &p->w;
    int64_t at[2];
    for (at[0] = 0; at[0] < w->out[0]; at[0]++)
        for (at[1] = 0; at[1] < w->out[1]; at[1]++)
            join(p, n, small + at[0] * w->out[1] + at[1], large, kernel, at);
}

static void join_all(const conv_backward *p, const numbers *n) {
    const mock_window *w = &p->w;
    const int64_t plane = w->out[0] * w->out[1], wide = w->size[0] * w->size[1],
                  window = w->kernel[0] * w->kernel[1];
    const int64_t small = p->groups * p->small, large = p->groups * p->large;
    for (int64_t i = 0; i < p->images; i++)
        for (int64_t s = 0; s < small; s++)
            for (int64_t l = 0; l < p->large; l++)
                join_planes(p, n, (i * small + s) * plane, (i * large + s / p->small * p->large + l) * wide,
                    (s * p->large + l) * window);
}

/* All elements in row-major order. */
static void read_all(const mock_view *v, char *first, double *to) {
    int64_t i[MOCK_MAX_RANK] = {0};
    if (mock_element_count(v) == 0) return;
    do *to++ = mock_read_real(v->dtype, mock_element_at(v, first, i));
    while (mock_next(v, i));
}

static void write_all(const mock_view *v, char *first, const double *from) {
    int64_t i[MOCK_MAX_RANK] = {0};
    if (v->absent || mock_element_count(v) == 0) return;
    do mock_write_real(v->dtype, mock_element_at(v, first, i), *from++);
    while (mock_next(v, i));
}

static void put_bias(const mock_view *bias, char *first, const mock_view *grad, const double *values) {
    const int64_t channels = grad->dims[1], plane = grad->dims[2] * grad->dims[3];
    for (int64_t c = 0; !bias->absent && c < channels; c++) {
        double sum = 0;
        for (int64_t i = 0; i < grad->dims[0]; i++)
            for (int64_t k = 0; k < plane; k++) sum += values[(i * channels + c) * plane + k];
        mock_write_real(bias->dtype, mock_element_at(bias, first, &c), sum);
    }
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const conv_backward *p = MOCK_PARAMS((mock_plan *)arg, conv_backward);
    const mock_view *views = plan->views;
    char *first[MOCK_MAX_OPERANDS];
    double *at = mock_plan_workspace(plan), *values[OPERANDS];
    if (at == NULL || !mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    for (int k = 0; k <= GRAD_KERNEL; k++) {
        values[k] = at;
        at += mock_element_count(&views[k < GRAD_IN ? k : k - GRAD_IN + IN]);
        if (k < GRAD_IN)
            read_all(&views[k], first[k], values[k]);
        else if (at != values[k])
            memset(values[k], 0, (size_t)(at - values[k]) * sizeof *at);
    }
    const numbers n = {values[p->transposed ? IN : GRAD], values[p->transposed ? GRAD : IN], values[KERNEL],
        values[GRAD_IN], values[GRAD_KERNEL]};
    join_all(p, &n);
    write_all(&views[GRAD_IN], first[GRAD_IN], values[GRAD_IN]);
    write_all(&views[GRAD_KERNEL], first[GRAD_KERNEL], values[GRAD_KERNEL]);
    put_bias(&views[GRAD_BIAS], first[GRAD_BIAS], &views[GRAD], values[GRAD]);
    return 0;
}

/* ---- first phase ---- */

/* All operands get two dimensions behind those of images and channels. */
static bool check_operands(mock_build *b) {
    mock_view *views = b->plan->views;
    const int rank = views[IN].rank;
    for (int k = 0; b->status == 0 && k < OPERANDS; k++) {
        const int want = k == GRAD_BIAS ? 1 : rank;
        if (views[k].absent) continue;
        if (!mock_dtype_is_float(views[k].dtype))
            mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", names[k],
                mock_dtype_name(views[k].dtype));
        if (rank != 3 && rank != 4) mock_build_fail(b, "input has %d dimensions, expected 3 or 4", rank);
        if (views[k].rank != want)
            mock_build_fail(b, "%s has %d dimensions, expected %d", names[k], views[k].rank, want);
    }
    if (b->status != 0) return false;
    if (!views[GRAD_IN].absent)
        mock_require_shape(b, &views[GRAD_IN], names[GRAD_IN], &views[IN], "the shape of input");
    if (!views[GRAD_KERNEL].absent)
        mock_require_shape(b, &views[GRAD_KERNEL], names[GRAD_KERNEL], &views[KERNEL], "the shape of weight");
    const mock_view channels = {.rank = 1, .dims = {views[GRAD].dims[1]}};
    if (!views[GRAD_BIAS].absent)
        mock_require_shape(
            b, &views[GRAD_BIAS], names[GRAD_BIAS], &channels, "one for each channel of gradOutput");
    for (int k = 0; b->status == 0 && rank == 3 && k < GRAD_BIAS; k++)
        if (!views[k].absent) mock_insert_dim(&views[k], 2);
    return b->status == 0;
}

static void check_sides(mock_build *b, conv_backward *p) {
    const mock_view *views = b->plan->views, *weight = &views[KERNEL];
    const mock_view *small = &views[p->transposed ? IN : GRAD], *large = &views[p->transposed ? GRAD : IN];
    for (int k = 0; k < 2; k++) p->w.kernel[k] = weight->dims[2 + k];
    p->images = small->dims[0];
    if (p->groups < 1 || small->dims[1] % p->groups != 0 || large->dims[1] % p->groups != 0)
        mock_build_fail(b, "groups is %lld for %lld and %lld channels", (long long)p->groups,
            (long long)small->dims[1], (long long)large->dims[1]);
    if (b->status != 0) return;
    p->small = small->dims[1] / p->groups;
    p->large = large->dims[1] / p->groups;
    if (large->dims[0] != p->images || weight->dims[0] != small->dims[1] || weight->dims[1] != p->large)
        mock_build_fail(b, "gradOutput, input and weight do not have the same images and channels");
    for (int k = 0; k < 2; k++)
        if (p->w.kernel[k] < 1 || p->w.kernel[k] > INT32_MAX)
            mock_build_fail(b, "weight has windows of %lld", (long long)p->w.kernel[k]);
    if (b->status == 0) mock_window_slide(b, &p->w, large, false);
    if (b->status == 0 && (p->w.out[0] != small->dims[2] || p->w.out[1] != small->dims[3]))
        mock_build_fail(b, "%s has planes of %lld x %lld, expected %lld x %lld",
            names[p->transposed ? IN : GRAD], (long long)small->dims[2], (long long)small->dims[3],
            (long long)p->w.out[0], (long long)p->w.out[1]);
}

static void read_numbers(mock_build *b, mock_window *w, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation) {
    const int axes = b->status != 0 ? 2 : b->plan->views[IN].rank - 2;
    mock_window_read(b, stride, "stride", 1, axes, w->stride);
    mock_window_read(b, padding, "padding", 0, axes, w->before);
    mock_window_read(b, dilation, "dilation", 1, axes, w->dilation);
    for (int k = 0; k < 2; k++) w->after[k] = w->before[k];
}

MOCK_OPERATOR(aclnnConvolutionBackward, run)
aclnnStatus aclnnConvolutionBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *input,
    const aclTensor *weight, const aclIntArray *biasSizes, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding,
    int groups, const aclBoolArray *outputMask, int8_t cubeMathType, aclTensor *gradInput,
    aclTensor *gradWeight, aclTensor *gradBias, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnConvolutionBackwardGetWorkspaceSize);
    (void)cubeMathType;
    mock_build b = mock_build_begin(&aclnnConvolutionBackward_task, workspaceSize, executor);
    conv_backward p = {.w = mock_window_unit(), .groups = groups, .transposed = transposed};
    aclTensor *const results[] = {gradInput, gradWeight, gradBias};
    const bool *mask = mock_build_mask(&b, outputMask, 3);
    mock_build_tensor(&b, gradOutput, names[GRAD], MOCK_IN);
    mock_build_tensor(&b, input, names[IN], MOCK_IN);
    mock_build_tensor(&b, weight, names[KERNEL], MOCK_IN);
    for (int k = 0; b.status == 0 && k < 3; k++)
        mock_build_optional(&b, mask[k] ? results[k] : NULL, names[GRAD_IN + k], MOCK_OUT);
    for (int k = 0; b.status == 0 && k < 3; k++)
        if (mask[k] && results[k] == NULL) b.status = mock_null_parameter(b.name, names[GRAD_IN + k]);
    if (biasSizes != NULL) mock_build_ints(&b, biasSizes, "biasSizes");
    if (outputPadding != NULL) mock_build_ints(&b, outputPadding, "outputPadding");
    read_numbers(&b, &p.w, stride, padding, dilation);
    if (b.status == 0 && check_operands(&b)) check_sides(&b, &p);
    if (b.status == 0) {
        const mock_view *v = b.plan->views;
        const int64_t count =
            mock_element_count(&v[GRAD]) + 2 * (mock_element_count(&v[IN]) + mock_element_count(&v[KERNEL]));
        b.plan->need = mock_workspace_bytes((uint64_t)count + 1, sizeof(double));
        *MOCK_PARAMS(b.plan, conv_backward) = p;
    }
    return mock_build_finish(&b);
}
