/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMatmulEmuSplitWeight. */
#ifndef MOCK_ACLNNOP_ACLNN_MATMUL_EMU_SPLIT_WEIGHT_H_
#define MOCK_ACLNNOP_ACLNN_MATMUL_EMU_SPLIT_WEIGHT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMatmulEmuSplitWeightGetWorkspaceSize(
    const aclTensor *x, const aclTensor *wHigh, const aclTensor *wLow, const aclTensor *y, float wLowScale,
    int8_t yDtype, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMatmulEmuSplitWeight(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
