/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDeformableConv2d. */
#ifndef MOCK_ACLNNOP_ACLNN_DEFORMABLE_CONV2D_H_
#define MOCK_ACLNNOP_ACLNN_DEFORMABLE_CONV2D_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDeformableConv2dGetWorkspaceSize(
    const aclTensor *x, const aclTensor *weight, const aclTensor *offset, const aclTensor *biasOptional,
    const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,
    const aclIntArray *dilation, int64_t groups, int64_t deformableGroups, bool modulated, aclTensor *out,
    aclTensor *deformOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDeformableConv2d(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
