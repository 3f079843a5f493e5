/* AvgPool2d, AdaptiveAvgPool2d, MaxPool2dWithIndices and MaxPool: windows over the last two dimensions
 * (guide: aclnn, page of each).
 *
 * f32, f16, bf16 and f64, computed in f64 and rounded once (own choice). Own choice, as PyTorch does: in a
 * maximum NaN wins, of equal values the first, and padding never; the places are counted in one plane, -1
 * for a window of nothing but padding. A mean counts the padding when asked for, but never what lies
 * beyond it, and divisorOverride takes the place of the count unless it is 0. Planes are not empty,
 * padding is at most half a window. MaxPool takes one number for all pads, two for height and width, or
 * four: both beginnings, then both ends; autoPad is 0. No workspace. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/windows/window.h"

typedef enum job { MEAN, ADAPTIVE, GREATEST } job;

typedef struct pool {
    mock_window w;
    int64_t divisor;
    int8_t job;
    bool count_padding;
} pool;

static void put_mean(const pool *p, const mock_view *x, const mock_view *out, char *const *first,
    int64_t *i) {
    const mock_window *w = &p->w;
    int64_t from[4] = {i[0], i[1], 0, 0}, low[2], high[2], size = 1, count = 1;
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        const int64_t at = i[2 + k], n = w->size[k];
        low[k] = p->job == ADAPTIVE ? at * n / w->out[k] : mock_window_place(w, k, at, 0);
        high[k] = p->job == ADAPTIVE ? ((at + 1) * n + w->out[k] - 1) / w->out[k] : low[k] + w->kernel[k];
        if (high[k] > n + w->after[k]) high[k] = n + w->after[k];
        size *= high[k] - low[k];
        if (low[k] < 0) low[k] = 0;
        if (high[k] > n) high[k] = n;
        count *= high[k] - low[k];
    }
    for (from[2] = low[0]; from[2] < high[0]; from[2]++)
        for (from[3] = low[1]; from[3] < high[1]; from[3]++)
            sum += mock_read_real(x->dtype, mock_element_at(x, first[0], from));
    const double divisor = (double)(p->divisor != 0 ? p->divisor : p->count_padding ? size : count);
    mock_write_real(out->dtype, mock_element_at(out, first[1], i), sum / divisor);
}

static void put_greatest(
    const pool *p, const mock_plan *plan, const mock_view *out, char *const *first, int64_t *i) {
    const mock_window *w = &p->w;
    const mock_view *x = &plan->views[0], *places = &plan->views[2];
    int64_t from[4] = {i[0], i[1], 0, 0}, place = -1;
    double most = -INFINITY;
    for (int64_t r = 0; r < w->kernel[0]; r++) {
        for (int64_t c = 0; c < w->kernel[1]; c++) {
            from[2] = mock_window_place(w, 0, i[2], r);
            from[3] = mock_window_place(w, 1, i[3], c);
            if (from[2] < 0 || from[2] >= w->size[0] || from[3] < 0 || from[3] >= w->size[1]) continue;
            const double v = mock_read_real(x->dtype, mock_element_at(x, first[0], from));
            if (place >= 0 && !(v > most || v != v)) continue;
            most = v;
            place = from[2] * w->size[1] + from[3];
        }
    }
    mock_write_real(out->dtype, mock_element_at(out, first[1], i), most);
    if (plan->count == 3) mock_write_whole(places->dtype, mock_element_at(places, first[2], i), place);
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const pool *p = MOCK_PARAMS((mock_plan *)arg, pool);
    const mock_view *out = &plan->views[1];
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        if (p->job == GREATEST) put_greatest(p, plan, out, first, i);
        else put_mean(p, &plan->views[0], out, first, i);
    } while (mock_next(out, i));
    return 0;
}

/* ---- first phases ---- */

static void check_operands(mock_build *b) {
    const mock_view *views = b->plan->views;
    if (views[0].rank != 3 && views[0].rank != 4)
        mock_build_fail(b, "self has %d dimensions, expected 3 or 4", views[0].rank);
    else if (views[0].dims[views[0].rank - 1] == 0 || views[0].dims[views[0].rank - 2] == 0)
        mock_build_fail(b, "self has planes of no elements");
    if (!mock_dtype_is_floating(views[0].dtype) || views[1].dtype != views[0].dtype)
        mock_build_fail(b,
            "self has data type %s and out %s; one of FLOAT, FLOAT16, BFLOAT16 and DOUBLE is expected",
            mock_dtype_name(views[0].dtype), mock_dtype_name(views[1].dtype));
    if (b->plan->count == 3 && views[2].dtype != ACL_INT32 && views[2].dtype != ACL_INT64)
        mock_build_fail(b, "indices has data type %s, expected INT32 or INT64",
            mock_dtype_name(views[2].dtype));
}

/* `w` has its sizes and results. All operands get four dimensions. */
static aclnnStatus finish_pool(mock_build *b, pool p) {
    static const char *const names[] = {"self", "out", "indices"};
    mock_view expected = b->plan->views[0];
    if (b->status != 0) return mock_build_finish(b);
    for (int k = 0; k < 2; k++) expected.dims[expected.rank - 2 + k] = p.w.out[k];
    for (unsigned k = 1; k < b->plan->count; k++)
        mock_require_shape(b, &b->plan->views[k], names[k], &expected, "one for each window");
    for (unsigned k = 0; k < b->plan->count; k++)
        if (expected.rank == 3 && b->status == 0) mock_insert_dim(&b->plan->views[k], 0);
    *MOCK_PARAMS(b->plan, pool) = p;
    return mock_build_finish(b);
}

