/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachRoundOffNumber. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachRoundOffNumberGetWorkspaceSize(
    const aclTensorList *x, const aclTensor *roundMode, const aclTensorList *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnForeachRoundOffNumber(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
