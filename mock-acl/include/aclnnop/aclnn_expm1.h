/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnExpm1, aclnnInplaceExpm1. */
#ifndef MOCK_ACLNNOP_ACLNN_EXPM1_H_
#define MOCK_ACLNNOP_ACLNN_EXPM1_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnExpm1GetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnExpm1(
    void *workspace, uint64_t workspace_size, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInplaceExpm1GetWorkspaceSize(
    aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceExpm1(
    void *workspace, uint64_t workspace_size, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
