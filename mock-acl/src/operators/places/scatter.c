/* Operators that write along one dimension where an index tensor says: Scatter, ScatterValue, ScatterAdd,
 * ScatterUpdate, IndexAdd, IndexCopy, IndexFill and their forms (guide: aclnn, page of each).
 *
 * Own choice: all operands of one type; Fill takes negative indices from the end, as PyTorch does, the others
 * take none; values are converted to the type of self once. ScatterUpdate takes indices of 0 or 1 dimension,
 * whose offsets hold for one sequence of the first dimension each. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/loop.h"
#include "operators/places/places.h"

static int require_dim(mock_build *b, const mock_view *self, int64_t dim) {
    if (b->status == 0 && self->rank == 0) mock_build_fail(b, "self has no dimension");
    return b->status != 0 ? -1 : mock_require_dim(b, "dim", dim, self->rank);
}

/* The loop `dims` of as many dimensions as self has; dimension `at` is looked up in operand 1. */
static mock_places *plan_along(mock_build *b, mock_effect effect, int data, int at, const int64_t *dims) {
    const mock_view *self = &b->plan->views[0], *index = &b->plan->views[1];
    int64_t strides[MOCK_MAX_RANK];
    if (b->status != 0) return NULL;
    mock_places *p = mock_places_new(b, effect, data, self->rank, dims, 1, 0);
    if (p == NULL) return NULL;
    if (data != 0) p->self = 0;
    mock_places_strides(b, p, strides);
    mock_lookup *l = mock_places_lookup(p, 0, 1, strides[at], self->dims[at]);
    for (int d = 0; d < self->rank; d++) p->data_strides[d] = d == at ? 0 : strides[d];
    if (index->rank == self->rank)
        for (int d = 0; d < self->rank; d++) l->strides[d] = index->strides[d];
    return p;
}

static void read_from(const mock_build *b, mock_places *p, int other) {
    const mock_view *v = &b->plan->views[other];
    p->other = (int8_t)other;
    for (int d = 0; d < v->rank; d++) p->other_strides[d] = v->strides[d];
}

/* The result of operators that are not in place: type and shape of self. */
static void check_result(mock_build *b, int out) {
    if (b->status != 0 || out == 0) return;
    mock_require_type(b, &b->plan->views[out], "out", &b->plan->views[0]);
    mock_require_shape(b, &b->plan->views[out], "out", &b->plan->views[0], "the shape of self");
}

/* ---- Scatter ---- */

static void check_scatter(mock_build *b, int at, bool with_source) {
    const mock_view *self = &b->plan->views[0], *index = &b->plan->views[1], *src = &b->plan->views[2];
    if (index->rank != self->rank || (with_source && src->rank != self->rank))
        mock_build_fail(b, "self has %d dimensions, index %d%s", self->rank, index->rank,
            with_source ? " and src another number" : "");
    for (int d = 0; d < self->rank && b->status == 0; d++) {
        if (d != at && index->dims[d] > self->dims[d])
            mock_build_fail(b, "index is larger than self in dimension %d", d);
        if (with_source && index->dims[d] > src->dims[d])
            mock_build_fail(b, "index is larger than src in dimension %d", d);
    }
}

/* reduce: 0 writes, 1 adds, 2 multiplies (guide: aclnn, aclnnScatter). */
static void plan_scatter(mock_build *b, int64_t dim, int64_t reduce, const mock_scalar *value, int out) {
    if (b->status != 0) return;
    const mock_view *self = &b->plan->views[0], *index = &b->plan->views[1];
    const int at = require_dim(b, self, dim);
    const bool with_source = value == NULL;
    if (reduce < 0 || reduce > 2)
        mock_build_fail(b, "reduce is %lld; 0, 1 and 2 are supported", (long long)reduce);
    mock_require_index(b, index, "index");
    if (b->status == 0) check_scatter(b, at, with_source);
    if (b->status == 0 && with_source) mock_require_type(b, &b->plan->views[2], "src", self);
    check_result(b, out);
    mock_places *p = plan_along(b, (mock_effect)(MOCK_WRITE + reduce), out, at, index->dims);
    if (p != NULL && with_source) read_from(b, p, 2);
    mock_places_finish(b, p, value);
}

MOCK_OPERATOR(aclnnScatter, mock_places_run)
aclnnStatus aclnnScatterGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index,
    const aclTensor *src, int64_t reduce, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnScatterGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnScatter_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, src, "src", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_scatter(&b, dim, reduce, NULL, 3);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceScatter, mock_places_run)
aclnnStatus aclnnInplaceScatterGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index,
    const aclTensor *src, int64_t reduce, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceScatterGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceScatter_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, src, "src", MOCK_IN);
    plan_scatter(&b, dim, reduce, NULL, 0);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnScatterAdd, mock_places_run)
