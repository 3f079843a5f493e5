/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachRoundOffNumberV2. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachRoundOffNumberV2GetWorkspaceSize(
    const aclTensorList *x, const aclScalar *roundMode, aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachRoundOffNumberV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
