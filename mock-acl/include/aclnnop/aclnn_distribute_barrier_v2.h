/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDistributeBarrierV2. */
#ifndef MOCK_ACLNNOP_ACLNN_DISTRIBUTE_BARRIER_V2_H_
#define MOCK_ACLNNOP_ACLNN_DISTRIBUTE_BARRIER_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDistributeBarrierV2GetWorkspaceSize(
    const aclTensor *xRef, const aclTensor *timeOut, const aclTensor *elasticInfo, const char *group,
    int64_t worldSize, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDistributeBarrierV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
