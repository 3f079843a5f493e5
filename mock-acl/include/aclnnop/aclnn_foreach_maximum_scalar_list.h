/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachMaximumScalarList. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_MAXIMUM_SCALAR_LIST_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_MAXIMUM_SCALAR_LIST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachMaximumScalarListGetWorkspaceSize(
    const aclTensorList *x, const aclScalarList *scalars, const aclTensorList *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachMaximumScalarList(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
