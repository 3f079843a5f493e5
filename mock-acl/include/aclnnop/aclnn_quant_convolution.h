/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantConvolution, aclnnQuantConvolutionWeightNz. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_CONVOLUTION_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_CONVOLUTION_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantConvolutionGetWorkspaceSize(
    const aclTensor *input, const aclTensor *weight, const aclTensor *bias, const aclTensor *scale,
    const aclTensor *offset, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int64_t groups,
    int32_t offsetx, const char *roundMode, aclTensor *output, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnQuantConvolution(
    void *workspace, const uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnQuantConvolutionWeightNzGetWorkspaceSize(
    const aclTensor *input, const aclTensor *weight, const aclTensor *bias, const aclTensor *scale,
    const aclTensor *offset, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int64_t groups,
    int32_t offsetx, const char *roundMode, aclTensor *output, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnQuantConvolutionWeightNz(
    void *workspace, const uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
