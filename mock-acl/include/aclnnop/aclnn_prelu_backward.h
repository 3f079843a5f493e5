/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnPreluBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_PRELU_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_PRELU_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnPreluBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *weight, aclTensor *gradInput,
    aclTensor *gradWeight, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnPreluBackward(
    void *workspace, uint64_t workspace_size, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
