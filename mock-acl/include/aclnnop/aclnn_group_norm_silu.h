/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGroupNormSilu, aclnnGroupNormSiluV2. */
#ifndef MOCK_ACLNNOP_ACLNN_GROUP_NORM_SILU_H_
#define MOCK_ACLNNOP_ACLNN_GROUP_NORM_SILU_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGroupNormSiluGetWorkspaceSize(
    const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t group, double eps,
    aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGroupNormSilu(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnGroupNormSiluV2GetWorkspaceSize(
    const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t group, double eps,
    bool activateSilu, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGroupNormSiluV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
