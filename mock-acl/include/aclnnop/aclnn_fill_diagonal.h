/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceFillDiagonal. */
#ifndef MOCK_ACLNNOP_ACLNN_FILL_DIAGONAL_H_
#define MOCK_ACLNNOP_ACLNN_FILL_DIAGONAL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceFillDiagonalGetWorkspaceSize(
    aclTensor *selfRef, const aclScalar *fillValue, bool wrap, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnInplaceFillDiagonal(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
