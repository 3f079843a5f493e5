/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceFillTensor. */
#ifndef MOCK_ACLNNOP_ACLNN_FILL_TENSOR_H_
#define MOCK_ACLNNOP_ACLNN_FILL_TENSOR_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceFillTensorGetWorkspaceSize(
    aclTensor *selfRef, const aclTensor *value, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceFillTensor(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
