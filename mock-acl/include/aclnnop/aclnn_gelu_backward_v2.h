/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeluBackwardV2. */
#ifndef MOCK_ACLNNOP_ACLNN_GELU_BACKWARD_V2_H_
#define MOCK_ACLNNOP_ACLNN_GELU_BACKWARD_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeluBackwardV2GetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *self, char *approximate, aclTensor *gradInput,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGeluBackwardV2(
    void *workspace, uint64_t workspace_size, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
