/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachNorm. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_NORM_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_NORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachNormGetWorkspaceSize(
    const aclTensorList *x, const aclScalar *scalar, const aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachNorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
