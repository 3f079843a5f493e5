/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeTokenUnpermuteGrad. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_TOKEN_UNPERMUTE_GRAD_H_
#define MOCK_ACLNNOP_ACLNN_MOE_TOKEN_UNPERMUTE_GRAD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeTokenUnpermuteGradGetWorkspaceSize(
    const aclTensor *permuteTokens, const aclTensor *unpermutedTokensGrad, const aclTensor *sortedIndices,
    const aclTensor *probsOptional, bool paddedMode, const aclIntArray *restoreShapeOptional,
    aclTensor *permutedTokensGradOut, aclTensor *probsGradOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMoeTokenUnpermuteGrad(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
