/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnWeightQuantMatmulAllReduce. */
#ifndef MOCK_ACLNNOP_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE_H_
#define MOCK_ACLNNOP_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnWeightQuantMatmulAllReduceGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffset, const aclTensor *x3, const char *group, const char *reduceOp,
    int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, const aclTensor *output,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnWeightQuantMatmulAllReduce(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
