/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDropoutBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_DROPOUT_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_DROPOUT_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDropoutBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *mask, double scale, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDropoutBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
