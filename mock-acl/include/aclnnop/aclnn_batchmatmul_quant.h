/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnBatchMatmulQuant. */
#ifndef MOCK_ACLNNOP_ACLNN_BATCHMATMUL_QUANT_H_
#define MOCK_ACLNNOP_ACLNN_BATCHMATMUL_QUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnBatchMatmulQuantGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *quantParam, const aclTensor *bias,
    bool transposeX1, bool transposeX2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnBatchMatmulQuant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
