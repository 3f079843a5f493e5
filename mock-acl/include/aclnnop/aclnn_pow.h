/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplacePowTensorScalar, aclnnPowScalarTensor, aclnnPowTensorScalar. */
#ifndef MOCK_ACLNNOP_ACLNN_POW_H_
#define MOCK_ACLNNOP_ACLNN_POW_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplacePowTensorScalarGetWorkspaceSize(
    const aclTensor *self, const aclScalar *exponent, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplacePowTensorScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnPowScalarTensorGetWorkspaceSize(
    const aclScalar *self, const aclTensor *exponent, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnPowScalarTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnPowTensorScalarGetWorkspaceSize(
    const aclTensor *self, const aclScalar *exponent, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnPowTensorScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
