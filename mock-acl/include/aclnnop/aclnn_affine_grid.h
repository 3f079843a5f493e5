/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnAffineGrid. */
#ifndef MOCK_ACLNNOP_ACLNN_AFFINE_GRID_H_
#define MOCK_ACLNNOP_ACLNN_AFFINE_GRID_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnAffineGridGetWorkspaceSize(
    const aclTensor *theta, const aclIntArray *size, bool alignCorners, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnAffineGrid(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
