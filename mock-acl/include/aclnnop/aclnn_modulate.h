/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnModulate. */
#ifndef MOCK_ACLNNOP_ACLNN_MODULATE_H_
#define MOCK_ACLNNOP_ACLNN_MODULATE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnModulateGetWorkspaceSize(
    const aclTensor *self, const aclTensor *scaleOptional, const aclTensor *shiftOptional, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnModulate(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
