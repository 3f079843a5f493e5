/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnPermute. */
#ifndef MOCK_ACLNNOP_ACLNN_PERMUTE_H_
#define MOCK_ACLNNOP_ACLNN_PERMUTE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnPermuteGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *dims, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnPermute(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
