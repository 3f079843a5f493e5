/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSwinAttentionScoreQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_SWIN_ATTENTION_SCORE_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_SWIN_ATTENTION_SCORE_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSwinAttentionScoreQuantGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *scaleQuant,
    const aclTensor *scaleDequant1, const aclTensor *scaleDequant2, const aclTensor *biasQuantOptional,
    const aclTensor *biasDequant1Optional, const aclTensor *biasDequant2Optional,
    const aclTensor *paddingMask1Optional, const aclTensor *paddingMask2Optional, bool queryTranspose,
    bool keyTranspose, bool valueTranspose, int64_t softmaxAxes, const aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSwinAttentionScoreQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
