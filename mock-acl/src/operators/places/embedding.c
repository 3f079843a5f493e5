/* Embedding: rows of a table, chosen by an index tensor of s32 or s64 (guide: aclnn, aclnnEmbedding).
 * Rows are moved bit by bit; no workspace. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

/* The order of the operands. */
enum { WEIGHT, INDICES, OUT };

static int64_t index_at(int32_t dtype, const char *at) {
    if (dtype == ACL_INT32) return *(const int32_t *)(const void *)at;
    return *(const int64_t *)(const void *)at;
}

static void copy_row(char *to, const char *from, const mock_view *out, const mock_view *weight, size_t size) {
    const int64_t n = weight->dims[1];
    const int64_t step_out = out->strides[out->rank - 1], step_in = weight->strides[1];
    if (step_out == 1 && step_in == 1) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(to + i * step_out * (int64_t)size, from + i * step_in * (int64_t)size, size);
    }
}

/* An index outside the table fails the task, as an address fault does: 507015; rows before it are
 * written, and negative ones do not count from the end (own choice). */
static aclError run_embedding(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *weight = &plan->views[WEIGHT], *indices = &plan->views[INDICES];
    const mock_view *out = &plan->views[OUT];
    const char *table = mock_plan_pointer(plan, WEIGHT);
    void *list = mock_plan_pointer(plan, INDICES), *target = mock_plan_pointer(plan, OUT);
    const size_t size = mock_dtype_size(weight->dtype);
    mock_view rows = *out;
    mock_walk w;
    if (table == NULL || list == NULL || target == NULL) return MOCK_DEVICE_FAULT;
    rows.rank = indices->rank;
    mock_walk_begin(&w, rows.rank, rows.dims);
    mock_walk_add(&w, &rows, target);
    mock_walk_add(&w, indices, list);
    for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w)) {
        for (size_t i = 0; i < w.n; i++) {
            const char *at = w.row[1] + (int64_t)i * w.step[1] * (int64_t)w.size[1];
            const int64_t row = index_at(indices->dtype, at);
            if (row < 0 || row >= weight->dims[0]) return MOCK_DEVICE_FAULT;
            char *to = w.row[0] + (int64_t)i * w.step[0] * (int64_t)size;
            copy_row(to, table + row * weight->strides[0] * (int64_t)size, out, weight, size);
        }
    }
    return 0;
}

MOCK_OPERATOR(aclnnEmbedding, run_embedding)

static void check(mock_build *b, const mock_view *weight, const mock_view *indices, const mock_view *out) {
    mock_shape_text text;
    mock_view expected = *indices;
    if (weight->rank != 2) {
        mock_build_fail(b, "weight has shape %s, expected 2 dimensions", mock_shape(weight, &text));
        return;
    }
    if (indices->dtype != ACL_INT32 && indices->dtype != ACL_INT64) {
        mock_build_fail(b, "indices has data type %s, expected INT32 or INT64",
            mock_dtype_name(indices->dtype));
    }
    if (indices->rank >= MOCK_MAX_RANK) {
        mock_build_fail(b, "indices has %d dimensions, at most 7 fit", indices->rank);
    }
    if (out->dtype != weight->dtype) {
        mock_build_fail(b, "out has data type %s, weight has %s", mock_dtype_name(out->dtype),
            mock_dtype_name(weight->dtype));
    }
    if (b->status != 0) return;
    expected.dims[expected.rank++] = weight->dims[1];
    mock_require_shape(b, out, "out", &expected, "the shape of indices and a row of weight");
}

aclnnStatus aclnnEmbeddingGetWorkspaceSize(
    const aclTensor *weight, const aclTensor *indices, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnEmbeddingGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnEmbedding_task, workspaceSize, executor);
    const mock_view *table = mock_build_tensor(&b, weight, "weight", MOCK_IN);
    const mock_view *list = mock_build_tensor(&b, indices, "indices", MOCK_IN);
    const mock_view *rows = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status == 0) check(&b, table, list, rows);
    return mock_build_finish(&b);
}
