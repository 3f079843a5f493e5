/* Attention: what is refused, what a task finds on the device, and executors that are used again. */
#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_fused_infer_attention_score.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_incre_flash_attention.h"
#include "aclnnop/aclnn_incre_flash_attention_v4.h"
#include "aclnnop/aclnn_prompt_flash_attention.h"
#include "aclnnop/aclnn_prompt_flash_attention_v3.h"
#include "objects/objects.h"
#include "operators/support.h"

/* A call of PromptFlashAttentionV3 in layout BSH: 2 sequences of 3 rows, 4 heads of 2 elements on 2 heads. */
typedef struct prompt {
    sample query, key, value, out;
    const aclTensor *q, *k, *v, *shift, *mask, *quantised, *o;
    const aclIntArray *lengths, *kv_lengths;
    int64_t heads, before, after, kv_heads, mode;
    char layout[24];
    bool no_layout;
} prompt;

static prompt prompt_new(void) {
    prompt p = {.heads = 4, .kv_heads = 2, .before = INT64_MAX, .after = INT64_MAX, .layout = "BSH"};
    p.query = sample_new(ACL_FLOAT, "", DIMS(2, 3, 8));
    p.key = sample_new(ACL_FLOAT, "", DIMS(2, 5, 4));
    p.value = sample_new(ACL_FLOAT, "", DIMS(2, 5, 4));
    p.out = sample_new(ACL_FLOAT, "", DIMS(2, 3, 8));
    p.q = p.query.handle;
    p.k = p.key.handle;
    p.v = p.value.handle;
    p.o = p.out.handle;
    sample_fill(&p.query, -1, 1);
    sample_fill(&p.key, -1, 1);
    sample_fill(&p.value, -1, 1);
    return p;
}

static void prompt_free(prompt *p) {
    sample_free(&p->query);
    sample_free(&p->key);
    sample_free(&p->value);
    sample_free(&p->out);
}

#define ARGUMENTS(P) \
    (P).q, (P).k, (P).v, (P).shift, (P).mask, (P).lengths, (P).kv_lengths, NULL, NULL, (P).quantised, NULL, \
    NULL, \
    (P).heads, 0.5, (P).before, (P).after, (P).no_layout ? NULL : (P).layout, (P).kv_heads, (P).mode, 0, (P).o
#define BAD(CODE, PART, CHANGE)                                              \
    do {                                                                     \
        prompt bad = good;                                                   \
        CHANGE;                                                              \
        REFUSED(CODE, PART, aclnnPromptFlashAttentionV3, ARGUMENTS(bad));    \
    } while (0)

