/* FusedInferAttentionScore: attention of a prompt or of one row (guide: aclnn, page of each version). What
 * IncreFlashAttention refuses is refused here, and shared prefixes, separate rotary parts, and places to start from as
 * well; the kind of shift of V5 is 0.
 * softmaxLse has the logarithm of the sum of exponentials of each row; without the flag it is left as it is
 * and may be null. GetMaxWorkspaceSize is for what is captured once and run with other lengths: it gives what no
 * lengths would need (implementation of the open operators, which declares it in no header). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/attention/compute.h"

static void plan_fused(
    mock_build *b, const mock_attention_call *call, bool lse_wanted, const aclTensor *softmax_lse) {
    mock_attention *a = mock_attention_plan(b, call);
    if (a == NULL || !lse_wanted) return;
    a->lse = mock_attention_extra(b, softmax_lse, "softmaxLse", 1);
}

/* What every version refuses, and from the second one on. */
#define REFUSE_FIRST(END)             \
    MOCK_REFUSE_SCALES(deqScale, END); \
    MOCK_REFUSE(antiquantScale##END);  \
    MOCK_REFUSE(antiquantOffset##END); \
    MOCK_REFUSE(blockTable##END);      \
    MOCK_REFUSE(queryPaddingSize##END); \
    MOCK_REFUSE(kvPaddingSize##END)
#define REFUSE_SECOND                            \
    REFUSE_FIRST(Optional);                      \
    MOCK_REFUSE(keyAntiquantScaleOptional);      \
    MOCK_REFUSE(keyAntiquantOffsetOptional);     \
    MOCK_REFUSE(valueAntiquantScaleOptional);    \
    MOCK_REFUSE(valueAntiquantOffsetOptional);   \
    MOCK_REFUSE(keySharedPrefixOptional);        \
    MOCK_REFUSE(valueSharedPrefixOptional);      \
    MOCK_REFUSE(actualSharedPrefixLenOptional)
#define REFUSE_THIRD                    \
    REFUSE_SECOND;                      \
    MOCK_REFUSE(queryRopeOptional);     \
    MOCK_REFUSE(keyRopeOptional);       \
    MOCK_REFUSE(keyRopeAntiquantScaleOptional)

#define CALL(END)                                                                                      \
    {.query = query, .keys = key, .values = value, .listed = true, MOCK_SHIFT_AND_MASK(END),           \
        MOCK_NAMED(lengths, actualSeqLengths##END), MOCK_NAMED(kv_lengths, actualSeqLengthsKv##END),   \
        .before = preTokens, .after = nextTokens, .sparse = sparseMode, MOCK_HEADS_AND_OUT}

MOCK_OPERATOR(aclnnFusedInferAttentionScore, mock_attention_run)
aclnnStatus aclnnFusedInferAttentionScoreGetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclIntArray *actualSeqLengthsKv, const aclTensor *deqScale1, const aclTensor *quantScale1,
    const aclTensor *deqScale2, const aclTensor *quantScale2, const aclTensor *quantOffset2,
    const aclTensor *antiquantScale, const aclTensor *antiquantOffset, const aclTensor *blockTable,
    const aclTensor *queryPaddingSize, const aclTensor *kvPaddingSize, int64_t numHeads, double scaleValue,
    int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,
    int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFusedInferAttentionScore_task, workspaceSize, executor);
    (void)innerPrecise, (void)blockSize, (void)antiquantMode;
    REFUSE_FIRST();
    const mock_attention_call call = CALL();
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnFusedInferAttentionScoreV2, mock_attention_run)
aclnnStatus aclnnFusedInferAttentionScoreV2GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, int64_t numHeads, double scaleValue,
    int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,
    int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag,
    int64_t keyAntiquantMode, int64_t valueAntiquantMode, const aclTensor *attentionOut,
    const aclTensor *softmaxLse, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFusedInferAttentionScoreV2_task, workspaceSize, executor);
    (void)innerPrecise, (void)blockSize, (void)antiquantMode, (void)keyAntiquantMode,
    (void)valueAntiquantMode;
    REFUSE_SECOND;
    const mock_attention_call call = CALL(Optional);
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnFusedInferAttentionScoreV3, mock_attention_run)
aclnnStatus aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode,
    const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFusedInferAttentionScoreV3_task, workspaceSize, executor);
    (void)innerPrecise, (void)blockSize, (void)antiquantMode, (void)keyAntiquantMode,
    (void)valueAntiquantMode;
    REFUSE_THIRD;
    const mock_attention_call call = CALL(Optional);
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
}

