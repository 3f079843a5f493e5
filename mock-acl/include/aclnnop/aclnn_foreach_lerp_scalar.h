/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachLerpScalar. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_LERP_SCALAR_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_LERP_SCALAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachLerpScalarGetWorkspaceSize(
    const aclTensorList *x1, const aclTensorList *x2, const aclScalar *weight, aclTensorList *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachLerpScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
