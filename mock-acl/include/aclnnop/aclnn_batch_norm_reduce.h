/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBatchNormReduce. */
#ifndef MOCK_ACLNNOP_ACLNN_BATCH_NORM_REDUCE_H_
#define MOCK_ACLNNOP_ACLNN_BATCH_NORM_REDUCE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBatchNormReduceGetWorkspaceSize(
    const aclTensor *x, aclTensor *sum, aclTensor *squareSum, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnBatchNormReduce(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
