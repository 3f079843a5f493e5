/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSinkhorn. */
#ifndef MOCK_ACLNNOP_ACLNN_SINKHORN_H_
#define MOCK_ACLNNOP_ACLNN_SINKHORN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSinkhornGetWorkspaceSize(
    const aclTensor *cost, const aclScalar *tol, aclTensor *p, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnSinkhorn(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
