/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLogitGrad. */
#ifndef MOCK_ACLNNOP_ACLNN_LOGIT_GRAD_H_
#define MOCK_ACLNNOP_ACLNN_LOGIT_GRAD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLogitGradGetWorkspaceSize(
    const aclTensor *x, const aclTensor *dy, double eps, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLogitGrad(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
