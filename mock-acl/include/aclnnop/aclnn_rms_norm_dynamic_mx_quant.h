/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRmsNormDynamicMxQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_RMS_NORM_DYNAMIC_MX_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_RMS_NORM_DYNAMIC_MX_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRmsNormDynamicMxQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, double epsilon, int64_t scaleAlg,
    char *roundMode, int64_t dstType, bool outputRstd, aclTensor *yOut, aclTensor *mxscaleOut,
    aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRmsNormDynamicMxQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
