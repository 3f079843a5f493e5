/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGlobalMaxPool. */
#ifndef MOCK_ACLNNOP_ACLNN_GLOBAL_MAX_POOL_H_
#define MOCK_ACLNNOP_ACLNN_GLOBAL_MAX_POOL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGlobalMaxPoolGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGlobalMaxPool(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
