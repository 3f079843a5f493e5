/* Operators between one tensor and its parts in a list: Cat, Stack, SplitTensor and SplitWithSize (guide:
 * aclnn, page of each).
 *
 * Cat and Stack take tensors of several types: they are promoted, and the result may be any type that this
 * can be stored as; parts of a split have the type of self (own choice). Cat passes over a tensor of one
 * dimension without elements (own choice: as PyTorch does). Elements of equal types move bit by bit. No
 * workspace; out does not overlap a part (own choice: not looked for, the result is not defined). */
#include <stdio.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/moves/moves.h"
#include "operators/operators.h"

/* Part k lies in the whole from `start[k]` of dimension `dim` on: in plan->extra. A part of Stack has not
 * this dimension. */
typedef struct join {
    int8_t dim, whole, parts;
    bool stacked;
} join;

/* The region of the whole that belongs to a part. */
static mock_view region_of(const join *j, const mock_view *whole, const mock_view *part) {
    mock_view v = *whole;
    v.dims[j->dim] = j->stacked ? 1 : part->dims[j->dim];
    return v;
}

/* A part with the same number of dimensions as the whole. */
static mock_view part_of(const join *j, const mock_view *part) {
    mock_view v = *part;
    if (!j->stacked) return v;
    for (int d = v.rank; d > j->dim; d--) {
        v.dims[d] = v.dims[d - 1];
        v.strides[d] = v.strides[d - 1];
    }
    v.dims[j->dim] = 1;
    v.strides[j->dim] = 0;
    v.rank++;
    return v;
}

static aclError run_join(void *arg) {
    mock_plan *plan = arg;
    const join *j = MOCK_PARAMS(plan, join);
    const mock_view *whole = &plan->views[j->whole], *list = &plan->views[j->parts];
    const int64_t *start = plan->extra;
    char *first = mock_plan_pointer(plan, (unsigned)j->whole);
    if (first == NULL) return MOCK_DEVICE_FAULT;
    for (int64_t k = 0; k < list->span; k++) {
        const mock_view *member = mock_members(plan, list) + k;
        void *at = mock_view_pointer(member);
        if (at == NULL) return MOCK_DEVICE_FAULT;
        if (member->span == 0) continue;
        const mock_view region = region_of(j, whole, member), part = part_of(j, member);
        char *place = first + start[k] * whole->strides[j->dim] * (int64_t)mock_dtype_size(whole->dtype);
        if (j->parts == 0) mock_copy_view(&region, place, &part, at);
        else mock_copy_view(&part, at, &region, place);
    }
    return 0;
}

/* Room for the starts of `list`, NULL after a failure. */
static int64_t *plan_join(mock_build *b, int dim, const mock_view *list, int whole, int parts, bool stacked) {
    *MOCK_PARAMS(b->plan, join) = (join){(int8_t)dim, (int8_t)whole, (int8_t)parts, stacked};
    return mock_build_extra(b, (size_t)list->span * sizeof(int64_t));
}

static bool passed_over(const mock_view *v) {
    return v->rank == 1 && v->dims[0] == 0;
}

/* Members but `dim` have the shape of `model`; dim -1: all of it. */
static void check_member(mock_build *b, const mock_view *model, const mock_view *v, int64_t k, int dim) {
    mock_shape_text have, want;
    mock_view expected = *model;
    if (dim >= 0 && v->rank == model->rank) expected.dims[dim] = v->dims[dim];
    if (mock_same_shape(&expected, v)) return;
    mock_build_fail(b, "tensors[%lld] has shape %s, which does not go with %s", (long long)k,
        mock_shape(v, &have), mock_shape(model, &want));
}

static void check_type(mock_build *b, const mock_view *members, int64_t count, const mock_view *out) {
    int32_t type = members[0].dtype;
    for (int64_t k = 1; k < count; k++) type = mock_dtype_promote(type, members[k].dtype);
    if (!mock_dtype_castable(type, out->dtype)) {
        mock_build_fail(b, "tensors of type %s cannot be stored as %s of out", mock_dtype_name(type),
            mock_dtype_name(out->dtype));
    }
}

static const mock_view *first_shape(const mock_view *members, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (!passed_over(&members[k])) return &members[k];
    return &members[0];
}

MOCK_OPERATOR(aclnnCat, run_join)
static void plan_cat(mock_build *b, const mock_view *list, int64_t dim, const mock_view *out) {
    const mock_view *members = mock_members(b->plan, list), *model = first_shape(members, list->span);
    if (model->rank == 0) mock_build_fail(b, "tensors have no dimension to join");
    const int d = b->status != 0 ? -1 : mock_require_dim(b, "dim", dim, model->rank);
    check_type(b, members, list->span, out);
    int64_t *start = b->status != 0 ? NULL : plan_join(b, d, list, 1, 0, false);
    if (start == NULL) return;
    mock_view expected = *model;
    int64_t total = 0;
    for (int64_t k = 0; k < list->span && b->status == 0; k++) {
        start[k] = total;
        if (passed_over(&members[k])) continue;
        check_member(b, model, &members[k], k, d);
        if (b->status == 0 && __builtin_add_overflow(total, members[k].dims[d], &total))
            mock_build_fail(b, "tensors are too long together");
    }
    expected.dims[d] = total;
    mock_require_shape(b, out, "out", &expected, "the tensors one after the other");
}
aclnnStatus aclnnCatGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnCatGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnCat_task, workspaceSize, executor);
    const mock_view *list = mock_build_list(&b, tensors, "tensors", MOCK_IN);
    const mock_view *whole = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) plan_cat(&b, list, dim, whole);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnStack, run_join)
