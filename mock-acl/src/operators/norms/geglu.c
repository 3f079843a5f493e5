/* GeGlu, GeGluV3 and Glu: one half of a dimension is a gate of the other (guide: aclnn, page of each).
 *
 * f32, f16 and bf16, computed in f64 and rounded once (own choice). GeGlu: first half * gelu(second half),
 * outGelu is the gelu alone; with activateLeft the halves change places. approximate 0 uses erf, 1 tanh.
 * Glu: first half * sigmoid(second half). No workspace. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef enum gate { ERF, TANH, SIGMOID } gate;

typedef struct gated {
    int8_t dim, gate;
    bool left;
} gated;

static double gate_of(int kind, double x) {
    if (kind == ERF) return 0.5 * x * erfc(-x * 0.70710678118654752440);
    /* 0.5 x (1 + tanh u) is x / (1 + exp(-2u)). */
    if (kind == TANH) return x * mock_logistic(1.5957691216057307118 * (x + 0.044715 * x * x * x));
    return mock_logistic(x);
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const gated *p = MOCK_PARAMS((mock_plan *)arg, gated);
    const mock_view *x = &plan->views[0], *out = &plan->views[1];
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        int64_t other[MOCK_MAX_RANK];
        memcpy(other, i, sizeof other);
        other[p->dim] += out->dims[p->dim];
        const double a = mock_read_real(x->dtype, mock_element_at(x, first[0], p->left ? other : i));
        const double g = gate_of(p->gate, mock_read_real(x->dtype, mock_element_at(x, first[0],
            p->left ? i : other)));
        mock_write_real(out->dtype, mock_element_at(out, first[1], i), a * g);
        if (plan->count == 3) mock_write_real(x->dtype, mock_element_at(&plan->views[2], first[2], i), g);
    } while (mock_next(out, i));
    return 0;
}

static aclnnStatus plan_gated(mock_build *b, int64_t dim, int kind, bool left) {
    if (b->status != 0) return mock_build_finish(b);
    const mock_view *views = b->plan->views, *x = &views[0];
    for (unsigned k = 0; k < b->plan->count; k++) {
        if (!mock_dtype_is_float(views[k].dtype) || views[k].dtype != x->dtype)
            mock_build_fail(b,
                "operand %u has data type %s beside %s; FLOAT, FLOAT16 and BFLOAT16 are supported",
                k, mock_dtype_name(views[k].dtype), mock_dtype_name(x->dtype));
    }
    if (x->rank == 0) mock_build_fail(b, "self has no dimension to halve");
    const int d = b->status != 0 ? -1 : mock_require_dim(b, "dim", dim, x->rank);
    if (b->status != 0) return mock_build_finish(b);
    if (x->dims[d] % 2 != 0)
        mock_build_fail(b, "dimension %d has %lld elements, which is odd", d, (long long)x->dims[d]);
    mock_view expected = *x;
    expected.dims[d] /= 2;
    for (unsigned k = 1; k < b->plan->count; k++)
        mock_require_shape(b, &views[k], k == 1 ? "out" : "outGelu", &expected, "self with half of dim");
    *MOCK_PARAMS(b->plan, gated) = (gated){(int8_t)d, (int8_t)kind, left};
    return mock_build_finish(b);
}

static aclnnStatus geglu(mock_build b, const aclTensor *self, int64_t dim, int64_t approximate, bool left,
    aclTensor *out, aclTensor *outGelu) {
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_build_tensor(&b, outGelu, "outGelu", MOCK_OUT);
    if (approximate != 0 && approximate != 1)
        mock_build_fail(&b, "approximate is %lld, expected 0 (erf) or 1 (tanh)", (long long)approximate);
    return plan_gated(&b, dim, approximate == 1 ? TANH : ERF, left);
}

MOCK_OPERATOR(aclnnGeGlu, run)
aclnnStatus aclnnGeGluGetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t approximate,
    aclTensor *out,
    aclTensor *outGelu, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGeGluGetWorkspaceSize);
    return geglu(mock_build_begin(&aclnnGeGlu_task, workspaceSize, executor), self, dim, approximate, false,
        out, outGelu);
}

MOCK_OPERATOR(aclnnGeGluV3, run)
aclnnStatus aclnnGeGluV3GetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t approximate,
    bool activateLeft, aclTensor *out, aclTensor *outGelu, uint64_t *workspaceSize,
        aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGeGluV3GetWorkspaceSize);
    return geglu(mock_build_begin(&aclnnGeGluV3_task, workspaceSize, executor), self, dim, approximate,
        activateLeft, out, outGelu);
}

MOCK_OPERATOR(aclnnGlu, run)
aclnnStatus aclnnGluGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGluGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGlu_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    return plan_gated(&b, dim, SIGMOID, false);
}
