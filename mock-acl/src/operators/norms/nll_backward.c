/* NLLLossBackward (guide: aclnn, its page): in each row the class that target names gets minus its weight times
 * the gradient of the row, or of the whole, which a mean divides by totalWeight; the others get 0, and so do
 * rows of ignoreIndex. f32, f16 and bf16, computed in f64, rounded once (own choice). Classes are s32 or s64;
 * one outside of the row that is not ignoreIndex fails the task with 507015 (own choice). No workspace. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

enum { GRAD, SELF, TARGET, WEIGHT, TOTAL, OUT, OPERANDS };
enum { NONE, MEAN, SUM };
static const char *const names[] = {"gradOutput", "self", "target", "weight", "totalWeight", "out"};

typedef struct nll {
    int64_t ignored;
    int8_t reduction;
} nll;

static bool run_row(const mock_plan *plan, const nll *p, char *const *first, int64_t row) {
    const mock_view *v = plan->views, *out = &v[OUT];
    const int64_t classes = out->dims[out->rank - 1];
    const int64_t class = mock_read_whole(v[TARGET].dtype, mock_element_at(&v[TARGET], first[TARGET], &row));
    if (class != p->ignored && (class < 0 || class >= classes)) return false;
    for (int64_t c = 0; c < classes; c++) {
        const int64_t at[] = {row, c}, *place = out->rank == 1 ? at + 1 : at;
        double value = 0;
        if (c == class && class != p->ignored) {
            value = -mock_read_real(v[WEIGHT].dtype, mock_element_at(&v[WEIGHT], first[WEIGHT], &c));
            value *= mock_read_real(v[GRAD].dtype,
                p->reduction == NONE ? mock_element_at(&v[GRAD], first[GRAD], &row) : first[GRAD]);
            if (p->reduction == MEAN) value /= mock_read_real(v[TOTAL].dtype, first[TOTAL]);
        }
        mock_write_real(out->dtype, mock_element_at(out, first[OUT], place), value);
    }
    return true;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *out = &plan->views[OUT];
    char *first[MOCK_MAX_OPERANDS];
    const int64_t rows = out->rank == 1 ? 1 : out->dims[0];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    for (int64_t row = 0; row < rows; row++)
        if (!run_row(plan, MOCK_PARAMS((mock_plan *)arg, nll), first, row)) return MOCK_DEVICE_FAULT;
    return 0;
}

static void require_one(mock_build *b, int k) {
    mock_shape_text text;
    if (b->status != 0 || (b->plan->views[k].rank <= 1 && mock_element_count(&b->plan->views[k]) == 1)) return;
    mock_build_fail(
        b, "%s has shape %s, expected one element", names[k], mock_shape(&b->plan->views[k], &text));
}

static void check(mock_build *b, int reduction) {
    const mock_view *v = b->plan->views, *x = &v[SELF];
    for (int k = 0; k < OPERANDS; k++)
        if (k == TARGET ? v[k].dtype != ACL_INT32 && v[k].dtype != ACL_INT64 : !mock_dtype_is_float(v[k].dtype))
            mock_build_fail(b, "%s has data type %s, expected %s", names[k], mock_dtype_name(v[k].dtype),
                k == TARGET ? "INT32 or INT64" : "FLOAT, FLOAT16 or BFLOAT16");
    if (x->rank != 1 && x->rank != 2) mock_build_fail(b, "self has %d dimensions, expected 1 or 2", x->rank);
    if (reduction < NONE || reduction > SUM) mock_build_fail(b, "reduction is %d, expected 0 to 2", reduction);
    if (b->status != 0) return;
    const mock_view classes = {.rank = 1, .dims = {x->dims[x->rank - 1]}};
    mock_view rows = {.rank = 1, .dims = {x->rank == 1 ? 1 : x->dims[0]}};
    if (x->rank == 1 && v[TARGET].rank == 0) rows.rank = 0;
    mock_require_shape(b, &v[TARGET], names[TARGET], &rows, "one for each row");
    mock_require_shape(b, &v[WEIGHT], names[WEIGHT], &classes, "one for each class");
    mock_require_shape(b, &v[OUT], names[OUT], x, "the shape of self");
    require_one(b, TOTAL);
    if (reduction == NONE && x->rank == 2)
        mock_require_shape(b, &v[GRAD], names[GRAD], &rows, "one for each row");
    else
        require_one(b, GRAD);
}

MOCK_OPERATOR(aclnnNLLLossBackward, run)
aclnnStatus aclnnNLLLossBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self,
    const aclTensor *target, const aclTensor *weight, int64_t reduction, int64_t ignoreIndex,
    const aclTensor *totalWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnNLLLossBackwardGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnNLLLossBackward_task, workspaceSize, executor);
    const aclTensor *const inputs[] = {gradOutput, self, target, weight, totalWeight};
    for (int k = GRAD; k < OUT; k++) mock_build_tensor(&b, inputs[k], names[k], MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    const int kind = reduction < NONE || reduction > SUM ? -1 : (int)reduction;
    if (b.status == 0) check(&b, kind);
    if (b.status == 0) *MOCK_PARAMS(b.plan, nll) = (nll){ignoreIndex, (int8_t)kind};
    return mock_build_finish(&b);
}
