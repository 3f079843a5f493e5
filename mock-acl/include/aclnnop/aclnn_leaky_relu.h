/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceLeakyRelu, aclnnLeakyRelu. */
#ifndef MOCK_ACLNNOP_ACLNN_LEAKY_RELU_H_
#define MOCK_ACLNNOP_ACLNN_LEAKY_RELU_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceLeakyReluGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *negativeSlope, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceLeakyRelu(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnLeakyReluGetWorkspaceSize(
    const aclTensor *self, const aclScalar *negativeSlope, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLeakyRelu(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
