/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnNonMaxSuppression. */
#ifndef MOCK_ACLNNOP_ACLNN_NON_MAX_SUPPRESSION_H_
#define MOCK_ACLNNOP_ACLNN_NON_MAX_SUPPRESSION_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnNonMaxSuppressionGetWorkspaceSize(
    const aclTensor *boxes, const aclTensor *scores, aclIntArray *maxOutputBoxesPerClass,
    aclFloatArray *iouThreshold, aclFloatArray *scoreThreshold, int32_t centerPointBox,
    aclTensor *selectedIndices, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnNonMaxSuppression(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
