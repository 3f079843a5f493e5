/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachPowScalarList. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_POW_SCALAR_LIST_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_POW_SCALAR_LIST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachPowScalarListGetWorkspaceSize(
    const aclTensorList *x, const aclScalarList *scalars, const aclTensorList *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachPowScalarList(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
