/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnShrink. */
#ifndef MOCK_ACLNNOP_ACLNN_SHRINK_H_
#define MOCK_ACLNNOP_ACLNN_SHRINK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnShrinkGetWorkspaceSize(
    const aclTensor *self, const aclScalar *lambd, const aclScalar *bias, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnShrink(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
