/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAdaptiveMaxPool2d. */
#ifndef MOCK_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_H_
#define MOCK_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAdaptiveMaxPool2dGetWorkspaceSize(
    const aclTensor *self, const aclIntArray *outputSize, aclTensor *outputOut, aclTensor *indicesOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAdaptiveMaxPool2d(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
