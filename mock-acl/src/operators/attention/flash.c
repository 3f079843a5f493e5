/* FlashAttentionScore forward: attention in training (guide: aclnn, page of each version). Dropout and padding
 * masks are refused unless null, prefixes unless there are none in them, keepProb has to be 1 (own choice). The
 * shift is added before the scale; with pseType 0 of V2 after it; its other types are refused. softmaxMaxOut and
 * softmaxSumOut have the greatest score of each row and the sum of exponentials below it, eight times;
 * softmaxOutOut is left as it is and may be null (own choice). */
#include "base/base.h"
#include "objects/objects.h"
#include "operators/attention/compute.h"

static void check_dropout(mock_build *b, double keep) {
    if (keep != 1) mock_build_fail(b, "keepProb is %g; only 1 is supported", keep);
}

static void plan_training(
    mock_build *b, const mock_attention_call *call, const aclTensor *most, const aclTensor *sum) {
    mock_attention *a = mock_attention_plan(b, call);
    if (a == NULL) return;
    a->most = mock_attention_extra(b, most, "softmaxMaxOut", 8);
    a->sum = mock_attention_extra(b, sum, "softmaxSumOut", 8);
}

/* None in it is as good as null: programs give an empty list (own choice). */
static void refuse_lengths(mock_build *b, const aclIntArray *array, const char *param) {
    if (array == NULL) return;
    const mock_array *a = mock_build_ints(b, array, param);
    if (a != NULL && a->size != 0) mock_attention_refuse(b, array, param);
}

MOCK_OPERATOR(aclnnFlashAttentionScore, mock_attention_run)
aclnnStatus aclnnFlashAttentionScoreGetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value,
    const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
    const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *prefixOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
    const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut, const aclTensor *softmaxOutOut,
    const aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFlashAttentionScoreGetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFlashAttentionScore_task, workspaceSize, executor);
    (void)innerPrecise, (void)softmaxOutOut;
    MOCK_REFUSE(dropMaskOptional);
    MOCK_REFUSE(paddingMaskOptional);
    refuse_lengths(&b, prefixOptional, "prefixOptional");
    check_dropout(&b, keepProb);
    const mock_attention_call call = {
        .query = query, .key = key, .value = value, .training = true, .shift_first = true,
        .shift = realShiftOptional, .shift_name = "realShiftOptional", .mask = attenMaskOptional,
        .mask_name = "attenMaskOptional", .heads = headNum, .heads_name = "headNum",
        .kv_heads = MOCK_HEADS_OF_SHAPE, .before = preTokens, .after = nextTokens, .sparse = sparseMode,
        .scale = scaleValue, .layout = inputLayout, .out = attentionOutOut, .out_name = "attentionOutOut",
    };
    plan_training(&b, &call, softmaxMaxOut, softmaxSumOut);
    return mock_build_finish(&b);
}

MOCK_OPERATOR(aclnnFlashAttentionScoreV2, mock_attention_run)
aclnnStatus aclnnFlashAttentionScoreV2GetWorkspaceSize(
    const aclTensor *query, const aclTensor *key, const aclTensor *value,
    const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
    const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional,
    const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
    int64_t pseType, const aclTensor *softmaxMaxOut, const aclTensor *softmaxSumOut,
    const aclTensor *softmaxOutOut, const aclTensor *attentionOutOut, uint64_t *workspaceSize,
    aclOpExecutor **executor) {
    MOCK_ENTER(aclnnFlashAttentionScoreV2GetWorkspaceSize);
    mock_build b = mock_build_begin(&aclnnFlashAttentionScoreV2_task, workspaceSize, executor);
    (void)innerPrecise, (void)softmaxOutOut;
    MOCK_REFUSE(dropMaskOptional);
    MOCK_REFUSE(paddingMaskOptional);
    refuse_lengths(&b, prefixOptional, "prefixOptional");
    refuse_lengths(&b, qStartIdxOptional, "qStartIdxOptional");
    refuse_lengths(&b, kvStartIdxOptional, "kvStartIdxOptional");
    check_dropout(&b, keepProb);
    if (pseType != 0 && pseType != 1)
        mock_build_fail(&b, "pseType %lld is not supported; 0 and 1 are", (long long)pseType);
    const mock_attention_call call = {
        .query = query, .key = key, .value = value, .training = true, .shift_first = pseType == 1,
        .shift = realShiftOptional, .shift_name = "realShiftOptional", .mask = attenMaskOptional,
        .mask_name = "attenMaskOptional", .heads = headNum, .heads_name = "headNum",
        .kv_heads = MOCK_HEADS_OF_SHAPE, .before = preTokens, .after = nextTokens, .sparse = sparseMode,
        .scale = scaleValue, .layout = inputLayout, .out = attentionOutOut, .out_name = "attentionOutOut",
    };
    plan_training(&b, &call, softmaxMaxOut, softmaxSumOut);
    return mock_build_finish(&b);
}
