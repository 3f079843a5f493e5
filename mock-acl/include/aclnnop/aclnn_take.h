/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnTake. */
#ifndef MOCK_ACLNNOP_ACLNN_TAKE_H_
#define MOCK_ACLNNOP_ACLNN_TAKE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnTakeGetWorkspaceSize(
    const aclTensor *self, const aclTensor *index, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnTake(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
