/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMaskedSelect. */
#ifndef MOCK_ACLNNOP_ACLNN_MASKED_SELECT_H_
#define MOCK_ACLNNOP_ACLNN_MASKED_SELECT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMaskedSelectGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mask, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnMaskedSelect(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
