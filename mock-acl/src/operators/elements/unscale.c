/* ForeachNonFiniteCheckAndUnscale (guide: aclnn, its page): every gradient is multiplied by invScale where it
 * is, and foundInf becomes 1 when one was infinite or NaN before; else it stays. f32, f16 and bf16, computed in
 * f32, rounded once. foundInf and invScale are one f32 each, read and written by the task. No workspace. */
#include <math.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/operators.h"

#define CHUNK 512

static bool scale_row(int32_t dtype, const mock_walk *w, float factor) {
    float buffer[CHUNK], scaled[CHUNK];
    bool finite = true;
    for (size_t at = 0; at < w->n; at += CHUNK) {
        const size_t n = w->n - at < CHUNK ? w->n - at : CHUNK;
        char *row = w->row[0] + (int64_t)at * w->step[0] * (int64_t)w->size[0];
        const float *values = mock_load_f32(dtype, row, w->step[0], n, buffer);
        for (size_t i = 0; i < n; i++) {
            finite &= isfinite(values[i]) != 0;
            scaled[i] = values[i] * factor;
        }
        mock_store(MOCK_F32, dtype, row, w->step[0], n, scaled);
    }
    return finite;
}

static aclError run_unscale(void *arg) {
    const mock_plan *plan = arg;
    const mock_view *list = &plan->views[0];
    float *found = mock_plan_pointer(plan, 1);
    const float *factor = mock_plan_pointer(plan, 2);
    bool finite = true;
    if (found == NULL || factor == NULL) return MOCK_DEVICE_FAULT;
    for (int64_t i = 0; i < list->span; i++) {
        const mock_view *v = mock_members(plan, list) + i;
        void *first = mock_view_pointer(v);
        mock_walk w;
        if (first == NULL) return MOCK_DEVICE_FAULT;
        mock_walk_begin(&w, v->rank, v->dims);
        mock_walk_add(&w, v, first);
        for (bool more = mock_walk_first(&w); more; more = mock_walk_next(&w))
            finite &= scale_row(v->dtype, &w, *factor);
    }
    if (!finite) *found = 1;
    return 0;
}

MOCK_OPERATOR(aclnnForeachNonFiniteCheckAndUnscale, run_unscale)

static void require_one(mock_build *b, const mock_view *v, const char *param) {
    if (b->status != 0) return;
    if (v->dtype != ACL_FLOAT)
        mock_build_fail(b, "%s has data type %s, expected FLOAT", param, mock_dtype_name(v->dtype));
    else if (mock_element_count(v) != 1)
        mock_build_fail(b, "%s has %lld elements, expected 1", param, (long long)mock_element_count(v));
}

aclnnStatus aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize(const aclTensorList *scaledGrads,
    const aclTensor *foundInf, const aclTensor *invScale, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnForeachNonFiniteCheckAndUnscale_task, workspaceSize, executor);
    const mock_view *list = mock_build_list(&b, scaledGrads, "scaledGrads", MOCK_INOUT);
    require_one(&b, mock_build_tensor(&b, foundInf, "foundInf", MOCK_INOUT), "foundInf");
    require_one(&b, mock_build_tensor(&b, invScale, "invScale", MOCK_IN), "invScale");
    for (int64_t i = 0; b.status == 0 && i < list->span; i++) {
        const int32_t dtype = mock_members(b.plan, list)[i].dtype;
        if (!mock_dtype_is_float(dtype))
            mock_build_fail(&b, "scaledGrads has data type %s; FLOAT, FLOAT16 and BFLOAT16 are supported",
                mock_dtype_name(dtype));
    }
    return mock_build_finish(&b);
}
