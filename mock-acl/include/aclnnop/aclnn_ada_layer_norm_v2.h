/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAdaLayerNormV2. */
#ifndef MOCK_ACLNNOP_ACLNN_ADA_LAYER_NORM_V2_H_
#define MOCK_ACLNNOP_ACLNN_ADA_LAYER_NORM_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAdaLayerNormV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *shift, const aclTensor *weightOptional,
    const aclTensor *biasOptional, double epsilon, aclTensor *out, aclTensor *meanOutOptional,
    aclTensor *rstdOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAdaLayerNormV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
