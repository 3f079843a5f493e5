/* Part of racl (mock-acl). Buffers for queues, groups of cores, random numbers. */
#include <math.h>
#include "check.h"

static void one_buffer(void) {
    up();
    aclrtMbuf b = NULL, copy = NULL;
    void *data = NULL, *same = NULL;
    size_t size = 0;
    CODE(aclrtAllocBuf(&b, 0), 100000);
    CODE(aclrtAllocBuf(NULL, 8), 100000);
    OK(aclrtAllocBuf(&b, 100));
    OK(aclrtGetBufData(b, &data, &size));
    CHECK(data != NULL && size == 100);
    memset(data, 5, 100);
    OK(aclrtGetBufDataLen(b, &size));
    CHECK(size == 100);
    OK(aclrtSetBufDataLen(b, 40));
    CODE(aclrtSetBufDataLen(b, 101), 107000);
    OK(aclrtSetBufUserData(b, "hello", 6, 90));
    CODE(aclrtSetBufUserData(b, "hello", 7, 90), 100000);
    CODE(aclrtSetBufUserData(b, "hello", SIZE_MAX, 90), 100000);
    OK(aclrtCopyBufRef(b, &copy));
    OK(aclrtFreeBuf(b));
    CODE(aclrtFreeBuf(b), 107017);
    OK(aclrtGetBufData(copy, &same, &size));
    CHECK(same == data && ((char *)same)[99] == 5); /* the memory lives with the second */
    char text[6];
    OK(aclrtGetBufUserData(copy, text, 6, 90));
    CHECK(strcmp(text, "hello") == 0);
    OK(aclrtGetBufDataLen(copy, &size));
    CHECK(size == 40 && live().buffers == 1);
    OK(aclrtFreeBuf(copy));
    CHECK(live().buffers == 0);
}

static void chains(void) {
    up();
    aclrtMbuf b[130], got = NULL;
    uint32_t n = 0;
    for (int i = 0; i < 130; i++) OK(aclrtAllocBuf(&b[i], 8));
    OK(aclrtGetBufChainNum(b[0], &n));
    CHECK(n == 1);
    for (int i = 1; i < 128; i++) OK(aclrtAppendBufChain(b[0], b[i]));
    CODE(aclrtAppendBufChain(b[0], b[128]), 107000);
    CODE(aclrtAppendBufChain(b[128], b[5]), 107000);
    CODE(aclrtAppendBufChain(b[5], b[128]), 107000);
    CODE(aclrtAppendBufChain(b[128], b[128]), 107000);
    CODE(aclrtAppendBufChain(b[128], b[0]), 107000);
    OK(aclrtGetBufChainNum(b[0], &n));
    CHECK(n == 128);
    OK(aclrtGetBufFromChain(b[0], 0, &got));
    CHECK(got == b[0]);
    OK(aclrtGetBufFromChain(b[0], 127, &got));
    CHECK(got == b[127]);
    CODE(aclrtGetBufFromChain(b[0], 128, &got), 107000);
    CODE(aclrtFreeBuf(b[5]), 107000);
    OK(aclrtFreeBuf(b[0]));
    CODE(aclrtFreeBuf(b[5]), 107017);
    CHECK(live().buffers == 2);
    CHECK(mock_acl_reset() == 0);
    CHECK(live().buffers == 0);
}

