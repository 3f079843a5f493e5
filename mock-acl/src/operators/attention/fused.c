/* FusedInferAttentionScore: attention of a prompt or of one row (guide: aclnn, page of each version). What
 * IncreFlashAttention refuses is refused here, and shared prefixes and separate rotary parts as well.
 * softmaxLse has the logarithm of the sum of exponentials of each row; without the flag it is left as it is
 * and may be null. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/attention/compute.h"

static void plan_fused(
    mock_build *b, const mock_attention_call *call, bool lse_wanted, const aclTensor *softmax_lse) {
    mock_attention *a = mock_attention_plan(b, call);
    if (a == NULL || !lse_wanted) return;
    a->lse = mock_attention_extra(b, softmax_lse, "softmaxLse", 1);
}

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
    mock_attention_refuse(&b, deqScale1, "deqScale1");
    mock_attention_refuse(&b, quantScale1, "quantScale1");
    mock_attention_refuse(&b, deqScale2, "deqScale2");
    mock_attention_refuse(&b, quantScale2, "quantScale2");
    mock_attention_refuse(&b, quantOffset2, "quantOffset2");
    mock_attention_refuse(&b, antiquantScale, "antiquantScale");
    mock_attention_refuse(&b, antiquantOffset, "antiquantOffset");
    mock_attention_refuse(&b, blockTable, "blockTable");
    mock_attention_refuse(&b, queryPaddingSize, "queryPaddingSize");
    mock_attention_refuse(&b, kvPaddingSize, "kvPaddingSize");
    const mock_attention_call call = {
        .query = query, .keys = key, .values = value, .listed = true, .shift = pseShift,
        .shift_name = "pseShift", .mask = attenMask, .mask_name = "attenMask", .lengths = actualSeqLengths,
        .lengths_name = "actualSeqLengths", .kv_lengths = actualSeqLengthsKv,
        .kv_lengths_name = "actualSeqLengthsKv", .heads = numHeads, .heads_name = "numHeads",
        .kv_heads = numKeyValueHeads, .before = preTokens, .after = nextTokens, .sparse = sparseMode,
        .scale = scaleValue, .layout = inputLayout, .out = attentionOut, .out_name = "attentionOut",
    };
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
    mock_attention_refuse(&b, deqScale1Optional, "deqScale1Optional");
    mock_attention_refuse(&b, quantScale1Optional, "quantScale1Optional");
    mock_attention_refuse(&b, deqScale2Optional, "deqScale2Optional");
    mock_attention_refuse(&b, quantScale2Optional, "quantScale2Optional");
    mock_attention_refuse(&b, quantOffset2Optional, "quantOffset2Optional");
    mock_attention_refuse(&b, antiquantScaleOptional, "antiquantScaleOptional");
    mock_attention_refuse(&b, antiquantOffsetOptional, "antiquantOffsetOptional");
    mock_attention_refuse(&b, blockTableOptional, "blockTableOptional");
    mock_attention_refuse(&b, queryPaddingSizeOptional, "queryPaddingSizeOptional");
    mock_attention_refuse(&b, kvPaddingSizeOptional, "kvPaddingSizeOptional");
    mock_attention_refuse(&b, keyAntiquantScaleOptional, "keyAntiquantScaleOptional");
    mock_attention_refuse(&b, keyAntiquantOffsetOptional, "keyAntiquantOffsetOptional");
    mock_attention_refuse(&b, valueAntiquantScaleOptional, "valueAntiquantScaleOptional");
    mock_attention_refuse(&b, valueAntiquantOffsetOptional, "valueAntiquantOffsetOptional");
    mock_attention_refuse(&b, keySharedPrefixOptional, "keySharedPrefixOptional");
    mock_attention_refuse(&b, valueSharedPrefixOptional, "valueSharedPrefixOptional");
    mock_attention_refuse(&b, actualSharedPrefixLenOptional, "actualSharedPrefixLenOptional");
    const mock_attention_call call = {
        .query = query, .keys = key, .values = value, .listed = true, .shift = pseShiftOptional,
        .shift_name = "pseShiftOptional", .mask = attenMaskOptional, .mask_name = "attenMaskOptional",
        .lengths = actualSeqLengthsOptional, .lengths_name = "actualSeqLengthsOptional",
        .kv_lengths = actualSeqLengthsKvOptional, .kv_lengths_name = "actualSeqLengthsKvOptional",
        .heads = numHeads, .heads_name = "numHeads", .kv_heads = numKeyValueHeads, .before = preTokens,
        .after = nextTokens, .sparse = sparseMode, .scale = scaleValue, .layout = inputLayout,
        .out = attentionOut, .out_name = "attentionOut",
    };
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
    mock_attention_refuse(&b, deqScale1Optional, "deqScale1Optional");
    mock_attention_refuse(&b, quantScale1Optional, "quantScale1Optional");
    mock_attention_refuse(&b, deqScale2Optional, "deqScale2Optional");
    mock_attention_refuse(&b, quantScale2Optional, "quantScale2Optional");
    mock_attention_refuse(&b, quantOffset2Optional, "quantOffset2Optional");
    mock_attention_refuse(&b, antiquantScaleOptional, "antiquantScaleOptional");
    mock_attention_refuse(&b, antiquantOffsetOptional, "antiquantOffsetOptional");
    mock_attention_refuse(&b, blockTableOptional, "blockTableOptional");
    mock_attention_refuse(&b, queryPaddingSizeOptional, "queryPaddingSizeOptional");
    mock_attention_refuse(&b, kvPaddingSizeOptional, "kvPaddingSizeOptional");
    mock_attention_refuse(&b, keyAntiquantScaleOptional, "keyAntiquantScaleOptional");
    mock_attention_refuse(&b, keyAntiquantOffsetOptional, "keyAntiquantOffsetOptional");
    mock_attention_refuse(&b, valueAntiquantScaleOptional, "valueAntiquantScaleOptional");
    mock_attention_refuse(&b, valueAntiquantOffsetOptional, "valueAntiquantOffsetOptional");
    mock_attention_refuse(&b, keySharedPrefixOptional, "keySharedPrefixOptional");
    mock_attention_refuse(&b, valueSharedPrefixOptional, "valueSharedPrefixOptional");
    mock_attention_refuse(&b, actualSharedPrefixLenOptional, "actualSharedPrefixLenOptional");
    mock_attention_refuse(&b, queryRopeOptional, "queryRopeOptional");
    mock_attention_refuse(&b, keyRopeOptional, "keyRopeOptional");
    mock_attention_refuse(&b, keyRopeAntiquantScaleOptional, "keyRopeAntiquantScaleOptional");
    const mock_attention_call call = {
        .query = query, .keys = key, .values = value, .listed = true, .shift = pseShiftOptional,
        .shift_name = "pseShiftOptional", .mask = attenMaskOptional, .mask_name = "attenMaskOptional",
        .lengths = actualSeqLengthsOptional, .lengths_name = "actualSeqLengthsOptional",
        .kv_lengths = actualSeqLengthsKvOptional, .kv_lengths_name = "actualSeqLengthsKvOptional",
        .heads = numHeads, .heads_name = "numHeads", .kv_heads = numKeyValueHeads, .before = preTokens,
        .after = nextTokens, .sparse = sparseMode, .scale = scaleValue, .layout = inputLayout,
        .out = attentionOut, .out_name = "attentionOut",
    };
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
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
    mock_attention_refuse(&b, deqScale1Optional, "deqScale1Optional");
    mock_attention_refuse(&b, quantScale1Optional, "quantScale1Optional");
    mock_attention_refuse(&b, deqScale2Optional, "deqScale2Optional");
    mock_attention_refuse(&b, quantScale2Optional, "quantScale2Optional");
    mock_attention_refuse(&b, quantOffset2Optional, "quantOffset2Optional");
    mock_attention_refuse(&b, antiquantScaleOptional, "antiquantScaleOptional");
    mock_attention_refuse(&b, antiquantOffsetOptional, "antiquantOffsetOptional");
    mock_attention_refuse(&b, blockTableOptional, "blockTableOptional");
    mock_attention_refuse(&b, queryPaddingSizeOptional, "queryPaddingSizeOptional");
    mock_attention_refuse(&b, kvPaddingSizeOptional, "kvPaddingSizeOptional");
    mock_attention_refuse(&b, keyAntiquantScaleOptional, "keyAntiquantScaleOptional");
    mock_attention_refuse(&b, keyAntiquantOffsetOptional, "keyAntiquantOffsetOptional");
    mock_attention_refuse(&b, valueAntiquantScaleOptional, "valueAntiquantScaleOptional");
    mock_attention_refuse(&b, valueAntiquantOffsetOptional, "valueAntiquantOffsetOptional");
    mock_attention_refuse(&b, keySharedPrefixOptional, "keySharedPrefixOptional");
    mock_attention_refuse(&b, valueSharedPrefixOptional, "valueSharedPrefixOptional");
    mock_attention_refuse(&b, actualSharedPrefixLenOptional, "actualSharedPrefixLenOptional");
    mock_attention_refuse(&b, queryRopeOptional, "queryRopeOptional");
    mock_attention_refuse(&b, keyRopeOptional, "keyRopeOptional");
    mock_attention_refuse(&b, keyRopeAntiquantScaleOptional, "keyRopeAntiquantScaleOptional");
    mock_attention_refuse(&b, dequantScaleQueryOptional, "dequantScaleQueryOptional");
    mock_attention_refuse(&b, learnableSinkOptional, "learnableSinkOptional");
    const mock_attention_call call = {
        .query = query, .keys = key, .values = value, .listed = true, .shift = pseShiftOptional,
        .shift_name = "pseShiftOptional", .mask = attenMaskOptional, .mask_name = "attenMaskOptional",
        .lengths = actualSeqLengthsOptional, .lengths_name = "actualSeqLengthsOptional",
        .kv_lengths = actualSeqLengthsKvOptional, .kv_lengths_name = "actualSeqLengthsKvOptional",
        .heads = numHeads, .heads_name = "numHeads", .kv_heads = numKeyValueHeads, .before = preTokens,
        .after = nextTokens, .sparse = sparseMode, .scale = scaleValue, .layout = inputLayout,
        .out = attentionOut, .out_name = "attentionOut",
    };
    plan_fused(&b, &call, softmaxLseFlag, softmaxLse);
    return mock_build_finish(&b);
}
