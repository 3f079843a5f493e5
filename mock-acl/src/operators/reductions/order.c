/* Operators that order a dimension or look for an end of it: Sort, Argsort, Topk, ArgMax, ArgMin, MaxDim, MinDim
 * and Cumsum (guide: aclnn, page of each).
 *
 * Own choice: the order is stable whatever is asked for, NaN counts as the greatest and wins in ArgMin and MinDim
 * as well (as PyTorch does), of equal values the first is found. Sums are collected in f64 or s64 and rounded
 * once. Topk of no dimensions refuses k = 0, since the results have one element then. Workspace: two lines of values
 * with their places. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef struct item {
    union {
        double d;
        int64_t i;
    } value;
    int64_t index;
} item;

typedef enum job { ORDER, EXTREME, SUM } job;

typedef struct order {
    int8_t job, dim;
    int8_t values, indices; /* operands, -1 for none */
    bool real, descending;
    int64_t take; /* how many of a line are given out */
} order;

/* Whether a goes before b. */
static bool before(const order *o, const item *a, const item *b) {
    if (!o->real) return o->descending ? a->value.i > b->value.i : a->value.i < b->value.i;
    const double x = a->value.d, y = b->value.d;
    if (x != x || y != y) return o->descending ? x != x && y == y : x == x && y != y;
    return o->descending ? x > y : x < y;
}

static void merge(const order *o, const item *from, item *to, int64_t low, int64_t middle, int64_t high) {
    int64_t a = low, b = middle;
    for (int64_t k = low; k < high; k++)
        to[k] = b >= high || (a < middle && !before(o, &from[b], &from[a])) ? from[a++] : from[b++];
}

/* Gives the line that holds the result, one of the two. */
static item *sorted(const order *o, item *line, item *other, int64_t n) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            const int64_t middle = low + width < n ? low + width : n;
            merge(o, line, other, low, middle, middle + width < n ? middle + width : n);
        }
        item *swap = line;
        line = other;
        other = swap;
    }
    return line;
}

static void find_end(const order *o, item *line, int64_t n) {
    int64_t best = 0;
    for (int64_t k = 1; k < n; k++) {
        const bool nan = o->real && line[k].value.d != line[k].value.d;
        const bool found = o->real && line[best].value.d != line[best].value.d;
        if (!found && (nan || before(o, &line[k], &line[best]))) best = k;
    }
    line[0] = line[best];
}

static void add_up(const order *o, item *line, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        if (o->real) line[k].value.d += line[k - 1].value.d;
        else line[k].value.i = (int64_t)((uint64_t)line[k].value.i + (uint64_t)line[k - 1].value.i);
    }
}

static char *place(const mock_view *v, char *first, const int64_t *i, int dim, int64_t k) {
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++) at += (d == dim ? k : i[d]) * v->strides[d];
    return first + at * (int64_t)mock_dtype_size(v->dtype);
}

static void run_line(
    const order *o, const mock_plan *plan, char *const *first, const int64_t *i, item *line) {
    const mock_view *self = &plan->views[0];
    const mock_class class = o->real ? MOCK_F64 : MOCK_I64;
    const int64_t n = self->rank == 0 ? 1 : self->dims[o->dim];
    const size_t size = o->real ? sizeof(double) : sizeof(int64_t);
    for (int64_t k = 0; k < n; k++) {
        const char *at = place(self, first[0], i, o->dim, k);
        const void *x = mock_load(class, self->dtype, at, 0, 1, &line[k].value);
        if (x != &line[k].value) memcpy(&line[k].value, x, size);
        line[k].index = k;
    }
    if (o->job == EXTREME) find_end(o, line, n);
    else if (o->job == SUM) add_up(o, line, n);
    const item *result = o->job == ORDER ? sorted(o, line, line + n, n) : line;
    for (int64_t k = 0; k < o->take; k++) {
        if (o->values >= 0) {
            const mock_view *v = &plan->views[o->values];
            mock_store(class, v->dtype, place(v, first[o->values], i, o->dim, k), 0, 1, &result[k].value);
        }
        if (o->indices >= 0) {
            const mock_view *v = &plan->views[o->indices];
            mock_store(MOCK_I64, v->dtype, place(v, first[o->indices], i, o->dim, k), 0, 1, &result[k].index);
        }
    }
}

