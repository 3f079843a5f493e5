/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAddRelu, aclnnInplaceAddRelu. */
#ifndef MOCK_ACLNNOP_ACLNN_ADD_RELU_H_
#define MOCK_ACLNNOP_ACLNN_ADD_RELU_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAddReluGetWorkspaceSize(
    const aclTensor *self, const aclTensor *other, aclScalar *alpha, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAddRelu(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceAddReluGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *other, aclScalar *alpha, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceAddRelu(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
