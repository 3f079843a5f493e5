/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachDivList. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_DIV_LIST_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_DIV_LIST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachDivListGetWorkspaceSize(
    const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachDivList(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
