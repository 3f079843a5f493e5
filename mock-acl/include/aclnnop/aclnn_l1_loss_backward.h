/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnL1LossBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_L1_LOSS_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_L1_LOSS_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnL1LossBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction,
    aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnL1LossBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
