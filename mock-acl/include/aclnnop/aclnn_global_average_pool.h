/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGlobalAveragePool. */
#ifndef MOCK_ACLNNOP_ACLNN_GLOBAL_AVERAGE_POOL_H_
#define MOCK_ACLNNOP_ACLNN_GLOBAL_AVERAGE_POOL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGlobalAveragePoolGetWorkspaceSize(
    const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGlobalAveragePool(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
