/* Operators whose result has a size that the data says: Nonzero, NonzeroV2, MaskedSelect; and MaskedScatter,
 * which reads as many elements (guide: aclnn, page of each).
 *
 * The shape of out is that of the most elements there can be, or less; the task gives the aclTensor, which
 * has to live until then, the shape that came out: [found, dimensions], [dimensions, found] and [found],
 * which a program reads with aclGetViewShape after it has waited (own choice: as the open adapter of PyTorch
 * expects it). More than out can hold is a fault of the task. No workspace. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/found.h"

typedef struct found {
    const void *out; /* the handle of aclTensor */
    bool turned;     /* [dimensions, found] */
} found;

static bool next(const mock_view *v, int64_t *i) {
    for (int d = v->rank; d-- > 0;) {
        if (++i[d] < v->dims[d]) return true;
        i[d] = 0;
    }
    return false;
}

/* The place that a view which broadcasts to the loop has for index i. */
static int64_t place_of(const mock_view *v, int rank, const int64_t *i) {
    int64_t at = 0;
    for (int d = 0; d < v->rank; d++)
        if (v->dims[d] != 1) at += i[rank - v->rank + d] * v->strides[d];
    return at * (int64_t)mock_dtype_size(v->dtype);
}

static bool is_set(const mock_view *v, const char *at) {
    double value = 0;
    const void *x = mock_load(MOCK_F64, v->dtype, at, 0, 1, &value);
    if (x != &value) memcpy(&value, x, sizeof value);
    return value != 0;
}

void mock_give_shape(const void *tensor, int rank, const int64_t *dims) {
    mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensor);
    int64_t stride = 1;
    if (t == NULL) return;
    t->view.span = 1;
    for (int d = rank; d-- > 0; stride *= dims[d]) {
        t->view.dims[d] = dims[d];
        t->view.strides[d] = stride;
        t->view.span *= dims[d];
    }
}

/* ---- Nonzero ---- */

static int64_t count_set(const mock_view *self, const char *from) {
    int64_t i[MOCK_MAX_RANK] = {0}, count = 0;
    if (mock_element_count(self) == 0) return 0;
    do {
        if (is_set(self, from + place_of(self, self->rank, i))) count++;
    } while (next(self, i));
    return count;
}

static aclError run_nonzero(void *arg) {
    mock_plan *plan = arg;
    const found *f = MOCK_PARAMS(plan, found);
    const mock_view *self = &plan->views[0];
    const char *from = mock_plan_pointer(plan, 0);
    int64_t *to = mock_plan_pointer(plan, 1);
    int64_t i[MOCK_MAX_RANK] = {0}, n = 0;
    if (from == NULL || to == NULL) return MOCK_DEVICE_FAULT;
    const int64_t count = count_set(self, from), rank = self->rank;
    if (count * rank > plan->views[1].span) return MOCK_DEVICE_FAULT;
    if (count != 0) do {
        if (!is_set(self, from + place_of(self, self->rank, i))) continue;
        for (int64_t d = 0; d < rank; d++) to[f->turned ? d * count + n : n * rank + d] = i[d];
        n++;
    } while (next(self, i));
    mock_give_shape(f->out, 2, f->turned ? (int64_t[]){rank, count} : (int64_t[]){count, rank});
    return 0;
}

static void plan_nonzero(mock_build *b, const aclTensor *out, bool turned) {
    if (b->status != 0) return;
    const mock_view *self = &b->plan->views[0], *v = &b->plan->views[1];
    mock_shape_text text;
    if (v->dtype != ACL_INT64)
        mock_build_fail(b, "out has data type %s, expected INT64", mock_dtype_name(v->dtype));
    else if (v->rank != 2 || v->dims[turned ? 0 : 1] != self->rank)
        mock_build_fail(b, "out has shape %s, expected %d in dimension %d of 2", mock_shape(v, &text),
        self->rank,
            turned ? 0 : 1);
    else if (!mock_is_contiguous(v)) mock_build_fail(b, "out is not contiguous");
    *MOCK_PARAMS(b->plan, found) = (found){out, turned};
}

