/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeluV2. */
#ifndef MOCK_ACLNNOP_ACLNN_GELU_V2_H_
#define MOCK_ACLNNOP_ACLNN_GELU_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeluV2GetWorkspaceSize(
    const aclTensor *x, int64_t approximate, aclTensor *y, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGeluV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
