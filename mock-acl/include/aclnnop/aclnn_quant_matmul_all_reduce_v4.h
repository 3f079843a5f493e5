/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantMatmulAllReduceV4. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_MATMUL_ALL_REDUCE_V4_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_MATMUL_ALL_REDUCE_V4_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantMatmulAllReduceV4GetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional,
    const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *commQuantScale1Optional,
    const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp, int64_t commTurn,
    int64_t streamMode, int64_t groupSize, int64_t commQuantMode, const aclTensor *output,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnQuantMatmulAllReduceV4(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
