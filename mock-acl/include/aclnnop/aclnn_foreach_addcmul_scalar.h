/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachAddcmulScalar. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ADDCMUL_SCALAR_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ADDCMUL_SCALAR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachAddcmulScalarGetWorkspaceSize(
    const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalar,
    const aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachAddcmulScalar(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
