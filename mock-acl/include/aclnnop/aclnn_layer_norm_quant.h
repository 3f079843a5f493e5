/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLayerNormQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_LAYER_NORM_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_LAYER_NORM_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLayerNormQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *gammma, const aclTensor *beta, const aclTensor *scale,
    const aclTensor *zeroPointsOptional, int quantMode, double epsilon, aclTensor *res,
    aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLayerNormQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
