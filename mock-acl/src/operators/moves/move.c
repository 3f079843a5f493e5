/* Operators that give elements another place: Flip, Roll, Slice, Repeat, Expand, ConstantPadNd, Tril, Triu,
 * IndexSelect and Gather (guide: aclnn, page of each).
 *
 * Elements move bit by bit, so out has the type of self; no workspace. An index outside of its dimension
 * fails the task with 507015 (own choice: as for Embedding); negative ones count from the end (implementation of the
 * open operators). */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef enum kind { LINEAR, WRAPPED, TRIANGLE, SELECTED, GATHERED } kind;

/* The place in dimension d of self for index i of out: LINEAR start + i * step, WRAPPED that modulo the size.
 * What lies outside of self is `fill`; TRIANGLE keeps what lies on one side of a diagonal. */
typedef struct move {
    int8_t kind, dim, out;
    bool lower;
    int64_t diagonal;
    int64_t start[MOCK_MAX_RANK], step[MOCK_MAX_RANK];
    unsigned char fill[8];
} move;

static int64_t index_at(const mock_view *v, const void *first, const int64_t *place) {
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++) at += place[d] * v->strides[d];
    if (v->dtype == ACL_INT32) return ((const int32_t *)first)[at];
    return ((const int64_t *)first)[at];
}

/* 1: `from` is the place in self; 0: the fill; -1: a bad index. Out may have more leading dimensions. */
static int source(const move *m, const mock_plan *plan, const void *list, const int64_t *i, int64_t *from) {
    const mock_view *self = &plan->views[0], *out = &plan->views[m->out];
    const int lead = out->rank - self->rank;
    if (m->kind == TRIANGLE) {
        const int64_t distance = i[out->rank - 1] - i[out->rank - 2];
        memcpy(from, i, sizeof *i * out->rank);
        return m->lower ? distance <= m->diagonal : distance >= m->diagonal;
    }
    if (m->kind == SELECTED || m->kind == GATHERED) {
        memcpy(from, i, sizeof *i * out->rank);
        int64_t row = index_at(&plan->views[1], list, m->kind == SELECTED ? i + m->dim : i);
        if (row < 0) row += self->dims[m->dim];
        from[m->dim] = row;
        return row < 0 || row >= self->dims[m->dim] ? -1 : 1;
    }
    for (int d = 0; d < self->rank; d++) {
        from[d] = m->start[d] + i[lead + d] * m->step[d];
        if (m->kind == WRAPPED) from[d] %= self->dims[d];
        else if (from[d] < 0 || from[d] >= self->dims[d]) return 0;
    }
    return 1;
}

static int64_t offset(const mock_view *v, const int64_t *i) {
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++) at += i[d] * v->strides[d];
    return at * (int64_t)mock_dtype_size(v->dtype);
}

