/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCdist. */
#ifndef MOCK_ACLNNOP_ACLNN_CDIST_H_
#define MOCK_ACLNNOP_ACLNN_CDIST_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCdistGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, float p, int64_t compute_mode, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnCdist(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
