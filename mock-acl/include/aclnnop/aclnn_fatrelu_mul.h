/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFatreluMul. */
#ifndef MOCK_ACLNNOP_ACLNN_FATRELU_MUL_H_
#define MOCK_ACLNNOP_ACLNN_FATRELU_MUL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFatreluMulGetWorkspaceSize(
    const aclTensor *input, const aclTensor *threshold, const aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnFatreluMul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
