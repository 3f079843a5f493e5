/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantMatmulActivationQuantWeightNz. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_MATMUL_ACTIVATION_QUANT_WEIGHT_NZ_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_MATMUL_ACTIVATION_QUANT_WEIGHT_NZ_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantMatmulActivationQuantWeightNzGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale,
    const aclTensor *biasOptional, bool transposeX1, bool transposeX2, int64_t groupSize,
    const char *activationType, const char *quantMode, const char *roundMode, int64_t scaleAlg,
    double dstTypeMax, aclTensor *yOut, aclTensor *yScaleOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnQuantMatmulActivationQuantWeightNz(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
