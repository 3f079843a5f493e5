/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCast. */
#ifndef MOCK_ACLNNOP_ACLNN_CAST_H_
#define MOCK_ACLNNOP_ACLNN_CAST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCastGetWorkspaceSize(
    const aclTensor *self, const aclDataType dtype, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnCast(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
