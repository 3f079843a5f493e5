/* What every call of communicators refuses, and the reductions of every type, in one thread. */
#include <math.h>
#include "collectives/ranks.h"

static HcclComm both[2], one;
static aclrtStream stream[2];
static void *memory[4]; /* of the ranks, to send from and to receive in */
static const HcclDataType f = HCCL_DATA_TYPE_FP32;

static void start(void) {
    int32_t devices[] = {0, 1};
    CHECK(mock_acl_reset() == 0);
    OK(aclInit(NULL));
    for (int r = 1; r >= 0; r--) {
        OK(aclrtSetDevice(r));
        stream[r] = new_stream();
        memory[2 * r] = device(256);
        memory[2 * r + 1] = device(256);
    }
    HOK(HcclCommInitAll(2, devices, both));
    HOK(HcclCommInitAll(1, devices, &one));
}

static void finish(void) {
    for (int r = 0; r < 2; r++) HOK(HcclCommDestroy(both[r]));
    HOK(HcclCommDestroy(one));
    for (int r = 0; r < 4; r++) OK(aclrtFree(memory[r]));
    for (int r = 0; r < 2; r++) {
        OK(aclrtSetDevice(r));
        OK(aclrtDestroyStream(stream[r]));
    }
    OK(aclrtSetDevice(0));
}

static void said(const char *part) {
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, part) != NULL);
}

/* ---- communicators ---- */

static void communicators_are_asked(void) {
    uint32_t n = 7;
    char name[COMM_NAME_MAX_LENGTH];
    HcclResult error = HCCL_E_INTERNAL;
    const HcclComm bad[] = {NULL, (HcclComm)&n};
    const int code[] = {HCCL_E_PTR, HCCL_E_PARA};
    for (int i = 0; i < 2; i++) {
        CODE(HcclGetRankSize(bad[i], &n), code[i]);
        CODE(HcclGetRankId(bad[i], &n), code[i]);
        CODE(HcclGetCommName(bad[i], name), code[i]);
        CODE(HcclGetCommAsyncError(bad[i], &error), code[i]);
        CODE(HcclBarrier(bad[i], stream[0]), code[i]);
        CODE(HcclSend(memory[0], 1, f, 0, bad[i], stream[0]), code[i]);
        CHECK(n == 7 && error == HCCL_E_INTERNAL);
    }
    CODE(HcclGetRankSize(one, NULL), HCCL_E_PTR);
    CODE(HcclGetRankId(one, NULL), HCCL_E_PTR);
    CODE(HcclGetCommName(one, NULL), HCCL_E_PTR);
    CODE(HcclGetCommAsyncError(one, NULL), HCCL_E_PTR);
    HOK(HcclGetCommAsyncError(one, &error));
    CHECK(error == HCCL_SUCCESS);
    HcclConfigValue value = {.value = -1};
    CODE(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_E_PARA);
    CODE(HcclGetConfig(HCCL_DETERMINISTIC, NULL), HCCL_E_PTR);
    CODE(HcclGetConfig(HCCL_CONFIG_RESERVED, &value), HCCL_E_NOT_SUPPORT);
    CHECK(HcclGetCommConfigCapability() == HCCL_COMM_CONFIG_RESERVED);
    CHECK(strcmp(HcclGetErrorString((HcclResult)-1), "unknown error") == 0);
}

static void set_head(HcclCommConfig *config, size_t size, uint32_t magic, uint32_t version) {
    memcpy(config->reserved, &size, sizeof size);
    memcpy(config->reserved + sizeof size, &magic, sizeof magic);
    memcpy(config->reserved + sizeof size + sizeof magic, &version, sizeof version);
}

