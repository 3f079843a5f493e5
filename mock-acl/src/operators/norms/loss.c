/* CrossEntropyLoss and NLLLoss: the weighted negative logarithm of the probability of the class that a row
 * names (guide: aclnn, page of each).
 *
 * * f32, f16 and bf16, sums in f64 in the order of the rows, rounded once (own choice). Classes are s32 or
 * s64; one outside of the row that is not ignoreIndex fails the task with 507015 (own choice). The mean
 * divides by the weights of the rows that count, so it is NaN without any (own choice: as PyTorch does).
 * labelSmoothing gives that share to the mean of all classes (own choice: as PyTorch does). The loss for
 * zloss is refused by name. No workspace. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* The order of the operands; the last is the logarithms of probabilities or the sum of weights. */
enum { X, TARGET, WEIGHT, LOSS, EXTRA };
typedef enum reduction { NONE, MEAN, SUM } reduction;

typedef struct loss {
    int64_t ignored;
    double smoothing;
    int8_t reduction;
    bool logits;
} loss;

typedef struct run_state {
    const mock_plan *plan;
    const loss *p;
    char *first[MOCK_MAX_OPERANDS];
    int64_t classes;
    double total, weights;
} run_state;

static double value(const run_state *r, int64_t row, int64_t class) {
    const mock_view *x = &r->plan->views[X];
    const int64_t at[] = {row, class};
    return mock_read_real(x->dtype, mock_element_at(x, r->first[X], x->rank == 1 ? at + 1 : at));
}

static double weight(const run_state *r, int64_t class) {
    const mock_view *w = &r->plan->views[WEIGHT];
    return w->absent ? 1 : mock_read_real(w->dtype, mock_element_at(w, r->first[WEIGHT], &class));
}

/* What is taken off the values of a row to make them logarithms of probabilities. */
static double normaliser(const run_state *r, int64_t row) {
    double most = -INFINITY, sum = 0;
    if (!r->p->logits) return 0;
    for (int64_t c = 0; c < r->classes; c++) {
        const double v = value(r, row, c);
        if (v > most || v != v) most = v;
    }
    for (int64_t c = 0; c < r->classes; c++) sum += exp(value(r, row, c) - most);
    return most + log(sum);
}

static void put_logarithms(const run_state *r, int64_t row, double off) {
    const mock_view *v = &r->plan->views[EXTRA];
    for (int64_t c = 0; r->p->logits && c < r->classes; c++) {
        const int64_t at[] = {row, c};
        mock_write_real(v->dtype, mock_element_at(v, r->first[EXTRA], at), value(r, row, c) - off);
    }
}

static bool run_row(run_state *r, int64_t row) {
    const mock_view *target = &r->plan->views[TARGET], *out = &r->plan->views[LOSS];
    const int64_t class = mock_read_whole(target->dtype, mock_element_at(target, r->first[TARGET], &row));
    const double off = normaliser(r, row);
    double result = 0;
    put_logarithms(r, row, off);
    if (class != r->p->ignored) {
        if (class < 0 || class >= r->classes) return false;
        const double smoothing = r->p->smoothing;
        result = (1 - smoothing) * weight(r, class) * (off - value(r, row, class));
        for (int64_t c = 0; smoothing != 0 && c < r->classes; c++)
            result += smoothing / (double)r->classes * weight(r, c) * (off - value(r, row, c));
        r->weights += weight(r, class);
    }
    r->total += result;
    if (r->p->reduction == NONE) mock_write_real(out->dtype, mock_element_at(out, r->first[LOSS], &row), result);
    return true;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    run_state r = {.plan = plan, .p = MOCK_PARAMS((mock_plan *)arg, loss)};
    const mock_view *x = &plan->views[X], *out = &plan->views[LOSS], *extra = &plan->views[EXTRA];
    const int64_t rows = x->rank == 1 ? 1 : x->dims[0];
    if (!mock_plan_pointers(plan, r.first)) return MOCK_DEVICE_FAULT;
    r.classes = x->dims[x->rank - 1];
    for (int64_t row = 0; row < rows; row++)
        if (!run_row(&r, row)) return MOCK_DEVICE_FAULT;
    if (r.p->reduction != NONE)
        mock_write_real(out->dtype, r.first[LOSS], r.p->reduction == MEAN ? r.total / r.weights : r.total);
    if (!r.p->logits) mock_write_real(extra->dtype, r.first[EXTRA], r.weights);
    return 0;
}

/* ---- first phases ---- */

static void check_types(mock_build *b) {
    const mock_view *views = b->plan->views;
    for (int k = X; k <= EXTRA; k++) {
        if (k == TARGET ? views[k].dtype != ACL_INT32 && views[k].dtype != ACL_INT64
                        : !views[k].absent && !mock_dtype_is_float(views[k].dtype))
            mock_build_fail(b, "operand %d has data type %s, expected %s", k, mock_dtype_name(views[k].dtype),
                k == TARGET ? "INT32 or INT64" : "FLOAT, FLOAT16 or BFLOAT16");
    }
}