aclnnStatus aclnnScatterAddGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index,
    const aclTensor *src, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnScatterAddGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnScatterAdd_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, src, "src", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_scatter(&b, dim, 1, NULL, 3);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnScatterValue, mock_places_run)
aclnnStatus aclnnScatterValueGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index,
    const aclScalar *value, int64_t reduce, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnScatterValueGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnScatterValue_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_scatter(&b, dim, reduce, number, 2);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceScatterValue, mock_places_run)
aclnnStatus aclnnInplaceScatterValueGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index,
    const aclScalar *value, int64_t reduce, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceScatterValueGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceScatterValue_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    plan_scatter(&b, dim, reduce, number, 0);
    return mock_build_finish(&b);
}

static void plan_update(mock_build *b, int64_t axis) {
    if (b->status != 0) return;
    const mock_view *data = &b->plan->views[0], *indices = &b->plan->views[1], *updates = &b->plan->views[2];
    if (data->rank < 2) mock_build_fail(b, "data has %d dimensions, expected 2 or more", data->rank);
    const int at = b->status != 0 ? -1 : mock_require_dim(b, "axis", axis, data->rank);
    mock_require_index(b, indices, "indices");
    mock_require_type(b, updates, "updates", data);
    if (at == 0) mock_build_fail(b, "axis is the first dimension, whose sequences the indices belong to");
    if (indices->rank > 1) mock_build_fail(b, "indices has %d dimensions, at most 1 is supported",
        indices->rank);
    if (b->status == 0 && indices->rank == 1 && indices->dims[0] != data->dims[0])
        mock_build_fail(b, "indices has %lld offsets, data has %lld sequences", (long long)indices->dims[0],
            (long long)data->dims[0]);
    if (b->status != 0) return;
    mock_view expected = *data;
    if (updates->rank == data->rank) expected.dims[at] = updates->dims[at];
    mock_require_shape(b, updates, "updates", &expected, "data but along axis");
    if (b->status == 0 && updates->dims[at] > data->dims[at])
        mock_build_fail(b, "updates is longer than data along axis %d", at);
    mock_places *p = plan_along(b, MOCK_WRITE, 0, at, updates->dims);
    if (p == NULL) return;
    for (int d = 0; d < data->rank; d++) p->lookup[0].strides[d] = 0;
    if (indices->rank == 1) p->lookup[0].strides[0] = indices->strides[0];
    p->lookup[0].reserved = updates->dims[at] - 1;
    p->data_strides[at] = data->strides[at];
    read_from(b, p, 2);
}

MOCK_OPERATOR(aclnnInplaceScatterUpdate, mock_places_run)
aclnnStatus aclnnInplaceScatterUpdateGetWorkspaceSize(aclTensor *data, const aclTensor *indices,
    const aclTensor *updates, int64_t axis, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceScatterUpdateGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceScatterUpdate_task, workspaceSize, executor);
    mock_build_tensor(&b, data, "data", MOCK_INOUT);
    mock_build_tensor(&b, indices, "indices", MOCK_IN);
    mock_build_tensor(&b, updates, "updates", MOCK_IN);
    plan_update(&b, axis);
    return mock_build_finish(&b);
}

/* ---- whole slices ---- */

/* A loop over self with `count` slices of dimension `at`, chosen by the line that is operand 1. */
static mock_places *plan_slices(mock_build *b, mock_effect effect, int out, int at, int64_t count) {
    int64_t dims[MOCK_MAX_RANK];
    const mock_view *self = &b->plan->views[0];
    check_result(b, out);
    if (b->status != 0) return NULL;
    for (int d = 0; d < self->rank; d++) dims[d] = d == at ? count : self->dims[d];
    return plan_along(b, effect, out, at, dims);
}

static int64_t check_line(mock_build *b) {
    const mock_view *index = &b->plan->views[1];
    mock_require_index(b, index, "index");
    if (b->status == 0 && index->rank > 1)
        mock_build_fail(b, "index has %d dimensions, expected 1", index->rank);
    return index->rank == 0 ? 1 : index->dims[0];
}

static mock_places *plan_source(mock_build *b, mock_effect effect, int64_t dim, int out) {
    if (b->status != 0) return NULL;
    const mock_view *self = &b->plan->views[0], *index = &b->plan->views[1], *source = &b->plan->views[2];
    const int at = require_dim(b, self, dim);
    const int64_t count = check_line(b);
    mock_require_type(b, source, "source", self);
    if (b->status != 0) return NULL;
    mock_view expected = *self;
    expected.dims[at] = count;
    mock_require_shape(b, source, "source", &expected, "self with the size of index");
    mock_places *p = plan_slices(b, effect, out, at, count);
    if (p == NULL) return NULL;
    for (int d = 0; d < self->rank; d++) p->lookup[0].strides[d] = 0;
    if (index->rank == 1) p->lookup[0].strides[at] = index->strides[0];
    read_from(b, p, 2);
    return p;
}

