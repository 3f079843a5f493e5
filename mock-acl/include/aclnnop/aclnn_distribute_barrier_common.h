/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInnerDistributeBarrier. */
#ifndef MOCK_ACLNNOP_ACLNN_DISTRIBUTE_BARRIER_COMMON_H_
#define MOCK_ACLNNOP_ACLNN_DISTRIBUTE_BARRIER_COMMON_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInnerDistributeBarrierGetWorkspaceSize(
    const aclTensor *xRef, const aclTensor *timeOut, const aclTensor *elasticInfo, const char *group,
    int64_t worldSize, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInnerDistributeBarrier(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
