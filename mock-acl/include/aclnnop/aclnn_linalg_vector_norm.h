/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLinalgVectorNorm. */
#ifndef MOCK_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_
#define MOCK_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLinalgVectorNormGetWorkspaceSize(
    const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims,
    const aclDataType dtype, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnLinalgVectorNorm(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
