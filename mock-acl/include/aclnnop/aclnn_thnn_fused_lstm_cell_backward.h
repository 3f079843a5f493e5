/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnThnnFusedLstmCellBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_THNN_FUSED_LSTM_CELL_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_THNN_FUSED_LSTM_CELL_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnThnnFusedLstmCellBackwardGetWorkspaceSize(
    const aclTensor *gradHyOptional, const aclTensor *gradCOptional, const aclTensor *cx,
    const aclTensor *cy, const aclTensor *storage, bool hasBias, aclTensor *gradGatesOut,
    aclTensor *gradCxOut, aclTensor *gradBiasOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnThnnFusedLstmCellBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
