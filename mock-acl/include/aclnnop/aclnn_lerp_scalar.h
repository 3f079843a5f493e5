/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceLerps, aclnnLerps. */
#ifndef MOCK_ACLNNOP_ACLNN_LERP_SCALAR_H_
#define MOCK_ACLNNOP_ACLNN_LERP_SCALAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceLerpsGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *end, const aclScalar *weight, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceLerps(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnLerpsGetWorkspaceSize(
    const aclTensor *self, const aclTensor *end, const aclScalar *weight, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLerps(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