static bool next(const mock_view *v, int64_t *i) {
    for (int d = v->rank; d-- > 0;) {
        if (++i[d] < v->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const move *m = MOCK_PARAMS((mock_plan *)arg, move);
    const mock_view *self = &plan->views[0], *out = &plan->views[m->out];
    const size_t size = mock_dtype_size(self->dtype);
    const char *from = mock_plan_pointer(plan, 0);
    char *to = mock_plan_pointer(plan, (unsigned)m->out);
    const void *list = m->kind >= SELECTED ? mock_plan_pointer(plan, 1) : from;
    int64_t i[MOCK_MAX_RANK] = {0}, place[MOCK_MAX_RANK] = {0};
    if (from == NULL || to == NULL || list == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        const int found = source(m, plan, list, i, place);
        if (found < 0) return MOCK_DEVICE_FAULT;
        memmove(to + offset(out, i), found == 0 ? (const char *)m->fill : from + offset(self, place), size);
    } while (next(out, i));
    return 0;
}

/* ---- first phases ---- */

/* self and out, of one type and of the shape `expected`. */
static move *plan_move(mock_build *b, kind k, const mock_view *expected, const char *because) {
    mock_view *views = b->plan->views;
    const int out = b->plan->count - 1;
    if (views[out].dtype != views[0].dtype) {
        mock_build_fail(b, "out has data type %s, self has %s", mock_dtype_name(views[out].dtype),
            mock_dtype_name(views[0].dtype));
    }
    mock_require_shape(b, &views[out], "out", expected, because);
    move *m = MOCK_PARAMS(b->plan, move);
    memset(m, 0, sizeof *m);
    m->kind = (int8_t)k;
    m->out = (int8_t)out;
    for (int d = 0; d < MOCK_MAX_RANK; d++) m->step[d] = 1;
    return m;
}

static const int64_t *values(const mock_array *a) { return a->values; }

MOCK_OPERATOR(aclnnFlip, run)
aclnnStatus aclnnFlipGetWorkspaceSize(const aclTensor *self, const aclIntArray *dims, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFlipGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFlip_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, dims, "dims");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    move *m = plan_move(&b, LINEAR, x, "the shape of self");
    for (uint64_t k = 0; k < list->size && b.status == 0; k++) {
        const int d = mock_require_dim(&b, "a dimension", values(list)[k], x->rank);
        if (d < 0 || x->rank == 0) continue;
        if (m->step[d] < 0) mock_build_fail(&b, "dimension %d stands twice in dims", d);
        m->start[d] = x->dims[d] - 1;
        m->step[d] = -1;
    }
    return mock_build_finish(&b);
}

/* Without dims self is rolled as one line, which only contiguous shapes of one dimension can be here. */
MOCK_OPERATOR(aclnnRoll, run)
aclnnStatus aclnnRollGetWorkspaceSize(const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRollGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRoll_task, workspaceSize, executor);
    const mock_view *self = mock_build_tensor(&b, x, "x", MOCK_IN);
    const mock_array *by = mock_build_ints(&b, shifts, "shifts"), *along = mock_build_ints(&b, dims, "dims");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    if (along->size == 0 ? by->size != 1 || self->rank != 1 : by->size != along->size)
        mock_build_fail(&b, "%llu shifts for %llu dimensions", (unsigned long long)by->size,
            (unsigned long long)along->size);
    move *m = plan_move(&b, WRAPPED, self, "the shape of x");
    for (uint64_t k = 0; k < by->size && b.status == 0; k++) {
        const int64_t named = along->size == 0 ? 0 : values(along)[k];
        const int d = mock_require_dim(&b, "a dimension", named, self->rank);
        if (d < 0 || self->rank == 0 || self->dims[d] == 0) continue;
        const int64_t n = self->dims[d], shift = values(by)[k] % n;
        m->start[d] = (m->start[d] + 2 * n - shift) % n;
    }
    return mock_build_finish(&b);
}

/* The ends are brought into the dimension; steps are positive (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnSlice, run)
aclnnStatus aclnnSliceGetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t start, int64_t end,
    int64_t step, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSliceGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSlice_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    if (x->rank == 0) mock_build_fail(&b, "self has no dimension to slice");
    if (step <= 0) mock_build_fail(&b, "step %lld, expected a positive number", (long long)step);
    const int d = b.status != 0 ? -1 : mock_require_dim(&b, "dim", dim, x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    const int64_t n = x->dims[d];
    int64_t first = start < 0 ? start + n : start, last = end < 0 ? end + n : end;
    first = first < 0 ? 0 : first > n ? n : first;
    last = last < first ? first : last > n ? n : last;
    mock_view expected = *x;
    expected.dims[d] = (last - first) / step + ((last - first) % step != 0);
    move *m = plan_move(&b, LINEAR, &expected, "the slice of self");
    m->start[d] = first;
    m->step[d] = step;
    return mock_build_finish(&b);
}

/* self may have fewer dimensions than there are repeats: leading ones count 1 (own choice). */
MOCK_OPERATOR(aclnnRepeat, run)
aclnnStatus aclnnRepeatGetWorkspaceSize(const aclTensor *self, const aclIntArray *repeats, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnRepeatGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnRepeat_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *times = mock_build_ints(&b, repeats, "repeats");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0 && (times->size < x->rank || times->size > MOCK_MAX_RANK))
        mock_build_fail(&b, "%llu repeats for %d dimensions", (unsigned long long)times->size, x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    mock_view expected = *x;
    expected.rank = (uint8_t)times->size;
    for (int d = 0; d < expected.rank && b.status == 0; d++) {
        const int inner = d - (expected.rank - x->rank);
        if (values(times)[d] < 0) mock_build_fail(&b, "repeats[%d] is negative", d);
        if (__builtin_mul_overflow(inner < 0 ? 1 : x->dims[inner], values(times)[d], &expected.dims[d]))
            mock_build_fail(&b, "repeats[%d] is too large", d);
    }
    plan_move(&b, WRAPPED, &expected, "repeats times the shape of self");
    return mock_build_finish(&b);
}

