/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnConvDepthwise2d, aclnnConvTbc, aclnnConvolution. */
#ifndef MOCK_ACLNNOP_ACLNN_CONVOLUTION_H_
#define MOCK_ACLNNOP_ACLNN_CONVOLUTION_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnConvDepthwise2dGetWorkspaceSize(
    const aclTensor *self, const aclTensor *weight, const aclIntArray *kernelSize, const aclTensor *bias,
    const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, aclTensor *out,
    int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnConvDepthwise2d(
    void *workspace, const uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnConvTbcGetWorkspaceSize(
    const aclTensor *self, const aclTensor *weight, const aclTensor *bias, const int64_t pad,
    aclTensor *output, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnConvTbc(
    void *workspace, const uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnConvolutionGetWorkspaceSize(
    const aclTensor *input, const aclTensor *weight, const aclTensor *bias, const aclIntArray *stride,
    const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
    const aclIntArray *outputPadding, const int64_t groups, aclTensor *output, int8_t cubeMathType,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnConvolution(
    void *workspace, const uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
