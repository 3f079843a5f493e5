/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAddr, aclnnInplaceAddr. */
#ifndef MOCK_ACLNNOP_ACLNN_ADDR_H_
#define MOCK_ACLNNOP_ACLNN_ADDR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAddrGetWorkspaceSize(
    const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2, const aclScalar *betaOptional,
    const aclScalar *alphaOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAddr(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInplaceAddrGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *vec1, const aclTensor *vec2, const aclScalar *betaOptional,
    const aclScalar *alphaOptional, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceAddr(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