#define NONZERO(NAME, TURNED)                                                                              \
    MOCK_OPERATOR(NAME, run_nonzero)                                                                       \
    aclnnStatus NAME##GetWorkspaceSize(                                                                    \
        const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {        \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                                \
        mock_build b = mock_build_begin(&NAME##_task, workspaceSize, executor);                            \
        mock_build_tensor(&b, self, "self", MOCK_IN);                                                      \
        mock_build_tensor(&b, out, "out", MOCK_OUT);                                                       \
        plan_nonzero(&b, out, TURNED);                                                                     \
        return mock_build_finish(&b);                                                                      \
    }
NONZERO(aclnnNonzero, false)
NONZERO(aclnnNonzeroV2, true)

/* ---- masks ---- */

static void check_mask(mock_build *b, const mock_view *mask) {
    if (b->status == 0 && mask->dtype != ACL_BOOL && mask->dtype != ACL_UINT8)
        mock_build_fail(b, "mask has data type %s, expected BOOL or UINT8", mock_dtype_name(mask->dtype));
}

static aclError run_select(void *arg) {
    mock_plan *plan = arg;
    const mock_view *self = &plan->views[0], *mask = &plan->views[1], *out = &plan->views[2];
    const char *from = mock_plan_pointer(plan, 0), *chosen = mock_plan_pointer(plan, 1);
    char *to = mock_plan_pointer(plan, 2);
    const size_t size = mock_dtype_size(self->dtype);
    int64_t i[MOCK_MAX_RANK] = {0}, n = 0;
    mock_view loop;
    mock_broadcast(self, mask, &loop);
    if (from == NULL || chosen == NULL || to == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(&loop) != 0) do {
        if (!is_set(mask, chosen + place_of(mask, loop.rank, i))) continue;
        if (n == out->span) return MOCK_DEVICE_FAULT;
        memcpy(to + n++ * (int64_t)size, from + place_of(self, loop.rank, i), size);
    } while (next(&loop, i));
    mock_give_shape(MOCK_PARAMS(plan, found)->out, 1, &n);
    return 0;
}

MOCK_OPERATOR(aclnnMaskedSelect, run_select)
aclnnStatus aclnnMaskedSelectGetWorkspaceSize(const aclTensor *self, const aclTensor *mask, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnMaskedSelectGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnMaskedSelect_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *m = mock_build_tensor(&b, mask, "mask", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_shape_text one, other;
    mock_view common;
    check_mask(&b, m);
    if (b.status == 0 && !mock_broadcast(x, m, &common))
        mock_build_fail(&b, "shapes %s and %s do not broadcast", mock_shape(x, &one), mock_shape(m, &other));
    if (b.status == 0 && to->dtype != x->dtype)
        mock_build_fail(&b, "out has data type %s, self has %s", mock_dtype_name(to->dtype),
            mock_dtype_name(x->dtype));
    if (b.status == 0 && (to->rank != 1 || !mock_is_contiguous(to)))
        mock_build_fail(&b, "out has shape %s, expected one contiguous dimension", mock_shape(to, &one));
    if (b.status == 0) *MOCK_PARAMS(b.plan, found) = (found){out, false};
    return mock_build_finish(&b);
}

/* Elements of source one after the other. */
static aclError run_scatter(void *arg) {
    mock_plan *plan = arg;
    const mock_view *self = &plan->views[0], *mask = &plan->views[1], *source = &plan->views[2];
    char *to = mock_plan_pointer(plan, 0);
    const char *chosen = mock_plan_pointer(plan, 1), *from = mock_plan_pointer(plan, 2);
    const size_t size = mock_dtype_size(self->dtype);
    int64_t i[MOCK_MAX_RANK] = {0}, j[MOCK_MAX_RANK] = {0};
    bool left = mock_element_count(source) != 0;
    if (from == NULL || chosen == NULL || to == NULL) return MOCK_DEVICE_FAULT;
    if (mock_element_count(self) == 0) return 0;
    do {
        if (!is_set(mask, chosen + place_of(mask, self->rank, i))) continue;
        if (!left) return MOCK_DEVICE_FAULT;
        memcpy(to + place_of(self, self->rank, i), from + place_of(source, source->rank, j), size);
        left = next(source, j);
    } while (next(self, i));
    return 0;
}

MOCK_OPERATOR(aclnnInplaceMaskedScatter, run_scatter)
aclnnStatus aclnnInplaceMaskedScatterGetWorkspaceSize(aclTensor *selfRef, const aclTensor *mask,
    const aclTensor *source, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceMaskedScatterGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceMaskedScatter_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    const mock_view *m = mock_build_tensor(&b, mask, "mask", MOCK_IN);
    const mock_view *s = mock_build_tensor(&b, source, "source", MOCK_IN);
    mock_shape_text one, other;
    mock_view common;
    check_mask(&b, m);
    if (b.status == 0 && (!mock_broadcast(x, m, &common) || !mock_same_shape(&common, x)))
        mock_build_fail(&b, "mask has shape %s, which does not broadcast to %s", mock_shape(m, &one),
            mock_shape(x, &other));
    if (b.status == 0 && s->dtype != x->dtype)
        mock_build_fail(&b, "source has data type %s, selfRef has %s", mock_dtype_name(s->dtype),
            mock_dtype_name(x->dtype));
    return mock_build_finish(&b);
}