/* One element, as a scalar or in one dimension (own choice: both are taken). */
static void check_single(mock_build *b, const mock_view *v, const char *param) {
    mock_shape_text text;
    if (v->rank > 1 || mock_element_count(v) != 1)
        mock_build_fail(b, "%s has shape %s, expected one element", param, mock_shape(v, &text));
}

static void check_shapes(mock_build *b, const loss *p, bool flat) {
    const mock_view *views = b->plan->views, *x = &views[X];
    if (x->rank != 2 && !(flat && x->rank == 1)) {
        mock_build_fail(b, "the input has %d dimensions, expected 2", x->rank);
        return;
    }
    const mock_view rows = {.rank = 1, .dims = {x->rank == 1 ? 1 : x->dims[0]}};
    const mock_view classes = {.rank = 1, .dims = {x->dims[x->rank - 1]}};
    if (x->rank == 1) check_single(b, &views[TARGET], "target");
    else mock_require_shape(b, &views[TARGET], "target", &rows, "one class for each row");
    if (!views[WEIGHT].absent)
        mock_require_shape(b, &views[WEIGHT], "weight", &classes, "one for each class");
    if (p->reduction == NONE && x->rank == 2)
        mock_require_shape(b, &views[LOSS], "the loss", &rows, "one for each row");
    else check_single(b, &views[LOSS], "the loss");
    if (p->logits) mock_require_shape(b, &views[EXTRA], "logProbOut", x, "the shape of input");
    else check_single(b, &views[EXTRA], "totalWeightOut");
}

static aclnnStatus plan_loss(mock_build *b, loss p) {
    if (b->status != 0) return mock_build_finish(b);
    check_types(b);
    check_shapes(b, &p, !p.logits);
    *MOCK_PARAMS(b->plan, loss) = p;
    return mock_build_finish(b);
}

/* A null text is mean (guide: aclnn, aclnnCrossEntropyLoss). */
static int8_t read_reduction(mock_build *b, const char *text) {
    if (text == NULL || strcmp(text, "mean") == 0) return MEAN;
    if (strcmp(text, "sum") == 0) return SUM;
    if (strcmp(text, "none") != 0)
        mock_build_fail(b, "reductionOptional is %s, expected none, mean or sum", text);
    return NONE;
}

/* lseSquareScaleForZloss and the two last outputs are for zloss only and not touched (own choice). */
MOCK_OPERATOR(aclnnCrossEntropyLoss, run)
aclnnStatus aclnnCrossEntropyLossGetWorkspaceSize(const aclTensor *input, const aclTensor *target,
    const aclTensor *weightOptional, char *reductionOptional, int64_t ignoreIndex, double labelSmoothing,
    double lseSquareScaleForZloss, bool returnZloss, const aclTensor *lossOut, const aclTensor *logProbOut,
    const aclTensor *zlossOut, const aclTensor *lseForZlossOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnCrossEntropyLossGetWorkspaceSize);
    (void)lseSquareScaleForZloss;
    mock_build b = mock_build_begin(&aclnnCrossEntropyLoss_task, workspaceSize, executor);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    mock_build_tensor(&b, target, "target", MOCK_IN);
    mock_build_optional(&b, weightOptional, "weightOptional", MOCK_IN);
    mock_build_tensor(&b, lossOut, "lossOut", MOCK_OUT);
    mock_build_tensor(&b, logProbOut, "logProbOut", MOCK_OUT);
    mock_require_live(&b, zlossOut, "zlossOut");
    mock_require_live(&b, lseForZlossOut, "lseForZlossOut");
    const int8_t kind = read_reduction(&b, reductionOptional);
    if (returnZloss) mock_build_fail(&b, "returnZloss is true, which is not supported");
    if (!(labelSmoothing >= 0 && labelSmoothing <= 1))
        mock_build_fail(&b, "labelSmoothing is %g, expected 0 to 1", labelSmoothing);
    return plan_loss(&b, (loss){ignoreIndex, labelSmoothing, kind, true});
}

MOCK_OPERATOR(aclnnNLLLoss, run)
aclnnStatus aclnnNLLLossGetWorkspaceSize(const aclTensor *self, const aclTensor *target,
    const aclTensor *weight,
    int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut,
        uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNLLLossGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNLLLoss_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, target, "target", MOCK_IN);
    mock_build_tensor(&b, weight, "weight", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_build_tensor(&b, totalWeightOut, "totalWeightOut", MOCK_OUT);
    if (reduction < NONE || reduction > SUM)
        mock_build_fail(&b, "reduction is %lld, expected 0 (none), 1 (mean) or 2 (sum)",
            (long long)reduction);
    return plan_loss(&b, (loss){ignoreIndex, 0, (int8_t)reduction, false});
}
