/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachCopy. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_COPY_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_COPY_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachCopyGetWorkspaceSize(
    const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachCopy(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
