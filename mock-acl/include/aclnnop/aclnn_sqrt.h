/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSqrt, aclnnInplaceSqrt. */
#ifndef MOCK_ACLNNOP_ACLNN_SQRT_H_
#define MOCK_ACLNNOP_ACLNN_SQRT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSqrtGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **opExecutor);

aclnnStatus aclnnSqrt(void *workspace, uint64_t workspaceSize, aclOpExecutor *opExecutor, aclrtStream stream);

aclnnStatus aclnnInplaceSqrtGetWorkspaceSize(
    aclTensor *self, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceSqrt(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
