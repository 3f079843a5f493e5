/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnEmbeddingBag. */
#ifndef MOCK_ACLNNOP_ACLNN_EMBEDDING_BAG_H_
#define MOCK_ACLNNOP_ACLNN_EMBEDDING_BAG_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnEmbeddingBagGetWorkspaceSize(
    const aclTensor *weight, const aclTensor *indices, const aclTensor *offsets, bool scaleGradByFreq,
    int64_t mode, bool sparse, const aclTensor *perSampleWeights, bool includeLastOffset,
    int64_t paddingIdx, aclTensor *output, aclTensor *offset2bag, aclTensor *bagSize,
    aclTensor *maxIndices, uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnEmbeddingBag(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
