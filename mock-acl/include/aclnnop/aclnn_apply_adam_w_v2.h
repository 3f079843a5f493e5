/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnApplyAdamWV2. */
#ifndef MOCK_ACLNNOP_ACLNN_APPLY_ADAM_W_V2_H_
#define MOCK_ACLNNOP_ACLNN_APPLY_ADAM_W_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnApplyAdamWV2GetWorkspaceSize(
    aclTensor *varRef, aclTensor *mRef, aclTensor *vRef, aclTensor *maxGradNormOptionalRef,
    const aclTensor *grad, const aclTensor *step, float lr, float beta1, float beta2, float weightDecay,
    float eps, bool amsgrad, bool maximize, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnApplyAdamWV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
