/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeGluBackward, aclnnGeGluV3Backward. */
#ifndef MOCK_ACLNNOP_ACLNN_GEGLU_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_GEGLU_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeGluBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gelu, int64_t dim,
    int64_t approximate, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGeGluBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnGeGluV3BackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gelu, int64_t dim,
    int64_t approximate, bool activateLeft, aclTensor *gradInput, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGeGluV3Backward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
