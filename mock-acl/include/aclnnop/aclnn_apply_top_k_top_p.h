/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnApplyTopKTopP. */
#ifndef MOCK_ACLNNOP_ACLNN_APPLY_TOP_K_TOP_P_H_
#define MOCK_ACLNNOP_ACLNN_APPLY_TOP_K_TOP_P_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnApplyTopKTopPGetWorkspaceSize(
    const aclTensor *logits, const aclTensor *p, const aclTensor *k, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnApplyTopKTopP(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
