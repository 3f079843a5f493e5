/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnReplicationPad2d. */
#ifndef MOCK_ACLNNOP_ACLNN_REPLICATION_PAD2D_H_
#define MOCK_ACLNNOP_ACLNN_REPLICATION_PAD2D_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnReplicationPad2dGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnReplicationPad2d(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
