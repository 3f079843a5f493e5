/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachDivScalar. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_DIV_SCALAR_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_DIV_SCALAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachDivScalarGetWorkspaceSize(
    const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachDivScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
