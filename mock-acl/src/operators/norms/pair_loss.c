/* Losses that compare element by element, with their gradients: MseLoss, L1Loss, SmoothL1Loss,
 * BinaryCrossEntropy and BinaryCrossEntropyWithLogits (guide: aclnn, page of each; formulas as PyTorch has
 * them, own choice).
 *
 * f32, f16 and bf16, computed in f64, sums in the order of the elements, rounded once (own choice). self and
 * target broadcast; weights broadcast to them. reduction 0 gives every loss, 1 the mean, which is NaN of
 * nothing, 2 the sum. In a gradient gradOutput broadcasts to the result. Logarithms of probabilities are at
 * least -100, and their slope divides by 1e-12 or more. No workspace. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef enum kind { SQUARE, ABSOLUTE, SMOOTH, ENTROPY, LOGITS } kind;
enum { NONE, MEAN, SUM };
/* In the order in which first phases take them, by which addresses are set. */
enum { GRAD, SELF, TARGET, WEIGHT, POSITIVE, OUT };

typedef struct pair_loss {
    mock_view shape; /* the common one */
    double beta;
    int8_t kind, reduction;
    bool backward;
} pair_loss;

static double at_least(double value, double least) { return value < least ? least : value; }

static double loss_of(const pair_loss *p, double x, double t, double positive) {
    const double d = x - t, size = fabs(d);
    switch ((kind)p->kind) {
        case SQUARE: return d * d;
        case ABSOLUTE: return size;
        case SMOOTH: return size < p->beta ? 0.5 * d * d / p->beta : size - 0.5 * p->beta;
        case ENTROPY: return -(t * at_least(log(x), -100) + (1 - t) * at_least(log1p(-x), -100));
        default: return (1 - t) * x + ((positive - 1) * t + 1) * (log1p(exp(-fabs(x))) + (x < 0 ? -x : 0));
    }
}

static double sign(double d) { return d > 0 ? 1 : d < 0 ? -1 : d; }

static double slope_of(const pair_loss *p, double x, double t, double positive) {
    const double d = x - t;
    switch ((kind)p->kind) {
        case SQUARE: return 2 * d;
        case ABSOLUTE: return sign(d);
        case SMOOTH: return fabs(d) < p->beta ? d / p->beta : sign(d);
        case ENTROPY: return d / at_least((1 - x) * x, 1e-12);
        default: return (positive * t + 1 - t) * mock_logistic(x) - positive * t;
    }
}

/* The element of an operand that broadcasts to the common shape; 1 for an absent one. */
static double read_at(const mock_view *v, char *first, const mock_view *shape, const int64_t *i) {
    int64_t place[MOCK_MAX_RANK] = {0};
    if (v->absent) return 1;
    for (int d = 0; d < v->rank; d++) place[d] = v->dims[d] == 1 ? 0 : i[d + shape->rank - v->rank];
    return mock_read_real(v->dtype, mock_element_at(v, first, place));
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const pair_loss *p = MOCK_PARAMS((mock_plan *)arg, pair_loss);
    const mock_view *views = plan->views, *out = &views[OUT];
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    const double count = (double)mock_element_count(&p->shape), part = p->reduction == MEAN ? 1 / count : 1;
    double sum = 0;
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    const bool each = p->backward || p->reduction == NONE;
    if (count != 0) {
        do {
            double v[POSITIVE + 1];
            for (int k = SELF; k <= POSITIVE; k++) v[k] = read_at(&views[k], first[k], &p->shape, i);
            const double of = p->backward ? slope_of(p, v[SELF], v[TARGET], v[POSITIVE])
                                          : loss_of(p, v[SELF], v[TARGET], v[POSITIVE]);
            const double grad = p->backward ? read_at(&views[GRAD], first[GRAD], &p->shape, i) * part : 1;
            if (each)
                mock_write_real(out->dtype, mock_element_at(out, first[OUT], i), of * v[WEIGHT] * grad);
            else
                sum += of * v[WEIGHT];
        } while (mock_next(&p->shape, i));
    }
    if (!each) mock_write_real(out->dtype, first[OUT], p->reduction == MEAN ? sum / count : sum);
    return 0;
}

static void check(mock_build *b, pair_loss *p, const char *const *names, int64_t reduction) {
    const mock_view *views = b->plan->views;
    mock_shape_text sx, sy;
    mock_view common;
    for (int k = 0; k < b->plan->count; k++)
        if (!views[k].absent && !mock_dtype_is_float(views[k].dtype))
            mock_build_fail(b, "%s has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported", names[k],
                mock_dtype_name(views[k].dtype));
    if (reduction < NONE || reduction > SUM)
        mock_build_fail(b, "reduction is %lld, expected 0 to 2", (long long)reduction);
    p->reduction = (int8_t)reduction;
    if (!mock_broadcast(&views[SELF], &views[TARGET], &p->shape))
        mock_build_fail(b, "self %s and target %s do not broadcast", mock_shape(&views[SELF], &sx),
            mock_shape(&views[TARGET], &sy));
    for (int k = GRAD; b->status == 0 && k < OUT; k++) {
        if (k == SELF || k == TARGET || views[k].absent) continue;
        if (!mock_broadcast(&views[k], &p->shape, &common) || !mock_same_shape(&common, &p->shape))
            mock_build_fail(b, "%s %s does not broadcast to %s", names[k], mock_shape(&views[k], &sx),
                mock_shape(&p->shape, &sy));
    }
    if (b->status != 0) return;
    if (p->backward || p->reduction == NONE)
        mock_require_shape(b, &views[OUT], names[OUT], &p->shape, "that of self and target");
    else if (views[OUT].rank > 1 || mock_element_count(&views[OUT]) != 1)
        mock_build_fail(b, "%s has shape %s, expected one element", names[OUT], mock_shape(&views[OUT], &sx));
}

