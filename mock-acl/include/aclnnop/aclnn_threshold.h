/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceThreshold, aclnnThreshold. */
#ifndef MOCK_ACLNNOP_ACLNN_THRESHOLD_H_
#define MOCK_ACLNNOP_ACLNN_THRESHOLD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceThresholdGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *threshold, const aclScalar *value, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceThreshold(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnThresholdGetWorkspaceSize(
    const aclTensor *self, const aclScalar *threshold, const aclScalar *value, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnThreshold(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
