/* UpsampleNearest1d to 3d, their forms with scales, and UpsampleNearestExact1d to 3d (guide: aclnn, page
 * of each).
 *
 * Own choice, as PyTorch does: element i of a dimension comes from place i / scale of self, for the exact
 * forms from (i + 0.5) / scale, rounded down and kept inside; computed in f32. A scale that is not
 * positive stands for the quotient of the sizes. Elements move bit by bit, so out has the type of self; no
 * workspace. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

typedef struct upsample {
    float step[3]; /* of self for one of out */
    bool exact;
} upsample;

static int64_t source(const upsample *u, int k, int64_t i, int64_t n) {
    const float at = floorf(((float)i + (u->exact ? 0.5f : 0.0f)) * u->step[k]);
    return at < (float)(n - 1) ? (int64_t)at : n - 1;
}

static aclError run(void *arg) {
    const mock_plan *plan = arg;
    const upsample *u = MOCK_PARAMS((mock_plan *)arg, upsample);
    const mock_view *x = &plan->views[0], *out = &plan->views[1];
    const size_t size = mock_dtype_size(x->dtype);
    char *first[MOCK_MAX_OPERANDS];
    int64_t i[MOCK_MAX_RANK] = {0}, from[MOCK_MAX_RANK];
    if (!mock_plan_pointers(plan, first)) return MOCK_DEVICE_FAULT;
    if (mock_element_count(out) == 0) return 0;
    do {
        for (int d = 0; d < x->rank; d++) from[d] = d < 2 ? i[d] : source(u, d - 2, i[d], x->dims[d]);
        memcpy(mock_element_at(out, first[1], i), mock_element_at(x, first[0], from), size);
    } while (mock_next(out, i));
    return 0;
}

static aclnnStatus plan_upsample(mock_build b, const aclTensor *self, const aclIntArray *outputSize,
    aclTensor *out, int dims, const double *scales, bool exact) {
    const mock_view *x = mock_build_tensor(&b, self, "self", MOCK_IN);
    const mock_array *list = mock_build_ints(&b, outputSize, "outputSize");
    const mock_view *to = mock_build_tensor(&b, out, "out", MOCK_OUT);
    if (b.status != 0) return mock_build_finish(&b);
    if (x->rank != dims + 2) mock_build_fail(&b, "self has %d dimensions, expected %d", x->rank, dims + 2);
    if (list->size != (uint64_t)dims)
        mock_build_fail(&b, "outputSize has %llu numbers, expected %d", (unsigned long long)list->size, dims);
    if (to->dtype != x->dtype)
        mock_build_fail(&b, "out has data type %s, self has %s", mock_dtype_name(to->dtype),
            mock_dtype_name(x->dtype));
    upsample u = {.exact = exact};
    mock_view expected = *x;
    for (int k = 0; k < dims && b.status == 0; k++) {
        const int64_t size = ((const int64_t *)list->values)[k], have = x->dims[2 + k];
        if (size <= 0 || have == 0)
            mock_build_fail(&b, "outputSize[%d] is %lld for %lld elements", k, (long long)size,
                (long long)have);
        expected.dims[2 + k] = size;
        u.step[k] = scales[k] > 0 ? (float)(1 / scales[k]) : (float)have / (float)size;
    }
    mock_require_shape(&b, to, "out", &expected, "self with outputSize");
    *MOCK_PARAMS(b.plan, upsample) = u;
    return mock_build_finish(&b);
}

#define PHASE uint64_t *workspaceSize, aclOpExecutor **executor
#define UPSAMPLE(NAME, PARAMS, DIMS, EXACT, ...)                                                          \
    MOCK_OPERATOR(NAME, run)                                                                              \
    aclnnStatus NAME##GetWorkspaceSize PARAMS {                                                           \
        MOCK_ENTER(NAME##GetWorkspaceSize);                                                               \
        const double scales[] = {__VA_ARGS__};                                                            \
        return plan_upsample(mock_build_begin(&NAME##_task, workspaceSize, executor), self, outputSize,   \
            out, DIMS, scales, EXACT);                                                                    \
    }
#define SIZED const aclTensor *self, const aclIntArray *outputSize
UPSAMPLE(aclnnUpsampleNearest1d, (SIZED, aclTensor *out, PHASE), 1, false, 0)
UPSAMPLE(aclnnUpsampleNearest2d, (SIZED, aclTensor *out, PHASE), 2, false, 0, 0)
UPSAMPLE(aclnnUpsampleNearest1dV2, (SIZED, float scaleL, aclTensor *out, PHASE), 1, false, (double)scaleL)
UPSAMPLE(aclnnUpsampleNearest2dV2, (SIZED, float scalesH, float scalesW, aclTensor *out, PHASE), 2, false,
    (double)scalesH, (double)scalesW)
UPSAMPLE(aclnnUpsampleNearest3d,
    (SIZED, double scalesD, double scalesH, double scalesW, aclTensor *out, PHASE), 3, false,
    scalesD, scalesH, scalesW)
UPSAMPLE(aclnnUpsampleNearestExact1d, (SIZED, double scaleL, aclTensor *out, PHASE), 1, true, scaleL)
UPSAMPLE(aclnnUpsampleNearestExact2d, (SIZED, double scalesH, double scalesW, aclTensor *out, PHASE), 2, true,
    scalesH, scalesW)
UPSAMPLE(aclnnUpsampleNearestExact3d,
    (SIZED, double scalesD, double scalesH, double scalesW, aclTensor *out, PHASE), 3, true,
    scalesD, scalesH, scalesW)