static void core_groups(void) {
    up();
    uint32_t count = 0, cores = 0;
    size_t size = 0;
    OK(aclrtGetGroupCount(&count));
    CHECK(count == 1);
    aclrtGroupInfo *g = aclrtCreateGroupInfo();
    CHECK(g != NULL);
    OK(aclrtGetAllGroupInfo(g));
    OK(aclrtGetGroupInfoDetail(g, 0, ACL_GROUP_AIV_INT, &cores, sizeof cores, &size));
    CHECK(cores == 48 && size == 4);
    CODE(aclrtGetGroupInfoDetail(g, 1, ACL_GROUP_AIV_INT, &cores, sizeof cores, &size), 100000);
    CODE(aclrtGetGroupInfoDetail(g, 0, (aclrtGroupAttr)6, &cores, sizeof cores, &size), 100000);
    CODE(aclrtGetGroupInfoDetail(g, 0, ACL_GROUP_AIV_INT, &cores, 3, &size), 100000);
    OK(aclrtSetGroup(0));
    CODE(aclrtSetGroup(1), 107000);
    OK(aclrtDestroyGroupInfo(g));
    CODE(aclrtDestroyGroupInfo(g), 107017);
    void *a = NULL, *b = NULL;
    OK(aclrtGetHardwareSyncAddr(&a));
    OK(aclrtGetHardwareSyncAddr(&b));
    CHECK(a != NULL && a == b);
    CODE(aclrtGetHardwareSyncAddr(NULL), 107000);
    CHECK(aclrtCreateGroupInfo() != NULL); /* for the reset */
    CHECK(mock_acl_reset() == 0);
}

/* ---- random numbers ---- */

static aclrtRandomParaInfo number(const void *value, uint8_t size) {
    aclrtRandomParaInfo p = {.size = size};
    memcpy(p.valueOrAddr, value, size);
    return p;
}

static aclrtRandomNumTaskInfo task(aclDataType type, aclrtRandomNumFuncType function, uint64_t count) {
    const uint64_t seed = 0;
    aclrtRandomNumTaskInfo t = {.dataType = type};
    t.randomNumFuncParaInfo.funcType = function;
    t.randomSeed = number(&seed, 8);
    t.randomNum = number(&count, 8);
    t.randomCounterAddr = device(16);
    t.randomResultAddr = device(count * 8);
    OK(aclrtMemset(t.randomCounterAddr, 16, 0, 16));
    return t;
}

static void *run(aclrtRandomNumTaskInfo *t, void *out, size_t size) {
    aclrtStream s = new_stream();
    OK(aclrtRandomNumAsync(t, s, NULL));
    OK(aclrtSynchronizeStream(s));
    read_back(out, t->randomResultAddr, size);
    return out;
}

/* The published test vector of Philox4x32-10 for key and counter 0. */
static void known_words(void) {
    up();
    uint32_t words[8], tail[4], zero = 0;
    aclrtRandomNumTaskInfo t = task(ACL_UINT32, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 8);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&zero, 4);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&zero, 4);
    run(&t, words, sizeof words);
    const uint32_t expected[4] = {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8};
    CHECK(memcmp(words, expected, sizeof expected) == 0);
    const uint64_t one = 1;
    OK(aclrtMemcpy(t.randomCounterAddr, 16, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    run(&t, tail, sizeof tail);
    CHECK(memcmp(words + 4, tail, sizeof tail) == 0); /* the counter says where to go on */
}

#define MANY 20000

static void distributions(void) {
    up();
    static float f[MANY];
    float a = -1, b = 3;
    double sum = 0, squares = 0;
    aclrtRandomNumTaskInfo t = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, MANY);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&a, 4);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&b, 4);
    run(&t, f, sizeof f);
    for (int i = 0; i < MANY; i++) {
        CHECK(f[i] >= -1 && f[i] < 3);
        sum += f[i];
    }
    CHECK(fabs(sum / MANY - 1) < 0.05); /* 6 standard errors */
    a = 10, b = 2, sum = 0;
    t = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, MANY);
    t.randomNumFuncParaInfo.paramInfo.normalDisInfo.mean = number(&a, 4);
    t.randomNumFuncParaInfo.paramInfo.normalDisInfo.stddev = number(&b, 4);
    run(&t, f, sizeof f);
    for (int i = 0; i < MANY; i++) sum += f[i], squares += (f[i] - 10.0) * (f[i] - 10.0);
    CHECK(fabs(sum / MANY - 10) < 0.1 && fabs(squares / MANY - 4) < 0.25);
    t.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
    run(&t, f, sizeof f);
    for (int i = 0; i < MANY; i++) CHECK(f[i] >= 6 && f[i] <= 14);
    float ratio = 0.25f;
    static unsigned char bits[MANY / 8];
    t = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, MANY);
    t.randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation = number(&ratio, 4);
    run(&t, bits, sizeof bits);
    int kept = 0;
    for (int i = 0; i < MANY; i++) kept += bits[i / 8] >> (i % 8) & 1;
    CHECK(kept > MANY * 0.73 && kept < MANY * 0.77);
}

