/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceUniform, aclnnInplaceUniformTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_UNIFORM_H_
#define MOCK_ACLNNOP_ACLNN_UNIFORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceUniformGetWorkspaceSize(
    const aclTensor *selfRef, double from, double to, uint64_t seed, uint64_t offset,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceUniform(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInplaceUniformTensorGetWorkspaceSize(
    const aclTensor *selfRef, double from, double to, const aclTensor *seedTensor,
    const aclTensor *offsetTensor, uint64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceUniformTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
