/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachSin. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_SIN_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_SIN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachSinGetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachSin(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
