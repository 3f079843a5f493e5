/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnWeightQuantPreprocess. */
#ifndef MOCK_ACLNNOP_ACLNN_WEIGHT_QUANT_PREPROCESS_H_
#define MOCK_ACLNNOP_ACLNN_WEIGHT_QUANT_PREPROCESS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnWeightQuantPreprocessGetWorkspaceSize(
    const aclTensor *weight, const aclTensor *weightScale, const aclTensor *weightOffsetOptional,
    const aclTensor *biasOptional, const aclDataType xDtype, const aclDataType xScaleDtype,
    const int64_t kGroupSize, aclTensor *outWeight, aclTensor *outWeightScale,
    aclTensor *outWeightOffsetOptional, aclTensor *outBiasOptional, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnWeightQuantPreprocess(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
