/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceOne. */
#ifndef MOCK_ACLNNOP_ACLNN_ONES_H_
#define MOCK_ACLNNOP_ACLNN_ONES_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceOneGetWorkspaceSize(
    const aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceOne(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