static void plan_stack(mock_build *b, const mock_view *list, int64_t dim, const mock_view *out) {
    const mock_view *members = mock_members(b->plan, list);
    if (members->rank == MOCK_MAX_RANK) mock_build_fail(b, "tensors have 8 dimensions, at most 7 fit");
    const int d = b->status != 0 ? -1 : mock_require_dim(b, "dim", dim, members->rank + 1);
    check_type(b, members, list->span, out);
    int64_t *start = b->status != 0 ? NULL : plan_join(b, d, list, 1, 0, true);
    if (start == NULL) return;
    for (int64_t k = 0; k < list->span && b->status == 0; k++) {
        start[k] = k;
        check_member(b, members, &members[k], k, -1);
    }
    mock_view expected = part_of(MOCK_PARAMS(b->plan, join), members);
    expected.dims[d] = list->span;
    mock_require_shape(b, out, "out", &expected, "the tensors beside each other");
}
aclnnStatus aclnnStackGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnStackGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnStack_task, workspaceSize, executor);
    const mock_view *list = mock_build_list(&b, tensors, "tensors", MOCK_IN);
    const mock_view *whole = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) plan_stack(&b, list, dim, whole);
    return mock_build_finish(&b);
}

/* ---- the other way ---- */

static void check_part(
    mock_build *b, const mock_view *self, int d, const mock_view *v, int64_t k, int64_t n) {
    char name[32];
    mock_view expected = *self;
    expected.dims[d] = n;
    snprintf(name, sizeof name, "out[%lld]", (long long)k);
    if (v->dtype != self->dtype)
        mock_build_fail(b, "%s has data type %s, self has %s", name, mock_dtype_name(v->dtype),
            mock_dtype_name(self->dtype));
    mock_require_shape(b, v, name, &expected, "its part of self");
}

/* Part k has size(k) rows: `sizes[k]`, or `each` and the last one what is left. */
static void plan_split(
    mock_build *b, const mock_view *self, const mock_view *list, int64_t dim, const int64_t *sizes,
    int64_t each) {
    if (self->rank == 0) mock_build_fail(b, "self has no dimension to split");
    const int d = b->status != 0 ? -1 : mock_require_dim(b, "dim", dim, self->rank);
    int64_t *start = b->status != 0 ? NULL : plan_join(b, d, list, 0, 1, false);
    int64_t at = 0;
    for (int64_t k = 0; start != NULL && k < list->span && b->status == 0; k++) {
        const int64_t left = self->dims[d] - at, n = sizes != NULL ? sizes[k] : left < each ? left : each;
        if (n < 0 || n > left)
            mock_build_fail(b, "splitSize[%lld] is %lld, dimension %d has %lld left", (long long)k,
                (long long)n, d, (long long)left);
        check_part(b, self, d, mock_members(b->plan, list) + k, k, n);
        start[k] = at;
        at += n;
    }
    if (b->status == 0 && at != self->dims[d])
        mock_build_fail(b, "the parts have %lld of the %lld in dimension %d", (long long)at,
            (long long)self->dims[d], d);
}

/* A dimension without elements has one part. */
MOCK_OPERATOR(aclnnSplitTensor, run_join)
static void plan_equal(
    mock_build *b, const mock_view *self, uint64_t each, int64_t dim, const mock_view *list) {
    const int d = self->rank == 0 ? -1 : mock_require_dim(b, "dim", dim, self->rank);
    if (b->status == 0 && d >= 0) {
        const uint64_t n = (uint64_t)self->dims[d];
        if (each == 0 && n != 0) mock_build_fail(b, "splitSections is 0");
        const uint64_t count = n == 0 || each == 0 ? 1 : n / each + (n % each != 0);
        if (b->status == 0 && count != (uint64_t)list->span)
            mock_build_fail(b, "out has %lld tensors, self has %llu parts", (long long)list->span,
                (unsigned long long)count);
    }
    plan_split(b, self, list, dim, NULL, each > INT64_MAX ? INT64_MAX : (int64_t)each);
}
aclnnStatus aclnnSplitTensorGetWorkspaceSize(const aclTensor *self, uint64_t splitSections, int64_t dim,
    aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSplitTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSplitTensor_task, workspaceSize, executor);
    const mock_view *whole = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *list = mock_build_list(&b, out, "out", MOCK_OUT);
    if (b.status == 0) plan_equal(&b, whole, splitSections, dim, list);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnSplitWithSize, run_join)
aclnnStatus aclnnSplitWithSizeGetWorkspaceSize(const aclTensor *self, const aclIntArray *splitSize,
    int64_t dim, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnSplitWithSizeGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnSplitWithSize_task, workspaceSize, executor);
    const mock_view *whole = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *sizes = mock_build_ints(&b, splitSize, "splitSize");
    const mock_view *list = mock_build_list(&b, out, "out", MOCK_OUT);
    if (b.status == 0 && sizes->size != (uint64_t)list->span)
        mock_build_fail(&b, "splitSize has %llu entries, out %lld tensors", (unsigned long long)sizes->size,
            (long long)list->span);
    if (b.status == 0) plan_split(&b, whole, list, dim, sizes->values, 0);
    return mock_build_finish(&b);
}
