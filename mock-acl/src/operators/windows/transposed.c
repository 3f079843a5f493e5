/* Transposed convolution of one or two dimensions (guide: aclnn, aclnnConvolution with transposed): each element of
 * the input puts its products with a window of weights into the result, as the gradient of a convolution does.
 *
 * The weight is [channels of the input, channels of the result in a group, window]. Of up to 512 elements of the
 * input at a time the products are summed over the channels of the group by operators/products/gemm.c, then over the
 * window in f32 in the order of the input; the bias is added in f32, and all is rounded once (own choice).
 * outputPadding is less than stride or dilation (own choice: as PyTorch has it). Workspace: the weights, one group
 * of the input and of its products, and the result of one group, as f32. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/products.h"
#include "operators/windows/conv.h"
#include "operators/windows/window.h"

/* `w.size` is that of the result, `w.out` that of the input: a convolution would turn the one into the other. */
typedef struct transposed {
    bool yes; /* where conv.c has it */
    mock_window w;
    int64_t groups;
    int64_t channels; /* of the input in one group */
    int64_t results;  /* channels of the result in one group */
    int64_t depth;    /* products of one element of the input */
} transposed;

typedef struct parts {
    float *weights, *input, *products, *sums;
} parts;

static uint64_t bytes(int64_t count) {
    return mock_workspace_bytes((uint64_t)count, sizeof(float));
}
static int64_t plane(const transposed *t) {
    return t->w.size[0] * t->w.size[1];
}

/* input[channels][n]: elements from `first` on of image at[0] and group at[1]. */
static void gather(const mock_plan *plan, const transposed *t, char *from, const int64_t *at, int64_t first,
    int64_t n, float *to) {
    const mock_view *x = &plan->views[INPUT];
    const int64_t width = t->w.out[1];
    for (int64_t c = 0; c < t->channels; c++) {
        for (int64_t j = 0; j < n;) {
            const int64_t row = (first + j) / width, column = (first + j) % width;
            const int64_t count = width - column < n - j ? width - column : n - j;
            const int64_t place[] = {at[0], at[1] * t->channels + c, row, column};
            float *values = to + c * n + j;
            const float *found = mock_load_f32(
                x->dtype, mock_element_at(x, from, place), x->strides[3], (size_t)count, values);
            if (found != values) memcpy(values, found, (size_t)count * sizeof *values);
            j += count;
        }
    }
}

/* products[depth][n] into the places that each element reaches. */
static void spread(const transposed *t, const float *products, int64_t first, int64_t n, float *sums) {
    const mock_window *w = &t->w;
    const int64_t window = w->kernel[0] * w->kernel[1];
    for (int64_t d = 0; d < t->depth; d++) {
        float *to = sums + d / window * plane(t);
        const int64_t r = d % window / w->kernel[1], s = d % w->kernel[1];
        for (int64_t j = 0; j < n; j++) {
            const int64_t row = mock_window_place(w, 0, (first + j) / w->out[1], r);
            const int64_t column = mock_window_place(w, 1, (first + j) % w->out[1], s);
            if (row < 0 || row >= w->size[0] || column < 0 || column >= w->size[1]) continue;
            to[row * w->size[1] + column] += products[d * n + j];
        }
    }
}

static void put(const mock_plan *plan, const transposed *t, char *const *first, const int64_t *at,
    const float *sums) {
    const mock_view *out = &plan->views[OUT];
    for (int64_t k = 0; k < t->results; k++) {
        const int64_t channel = at[1] * t->results + k;
        const float added = mock_conv_bias(plan, first, channel);
        for (int64_t j = 0; j < plane(t); j++) {
            const float value = sums[k * plane(t) + j] + added;
            const int64_t i[] = {at[0], channel, j / t->w.size[1], j % t->w.size[1]};
            mock_store(MOCK_F32, out->dtype, mock_element_at(out, first[OUT], i), 0, 1, &value);
        }
    }
}

static bool run_group(const mock_plan *plan, const transposed *t, char *const *first, const parts *p,
    const int64_t *at) {
    const int64_t count = t->w.out[0] * t->w.out[1];
    const mock_strided weights = {p->weights + at[1] * t->channels * t->depth, 1, t->depth, ACL_FLOAT};
    memset(p->sums, 0, (size_t)(t->results * plane(t)) * sizeof *p->sums);
    for (int64_t from = 0; from < count; from += MOCK_CONV_BLOCK) {
        const int64_t n = count - from < MOCK_CONV_BLOCK ? count - from : MOCK_CONV_BLOCK;
        const mock_strided input = {p->input, n, 1, ACL_FLOAT};
        gather(plan, t, first[INPUT], at, from, n, p->input);
        if (!mock_gemm_strided((size_t)t->depth, (size_t)n, (size_t)t->channels, weights, input, p->products, n, 1))
            return false;
        spread(t, p->products, from, n, p->sums);
    }
    put(plan, t, first, at, p->sums);
    return true;
}

static parts split(const transposed *t, char *workspace) {
    parts p;
    p.weights = (float *)(void *)workspace;
    workspace += bytes(t->groups * t->channels * t->depth);
    p.input = (float *)(void *)workspace;
    workspace += bytes(t->channels * MOCK_CONV_BLOCK);
    p.products = (float *)(void *)workspace;
    workspace += bytes(t->depth * MOCK_CONV_BLOCK);
    p.sums = (float *)(void *)workspace;
    return p;
}

