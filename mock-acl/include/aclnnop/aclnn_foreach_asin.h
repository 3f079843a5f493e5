/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachAsin. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ASIN_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ASIN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachAsinGetWorkspaceSize(
    const aclTensorList *x, const aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachAsin(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
