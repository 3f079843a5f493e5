/* Operators that make elements: Arange, Range, Linspace, Eye, OneHot, InplaceFillDiagonal and
 * InplaceFillTensor (guide: aclnn, page of each).
 *
 * Own choice, as PyTorch does: Arange goes from start up to, but not including, end, Range may include it;
 * all values are start + i * step, in s64 when start, step and out are integers, else in f64, rounded
 * once. Linspace counts its second half back from the end. OneHot gives offValue to a row whose class is
 * outside. FillDiagonal of more than two dimensions needs all of one size; wrap begins again after as many
 * rows as there are columns, and one. No workspace. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef struct sequence {
    double start, step, end;
    int64_t whole_start, whole_step;
    bool whole, both_ends;
} sequence;

static aclError run_sequence(void *arg) {
    const mock_plan *plan = arg;
    const sequence *s = MOCK_PARAMS((mock_plan *)arg, sequence);
    const mock_view *out = &plan->views[0];
    char *first = mock_plan_pointer(plan, 0);
    if (first == NULL) return MOCK_DEVICE_FAULT;
    const int64_t n = mock_element_count(out);
    int64_t place[MOCK_MAX_RANK] = {0};
    for (int64_t i = 0; i < n; i++, mock_next(out, place)) {
        char *at = mock_element_at(out, first, place);
        const int64_t whole = (int64_t)((uint64_t)s->whole_start + (uint64_t)i * (uint64_t)s->whole_step);
        if (s->whole) mock_write_whole(out->dtype, at, whole);
        else if (s->both_ends && i >= n / 2 && n > 1)
            mock_write_real(out->dtype, at, s->end - s->step * (double)(n - 1 - i));
        else mock_write_real(out->dtype, at, s->start + s->step * (double)i);
    }
    return 0;
}

/* `flat`: of one dimension; the out of Arange has any shape of that size (implementation of the open operators). */
static void check_length(mock_build *b, double length, bool flat) {
    const mock_view *out = b->status != 0 ? NULL : &b->plan->views[0];
    if (out == NULL) return;
    if (flat && out->rank != 1) mock_build_fail(b, "out has %d dimensions, expected 1", out->rank);
    else if ((double)mock_element_count(out) != length)
        mock_build_fail(b, "out has %lld elements, expected %.0f", (long long)mock_element_count(out), length);
}

static aclnnStatus plan_range(mock_build b, const aclScalar *start, const aclScalar *end,
    const aclScalar *step,
    const aclTensor *out, bool with_end) {
    const mock_scalar *from = mock_build_scalar(&b, start, "start"), *to = mock_build_scalar(&b, end, "end");
    const mock_scalar *by = mock_build_scalar(&b, step, "step");
    const mock_view *v = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    sequence s = {mock_scalar_double(from), mock_scalar_double(by), mock_scalar_double(to),
        mock_scalar_int(from), mock_scalar_int(by), false, false};
    s.whole = mock_dtype_class(from->dtype) == MOCK_I64 && mock_dtype_class(by->dtype) == MOCK_I64 &&
              mock_dtype_class(v->dtype) == MOCK_I64;
    const double steps = (s.end - s.start) / s.step;
    if (s.step == 0 || !isfinite(steps)) mock_build_fail(&b, "the step is 0, or a number is not finite");
    if (steps < 0) mock_build_fail(&b, "the step %g leads away from end", s.step);
    check_length(&b, with_end ? floor(steps) + 1 : ceil(steps), with_end);
    *MOCK_PARAMS(b.plan, sequence) = s;
    return mock_build_finish(&b);
}
#define RANGE(NAME, WITH_END)                                                                              \
    MOCK_OPERATOR(NAME, run_sequence)                                                                      \
    aclnnStatus NAME##GetWorkspaceSize(const aclScalar *start, const aclScalar *end, const aclScalar *step, \
        aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {                               \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                                \
        return plan_range(mock_build_begin(&NAME##_task, workspaceSize, executor), start, end, step, out,  \
            WITH_END);                                                                                     \
    }
RANGE(aclnnArange, false)
RANGE(aclnnRange, true)

MOCK_OPERATOR(aclnnLinspace, run_sequence)
aclnnStatus aclnnLinspaceGetWorkspaceSize(const aclScalar *start, const aclScalar *end, int64_t steps,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnLinspaceGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnLinspace_task, workspaceSize, executor);
    const mock_scalar *from = mock_build_scalar(&b, start, "start"), *to = mock_build_scalar(&b, end, "end");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (steps < 0) mock_build_fail(&b, "steps is %lld, expected 0 or more", (long long)steps);
    check_length(&b, (double)steps, true);
    if (b.status != 0) return mock_build_finish(&b);
    const double first = mock_scalar_double(from), last = mock_scalar_double(to);
    const double step = steps > 1 ? (last - first) / (double)(steps - 1) : 0;
    *MOCK_PARAMS(b.plan, sequence) = (sequence){first, step, last, 0, 0, false, true};
    return mock_build_finish(&b);
}

