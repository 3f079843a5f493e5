/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnWeightQuantBatchMatmul. */
#ifndef MOCK_ACLNNOP_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_H_
#define MOCK_ACLNNOP_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnWeightQuantBatchMatmulGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *diagonalMatrix, const aclTensor *deqOffset,
    const aclTensor *deqScale, const aclTensor *addOffset, const aclTensor *mulScale,
    const aclTensor *bias, bool transposeX1, bool transposeX2, float antiquantScale, float antiquantOffset,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnWeightQuantBatchMatmul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
