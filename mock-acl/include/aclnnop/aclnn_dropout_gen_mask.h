/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDropoutGenMask, aclnnDropoutGenMaskV2, aclnnDropoutGenMaskV2Tensor. */
#ifndef MOCK_ACLNNOP_ACLNN_DROPOUT_GEN_MASK_H_
#define MOCK_ACLNNOP_ACLNN_DROPOUT_GEN_MASK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDropoutGenMaskGetWorkspaceSize(
    const aclIntArray *shape, double prob, int64_t seed, int64_t offset, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDropoutGenMask(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnDropoutGenMaskV2GetWorkspaceSize(
    const aclIntArray *shape, double prob, int64_t seed, int64_t offset, aclDataType probDataType,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDropoutGenMaskV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnDropoutGenMaskV2TensorGetWorkspaceSize(
    const aclIntArray *shape, double prob, const aclTensor *seedTensor, const aclTensor *offsetTensor,
    int64_t offset, aclDataType probDataType, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnDropoutGenMaskV2Tensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
