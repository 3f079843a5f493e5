/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAdaLayerNorm. */
#ifndef MOCK_ACLNNOP_ACLNN_ADA_LAYER_NORM_H_
#define MOCK_ACLNNOP_ACLNN_ADA_LAYER_NORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAdaLayerNormGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *shift, const aclTensor *weightOptional,
    const aclTensor *biasOptional, double epsilon, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAdaLayerNorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