typedef struct operands {
    const aclTensor *self, *target, *weight, *positive, *grad;
    aclTensor *out;
    const char *grad_name, *weight_name, *positive_name, *out_name; /* NULL where the operator takes none */
} operands;

static void build_optional(mock_build *b, const aclTensor *tensor, const char *name) {
    if (name == NULL) mock_build_nothing(b);
    else mock_build_optional(b, tensor, name, MOCK_IN);
}

static aclnnStatus plan(mock_build *b, const operands *o, pair_loss p, int64_t reduction) {
    const char *const names[] = {
        o->grad_name, "self", "target", o->weight_name, o->positive_name, o->out_name};
    p.backward = o->grad_name != NULL;
    if (p.backward) mock_build_tensor(b, o->grad, o->grad_name, MOCK_IN);
    else mock_build_nothing(b);
    mock_build_tensor(b, o->self, "self", MOCK_IN);
    mock_build_tensor(b, o->target, "target", MOCK_IN);
    build_optional(b, o->weight, o->weight_name);
    build_optional(b, o->positive, o->positive_name);
    mock_build_tensor(b, o->out, o->out_name, MOCK_OUT);
    if (b->status == 0) check(b, &p, names, reduction);
    if (b->status == 0) *MOCK_PARAMS(b->plan, pair_loss) = p;
    return mock_build_finish(b);
}

#define LOSS(NAME, KIND, BETA, RESULT, OPERANDS, ...)                                                      \
    MOCK_OPERATOR(NAME, run)                                                                               \
    aclnnStatus NAME##GetWorkspaceSize(                                                                    \
        __VA_ARGS__, aclTensor *RESULT, uint64_t *workspaceSize, aclOpExecutor **executor) {               \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                                \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                            \
        if (b.status == 0 && !((BETA) >= 0)) mock_build_fail(&b, "beta is %g", (double)(BETA));            \
        const operands o = {.self = self, .target = target, .out = RESULT, .out_name = #RESULT, OPERANDS}; \
        return plan(&b, &o, (pair_loss){.kind = KIND, .beta = BETA}, reduction);                           \
    }
#define COMMA ,
#define PLAIN .weight = NULL
#define GRADIENT(NAME) .grad = NAME COMMA.grad_name = #NAME

LOSS(aclnnMseLoss, SQUARE, 0, out, PLAIN, const aclTensor *self, const aclTensor *target, int64_t reduction)
LOSS(aclnnMseLossBackward, SQUARE, 0, out, GRADIENT(gradOutput), const aclTensor *gradOutput,
    const aclTensor *self, const aclTensor *target, int64_t reduction)
LOSS(aclnnL1Loss, ABSOLUTE, 0, out, PLAIN, const aclTensor *self, const aclTensor *target, int64_t reduction)
LOSS(aclnnL1LossBackward, ABSOLUTE, 0, gradInput, GRADIENT(gradOutput), const aclTensor *gradOutput,
    const aclTensor *self, const aclTensor *target, int64_t reduction)
LOSS(aclnnSmoothL1Loss, SMOOTH, beta, result, PLAIN, const aclTensor *self, const aclTensor *target,
    int64_t reduction, float beta)
LOSS(aclnnSmoothL1LossBackward, SMOOTH, beta, gradInput, GRADIENT(gradOut), const aclTensor *gradOut,
    const aclTensor *self, const aclTensor *target, int64_t reduction, float beta)
#define WEIGHTED(NAME) .weight = NAME COMMA.weight_name = #NAME
#define POSITIVELY(NAME) COMMA.positive = NAME COMMA.positive_name = #NAME
LOSS(aclnnBinaryCrossEntropy, ENTROPY, 0, out, WEIGHTED(weight), const aclTensor *self, const aclTensor *target,
    const aclTensor *weight, int64_t reduction)
LOSS(aclnnBinaryCrossEntropyBackward, ENTROPY, 0, out,
    WEIGHTED(weightOptional) COMMA.grad = gradOutput COMMA.grad_name = "gradOutput",
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
    const aclTensor *weightOptional, int64_t reduction)
LOSS(aclnnBinaryCrossEntropyWithLogits, LOGITS, 0, out,
    WEIGHTED(weightOptional) POSITIVELY(posWeightOptional), const aclTensor *self, const aclTensor *target,
    const aclTensor *weightOptional, const aclTensor *posWeightOptional, int64_t reduction)
LOSS(aclnnBinaryCrossEntropyWithLogitsBackward, LOGITS, 0, out,
    WEIGHTED(weightOptional) POSITIVELY(posWeightOptional) COMMA.grad = gradOutput COMMA.grad_name = "gradOutput",
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
    const aclTensor *weightOptional, const aclTensor *posWeightOptional, int64_t reduction)
