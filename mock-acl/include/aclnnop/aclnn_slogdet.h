/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSlogdet. */
#ifndef MOCK_ACLNNOP_ACLNN_SLOGDET_H_
#define MOCK_ACLNNOP_ACLNN_SLOGDET_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSlogdetGetWorkspaceSize(
    const aclTensor *self, aclTensor *signOut, aclTensor *logOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnSlogdet(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
