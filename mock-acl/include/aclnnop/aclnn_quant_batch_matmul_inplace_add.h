/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantBatchMatmulInplaceAdd. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_BATCH_MATMUL_INPLACE_ADD_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_BATCH_MATMUL_INPLACE_ADD_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantBatchMatmulInplaceAddGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale,
    aclTensor *yRef, bool transposeX1, bool transposeX2, int64_t groupSize, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnQuantBatchMatmulInplaceAdd(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
