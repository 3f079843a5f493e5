/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBaddbmm, aclnnInplaceBaddbmm. */
#ifndef MOCK_ACLNNOP_ACLNN_BADDBMM_H_
#define MOCK_ACLNNOP_ACLNN_BADDBMM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBaddbmmGetWorkspaceSize(
    const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2, const aclScalar *beta,
    const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnBaddbmm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceBaddbmmGetWorkspaceSize(
    const aclTensor *selfRef, const aclTensor *batch1, const aclTensor *batch2, const aclScalar *beta,
    const aclScalar *alpha, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceBaddbmm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
