/* SoftmaxCrossEntropyWithLogits: for each row the sum of labels times the negative logarithm of the softmax of the
 * features, and its gradient, softmax minus labels, which is that of rows of labels whose sum is 1 (guide: aclnn,
 * aclnnSoftmaxCrossEntropyWithLogits).
 *
 * f32, f16 and bf16, all of one type, computed in f64 and rounded once (own choice). backprop may be features or
 * labels. No workspace. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

enum { FEATURES, LABELS, LOSS, BACKPROP };

static double at(const mock_plan *plan, char *const *first, int k, int64_t row, int64_t class) {
    const int64_t i[] = {row, class};
    return mock_read_real(plan->views[k].dtype, mock_element_at(&plan->views[k], first[k], i));
}

static void run_row(const mock_plan *plan, char *const *first, int64_t row) {
    const mock_view *views = plan->views;
    const int64_t classes = views[FEATURES].dims[1];
    double most = -INFINITY, sum = 0, loss = 0;
    for (int64_t c = 0; c < classes; c++) {
        const double v = at(plan, first, FEATURES, row, c);
        if (v > most || v != v) most = v;
    }
    for (int64_t c = 0; c < classes; c++) sum += exp(at(plan, first, FEATURES, row, c) - most);
    for (int64_t c = 0; c < classes; c++) {
        const double away = at(plan, first, FEATURES, row, c) - most, label = at(plan, first, LABELS, row, c);
        const int64_t i[] = {row, c};
        loss += label * (log(sum) - away);
        mock_write_real(views[BACKPROP].dtype, mock_element_at(&views[BACKPROP], first[BACKPROP], i),
            exp(away) / sum - label);
    }
    mock_write_real(views[LOSS].dtype, mock_element_at(&views[LOSS], first[LOSS], &row), loss);
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    char *first[MOCK_MAX_OPERANDS];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    for (int64_t row = 0; row < plan->views[FEATURES].dims[0]; row++) run_row(plan, first, row);
    return 0;
}

static void check(mock_build *b) {
    static const char *const names[] = {"features", "labels", "loss", "backprop"};
    const mock_view *views = b->plan->views, *x = &views[FEATURES];
    mock_shape_text text;
    for (int k = FEATURES; k <= BACKPROP; k++) {
        if (!mock_dtype_is_float(views[k].dtype) || views[k].dtype != x->dtype)
            mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported, all of one",
                names[k], mock_dtype_name(views[k].dtype));
    }
    if (x->rank != 2) mock_build_fail(b, "features has shape %s, expected 2 dimensions", mock_shape(x, &text));
    if (b->status != 0) return;
    const mock_view rows = {.rank = 1, .dims = {x->dims[0]}};
    mock_require_shape(b, &views[LABELS], "labels", x, "the shape of features");
    mock_require_shape(b, &views[LOSS], "loss", &rows, "one for each row");
    mock_require_shape(b, &views[BACKPROP], "backprop", x, "the shape of features");
}

MOCK_OPERATOR(aclnnSoftmaxCrossEntropyWithLogits, run)
aclnnStatus aclnnSoftmaxCrossEntropyWithLogitsGetWorkspaceSize(const aclTensor *features, aclTensor *labels,
    aclTensor *loss, aclTensor *backprop, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSoftmaxCrossEntropyWithLogitsGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSoftmaxCrossEntropyWithLogits_task, workspaceSize, executor);
    mock_build_tensor(&b, features, "features", MOCK_IN);
    mock_build_tensor(&b, labels, "labels", MOCK_IN);
    mock_build_tensor(&b, loss, "loss", MOCK_OUT);
    mock_build_tensor(&b, backprop, "backprop", MOCK_OUT);
    if (b.status == 0) check(&b);
    return mock_build_finish(&b);
}
