/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceRound, aclnnInplaceRoundDecimals, aclnnRound, aclnnRoundDecimals. */
#ifndef MOCK_ACLNNOP_ACLNN_ROUND_H_
#define MOCK_ACLNNOP_ACLNN_ROUND_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceRoundGetWorkspaceSize(
    const aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceRound(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInplaceRoundDecimalsGetWorkspaceSize(
    aclTensor *selfRef, int64_t decimals, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceRoundDecimals(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnRoundGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRound(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnRoundDecimalsGetWorkspaceSize(
    const aclTensor *self, int64_t decimals, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnRoundDecimals(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
