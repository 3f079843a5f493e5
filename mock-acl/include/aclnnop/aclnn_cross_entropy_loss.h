/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCrossEntropyLoss. */
#ifndef MOCK_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_H_
#define MOCK_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCrossEntropyLossGetWorkspaceSize(
    const aclTensor *input, const aclTensor *target, const aclTensor *weightOptional,
    char *reductionOptional, int64_t ignoreIndex, double labelSmoothing, double lseSquareScaleForZloss,
    bool returnZloss, const aclTensor *lossOut, const aclTensor *logProbOut, const aclTensor *zlossOut,
    const aclTensor *lseForZlossOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnCrossEntropyLoss(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
