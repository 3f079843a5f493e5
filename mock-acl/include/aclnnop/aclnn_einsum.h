/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnEinsum. */
#ifndef MOCK_ACLNNOP_ACLNN_EINSUM_H_
#define MOCK_ACLNNOP_ACLNN_EINSUM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnEinsumGetWorkspaceSize(
    const aclTensorList *tensors, const char *equation, aclTensor *output, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnEinsum(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
