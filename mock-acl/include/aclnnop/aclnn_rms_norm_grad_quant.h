/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRmsNormGradQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_RMS_NORM_GRAD_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_RMS_NORM_GRAD_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRmsNormGradQuantGetWorkspaceSize(
    const aclTensor *dy, const aclTensor *x, const aclTensor *rstd, const aclTensor *gamma,
    const aclTensor *scalesX, const aclTensor *offsetXOptional, const char *quantMode, bool divMode,
    aclTensor *dxOut, aclTensor *dgammaOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRmsNormGradQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
