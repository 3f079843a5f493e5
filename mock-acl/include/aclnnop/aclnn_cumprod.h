/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCumprod, aclnnInplaceCumprod. */
#ifndef MOCK_ACLNNOP_ACLNN_CUMPROD_H_
#define MOCK_ACLNNOP_ACLNN_CUMPROD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCumprodGetWorkspaceSize(
    const aclTensor *input, const aclScalar *dim, const aclDataType dtype, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnCumprod(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceCumprodGetWorkspaceSize(
    aclTensor *input, const aclScalar *dim, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceCumprod(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
