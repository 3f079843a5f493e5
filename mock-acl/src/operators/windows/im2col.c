/* Im2col: the windows of each image as columns (guide: aclnn, aclnnIm2col). out is [images, channels *
 * elements of a window, windows]; padding is 0. Any type, elements move bit by bit; no workspace. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/windows/window.h"

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const mock_window *w = MOCK_PARAMS((mock_plan *)arg, mock_window);
    const mock_view *x = &plan->views[0], *out = &plan->views[1];
    const size_t size = mock_dtype_size(x->dtype);
    const int64_t plane = w->kernel[0] * w->kernel[1];
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        const int64_t from[] = {i[0], i[1] / plane,
            mock_window_place(w, 0, i[2] / w->out[1], i[1] % plane / w->kernel[1]),
            mock_window_place(w, 1, i[2] % w->out[1], i[1] % w->kernel[1])};
        const bool inside = from[2] >= 0 && from[2] < w->size[0] && from[3] >= 0 && from[3] < w->size[1];
        char *to = mock_element_at(out, first[1], i);
        if (inside) memcpy(to, mock_element_at(x, first[0], from), size);
        else memset(to, 0, size);
    } while (mock_next(out, i));
    return 0;
}

MOCK_OPERATOR(aclnnIm2col, run)
aclnnStatus aclnnIm2colGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize,
    const aclIntArray *dilation, const aclIntArray *padding, const aclIntArray *stride, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIm2colGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIm2col_task, workspaceSize, executor);
    mock_window w = mock_window_unit();
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_window_read(&b, kernelSize, "kernelSize", 1, 2, w.kernel);
    mock_window_read(&b, dilation, "dilation", 1, 2, w.dilation);
    mock_window_read(&b, padding, "padding", 0, 2, w.before);
    mock_window_read(&b, stride, "stride", 1, 2, w.stride);
    if (b.status != 0) return mock_build_finish(&b);
    for (int k = 0; k < 2; k++) w.after[k] = w.before[k];
    if (x->rank != 3 && x->rank != 4) mock_build_fail(&b, "self has %d dimensions, expected 3 or 4", x->rank);
    mock_window_slide(&b, &w, x, false);
    if (b.status != 0) return mock_build_finish(&b);
    mock_view *views = b.plan->views;
    if (views[1].dtype != x->dtype)
        mock_build_fail(&b, "out has data type %s, self has %s", mock_dtype_name(views[1].dtype),
            mock_dtype_name(x->dtype));
    int64_t depth = 0;
    const int64_t count = w.out[0] * w.out[1];
    if (__builtin_mul_overflow(x->dims[x->rank - 3], w.kernel[0] * w.kernel[1], &depth))
        mock_build_fail(&b, "the windows are too large");
    const mock_view four = {.rank = 3, .dims = {x->dims[0], depth, count}};
    const mock_view three = {.rank = 2, .dims = {depth, count}};
    mock_require_shape(&b, &views[1], "out", x->rank == 4 ? &four : &three, "a column for each window");
    if (b.status == 0 && x->rank == 3) {
        mock_insert_dim(&views[0], 0);
        mock_insert_dim(&views[1], 0);
    }
    *MOCK_PARAMS(b.plan, mock_window) = w;
    return mock_build_finish(&b);
}