MOCK_OPERATOR(aclnnIndexAdd, mock_places_run)
aclnnStatus aclnnIndexAddGetWorkspaceSize(const aclTensor *self, const int64_t dim, const aclTensor *index,
    const aclTensor *source, const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexAddGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIndexAdd_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, source, "source", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, alpha, "alpha");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_places *p = plan_source(&b, MOCK_ADD, dim, 3);
    if (p != NULL) {
        p->factor = mock_scalar_double(number);
        p->whole_factor = mock_scalar_int(number);
    }
    mock_places_finish(&b, p, NULL);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnIndexCopy, mock_places_run)
aclnnStatus aclnnIndexCopyGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index,
    const aclTensor *source, aclTensor *outRef, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexCopyGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIndexCopy_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, source, "source", MOCK_IN);
    mock_build_tensor(&b, outRef, "outRef", MOCK_OUT);
    plan_source(&b, MOCK_WRITE, dim, 3);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceIndexCopy, mock_places_run)
aclnnStatus aclnnInplaceIndexCopyGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index,
    const aclTensor *source, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceIndexCopyGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceIndexCopy_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, source, "source", MOCK_IN);
    plan_source(&b, MOCK_WRITE, dim, 0);
    return mock_build_finish(&b);
}

static void plan_fill(mock_build *b, int64_t dim, const mock_scalar *value, int out) {
    if (b->status != 0) return;
    const mock_view *self = &b->plan->views[0], *index = &b->plan->views[1];
    const int at = require_dim(b, self, dim);
    const int64_t count = check_line(b);
    mock_places *p = plan_slices(b, MOCK_WRITE, out, at, count);
    if (p == NULL) return;
    for (int d = 0; d < self->rank; d++) p->lookup[0].strides[d] = 0;
    if (index->rank == 1) p->lookup[0].strides[at] = index->strides[0];
    p->lookup[0].wraps = true;
    mock_places_finish(b, p, value);
}

MOCK_OPERATOR(aclnnIndexFill, mock_places_run)
aclnnStatus aclnnIndexFillGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index,
    const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexFillGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIndexFill_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_fill(&b, dim, number, 2);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceIndexFill, mock_places_run)
aclnnStatus aclnnInplaceIndexFillGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index,
    const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceIndexFillGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceIndexFill_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    plan_fill(&b, dim, number, 0);
    return mock_build_finish(&b);
}

/* The index is a host array, whose numbers are kept and looked at here. */
static void plan_fill_host(
    mock_build *b, int64_t dim, const mock_array *index, const mock_scalar *value, int out) {
    int64_t dims[MOCK_MAX_RANK], strides[MOCK_MAX_RANK];
    if (b->status != 0) return;
    const mock_view *self = &b->plan->views[0];
    const int at = require_dim(b, self, dim);
    check_result(b, out);
    for (uint64_t k = 0; k < index->size && b->status == 0; k++) {
        const int64_t i = ((const int64_t *)index->values)[k];
        if (i < -self->dims[at] || i >= self->dims[at])
            mock_build_fail(b, "index[%llu] is %lld, dimension %d has %lld", (unsigned long long)k,
            (long long)i, at,
                (long long)self->dims[at]);
    }
    if (b->status != 0) return;
    for (int d = 0; d < self->rank; d++) dims[d] = d == at ? (int64_t)index->size : self->dims[d];
    mock_places *p = mock_places_new(b, MOCK_WRITE, out, self->rank, dims, 1, index->size);
    if (p == NULL) return;
    if (out != 0) p->self = 0;
    mock_places_strides(b, p, strides);
    mock_lookup *l = mock_places_lookup(p, 0, -1, strides[at], self->dims[at]);
    for (int d = 0; d < self->rank; d++) p->data_strides[d] = d == at ? 0 : strides[d];
    l->strides[at] = 1;
    l->wraps = true;
    memcpy(&p->lookup[1], index->values, index->size * sizeof(int64_t));
    mock_places_finish(b, p, value);
}

MOCK_OPERATOR(aclnnIndexFillTensor, mock_places_run)
aclnnStatus aclnnIndexFillTensorGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclIntArray *index,
    const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexFillTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIndexFillTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, index, "index");
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    plan_fill_host(&b, dim, list, number, 1);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnInplaceIndexFillTensor, mock_places_run)
aclnnStatus aclnnInplaceIndexFillTensorGetWorkspaceSize(aclTensor *selfRef, int64_t dim,
    const aclIntArray *index, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplaceIndexFillTensorGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplaceIndexFillTensor_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    const mock_array *list = mock_build_ints(&b, index, "index");
    const mock_scalar *number = mock_build_scalar(&b, value, "value");
    plan_fill_host(&b, dim, list, number, 0);
    return mock_build_finish(&b);
}
