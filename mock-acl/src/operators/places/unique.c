/* Unique, Unique2, UniqueDim and UniqueConsecutive (guide: aclnn, page of each): what there is of elements, or of
 * slices along a dimension, with the place of each among them and how many there are of each.
 *
 * Own choice: sorted also where that was not asked for (as PyTorch on a CPU does); NaN counts as the greatest and
 * equals nothing, itself neither. Results that were not asked for may be null, and are not written. The shape of
 * valueOut and countsOut is that of the most there can be; the task gives the aclTensor of both the shape that came
 * out, as found.c says. Workspace: two lines of numbers of items. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/found.h"

enum { SELF, VALUES, INVERSE, COUNTS };
#define FLAT (-1)

typedef struct unique {
    const void *values, *counts; /* handles of aclTensor */
    int64_t items;
    int8_t dim; /* FLAT for elements */
    bool sorts, inverse, counting;
} unique;

/* Element i of a slice or, where all is flat, the item itself. */
typedef struct slices {
    const mock_view *self;
    char *first;
    int dim;
    int64_t length; /* elements of a slice */
} slices;

static char *element(const slices *s, int64_t item, int64_t i) {
    int64_t at = 0;
    int64_t left = s->dim == FLAT ? item : i;
    for (int d = s->self->rank; d-- > 0;) {
        if (d == s->dim) {
            at += item * s->self->strides[d];
            continue;
        }
        at += left % s->self->dims[d] * s->self->strides[d];
        left /= s->self->dims[d];
    }
    return s->first + at * (int64_t)mock_dtype_size(s->self->dtype);
}

/* Below 0 where x goes before y, 0 for equal ones. Of two NaN neither goes before the other, and they differ. */
static int compare_elements(int32_t dtype, const char *x, const char *y) {
    if (mock_dtype_is_floating(dtype)) {
        const double a = mock_read_real(dtype, x), b = mock_read_real(dtype, y);
        if (a != a) return 1;
        if (b != b) return -1;
        return a < b ? -1 : a > b;
    }
    const int64_t a = mock_read_whole(dtype, x), b = mock_read_whole(dtype, y);
    if (dtype == ACL_UINT64) return (uint64_t)a < (uint64_t)b ? -1 : (uint64_t)a > (uint64_t)b;
    return a < b ? -1 : a > b;
}

static int compare(const slices *s, int64_t a, int64_t b) {
    for (int64_t i = 0; i < s->length; i++) {
        const int order = compare_elements(s->self->dtype, element(s, a, i), element(s, b, i));
        if (order != 0) return order;
    }
    return 0;
}

/* Stable; gives the line that holds the result, one of the two. */
static int64_t *sorted(const slices *s, int64_t *line, int64_t *other, int64_t n) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            const int64_t middle = low + width < n ? low + width : n;
            const int64_t high = middle + width < n ? middle + width : n;
            int64_t a = low, b = middle;
            for (int64_t k = low; k < high; k++) {
                const bool second = a == middle || (b < high && compare(s, line[b], line[a]) < 0);
                other[k] = second ? line[b++] : line[a++];
            }
        }
        int64_t *swap = line;
        line = other;
        other = swap;
    }
    return line;
}

/* valueOut with the dimension as long as it came out. */
static mock_view came_out(const unique *u, const mock_view *values, int64_t count) {
    mock_view v = *values;
    v.dims[u->dim == FLAT ? 0 : u->dim] = count;
    int64_t stride = 1;
    for (int d = v.rank; d-- > 0; stride *= v.dims[d]) v.strides[d] = stride;
    v.span = stride;
    return v;
}

static void copy_item(const slices *s, int64_t item, const mock_view *out, char *to, int64_t place) {
    const slices target = {out, to, s->dim, s->length};
    const size_t size = mock_dtype_size(out->dtype);
    for (int64_t i = 0; i < s->length; i++) memcpy(element(&target, place, i), element(s, item, i), size);
}

