/* Paddings with elements of the tensor itself: ReflectionPad1d to 3d, ReplicationPad1d to 3d,
 * CircularPad2d and CircularPad3d (guide: aclnn, page of each).
 *
 * Pairs of numbers from the last dimension on. Reflections leave the end itself out, so they are shorter
 * than the dimension; replications repeat it; circles go on at the other end and are not longer than the
 * dimension. Negative numbers are refused (own choice). Elements move bit by bit, so out has the type of
 * self; no workspace. */
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef enum kind { REFLECTION, REPLICATION, CIRCLE } kind;

typedef struct pads {
    int8_t kind;
    int64_t before[MOCK_MAX_RANK];
} pads;

static int64_t source(int kind, int64_t i, int64_t n) {
    if (kind == CIRCLE) return (i + n) % n;
    if (kind == REPLICATION) return i < 0 ? 0 : i >= n ? n - 1 : i;
    return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const pads *p = MOCK_PARAMS((mock_plan *)arg, pads);
    const mock_view *x = &plan->views[0], *out = &plan->views[1];
    const size_t size = mock_dtype_size(x->dtype);
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0}, from[MOCK_MAX_RANK];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        for (int d = 0; d < x->rank; d++) from[d] = source(p->kind, i[d] - p->before[d], x->dims[d]);
        memcpy(mock_element_at(out, first[1], i), mock_element_at(x, first[0], from), size);
    } while (mock_next(out, i));
    return 0;
}

/* The longest padding of a dimension of n elements. */
static int64_t longest(int kind, int64_t n) {
    return kind == REFLECTION ? n - 1 : kind == CIRCLE ? n : n == 0 ? 0 : INT32_MAX;
}

static void read_pads(mock_build *b, pads *p, const mock_array *list, mock_view *expected) {
    for (int k = 0; k < (int)list->size / 2 && b->status == 0; k++) {
        const int d = expected->rank - 1 - k;
        const int64_t *pair = (const int64_t *)list->values + 2 * k, n = expected->dims[d];
        for (int side = 0; side < 2; side++) {
            if (pair[side] < 0 || (pair[side] > 0 && pair[side] > longest(p->kind, n)))
                mock_build_fail(b, "padding[%d] is %lld for a dimension of %lld elements", 2 * k + side,
                    (long long)pair[side], (long long)n);
        }
        p->before[d] = pair[0];
        expected->dims[d] = b->status != 0 ? 0 : n + pair[0] + pair[1];
    }
}

static aclnnStatus plan_pads(
    mock_build b, const aclTensor *self, const aclIntArray *padding, aclTensor *out, kind k, int dims) {
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, padding, "padding");
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    if (x->rank != dims + 1 && x->rank != dims + 2)
        mock_build_fail(&b, "self has %d dimensions, expected %d or %d", x->rank, dims + 1, dims + 2);
    if (list->size != 2 * (uint64_t)dims)
        mock_build_fail(&b, "padding has %llu numbers, expected %d", (unsigned long long)list->size,
            2 * dims);
    if (to->dtype != x->dtype)
        mock_build_fail(&b, "out has data type %s, self has %s", mock_dtype_name(to->dtype),
            mock_dtype_name(x->dtype));
    pads p = {.kind = (int8_t)k};
    mock_view expected = *x;
    if (b.status == 0) read_pads(&b, &p, list, &expected);
    mock_require_shape(&b, to, "out", &expected, "self with padding");
    *MOCK_PARAMS(b.plan, pads) = p;
    return mock_build_finish(&b);
}

#define PAD(NAME, KIND, DIMS)                                                                             \
    MOCK_OPERATOR(NAME, run)                                                                              \
    aclnnStatus NAME##GetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, \
        uint64_t *workspaceSize, aclOpExecutor **executor) {                                              \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                               \
        return plan_pads(mock_build_begin(&NAME##_task, workspaceSize, executor), self, padding, out,     \
            KIND, DIMS);                                                                                  \
    }
PAD(aclnnReflectionPad1d, REFLECTION, 1)
PAD(aclnnReflectionPad2d, REFLECTION, 2)
PAD(aclnnReflectionPad3d, REFLECTION, 3)
PAD(aclnnReplicationPad1d, REPLICATION, 1)
PAD(aclnnReplicationPad2d, REPLICATION, 2)
PAD(aclnnReplicationPad3d, REPLICATION, 3)
PAD(aclnnCircularPad2d, CIRCLE, 2)
PAD(aclnnCircularPad3d, CIRCLE, 3)
