/* Part of racl (mock-acl). Each collective operation against a plain loop, between threads and between processes. */
#include "collectives/ranks.h"

/* What rank r has at place i of round n: small whole numbers, exact in every type. */
static int64_t value(uint32_t r, uint64_t i, int n) {
    return (int64_t)((r * 7 + i * 3 + (uint64_t)n) % 11) - 5;
}

static __thread int64_t *up64, *down64;

static int64_t *numbers(uint64_t count) {
    int64_t *p = calloc(count + 1, sizeof *p);
    CHECK(p != NULL);
    return p;
}

static void fill(const rank *r, int64_t *device_at, uint64_t count, int n) {
    int64_t *v = numbers(count);
    for (uint64_t i = 0; i < count; i++) v[i] = value(r->me, i, n);
    OK(aclrtMemcpy(device_at, count * 8, v, count * 8, ACL_MEMCPY_HOST_TO_DEVICE));
    free(v);
}

static int64_t reduced(HcclReduceOp op, uint32_t ranks, uint64_t i, int n) {
    int64_t all = value(0, i, n);
    for (uint32_t r = 1; r < ranks; r++) {
        const int64_t v = value(r, i, n);
        if (op == HCCL_REDUCE_SUM) all += v;
        else if (op == HCCL_REDUCE_PROD) all *= v;
        else if (op == HCCL_REDUCE_MAX ? v > all : v < all) all = v;
    }
    return all;
}

typedef int64_t (*expected)(const rank *r, uint64_t i, int n, uint64_t count);

static void is(const rank *r, const int64_t *device_at, uint64_t length, expected want, int n, uint64_t count) {
    int64_t *v = numbers(length);
    OK(aclrtSynchronizeStream(r->stream));
    read_back(v, device_at, length * 8);
    for (uint64_t i = 0; i < length; i++)
        if (v[i] != want(r, i, n, count)) {
            fprintf(stderr, "rank %u place %llu: %lld, not %lld\n", r->me, (unsigned long long)i,
                (long long)v[i], (long long)want(r, i, n, count));
            exit(1);
        }
    free(v);
}

static __thread HcclReduceOp op;
static int64_t want_reduced(const rank *r, uint64_t i, int n, uint64_t count) {
    (void)count;
    return reduced(op, r->ranks, i, n);
}
static int64_t want_own_part(const rank *r, uint64_t i, int n, uint64_t count) {
    return reduced(op, r->ranks, r->me * count + i, n);
}
static int64_t want_gathered(const rank *r, uint64_t i, int n, uint64_t count) {
    (void)r;
    return value((uint32_t)(i / count), i % count, n);
}
static int64_t want_of_one(const rank *r, uint64_t i, int n, uint64_t count) {
    (void)r;
    (void)count;
    return value(1, i, n);
}
static int64_t want_part_of_one(const rank *r, uint64_t i, int n, uint64_t count) {
    return value(1, r->me * count + i, n);
}
static int64_t want_turned(const rank *r, uint64_t i, int n, uint64_t count) {
    return value((uint32_t)(i / count), r->me * count + i % count, n);
}
static int64_t want_own(const rank *r, uint64_t i, int n, uint64_t count) {
    (void)count;
    return value(r->me, i, n);
}

static const uint64_t counts[] = {1, 5, 1000, 70001};

static void reductions(rank *r, uint64_t count, int n) {
    const uint64_t whole = count * r->ranks;
    for (op = HCCL_REDUCE_SUM; op <= HCCL_REDUCE_MIN; op++) {
        fill(r, up64, whole, n);
        HOK(HcclAllReduce(up64, down64, count, HCCL_DATA_TYPE_INT64, op, r->comm, r->stream));
        is(r, down64, count, want_reduced, n, count);
        HOK(HcclReduceScatter(up64, down64, count, HCCL_DATA_TYPE_INT64, op, r->comm, r->stream));
        is(r, down64, count, want_own_part, n, count);
        HOK(HcclReduce(
            up64, r->me == 1 ? down64 : NULL, count, HCCL_DATA_TYPE_INT64, op, 1, r->comm, r->stream));
        if (r->me == 1) is(r, down64, count, want_reduced, n, count);
        HOK(HcclAllReduce(up64, up64, count, HCCL_DATA_TYPE_INT64, op, r->comm, r->stream));
        is(r, up64, count, want_reduced, n, count);
    }
}