/* A configuration is read as its version says, and has to be as long. */
static void configurations_are_read_by_their_version(void) {
    const struct {
        size_t size;
        uint32_t magic, version;
        int code;
    } heads[] = {
        {300, HCCL_COMM_CONFIG_MAGIC_WORD, 5, HCCL_SUCCESS},
        {312, HCCL_COMM_CONFIG_MAGIC_WORD, 6, HCCL_SUCCESS},
        {316, HCCL_COMM_CONFIG_MAGIC_WORD, 7, HCCL_SUCCESS},
        {2098, HCCL_COMM_CONFIG_MAGIC_WORD, 8, HCCL_SUCCESS},
        {2228, HCCL_COMM_CONFIG_MAGIC_WORD, 9, HCCL_SUCCESS},
        {sizeof(HcclCommConfig), HCCL_COMM_CONFIG_MAGIC_WORD, 10, HCCL_SUCCESS},
        {300, HCCL_COMM_CONFIG_MAGIC_WORD, 10, HCCL_E_PARA},
        {316, HCCL_COMM_CONFIG_MAGIC_WORD, 8, HCCL_E_PARA},
        {299, HCCL_COMM_CONFIG_MAGIC_WORD, 1, HCCL_E_PARA},
        {sizeof(HcclCommConfig) + 1, HCCL_COMM_CONFIG_MAGIC_WORD, 10, HCCL_E_PARA},
        {300, 0, 5, HCCL_E_PARA},
        {300, HCCL_COMM_CONFIG_MAGIC_WORD, 0, HCCL_E_NOT_SUPPORT},
        {300, HCCL_COMM_CONFIG_MAGIC_WORD, 11, HCCL_E_NOT_SUPPORT},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        HcclCommConfig config = {.hcclExecTimeOut = -1};
        HcclRootInfo info;
        HcclComm c = NULL;
        char name[COMM_NAME_MAX_LENGTH];
        set_head(&config, heads[i].size, heads[i].magic, heads[i].version);
        strcpy(config.hcclCommName, "told");
        HOK(HcclGetRootInfo(&info));
        CODE(HcclCommInitRootInfoConfig(1, &info, 0, &config, &c), heads[i].code);
        CHECK((c != NULL) == (heads[i].code == 0));
        if (c == NULL) continue;
        HOK(HcclGetCommName(c, name));
        CHECK(strcmp(name, "told") == 0);
        HOK(HcclCommDestroy(c));
    }
}

static void seats_are_taken_once(void) {
    HcclRootInfo info;
    HcclComm c = NULL, other = NULL;
    HOK(HcclGetRootInfo(&info));
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    CODE(HcclCommInitRootInfo(2, &info, 0, &c), HCCL_E_TIMEOUT);
    unsetenv("HCCL_CONNECT_TIMEOUT");
    CODE(HcclCommInitClusterInfo(NULL, 0, &c), HCCL_E_PTR);
    CODE(HcclCommInitClusterInfo("/nowhere", 0, NULL), HCCL_E_PTR);
    CODE(HcclCommInitClusterInfoConfig("/nowhere", 0, NULL, &c), HCCL_E_PTR);
    int32_t negative[] = {-1};
    CODE(HcclCommInitAll(1, negative, &other), HCCL_E_PARA);
    said("no device -1");
    CODE(HcclCommInitAll(1, negative, NULL), HCCL_E_PTR);
    CODE(HcclCommInitAll(1000, negative, &other), HCCL_E_NOT_SUPPORT);
    CHECK(c == NULL && other == NULL);
}

static void parts_of_communicators(void) {
    HcclCommConfig config = {.hcclExecTimeOut = -1};
    set_head(&config, sizeof config, HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION);
    HcclComm sub = NULL;
    uint32_t self[] = {0}, second[] = {1}, twice[] = {0, 0}, far[] = {0, 5}, all[] = {0, 1};
    CODE(HcclCreateSubCommConfig(NULL, 1, self, 1, 0, &config, &sub), HCCL_E_PTR);
    CODE(HcclCreateSubCommConfig(&both[0], 1, self, 1, 0, NULL, &sub), HCCL_E_PTR);
    CODE(HcclCreateSubCommConfig(&both[0], 1, self, 1, 0, &config, NULL), HCCL_E_PTR);
    CODE(HcclCreateSubCommConfig(&both[0], 0, NULL, 1, 0, &config, &sub), HCCL_E_PTR);
    said("rankIds");
    CODE(HcclCreateSubCommConfig(&sub, 1, self, 1, 0, &config, &sub), HCCL_E_PTR);
    CODE(HcclCreateSubCommConfig(&both[0], 0, self, 1, 0, &config, &sub), HCCL_E_PARA);
    CODE(HcclCreateSubCommConfig(&both[0], 3, all, 1, 0, &config, &sub), HCCL_E_PARA);
    CODE(HcclCreateSubCommConfig(&both[0], 1, self, 1, 1, &config, &sub), HCCL_E_PARA);
    CODE(HcclCreateSubCommConfig(&both[0], 1, second, 1, 0, &config, &sub), HCCL_E_PARA);
    CODE(HcclCreateSubCommConfig(&both[0], 2, twice, 1, 0, &config, &sub), HCCL_E_PARA);
    CODE(HcclCreateSubCommConfig(&both[0], 2, far, 1, 0, &config, &sub), HCCL_E_PARA);
    said("rank 5");
    CHECK(sub == NULL);
    /* The first of them does not come. */
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    CODE(HcclCreateSubCommConfig(&both[1], 2, all, 1, 1, &config, &sub), HCCL_E_TIMEOUT);
    unsetenv("HCCL_CONNECT_TIMEOUT");
    HOK(HcclCreateSubCommConfig(&both[1], 1, second, 1, 0, &config, &sub));
    uint32_t size = 0;
    HOK(HcclGetRankSize(sub, &size));
    CHECK(size == 1);
    HOK(HcclCommDestroy(sub));
}