static aclError run_eye(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *out = &plan->views[0];
    char *first = mock_plan_pointer(plan, 0);
    int64_t i[2] = {0, 0};
    if (first == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        mock_write_whole(out->dtype, mock_element_at(out, first, i), i[0] == i[1]);
    } while (mock_next(out, i));
    return 0;
}

MOCK_OPERATOR(aclnnEye, run_eye)
aclnnStatus aclnnEyeGetWorkspaceSize(
    int64_t n, int64_t m, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnEyeGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnEye_task, workspaceSize, executor);
    const mock_view *v = mock_build_tensor(&b, out, "out", MOCK_OUT);
    const mock_view expected = {.rank = 2, .dims = {n, m}};
    if (b.status == 0 && (n < 0 || m < 0))
        mock_build_fail(&b, "n and m are %lld and %lld, expected 0 or more", (long long)n, (long long)m);
    if (b.status == 0) mock_require_shape(&b, v, "out", &expected, "n rows and m columns");
    return mock_build_finish(&b);
}

enum { SELF, ON, OFF, OUT };

static aclError run_one_hot(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *self = &plan->views[SELF], *out = &plan->views[OUT];
    const int axis = *MOCK_PARAMS((mock_plan *)arg, int);
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        int64_t from[MOCK_MAX_RANK];
        for (int d = 0; d < self->rank; d++) from[d] = i[d < axis ? d : d + 1];
        const bool on = mock_read_whole(self->dtype, mock_element_at(self, first[SELF], from)) == i[axis];
        const mock_view *value = &plan->views[on ? ON : OFF];
        const char *at = first[on ? ON : OFF];
        if (mock_dtype_is_floating(value->dtype))
            mock_write_real(out->dtype, mock_element_at(out, first[OUT], i), mock_read_real(value->dtype, at));
        else mock_write_whole(out->dtype, mock_element_at(out, first[OUT], i), mock_read_whole(value->dtype, at));
    } while (mock_next(out, i));
    return 0;
}

static void check_value(mock_build *b, const mock_view *v, const mock_view *out, const char *param) {
    if (mock_element_count(v) != 1)
        mock_build_fail(b, "%s has %lld elements, expected one", param, (long long)mock_element_count(v));
    if (v->dtype != out->dtype)
        mock_build_fail(b, "%s has data type %s, out has %s", param, mock_dtype_name(v->dtype),
            mock_dtype_name(out->dtype));
}

