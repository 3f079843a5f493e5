/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBatchNormStats. */
#ifndef MOCK_ACLNNOP_ACLNN_BATCH_NORM_STATS_H_
#define MOCK_ACLNNOP_ACLNN_BATCH_NORM_STATS_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBatchNormStatsGetWorkspaceSize(
    const aclTensor *input, double eps, aclTensor *mean, aclTensor *invstd, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnBatchNormStats(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
