/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIndex. */
#ifndef MOCK_ACLNNOP_ACLNN_INDEX_H_
#define MOCK_ACLNNOP_ACLNN_INDEX_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIndexGetWorkspaceSize(
    const aclTensor *self, const aclTensorList *indices, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnIndex(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