/* ---- operations ---- */

static void operations_are_checked(void) {
    void *d = memory[0];
    aclrtStream s = stream[0];
    const HcclReduceOp sum = HCCL_REDUCE_SUM;
    const HcclDataType none = (HcclDataType)13, wide = HCCL_DATA_TYPE_INT128;
    const uint64_t much = UINT64_MAX / 2;
    /* Reductions: type, kind, root, size, addresses. */
    CODE(HcclReduce(d, d, 1, none, sum, 0, one, s), HCCL_E_PARA);
    CODE(HcclReduce(d, d, 1, wide, sum, 0, one, s), HCCL_E_NOT_SUPPORT);
    said("int128");
    CODE(HcclReduce(d, d, 1, f, (HcclReduceOp)-1, 0, one, s), HCCL_E_PARA);
    CODE(HcclReduce(d, d, 1, f, sum, 1, one, s), HCCL_E_PARA);
    CODE(HcclReduce(d, NULL, 1, f, sum, 0, one, s), HCCL_E_PTR);
    CODE(HcclReduce(NULL, d, 1, f, sum, 0, one, s), HCCL_E_PTR);
    HOK(HcclReduce(NULL, NULL, 0, f, sum, 0, one, s));
    CODE(HcclReduceScatter(d, d, 1, none, sum, one, s), HCCL_E_PARA);
    CODE(HcclReduceScatter(d, d, much, f, sum, one, s), HCCL_E_PARA);
    CODE(HcclReduceScatter(d, d, much / 4, f, sum, both[0], s), HCCL_E_PARA); /* of both ranks together */
    HOK(HcclReduceScatter(NULL, NULL, 0, f, sum, one, s));
    /* From one to all, and together. */
    CODE(HcclBroadcast(NULL, 1, f, 0, one, s), HCCL_E_PTR);
    CODE(HcclBroadcast(d, 1, none, 0, one, s), HCCL_E_PARA);
    HOK(HcclBroadcast(NULL, 0, f, 0, one, s));
    CODE(HcclScatter(NULL, d, 1, f, 0, one, s), HCCL_E_PTR); /* the root sends */
    CODE(HcclScatter(d, NULL, 1, f, 0, one, s), HCCL_E_PTR);
    CODE(HcclScatter(d, d, 1, f, 9, one, s), HCCL_E_PARA);
    HOK(HcclScatter(NULL, NULL, 0, f, 0, one, s));
    CODE(HcclAllGather(d, NULL, 1, f, one, s), HCCL_E_PTR);
    CODE(HcclAllGather(d, d, 1, none, one, s), HCCL_E_PARA);
    HOK(HcclAllGather(NULL, NULL, 0, f, one, s));
    CODE(HcclAlltoAll(d, 1, f, d, 1, HCCL_DATA_TYPE_INT32, one, s), HCCL_E_PARA);
    CODE(HcclAlltoAll(d, 1, none, d, 1, none, one, s), HCCL_E_PARA);
    CODE(HcclAlltoAll(NULL, 1, f, d, 1, f, one, s), HCCL_E_PTR);
    HOK(HcclAlltoAll(NULL, 0, f, NULL, 0, f, one, s));
    OK(aclrtSynchronizeStream(s));
}

