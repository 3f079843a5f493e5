/* Operators that write where several indices together say: IndexPutImpl, InplacePut, ScatterNd and
 * ScatterNdUpdate (guide: aclnn, page of each).
 *
 * Own choice: values have the type of self; negative indices count from the end but in ScatterNd; the values
 * of IndexPutImpl broadcast to what the indices choose, and have any shape where that is nothing; `unsafe`
 * has no effect, an index out of range is a fault of the task. Indices of IndexPutImpl are those of Index. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"
#include "operators/places/indices.h"
#include "operators/places/loop.h"
#include "operators/places/places.h"

/* The numbers that are written: operand `other`, which broadcasts to the loop. */
static void finish_write(mock_build *b, mock_places *p, int other, const char *param) {
    const mock_view *v = &b->plan->views[other];
    mock_shape_text have, want;
    mock_view loop = {.rank = (uint8_t)p->rank}, common;
    for (int d = 0; d < p->rank; d++) loop.dims[d] = p->dims[d];
    mock_require_type(b, v, param, &b->plan->views[p->data]);
    if (b->status != 0) return;
    if (!mock_broadcast(&loop, v, &common) || !mock_same_shape(&common, &loop)) {
        mock_build_fail(b, "%s has shape %s, which does not broadcast to %s", param, mock_shape(v, &have),
            mock_shape(&loop, &want));
        return;
    }
    p->other = (int8_t)other;
    for (int d = 0; d < v->rank; d++)
        p->other_strides[p->rank - v->rank + d] = v->dims[d] == 1 ? 0 : v->strides[d];
    mock_places_finish(b, p, NULL);
}

/* No member of the list has an index. */
static void finish_nothing(mock_build *b, mock_places *p) {
    mock_require_type(b, &b->plan->views[2], "values", &b->plan->views[0]);
    mock_places_finish(b, p, NULL);
}

MOCK_OPERATOR(aclnnIndexPutImpl, mock_places_run)
aclnnStatus aclnnIndexPutImplGetWorkspaceSize(aclTensor *selfRef, const aclTensorList *indices,
    const aclTensor *values, const bool accumulate, const bool unsafe, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIndexPutImplGetWorkspaceSize);
    (void)unsafe;
    mock_build b = mock_build_begin(&aclnnIndexPutImpl_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_list(&b, indices, "indices", MOCK_IN);
    mock_build_tensor(&b, values, "values", MOCK_IN);
    mock_places *p = mock_plan_indices(&b, accumulate ? MOCK_ADD : MOCK_WRITE);
    if (p != NULL && p->lookups != 0) finish_write(&b, p, 2, "values");
    else if (p != NULL) finish_nothing(&b, p);
    return mock_build_finish(&b);
}

/* source has as many elements as index, in its shape or contiguous (own choice). */
static void plan_put(mock_build *b, bool accumulate) {
    mock_places *p = mock_plan_linear(b, accumulate ? MOCK_ADD : MOCK_WRITE);
    if (p == NULL) return;
    const mock_view *index = &b->plan->views[1], *source = &b->plan->views[2];
    const bool same = mock_same_shape(index, source);
    mock_require_type(b, source, "source", &b->plan->views[0]);
    if (mock_element_count(index) != mock_element_count(source))
        mock_build_fail(b, "source has %lld elements, index %lld", (long long)mock_element_count(source),
            (long long)mock_element_count(index));
    else if (!same && !mock_is_contiguous(source))
        mock_build_fail(b, "source has neither the shape of index nor is contiguous");
    p->other = 2;
    int64_t stride = 1;
    for (int d = p->rank; d-- > 0; stride *= p->dims[d])
        p->other_strides[d] = same ? source->strides[d] : stride;
    mock_places_finish(b, p, NULL);
}

MOCK_OPERATOR(aclnnInplacePut, mock_places_run)
aclnnStatus aclnnInplacePutGetWorkspaceSize(aclTensor *selfRef, const aclTensor *index,
const aclTensor *source,
    bool accumulate, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnInplacePutGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnInplacePut_task, workspaceSize, executor);
    mock_build_tensor(&b, selfRef, "selfRef", MOCK_INOUT);
    mock_build_tensor(&b, index, "index", MOCK_IN);
    mock_build_tensor(&b, source, "source", MOCK_IN);
    plan_put(&b, accumulate);
    return mock_build_finish(&b);
}

static void plan_nd(mock_build *b, int out) {
    mock_places *p = mock_plan_nd(b, MOCK_WRITE, out, 1, false);
    if (p == NULL) return;
    const mock_view *updates = &b->plan->views[2];
    mock_view expected = {.rank = (uint8_t)p->rank};
    for (int d = 0; d < p->rank; d++) expected.dims[d] = p->dims[d];
    mock_require_shape(b, updates, "updates", &expected, "indices with the rest of the data");
    if (out != 0) p->self = 0;
    if (b->status == 0) finish_write(b, p, 2, "updates");
}

MOCK_OPERATOR(aclnnScatterNd, mock_places_run)
aclnnStatus aclnnScatterNdGetWorkspaceSize(const aclTensor *data, const aclTensor *indices,
    const aclTensor *updates, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnScatterNdGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnScatterNd_task, workspaceSize, executor);
    const mock_view *from = mock_build_tensor(&b, data, "data", MOCK_IN);
    mock_build_tensor(&b, indices, "indices", MOCK_IN);
    mock_build_tensor(&b, updates, "updates", MOCK_IN);
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) {
        mock_require_type(&b, to, "out", from);
        mock_require_shape(&b, to, "out", from, "the shape of data");
    }
    plan_nd(&b, 3);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnScatterNdUpdate, mock_places_run)
aclnnStatus aclnnScatterNdUpdateGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices,
    const aclTensor *updates, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnScatterNdUpdateGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnScatterNdUpdate_task, workspaceSize, executor);
    mock_build_tensor(&b, varRef, "varRef", MOCK_INOUT);
    mock_build_tensor(&b, indices, "indices", MOCK_IN);
    mock_build_tensor(&b, updates, "updates", MOCK_IN);
    plan_nd(&b, 0);
    return mock_build_finish(&b);
}
