/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeDistributeDispatch. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_DISTRIBUTE_DISPATCH_H_
#define MOCK_ACLNNOP_ACLNN_MOE_DISTRIBUTE_DISPATCH_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeDistributeDispatchGetWorkspaceSize(
    const aclTensor *x, const aclTensor *expertIds, const aclTensor *scales, const aclTensor *xActiveMask,
    const aclTensor *expertScales, const char *groupEp, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId,
    int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
    int64_t globalBs, int64_t expertTokenNumsType, aclTensor *expandX, aclTensor *dynamicScales,
    aclTensor *expandIdx, aclTensor *expertTokenNums, aclTensor *epRecvCounts, aclTensor *tpRecvCounts,
    aclTensor *expandScales, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMoeDistributeDispatch(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