MOCK_OPERATOR(aclnnOneHot, run_one_hot)
aclnnStatus aclnnOneHotGetWorkspaceSize(const aclTensor *self, int numClasses, const aclTensor *onValue,
    const aclTensor *offValue, int64_t axis, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnOneHotGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnOneHot_task, workspaceSize, executor);
    const mock_view *classes = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *on = mock_build_tensor(&b, onValue, "onValue", MOCK_IN);
    const mock_view *off = mock_build_tensor(&b, offValue, "offValue", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    if (!mock_dtype_is_integer(classes->dtype))
        mock_build_fail(&b, "self has data type %s, expected an integer", mock_dtype_name(classes->dtype));
    if (numClasses < 0) mock_build_fail(&b, "numClasses is %d, expected 0 or more", numClasses);
    if (classes->rank == MOCK_MAX_RANK) mock_build_fail(&b, "self has no room for one more dimension");
    check_value(&b, on, to, "onValue");
    check_value(&b, off, to, "offValue");
    const int d = b.status != 0 ? -1 : mock_require_dim(&b, "axis", axis, classes->rank + 1);
    if (b.status != 0) return mock_build_finish(&b);
    mock_view expected = {.rank = (uint8_t)(classes->rank + 1)};
    for (int k = 0; k < expected.rank; k++)
        expected.dims[k] = k == d ? numClasses : classes->dims[k < d ? k : k - 1];
    mock_require_shape(&b, to, "out", &expected, "self with numClasses at axis");
    *MOCK_PARAMS(b.plan, int) = d;
    return mock_build_finish(&b);
}

typedef struct diagonal {
    double real;
    int64_t whole;
    bool floating, wrap;
} diagonal;

static void put_number(const diagonal *p, int32_t dtype, char *at) {
    if (p->floating) mock_write_real(dtype, at, p->real);
    else mock_write_whole(dtype, at, p->whole);
}

static aclError run_diagonal(void *arg) {
    const mock_plan *plan = arg;
    const diagonal *p = MOCK_PARAMS((mock_plan *)arg, diagonal);
    const mock_view *v = &plan->views[0];
    char *first = mock_plan_pointer(plan, 0);
    if (first == NULL) return MOCK_DEVICE_FAULT;
    const int64_t rows = v->dims[0], columns = v->dims[1];
    if (mock_element_count(v) == 0) return 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t column = p->wrap && v->rank == 2 ? row % (columns + 1) : row;
        if (column >= columns) continue;
        int64_t i[MOCK_MAX_RANK];
        for (int d = 0; d < v->rank; d++) i[d] = d == 1 ? column : row;
        put_number(p, v->dtype, mock_element_at(v, first, i));
    }
    return 0;
}

MOCK_OPERATOR(aclnnInplaceFillDiagonal, run_diagonal)
aclnnStatus aclnnInplaceFillDiagonalGetWorkspaceSize(aclTensor *selfRef, const aclScalar *fillValue,
    bool wrap,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceFillDiagonalGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceFillDiagonal_task, workspaceSize, executor);
    const mock_view *v = mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    const mock_scalar *number = mock_build_scalar(&b, fillValue, "fillValue");
    if (b.status != 0) return mock_build_finish(&b);
    if (v->rank < 2) mock_build_fail(&b, "selfRef has %d dimensions, expected 2 or more", v->rank);
    for (int d = 1; v->rank > 2 && d < v->rank; d++)
        if (v->dims[d] != v->dims[0])
            mock_build_fail(&b, "selfRef has more than 2 dimensions, and not all of one size");
    *MOCK_PARAMS(b.plan, diagonal) = (diagonal){mock_scalar_double(number), mock_scalar_int(number),
        mock_dtype_is_floating(number->dtype), wrap};
    return mock_build_finish(&b);
}

static aclError run_fill(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *v = &plan->views[0], *value = &plan->views[1];
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0};
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(v) == 0) return 0;
    diagonal p = {.floating = mock_dtype_is_floating(value->dtype)};
    if (p.floating) p.real = mock_read_real(value->dtype, first[1]);
    else p.whole = mock_read_whole(value->dtype, first[1]);
    do {
        put_number(&p, v->dtype, mock_element_at(v, first[0], i));
    } while (mock_next(v, i));
    return 0;
}

/* The value becomes the type of selfRef (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnInplaceFillTensor, run_fill)
aclnnStatus aclnnInplaceFillTensorGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *value, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceFillTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceFillTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_OUT);
    const mock_view *v = mock_build_tensor(&b, value, "value", MOCK_IN);
    if (b.status == 0 && (mock_element_count(v) != 1 || v->rank > 1))
        mock_build_fail(&b, "value has %lld elements in %d dimensions, expected one",
            (long long)mock_element_count(v),
            v->rank);
    return mock_build_finish(&b);
}
