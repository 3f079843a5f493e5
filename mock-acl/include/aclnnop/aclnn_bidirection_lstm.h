/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBidirectionLSTM. */
#ifndef MOCK_ACLNNOP_ACLNN_BIDIRECTION_LSTM_H_
#define MOCK_ACLNNOP_ACLNN_BIDIRECTION_LSTM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBidirectionLSTMGetWorkspaceSize(
    const aclTensor *x, const aclTensor *initH, const aclTensor *initC, const aclTensor *wIh,
    const aclTensor *wHh, const aclTensor *bIhOptional, const aclTensor *bHhOptional,
    const aclTensor *wIhReverseOptional, const aclTensor *wHhReverseOptional,
    const aclTensor *bIhReverseOptional, const aclTensor *bHhReverseOptional, int64_t numLayers,
    bool isbias, bool batchFirst, bool bidirection, const aclTensor *yOut, const aclTensor *outputHOut,
    const aclTensor *outputCOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBidirectionLSTM(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
