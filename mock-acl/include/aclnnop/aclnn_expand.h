/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnExpand. */
#ifndef MOCK_ACLNNOP_ACLNN_EXPAND_H_
#define MOCK_ACLNNOP_ACLNN_EXPAND_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnExpandGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *size, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnExpand(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
