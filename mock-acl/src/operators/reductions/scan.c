/* Running results along a dimension: Cummax, Cummin, Cumprod, InplaceCumprod and CumsumV2 (guide: aclnn,
 * page of each).
 *
 * Own choice, as PyTorch does: of equal extremes the last one is named, and NaN wins from where it stands,
 * each further NaN as well. Products and sums are collected in f64, or in s64 where the result is an
 * integer, and rounded once for each element; integers wrap. CumsumV2 can leave the element itself out
 * (exclusive) and go backwards. No workspace. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef enum job { EXTREME, PRODUCT, SUM } job;

typedef struct scan {
    int8_t job, dim, out;
    bool real, greatest, exclusive, reverse;
} scan;

typedef struct running {
    double real;
    int64_t whole, index;
} running;

static void step(const scan *s, running *r, double x, int64_t n, int64_t k) {
    if (s->job == PRODUCT) {
        r->real *= x;
        r->whole = (int64_t)((uint64_t)r->whole * (uint64_t)n);
    } else if (s->job == SUM) {
        r->real += x;
        r->whole = (int64_t)((uint64_t)r->whole + (uint64_t)n);
    } else {
        const bool nan = s->real && r->real != r->real;
        const bool further = s->real ? (s->greatest ? x >= r->real : x <= r->real)
                                     : (s->greatest ? n >= r->whole : n <= r->whole);
        if (k == 0 || (s->real && x != x) || (!nan && further)) *r = (running){x, n, k};
    }
}

static void put(const scan *s, const mock_view *out, char *at, const running *r) {
    if (s->real) mock_write_real(out->dtype, at, r->real);
    else mock_write_whole(out->dtype, at, r->whole);
}

static void run_line(const scan *s, const mock_plan *plan, char *const *first, int64_t *i) {
    const mock_view *x = &plan->views[0], *out = &plan->views[s->out];
    const int64_t n = x->rank == 0 ? 1 : x->dims[s->dim];
    running r = {s->job == PRODUCT, s->job == PRODUCT, 0};
    for (int64_t k = 0; k < n; k++) {
        if (x->rank != 0) i[s->dim] = s->reverse ? n - 1 - k : k;
        const char *from = mock_element_at(x, first[0], i);
        char *to = mock_element_at(out, first[s->out], i);
        const double real = s->real ? mock_read_real(x->dtype, from) : 0;
        const int64_t whole = s->real ? 0 : mock_read_whole(x->dtype, from);
        if (s->exclusive) put(s, out, to, &r);
        step(s, &r, real, whole, k);
        if (!s->exclusive) put(s, out, to, &r);
        if (s->job != EXTREME) continue;
        const mock_view *indices = &plan->views[2];
        mock_write_whole(indices->dtype, mock_element_at(indices, first[2], i), r.index);
    }
    i[s->dim] = 0;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const scan *s = MOCK_PARAMS((mock_plan *)arg, scan);
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(&plan->views[0]) == 0) return 0;
    do {
        run_line(s, plan, first, i);
    } while (mock_next_but(&plan->views[0], s->dim, i));
    return 0;
}

/* Results of another type than that of self are for products. */
static aclnnStatus plan_scan(mock_build *b, scan s, int64_t dim) {
    if (b->status != 0) return mock_build_finish(b);
    const mock_view *x = &b->plan->views[0], *out = &b->plan->views[s.out];
    const int d = mock_require_dim(b, "dim", dim, x->rank);
    mock_require_shape(b, out, "the result", x, "the shape of self");
    if (s.job == PRODUCT ? !mock_dtype_castable(x->dtype, out->dtype) : out->dtype != x->dtype)
        mock_build_fail(b, "the result has data type %s, self has %s", mock_dtype_name(out->dtype),
            mock_dtype_name(x->dtype));
    s.dim = (int8_t)d;
    s.real = mock_dtype_is_floating(x->dtype) || mock_dtype_is_floating(out->dtype);
    *MOCK_PARAMS(b->plan, scan) = s;
    return mock_build_finish(b);
}

static aclnnStatus extremes(mock_build b, const aclTensor *self, int64_t dim, aclTensor *valuesOut,
    aclTensor *indicesOut, bool greatest) {
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, valuesOut, "valuesOut", MOCK_OUT);
    const mock_view *indices = mock_build_tensor(&b, indicesOut, "indicesOut", MOCK_OUT);
    if (b.status == 0 && indices->dtype != ACL_INT64 && indices->dtype != ACL_INT32)
        mock_build_fail(&b, "indicesOut has data type %s, expected INT64 or INT32",
            mock_dtype_name(indices->dtype));
    if (b.status == 0)
        mock_require_shape(&b, indices, "indicesOut", &b.plan->views[0], "the shape of self");
    return plan_scan(&b, (scan){.job = EXTREME, .out = 1, .greatest = greatest}, dim);
}
#define EXTREMES(NAME, GREATEST)                                                                       \
    MOCK_OPERATOR(NAME, run)                                                                           \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *valuesOut,       \
        aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor) {                    \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                            \
        const mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                  \
        return extremes(b, self, dim, valuesOut, indicesOut, GREATEST);                                \
    }
EXTREMES(aclnnCummax, true)
EXTREMES(aclnnCummin, false)

/* dtype is the type of out (own choice). */
MOCK_OPERATOR(aclnnCumprod, run)
aclnnStatus aclnnCumprodGetWorkspaceSize(const aclTensor *input, const aclScalar *dim,
    const aclDataType dtype,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnCumprodGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnCumprod_task, workspaceSize, executor);
    mock_build_tensor(&b, input, "input", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, dim, "dim");
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0 && to->dtype != (int32_t)dtype)
        mock_build_fail(&b, "out has data type %s, but dtype is %s", mock_dtype_name(to->dtype),
            mock_dtype_name(dtype));
    return plan_scan(&b, (scan){.job = PRODUCT, .out = 1}, b.status != 0 ? 0 : mock_scalar_int(number));
}

MOCK_OPERATOR(aclnnInplaceCumprod, run)
aclnnStatus aclnnInplaceCumprodGetWorkspaceSize(
    aclTensor *input, const aclScalar *dim, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceCumprodGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceCumprod_task, workspaceSize, executor);
    mock_build_tensor(&b, input, "input", MOCK_INOUT);
    const mock_scalar *number = mock_build_scalar(&b, dim, "dim");
    return plan_scan(&b, (scan){.job = PRODUCT, .out = 0}, b.status != 0 ? 0 : mock_scalar_int(number));
}

MOCK_OPERATOR(aclnnCumsumV2, run)
aclnnStatus aclnnCumsumV2GetWorkspaceSize(const aclTensor *self, int64_t dim, bool exclusive, bool reverse,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnCumsumV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnCumsumV2_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    const scan s = {.job = SUM, .out = 1, .exclusive = exclusive, .reverse = reverse};
    return plan_scan(&b, s, dim);
}
