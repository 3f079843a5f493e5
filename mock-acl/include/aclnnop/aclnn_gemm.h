/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnGemm. */
#ifndef MOCK_ACLNNOP_ACLNN_GEMM_H_
#define MOCK_ACLNNOP_ACLNN_GEMM_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnGemmGetWorkspaceSize(
    const aclTensor *A, const aclTensor *B, const aclTensor *C, float alpha, float beta, int64_t transA,
    int64_t transB, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnGemm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
