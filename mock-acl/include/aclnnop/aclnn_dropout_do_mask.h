/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnDropoutDoMask. */
#ifndef MOCK_ACLNNOP_ACLNN_DROPOUT_DO_MASK_H_
#define MOCK_ACLNNOP_ACLNN_DROPOUT_DO_MASK_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnDropoutDoMaskGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mask, double prob, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnDropoutDoMask(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
