/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceReciprocal, aclnnReciprocal. */
#ifndef MOCK_ACLNNOP_ACLNN_RECIPROCAL_H_
#define MOCK_ACLNNOP_ACLNN_RECIPROCAL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceReciprocalGetWorkspaceSize(
    const aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceReciprocal(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnReciprocalGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnReciprocal(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
