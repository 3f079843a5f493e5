/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceNanToNum, aclnnNanToNum. */
#ifndef MOCK_ACLNNOP_ACLNN_NAN_TO_NUM_H_
#define MOCK_ACLNNOP_ACLNN_NAN_TO_NUM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceNanToNumGetWorkspaceSize(
    aclTensor *selfRef, float nan, float posinf, float neginf, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceNanToNum(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnNanToNumGetWorkspaceSize(
    const aclTensor *self, float nan, float posinf, float neginf, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnNanToNum(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