static void other_types(void) {
    up();
    int64_t least = -5, most = 5, wide[1000];
    aclrtRandomNumTaskInfo t = task(ACL_INT64, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 1000);
    /* operands in device memory are read when the task runs */
    int64_t *where = device(8);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&where, 8);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min.isAddr = 1;
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&most, 8);
    OK(aclrtMemcpy(where, 8, &least, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    run(&t, wide, sizeof wide);
    bool negative = false;
    for (int i = 0; i < 1000; i++) {
        CHECK(wide[i] >= -5 && wide[i] < 5);
        negative |= wide[i] < 0;
    }
    CHECK(negative);
    aclFloat16 half[100], one = aclFloatToFloat16(1), two = aclFloatToFloat16(2);
    t = task(ACL_FLOAT16, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 100);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&one, 2);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&two, 2);
    run(&t, half, sizeof half);
    for (int i = 0; i < 100; i++) CHECK(aclFloat16ToFloat(half[i]) >= 1 && aclFloat16ToFloat(half[i]) <= 2);
}

static void refused(void) {
    up();
    float a = 0;
    aclrtStream s = new_stream();
    aclrtRandomNumTaskInfo t = task(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 8);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&a, 4);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&a, 4);
    CODE(aclrtRandomNumAsync(NULL, s, NULL), 100000);
    const aclrtRandomNumTaskInfo good = t;
    t.dataType = ACL_INT8;
    CODE(aclrtRandomNumAsync(&t, s, NULL), 100000);
    t = good, t.dataType = ACL_INT32;
    t.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
    CODE(aclrtRandomNumAsync(&t, s, NULL), 107000);
    t = good, t.randomNumFuncParaInfo.funcType = (aclrtRandomNumFuncType)4;
    CODE(aclrtRandomNumAsync(&t, s, NULL), 107000);
    t = good, t.randomSeed.size = 4;
    CODE(aclrtRandomNumAsync(&t, s, NULL), 107000);
    t = good, t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max.size = 8;
    CODE(aclrtRandomNumAsync(&t, s, NULL), 107000);
    t = good, t.randomResultAddr = NULL;
    CODE(aclrtRandomNumAsync(&t, s, NULL), 107000);
    const uint64_t much = UINT64_MAX;
    t = good, t.randomNum = number(&much, 8);
    OK(aclrtRandomNumAsync(&t, s, NULL));
    CODE(aclrtSynchronizeStream(s), 507053);
    OK(aclrtFree(t.randomCounterAddr));
    OK(aclrtRandomNumAsync(&good, s, NULL));
    CODE(aclrtSynchronizeStream(s), 507053);
    CODE(aclrtRandomNumAsync(&good, (aclrtStream)&t, NULL), 107017);
}

/* A replay draws the same numbers: the graph owns the task, the memory says where to go on. */
static void captured(void) {
    up();
    aclrtStream s = new_stream();
    uint32_t zero = 0, first[4], second[4];
    aclrtRandomNumTaskInfo t = task(ACL_UINT32, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 4);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = number(&zero, 4);
    t.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = number(&zero, 4);
    aclmdlRI g = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtRandomNumAsync(&t, s, NULL));
    OK(aclmdlRICaptureEnd(s, &g));
    OK(aclmdlRIExecuteAsync(g, s));
    OK(aclrtSynchronizeStream(s));
    read_back(first, t.randomResultAddr, sizeof first);
    OK(aclrtMemset(t.randomCounterAddr, 16, 9, 16));
    OK(aclmdlRIExecuteAsync(g, s));
    OK(aclrtSynchronizeStream(s));
    read_back(second, t.randomResultAddr, sizeof second);
    CHECK(first[0] == 0x6627E8D5 && memcmp(first, second, sizeof first) != 0);
}

int main(void) {
    one_buffer();
    chains();
    core_groups();
    known_words();
    distributions();
    other_types();
    refused();
    captured();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
