/* Convolution of one or two dimensions and ConvDepthwise2d (guide: aclnn, aclnnConvolution).
 *
 * f32, f16 and bf16. The windows of up to 512 results become columns, which the product of operators/products/gemm.c
 * multiplies with the weights: sums in f32 in its order, the bias added in f32, rounded once (own choice).
 * Padding is a number like others: an infinite weight makes it NaN (own choice). Other numbers
 * of dimensions are refused; outputPadding is for transposed ones (operators/windows/transposed.c) and not looked at;
 * cubeMathType changes nothing (own choice). Workspace: the weights, columns and sums as f32. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/products.h"
#include "operators/windows/conv.h"
#include "operators/windows/window.h"

#define BLOCK MOCK_CONV_BLOCK

typedef struct conv {
    bool transposed; /* not for the run of this file */
    mock_window w;
    int64_t groups;
    int64_t channels; /* of the input in one group */
    int64_t results;  /* channels of the output in one group */
    int64_t depth;    /* elements of a window */
} conv;

typedef struct buffers {
    float *weights, *columns, *sums;
} buffers;

void mock_conv_weights(const mock_plan *plan, char *from, float *to) {
    const mock_view *v = &plan->views[WEIGHT];
    const mock_line line = mock_line_of(v, 0, v->rank);
    const float *values = mock_line_get(&line, from, to);
    if (values != to) memcpy(to, values, line.count * sizeof *to);
}

float mock_conv_bias(const mock_plan *plan, char *const *first, int64_t channel) {
    const mock_view *bias = &plan->views[BIAS];
    float buffer = 0;
    if (bias->absent) return 0;
    return *mock_load_f32(bias->dtype, mock_element_at(bias, first[BIAS], &channel), 0, 1, &buffer);
}

/* `count` windows of one row of results, from column `first` on: the elements that lie in `row` of
 * the input and column s of the window. `x` has one plane of two dimensions. */
static void gather_row(const conv *c, const mock_view *x, char *plane, int64_t row, int64_t s, int64_t first,
    int64_t count, float *to) {
    const mock_window *w = &c->w;
    int64_t low = first, high = first + count;
    while (low < high && mock_window_place(w, 1, low, s) < 0) low++;
    while (high > low && mock_window_place(w, 1, high - 1, s) >= w->size[1]) high--;
    if (row < 0 || row >= w->size[0]) high = low;
    memset(to, 0, (size_t)count * sizeof *to);
    if (high == low) return;
    const int64_t place[] = {row, mock_window_place(w, 1, low, s)};
    float *values = to + (low - first);
    const float *from = mock_load_f32(x->dtype, mock_element_at(x, plane, place), w->stride[1] * x->strides[1],
        (size_t)(high - low), values);
    if (from != values) memcpy(values, from, (size_t)(high - low) * sizeof *values);
}

/* columns[depth][n]: windows from `first` on of image at[0] and group at[1]. */
static void gather_columns(const mock_plan *plan, const conv *c, char *from, const int64_t *at, int64_t first,
    int64_t n, float *columns) {
    const mock_view *x = &plan->views[INPUT];
    const mock_window *w = &c->w;
    const mock_view planes = {.dtype = x->dtype, .rank = 2, .dims = {x->dims[2], x->dims[3]},
        .strides = {x->strides[2], x->strides[3]}};
    const int64_t window = w->kernel[0] * w->kernel[1];
    for (int64_t d = 0; d < c->depth; d++) {
        const int64_t place[] = {at[0], at[1] * c->channels + d / window, 0, 0};
        char *plane = mock_element_at(x, from, place);
        const int64_t r = d % window / w->kernel[1], s = d % w->kernel[1];
        for (int64_t j = 0; j < n;) {
            const int64_t row = (first + j) / w->out[1], column = (first + j) % w->out[1];
            const int64_t count = w->out[1] - column < n - j ? w->out[1] - column : n - j;
            gather_row(c, &planes, plane, mock_window_place(w, 0, row, r), s, column, count,
                columns + d * n + j);
            j += count;
        }
    }
}

static void put_sums(const mock_plan *plan, const conv *c, char *const *first, const int64_t *at,
    int64_t from,
    int64_t n, const float *sums) {
    const mock_view *out = &plan->views[OUT];
    for (int64_t k = 0; k < c->results; k++) {
        const int64_t channel = at[1] * c->results + k;
        const float added = mock_conv_bias(plan, first, channel);
        for (int64_t j = 0; j < n; j++) {
            const float value = sums[k * n + j] + added;
            const int64_t i[] = {at[0], channel, (from + j) / c->w.out[1], (from + j) % c->w.out[1]};
            mock_store(MOCK_F32, out->dtype, mock_element_at(out, first[OUT], i), 0, 1, &value);
        }
    }
}

