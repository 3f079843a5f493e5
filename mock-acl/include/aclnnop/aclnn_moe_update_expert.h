/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeUpdateExpert. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_UPDATE_EXPERT_H_
#define MOCK_ACLNNOP_ACLNN_MOE_UPDATE_EXPERT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeUpdateExpertGetWorkspaceSize(
    const aclTensor *expertIds, const aclTensor *eplbTable, const aclTensor *expertScalesOptional,
    const aclTensor *pruningThresholdOptional, const aclTensor *activeMaskOptional, int64_t localRankId,
    int64_t worldSize, int64_t balanceMode, aclTensor *balancedExpertIds, aclTensor *balancedActiveMask,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMoeUpdateExpert(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
