/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnChannelShuffle. */
#ifndef MOCK_ACLNNOP_ACLNN_CHANNEL_SHUFFLE_H_
#define MOCK_ACLNNOP_ACLNN_CHANNEL_SHUFFLE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnChannelShuffleGetWorkspaceSize(
    const aclTensor *self, int64_t groups, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnChannelShuffle(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
