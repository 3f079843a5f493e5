/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDropoutV3Grad. */
#ifndef MOCK_ACLNNOP_ACLNN_DROPOUT_V3_GRAD_H_
#define MOCK_ACLNNOP_ACLNN_DROPOUT_V3_GRAD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDropoutV3GradGetWorkspaceSize(
    const aclTensor *gradY, const aclTensor *mask, double scale, aclTensor *gradX, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnDropoutV3Grad(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
