/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDeepNorm. */
#ifndef MOCK_ACLNNOP_ACLNN_DEEP_NORM_H_
#define MOCK_ACLNNOP_ACLNN_DEEP_NORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDeepNormGetWorkspaceSize(
    const aclTensor *x, const aclTensor *gx, const aclTensor *beta, const aclTensor *gamma, double alpha,
    double epsilon, const aclTensor *meanOut, const aclTensor *rstdOut, const aclTensor *yOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDeepNorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
