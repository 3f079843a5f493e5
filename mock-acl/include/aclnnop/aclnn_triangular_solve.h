/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnTriangularSolve. */
#ifndef MOCK_ACLNNOP_ACLNN_TRIANGULAR_SOLVE_H_
#define MOCK_ACLNNOP_ACLNN_TRIANGULAR_SOLVE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnTriangularSolveGetWorkspaceSize(
    const aclTensor *self, const aclTensor *A, bool upper, bool transpose, bool unitriangular,
    aclTensor *xOut, aclTensor *mOut, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnTriangularSolve(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