/* -1 keeps the size of a dimension that self has (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnExpand, run)
aclnnStatus aclnnExpandGetWorkspaceSize(const aclTensor *self, const aclIntArray *size, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnExpandGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnExpand_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, size, "size");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0 && (list->size < x->rank || list->size > MOCK_MAX_RANK))
        mock_build_fail(&b, "%llu sizes for %d dimensions", (unsigned long long)list->size, x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    mock_view expected = *x;
    expected.rank = (uint8_t)list->size;
    for (int d = 0; d < expected.rank && b.status == 0; d++) {
        const int inner = d - (expected.rank - x->rank);
        const int64_t have = inner < 0 ? 1 : x->dims[inner], want = values(list)[d];
        expected.dims[d] = want == -1 && inner >= 0 ? have : want;
        if (expected.dims[d] < 0 || (have != 1 && expected.dims[d] != have))
            mock_build_fail(&b, "size[%d] is %lld, self has %lld", d, (long long)want, (long long)have);
    }
    plan_move(&b, WRAPPED, &expected, "size");
    return mock_build_finish(&b);
}

/* Pairs of numbers from the last dimension on; negative ones cut off (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnConstantPadNd, run)
aclnnStatus aclnnConstantPadNdGetWorkspaceSize(const aclTensor *self, const aclIntArray *pad,
    const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnConstantPadNdGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnConstantPadNd_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, pad, "pad");
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0 && (list->size % 2 != 0 || list->size / 2 > x->rank))
        mock_build_fail(&b, "%llu numbers in pad for %d dimensions", (unsigned long long)list->size, x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    mock_view expected = *x;
    int64_t start[MOCK_MAX_RANK] = {0};
    for (uint64_t k = 0; k < list->size / 2 && b.status == 0; k++) {
        const int d = x->rank - 1 - (int)k;
        const int64_t before = values(list)[2 * k], after = values(list)[2 * k + 1];
        /* Cut off as a whole: no place of the result is then in self. */
        start[d] = before < -x->dims[d] ? x->dims[d] : -before;
        if (__builtin_add_overflow(expected.dims[d], before, &expected.dims[d]) ||
            __builtin_add_overflow(expected.dims[d], after, &expected.dims[d]) || expected.dims[d] < 0)
            mock_build_fail(&b, "pad leaves no size for dimension %d", d);
    }
    move *m = plan_move(&b, LINEAR, &expected, "the shape of self with pad");
    memcpy(m->start, start, sizeof start);
    if (mock_dtype_is_floating(number->dtype)) {
        const double d = mock_scalar_double(number);
        mock_store(MOCK_F64, x->dtype, m->fill, 1, 1, &d);
    } else {
        const int64_t i = mock_scalar_int(number);
        mock_store(MOCK_I64, x->dtype, m->fill, 1, 1, &i);
    }
    return mock_build_finish(&b);
}

