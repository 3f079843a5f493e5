/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnReplicationPad3dBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_REPLICATION_PAD3D_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_REPLICATION_PAD3D_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnReplicationPad3dBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnReplicationPad3dBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
