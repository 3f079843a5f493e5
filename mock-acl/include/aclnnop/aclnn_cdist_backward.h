/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCdistBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_CDIST_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_CDIST_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCdistBackwardGetWorkspaceSize(
    const aclTensor *grad, const aclTensor *x1, const aclTensor *x2, const aclTensor *cdist, float p,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnCdistBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