void mock_pool_padding(mock_build *b, const mock_window *w) {
    for (int k = 0; k < 2; k++)
        if (w->before[k] > w->kernel[k] / 2 || w->after[k] > w->kernel[k] / 2)
            mock_build_fail(b, "padding is %lld for a window of %lld",
                (long long)(w->before[k] > w->after[k] ? w->before[k] : w->after[k]),
                    (long long)w->kernel[k]);
}

/* Without numbers the stride is the window's size (guide: aclnn, aclnnAvgPool2d). */
static bool is_empty(mock_build *b, const aclIntArray *array, const char *param) {
    const mock_array *list = mock_build_ints(b, array, param);
    return b->status == 0 && list->size == 0;
}

void mock_pool_window(mock_build *b, mock_window *w, const aclIntArray *kernel, const aclIntArray *stride,
    const char *stride_name, const aclIntArray *padding, const char *padding_name) {
    mock_window_read(b, kernel, "kernelSize", 1, 2, w->kernel);
    if (is_empty(b, stride, stride_name)) w->stride[0] = w->kernel[0], w->stride[1] = w->kernel[1];
    else mock_window_read(b, stride, stride_name, 1, 2, w->stride);
    mock_window_read(b, padding, padding_name, 0, 2, w->before);
    for (int k = 0; k < 2; k++) w->after[k] = w->before[k];
}

static void slide(mock_build *b, mock_window *w, bool ceil) {
    if (b->status == 0) check_operands(b);
    if (b->status == 0) mock_pool_padding(b, w);
    if (b->status == 0) mock_window_slide(b, w, &b->plan->views[0], ceil);
}

MOCK_OPERATOR(aclnnAvgPool2d, run)
aclnnStatus aclnnAvgPool2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize,
    const aclIntArray *strides, const aclIntArray *paddings, const bool ceilMode, const bool countIncludePad,
    const int64_t divisorOverride, const int8_t cubeMathType, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAvgPool2dGetWorkspaceSize);
    (void)cubeMathType;
    mock_build b = mock_build_begin(&aclnnAvgPool2d_task, workspaceSize, executor);
    pool p = {.w = mock_window_unit(), .divisor = divisorOverride, .job = MEAN,
        .count_padding = countIncludePad};
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_pool_window(&b, &p.w, kernelSize, strides, "strides", paddings, "paddings");
    slide(&b, &p.w, ceilMode);
    return finish_pool(&b, p);
}

MOCK_OPERATOR(aclnnAdaptiveAvgPool2d, run)
aclnnStatus aclnnAdaptiveAvgPool2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAdaptiveAvgPool2dGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAdaptiveAvgPool2d_task, workspaceSize, executor);
    pool p = {.w = mock_window_unit(), .job = ADAPTIVE};
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_window_read(&b, outputSize, "outputSize", 0, 2, p.w.out);
    if (b.status == 0) check_operands(&b);
    for (int k = 0; k < 2 && b.status == 0; k++) {
        p.w.size[k] = x->dims[x->rank - 2 + k];
        if (p.w.size[k] > INT32_MAX) mock_build_fail(&b, "self has %lld elements in one dimension",
            (long long)p.w.size[k]);
    }
    return finish_pool(&b, p);
}

MOCK_OPERATOR(aclnnMaxPool2dWithIndices, run)
aclnnStatus aclnnMaxPool2dWithIndicesGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize,
    const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
    aclTensor *out, aclTensor *indices, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMaxPool2dWithIndicesGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMaxPool2dWithIndices_task, workspaceSize, executor);
    pool p = {.w = mock_window_unit(), .job = GREATEST};
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_build_tensor(&b, indices, "indices", MOCK_OUT);
    mock_pool_window(&b, &p.w, kernelSize, stride, "stride", padding, "padding");
    mock_window_read(&b, dilation, "dilation", 1, 2, p.w.dilation);
    slide(&b, &p.w, ceilMode);
    return finish_pool(&b, p);
}

static void read_pads(mock_build *b, mock_window *w, const aclIntArray *pads) {
    const mock_array *list = mock_build_ints(b, pads, "pads");
    if (b->status != 0 || list->size == 0) return;
    const int64_t *values = list->values;
    if (list->size != 4) {
        mock_window_read(b, pads, "pads", 0, 2, w->before);
        for (int k = 0; k < 2; k++) w->after[k] = w->before[k];
        return;
    }
    for (int k = 0; k < 2; k++) {
        w->before[k] = values[k];
        w->after[k] = values[2 + k];
        if (values[k] < 0 || values[2 + k] < 0) mock_build_fail(b, "pads has a negative number");
    }
}

/* Empty lists stand for 1, and for no padding (own choice: as ONNX does). */
MOCK_OPERATOR(aclnnMaxPool, run)
aclnnStatus aclnnMaxPoolGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelShape,
    const aclIntArray *strides, const int64_t autoPad, const aclIntArray *pads, const aclIntArray *dilations,
    const int64_t ceilMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMaxPoolGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMaxPool_task, workspaceSize, executor);
    pool p = {.w = mock_window_unit(), .job = GREATEST};
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_window_read(&b, kernelShape, "kernelShape", 1, 2, p.w.kernel);
    if (!is_empty(&b, strides, "strides")) mock_window_read(&b, strides, "strides", 1, 2, p.w.stride);
    read_pads(&b, &p.w, pads);
    if (!is_empty(&b, dilations, "dilations"))
        mock_window_read(&b, dilations, "dilations", 1, 2, p.w.dilation);
    if (autoPad != 0) mock_build_fail(&b, "autoPad is %lld, only 0 is supported", (long long)autoPad);
    if (ceilMode != 0 && ceilMode != 1)
        mock_build_fail(&b, "ceilMode is %lld, expected 0 or 1", (long long)ceilMode);
    slide(&b, &p.w, ceilMode == 1);
    return finish_pool(&b, p);
}
