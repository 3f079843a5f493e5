/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInplaceScatterUpdate. */
#ifndef MOCK_ACLNNOP_ACLNN_SCATTER_UPDATE_H_
#define MOCK_ACLNNOP_ACLNN_SCATTER_UPDATE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInplaceScatterUpdateGetWorkspaceSize(
    aclTensor *data, const aclTensor *indices, const aclTensor *updates, int64_t axis,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInplaceScatterUpdate(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
