/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAddmv. */
#ifndef MOCK_ACLNNOP_ACLNN_ADDMV_H_
#define MOCK_ACLNNOP_ACLNN_ADDMV_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAddmvGetWorkspaceSize(
    const aclTensor *self, const aclTensor *mat, const aclTensor *vec, const aclScalar *alpha,
    const aclScalar *beta, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnAddmv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