aclError mock_conv_transposed_run(const mock_plan *plan) {
    const transposed *t = MOCK_PARAMS((mock_plan *)(uintptr_t)plan, transposed);
    char *first[MOCK_MAX_OPERANDS], *workspace = mock_plan_workspace(plan);
    if (workspace == NULL || !mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    const parts p = split(t, workspace);
    mock_conv_weights(plan, first[WEIGHT], p.weights);
    for (int64_t n = 0; n < plan->views[INPUT].dims[0]; n++) {
        for (int64_t g = 0; g < t->groups; g++) {
            if (!run_group(plan, t, first, &p, (int64_t[]){n, g})) return MOCK_DEVICE_FAULT;
        }
    }
    return 0;
}

/* ---- first phase ---- */

static void check_channels(mock_build *b, const transposed *t) {
    const mock_view *views = b->plan->views, *weight = &views[WEIGHT];
    const int64_t have = views[INPUT].dims[1];
    if (t->groups <= 0 || have == 0 || have % t->groups != 0) {
        mock_build_fail(b, "groups is %lld for %lld channels", (long long)t->groups, (long long)have);
    } else if (weight->dims[0] != have || weight->dims[1] == 0) {
        mock_build_fail(b, "the weight has %lld channels of the input and %lld of the result, the input %lld",
            (long long)weight->dims[0], (long long)weight->dims[1], (long long)have);
    } else if (weight->dims[1] > INT32_MAX) {
        mock_build_fail(b, "the weight is too large");
    } else if (!views[BIAS].absent) {
        const mock_view expected = {.rank = 1, .dims = {weight->dims[1] * t->groups}};
        mock_require_shape(b, &views[BIAS], "bias", &expected, "one for each channel of the result");
    }
}

/* The size of the result along one axis. */
static void measure(mock_build *b, mock_window *w, int axis, int64_t extra) {
    const mock_view *x = &b->plan->views[INPUT], *weight = &b->plan->views[WEIGHT];
    w->kernel[axis] = weight->dims[2 + axis];
    w->out[axis] = x->dims[2 + axis];
    if (w->kernel[axis] < 1 || w->kernel[axis] > INT32_MAX || w->out[axis] < 1 || w->out[axis] > INT32_MAX) {
        mock_build_fail(b, "windows of %lld for %lld elements", (long long)w->kernel[axis],
            (long long)w->out[axis]);
        return;
    }
    if (extra >= w->stride[axis] && extra >= w->dilation[axis])
        mock_build_fail(b, "outputPadding has %lld, which is neither less than stride nor dilation",
            (long long)extra);
    const int64_t reach = w->dilation[axis] * (w->kernel[axis] - 1) + 1 + extra;
    const int64_t apart = (w->out[axis] - 1) * w->stride[axis] - 2 * w->before[axis];
    if (reach > INT64_MAX / 2 || apart > INT64_MAX / 2 || apart + reach < 1 || apart + reach > INT32_MAX)
        mock_build_fail(b, "the result has no size that fits along axis %d", axis);
    else w->size[axis] = apart + reach;
}

/* Whether the parts of the workspace have sizes that fit. */
static bool add_up(mock_build *b, const transposed *t) {
    const int64_t limit = INT64_MAX / 16, factors[4][2] = {
        {t->groups * t->channels, t->depth}, {t->channels, MOCK_CONV_BLOCK}, {t->depth, MOCK_CONV_BLOCK},
        {t->results, plane(t)}};
    for (int k = 0; k < 4; k++) {
        int64_t count;
        if (__builtin_mul_overflow(factors[k][0], factors[k][1], &count) || count > limit / 4) return false;
        b->plan->need += bytes(count);
    }
    return true;
}

void mock_conv_transposed(mock_build *b, int axes, int64_t groups, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, const aclIntArray *outputPadding) {
    transposed t = {.yes = true, .w = mock_window_unit(), .groups = groups};
    int64_t extra[2] = {0, 0};
    mock_window_read(b, stride, "stride", 1, axes, t.w.stride);
    mock_window_read(b, padding, "padding", 0, axes, t.w.before);
    mock_window_read(b, dilation, "dilation", 1, axes, t.w.dilation);
    mock_window_read(b, outputPadding, "outputPadding", 0, axes, extra);
    if (b->status == 0) check_channels(b, &t);
    for (int k = 0; k < 2 && b->status == 0; k++) measure(b, &t.w, k, extra[k]);
    if (b->status != 0) return;
    const mock_view *x = &b->plan->views[INPUT];
    t.channels = x->dims[1] / groups;
    t.results = b->plan->views[WEIGHT].dims[1];
    const mock_view expected = {.rank = 4,
        .dims = {x->dims[0], t.results * groups, t.w.size[0], t.w.size[1]}};
    mock_require_shape(b, &b->plan->views[OUT], "the result", &expected, "what the windows reach");
    if (__builtin_mul_overflow(t.results, t.w.kernel[0] * t.w.kernel[1], &t.depth) || !add_up(b, &t))
        mock_build_fail(b, "the weight is too large");
    *MOCK_PARAMS(b->plan, transposed) = t;
}
