/* Gradients of AvgPool2d, AdaptiveAvgPool2d and MaxPool2dWithIndices (guide: aclnn, page of each): what a
 * window gave goes to its elements in equal parts, or to the one whose place indices has. The places are
 * counted in one plane; one of -1 has no effect, another one outside fails the task with 507015 (own choice).
 * f32, f16, bf16 and f64, sums in f64 in the order of the windows, rounded once (own choice). Workspace: the
 * sums. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/windows/window.h"

typedef enum job { MEAN, ADAPTIVE, PLACES } job;
enum { GRAD, SELF, RESULT, INDICES };

typedef struct pool {
    mock_window w;
    int64_t divisor;
    int8_t job;
    bool count_padding;
} pool;

/* `plane` has the sums of the plane of gradient `i`. */
static void spread(const pool *p, double grad, const int64_t *i, double *plane) {
    const mock_window *w = &p->w;
    int64_t low[2], high[2], size = 1, count = 1;
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
    const double part = grad / (double)(p->divisor != 0 ? p->divisor : p->count_padding ? size : count);
    for (int64_t y = low[0]; y < high[0]; y++)
        for (int64_t x = low[1]; x < high[1]; x++) plane[y * w->size[1] + x] += part;
}

static bool put_back(const mock_plan *plan, char *const *first, double grad, const int64_t *i, double *plane) {
    const mock_view *places = &plan->views[INDICES], *out = &plan->views[RESULT];
    const int64_t place = mock_read_whole(places->dtype, mock_element_at(places, first[INDICES], i));
    if (place < -1 || place >= out->dims[2] * out->dims[3]) return false;
    if (place >= 0) plane[place] += grad;
    return true;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const pool *p = MOCK_PARAMS((mock_plan *)arg, pool);
    const mock_view *grad = &plan->views[GRAD], *out = &plan->views[RESULT];
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0}, j[MOCK_MAX_RANK] = {0};
    double *sums = mock_plan_workspace(plan);
    if (sums == NULL || !mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    const int64_t plane = out->dims[2] * out->dims[3], count = mock_element_count(out);
    if (count == 0) return 0;
    memset(sums, 0, (size_t)count * sizeof *sums);
    if (mock_element_count(grad) != 0) {
        do {
            const double value = mock_read_real(grad->dtype, mock_element_at(grad, first[GRAD], i));
            double *to = sums + (i[0] * out->dims[1] + i[1]) * plane;
            if (p->job != PLACES)
                spread(p, value, i, to);
            else if (!put_back(plan, first, value, i, to))
                return MOCK_DEVICE_FAULT;
        } while (mock_next(grad, i));
    }
    do mock_write_real(out->dtype, mock_element_at(out, first[RESULT], j), *sums++);
    while (mock_next(out, j));
    return 0;
}

/* ---- first phases ---- */

static void operands(mock_build *b, const aclTensor *grad, const aclTensor *self, const aclTensor *indices,
    aclTensor *result, const char *result_name) {
    mock_build_tensor(b, grad, "gradOutput", MOCK_IN);
    mock_build_tensor(b, self, "self", MOCK_IN);
    mock_build_tensor(b, result, result_name, MOCK_OUT);
    if (indices != NULL) mock_build_tensor(b, indices, "indices", MOCK_IN);
    if (b->status != 0) return;
    const mock_view *views = b->plan->views, *x = &views[SELF];
    if (x->rank != 3 && x->rank != 4)
        mock_build_fail(b, "self has %d dimensions, expected 3 or 4", x->rank);
    else if (x->dims[x->rank - 1] == 0 || x->dims[x->rank - 2] == 0)
        mock_build_fail(b, "self has planes of no elements");
    for (int k = 0; k <= RESULT; k++)
        if (!mock_dtype_is_floating(views[k].dtype) || views[k].dtype != x->dtype)
            mock_build_fail(b,
                "gradOutput, self and %s have data types %s, %s and %s; one floating one is expected",
                result_name, mock_dtype_name(views[0].dtype), mock_dtype_name(views[1].dtype),
                mock_dtype_name(views[2].dtype));
    if (indices != NULL && views[INDICES].dtype != ACL_INT32 && views[INDICES].dtype != ACL_INT64)
        mock_build_fail(
            b, "indices has data type %s, expected INT32 or INT64", mock_dtype_name(views[INDICES].dtype));
    mock_require_shape(b, &views[RESULT], result_name, x, "the shape of self");
}

