/* Ger and Addr: the products of each element of one vector with each of another, Addr with something added
 * (guide: aclnn, page of each). Computed in the class of the promoted type with separate roundings, rounded
 * when stored (own choice). Integers wrap; of booleans the result is 0 or 1 (own choice: as PyTorch does).
 * Null alpha and beta are 1; beta 0 does not read self, so a NaN in it has no effect (own choice). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/products/matmul.h"

#define CHUNK 256

typedef struct outer {
    mock_number alpha, beta;
    int8_t class;
    int8_t self, first, second, out;
    bool add;
} outer;

typedef union chunk {
    float f[CHUNK];
    double d[CHUNK];
    int64_t i[CHUNK];
} chunk;

#define COMPUTE(MEMBER, WITH, WITHOUT)                                                                    \
    for (size_t j = 0; j < n; j++) {                                                                      \
        if (p->add) to->MEMBER[j] = (WITH);                                                               \
        else to->MEMBER[j] = (WITHOUT);                                                                   \
    }                                                                                                     \
    break;

static void compute(const outer *p, const void *self, const void *x, const void *y, size_t n, chunk *to) {
    const float *sf = self, *xf = x, *yf = y, af = p->alpha.f, bf = p->beta.f;
    const double *sd = self, *xd = x, *yd = y, ad = p->alpha.d, bd = p->beta.d;
    const int64_t *si = self, *xi = x, *yi = y, ai = p->alpha.i, bi = p->beta.i;
    switch (p->class) {
        case MOCK_F32: COMPUTE(f, bf * sf[j] + af * (xf[j] * yf[j]), af * (xf[j] * yf[j]))
        case MOCK_F64: COMPUTE(d, bd * sd[j] + ad * (xd[j] * yd[j]), ad * (xd[j] * yd[j]))
        default:
            COMPUTE(i, MOCK_WRAP(+, MOCK_WRAP(*, bi, si[j]), MOCK_WRAP(*, ai, MOCK_WRAP(*, xi[j], yi[j]))),
                MOCK_WRAP(*, ai, MOCK_WRAP(*, xi[j], yi[j])))
    }
}

static void run_row(const outer *p, const mock_walk *w, const mock_view *views) {
    const mock_view *view[] = {&views[p->out], &views[p->first], &views[p->second], &views[p->self]};
    chunk in[3], result;
    for (size_t done = 0; done < w->n; done += CHUNK) {
        const size_t n = w->n - done < CHUNK ? w->n - done : CHUNK;
        const void *at[3] = {&in[0], &in[1], &in[2]};
        for (unsigned k = 1; k < w->operands; k++) {
            const char *row = w->row[k] + (int64_t)done * w->step[k] * (int64_t)w->size[k];
            at[k - 1] = mock_load((mock_class)p->class, view[k]->dtype, row, w->step[k], n, &in[k - 1]);
        }
        compute(p, at[2], at[0], at[1], n, &result);
        char *out = w->row[0] + (int64_t)done * w->step[0] * (int64_t)w->size[0];
        mock_store((mock_class)p->class, view[0]->dtype, out, w->step[0], n, &result);
    }
}

/* The first vector as a column. */
static mock_view upright(const mock_view *v) {
    mock_view column = *v;
    column.rank = 2;
    column.dims[1] = 1;
    column.strides[1] = 0;
    return column;
}

static aclError run_outer(void *arg) {
    const mock_plan *plan = arg;
    const outer *p = MOCK_PARAMS((mock_plan *)arg, outer);
    const mock_view *out = &plan->views[p->out], column = upright(&plan->views[p->first]);
    void *to = mock_plan_pointer(plan, (unsigned)p->out), *x = mock_plan_pointer(plan, (unsigned)p->first);
    void *y = mock_plan_pointer(plan, (unsigned)p->second);
    mock_walk w;
    if (to == NULL || x == NULL || y == NULL) return MOCK_DEVICE_FAULT;
    if (mock_views_share(out, to, &plan->views[p->first], x)) return MOCK_DEVICE_FAULT;
    if (mock_views_share(out, to, &plan->views[p->second], y)) return MOCK_DEVICE_FAULT;
    mock_walk_begin(&w, out->rank, out->dims);
    mock_walk_add(&w, out, to);
    mock_walk_add(&w, &column, x);
    mock_walk_add(&w, &plan->views[p->second], y);
    if (p->add) {
        void *self = mock_plan_pointer(plan, (unsigned)p->self);
        if (self == NULL) return MOCK_DEVICE_FAULT;
        mock_walk_add(&w, &plan->views[p->self], self);
    }
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) run_row(p, &w, plan->views);
    return 0;
}

