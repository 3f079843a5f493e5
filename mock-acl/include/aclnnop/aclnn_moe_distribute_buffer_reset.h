/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeDistributeBufferReset. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_DISTRIBUTE_BUFFER_RESET_H_
#define MOCK_ACLNNOP_ACLNN_MOE_DISTRIBUTE_BUFFER_RESET_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeDistributeBufferResetGetWorkspaceSize(
    const aclTensor *elasticInfo, const char *groupEp, int64_t epWorldSize, int64_t needSync,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMoeDistributeBufferReset(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
