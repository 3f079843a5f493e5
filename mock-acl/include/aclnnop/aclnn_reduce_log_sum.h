/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnReduceLogSum. */
#ifndef MOCK_ACLNNOP_ACLNN_REDUCE_LOG_SUM_H_
#define MOCK_ACLNNOP_ACLNN_REDUCE_LOG_SUM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnReduceLogSumGetWorkspaceSize(
    const aclTensor *data, const aclIntArray *axes, bool keepDims, bool noopWithEmptyAxes,
    aclTensor *reduce, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnReduceLogSum(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
