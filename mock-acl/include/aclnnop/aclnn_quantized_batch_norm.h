/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantizedBatchNorm. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANTIZED_BATCH_NORM_H_
#define MOCK_ACLNNOP_ACLNN_QUANTIZED_BATCH_NORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantizedBatchNormGetWorkspaceSize(
    const aclTensor *input, const aclTensor *mean, const aclTensor *var, const aclScalar *inputScale,
    const aclScalar *inputZeroPoint, const aclScalar *outputScale, const aclScalar *outputZeroPoint,
    aclTensor *weight, aclTensor *bias, float epsilon, aclTensor *output, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnQuantizedBatchNorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
