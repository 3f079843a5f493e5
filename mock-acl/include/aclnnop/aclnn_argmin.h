/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnArgMin. */
#ifndef MOCK_ACLNNOP_ACLNN_ARGMIN_H_
#define MOCK_ACLNNOP_ACLNN_ARGMIN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnArgMinGetWorkspaceSize(
    const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnArgMin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
