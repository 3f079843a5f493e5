/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnMatmulCompressDequant. */
#ifndef MOCK_ACLNNOP_ACLNN_MATMUL_COMPRESS_DEQUANT_H_
#define MOCK_ACLNNOP_ACLNN_MATMUL_COMPRESS_DEQUANT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnMatmulCompressDequantGetWorkspaceSize(
    const aclTensor *x1, const aclTensor *x2, const aclTensor *compressIndex, const aclTensor *bias,
    const aclTensor *deqScale, const aclTensor *offsetW, int offsetX, const aclIntArray *compressInfo,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnMatmulCompressDequant(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
