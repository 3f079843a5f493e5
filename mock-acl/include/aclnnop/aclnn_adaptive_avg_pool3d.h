/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAdaptiveAvgPool3d. */
#ifndef MOCK_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL3D_H_
#define MOCK_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL3D_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAdaptiveAvgPool3dGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAdaptiveAvgPool3d(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
