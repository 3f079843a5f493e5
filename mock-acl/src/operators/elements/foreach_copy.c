/* ForeachCopy, which converts as Cast does, and ForeachZeroInplace (guide: aclnn, page of each). */
#include <stdio.h>

#include "base/base.h"
#include "objects/objects.h"
#include "operators/moves/moves.h"
#include "operators/operators.h"

static aclError run_copy(void *arg) {
    const mock_plan *plan = arg;
    for (int64_t i = 0; i < plan->views[0].span; i++) {
        const mock_view *from = mock_members(plan, &plan->views[0]) + i;
        const mock_view *to = mock_members(plan, &plan->views[1]) + i;
        void *source = mock_view_pointer(from), *target = mock_view_pointer(to);
        if (source == NULL || target == NULL) return MOCK_DEVICE_FAULT;
        mock_copy_view(to, target, from, source);
    }
    return 0;
}

MOCK_OPERATOR(aclnnForeachCopy, run_copy)
aclnnStatus aclnnForeachCopyGetWorkspaceSize(
    const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnForeachCopyGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnForeachCopy_task, workspaceSize, executor);
    const mock_view *from = mock_build_list(&b, x, "x", MOCK_IN), *to = mock_build_list(&b, out, "out",
        MOCK_OUT);
    if (b.status == 0 && from->span != to->span)
        mock_build_fail(&b, "out has %lld tensors, x has %lld", (long long)to->span, (long long)from->span);
    for (int64_t i = 0; b.status == 0 && i < to->span; i++) {
        char name[32];
        snprintf(name, sizeof name, "out[%lld]", (long long)i);
        mock_require_shape(&b, mock_members(b.plan, to) + i, name, mock_members(b.plan, from) + i,
            "the shape of its tensor");
    }
    return mock_build_finish(&b);
}

static aclError run_zero(void *arg) {
    const mock_plan *plan = arg;
    for (int64_t i = 0; i < plan->views[0].span; i++) {
        int64_t zero = 0;
        const mock_view *to = mock_members(plan, &plan->views[0]) + i, one = {.dtype = to->dtype};
        void *target = mock_view_pointer(to);
        if (target == NULL) return MOCK_DEVICE_FAULT;
        mock_copy_view(to, target, &one, &zero);
    }
    return 0;
}

MOCK_OPERATOR(aclnnForeachZeroInplace, run_zero)
aclnnStatus aclnnForeachZeroInplaceGetWorkspaceSize(
    const aclTensorList *x, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnForeachZeroInplaceGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnForeachZeroInplace_task, workspaceSize, executor);
    mock_build_list(&b, x, "x", MOCK_OUT);
    return mock_build_finish(&b);
}