/* One group of one image. */
static bool run_group(const mock_plan *plan, const conv *c, char *const *first, const buffers *b,
    const int64_t *at) {
    const int64_t count = c->w.out[0] * c->w.out[1];
    for (int64_t from = 0; from < count; from += BLOCK) {
        const int64_t n = count - from < BLOCK ? count - from : BLOCK;
        const mock_matrix weights = {b->weights + at[1] * c->results * c->depth, c->depth, ACL_FLOAT};
        const mock_matrix columns = {b->columns, n, ACL_FLOAT};
        gather_columns(plan, c, first[INPUT], at, from, n, b->columns);
        if (!mock_gemm((size_t)c->results, (size_t)n, (size_t)c->depth, weights, columns, b->sums,
            n)) return false;
        put_sums(plan, c, first, at, from, n, b->sums);
    }
    return true;
}

static uint64_t weight_bytes(const conv *c) {
    return mock_workspace_bytes((uint64_t)(c->groups * c->results * c->depth), sizeof(float));
}
static uint64_t column_bytes(const conv *c) {
    return mock_workspace_bytes((uint64_t)c->depth * BLOCK, sizeof(float));
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const conv *c = MOCK_PARAMS((mock_plan *)arg, conv);
    if (c->transposed) return mock_conv_transposed_run(plan);
    char *first[MOCK_MAX_OPERANDS], *workspace = mock_plan_workspace(plan);
    if (workspace == NULL || !mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    const buffers b = {(float *)(void *)workspace, (float *)(void *)(workspace + weight_bytes(c)),
        (float *)(void *)(workspace + weight_bytes(c) + column_bytes(c))};
    mock_conv_weights(plan, first[WEIGHT], b.weights);
    for (int64_t n = 0; n < plan->views[INPUT].dims[0]; n++) {
        for (int64_t g = 0; g < c->groups; g++) {
            if (!run_group(plan, c, first, &b, (int64_t[]){n, g})) return MOCK_DEVICE_FAULT;
        }
    }
    return 0;
}

/* ---- first phases ---- */

static void check_types(mock_build *b) {
    const mock_view *views = b->plan->views;
    for (int k = INPUT; k <= OUT; k++) {
        if (!views[k].absent && !mock_dtype_is_float(views[k].dtype))
            mock_build_fail(b, "operand %d has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", k,
                mock_dtype_name(views[k].dtype));
        if (k != BIAS && views[k].dtype != views[INPUT].dtype)
            mock_build_fail(b, "operand %d has data type %s, the input has %s", k,
                mock_dtype_name(views[k].dtype), mock_dtype_name(views[INPUT].dtype));
    }
}

static void check_channels(mock_build *b, const conv *c) {
    const mock_view *x = &b->plan->views[INPUT], *weight = &b->plan->views[WEIGHT];
    const mock_view *bias = &b->plan->views[BIAS];
    const int64_t have = x->dims[1], results = weight->dims[0];
    const mock_view expected = {.rank = 1, .dims = {results}};
    if (c->groups <= 0 || have % c->groups != 0 || results % c->groups != 0) {
        mock_build_fail(b, "groups is %lld for %lld channels and %lld of the result", (long long)c->groups,
            (long long)have, (long long)results);
    } else if (weight->dims[1] != have / c->groups || have == 0) {
        mock_build_fail(b, "the weight has %lld channels, the input %lld in %lld groups",
            (long long)weight->dims[1], (long long)have, (long long)c->groups);
    } else if (!bias->absent) {
        mock_require_shape(b, bias, "bias", &expected, "one for each channel of the result");
    }
}

static void fill(mock_build *b, conv *c) {
    const mock_view *weight = &b->plan->views[WEIGHT];
    mock_view expected = b->plan->views[INPUT];
    for (int k = 0; k < 2; k++) {
        c->w.kernel[k] = weight->dims[2 + k];
        if (c->w.kernel[k] < 1 || c->w.kernel[k] > INT32_MAX)
            mock_build_fail(b, "the weight has windows of %lld", (long long)c->w.kernel[k]);
    }
    mock_window_slide(b, &c->w, &expected, false);
    if (b->status != 0) return;
    c->results = weight->dims[0] / c->groups;
    c->channels = weight->dims[1];
    c->depth = c->channels * c->w.kernel[0] * c->w.kernel[1];
    int64_t bytes;
    if (__builtin_mul_overflow(weight->dims[0], c->depth, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)(16 * BLOCK), &bytes))
        mock_build_fail(b, "the weight is too large");
    expected.dims[1] = weight->dims[0];
    for (int k = 0; k < 2; k++) expected.dims[2 + k] = c->w.out[k];
    mock_require_shape(b, &b->plan->views[OUT], "the result", &expected, "one for each window");
    *MOCK_PARAMS(b->plan, conv) = *c;
    b->plan->need = weight_bytes(c) + column_bytes(c) +
                    mock_workspace_bytes((uint64_t)c->results * BLOCK, sizeof(float));
}

