/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLogSigmoid, aclnnLogSigmoidForward. */
#ifndef MOCK_ACLNNOP_ACLNN_LOGSIGMOID_H_
#define MOCK_ACLNNOP_ACLNN_LOGSIGMOID_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLogSigmoidGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLogSigmoid(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnLogSigmoidForwardGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, aclTensor *buffer, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLogSigmoidForward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
