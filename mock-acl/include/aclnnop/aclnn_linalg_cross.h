/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnLinalgCross. */
#ifndef MOCK_ACLNNOP_ACLNN_LINALG_CROSS_H_
#define MOCK_ACLNNOP_ACLNN_LINALG_CROSS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnLinalgCrossGetWorkspaceSize(
    const aclTensor *self, const aclTensor *other, int64_t dim, aclTensor *out, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnLinalgCross(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