/* The vectors are operands `first` and the one after it. */
static void plan_outer(mock_build *b, outer p, const char *first, const char *second) {
    const mock_view *views = b->plan == NULL ? NULL : b->plan->views;
    mock_require_rank(b, (unsigned)p.first, first, 1);
    mock_require_rank(b, (unsigned)p.second, second, 1);
    if (b->status != 0) return;
    const mock_view *out = &views[p.out];
    const mock_view shape = {.rank = 2, .dims = {views[p.first].dims[0], views[p.second].dims[0]}};
    int32_t type = mock_dtype_promote(views[p.first].dtype, views[p.second].dtype);
    if (p.self >= 0) type = mock_dtype_promote(type, views[p.self].dtype);
    p.class = (int8_t)mock_dtype_class(type);
    mock_require_shape(b, out, p.out == 0 ? "selfRef" : "out", &shape, "the lengths of the vectors");
    if (b->status == 0 && !mock_dtype_castable(type, out->dtype)) {
        mock_build_fail(b, "a result of type %s cannot be stored as %s", mock_dtype_name(type),
            mock_dtype_name(out->dtype));
    }
    mock_view common;
    mock_shape_text have, want;
    if (b->status == 0 && p.self >= 0 &&
        (!mock_broadcast(&views[p.self], out, &common) || !mock_same_shape(&common, out))) {
        mock_build_fail(b, "self with shape %s does not broadcast to %s", mock_shape(&views[p.self], &have),
            mock_shape(out, &want));
    }
    *MOCK_PARAMS(b->plan, outer) = p;
}

static mock_number optional_number(mock_build *b, const aclScalar *scalar, const char *name) {
    const mock_scalar *s = scalar == NULL ? NULL : mock_build_scalar(b, scalar, name);
    return s == NULL ? (mock_number){1, 1, 1} : mock_number_of(s);
}

/* Numbers with a fraction do not go with integers (own choice: as PyTorch does). */
static void check_number(mock_build *b, const aclScalar *scalar, const char *name) {
    if (scalar == NULL || b->status != 0) return;
    const mock_scalar *s = mock_object_get(MOCK_OBJECT_SCALAR, scalar);
    if (s == NULL || !mock_dtype_is_floating(s->dtype)) return;
    for (unsigned i = 0; i < b->plan->count; i++) {
        if (mock_dtype_is_floating(b->plan->views[i].dtype)) return;
    }
    mock_build_fail(b, "%s has type %s, the tensors have integers", name, mock_dtype_name(s->dtype));
}

MOCK_OPERATOR(aclnnGer, run_outer)
MOCK_OPERATOR(aclnnAddr, run_outer)
MOCK_OPERATOR(aclnnInplaceAddr, run_outer)

aclnnStatus aclnnGerGetWorkspaceSize(
    const aclTensor *self, const aclTensor *vec2, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGerGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGer_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, vec2, "vec2", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_outer(&b, (outer){{1, 1, 1}, {0, 0, 0}, 0, -1, 0, 1, 2, false}, "self", "vec2");
    return mock_build_finish(&b);
}

static void plan_addr(mock_build *b, const aclScalar *beta, const aclScalar *alpha, int8_t out) {
    const mock_number of_self = optional_number(b, beta, "betaOptional");
    const mock_number of_product = optional_number(b, alpha, "alphaOptional");
    check_number(b, beta, "betaOptional");
    check_number(b, alpha, "alphaOptional");
    plan_outer(b, (outer){of_product, of_self, 0, 0, 1, 2, out, of_self.d != 0}, "vec1", "vec2");
}

aclnnStatus aclnnAddrGetWorkspaceSize(
    const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2, const aclScalar *betaOptional,
    const aclScalar *alphaOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnAddrGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnAddr_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, vec1, "vec1", MOCK_IN);
    mock_build_tensor(&b, vec2, "vec2", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_addr(&b, betaOptional, alphaOptional, 3);
    return mock_build_finish(&b);
}

aclnnStatus aclnnInplaceAddrGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *vec1, const aclTensor *vec2, const aclScalar *betaOptional,
    const aclScalar *alphaOptional, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceAddrGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceAddr_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, vec1, "vec1", MOCK_IN);
    mock_build_tensor(&b, vec2, "vec2", MOCK_IN);
    plan_addr(&b, betaOptional, alphaOptional, 0);
    return mock_build_finish(&b);
}
