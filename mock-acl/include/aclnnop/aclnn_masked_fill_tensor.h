/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceMaskedFillTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_MASKED_FILL_TENSOR_H_
#define MOCK_ACLNNOP_ACLNN_MASKED_FILL_TENSOR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceMaskedFillTensorGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *mask, const aclTensor *value, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceMaskedFillTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
