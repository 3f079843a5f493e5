/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGatherV3. */
#ifndef MOCK_ACLNNOP_ACLNN_GATHER_V3_H_
#define MOCK_ACLNNOP_ACLNN_GATHER_V3_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGatherV3GetWorkspaceSize(
    const aclTensor *self, int64_t dim, const aclTensor *index, int64_t batchDims, int64_t mode,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGatherV3(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
