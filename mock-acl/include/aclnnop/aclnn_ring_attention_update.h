/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRingAttentionUpdate. */
#ifndef MOCK_ACLNNOP_ACLNN_RING_ATTENTION_UPDATE_H_
#define MOCK_ACLNNOP_ACLNN_RING_ATTENTION_UPDATE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRingAttentionUpdateGetWorkspaceSize(
    const aclTensor *prevAttnOut, const aclTensor *prevSoftmaxMax, const aclTensor *prevSoftmaxSum,
    const aclTensor *curAttnOut, const aclTensor *curSoftmaxMax, const aclTensor *curSoftmaxSum,
    const aclTensor *actualSeqQlenOptional, char *inputLayoutOptional, const aclTensor *attnOutOut,
    const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnRingAttentionUpdate(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
