/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachMulScalarV2. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_MUL_SCALAR_V2_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_MUL_SCALAR_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachMulScalarV2GetWorkspaceSize(
    const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachMulScalarV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
