/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSoftshrink. */
#ifndef MOCK_ACLNNOP_ACLNN_SOFTSHRINK_H_
#define MOCK_ACLNNOP_ACLNN_SOFTSHRINK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSoftshrinkGetWorkspaceSize(
    const aclTensor *self, const aclScalar *lambd, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnSoftshrink(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
