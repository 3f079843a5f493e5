/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFusedQuantMatmulWeightNz. */
#ifndef MOCK_ACLNNOP_ACLNN_FUSED_QUANT_MATMUL_WEIGHT_NZ_H_
#define MOCK_ACLNNOP_ACLNN_FUSED_QUANT_MATMUL_WEIGHT_NZ_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFusedQuantMatmulWeightNzGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale, const aclTensor *x2Scale,
    const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional,
    const aclTensor *yOffsetOptional, const aclTensor *biasOptional, const aclTensor *x3Optional,
    const char *fusedOpType, int64_t groupSizeOptional, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnFusedQuantMatmulWeightNz(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
