/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnScatterNdUpdate. */
#ifndef MOCK_ACLNNOP_ACLNN_SCATTER_ND_UPDATE_H_
#define MOCK_ACLNNOP_ACLNN_SCATTER_ND_UPDATE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnScatterNdUpdateGetWorkspaceSize(
    aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnScatterNdUpdate(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
