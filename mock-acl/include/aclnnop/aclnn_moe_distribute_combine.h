/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeDistributeCombine. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_DISTRIBUTE_COMBINE_H_
#define MOCK_ACLNNOP_ACLNN_MOE_DISTRIBUTE_COMBINE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeDistributeCombineGetWorkspaceSize(
    const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *expandIdx,
    const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *tpSendCounts,
    const aclTensor *xActiveMask, const aclTensor *activationScale, const aclTensor *weightScale,
    const aclTensor *groupList, const aclTensor *expandScales, const char *groupEp, int64_t epWorldSize,
    int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
    int64_t outDtype, int64_t commQuantMode, int64_t groupListType, aclTensor *x, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMoeDistributeCombine(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
