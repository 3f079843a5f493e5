/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLSTM. */
#ifndef MOCK_ACLNNOP_ACLNN_LSTM_H_
#define MOCK_ACLNNOP_ACLNN_LSTM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLSTMGetWorkspaceSize(
    const aclTensor *input, const aclTensorList *params, const aclTensorList *hx,
    const aclTensor *batchSizes, bool hasBias, int64_t numLayers, double dropout, bool train,
    bool bidirectional, bool batchFirst, aclTensor *output, aclTensor *hy, aclTensor *cy,
    aclTensorList *iOut, aclTensorList *jOut, aclTensorList *fOut, aclTensorList *oOut,
    aclTensorList *hOut, aclTensorList *cOut, aclTensorList *tanhCOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLSTM(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