static void bad_prompts_are_refused(void) {
    prompt good = prompt_new();
    sample half = sample_new(ACL_FLOAT16, "", DIMS(2, 5, 4)), whole = sample_new(ACL_INT32, "", DIMS(2, 3,
        8));
    sample flat = sample_new(ACL_FLOAT, "", DIMS(6, 8)), three = sample_new(ACL_FLOAT, "", DIMS(3, 5, 4));
    sample longer = sample_new(ACL_FLOAT, "", DIMS(2, 6, 4)), wide = sample_new(ACL_FLOAT, "", DIMS(2, 5, 8));
    sample odd = sample_new(ACL_FLOAT, "", DIMS(2, 5, 5)), four = sample_new(ACL_FLOAT, "", DIMS(2, 3, 4, 2));
    sample mask = sample_new(ACL_BOOL, "", DIMS(3, 5)), small = sample_new(ACL_BOOL, "", DIMS(3, 4));
    sample deep = sample_new(ACL_BOOL, "", DIMS(1, 1, 1, 3, 5)), few = sample_new(ACL_INT8, "", DIMS(2, 5));
    sample batch = sample_new(ACL_UINT8, "", DIMS(3, 3, 5)), head = sample_new(ACL_BOOL, "", DIMS(2, 2, 3,
        5));
    sample shift = sample_new(ACL_FLOAT, "", DIMS(2, 2, 3, 5)), shift3 = sample_new(ACL_FLOAT, "", DIMS(2, 3,
        5));
    aclIntArray *minus = aclCreateIntArray((int64_t[]){-1}, 1), *much = aclCreateIntArray((int64_t[]){3, 6},
        2);
    LAUNCH(aclnnPromptFlashAttentionV3, ARGUMENTS(good));
    BAD(161001, "query is a null", bad.q = NULL);
    BAD(161001, "key is a null", bad.k = NULL);
    BAD(161001, "value is a null", bad.v = NULL);
    BAD(161001, "attentionOut is a null", bad.o = NULL);
    BAD(161001, "inputLayout is a null", bad.no_layout = true);
    BAD(161002, "inputLayout TND is not supported", strcpy(bad.layout, "TND"));
    BAD(161002, "inputLayout SBH is not supported", strcpy(bad.layout, "SBH"));
    BAD(161002, "inputLayout ABCDEFGHIJKLMNOPQRST is", memcpy(bad.layout, "ABCDEFGHIJKLMNOPQRSTUVW", 24));
    BAD(161002, "deqScale2 is not supported", bad.quantised = bad.q);
    BAD(161002, "numHeads is 0", bad.heads = 0);
    BAD(161002, "numHeads is -4", bad.heads = -4);
    BAD(161002, "query has shape [2, 3, 8], which does not have 3 heads", bad.heads = 3);
    BAD(161002, "not a multiple of the 3 heads", bad.kv_heads = 3);
    BAD(161002, "not a multiple of the -2 heads", bad.kv_heads = -2);
    BAD(161002, "query has shape [6, 8]", bad.q = flat.handle);
    BAD(161002, "key has data type FLOAT16, query has FLOAT", bad.k = half.handle);
    BAD(161002, "value has data type FLOAT16", bad.v = half.handle);
    BAD(161002, "query has data type INT32", bad.q = whole.handle);
    BAD(161002, "attentionOut has data type INT32", bad.o = whole.handle);
    BAD(161002, "have 3 and 2 sequences", bad.k = three.handle);
    BAD(161002, "key has 6 positions", bad.k = longer.handle);
    BAD(161002, "key have 4 elements, those of query 2", bad.k = wide.handle);
    BAD(161002, "key has shape [2, 5, 5]", bad.k = odd.handle);
    BAD(161002, "attentionOut has shape [6, 8]", bad.o = flat.handle);
    BAD(161002, "expected that of query with heads of 4", bad.v = wide.handle);
    BAD(161002, "sparseMode 4 is not supported", bad.mode = 4);
    BAD(161002, "sparseMode -1 is not supported", bad.mode = -1);
    BAD(161002, "sparseMode 1 needs attenMask", bad.mode = 1);
    BAD(161002, "sparseMode 3 needs attenMask", bad.mode = 3);
    BAD(161002, "has to be 2048 x 2048", bad.mode = 2; bad.mask = mask.handle);
    BAD(161002, "has to be 2048 x 2048", bad.mode = 2; bad.mask = deep.handle);
    BAD(161002, "has to be 2048 x 2048", bad.mode = 2; bad.mask = batch.handle);
    BAD(161002, "attenMask has data type FLOAT", bad.mask = flat.handle);
    BAD(161002, "attenMask has shape [3, 4]", bad.mask = small.handle);
    BAD(161002, "attenMask has shape [1, 1, 1, 3, 5]", bad.mask = deep.handle);
    BAD(161002, "attenMask has shape [2, 5]", bad.mask = few.handle);
    BAD(161002, "attenMask has shape [3, 3, 5]", bad.mask = batch.handle);
    BAD(161002, "attenMask has shape [2, 2, 3, 5]", bad.mask = head.handle);
    BAD(161002, "pseShift has data type BOOL", bad.shift = mask.handle);
    BAD(161002, "pseShift has shape [2, 2, 3, 5]", bad.shift = shift.handle);
    BAD(161002, "pseShift has shape [2, 3, 5]", bad.shift = shift3.handle);
    BAD(161002, "actualSeqLengths[0] is -1", bad.lengths = minus);
    BAD(161002, "actualSeqLengths[1] is 6", bad.lengths = much);
    BAD(161002, "actualSeqLengthsKv[1] is 6", bad.kv_lengths = much);
    BAD(161002, "actualSeqLengths is not a live", bad.lengths = (aclIntArray *)(void *)flat.handle);
    BAD(161002, "query has shape [2, 3, 4, 2]", bad.q = four.handle);
    aclIntArray *arrays[] = {minus, much};
    for (int i = 0; i < 2; i++) CHECK(aclDestroyIntArray(arrays[i]) == 0);
    sample *all[] = {&half, &whole, &flat, &three, &longer, &wide, &odd, &four, &mask, &small, &deep, &few,
        &batch,
                     &head, &shift, &shift3};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sample_free(all[i]);
    prompt_free(&good);
}

