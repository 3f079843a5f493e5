/* PromptFlashAttention and IncreFlashAttention: attention of a prompt, and of one row against the keys so far
 * (guide: aclnn, page of each). Quantisation, keys in pages and padding on the left are refused unless their
 * parameters are null (own choice). innerPrecise chooses between precisions of the card and has no effect. */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/attention/compute.h"

#define PROMPT                                                                                          \
    .query = query, .key = key, .value = value, MOCK_SHIFT_AND_MASK(), MOCK_NAMED(lengths, actualSeqLengths), \
        .before = preTokens, .after = nextTokens, MOCK_HEADS_AND_OUT
#define PROMPT_AGAINST_KEYS PROMPT, MOCK_NAMED(kv_lengths, actualSeqLengthsKv), .sparse = sparseMode
#define ONE_ROW                                                                                         \
    .query = query, .keys = key, .values = value, .listed = true, .one_row = true, MOCK_SHIFT_AND_MASK(), \
        MOCK_NAMED(kv_lengths, actualSeqLengths), MOCK_HEADS_AND_OUT
#define REFUSE_PAGES             \
    MOCK_REFUSE(antiquantScale);  \
    MOCK_REFUSE(antiquantOffset); \
    MOCK_REFUSE(blocktable)

MOCK_OPERATOR(aclnnPromptFlashAttention, mock_attention_run)
aclnnStatus aclnnPromptFlashAttentionGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShift,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, int64_t numHeads, double scaleValue,
    int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads,
    const aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnPromptFlashAttentionGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnPromptFlashAttention_task, workspaceSize, executor);
    const mock_attention_call call = {PROMPT};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnPromptFlashAttentionV2, mock_attention_run)
aclnnStatus aclnnPromptFlashAttentionV2GetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShift,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsKv,
    const aclTensor *deqScale1, const aclTensor *quantScale1, const aclTensor *deqScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, int64_t numHeads, double scaleValue,
    int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,
    const aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnPromptFlashAttentionV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnPromptFlashAttentionV2_task, workspaceSize, executor);
    MOCK_REFUSE_SCALES(deqScale, );
    const mock_attention_call call = {PROMPT_AGAINST_KEYS};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnPromptFlashAttentionV3, mock_attention_run)
aclnnStatus aclnnPromptFlashAttentionV3GetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShift,
    const aclTensor *attenMask, const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsKv,
    const aclTensor *deqScale1, const aclTensor *quantScale1, const aclTensor *deqScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, int64_t numHeads, double scaleValue,
    int64_t preTokens, int64_t nextTokens, char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode,
    int64_t innerPrecise, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnPromptFlashAttentionV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnPromptFlashAttentionV3_task, workspaceSize, executor);
    (void)innerPrecise;
    MOCK_REFUSE_SCALES(deqScale, );
    const mock_attention_call call = {PROMPT_AGAINST_KEYS};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnIncreFlashAttention, mock_attention_run)
aclnnStatus aclnnIncreFlashAttentionGetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads,
    const aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIncreFlashAttentionGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIncreFlashAttention_task, workspaceSize, executor);
    const mock_attention_call call = {ONE_ROW};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnIncreFlashAttentionV2, mock_attention_run)
aclnnStatus aclnnIncreFlashAttentionV2GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, int64_t numHeads, double scaleValue,
    char *inputLayout, int64_t numKeyValueHeads, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIncreFlashAttentionV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIncreFlashAttentionV2_task, workspaceSize, executor);
    MOCK_REFUSE_SCALES(dequantScale, );
    const mock_attention_call call = {ONE_ROW};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnIncreFlashAttentionV3, mock_attention_run)
aclnnStatus aclnnIncreFlashAttentionV3GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffset, const aclTensor *blocktable, int64_t numHeads, double scaleValue,
    char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize, int64_t innerPrecise,
    const aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIncreFlashAttentionV3GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIncreFlashAttentionV3_task, workspaceSize, executor);
    (void)blockSize, (void)innerPrecise;
    MOCK_REFUSE_SCALES(dequantScale, );
    REFUSE_PAGES;
    const mock_attention_call call = {ONE_ROW};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnIncreFlashAttentionV4, mock_attention_run)
aclnnStatus aclnnIncreFlashAttentionV4GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths,
    const aclTensor *dequantScale1, const aclTensor *quantScale1, const aclTensor *dequantScale2,
    const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale,
    const aclTensor *antiquantOffset, const aclTensor *blocktable, const aclTensor *kvPaddingSize,
    int64_t numHeads, double scaleValue, char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize,
    int64_t innerPrecise, const aclTensor *attentionOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnIncreFlashAttentionV4GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnIncreFlashAttentionV4_task, workspaceSize, executor);
    (void)blockSize, (void)innerPrecise;
    MOCK_REFUSE_SCALES(dequantScale, );
    REFUSE_PAGES;
    MOCK_REFUSE(kvPaddingSize);
    const mock_attention_call call = {ONE_ROW};
    mock_attention_plan(&b, &call);
    return mock_build_finish(&b);
}
