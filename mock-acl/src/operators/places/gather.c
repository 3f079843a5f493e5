/* Operators that read chosen elements: GatherV2, GatherNd, Take and Index (guide: aclnn, page of each).
 *
 * Elements move bit by bit, so out has the type of self; no workspace. Negative indices count from the end in
 * GatherV2 (implementation of the open operators), Take and Index, as PyTorch has them, and in GatherNd when it is
 * asked for. Index takes integers only (own choice). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/indices.h"
#include "operators/places/loop.h"
#include "operators/places/places.h"

/* out with the type of self and the shape of the loop. */
static void finish_read(mock_build *b, mock_places *p, int out, const char *because) {
    const mock_view *v = &b->plan->views[out];
    mock_view expected = {.rank = (uint8_t)p->rank};
    for (int d = 0; d < p->rank; d++) expected.dims[d] = p->dims[d];
    mock_require_type(b, v, "out", &b->plan->views[p->data]);
    mock_require_shape(b, v, "out", &expected, because);
    if (b->status != 0) return;
    p->other = (int8_t)out;
    for (int d = 0; d < p->rank; d++) p->other_strides[d] = v->strides[d];
}

MOCK_OPERATOR(aclnnGatherV2, mock_places_run)
static void plan_gather(mock_build *b, const mock_view *self, int64_t dim, const mock_view *index) {
    int64_t dims[2 * MOCK_MAX_RANK];
    if (self->rank == 0) mock_build_fail(b, "self has no dimension");
    mock_require_index(b, index, "index");
    const int at = b->status != 0 ? -1 : mock_require_dim(b, "dim", dim, self->rank);
    if (b->status != 0) return;
    const int rank = self->rank - 1 + index->rank;
    for (int d = 0; d < rank; d++) {
        if (d < at) dims[d] = self->dims[d];
        else dims[d] = d < at + index->rank ? index->dims[d - at] : self->dims[d - index->rank + 1];
    }
    mock_places *p = mock_places_new(b, MOCK_READ, 0, rank, dims, 1, 0);
    if (p == NULL) return;
    mock_lookup *l = mock_places_lookup(p, 0, 1, self->strides[at], self->dims[at]);
    l->wraps = true;
    for (int d = 0; d < rank; d++) {
        const bool chosen = d >= at && d < at + index->rank;
        if (chosen) l->strides[d] = index->strides[d - at];
        else p->data_strides[d] = self->strides[d < at ? d : d - index->rank + 1];
    }
    finish_read(b, p, 2, "self with index in place of dim");
}
aclnnStatus aclnnGatherV2GetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGatherV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGatherV2_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_view *list = mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) plan_gather(&b, x, dim, list);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnGatherNd, mock_places_run)
aclnnStatus aclnnGatherNdGetWorkspaceSize(const aclTensor *self, const aclTensor *indices,
    bool negativeIndexSupport, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnGatherNdGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnGatherNd_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, indices, "indices", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_places *p = mock_plan_nd(&b, MOCK_READ, 0, 1, negativeIndexSupport);
    if (p != NULL) finish_read(&b, p, 2, "indices with the rest of self");
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnTake, mock_places_run)
aclnnStatus aclnnTakeGetWorkspaceSize(const aclTensor *self, const aclTensor *index, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnTakeGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnTake_task, workspaceSize, executor);
    mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, out, "out", MOCK_OUT);
    mock_places *p = mock_plan_linear(&b, MOCK_READ);
    if (p != NULL) finish_read(&b, p, 2, "the shape of index");
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnIndex, mock_places_run)
aclnnStatus aclnnIndexGetWorkspaceSize(const aclTensor *self, const aclTensorList *indices, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIndex_task, workspaceSize, executor);
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    mock_build_list(&b, indices, "indices", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    const bool nothing = b.status == 0 && mock_element_count(to) == 0 && mock_some_are_whole(b.plan);
    if (nothing) mock_require_type(&b, to, "out", x);
    mock_places *p = nothing ? mock_plan_nothing(&b, MOCK_READ) : mock_plan_indices(&b, MOCK_READ);
    if (!nothing && p != NULL) finish_read(&b, p, 2, "what the indices choose");
    return mock_build_finish(&b);
}
