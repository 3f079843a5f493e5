/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnClampMin. */
#ifndef MOCK_ACLNNOP_ACLNN_CLAMP_H_
#define MOCK_ACLNNOP_ACLNN_CLAMP_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnClampMinGetWorkspaceSize(
    const aclTensor *self, const aclScalar *clipValueMin, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnClampMin(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
