/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnRoiAlign. */
#ifndef MOCK_ACLNNOP_ACLNN_ROI_ALIGN_H_
#define MOCK_ACLNNOP_ACLNN_ROI_ALIGN_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnRoiAlignGetWorkspaceSize(
    const aclTensor *self, const aclTensor *rois, const aclTensor *batchIndices, const char *mode,
    int outputHeight, int outputWidth, int samplingRatio, float spatialScale, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnRoiAlign(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
