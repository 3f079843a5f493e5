/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIndexFill, aclnnInplaceIndexFill. */
#ifndef MOCK_ACLNNOP_ACLNN_INDEX_FILL_H_
#define MOCK_ACLNNOP_ACLNN_INDEX_FILL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIndexFillGetWorkspaceSize(
    const aclTensor *self, int64_t dim, const aclTensor *index, const aclScalar *value, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnIndexFill(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceIndexFillGetWorkspaceSize(
    aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclScalar *value,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceIndexFill(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