static void lists_are_checked(void) {
    void *d = memory[0];
    aclrtStream s = stream[0];
    const HcclReduceOp sum = HCCL_REDUCE_SUM;
    const HcclDataType none = (HcclDataType)13;
    const uint64_t count[] = {1}, at[] = {0}, zero[] = {0}, much[] = {UINT64_MAX}, pair[] = {1, UINT64_MAX, 1, 1};
    CODE(HcclReduceScatterV(d, count, at, d, 1, none, sum, one, s), HCCL_E_PARA);
    CODE(HcclReduceScatterV(d, NULL, at, d, 1, f, sum, one, s), HCCL_E_PTR);
    CODE(HcclReduceScatterV(d, count, NULL, d, 1, f, sum, one, s), HCCL_E_PTR);
    CODE(HcclReduceScatterV(d, count, at, d, 2, f, sum, one, s), HCCL_E_PARA);
    said("recvCount");
    CODE(HcclReduceScatterV(d, much, at, d, 1, f, sum, one, s), HCCL_E_PARA);
    CODE(HcclReduceScatterV(d, count, at, NULL, 1, f, sum, one, s), HCCL_E_PTR);
    CODE(HcclReduceScatterV(d, count, at, d, 1, f, sum, NULL, s), HCCL_E_PTR);
    CODE(HcclAllGatherV(d, 1, d, NULL, at, f, one, s), HCCL_E_PTR);
    CODE(HcclAllGatherV(d, 1, d, much, at, f, one, s), HCCL_E_PARA);
    CODE(HcclAllGatherV(NULL, 1, d, count, at, f, one, s), HCCL_E_PTR);
    CODE(HcclAllGatherV(d, 1, d, count, at, none, one, s), HCCL_E_PARA);
    HOK(HcclAllGatherV(NULL, 0, NULL, zero, at, f, one, s));
    CODE(HcclAlltoAllV(d, count, at, f, d, count, at, none, one, s), HCCL_E_PARA);
    CODE(HcclAlltoAllV(d, count, at, f, d, count, much, f, one, s), HCCL_E_PARA);
    CODE(HcclAlltoAllV(d, count, at, f, NULL, count, at, f, one, s), HCCL_E_PTR);
    CODE(HcclAlltoAllV(d, count, at, f, d, count, at, f, NULL, s), HCCL_E_PTR);
    HOK(HcclAlltoAllV(NULL, zero, at, f, NULL, zero, at, f, one, s));
    CODE(HcclAlltoAllVC(d, count, f, d, HCCL_DATA_TYPE_INT8, one, s), HCCL_E_PARA);
    CODE(HcclAlltoAllVC(d, NULL, f, d, f, one, s), HCCL_E_PTR);
    CODE(HcclAlltoAllVC(d, pair, f, d, f, both[0], s), HCCL_E_PARA);
    said("too large");
    CODE(HcclAlltoAllVC(d, much, f, d, f, one, s), HCCL_E_PARA);
    OK(aclrtSynchronizeStream(s));
}

/* ---- messages ---- */

static void messages_are_checked(void) {
    void *d = memory[0];
    aclrtStream s = stream[0];
    CODE(HcclSend(d, 1, (HcclDataType)13, 0, one, s), HCCL_E_PARA);
    CODE(HcclRecv(d, UINT64_MAX / 4, f, 0, one, s), HCCL_E_PARA);
    said("too many");
    CODE(HcclRecv(NULL, 1, f, 0, one, s), HCCL_E_PTR);
    HcclSendRecvItem items[9] = {{HCCL_SEND, d, 1, f, 0}, {(HcclSendRecvType)7, d, 1, f, 0}};
    CODE(HcclBatchSendRecv(items, 2, one, s), HCCL_E_PARA);
    said("neither send nor receive");
    CODE(HcclBatchSendRecv(items, 0, one, s), HCCL_E_PARA);
    CODE(HcclBatchSendRecv(items, 1, NULL, s), HCCL_E_PTR);
    /* Nine of them, of no bytes and of some, to the rank itself. */
    for (int i = 0; i < 9; i++)
        items[i] = (HcclSendRecvItem){i % 2 == 0 ? HCCL_SEND : HCCL_RECV, i < 2 ? NULL : d, i < 2 ? 0 : 4, f, 0};
    HOK(HcclBatchSendRecv(items, 8, one, s));
    OK(aclrtSynchronizeStream(s));
}

