/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnXLogYScalarSelf. */
#ifndef MOCK_ACLNNOP_ACLNN_X_LOG_Y_SCALAR_SELF_H_
#define MOCK_ACLNNOP_ACLNN_X_LOG_Y_SCALAR_SELF_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnXLogYScalarSelfGetWorkspaceSize(
    const aclScalar *self, const aclTensor *other, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnXLogYScalarSelf(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
