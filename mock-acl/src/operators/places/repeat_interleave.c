/* RepeatInterleave in its five forms: every element, or every slice of a dimension, several times in a row;
 * RepeatInterleaveTensor gives the places instead (guide: aclnn, aclnnRepeatInterleave).
 *
 * Elements move bit by bit, out has the type of self. repeats has one number for all or one for each.
 * outputSize is their sum: known here for a number, found by the task for a tensor, which fails with 507015
 * when it is another one or a repeat is negative (own choice). No workspace. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/moves/moves.h"
#include "operators/operators.h"

typedef struct repeating {
    int8_t self, repeats, out; /* -1 for none */
    int8_t dim;                /* -1: all elements as one line */
    int64_t times;             /* without a tensor of repeats */
} repeating;

static int64_t times_of(const mock_plan *plan, const repeating *r, const void *first, int64_t k) {
    if (r->repeats < 0) return r->times;
    const mock_view *v = &plan->views[r->repeats];
    const int64_t at = v->rank == 0 || v->dims[0] == 1 ? 0 : k * v->strides[0];
    return v->dtype == ACL_INT32 ? ((const int32_t *)first)[at] : ((const int64_t *)first)[at];
}

/* Element or slice k of self, and the part of out that it goes to. */
static mock_view slice(const mock_view *v, int dim, int64_t count, int64_t k, char **first) {
    mock_view part = *v;
    int64_t at = 0;
    if (dim >= 0) {
        at = k * v->strides[dim];
        part.dims[dim] = count;
    } else {
        part.rank = 0;
        for (int d = v->rank; d-- > 0; k /= v->dims[d]) at += k % v->dims[d] * v->strides[d];
    }
    *first += at * (int64_t)mock_dtype_size(v->dtype);
    return part;
}

static void put(const mock_plan *plan, const repeating *r, char *self, char *out, int64_t k, int64_t at,
    int64_t n) {
    const mock_view *to = &plan->views[r->out];
    if (r->self < 0) {
        for (int64_t i = 0; i < n; i++)
            mock_store(MOCK_I64, to->dtype,
            out + (at + i) * to->strides[0] * (int64_t)mock_dtype_size(to->dtype), 0,
                1, &k);
        return;
    }
    const mock_view from = slice(&plan->views[r->self], r->dim, 1, k, &self);
    const mock_view part = slice(to, r->dim < 0 ? 0 : r->dim, n, at, &out);
    mock_copy_view(&part, out, &from, self);
}

static int64_t lines_of(const mock_plan *plan, const repeating *r) {
    const mock_view *v = &plan->views[r->self < 0 ? r->repeats : r->self];
    return r->self < 0 || r->dim < 0 ? mock_element_count(v) : v->dims[r->dim];
}

static aclError run(void *arg) {
    mock_plan *plan = arg;
    const repeating *r = MOCK_PARAMS(plan, repeating);
    const mock_view *to = &plan->views[r->out];
    const int64_t room = to->dims[r->dim < 0 ? 0 : r->dim], lines = lines_of(plan, r);
    char *out = mock_plan_pointer(plan, (unsigned)r->out);
    char *self = r->self < 0 ? out : mock_plan_pointer(plan, (unsigned)r->self);
    const void *repeats = r->repeats < 0 ? out : mock_plan_pointer(plan, (unsigned)r->repeats);
    int64_t at = 0;
    if (out == NULL || self == NULL || repeats == NULL) return MOCK_DEVICE_FAULT;
    for (int64_t k = 0; k < lines; k++) {
        const int64_t n = times_of(plan, r, repeats, k);
        if (n < 0 || n > room - at) return MOCK_DEVICE_FAULT;
        if (n != 0 && to->span != 0) put(plan, r, self, out, k, at, n);
        at += n;
    }
    return at == room ? 0 : MOCK_DEVICE_FAULT;
}

static void check_repeats(mock_build *b, repeating *r, int64_t lines) {
    const mock_view *v = &b->plan->views[r->repeats];
    if (b->status != 0) return;
    if (v->dtype != ACL_INT32 && v->dtype != ACL_INT64)
        mock_build_fail(b, "repeats has data type %s, expected INT32 or INT64", mock_dtype_name(v->dtype));
    else if (v->rank > 1 || (lines >= 0 && mock_element_count(v) != 1 && mock_element_count(v) != lines))
        mock_build_fail(b, "repeats has %lld numbers in %d dimensions, expected 1 or %lld in one",
            (long long)mock_element_count(v), v->rank, (long long)lines);
}