/* All indices but that of the dimension. */
static bool next(const mock_view *v, int dim, int64_t *i) {
    for (int d = v->rank; d-- > 0;) {
        if (d == dim) continue;
        if (++i[d] < v->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

static aclError run(void *arg) {
    mock_plan *plan = arg;
    const order *o = MOCK_PARAMS(plan, order);
    char *first[3] = {NULL, NULL, NULL};
    int64_t i[MOCK_MAX_RANK] = {0};
    item *line = mock_plan_workspace(plan);
    for (unsigned k = 0; k < plan->count; k++) {
        first[k] = mock_plan_pointer(plan, k);
        if (first[k] == NULL) return MOCK_DEVICE_FAULT;
    }
    if (line == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(&plan->views[0]) == 0) return 0;
    do {
        run_line(o, plan, first, i, line);
    } while (next(&plan->views[0], o->dim, i));
    return 0;
}

/* ---- first phases ---- */

/* The operands after self: values, then indices, -1 for none. Results keep self's rank here; what drops the
 * dimension is handled by a view that has it back, with one element. */
static order *plan_order(mock_build *b, job j, int64_t dim, int values, int indices) {
    const mock_view *x = &b->plan->views[0];
    const int d = mock_require_dim(b, "dim", dim, x->rank);
    if (b->status != 0) return NULL;
    const int64_t n = x->rank == 0 ? 1 : x->dims[d];
    order *o = MOCK_PARAMS(b->plan, order);
    const bool real = mock_dtype_is_floating(x->dtype);
    *o = (order){(int8_t)j, (int8_t)d, (int8_t)values, (int8_t)indices, real, false, n};
    b->plan->need = mock_workspace_bytes((uint64_t)n * 2, sizeof(item));
    return o;
}

static void check_values(mock_build *b, int operand) {
    const mock_view *v = &b->plan->views[operand], *x = &b->plan->views[0];
    if (v->dtype != x->dtype)
        mock_build_fail(b, "the values have data type %s, self has %s", mock_dtype_name(v->dtype),
            mock_dtype_name(x->dtype));
}

static void check_indices(mock_build *b, int operand) {
    const int32_t type = b->plan->views[operand].dtype;
    if (type != ACL_INT64 && type != ACL_INT32)
        mock_build_fail(b, "the indices have data type %s, expected INT64 or INT32", mock_dtype_name(type));
}

/* The result has `take` elements along the dimension, or none of the dimension when `dropped`. */
static void check_shape(mock_build *b, const order *o, int operand, bool dropped) {
    mock_view expected = b->plan->views[0], *v = &b->plan->views[operand];
    if (expected.rank != 0) expected.dims[o->dim] = o->take;
    if (!dropped || expected.rank == 0) {
        mock_require_shape(b, v, "the result", &expected, "self, ordered along dim");
        return;
    }
    mock_view flat = expected;
    flat.rank--;
    for (int d = o->dim; d < flat.rank; d++) flat.dims[d] = expected.dims[d + 1];
    mock_require_shape(b, v, "the result", &flat, "self without dim");
    if (b->status != 0) return;
    for (int d = v->rank; d > o->dim; d--) {
        v->dims[d] = v->dims[d - 1];
        v->strides[d] = v->strides[d - 1];
    }
    v->dims[o->dim] = 1;
    v->strides[o->dim] = 0;
    v->rank++;
}

MOCK_OPERATOR(aclnnSort, run)
aclnnStatus aclnnSortGetWorkspaceSize(const aclTensor *self, bool stable, int64_t dim, bool descending,
    aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSortGetWorkspaceSize);
    (void)stable;
    mock_build b = mock_build_begin(&aclnnSort_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, valuesOut, "valuesOut", MOCK_OUT);
    mock_build_tensor(&b, indicesOut, "indicesOut", MOCK_OUT);
    order *o = b.status != 0 ? NULL : plan_order(&b, ORDER, dim, 1, 2);
    if (o == NULL) return mock_build_finish(&b);
    o->descending = descending;
    check_values(&b, 1);
    check_indices(&b, 2);
    check_shape(&b, o, 1, false);
    check_shape(&b, o, 2, false);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnArgsort, run)
aclnnStatus aclnnArgsortGetWorkspaceSize(const aclTensor *self, int64_t dim, bool descending, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnArgsortGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnArgsort_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    order *o = b.status != 0 ? NULL : plan_order(&b, ORDER, dim, -1, 1);
    if (o == NULL) return mock_build_finish(&b);
    o->descending = descending;
    check_indices(&b, 1);
    check_shape(&b, o, 1, false);
    return mock_build_finish(&b);
}

/* The k first ones, in order also where none is asked for. */
MOCK_OPERATOR(aclnnTopk, run)
aclnnStatus aclnnTopkGetWorkspaceSize(const aclTensor *self, int64_t k, int64_t dim, bool largest,
    bool sorted_out, aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnTopkGetWorkspaceSize);
    (void)sorted_out;
    mock_build b = mock_build_begin(&aclnnTopk_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, valuesOut, "valuesOut", MOCK_OUT);
    mock_build_tensor(&b, indicesOut, "indicesOut", MOCK_OUT);
    order *o = b.status != 0 ? NULL : plan_order(&b, ORDER, dim, 1, 2);
    if (o == NULL) return mock_build_finish(&b);
    if (k < 0 || k > o->take)
        mock_build_fail(&b, "k is %lld, the dimension has %lld", (long long)k, (long long)o->take);
    else if (k == 0 && b.plan->views[0].rank == 0)
        mock_build_fail(&b, "k is 0, and self has no dimension that could have no elements");
    o->descending = largest;
    o->take = k;
    check_values(&b, 1);
    check_indices(&b, 2);
    check_shape(&b, o, 1, false);
    check_shape(&b, o, 2, false);
    return mock_build_finish(&b);
}

static aclnnStatus extreme(mock_build *b, int64_t dim, bool keep, int values, int indices, bool greatest) {
    order *o = b->status != 0 ? NULL : plan_order(b, EXTREME, dim, values, indices);
    if (o == NULL) return mock_build_finish(b);
    if (o->take == 0) mock_build_fail(b, "the dimension is empty");
    o->descending = greatest;
    o->take = 1;
    if (values >= 0) {
        check_values(b, values);
        check_shape(b, o, values, !keep);
    }
    check_indices(b, indices);
    check_shape(b, o, indices, !keep);
    return mock_build_finish(b);
}
#define PLACE_OF_END(NAME, GREATEST)                                                                     \
    MOCK_OPERATOR(NAME, run)                                                                             \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out, \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                             \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                          \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                    \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                     \
        return extreme(&b, dim, keepdim, -1, 1, GREATEST);                                               \
    }
