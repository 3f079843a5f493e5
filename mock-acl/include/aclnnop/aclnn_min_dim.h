/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMinDim. */
#ifndef MOCK_ACLNNOP_ACLNN_MIN_DIM_H_
#define MOCK_ACLNNOP_ACLNN_MIN_DIM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMinDimGetWorkspaceSize(
    const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out, aclTensor *indices,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMinDim(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