/* How many differ; NaN differs from itself, so that its neighbour is another one. */
static int64_t count_all(const slices *s, const int64_t *line, int64_t n) {
    int64_t count = n > 0;
    for (int64_t k = 1; k < n; k++) count += compare(s, line[k - 1], line[k]) != 0;
    return count;
}

static aclError run(void *arg) {
    mock_plan *plan = arg;
    const unique *u = MOCK_PARAMS(plan, unique);
    const mock_view *self = &plan->views[SELF];
    char *const from = mock_plan_pointer(plan, SELF), *const to = mock_plan_pointer(plan, VALUES);
    int64_t *inverse = u->inverse ? mock_plan_pointer(plan, INVERSE) : NULL;
    int64_t *counts = u->counting ? mock_plan_pointer(plan, COUNTS) : NULL;
    int64_t *line = mock_plan_workspace(plan);
    const int64_t n = u->items;
    if (from == NULL || to == NULL || line == NULL) return MOCK_DEVICE_FAULT;
    if ((u->inverse && inverse == NULL) || (u->counting && counts == NULL)) return MOCK_DEVICE_FAULT;
    const slices s = {self, from, u->dim, u->dim == FLAT ? 1 : n == 0 ? 0 : mock_element_count(self) / n};
    for (int64_t k = 0; k < n; k++) line[k] = k;
    if (u->sorts) line = sorted(&s, line, line + n, n);
    const int64_t count = count_all(&s, line, n);
    const mock_view out = came_out(u, &plan->views[VALUES], count);
    if (mock_element_count(&out) > plan->views[VALUES].span) return MOCK_DEVICE_FAULT;
    if (u->counting && count > plan->views[COUNTS].span) return MOCK_DEVICE_FAULT;
    int64_t place = -1;
    for (int64_t k = 0; k < n; k++) {
        const bool other = k == 0 || compare(&s, line[k - 1], line[k]) != 0;
        if (other) copy_item(&s, line[k], &out, to, ++place);
        if (u->inverse) inverse[line[k]] = place;
        if (u->counting) counts[place] = other ? 1 : counts[place] + 1;
    }
    mock_give_shape(u->values, out.rank, out.dims);
    if (u->counting) mock_give_shape(u->counts, 1, &count);
    return 0;
}

/* ---- first phases ---- */

static void check_whole(mock_build *b, const mock_view *v, const char *param) {
    if (b->status == 0 && v->dtype != ACL_INT64)
        mock_build_fail(b, "%s has data type %s, expected INT64", param, mock_dtype_name(v->dtype));
    if (b->status == 0 && !mock_is_contiguous(v)) mock_build_fail(b, "%s is not contiguous", param);
}

static void check_values(mock_build *b, const unique *u, const mock_view *self, const mock_view *v) {
    mock_shape_text text;
    if (b->status != 0) return;
    if (v->dtype != self->dtype)
        mock_build_fail(b, "valueOut has data type %s, self has %s", mock_dtype_name(v->dtype),
            mock_dtype_name(self->dtype));
    else if (!mock_is_contiguous(v)) mock_build_fail(b, "valueOut is not contiguous");
    else if (v->rank != (u->dim == FLAT ? 1 : self->rank))
        mock_build_fail(b, "valueOut has shape %s, expected %d dimensions", mock_shape(v, &text),
            u->dim == FLAT ? 1 : self->rank);
    for (int d = 0; b->status == 0 && u->dim != FLAT && d < v->rank; d++)
        if (d != u->dim && v->dims[d] != self->dims[d])
            mock_build_fail(b, "valueOut has shape %s, expected %lld in dimension %d", mock_shape(v, &text),
                (long long)self->dims[d], d);
}

static void check_inverse(mock_build *b, const unique *u, const mock_view *v) {
    mock_shape_text text;
    check_whole(b, v, "inverseOut");
    if (b->status == 0 && mock_element_count(v) != u->items)
        mock_build_fail(b, "inverseOut has shape %s, expected %lld elements", mock_shape(v, &text),
            (long long)u->items);
}

static void check_counts(mock_build *b, const mock_view *v) {
    mock_shape_text text;
    check_whole(b, v, "countsOut");
    if (b->status == 0 && v->rank != 1)
        mock_build_fail(b, "countsOut has shape %s, expected one dimension", mock_shape(v, &text));
}