static void moves(rank *r, uint64_t count, int n) {
    const uint64_t whole = count * r->ranks;
    fill(r, up64, whole, n);
    HOK(HcclAllGather(up64, down64, count, HCCL_DATA_TYPE_INT64, r->comm, r->stream));
    is(r, down64, whole, want_gathered, n, count);
    HOK(HcclScatter(r->me == 1 ? up64 : NULL, down64, count, HCCL_DATA_TYPE_INT64, 1, r->comm, r->stream));
    is(r, down64, count, want_part_of_one, n, count);
    HOK(HcclAlltoAll(
        up64, count, HCCL_DATA_TYPE_INT64, down64, count, HCCL_DATA_TYPE_INT64, r->comm, r->stream));
    is(r, down64, whole, want_turned, n, count);
    HOK(HcclBarrier(r->comm, r->stream));
    HOK(HcclBroadcast(up64, count, HCCL_DATA_TYPE_INT64, 1, r->comm, r->stream));
    is(r, up64, count, want_of_one, n, count);
}

/* Rank r sends r + d + 1 elements to rank d, and the pieces stand in the order of the ranks from the last one on. */
static void of_sizes(rank *r, int n) {
    uint64_t to[MOST], to_at[MOST], from[MOST], from_at[MOST], matrix[MOST * MOST], at = 0, there = 0;
    for (uint32_t d = r->ranks; d-- > 0;) {
        to[d] = from[d] = r->me + d + 1;
        to_at[d] = at;
        at += to[d];
    }
    for (uint32_t d = 0; d < r->ranks; d++) {
        from_at[d] = there;
        there += from[d];
        for (uint32_t e = 0; e < r->ranks; e++) matrix[d * r->ranks + e] = d + e + 1;
    }
    fill(r, up64, 64, n);
    int64_t *v = numbers(64);
    HOK(HcclAlltoAllV(up64, to, to_at, HCCL_DATA_TYPE_INT64, down64, from, from_at, HCCL_DATA_TYPE_INT64,
        r->comm, r->stream));
    OK(aclrtSynchronizeStream(r->stream));
    read_back(v, down64, there * 8);
    for (uint32_t s = 0; s < r->ranks; s++) {
        uint64_t begin = 0;
        for (uint32_t d = r->ranks; d-- > r->me + 1;) begin += s + d + 1;
        for (uint64_t i = 0; i < from[s]; i++) CHECK(v[from_at[s] + i] == value(s, begin + i, n));
    }
    HOK(HcclAlltoAllVC(up64, matrix, HCCL_DATA_TYPE_INT64, down64, HCCL_DATA_TYPE_INT64, r->comm, r->stream));
    OK(aclrtSynchronizeStream(r->stream));
    read_back(v, down64, there * 8);
    for (uint32_t s = 0; s < r->ranks; s++) {
        uint64_t begin = 0;
        for (uint32_t d = 0; d < r->me; d++) begin += s + d + 1;
        for (uint64_t i = 0; i < from[s]; i++) CHECK(v[from_at[s] + i] == value(s, begin + i, n));
    }
    uint64_t own[MOST], own_at[MOST], sum = 0;
    for (uint32_t d = 0; d < r->ranks; d++) {
        own[d] = 2 * d;
        own_at[d] = sum;
        sum += own[d];
    }
    HOK(HcclAllGatherV(up64, own[r->me], down64, own, own_at, HCCL_DATA_TYPE_INT64, r->comm, r->stream));
    OK(aclrtSynchronizeStream(r->stream));
    read_back(v, down64, sum * 8);
    for (uint32_t s = 0; s < r->ranks; s++)
        for (uint64_t i = 0; i < own[s]; i++) CHECK(v[own_at[s] + i] == value(s, i, n));
    HOK(HcclReduceScatterV(
        up64, own, own_at, down64, own[r->me], HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, r->comm, r->stream));
    OK(aclrtSynchronizeStream(r->stream));
    read_back(v, down64, own[r->me] * 8);
    for (uint64_t i = 0; i < own[r->me]; i++)
        CHECK(v[i] == reduced(HCCL_REDUCE_SUM, r->ranks, own_at[r->me] + i, n));
    free(v);
}

