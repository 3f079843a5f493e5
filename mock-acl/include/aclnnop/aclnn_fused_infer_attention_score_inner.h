/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators: aclnnInnerFusedInferAttentionScore. */
#ifndef MOCK_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_INNER_H_
#define MOCK_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_INNER_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

aclnnStatus aclnnInnerFusedInferAttentionScoreGetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclIntArray *actualSeqLengthsKv, const aclTensor *deqScale1, const aclTensor *quantScale1,
    const aclTensor *deqScale2, const aclTensor *quantScale2, const aclTensor *quantOffset2,
    const aclTensor *antiquantScale, const aclTensor *antiquantOffset, const aclTensor *blockTable,
    const aclTensor *queryPaddingSize, const aclTensor *kvPaddingSize, const aclTensor *keyAntiquantScale,
    const aclTensor *keyAntiquantOffset, const aclTensor *valueAntiquantScale,
    const aclTensor *valueAntiquantOffset, const aclTensor *keySharedPrefix,
    const aclTensor *valueSharedPrefix, const aclIntArray *actualSharedPrefixLen,
    const aclTensor *query_rope, const aclTensor *key_rope, const aclTensor *keyRopeAntiquantScale,
    const aclTensor *dequantScaleQuery, const aclTensor *learnableSink,
    const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    int64_t pseType, int64_t outType, const aclTensor *attentionOut, const aclTensor *softmaxLse,
    uint64_t *workspaceSize, aclOpExecutor **executor);

aclnnStatus aclnnInnerFusedInferAttentionScore(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);

aclnnStatus aclnnInnerFusedInferAttentionScoreTensorGetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclTensor *actualSeqLengths,
    const aclTensor *actualSeqLengthsKv, const aclTensor *deqScale1, const aclTensor *quantScale1,
    const aclTensor *deqScale2, const aclTensor *quantScale2, const aclTensor *quantOffset2,
    const aclTensor *antiquantScale, const aclTensor *antiquantOffset, const aclTensor *blockTable,
    const aclTensor *queryPaddingSize, const aclTensor *kvPaddingSize, const aclTensor *keyAntiquantScale,
    const aclTensor *keyAntiquantOffset, const aclTensor *valueAntiquantScale,
    const aclTensor *valueAntiquantOffset, const aclTensor *keySharedPrefix,
    const aclTensor *valueSharedPrefix, const aclTensor *actualSharedPrefixLen,
    const aclTensor *query_rope, const aclTensor *key_rope, const aclTensor *keyRopeAntiquantScale,
    const aclTensor *dequantScaleQuery, const aclTensor *learnableSink,
    const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    int64_t pseType, int64_t outType, const aclTensor *attentionOut, const aclTensor *softmaxLse,
    uint64_t *workspaceSize, aclOpExecutor **executor);

#ifdef __cplusplus
}
#endif

#endif
