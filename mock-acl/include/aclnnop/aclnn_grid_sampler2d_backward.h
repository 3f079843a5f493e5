/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGridSampler2DBackward. */
#ifndef MOCK_ACLNNOP_ACLNN_GRID_SAMPLER2D_BACKWARD_H_
#define MOCK_ACLNNOP_ACLNN_GRID_SAMPLER2D_BACKWARD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGridSampler2DBackwardGetWorkspaceSize(
    const aclTensor *gradOutput, const aclTensor *input, const aclTensor *grid, int64_t interpolationMode,
    int64_t paddingMode, bool alignCorners, const aclBoolArray *outputMask, aclTensor *inputGrad,
    aclTensor *gridGrad, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGridSampler2DBackward(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
