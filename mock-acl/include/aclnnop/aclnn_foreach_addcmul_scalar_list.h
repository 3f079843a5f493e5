/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachAddcmulScalarList. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ADDCMUL_SCALAR_LIST_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ADDCMUL_SCALAR_LIST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachAddcmulScalarListGetWorkspaceSize(
    const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalars,
    const aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachAddcmulScalarList(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