/* Groups inside of groups are one; a refused call refuses it, on every stream that it has. */
static void groups_are_checked(void) {
    void *d = memory[0];
    aclrtStream more[65];
    for (int i = 0; i < 65; i++) more[i] = new_stream();
    HOK(HcclGroupStart());
    HOK(HcclGroupStart());
    HOK(HcclSend(d, 1, f, 0, one, more[0]));
    HOK(HcclGroupEnd());
    CODE(HcclSend(d, 1, f, 9, one, more[1]), HCCL_E_PARA);
    CODE(HcclSend(d, 1, (HcclDataType)13, 0, one, more[1]), HCCL_E_PARA); /* the first refusal is told */
    CODE(HcclGroupEnd(), HCCL_E_PARA);
    CODE(HcclGroupEnd(), HCCL_E_PARA);
    HOK(HcclGroupStart());
    for (int i = 0; i < 64; i++) HOK(HcclSend(d, 1, f, 0, one, more[i]));
    CODE(HcclSend(d, 1, f, 0, one, more[64]), HCCL_E_MEMORY);
    said("up to 64");
    CODE(HcclGroupEnd(), HCCL_E_MEMORY);
    HOK(HcclGroupStart());
    HOK(HcclGroupEnd());
    for (int i = 0; i < 65; i++) {
        OK(aclrtSynchronizeStream(more[i]));
        OK(aclrtDestroyStream(more[i]));
    }
}

/* An injected failure of a call in a group, or of its end, refuses the whole, and leaves the thread in no group. */
static void calls_are_counted_and_fail_when_told(void) {
    void *d = memory[0];
    aclrtStream s = new_stream();
    const uint64_t barriers = mock_acl_calls("HcclBarrier");
    HOK(HcclBarrier(one, s));
    CHECK(mock_acl_calls("HcclBarrier") == barriers + 1);
    CHECK(mock_acl_fail("HcclBarrier", 1, HCCL_E_REMOTE) == 0);
    CODE(HcclBarrier(one, s), HCCL_E_REMOTE);
    said("HcclBarrier: injected failure 21");
    CHECK(mock_acl_fail("HcclCommSuspend", 1, HCCL_E_REMOTE) == 0);
    const char *const grouped[] = {"HcclSend", "HcclGroupEnd"};
    for (size_t i = 0; i < 2; i++) {
        CHECK(mock_acl_fail(grouped[i], 1, HCCL_E_DRV) == 0);
        HOK(HcclGroupStart());
        CODE(HcclSend(d, 1, f, 0, one, s), i == 0 ? HCCL_E_DRV : HCCL_SUCCESS);
        HOK(HcclRecv(d, 1, f, 0, one, s));
        CODE(HcclGroupEnd(), HCCL_E_DRV);
        CODE(HcclGroupEnd(), HCCL_E_PARA);
    }
    CHECK(mock_acl_lookup("HcclAllReduce") != NULL);
    mock_acl_clear_failures();
    OK(aclrtSynchronizeStream(s));
    OK(aclrtDestroyStream(s));
}

/* ---- reductions of two ranks ---- */

#define COUNT 4
typedef union numbers {
    int8_t i8[COUNT];
    int16_t i16[COUNT];
    int32_t i32[COUNT];
    int64_t i64[COUNT];
    float f32[COUNT];
    uint16_t half[COUNT];
} numbers;

/* Small whole numbers, which f16 and bf16 have as well, as the upper half of f32 and by hand. */
static const int from[2][COUNT] = {{3, -4, 0, 7}, {-2, -4, 5, 6}};
static const struct {
    int value;
    uint16_t f16, bf16;
} halves[] = {{3, 0x4200, 0x4040}, {-4, 0xC400, 0xC080}, {0, 0, 0}, {7, 0x4700, 0x40E0}, {-2, 0xC000, 0xC000},
    {5, 0x4500, 0x40A0}, {6, 0x4600, 0x40C0}, {1, 0x3C00, 0x3F80}, {-8, 0xC800, 0xC100}, {13, 0x4A80, 0x4150},
    {-6, 0xC600, 0xC0C0}, {16, 0x4C00, 0x4180}, {42, 0x5140, 0x4228}};

static uint16_t half_of(HcclDataType type, int value) {
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (halves[i].value == value) return type == HCCL_DATA_TYPE_FP16 ? halves[i].f16 : halves[i].bf16;
    fprintf(stderr, "no half for %d\n", value);
    exit(1);
}

static void put(HcclDataType type, numbers *to, int i, int value) {
    switch (type) {
    case HCCL_DATA_TYPE_INT8: to->i8[i] = (int8_t)value; break;
    case HCCL_DATA_TYPE_INT16: to->i16[i] = (int16_t)value; break;
    case HCCL_DATA_TYPE_INT32: to->i32[i] = value; break;
    case HCCL_DATA_TYPE_INT64: to->i64[i] = value; break;
    case HCCL_DATA_TYPE_FP32: to->f32[i] = (float)value; break;
    default: to->half[i] = half_of(type, value);
    }
}