static void check_times(mock_build *b, repeating *r, int64_t lines, int64_t times, int64_t size) {
    int64_t total;
    r->times = times;
    if (times < 0) mock_build_fail(b, "repeats is %lld", (long long)times);
    else if (__builtin_mul_overflow(lines, times, &total) || total != size)
        mock_build_fail(b, "outputSize is %lld, %lld parts are repeated %lld times", (long long)size,
            (long long)lines, (long long)times);
}

/* `times` below 0 with a tensor of repeats, which is operand 1. */
static aclnnStatus plan(
    mock_build *b, const aclTensor *repeats, int64_t times, bool along, int64_t dim, int64_t size,
    const aclTensor *out) {
    const bool listed = times == INT64_MIN;
    if (listed) mock_build_tensor(b, repeats, "repeats", MOCK_IN);
    mock_build_tensor(b, out, "out", MOCK_OUT);
    if (b->status != 0) return mock_build_finish(b);
    const mock_view *self = &b->plan->views[0], *to = &b->plan->views[b->plan->count - 1];
    repeating *r = MOCK_PARAMS(b->plan, repeating);
    *r = (repeating){0, (int8_t)(listed ? 1 : -1), (int8_t)(b->plan->count - 1), -1, 0};
    if (along && self->rank == 0) mock_build_fail(b, "self has no dimension");
    if (b->status == 0 && along) r->dim = (int8_t)mock_require_dim(b, "dim", dim, self->rank);
    if (b->status != 0) return mock_build_finish(b);
    const int64_t lines = lines_of(b->plan, r);
    if (listed) check_repeats(b, r, lines);
    else check_times(b, r, lines, times, size);
    if (size < 0) mock_build_fail(b, "outputSize is %lld", (long long)size);
    mock_view expected = *self;
    if (!along) expected.rank = 1;
    expected.dims[along ? r->dim : 0] = size;
    if (b->status == 0 && to->dtype != self->dtype)
        mock_build_fail(b, "out has data type %s, self has %s", mock_dtype_name(to->dtype),
            mock_dtype_name(self->dtype));
    mock_require_shape(b, to, "out", &expected, "self with outputSize");
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnRepeatInterleave, run)
aclnnStatus aclnnRepeatInterleaveGetWorkspaceSize(const aclTensor *self, const aclTensor *repeats,
    int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRepeatInterleaveGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRepeatInterleave_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    return plan(&b, repeats, INT64_MIN, false, 0, outputSize, out);
}

MOCK_OPERATOR(aclnnRepeatInterleaveWithDim, run)
aclnnStatus aclnnRepeatInterleaveWithDimGetWorkspaceSize(const aclTensor *self, const aclTensor *repeats,
    int64_t dim, int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRepeatInterleaveWithDimGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRepeatInterleaveWithDim_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    return plan(&b, repeats, INT64_MIN, true, dim, outputSize, out);
}

/* INT64_MIN stands for a tensor inside; as a number it is as bad as any negative one. */
static int64_t number(int64_t repeats) { return repeats == INT64_MIN ? -1 : repeats; }

MOCK_OPERATOR(aclnnRepeatInterleaveInt, run)
aclnnStatus aclnnRepeatInterleaveIntGetWorkspaceSize(const aclTensor *self, int64_t repeats,
int64_t outputSize,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRepeatInterleaveIntGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRepeatInterleaveInt_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    return plan(&b, NULL, number(repeats), false, 0, outputSize, out);
}

MOCK_OPERATOR(aclnnRepeatInterleaveIntWithDim, run)
aclnnStatus aclnnRepeatInterleaveIntWithDimGetWorkspaceSize(const aclTensor *self, int64_t repeats,
int64_t dim,
    int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRepeatInterleaveIntWithDimGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRepeatInterleaveIntWithDim_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    return plan(&b, NULL, number(repeats), true, dim, outputSize, out);
}

MOCK_OPERATOR(aclnnRepeatInterleaveTensor, run)
aclnnStatus aclnnRepeatInterleaveTensorGetWorkspaceSize(const aclTensor *repeats, int64_t outputSize,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRepeatInterleaveTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRepeatInterleaveTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, repeats, "repeats", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    repeating *r = MOCK_PARAMS(b.plan, repeating);
    *r = (repeating){-1, 0, 1, -1, 0};
    check_repeats(&b, r, -1);
    if (to->dtype != ACL_INT32 && to->dtype != ACL_INT64)
        mock_build_fail(&b, "out has data type %s, expected INT32 or INT64", mock_dtype_name(to->dtype));
    if (outputSize < 0) mock_build_fail(&b, "outputSize is %lld", (long long)outputSize);
    const mock_view expected = {.rank = 1, .dims = {outputSize}};
    mock_require_shape(&b, to, "out", &expected, "outputSize");
    return mock_build_finish(&b);
}