/* Sums of small whole numbers are exact in every type. */
static void types(rank *r) {
    const HcclDataType all[] = {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32,
        HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32, HCCL_DATA_TYPE_BFP16};
    union {
        int8_t i8[4];
        int16_t i16[4];
        int32_t i32[4];
        uint16_t h[4];
        float f[4];
    } v, got;
    /* 1.0, 2.0, -3.0, 0.5 and four ranks' sums of them */
    const uint16_t half[4] = {0x3C00, 0x4000, 0xC200, 0x3800}, half_sum[4] = {0x4400, 0x4800, 0xCA00, 0x4000};
    const uint16_t brain[4] = {0x3F80, 0x4000, 0xC040, 0x3F00}, brain_sum[4] = {0x4080, 0x4100, 0xC140, 0x4000};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        memset(&v, 0, sizeof v);
        for (int i = 0; i < 4; i++) {
            const int w = i - 2;
            if (all[t] == HCCL_DATA_TYPE_INT8) v.i8[i] = (int8_t)w;
            if (all[t] == HCCL_DATA_TYPE_INT16) v.i16[i] = (int16_t)w;
            if (all[t] == HCCL_DATA_TYPE_INT32) v.i32[i] = w;
            if (all[t] == HCCL_DATA_TYPE_FP32) v.f[i] = (float)w;
            if (all[t] == HCCL_DATA_TYPE_FP16) v.h[i] = half[i];
            if (all[t] == HCCL_DATA_TYPE_BFP16) v.h[i] = brain[i];
        }
        OK(aclrtMemcpy(up64, sizeof v, &v, sizeof v, ACL_MEMCPY_HOST_TO_DEVICE));
        HOK(HcclAllReduce(up64, down64, 4, all[t], HCCL_REDUCE_SUM, r->comm, r->stream));
        OK(aclrtSynchronizeStream(r->stream));
        read_back(&got, down64, sizeof got);
        for (int i = 0; i < 4; i++) {
            const int w = (i - 2) * (int)r->ranks;
            if (all[t] == HCCL_DATA_TYPE_INT8) CHECK(got.i8[i] == w);
            if (all[t] == HCCL_DATA_TYPE_INT16) CHECK(got.i16[i] == w);
            if (all[t] == HCCL_DATA_TYPE_INT32) CHECK(got.i32[i] == w);
            if (all[t] == HCCL_DATA_TYPE_FP32) CHECK(got.f[i] == (float)w);
            if (all[t] == HCCL_DATA_TYPE_FP16 && r->ranks == 4) CHECK(got.h[i] == half_sum[i]);
            if (all[t] == HCCL_DATA_TYPE_BFP16 && r->ranks == 4) CHECK(got.h[i] == brain_sum[i]);
        }
    }
}

/* Nobody waits in between: ranks that are ahead are held back, and nothing gets lost. */
static void many_queued(rank *r) {
    enum { N = 300 };
    fill(r, up64, 8, 0);
    for (int i = 0; i < N; i++) {
        HOK(HcclAllGather(up64, down64, 8, HCCL_DATA_TYPE_INT64, r->comm, r->stream));
        HOK(HcclBroadcast(down64, 8, HCCL_DATA_TYPE_INT64, (uint32_t)i % r->ranks, r->comm, r->stream));
    }
    is(r, down64, 8, want_gathered, 0, 8); /* everybody has what rank 0 had */
    is(r, up64, 8, want_own, 0, 8);
}

