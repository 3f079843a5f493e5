/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnScatterNd. */
#ifndef MOCK_ACLNNOP_ACLNN_SCATTER_ND_H_
#define MOCK_ACLNNOP_ACLNN_SCATTER_ND_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnScatterNdGetWorkspaceSize(
    const aclTensor *data, const aclTensor *indices, const aclTensor *updates, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnScatterNd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