static void an_empty_list_of_lengths_is_none(void) {
    prompt p = prompt_new();
    aclIntArray *none = aclCreateIntArray(NULL, 0);
    uint64_t size;
    aclOpExecutor *executor;
    p.lengths = p.kv_lengths = none;
    CHECK(aclnnPromptFlashAttentionV3GetWorkspaceSize(ARGUMENTS(p), &size, &executor) == 0);
    CHECK(aclDestroyAclOpExecutor(executor) == 0 && aclDestroyIntArray(none) == 0);
    prompt_free(&p);
}

/* Lengths are those of the first phase; addresses may change. */
static void executors_keep_lengths(void) {
    prompt p = prompt_new();
    sample fresh = sample_new(ACL_FLOAT, "", DIMS(2, 5, 4));
    aclIntArray *lengths = aclCreateIntArray((int64_t[]){1, 0}, 2);
    uint64_t size;
    aclOpExecutor *executor;
    sample_fill(&fresh, -1, 1);
    p.kv_lengths = lengths;
    CHECK(aclnnPromptFlashAttentionV3GetWorkspaceSize(ARGUMENTS(p), &size, &executor) == 0);
    CHECK(aclDestroyIntArray(lengths) == 0 && aclSetAclOpExecutorRepeatable(executor) == 0);
    void *workspace = device_alloc(size);
    CHECK(aclSetInputTensorAddr(executor, 2, p.value.handle, fresh.memory) == 0);
    CHECK(aclnnPromptFlashAttentionV3(workspace, size, executor, NULL) == 0 && stub_drain() == 0);
    /* One position is all that the first sequence sees, the second one sees nothing. */
    CHECK_ALL(p.out, 0, i >= 24 ? 0 : sample_get(&fresh, i % 8 / 4 * 2 + i % 2));
    CHECK(aclSetInputTensorAddr(executor, 1, p.key.handle, fresh.memory + 4) == 0);
    CHECK(aclnnPromptFlashAttentionV3(workspace, size, executor, NULL) == 0 && stub_drain() == 507015);
    CHECK(aclSetInputTensorAddr(executor, 1, p.key.handle, p.key.memory) == 0);
    CHECK(aclSetOutputTensorAddr(executor, 0, p.out.handle, p.out.memory + 4) == 0);
    CHECK(aclnnPromptFlashAttentionV3(workspace, size, executor, NULL) == 0 && stub_drain() == 507015);
    CHECK(aclDestroyAclOpExecutor(executor) == 0);
    device_free(workspace);
    sample_free(&fresh);
    prompt_free(&p);
}

static aclTensorList *list_of(uint64_t count, const sample *members) {
    const aclTensor *handles[4];
    for (uint64_t i = 0; i < count; i++) handles[i] = members[i].handle;
    return aclCreateTensorList(handles, count);
}

static void list_free(aclTensorList *list, uint64_t count, sample *members) {
    CHECK(aclDestroyTensorList(list) == 0);
    for (uint64_t i = 0; i < count; i++) device_free(members[i].memory);
}

#define ROW(Q, K, V, LAYOUT, OUT) Q, K, V, NULL, NULL, NULL, 2, 1.0, LAYOUT, 0, OUT

