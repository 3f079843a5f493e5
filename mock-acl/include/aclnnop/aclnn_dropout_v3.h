/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDropoutV3. */
#ifndef MOCK_ACLNNOP_ACLNN_DROPOUT_V3_H_
#define MOCK_ACLNNOP_ACLNN_DROPOUT_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDropoutV3GetWorkspaceSize(
    const aclTensor *input, const aclTensor *optionalNoiseShape, double p, int64_t seed, int64_t offset,
    aclTensor *out, aclTensor *maskOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnDropoutV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
