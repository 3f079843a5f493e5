/* ForeachAddcmul, ForeachAddcdiv and ForeachLerp (guide: aclnn, page of each): x1 + scalar * x2 * x3, x1 +
 * scalar * x2 / x3, x1 + weight * (x2 - x1), for every tensor of the lists.
 *
 * All tensors have the type of the first and the shape of theirs (own choice). f32, f16 and bf16, computed in
 * f64 and rounded once (own choice). The scalar is an aclScalar, an aclTensor of one element, which the task
 * reads, or one of an element for each tensor. No workspace. */
#include <stdio.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef enum formula { ADDCMUL, ADDCDIV, LERP } formula;

typedef struct triple {
    double scalar;
    int8_t formula;
    int8_t third, numbers, out; /* operands, -1 for none */
    bool each;
} triple;

typedef struct part {
    const mock_view *v;
    char *first;
} part;

static double compute(const triple *t, double k, double x, double y, double z) {
    switch ((formula)t->formula) {
        case ADDCMUL: return x + k * y * z;
        case ADDCDIV: return x + k * y / z;
        default: return x + (t->third >= 0 ? z : k) * (y - x);
    }
}

static bool take(const mock_plan *plan, int operand, int64_t member, part *p) {
    *p = (part){NULL, NULL};
    if (operand < 0) return true;
    p->v = mock_members(plan, &plan->views[operand]) + member;
    p->first = mock_view_pointer(p->v);
    return p->first != NULL;
}

static double read_part(const part *p, const int64_t *i) {
    return p->v == NULL ? 0 : mock_read_real(p->v->dtype, mock_element_at(p->v, p->first, i));
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const triple *t = MOCK_PARAMS((mock_plan *)arg, triple);
    char *numbers = t->numbers < 0 ? NULL : mock_plan_pointer(plan, (unsigned)t->numbers);
    if (t->numbers >= 0 && numbers == NULL) return MOCK_DEVICE_FAULT;
    for (int64_t member = 0; member < plan->views[0].span; member++) {
        part x, y, z, out;
        int64_t i[MOCK_MAX_RANK] = {0}, at = t->each ? member : 0;
        double k = t->scalar;
        if (!take(plan, 0, member, &x) || !take(plan, 1, member, &y) || !take(plan, t->third, member, &z) ||
            !take(plan, t->out, member, &out))
            return MOCK_DEVICE_FAULT;
        if (numbers != NULL) {
            const mock_view *v = &plan->views[t->numbers];
            k = mock_read_real(v->dtype, v->rank == 0 ? numbers : mock_element_at(v, numbers, &at));
        }
        if (mock_element_count(x.v) == 0) continue;
        do {
            const double value = compute(t, k, read_part(&x, i), read_part(&y, i), read_part(&z, i));
            mock_write_real(out.v->dtype, mock_element_at(out.v, out.first, i), value);
        } while (mock_next(x.v, i));
    }
    return 0;
}

static void check_list(mock_build *b, int operand, const char *param) {
    const mock_view *first = &b->plan->views[0], *list = &b->plan->views[operand];
    if (b->status == 0 && list->span != first->span)
        mock_build_fail(
            b, "%s has %lld tensors, x1 has %lld", param, (long long)list->span, (long long)first->span);
    for (int64_t i = 0; b->status == 0 && i < list->span; i++) {
        const mock_view *x = mock_members(b->plan, first), *v = mock_members(b->plan, list) + i;
        char name[32];
        snprintf(name, sizeof name, "%s[%lld]", param, (long long)i);
        if (!mock_dtype_is_float(v->dtype) || v->dtype != x->dtype)
            mock_build_fail(b, "%s has data type %s; all of FLOAT, FLOAT16 or BFLOAT16 are supported", name,
                mock_dtype_name(v->dtype));
        mock_require_shape(b, v, name, x + i, "the shape of its tensor");
    }
}

/* One number, or one for each tensor. */
static int8_t add_numbers(mock_build *b, const aclTensor *tensor, const char *param, bool each) {
    const mock_view *v = mock_build_tensor(b, tensor, param, MOCK_IN);
    mock_shape_text text;
    if (v == NULL) return -1;
    const int64_t want = each ? b->plan->views[0].span : 1;
    if (mock_element_count(v) != want || v->rank > 1 || (each && v->rank != 1))
        mock_build_fail(b, "%s has shape %s, expected [%lld]", param, mock_shape(v, &text), (long long)want);
    return (int8_t)(b->plan->count - 1);
}

