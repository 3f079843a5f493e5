/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSign. */
#ifndef MOCK_ACLNNOP_ACLNN_SIGN_H_
#define MOCK_ACLNNOP_ACLNN_SIGN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSignGetWorkspaceSize(
    const aclTensor *self, aclTensor *result, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSign(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
