/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnFusedMatmul. */
#ifndef MOCK_ACLNNOP_ACLNN_FUSED_MATMUL_H_
#define MOCK_ACLNNOP_ACLNN_FUSED_MATMUL_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnFusedMatmulGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *x3,
    const char *fusedOpType, int8_t cubeMathType, const aclTensor *y, uint64_t *workspaceSize,
    aclOpExecutor **executor);

aclnnStatus aclnnFusedMatmul(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
