/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeluBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_GELU_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_GELU_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeluBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGeluBackward(
    void *workspace, uint64_t workspace_size, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
