/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMoeTokenPermute. */
#ifndef MOCK_ACLNNOP_ACLNN_MOE_TOKEN_PERMUTE_H_
#define MOCK_ACLNNOP_ACLNN_MOE_TOKEN_PERMUTE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMoeTokenPermuteGetWorkspaceSize(
    const aclTensor *tokens, const aclTensor *indices, int64_t numOutTokens, bool paddedMode,
    const aclTensor *permuteTokensOut, const aclTensor *sortedIndicesOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMoeTokenPermute(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