aclnnStatus aclnnFusedInferAttentionScoreV3GetMaxWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode,
    const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV3GetMaxWorkspaceSize);
    (void)actualSeqLengthsOptional, (void)actualSeqLengthsKvOptional;
    return aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
        query, key, value, pseShiftOptional, attenMaskOptional, NULL, NULL, deqScale1Optional,
        quantScale1Optional, deqScale2Optional, quantScale2Optional, quantOffset2Optional,
        antiquantScaleOptional, antiquantOffsetOptional, blockTableOptional, queryPaddingSizeOptional,
        kvPaddingSizeOptional, keyAntiquantScaleOptional, keyAntiquantOffsetOptional,
        valueAntiquantScaleOptional, valueAntiquantOffsetOptional, keySharedPrefixOptional,
        valueSharedPrefixOptional, actualSharedPrefixLenOptional, queryRopeOptional, keyRopeOptional,
        keyRopeAntiquantScaleOptional, numHeads, scaleValue, preTokens, nextTokens, inputLayout,
        numKeyValueHeads, sparseMode, innerPrecise, blockSize, antiquantMode, softmaxLseFlag,
        keyAntiquantMode, valueAntiquantMode, attentionOut, softmaxLse, workspaceSize, executor);
}

MOCK_OPERATOR(aclnnFusedInferAttentionScoreV4, mock_attention_run)
aclnnStatus aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
    const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV4GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFusedInferAttentionScoreV4_task, workspaceSize, executor);
    (void)innerPrecise, (void)blockSize, (void)antiquantMode, (void)keyAntiquantMode,
    (void)valueAntiquantMode, (void)queryQuantMode;
    REFUSE_THIRD;
    MOCK_REFUSE(dequantScaleQueryOptional);
    MOCK_REFUSE(learnableSinkOptional);
    const mock_attention_call call = CALL(Optional);
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
}

aclnnStatus aclnnFusedInferAttentionScoreV4GetMaxWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
    const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV4GetMaxWorkspaceSize);
    (void)actualSeqLengthsOptional, (void)actualSeqLengthsKvOptional;
    return aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
        query, key, value, pseShiftOptional, attenMaskOptional, NULL, NULL, deqScale1Optional,
        quantScale1Optional, deqScale2Optional, quantScale2Optional, quantOffset2Optional,
        antiquantScaleOptional, antiquantOffsetOptional, blockTableOptional, queryPaddingSizeOptional,
        kvPaddingSizeOptional, keyAntiquantScaleOptional, keyAntiquantOffsetOptional,
        valueAntiquantScaleOptional, valueAntiquantOffsetOptional, keySharedPrefixOptional,
        valueSharedPrefixOptional, actualSharedPrefixLenOptional, queryRopeOptional, keyRopeOptional,
        keyRopeAntiquantScaleOptional, dequantScaleQueryOptional, learnableSinkOptional, numHeads,
        scaleValue, preTokens, nextTokens, inputLayout, numKeyValueHeads, sparseMode, innerPrecise,
        blockSize, antiquantMode, softmaxLseFlag, keyAntiquantMode, valueAntiquantMode, queryQuantMode,
        attentionOut, softmaxLse, workspaceSize, executor);
}

MOCK_OPERATOR(aclnnFusedInferAttentionScoreV5, mock_attention_run)
aclnnStatus aclnnFusedInferAttentionScoreV5GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
    const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional,
    const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    int64_t pseType, const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV5GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFusedInferAttentionScoreV5_task, workspaceSize, executor);
    (void)innerPrecise, (void)blockSize, (void)antiquantMode, (void)keyAntiquantMode,
    (void)valueAntiquantMode, (void)queryQuantMode;
    REFUSE_THIRD;
    MOCK_REFUSE(dequantScaleQueryOptional);
    MOCK_REFUSE(learnableSinkOptional);
    MOCK_REFUSE(qStartIdxOptional);
    MOCK_REFUSE(kvStartIdxOptional);
    if (pseType != 0) mock_build_fail(&b, "pseType is %lld; only 0 is supported", (long long)pseType);
    const mock_attention_call call = CALL(Optional);
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
}

aclnnStatus aclnnFusedInferAttentionScoreV5GetMaxWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
    const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional,
    const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads,
    double scaleValue, int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode,
    bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode,
    int64_t pseType, const aclTensor *attentionOut, const aclTensor *softmaxLse, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFusedInferAttentionScoreV5GetMaxWorkspaceSize);
    (void)actualSeqLengthsOptional, (void)actualSeqLengthsKvOptional;
    return aclnnFusedInferAttentionScoreV5GetWorkspaceSize(
        query, key, value, pseShiftOptional, attenMaskOptional, NULL, NULL, deqScale1Optional,
        quantScale1Optional, deqScale2Optional, quantScale2Optional, quantOffset2Optional,
        antiquantScaleOptional, antiquantOffsetOptional, blockTableOptional, queryPaddingSizeOptional,
        kvPaddingSizeOptional, keyAntiquantScaleOptional, keyAntiquantOffsetOptional,
        valueAntiquantScaleOptional, valueAntiquantOffsetOptional, keySharedPrefixOptional,
        valueSharedPrefixOptional, actualSharedPrefixLenOptional, queryRopeOptional, keyRopeOptional,
        keyRopeAntiquantScaleOptional, dequantScaleQueryOptional, learnableSinkOptional,
        qStartIdxOptional, kvStartIdxOptional, numHeads, scaleValue, preTokens, nextTokens, inputLayout,
        numKeyValueHeads, sparseMode, innerPrecise,
        blockSize, antiquantMode, softmaxLseFlag, keyAntiquantMode, valueAntiquantMode, queryQuantMode,
        pseType, attentionOut, softmaxLse, workspaceSize, executor);
}
