/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnNpuFormatCast, aclnnNpuFormatCastCalculateSizeAndFormat. */
#ifndef MOCK_ACLNNOP_ACLNN_NPU_FORMAT_CAST_H_
#define MOCK_ACLNNOP_ACLNN_NPU_FORMAT_CAST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnNpuFormatCastGetWorkspaceSize(
    const aclTensor *srcTensor, aclTensor *dstTensor, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnNpuFormatCast(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(
    const aclTensor *srcTensor, const int dstFormat, int additionalDtype, int64_t **dstShape,
    uint64_t *dstShapeSize, int *actualFormat);

#ifdef __cplusplus
}
#endif

#endif