static aclnnStatus triangle(
    mock_build b, const aclTensor *self, int64_t diagonal, aclTensor *out, bool lower) {
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0 && x->rank < 2)
        mock_build_fail(&b, "self has %d dimensions, expected 2 or more", x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    move *m = plan_move(&b, TRIANGLE, x, "the shape of self");
    m->lower = lower;
    m->diagonal = diagonal;
    return mock_build_finish(&b);
}
#define TRIANGLE_FORM(NAME, LOWER)                                                                       \
    MOCK_OPERATOR(NAME, run)                                                                             \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, int64_t diagonal, aclTensor *out,          \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        const mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                    \
        return triangle(b, self, diagonal, out, LOWER);                                                  \
    }
TRIANGLE_FORM(aclnnTril, true)
TRIANGLE_FORM(aclnnTriu, false)

static aclnnStatus triangle_inplace(mock_build b, const aclTensor *selfRef, int64_t diagonal, bool lower) {
    const mock_view *x = mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    if (b.status == 0 && x->rank < 2)
        mock_build_fail(&b, "selfRef has %d dimensions, expected 2 or more", x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    move *m = plan_move(&b, TRIANGLE, x, "its own shape");
    m->lower = lower;
    m->diagonal = diagonal;
    return mock_build_finish(&b);
}
#define TRIANGLE_INPLACE(NAME, SELF, LOWER)                                                              \
    MOCK_OPERATOR(NAME, run)                                                                             \
    aclnnStatus NAME##GetWorkspaceSize(                                                                  \
        SELF *selfRef, int64_t diagonal, uint64_t *workspaceSize, aclOpExecutor **executor) {            \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        const mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                    \
        return triangle_inplace(b, selfRef, diagonal, LOWER);                                            \
    }
TRIANGLE_INPLACE(aclnnInplaceTril, const aclTensor, true)
TRIANGLE_INPLACE(aclnnInplaceTriu, aclTensor, false)

static void check_index(mock_build *b, const mock_view *index) {
    if (index->dtype != ACL_INT32 && index->dtype != ACL_INT64)
        mock_build_fail(b, "index has data type %s, expected INT32 or INT64", mock_dtype_name(index->dtype));
}

MOCK_OPERATOR(aclnnIndexSelect, run)
aclnnStatus aclnnIndexSelectGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexSelectGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIndexSelect_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *list = mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) check_index(&b, list);
    if (b.status == 0 && (x->rank == 0 || list->rank != 1))
        mock_build_fail(&b, "index has %d dimensions, expected 1, and self %d", list->rank, x->rank);
    const int d = b.status != 0 ? -1 : mock_require_dim(&b, "dim", dim, x->rank);
    if (b.status != 0) return mock_build_finish(&b);
    mock_view expected = *x;
    expected.dims[d] = list->dims[0];
    plan_move(&b, SELECTED, &expected, "self with the size of index")->dim = (int8_t)d;
    return mock_build_finish(&b);
}

/* index is at most as large as self in the other dimensions (own choice: as PyTorch does). */
MOCK_OPERATOR(aclnnGather, run)
aclnnStatus aclnnGatherGetWorkspaceSize(const aclTensor *self, const int64_t dim, const aclTensor *index,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGatherGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGather_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *list = mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) check_index(&b, list);
    if (b.status == 0 && (x->rank == 0 || list->rank != x->rank))
        mock_build_fail(&b, "index has %d dimensions, self %d", list->rank, x->rank);
    const int d = b.status != 0 ? -1 : mock_require_dim(&b, "dim", dim, x->rank);
    for (int k = 0; b.status == 0 && k < x->rank; k++)
        if (k != d && list->dims[k] > x->dims[k])
            mock_build_fail(&b, "index is larger than self in dimension %d", k);
    if (b.status != 0) return mock_build_finish(&b);
    plan_move(&b, GATHERED, list, "the shape of index")->dim = (int8_t)d;
    return mock_build_finish(&b);
}
