/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnQuantMatmulV4. */
#ifndef MOCK_ACLNNOP_ACLNN_QUANT_MATMUL_V4_H_
#define MOCK_ACLNNOP_ACLNN_QUANT_MATMUL_V4_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnQuantMatmulV4GetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *offset,
    const aclTensor *pertokenScaleOptional, const aclTensor *bias, bool transposeX1, bool transposeX2,
    const aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnQuantMatmulV4(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
