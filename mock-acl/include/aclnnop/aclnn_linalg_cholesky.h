/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLinalgCholesky. */
#ifndef MOCK_ACLNNOP_ACLNN_LINALG_CHOLESKY_H_
#define MOCK_ACLNNOP_ACLNN_LINALG_CHOLESKY_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLinalgCholeskyGetWorkspaceSize(
    const aclTensor *self, bool upper, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLinalgCholesky(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
