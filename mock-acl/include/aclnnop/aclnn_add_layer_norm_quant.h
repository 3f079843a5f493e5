/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAddLayerNormQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_ADD_LAYER_NORM_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_ADD_LAYER_NORM_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAddLayerNormQuantGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *beta,
    const aclTensor *biasOptional, const aclTensor *scales1Optional, const aclTensor *scales2Optional,
    const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional, const char *quantMode,
    double epsilon, bool additionalOutput, bool divMode, aclTensor *y1Out, aclTensor *y2Out,
    aclTensor *xOut, aclTensor *outScales1Out, aclTensor *outScales2Out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAddLayerNormQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
