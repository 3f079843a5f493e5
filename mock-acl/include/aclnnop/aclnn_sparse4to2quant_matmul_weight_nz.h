/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnSparse4to2QuantMatmulWeightNz, aclnnTransSparse4to2Para. */
#ifndef MOCK_ACLNNOP_ACLNN_SPARSE4TO2QUANT_MATMUL_WEIGHT_NZ_H_
#define MOCK_ACLNNOP_ACLNN_SPARSE4TO2QUANT_MATMUL_WEIGHT_NZ_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnSparse4to2QuantMatmulWeightNzGetWorkspaceSize(
    const aclTensor *x, const aclTensor *sparseWeight, const aclTensor *index, const aclTensor *xScale,
    const aclTensor *sparseWeightScale, const aclTensor *biasOptional, aclTensor *out,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnSparse4to2QuantMatmulWeightNz(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

aclnnStatus aclnnTransSparse4to2Para(
    const int8_t *weight, aclIntArray *shape, int8_t **sparseWeight, int64_t **sparseWeightDims,
    uint64_t *sparseWeightDimsNum, uint8_t **index, int64_t **indexDims, uint64_t *indexDimsNum);

#ifdef __cplusplus
}
#endif

#endif