PLACE_OF_END(aclnnArgMax, true)
PLACE_OF_END(aclnnArgMin, false)
#define END_AND_PLACE(NAME, GREATEST)                                                                    \
    MOCK_OPERATOR(NAME, run)                                                                             \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out, \
        aclTensor *indices, uint64_t *workspaceSize, aclOpExecutor **executor) {                         \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                              \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                          \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                    \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                     \
        mock_build_tensor(&b, indices, "indices", MOCK_OUT);                                             \
        return extreme(&b, dim, keepdim, 1, 2, GREATEST);                                                \
    }
END_AND_PLACE(aclnnMaxDim, true)
END_AND_PLACE(aclnnMinDim, false)

/* out has the type `dtype` (own choice). */
MOCK_OPERATOR(aclnnCumsum, run)
aclnnStatus aclnnCumsumGetWorkspaceSize(const aclTensor *self, int64_t dim, aclDataType dtype, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnCumsumGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnCumsum_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    order *o = b.status != 0 ? NULL : plan_order(&b, SUM, dim, 1, -1);
    if (o == NULL) return mock_build_finish(&b);
    if (to->dtype != (int32_t)dtype || !mock_dtype_castable(b.plan->views[0].dtype, to->dtype))
        mock_build_fail(&b, "out has data type %s, dtype is %s", mock_dtype_name(to->dtype),
            mock_dtype_name(dtype));
    check_shape(&b, o, 1, false);
    return mock_build_finish(&b);
}
