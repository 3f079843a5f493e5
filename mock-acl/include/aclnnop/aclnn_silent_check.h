/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSilentCheck. */
#ifndef MOCK_ACLNNOP_ACLNN_SILENT_CHECK_H_
#define MOCK_ACLNNOP_ACLNN_SILENT_CHECK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSilentCheckGetWorkspaceSize(
    const aclTensor *val, aclTensor *inputGradRef, aclTensor *sfdaRef, aclTensor *stepRef,
    const int32_t cMinSteps, const float cThreshL1, const float cCoeffL1, const float cThreshL2,
    const float cCoeffL2, const int32_t npuAsdDetect, aclTensor *result, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnSilentCheck(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
