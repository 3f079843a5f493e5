/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnCalculateMatmulWeightSize, aclnnCalculateMatmulWeightSizeV2, aclnnTransMatmulWeight. */
#ifndef MOCK_ACLNNOP_ACLNN_TRANS_MATMUL_WEIGHT_H_
#define MOCK_ACLNNOP_ACLNN_TRANS_MATMUL_WEIGHT_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize);

aclnnStatus aclnnCalculateMatmulWeightSizeV2(
    const aclIntArray *tensorShape, aclDataType dataType, uint64_t *weightTensorSize);

aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(
    aclTensor *mmWeightRef, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnTransMatmulWeight(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
