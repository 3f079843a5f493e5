/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnConfusionTranspose. */
#ifndef MOCK_ACLNNOP_ACLNN_CONFUSION_TRANSPOSE_H_
#define MOCK_ACLNNOP_ACLNN_CONFUSION_TRANSPOSE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnConfusionTransposeGetWorkspaceSize(
    const aclTensor *x, const aclIntArray *perm, const aclIntArray *shape, bool transpose_first,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnConfusionTranspose(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