static void bad_lists_are_refused(void) {
    sample q = sample_new(ACL_FLOAT, "", DIMS(2, 1, 4)), rows = sample_new(ACL_FLOAT, "", DIMS(2, 3, 4));
    sample keys[3], values[3], broad[2];
    for (int i = 0; i < 3; i++) {
        keys[i] = sample_new(ACL_FLOAT, "", DIMS(1, 3, 4));
        values[i] = sample_new(ACL_FLOAT, "", DIMS(1, 3, 4));
        sample_fill(&keys[i], -1, 1);
        sample_fill(&values[i], -1, 1);
    }
    for (int i = 0; i < 2; i++) broad[i] = sample_new(ACL_FLOAT, "", DIMS(1, 3, 4 + 2 * i));
    char bsh[] = "BSH", two[] = "BNSD_BSND";
    aclTensorList *k = list_of(2, keys), *v = list_of(2, values), *none = aclCreateTensorList(NULL, 0);
    aclTensorList *k3 = aclCreateTensorList((const aclTensor *[]){keys[0].handle, keys[1].handle,
        keys[2].handle}, 3);
    aclTensorList *uneven = list_of(2, broad);
    sample_fill(&q, -1, 1);
    LAUNCH(aclnnIncreFlashAttention, ROW(q.handle, k, v, bsh, q.handle));
    REFUSED(161001, "key is a null", aclnnIncreFlashAttention, ROW(q.handle, NULL, v, bsh, q.handle));
    REFUSED(161001, "value is a null", aclnnIncreFlashAttention, ROW(q.handle, k, NULL, bsh, q.handle));
    REFUSED(161001, "key is a null", aclnnIncreFlashAttention, ROW(q.handle, NULL, NULL, bsh, q.handle));
    REFUSED(161001, "query is a null", aclnnIncreFlashAttention, ROW(NULL, k, v, bsh, q.handle));
    REFUSED(161001, "attentionOut is a null", aclnnIncreFlashAttention, ROW(q.handle, k, v, bsh, NULL));
    REFUSED(161002, "key is an empty list", aclnnIncreFlashAttention, ROW(q.handle, none, v, bsh, q.handle));
    REFUSED(161002, "key and value have 3 and 2 tensors", aclnnIncreFlashAttention,
        ROW(q.handle, k3, v, bsh, q.handle));
    REFUSED(161002, "key and value have 3 and 3 tensors", aclnnIncreFlashAttention,
        ROW(q.handle, k3, k3, bsh, q.handle));
    REFUSED(161002, "value[1] has heads of 3", aclnnIncreFlashAttention, ROW(q.handle, k, uneven, bsh,
        q.handle));
    REFUSED(161002, "expected 1", aclnnIncreFlashAttention, ROW(rows.handle, k, v, bsh, rows.handle));
    REFUSED(161002, "BNSD_BSND is not supported", aclnnIncreFlashAttention,
        ROW(q.handle, k, v, two, q.handle));
    /* A list of one tensor holds all sequences. */
    REFUSED(161002, "have 1 and 1 sequences, expected 2", aclnnIncreFlashAttentionV4,
        q.handle, (aclTensorList *)list_of(1, &keys[2]), (aclTensorList *)list_of(1, &values[2]), NULL, NULL,
        NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 1.0, bsh, 0, 0, 1, q.handle);
    REFUSED(161002, "blocktable is not supported", aclnnIncreFlashAttentionV4, q.handle, k, v, NULL, NULL,
        NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, q.handle, NULL, 2, 1.0, bsh, 0, 128, 1, q.handle);
    REFUSED(161002, "kvPaddingSize is not supported", aclnnIncreFlashAttentionV4, q.handle, k, v, NULL, NULL,
        NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, q.handle, 2, 1.0, bsh, 0, 128, 1, q.handle);
    CHECK(aclDestroyTensorList(none) == 0 && aclDestroyTensorList(k3) == 0);
    CHECK(aclDestroyTensorList(k) == 161002);
    list_free(v, 2, values);
    list_free(uneven, 2, broad);
    mock_object_take(MOCK_OBJECT_TENSOR, values[2].handle);
    for (int i = 0; i < 3; i++) device_free(keys[i].memory);
    device_free(values[2].memory);
    sample_free(&q);
    sample_free(&rows);
    mock_nn_reset();
}

#define FUSED(Q, K, V, TABLE, WANTED, OUT, LSE)                                                          \
    Q, K, V, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, TABLE, NULL, NULL, 2, 1.0, 0, 0, \
    bsh, 0, 0, 0, 0, 0, WANTED, OUT, LSE

static void the_logarithm_needs_room(void) {
    char bsh[] = "BSH";
    sample q = sample_new(ACL_FLOAT, "", DIMS(1, 2, 4)), lse = sample_new(ACL_FLOAT, "g", DIMS(1, 2, 2, 1));
    sample half = sample_new(ACL_FLOAT16, "", DIMS(1, 2, 2, 1)), key[1] = {sample_new(ACL_FLOAT, "", DIMS(1,
        2, 4))};
    sample out = sample_new(ACL_FLOAT, "", DIMS(1, 2, 4));
    aclTensorList *list = list_of(1, key);
    for (int64_t i = 0; i < 8; i++) {
        sample_set(&q, i, 0);
        sample_set(&key[0], i, 1);
    }
    LAUNCH(aclnnFusedInferAttentionScore, FUSED(q.handle, list, list, NULL, true, out.handle, lse.handle));
    CHECK_ALL(lse, 1, log(2));
    CHECK_ALL(out, 0, 1);
    LAUNCH(aclnnFusedInferAttentionScore, FUSED(q.handle, list, list, NULL, false, out.handle, NULL));
    REFUSED(161001, "softmaxLse is a null", aclnnFusedInferAttentionScore,
        FUSED(q.handle, list, list, NULL, true, out.handle, NULL));
    REFUSED(161002, "softmaxLse has data type FLOAT16", aclnnFusedInferAttentionScore,
        FUSED(q.handle, list, list, NULL, true, out.handle, half.handle));
    REFUSED(161002, "softmaxLse has shape [1, 2, 4]", aclnnFusedInferAttentionScore,
        FUSED(q.handle, list, list, NULL, true, out.handle, q.handle));
    REFUSED(161002, "blockTable is not supported", aclnnFusedInferAttentionScore,
        FUSED(q.handle, list, list, q.handle, true, out.handle, lse.handle));
    list_free(list, 1, key);
    sample *all[] = {&q, &lse, &half, &out};
    for (int i = 0; i < 4; i++) sample_free(all[i]);
}

