/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSwigluGroupGrad. */
#ifndef MOCK_ACLNNOP_ACLNN_SWIGLU_GROUP_GRAD_H_
#define MOCK_ACLNNOP_ACLNN_SWIGLU_GROUP_GRAD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSwigluGroupGradGetWorkspaceSize(
    const aclTensor *gradY, const aclTensor *x, const aclTensor *weightOptional,
    const aclTensor *yOriginOptional, const aclTensor *groupIndexOptional, float clampLimit,
    aclTensor *gradXOut, aclTensor *gradWeightOutOptional, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnSwigluGroupGrad(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
