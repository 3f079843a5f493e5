/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnPdistForward. */
#ifndef MOCK_ACLNNOP_ACLNN_PDIST_FORWARD_H_
#define MOCK_ACLNNOP_ACLNN_PDIST_FORWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnPdistForwardGetWorkspaceSize(
    const aclTensor *self, const aclScalar *pScalar, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnPdistForward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
