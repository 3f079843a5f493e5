/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBucketize. */
#ifndef MOCK_ACLNNOP_ACLNN_BUCKETIZE_H_
#define MOCK_ACLNNOP_ACLNN_BUCKETIZE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBucketizeGetWorkspaceSize(
    const aclTensor *self, const aclTensor *boundaries, const bool outInt32, const bool right,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBucketize(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
