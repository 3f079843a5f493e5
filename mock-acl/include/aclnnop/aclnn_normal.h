/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceNormal, aclnnInplaceNormalTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_NORMAL_H_
#define MOCK_ACLNNOP_ACLNN_NORMAL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceNormalGetWorkspaceSize(
    const aclTensor *selfRef, float mean, float std, int64_t seed, int64_t offset, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceNormal(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceNormalTensorGetWorkspaceSize(
    const aclTensor *selfRef, float mean, float std, const aclTensor *seedTensor,
    const aclTensor *offsetTensor, int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceNormalTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
