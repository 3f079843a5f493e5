/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceLerp, aclnnLerp. */
#ifndef MOCK_ACLNNOP_ACLNN_LERP_TENSOR_H_
#define MOCK_ACLNNOP_ACLNN_LERP_TENSOR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceLerpGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *end, const aclTensor *weight, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceLerp(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnLerpGetWorkspaceSize(
    const aclTensor *self, const aclTensor *end, const aclTensor *weight, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLerp(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
