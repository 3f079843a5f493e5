/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBatchMatMul, aclnnBatchMatMulWeightNz. */
#ifndef MOCK_ACLNNOP_ACLNN_BATCH_MATMUL_H_
#define MOCK_ACLNNOP_ACLNN_BATCH_MATMUL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBatchMatMulGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBatchMatMul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnBatchMatMulWeightNzGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBatchMatMulWeightNz(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
