/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDualLevelQuantMatmulWeightNz. */
#ifndef MOCK_ACLNNOP_ACLNN_DUAL_LEVEL_QUANT_MATMUL_NZ_H_
#define MOCK_ACLNNOP_ACLNN_DUAL_LEVEL_QUANT_MATMUL_NZ_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDualLevelQuantMatmulWeightNzGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Level0Scale,
    const aclTensor *x2Level0Scale, const aclTensor *x1Level1Scale, const aclTensor *x2Level1Scale,
    const aclTensor *optionalBias, bool transposeX1, bool transposeX2, int64_t level0GroupSize,
    int64_t level1GroupSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDualLevelQuantMatmulWeightNz(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