static int reduced(HcclReduceOp op, int a, int b) {
    switch (op) {
    case HCCL_REDUCE_SUM: return a + b;
    case HCCL_REDUCE_PROD: return a * b;
    case HCCL_REDUCE_MAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

/* One thread queues for both ranks, then waits. */
static void reduce(HcclDataType type, HcclReduceOp op, const numbers *mine, numbers *got) {
    for (int r = 0; r < 2; r++) {
        OK(aclrtSetDevice(r));
        OK(aclrtMemcpy(memory[2 * r], sizeof *mine, &mine[r], sizeof *mine, ACL_MEMCPY_HOST_TO_DEVICE));
        HOK(HcclAllReduce(memory[2 * r], memory[2 * r + 1], COUNT, type, op, both[r], stream[r]));
    }
    for (int r = 0; r < 2; r++) {
        OK(aclrtSetDevice(r));
        OK(aclrtSynchronizeStream(stream[r]));
        read_back(&got[r], memory[2 * r + 1], sizeof *got);
    }
    OK(aclrtSetDevice(0));
}

static void every_type_is_reduced(void) {
    static const struct {
        HcclDataType type;
        size_t size;
    } all[] = {{HCCL_DATA_TYPE_INT8, 1}, {HCCL_DATA_TYPE_INT16, 2}, {HCCL_DATA_TYPE_INT32, 4},
        {HCCL_DATA_TYPE_INT64, 8}, {HCCL_DATA_TYPE_FP32, 4}, {HCCL_DATA_TYPE_FP16, 2}, {HCCL_DATA_TYPE_BFP16, 2}};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        for (int op = HCCL_REDUCE_SUM; op <= HCCL_REDUCE_MIN; op++) {
            const HcclDataType type = all[t].type;
            if (op == HCCL_REDUCE_PROD && (type == HCCL_DATA_TYPE_INT16 || type == HCCL_DATA_TYPE_BFP16)) continue;
            numbers mine[2], got[2], want;
            memset(mine, 0, sizeof mine);
            memset(&want, 0, sizeof want);
            for (int i = 0; i < COUNT; i++) {
                for (int r = 0; r < 2; r++) put(type, &mine[r], i, from[r][i]);
                put(type, &want, i, reduced((HcclReduceOp)op, from[0][i], from[1][i]));
            }
            reduce(type, (HcclReduceOp)op, mine, got);
            for (int r = 0; r < 2; r++) {
                if (op == HCCL_REDUCE_PROD) /* -0 of a float */
                    for (int i = 0; i < COUNT; i++)
                        if (from[0][i] == 0 || from[1][i] == 0) put(type, &got[r], i, 0);
                CHECK(memcmp(&got[r], &want, COUNT * all[t].size) == 0);
            }
        }
}

/* NaN of either rank comes out of the ends; integers wrap. */
static void edges_are_reduced(void) {
    for (int op = HCCL_REDUCE_MAX; op <= HCCL_REDUCE_MIN; op++) {
        numbers mine[2] = {{.f32 = {NAN, 1, -INFINITY, 2}}, {.f32 = {1, NAN, 3, INFINITY}}}, got[2];
        reduce(HCCL_DATA_TYPE_FP32, (HcclReduceOp)op, mine, got);
        for (int r = 0; r < 2; r++) {
            CHECK(isnan(got[r].f32[0]) && isnan(got[r].f32[1]));
            CHECK(got[r].f32[2] == (op == HCCL_REDUCE_MAX ? 3 : -INFINITY));
            CHECK(got[r].f32[3] == (op == HCCL_REDUCE_MAX ? INFINITY : 2));
        }
    }
    numbers mine[2] = {{.i8 = {127, -128, 100, 1}}, {.i8 = {1, -1, 100, 1}}}, got[2];
    reduce(HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, mine, got);
    CHECK(got[0].i8[0] == -128 && got[0].i8[1] == 127 && got[1].i8[2] == -56 && got[1].i8[3] == 2);
}

int main(void) {
    setenv("MOCK_ACL_DEVICES", "2", 1);
    start();
    communicators_are_asked();
    configurations_are_read_by_their_version();
    seats_are_taken_once();
    parts_of_communicators();
    operations_are_checked();
    lists_are_checked();
    messages_are_checked();
    groups_are_checked();
    calls_are_counted_and_fail_when_told();
    every_type_is_reduced();
    edges_are_reduced();
    finish();
    puts("arguments of collectives: ok");
    return 0;
}
