/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRmsNormQuantV3. */
#ifndef MOCK_ACLNNOP_ACLNN_RMS_NORM_QUANT_V3_H_
#define MOCK_ACLNNOP_ACLNN_RMS_NORM_QUANT_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRmsNormQuantV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *gamma, const aclTensor *scale, const aclTensor *offset,
    const aclTensor *beta, double epsilon, bool divMode, bool outputRstd, aclTensor *y, aclTensor *rstd,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRmsNormQuantV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
