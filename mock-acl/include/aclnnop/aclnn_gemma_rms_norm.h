/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGemmaRmsNorm. */
#ifndef MOCK_ACLNNOP_ACLNN_GEMMA_RMS_NORM_H_
#define MOCK_ACLNNOP_ACLNN_GEMMA_RMS_NORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGemmaRmsNormGetWorkspaceSize(
    const aclTensor *x, const aclTensor *gamma, double epsilon, const aclTensor *yOut,
    const aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGemmaRmsNorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