static void messages(rank *r) {
    const uint32_t next = (r->me + 1) % r->ranks, before = (r->me + r->ranks - 1) % r->ranks;
    fill(r, up64, 1000, 3);
    HcclSendRecvItem items[] = {{HCCL_SEND, up64, 1000, HCCL_DATA_TYPE_INT64, next},
        {HCCL_RECV, down64, 1000, HCCL_DATA_TYPE_INT64, before},
        {HCCL_SEND, up64 + 1, 10, HCCL_DATA_TYPE_INT64, next},
        {HCCL_RECV, down64 + 1000, 10, HCCL_DATA_TYPE_INT64, before}};
    for (int way = 0; way < 2; way++) {
        OK(aclrtMemset(down64, 8080, 0, 8080));
        if (way == 0) {
            HOK(HcclBatchSendRecv(items, 4, r->comm, r->stream));
        } else {
            HOK(HcclGroupStart());
            HOK(HcclSend(up64, 1000, HCCL_DATA_TYPE_INT64, next, r->comm, r->stream));
            HOK(HcclGroupStart());
            HOK(HcclRecv(down64, 1000, HCCL_DATA_TYPE_INT64, before, r->comm, r->stream));
            HOK(HcclGroupEnd());
            HOK(HcclSend(up64 + 1, 10, HCCL_DATA_TYPE_INT64, next, r->comm, r->stream));
            HOK(HcclRecv(down64 + 1000, 10, HCCL_DATA_TYPE_INT64, before, r->comm, r->stream));
            HOK(HcclGroupEnd());
        }
        OK(aclrtSynchronizeStream(r->stream));
        int64_t v[1010];
        read_back(v, down64, sizeof v);
        for (uint64_t i = 0; i < 1000; i++) CHECK(v[i] == value(before, i, 3));
        for (uint64_t i = 0; i < 10; i++) CHECK(v[1000 + i] == value(before, i + 1, 3));
    }
    /* Alone: one sends first, the other receives first. */
    if (r->me == 0) HOK(HcclSend(up64, 7, HCCL_DATA_TYPE_INT64, 1, r->comm, r->stream));
    if (r->me == 1) {
        HOK(HcclRecv(down64, 7, HCCL_DATA_TYPE_INT64, 0, r->comm, r->stream));
        int64_t v[7];
        OK(aclrtSynchronizeStream(r->stream));
        read_back(v, down64, sizeof v);
        for (uint64_t i = 0; i < 7; i++) CHECK(v[i] == value(0, i, 3));
    }
    OK(aclrtSynchronizeStream(r->stream));
}

/* A graph replays operations of all ranks, each time with what is in memory then. */
static void in_a_graph(rank *r) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(r->stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    HOK(HcclAllReduce(up64, down64, 100, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, r->comm, r->stream));
    HOK(HcclBarrier(r->comm, r->stream));
    OK(aclmdlRICaptureEnd(r->stream, &graph));
    op = HCCL_REDUCE_SUM;
    for (int n = 0; n < 5; n++) {
        fill(r, up64, 100, n);
        OK(aclmdlRIExecuteAsync(graph, r->stream));
        is(r, down64, 100, want_reduced, n, 100);
    }
    OK(aclmdlRIDestroy(graph));
}

static void everything(rank *r) {
    up64 = device(8 * MOST * 70001);
    down64 = device(8 * MOST * 70001);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        reductions(r, counts[i], (int)i);
        moves(r, counts[i], (int)i);
    }
    of_sizes(r, 2);
    types(r);
    many_queued(r);
    messages(r);
    in_a_graph(r);
    OK(aclrtFree(up64));
    OK(aclrtFree(down64));
}

int main(void) {
    setenv("MOCK_ACL_DEVICES", "2", 1);
    in_processes(2, everything);
    in_processes(4, everything);
    in_threads(2, everything);
    in_threads(4, everything);
    return 0;
}
