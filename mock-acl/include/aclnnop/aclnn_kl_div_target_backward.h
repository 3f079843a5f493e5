/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnKlDivTargetBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnKlDivTargetBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction,
    bool logTarget, aclTensor *gradTarget, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnKlDivTargetBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