static const mock_view *result(mock_build *b, const aclTensor *tensor, bool asked, const char *param) {
    return asked ? mock_build_tensor(b, tensor, param, MOCK_OUT) : mock_build_optional(b, tensor, param, MOCK_OUT);
}

static aclnnStatus plan(mock_build *b, const aclTensor *self, unique u, const aclTensor *const *out) {
    const mock_view *x = mock_build_tensor(b, self, "self", MOCK_IN);
    const mock_view *values = mock_build_tensor(b, out[0], "valueOut", MOCK_OUT);
    const mock_view *inverse = result(b, out[1], u.inverse, "inverseOut");
    const mock_view *counts = result(b, out[2], u.counting, "countsOut");
    if (b->status == 0 && u.dim == FLAT) u.items = mock_element_count(x);
    if (b->status == 0 && u.dim != FLAT) u.items = x->rank == 0 ? 1 : x->dims[u.dim];
    check_values(b, &u, x, values);
    if (u.inverse) check_inverse(b, &u, inverse);
    if (u.counting) check_counts(b, counts);
    if (b->status != 0) return mock_build_finish(b);
    u.values = out[0];
    u.counts = out[2];
    *MOCK_PARAMS(b->plan, unique) = u;
    b->plan->need = mock_workspace_bytes((uint64_t)u.items * 2 + 1, sizeof(int64_t));
    return mock_build_finish(b);
}

MOCK_OPERATOR(aclnnUnique, run)
aclnnStatus aclnnUniqueGetWorkspaceSize(const aclTensor *self, bool sorted, bool returnInverse, aclTensor *valueOut,
    aclTensor *inverseOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnUniqueGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnUnique_task, workspaceSize, executor);
    (void)sorted;
    const aclTensor *const out[] = {valueOut, inverseOut, NULL};
    return plan(&b, self, (unique){.dim = FLAT, .sorts = true, .inverse = returnInverse}, out);
}

MOCK_OPERATOR(aclnnUnique2, run)
aclnnStatus aclnnUnique2GetWorkspaceSize(const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts,
    aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnUnique2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnUnique2_task, workspaceSize, executor);
    (void)sorted;
    const aclTensor *const out[] = {valueOut, inverseOut, countsOut};
    return plan(&b, self,
        (unique){.dim = FLAT, .sorts = true, .inverse = returnInverse, .counting = returnCounts}, out);
}

/* The dimension, which is looked at before the operands are. */
static int dim_of(mock_build *b, const aclTensor *self, int64_t dim) {
    const mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, self);
    return t == NULL ? 0 : mock_require_dim(b, "dim", dim, t->view.rank);
}

MOCK_OPERATOR(aclnnUniqueDim, run)
aclnnStatus aclnnUniqueDimGetWorkspaceSize(const aclTensor *self, bool sorted, bool returnInverse, int64_t dim,
    aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnUniqueDimGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnUniqueDim_task, workspaceSize, executor);
    (void)sorted;
    const aclTensor *const out[] = {valueOut, inverseOut, countsOut};
    const int d = dim_of(&b, self, dim);
    return plan(&b, self,
        (unique){.dim = (int8_t)d, .sorts = true, .inverse = returnInverse, .counting = true}, out);
}

/* What the open adapter of PyTorch passes for no dimension. */
#define NO_DIMENSION 1000

MOCK_OPERATOR(aclnnUniqueConsecutive, run)
aclnnStatus aclnnUniqueConsecutiveGetWorkspaceSize(const aclTensor *self, bool returnInverse, bool returnCounts,
    int64_t dim, aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnUniqueConsecutiveGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnUniqueConsecutive_task, workspaceSize, executor);
    const aclTensor *const out[] = {valueOut, inverseOut, countsOut};
    const int d = dim == NO_DIMENSION ? FLAT : dim_of(&b, self, dim);
    return plan(&b, self, (unique){.dim = (int8_t)d, .inverse = returnInverse, .counting = returnCounts}, out);
}
