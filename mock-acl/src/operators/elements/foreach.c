/* The shared part of operators/elements/foreach.h. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/elements/foreach.h"
#include "operators/operators.h"

#include <stdio.h>

/* Numbers stand in plan->extra: one for all, or one for each tensor. */
typedef struct foreach {
    const mock_kernels *kernels;
    int8_t class;
    int8_t other, number, out; /* operands, -1 for none */
    bool each;
} foreach;

static mock_number read_number(const mock_view *v, const void *at) {
    mock_number k = {0, 0, 0};
    const void *d = mock_load(MOCK_F64, v->dtype, at, 0, 1, &k.d), *i = mock_load(MOCK_I64, v->dtype, at, 0,
        1, &k.i);
    if (d != &k.d) memcpy(&k.d, d, sizeof k.d);
    if (i != &k.i) memcpy(&k.i, i, sizeof k.i);
    k.f = (float)k.d;
    return k;
}

aclError mock_foreach_run(void *arg) {
    const mock_plan *plan = arg;
    const foreach *f = MOCK_PARAMS((mock_plan *)arg, foreach);
    const mock_number *numbers = plan->extra;
    const int64_t count = plan->views[0].span;
    mock_number k[MOCK_NUMBERS] = {{0, 0, 0}};
    if (f->number >= 0) {
        const void *at = mock_plan_pointer(plan, (unsigned)f->number);
        if (at == NULL) return MOCK_DEVICE_FAULT;
        k[0] = read_number(&plan->views[f->number], at);
    }
    for (int64_t i = 0; i < count; i++) {
        const mock_view *x = mock_members(plan, &plan->views[0]) + i;
        const mock_view *y = f->other < 0 ? NULL : mock_members(plan, &plan->views[f->other]) + i;
        const mock_view *out = mock_members(plan, &plan->views[f->out]) + i;
        if (numbers != NULL) k[0] = numbers[f->each ? i : 0];
        const aclError error = mock_elementwise_views(f->kernels, (mock_class)f->class, k, out, x, y);
        if (error != 0) return error;
    }
    return 0;
}

static void check_number(mock_build *b, int32_t dtype, const char *param) {
    const mock_view *x = mock_members(b->plan, &b->plan->views[0]);
    if (b->status == 0 && mock_dtype_is_floating(dtype) && !mock_dtype_is_floating(x->dtype))
        mock_build_fail(b, "%s has data type %s, which does not go with %s", param, mock_dtype_name(dtype),
            mock_dtype_name(x->dtype));
}

static void add_scalar(mock_build *b, const mock_foreach_call *call) {
    const mock_scalar *s = mock_build_scalar(b, call->scalar, call->number_name);
    if (s == NULL) return;
    check_number(b, s->dtype, call->number_name);
    mock_number *to = mock_build_extra(b, sizeof *to);
    if (to != NULL) *to = mock_number_of(s);
}

static void add_scalars(mock_build *b, const mock_foreach_call *call) {
    const mock_list *l = mock_object_get(MOCK_OBJECT_LIST, call->scalars);
    if (b->status != 0) return;
    const int64_t count = b->plan->views[0].span;
    if (call->scalars == NULL) b->status = mock_null_parameter(b->name, call->number_name);
    else if (l == NULL || l->members != MOCK_OBJECT_SCALAR)
        mock_build_fail(b, "%s is not a live aclScalarList", call->number_name);
    else if (l->size != (uint64_t)count)
        mock_build_fail(b, "%s has %llu numbers, %s has %lld tensors", call->number_name,
            (unsigned long long)l->size, call->x_name, (long long)count);
    mock_number *to = mock_build_extra(b, (size_t)count * sizeof *to);
    for (int64_t i = 0; to != NULL && b->status == 0 && i < count; i++) {
        const mock_scalar *s = mock_build_scalar(b, l->handles[i], call->number_name);
        if (s == NULL) return;
        check_number(b, s->dtype, call->number_name);
        to[i] = mock_number_of(s);
    }
}

static int8_t add_number(mock_build *b, const mock_foreach_call *call) {
    const int8_t place = (int8_t)b->plan->count;
    const mock_view *v = mock_build_tensor(b, call->number, call->number_name, MOCK_IN);
    if (v == NULL) return -1;
    mock_shape_text text;
    check_number(b, v->dtype, call->number_name);
    if (mock_element_count(v) != 1)
        mock_build_fail(b, "%s has shape %s, expected one element", call->number_name, mock_shape(v, &text));
    return place;
}

static void check_members(mock_build *b, int operand, const char *param, const mock_foreach_call *call) {
    if (b->status != 0) return;
    const mock_view *x = mock_members(b->plan, &b->plan->views[0]);
    const mock_view *list = &b->plan->views[operand], *v = mock_members(b->plan, list);
    if (list->span != b->plan->views[0].span)
        mock_build_fail(b, "%s has %lld tensors, %s has %lld", param, (long long)list->span, call->x_name,
            (long long)b->plan->views[0].span);
    for (int64_t i = 0; b->status == 0 && i < list->span; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s[%lld]", param, (long long)i);
        if (v[i].dtype != x->dtype)
            mock_build_fail(b, "%s has data type %s, %s[0] has %s", name, mock_dtype_name(v[i].dtype),
            call->x_name,
                mock_dtype_name(x->dtype));
        mock_require_shape(b, &v[i], name, &x[i], "the shape of its tensor");
    }
}

aclnnStatus mock_foreach_plan(mock_build b, const mock_kernels *kernels, const mock_foreach_call *call) {
    foreach f = {kernels, MOCK_CLASS_NONE, -1, -1, -1, call->has_scalars};
    mock_build_list(&b, call->x, call->x_name, MOCK_IN);
    if (call->has_other) {
        f.other = 1;
        mock_build_list(&b, call->other, "x2", MOCK_IN);
    }
    if (call->has_scalar) add_scalar(&b, call);
    if (call->has_scalars) add_scalars(&b, call);
    if (b.status == 0 && call->has_number) f.number = add_number(&b, call);
    mock_build_list(&b, call->out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    f.out = (int8_t)(b.plan->count - 1);
    const int32_t type = mock_members(b.plan, &b.plan->views[0])->dtype;
    f.class = (int8_t)mock_dtype_class(type);
    if (!mock_has_class(kernels, (mock_class)f.class) || type == ACL_BOOL)
        mock_build_fail(&b, "%s has data type %s, which is not supported", call->x_name,
        mock_dtype_name(type));
    check_members(&b, 0, call->x_name, call);
    if (call->has_other) check_members(&b, 1, "x2", call);
    check_members(&b, f.out, "out", call);
    *MOCK_PARAMS(b.plan, foreach) = f;
    return mock_build_finish(&b);
}
