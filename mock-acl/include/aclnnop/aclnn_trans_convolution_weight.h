/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCalculateConvolutionWeightSize, aclnnTransConvolutionWeight. */
#ifndef MOCK_ACLNNOP_ACLNN_TRANS_CONVOLUTION_WEIGHT_H_
#define MOCK_ACLNNOP_ACLNN_TRANS_CONVOLUTION_WEIGHT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCalculateConvolutionWeightSize(
    const aclIntArray *tensorShape, bool transposed, int64_t groups, aclDataType dataType,
    uint64_t *weightTensorSize);

aclnnStatus aclnnTransConvolutionWeightGetWorkspaceSize(
    const aclTensor *weightIn, bool transposed, const int64_t groups, aclTensor *weightOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnTransConvolutionWeight(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
