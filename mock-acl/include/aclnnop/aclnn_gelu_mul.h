/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGeluMul. */
#ifndef MOCK_ACLNNOP_ACLNN_GELU_MUL_H_
#define MOCK_ACLNNOP_ACLNN_GELU_MUL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGeluMulGetWorkspaceSize(
    const aclTensor *input, char *approximateOptional, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnGeluMul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