/* The numbers come as one of three. */
typedef struct call {
    const aclTensorList *x1, *x2, *x3, *out;
    const aclScalar *scalar;
    const aclTensor *tensor;
    const char *third_name, *number_name;
    bool scalar_given, tensor_given, each;
} call;

static aclnnStatus plan(mock_build b, formula f, const call *c) {
    triple t = {.formula = (int8_t)f, .third = -1, .numbers = -1, .each = c->each};
    mock_build_list(&b, c->x1, "x1", MOCK_IN);
    mock_build_list(&b, c->x2, "x2", MOCK_IN);
    if (c->third_name != NULL) {
        t.third = 2;
        mock_build_list(&b, c->x3, c->third_name, MOCK_IN);
    }
    if (c->scalar_given) {
        const mock_scalar *s = mock_build_scalar(&b, c->scalar, c->number_name);
        t.scalar = s == NULL ? 0 : mock_scalar_double(s);
    }
    if (c->tensor_given && b.status == 0) t.numbers = add_numbers(&b, c->tensor, c->number_name, c->each);
    mock_build_list(&b, c->out, "out", MOCK_OUT);
    if (b.status == 0) {
        t.out = (int8_t)(b.plan->count - 1);
        check_list(&b, 0, "x1");
        check_list(&b, 1, "x2");
        if (t.third >= 0) check_list(&b, t.third, c->third_name);
        check_list(&b, t.out, "out");
        *MOCK_PARAMS(b.plan, triple) = t;
    }
    return mock_build_finish(&b);
}

#define TRIPLE(NAME, FORMULA, OUT, NUMBER, PARAM, ...)                                   \
    MOCK_OPERATOR(NAME, run)                                                             \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, \
        const aclTensorList *x3, const NUMBER *PARAM, OUT *out, uint64_t *workspaceSize, \
        aclOpExecutor **executor) {                                                      \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                              \
        return plan(mock_build_begin(&NAME##_task, workspaceSize, executor), FORMULA,    \
            &(call){.x1 = x1,                                                            \
                .x2 = x2,                                                                \
                .x3 = x3,                                                                \
                .out = out,                                                              \
                .third_name = "x3",                                                      \
                .number_name = #PARAM,                                                   \
                __VA_ARGS__});                                                           \
    }

TRIPLE(aclnnForeachAddcmulScalarV2, ADDCMUL, aclTensorList, aclScalar, scalar, .scalar = scalar,
    .scalar_given = true)
TRIPLE(aclnnForeachAddcdivScalarV2, ADDCDIV, aclTensorList, aclScalar, scalar, .scalar = scalar,
    .scalar_given = true)
TRIPLE(aclnnForeachAddcmulScalar, ADDCMUL, const aclTensorList, aclTensor, scalar, .tensor = scalar,
    .tensor_given = true)
TRIPLE(aclnnForeachAddcdivScalar, ADDCDIV, aclTensorList, aclTensor, scalar, .tensor = scalar,
    .tensor_given = true)
TRIPLE(aclnnForeachAddcmulScalarList, ADDCMUL, const aclTensorList, aclTensor, scalars, .tensor = scalars,
    .tensor_given = true, .each = true)
TRIPLE(aclnnForeachAddcdivScalarList, ADDCDIV, aclTensorList, aclTensor, scalars, .tensor = scalars,
    .tensor_given = true, .each = true)

MOCK_OPERATOR(aclnnForeachLerpScalar, run)
aclnnStatus aclnnForeachLerpScalarGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2,
    const aclScalar *weight, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnForeachLerpScalarGetWorkspaceSize);
    return plan(mock_build_begin(&aclnnForeachLerpScalar_task, workspaceSize, executor), LERP,
        &(call){
            .x1 = x1, .x2 = x2, .out = out, .scalar = weight, .scalar_given = true, .number_name = "weight"});
}

MOCK_OPERATOR(aclnnForeachLerpList, run)
aclnnStatus aclnnForeachLerpListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2,
    const aclTensorList *weight, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnForeachLerpListGetWorkspaceSize);
    return plan(mock_build_begin(&aclnnForeachLerpList_task, workspaceSize, executor), LERP,
        &(call){.x1 = x1, .x2 = x2, .x3 = weight, .out = out, .third_name = "weight"});
}
