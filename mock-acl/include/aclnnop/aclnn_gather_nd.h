/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGatherNd. */
#ifndef MOCK_ACLNNOP_ACLNN_GATHER_ND_H_
#define MOCK_ACLNNOP_ACLNN_GATHER_ND_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGatherNdGetWorkspaceSize(
    const aclTensor *self, const aclTensor *indices, bool negativeIndexSupport, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGatherNd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
