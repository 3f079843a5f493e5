/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFusedSgd. */
#ifndef MOCK_ACLNNOP_ACLNN_FUSED_SGD_H_
#define MOCK_ACLNNOP_ACLNN_FUSED_SGD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFusedSgdGetWorkspaceSize(
    const aclTensorList *paramsRef, const aclTensorList *gradsRef,
    const aclTensorList *momentumBufferListOptionalRef, const aclTensor *gradScaleOptional,
    float weightDecay, float momentum, float lr, float dampening, bool nesterov, bool maximize,
    bool isFirstStep, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnFusedSgd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
