/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachZeroInplace. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ZERO_INPLACE_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ZERO_INPLACE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachZeroInplaceGetWorkspaceSize(
    const aclTensorList *x, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachZeroInplace(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
