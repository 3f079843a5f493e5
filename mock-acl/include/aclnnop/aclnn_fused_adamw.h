/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFusedAdamw. */
#ifndef MOCK_ACLNNOP_ACLNN_FUSED_ADAMW_H_
#define MOCK_ACLNNOP_ACLNN_FUSED_ADAMW_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFusedAdamwGetWorkspaceSize(
    const aclTensorList *paramsRef, const aclTensorList *grads, const aclTensorList *expAvgsRef,
    const aclTensorList *expAvgSqsRef, const aclTensorList *maxExpAvgSqsRef,
    const aclTensorList *stateSteps, const aclTensor *gradScaleOptional, const aclTensor *foundInfOptional,
    double lr, double beta1, double beta2, double weightDecay, double eps, bool amsgrad, bool maximize,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnFusedAdamw(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
