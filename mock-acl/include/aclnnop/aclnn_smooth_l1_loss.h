/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSmoothL1Loss. */
#ifndef MOCK_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_
#define MOCK_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(
    const aclTensor *self, const aclTensor *target, int64_t reduction, float beta, aclTensor *result,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSmoothL1Loss(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
