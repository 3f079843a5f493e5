/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGather. */
#ifndef MOCK_ACLNNOP_ACLNN_GATHER_H_
#define MOCK_ACLNNOP_ACLNN_GATHER_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGatherGetWorkspaceSize(
    const aclTensor *self, const int64_t dim, const aclTensor *index, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGather(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
