/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnIndexFillTensor, aclnnInplaceIndexFillTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_INDEX_FILL_TENSOR_H_
#define MOCK_ACLNNOP_ACLNN_INDEX_FILL_TENSOR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnIndexFillTensorGetWorkspaceSize(
    const aclTensor *self, int64_t dim, const aclIntArray *index, const aclScalar *value, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnIndexFillTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnInplaceIndexFillTensorGetWorkspaceSize(
    aclTensor *selfRef, int64_t dim, const aclIntArray *index, const aclScalar *value,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceIndexFillTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