/* `w` has its results; operands get four dimensions. */
static aclnnStatus finish(mock_build *b, const pool *p) {
    mock_view *views = b->plan == NULL ? NULL : b->plan->views;
    if (b->status == 0) {
        mock_view expected = views[SELF];
        for (int k = 0; k < 2; k++) expected.dims[expected.rank - 2 + k] = p->w.out[k];
        mock_require_shape(b, &views[GRAD], "gradOutput", &expected, "one for each window");
        if (b->plan->count > INDICES)
            mock_require_shape(b, &views[INDICES], "indices", &expected, "one for each window");
        for (unsigned k = 0; expected.rank == 3 && b->status == 0 && k < b->plan->count; k++)
            mock_insert_dim(&views[k], 0);
        b->plan->need = mock_workspace_bytes((uint64_t)mock_element_count(&views[SELF]), sizeof(double));
        *MOCK_PARAMS(b->plan, pool) = *p;
    }
    return mock_build_finish(b);
}

static void slide(mock_build *b, mock_window *w, bool ceil) {
    mock_pool_padding(b, w);
    if (b->status == 0) mock_window_slide(b, w, &b->plan->views[SELF], ceil);
}

MOCK_OPERATOR(aclnnAvgPool2dBackward, run)
aclnnStatus aclnnAvgPool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
    bool countIncludePad, int64_t divisorOverride, int8_t cubeMathType, aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAvgPool2dBackwardGetWorkspaceSize);
    (void)cubeMathType;
    mock_build b = mock_build_begin(&aclnnAvgPool2dBackward_task, workspaceSize, executor);
    pool p = {
        .w = mock_window_unit(), .divisor = divisorOverride, .job = MEAN, .count_padding = countIncludePad};
    operands(&b, gradOutput, self, NULL, gradInput, "gradInput");
    mock_pool_window(&b, &p.w, kernelSize, stride, "stride", padding, "padding");
    slide(&b, &p.w, ceilMode);
    return finish(&b, &p);
}

MOCK_OPERATOR(aclnnAdaptiveAvgPool2dBackward, run)
aclnnStatus aclnnAdaptiveAvgPool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAdaptiveAvgPool2dBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAdaptiveAvgPool2dBackward_task, workspaceSize, executor);
    pool p = {.w = mock_window_unit(), .job = ADAPTIVE};
    operands(&b, gradOutput, self, NULL, out, "out");
    const mock_view *views = b.plan == NULL ? NULL : b.plan->views;
    if (b.status == 0 && views[GRAD].rank != views[SELF].rank)
        mock_build_fail(&b, "gradOutput has %d dimensions, self %d", views[GRAD].rank, views[SELF].rank);
    for (int k = 0; b.status == 0 && k < 2; k++) {
        p.w.size[k] = views[SELF].dims[views[SELF].rank - 2 + k];
        p.w.out[k] = views[GRAD].dims[views[GRAD].rank - 2 + k];
        if (p.w.size[k] > INT32_MAX || p.w.out[k] > INT32_MAX)
            mock_build_fail(&b, "self or gradOutput has more than %d elements in one dimension", INT32_MAX);
    }
    return finish(&b, &p);
}

MOCK_OPERATOR(aclnnMaxPool2dWithIndicesBackward, run)
aclnnStatus aclnnMaxPool2dWithIndicesBackwardGetWorkspaceSize(const aclTensor *gradOutput,
    const aclTensor *self, const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMaxPool2dWithIndicesBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMaxPool2dWithIndicesBackward_task, workspaceSize, executor);
    pool p = {.w = mock_window_unit(), .job = PLACES};
    if (b.status == 0 && indices == NULL) b.status = mock_null_parameter(b.name, "indices");
    static const uint8_t order[] = {GRAD, SELF, INDICES, RESULT};
    operands(&b, gradOutput, self, indices, gradInput, "gradInput");
    mock_build_order(&b, order, sizeof order);
    mock_pool_window(&b, &p.w, kernelSize, stride, "stride", padding, "padding");
    mock_window_read(&b, dilation, "dilation", 1, 2, p.w.dilation);
    slide(&b, &p.w, ceilMode);
    return finish(&b, &p);
}
