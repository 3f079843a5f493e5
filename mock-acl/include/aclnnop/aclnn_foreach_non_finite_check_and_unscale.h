/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnForeachNonFiniteCheckAndUnscale. */
#ifndef MOCK_ACLNNOP_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE_H_
#define MOCK_ACLNNOP_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize(
    const aclTensorList *scaledGrads, const aclTensor *foundInf, const aclTensor *invScale,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnForeachNonFiniteCheckAndUnscale(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
