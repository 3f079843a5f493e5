/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnScale. */
#ifndef MOCK_ACLNNOP_ACLNN_SCALE_H_
#define MOCK_ACLNNOP_ACLNN_SCALE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnScaleGetWorkspaceSize(
    const aclTensor *x, const aclTensor *scale, const aclTensor *bias, int64_t axis, int64_t numAxes,
    bool scaleFromBlob, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnScale(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
