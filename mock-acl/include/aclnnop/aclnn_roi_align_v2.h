/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRoiAlignV2. */
#ifndef MOCK_ACLNNOP_ACLNN_ROI_ALIGN_V2_H_
#define MOCK_ACLNNOP_ACLNN_ROI_ALIGN_V2_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRoiAlignV2GetWorkspaceSize(
    const aclTensor *self, const aclTensor *boxes, int64_t pooledHeight, int64_t pooledWidth,
    float spatialScale, int64_t samplingRatio, bool aligned, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnRoiAlignV2(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