/* Operands of three dimensions get a height of one. */
static void check_ranks(mock_build *b, int rank) {
    static const int images[] = {INPUT, WEIGHT, OUT};
    if (rank != 3 && rank != 4) mock_build_fail(b, "the input has %d dimensions, expected 3 or 4", rank);
    for (int k = 0; k < 3; k++) {
        mock_view *v = &b->plan->views[images[k]];
        if (v->rank != rank)
            mock_build_fail(b, "operand %d has %d dimensions, the input %d", images[k], v->rank, rank);
        else if (rank == 3) mock_insert_dim(v, 2);
    }
}

static aclnnStatus plan_conv(mock_build *b, conv c, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation) {
    if (b->status != 0) return mock_build_finish(b);
    const int rank = b->plan->views[INPUT].rank, axes = rank - 2;
    check_types(b);
    if (b->status == 0) check_ranks(b, rank);
    mock_window_read(b, stride, "stride", 1, axes, c.w.stride);
    mock_window_read(b, padding, "padding", 0, axes, c.w.before);
    mock_window_read(b, dilation, "dilation", 1, axes, c.w.dilation);
    for (int k = 0; k < 2; k++) c.w.after[k] = c.w.before[k];
    if (b->status == 0) check_channels(b, &c);
    if (b->status == 0) fill(b, &c);
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnConvolution, run)
aclnnStatus aclnnConvolutionGetWorkspaceSize(const aclTensor *input, const aclTensor *weight,
    const aclTensor *bias, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
    bool transposed, const aclIntArray *outputPadding, const int64_t groups, aclTensor *output,
    int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnConvolutionGetWorkspaceSize);
    (void)cubeMathType;
    mock_build b = mock_build_begin(&aclnnConvolution_task, workspaceSize, executor);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    mock_build_tensor(&b, weight, "weight", MOCK_IN);
    mock_build_optional(&b, bias, "bias", MOCK_IN);
    mock_build_tensor(&b, output, "output", MOCK_OUT);
    if (outputPadding != NULL) mock_build_ints(&b, outputPadding, "outputPadding");
    if (transposed && b.status == 0) {
        const int rank = b.plan->views[INPUT].rank;
        check_types(&b);
        if (b.status == 0) check_ranks(&b, rank);
        mock_conv_transposed(&b, rank - 2, groups, stride, padding, dilation, outputPadding);
        return mock_build_finish(&b);
    }
    return plan_conv(&b, (conv){.w = mock_window_unit(), .groups = groups}, stride, padding, dilation);
}

/* Each channel of self has its own results; kernelSize is that of the weight (guide: aclnn,
 * aclnnConvDepthwise2d). */
MOCK_OPERATOR(aclnnConvDepthwise2d, run)
aclnnStatus aclnnConvDepthwise2dGetWorkspaceSize(const aclTensor *self, const aclTensor *weight,
    const aclIntArray *kernelSize, const aclTensor *bias, const aclIntArray *stride,
        const aclIntArray *padding,
    const aclIntArray *dilation, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnConvDepthwise2dGetWorkspaceSize);
    (void)cubeMathType;
    mock_build b = mock_build_begin(&aclnnConvDepthwise2d_task, workspaceSize, executor);
    conv c = {.w = mock_window_unit()};
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *w = mock_build_tensor(&b, weight, "weight", MOCK_IN);
    mock_build_optional(&b, bias, "bias", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_window_read(&b, kernelSize, "kernelSize", 1, 2, c.w.kernel);
    if (b.status == 0 && (x->rank != 4 || w->rank != 4))
        mock_build_fail(&b, "self and weight have %d and %d dimensions, expected 4", x->rank, w->rank);
    if (b.status == 0 && (w->dims[2] != c.w.kernel[0] || w->dims[3] != c.w.kernel[1]))
        mock_build_fail(&b, "kernelSize is not that of the weight");
    c.groups = b.status != 0 ? 1 : x->dims[1];
    return plan_conv(&b, c, stride, padding, dilation);
}
