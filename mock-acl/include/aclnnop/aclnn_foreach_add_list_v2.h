/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachAddListV2. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ADD_LIST_V2_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ADD_LIST_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachAddListV2GetWorkspaceSize(
    const aclTensorList *x1, const aclTensorList *x2, const aclScalar *alpha, aclTensorList *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachAddListV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