#define TRAINED(K, DROP, KEEP, LAYOUT, KIND, MOST, SUM) \
    TRAINED_BEHIND(NULL, K, DROP, KEEP, LAYOUT, KIND, MOST, SUM)
#define TRAINED_BEHIND(PREFIX, K, DROP, KEEP, LAYOUT, KIND, MOST, SUM)                                    \
    q.handle, K, q.handle, NULL, DROP, NULL, NULL, PREFIX, PREFIX, PREFIX, 1.0, KEEP, 0, 0, 2, LAYOUT, 0, 0, KIND, MOST, \
    SUM, NULL, out.handle

static void bad_training_is_refused(void) {
    char bsnd[] = "BSND", sbh[] = "SBH", two[] = "BNSD_BSND";
    sample q = sample_new(ACL_FLOAT, "", DIMS(1, 2, 2, 4)), out = sample_new(ACL_FLOAT, "", DIMS(1, 2, 2, 4));
    sample most = sample_new(ACL_FLOAT, "", DIMS(1, 2, 2, 8)), flat = sample_new(ACL_FLOAT, "", DIMS(2, 8));
    sample none = sample_new(ACL_FLOAT, "", DIMS(1, 2, 0, 4));
    sample_fill(&q, -1, 1);
    LAUNCH(aclnnFlashAttentionScoreV2, TRAINED(q.handle, NULL, 1, bsnd, 1, most.handle, most.handle));
    const int64_t one = 1;
    aclIntArray *empty = aclCreateIntArray(NULL, 0), *prefix = aclCreateIntArray(&one, 1);
    LAUNCH(aclnnFlashAttentionScoreV2, TRAINED_BEHIND(empty, q.handle, NULL, 1, bsnd, 1, most.handle, most.handle));
    REFUSED(161002, "prefixOptional is not supported", aclnnFlashAttentionScoreV2,
        TRAINED_BEHIND(prefix, q.handle, NULL, 1, bsnd, 1, most.handle, most.handle));
    aclDestroyIntArray(empty);
    aclDestroyIntArray(prefix);
    REFUSED(161002, "dropMaskOptional is not supported", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, q.handle, 1, bsnd, 1, most.handle, most.handle));
    REFUSED(161002, "keepProb is 0.5", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, NULL, 0.5, bsnd, 1, most.handle, most.handle));
    REFUSED(161002, "pseType 2", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, NULL, 1, bsnd, 2, most.handle, most.handle));
    REFUSED(161002, "does not have 2 heads in layout SBH", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, NULL, 1, sbh, 0, most.handle, most.handle));
    REFUSED(161002, "BNSD_BSND is not supported", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, NULL, 1, two, 0, most.handle, most.handle));
    REFUSED(161001, "softmaxMaxOut is a null", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, NULL, 1, bsnd, 0, NULL, most.handle));
    REFUSED(161002, "softmaxSumOut has shape", aclnnFlashAttentionScoreV2,
        TRAINED(q.handle, NULL, 1, bsnd, 0, most.handle, flat.handle));
    REFUSED(161002, "is not a multiple of the 0 heads", aclnnFlashAttentionScoreV2,
        TRAINED(flat.handle, NULL, 1, bsnd, 0, most.handle, most.handle));
    REFUSED(161002, "is not a multiple of the 0 heads", aclnnFlashAttentionScoreV2,
        TRAINED(none.handle, NULL, 1, bsnd, 0, most.handle, most.handle));
    sample *all[] = {&q, &out, &most, &flat, &none};
    for (int i = 0; i < 5; i++) sample_free(all[i]);
}

int main(void) {
    bad_prompts_are_refused();
    an_empty_list_of_lengths_is_none();
    executors_keep_lengths();
    bad_lists_are_refused();
    the_logarithm_needs_room();
    bad_training_is_refused();
    puts("op_attention: ok");
    return 0;
}
