/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnHardswish, aclnnInplaceHardswish. */
#ifndef MOCK_ACLNNOP_ACLNN_HARDSWISH_H_
#define MOCK_ACLNNOP_ACLNN_HARDSWISH_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnHardswishGetWorkspaceSize(
    const aclTensor *self, const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnHardswish(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInplaceHardswishGetWorkspaceSize(
    const aclTensor *self, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceHardswish(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
