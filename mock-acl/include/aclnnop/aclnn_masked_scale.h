/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMaskedScale. */
#ifndef MOCK_ACLNNOP_ACLNN_MASKED_SCALE_H_
#define MOCK_ACLNNOP_ACLNN_MASKED_SCALE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMaskedScaleGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mask, float scale, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMaskedScale(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
