/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSoftplus. */
#ifndef MOCK_ACLNNOP_ACLNN_SOFTPLUS_H_
#define MOCK_ACLNNOP_ACLNN_SOFTPLUS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSoftplusGetWorkspaceSize(
    const aclTensor *self, const aclScalar *beta, const aclScalar *threshold, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSoftplus(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
