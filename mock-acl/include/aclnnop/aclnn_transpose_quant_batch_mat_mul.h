/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnTransposeQuantBatchMatMul, aclnnTransposeQuantBatchMatMulWeightNz. */
#ifndef MOCK_ACLNNOP_ACLNN_TRANSPOSE_QUANT_BATCH_MAT_MUL_H_
#define MOCK_ACLNNOP_ACLNN_TRANSPOSE_QUANT_BATCH_MAT_MUL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnTransposeQuantBatchMatMulGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *x1Scale,
    const aclTensor *x2Scale, int32_t dtype, int64_t groupSize, const aclIntArray *permX1,
    const aclIntArray *permX2, const aclIntArray *permY, int32_t batchSplitFactor, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnTransposeQuantBatchMatMul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnTransposeQuantBatchMatMulWeightNzGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *x1Scale,
    const aclTensor *x2Scale, int32_t dtype, int64_t groupSize, const aclIntArray *permX1,
    const aclIntArray *permX2, const aclIntArray *permY, int32_t batchSplitFactor, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnTransposeQuantBatchMatMulWeightNz(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
