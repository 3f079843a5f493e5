/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnApplyRotaryPosEmbV2. */
#ifndef MOCK_ACLNNOP_ACLNN_APPLY_ROTARY_POS_EMB_V2_H_
#define MOCK_ACLNNOP_ACLNN_APPLY_ROTARY_POS_EMB_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
    aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos, const aclTensor *sin, int64_t layout,
    char *rotaryMode, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnApplyRotaryPosEmbV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
