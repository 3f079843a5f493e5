/* The calls of all ranks: their arguments, and which piece goes where. */
#define _GNU_SOURCE
#include "collectives/exchange.h"
#include "collectives/reduce.h"

static const struct {
    uint32_t bytes;
    const char *name;
} types[] = {
    [HCCL_DATA_TYPE_INT8] = {1, "int8"},
    [HCCL_DATA_TYPE_INT16] = {2, "int16"},
    [HCCL_DATA_TYPE_INT32] = {4, "int32"},
    [HCCL_DATA_TYPE_FP16] = {2, "fp16"},
    [HCCL_DATA_TYPE_FP32] = {4, "fp32"},
    [HCCL_DATA_TYPE_INT64] = {8, "int64"},
    [HCCL_DATA_TYPE_UINT64] = {8, "uint64"},
    [HCCL_DATA_TYPE_UINT8] = {1, "uint8"},
    [HCCL_DATA_TYPE_UINT16] = {2, "uint16"},
    [HCCL_DATA_TYPE_UINT32] = {4, "uint32"},
    [HCCL_DATA_TYPE_FP64] = {8, "fp64"},
    [HCCL_DATA_TYPE_BFP16] = {2, "bfp16"},
    [HCCL_DATA_TYPE_INT128] = {16, "int128"},
    [HCCL_DATA_TYPE_HIF8] = {1, "hif8"},
    [HCCL_DATA_TYPE_FP8E4M3] = {1, "fp8e4m3"},
    [HCCL_DATA_TYPE_FP8E5M2] = {1, "fp8e5m2"},
    [HCCL_DATA_TYPE_FP8E8M0] = {1, "fp8e8m0"},
};
#define TYPES (sizeof types / sizeof *types)

uint32_t mock_hccl_size(HcclDataType type) { return (unsigned)type < TYPES ? types[type].bytes : 0; }

const char *mock_hccl_type(uint32_t type) {
    return type < TYPES && types[type].name != NULL ? types[type].name : "no type";
}

/* ---- arguments ---- */

typedef struct arguments {
    const void *send, *recv;
    bool sends, receives; /* whether this rank needs the address */
    uint64_t count;
    HcclDataType type;
    uint32_t root;
} arguments;

static HcclResult check(const mock_comm *c, const arguments *a, uint64_t times) {
    const uint32_t size = mock_hccl_size(a->type);
    if (size == 0) return mock_hccl(HCCL_E_PARA, "%d is no data type", (int)a->type);
    if (a->count > INT64_MAX / size / times)
        return mock_hccl(HCCL_E_PARA, "%llu elements are too many", (unsigned long long)a->count);
    if (a->root != UINT32_MAX && a->root >= c->ranks)
        return mock_hccl(HCCL_E_PARA, "root %u of %u ranks", a->root, c->ranks);
    if (a->count != 0 && ((a->sends && a->send == NULL) || (a->receives && a->recv == NULL)))
        return mock_hccl(HCCL_E_PTR, "a buffer must not be null");
    return 0;
}

/* NULL with the code, also 0: nothing is to be done. */
static mock_exchange *begin(
    HcclComm comm, mock_hccl_call call, const arguments *a, bool per_rank, HcclResult *code) {
    *code = 0;
    mock_given(a->send);
    mock_given(a->recv);
    mock_given(comm);
    mock_comm *c = mock_comm_get(comm, code);
    if (c == NULL) return NULL;
    arguments mine = *a;
    if (a->root != UINT32_MAX) {
        mine.sends = a->sends || c->me == a->root;
        mine.receives = a->receives || (call == MOCK_REDUCE && c->me == a->root);
        if (call == MOCK_BROADCAST) mine.receives = true;
    }
    *code = check(c, &mine, per_rank ? c->ranks : 1);
    if (*code != 0 || a->count == 0) return NULL;
    mock_exchange *x = mock_exchange_new(c, call, a->type, a->count);
    if (x == NULL) {
        *code = HCCL_E_MEMORY;
        return NULL;
    }
    x->turn.root = a->root;
    x->send = a->send;
    x->recv = (char *)(uintptr_t)a->recv;
    return x;
}

static HcclResult check_reduction(HcclDataType type, HcclReduceOp op) {
    if (mock_hccl_size(type) == 0) return mock_hccl(HCCL_E_PARA, "%d is no data type", (int)type);
    if ((unsigned)op > HCCL_REDUCE_MIN) return mock_hccl(HCCL_E_PARA, "%d is no reduction", (int)op);
    if (mock_reduces(type, op)) return 0;
    return mock_hccl(HCCL_E_NOT_SUPPORT, "reduction %d of %s is not supported", (int)op, mock_hccl_type(type));
}

#define EACH(x, r) for (uint32_t r = 0; r < (x)->comm->ranks; r++)

/* The same piece to every rank. */
static void to_all(mock_exchange *x, uint64_t bytes) {
    x->same = true;
    EACH(x, r) x->out[r] = (mock_piece){0, bytes};
}

static void one_each(mock_exchange *x, mock_piece *pieces, uint64_t bytes) {
    EACH(x, r) pieces[r] = (mock_piece){r * bytes, bytes};
}

/* ---- reductions ---- */

MOCK_EXPORT HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
    HcclReduceOp op, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclAllReduce);
    HcclResult code = check_reduction(dataType, op);
    if (code != 0) return code;
    const arguments a = {sendBuf, recvBuf, true, true, count, dataType, UINT32_MAX};
    mock_exchange *x = begin(comm, MOCK_ALL_REDUCE, &a, false, &code);
    if (x == NULL) return code;
    const uint64_t bytes = count * mock_hccl_size(dataType);
    x->turn.op = (uint32_t)op;
    x->reduces = true;
    to_all(x, bytes);
    EACH(x, r) x->in[r].bytes = bytes;
    return mock_exchange_submit(x, stream);
}

MOCK_EXPORT HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
    HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclReduce);
    HcclResult code = check_reduction(dataType, op);
    if (code != 0) return code;
    const arguments a = {sendBuf, recvBuf, true, false, count, dataType, root};
    mock_exchange *x = begin(comm, MOCK_REDUCE, &a, false, &code);
    if (x == NULL) return code;
    const uint64_t bytes = count * mock_hccl_size(dataType);
    x->turn.op = (uint32_t)op;
    x->reduces = true;
    x->out[root].bytes = bytes;
    if (x->comm->me == root) EACH(x, r) x->in[r].bytes = bytes;
    return mock_exchange_submit(x, stream);
}

MOCK_EXPORT HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
    HcclDataType dataType, HcclReduceOp op, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclReduceScatter);
    HcclResult code = check_reduction(dataType, op);
    if (code != 0) return code;
    const arguments a = {sendBuf, recvBuf, true, true, recvCount, dataType, UINT32_MAX};
    mock_exchange *x = begin(comm, MOCK_REDUCE_SCATTER, &a, true, &code);
    if (x == NULL) return code;
    const uint64_t bytes = recvCount * mock_hccl_size(dataType);
    x->turn.op = (uint32_t)op;
    x->reduces = true;
    one_each(x, x->out, bytes);
    EACH(x, r) x->in[r].bytes = bytes;
    return mock_exchange_submit(x, stream);
}

/* ---- what goes from one to all ---- */

MOCK_EXPORT HcclResult HcclBroadcast(
    void *buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclBroadcast);
    HcclResult code = 0;
    const arguments a = {buf, buf, true, true, count, dataType, root};
    mock_exchange *x = begin(comm, MOCK_BROADCAST, &a, false, &code);
    if (x == NULL) return code;
    const uint64_t bytes = count * mock_hccl_size(dataType);
    if (x->comm->me == root) to_all(x, bytes);
    else x->in[root].bytes = bytes;
    return mock_exchange_submit(x, stream);
}

MOCK_EXPORT HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
    uint32_t root, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclScatter);
    HcclResult code = 0;
    const arguments a = {sendBuf, recvBuf, false, true, recvCount, dataType, root};
    mock_exchange *x = begin(comm, MOCK_SCATTER, &a, true, &code);
    if (x == NULL) return code;
    const uint64_t bytes = recvCount * mock_hccl_size(dataType);
    if (x->comm->me == root) one_each(x, x->out, bytes);
    x->in[root].bytes = bytes;
    return mock_exchange_submit(x, stream);
}

MOCK_EXPORT HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclBarrier);
    HcclResult code = 0;
    const arguments a = {NULL, NULL, false, false, 1, HCCL_DATA_TYPE_INT8, UINT32_MAX};
    mock_exchange *x = begin(comm, MOCK_BARRIER, &a, false, &code);
    if (x == NULL) return code;
    x->all = true;
    return mock_exchange_submit(x, stream);
}

/* ---- gathering ---- */

MOCK_EXPORT HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
    HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclAllGather);
    HcclResult code = 0;
    const arguments a = {sendBuf, recvBuf, true, true, sendCount, dataType, UINT32_MAX};
    mock_exchange *x = begin(comm, MOCK_ALL_GATHER, &a, true, &code);
    if (x == NULL) return code;
    const uint64_t bytes = sendCount * mock_hccl_size(dataType);
    to_all(x, bytes);
    one_each(x, x->in, bytes);
    return mock_exchange_submit(x, stream);
}

/* ---- sizes of their own for each rank ---- */

/* The pieces of lists of counts and displacements, in elements. */
static HcclResult listed(
    const mock_comm *c, mock_piece *pieces, const uint64_t *counts, const uint64_t *places, uint32_t size) {
    const uint64_t most = INT64_MAX / size / 2;
    for (uint32_t r = 0; r < c->ranks; r++) {
        if (counts[r] > most || places[r] > most)
            return mock_hccl(HCCL_E_PARA, "rank %u: %llu elements at %llu", r, (unsigned long long)counts[r],
                (unsigned long long)places[r]);
        pieces[r] = (mock_piece){places[r] * size, counts[r] * size};
    }
    return 0;
}

static bool any(const mock_exchange *x, const mock_piece *pieces) {
    EACH(x, r) if (pieces[r].bytes != 0) return true;
    return false;
}

/* The addresses count only when something is sent or received. */
static HcclResult finish(mock_exchange *x, HcclResult code, aclrtStream stream) {
    if (code == 0 && ((x->send == NULL && any(x, x->out)) || (x->recv == NULL && any(x, x->in))))
        code = mock_hccl(HCCL_E_PTR, "a buffer must not be null");
    if (code == 0) return mock_exchange_submit(x, stream);
    mock_exchange_drop(x);
    return code;
}

static mock_exchange *begin_listed(HcclComm comm, mock_hccl_call call, const void *send, const void *recv,
    HcclDataType type, const void *const lists[], uint32_t count, HcclResult *code) {
    for (uint32_t i = 0; i < count; i++) {
        if (lists[i] != NULL) continue;
        *code = mock_hccl(HCCL_E_PTR, "counts and displacements must not be null");
        return NULL;
    }
    const arguments a = {send, recv, false, false, 1, type, UINT32_MAX};
    mock_exchange *x = begin(comm, call, &a, false, code);
    if (x != NULL) x->all = true; /* what the others send is theirs to know */
    return x;
}

MOCK_EXPORT HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls,
    void *recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
    aclrtStream stream) {
    HCCL_ENTER(HcclReduceScatterV);
    HcclResult code = check_reduction(dataType, op);
    if (code != 0) return code;
    const void *const lists[] = {sendCounts, sendDispls};
    mock_exchange *x = begin_listed(comm, MOCK_REDUCE_SCATTER_V, sendBuf, recvBuf, dataType, lists, 2, &code);
    if (x == NULL) return code;
    const uint32_t size = mock_hccl_size(dataType);
    x->turn.op = (uint32_t)op;
    x->reduces = true;
    code = listed(x->comm, x->out, sendCounts, sendDispls, size);
    if (code == 0 && recvCount != ((const uint64_t *)sendCounts)[x->comm->me])
        code = mock_hccl(HCCL_E_PARA, "recvCount is not this rank's count");
    EACH(x, r) x->in[r].bytes = code == 0 ? recvCount * size : 0;
    return finish(x, code, stream);
}

MOCK_EXPORT HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
    const void *recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclAllGatherV);
    HcclResult code = 0;
    const void *const lists[] = {recvCounts, recvDispls};
    mock_exchange *x = begin_listed(comm, MOCK_ALL_GATHER_V, sendBuf, recvBuf, dataType, lists, 2, &code);
    if (x == NULL) return code;
    code = listed(x->comm, x->in, recvCounts, recvDispls, mock_hccl_size(dataType));
    if (code == 0 && sendCount != ((const uint64_t *)recvCounts)[x->comm->me])
        code = mock_hccl(HCCL_E_PARA, "sendCount is not this rank's count");
    if (code == 0) to_all(x, sendCount * mock_hccl_size(dataType));
    return finish(x, code, stream);
}

MOCK_EXPORT HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
    HcclDataType sendType, const void *recvBuf, const void *recvCounts, const void *rdispls,
    HcclDataType recvType, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclAlltoAllV);
    HcclResult code = 0;
    if (mock_hccl_size(recvType) == 0) return mock_hccl(HCCL_E_PARA, "%d is no data type", (int)recvType);
    const void *const lists[] = {sendCounts, sdispls, recvCounts, rdispls};
    mock_exchange *x = begin_listed(comm, MOCK_ALL_TO_ALL_V, sendBuf, recvBuf, sendType, lists, 4, &code);
    if (x == NULL) return code;
    code = listed(x->comm, x->out, sendCounts, sdispls, mock_hccl_size(sendType));
    if (code == 0) code = listed(x->comm, x->in, recvCounts, rdispls, mock_hccl_size(recvType));
    return finish(x, code, stream);
}

MOCK_EXPORT HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
    const void *recvBuf, uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclAlltoAll);
    HcclResult code = 0;
    if (sendCount != recvCount || sendType != recvType)
        return mock_hccl(HCCL_E_PARA, "each rank sends as much as it receives, of one type");
    const arguments a = {sendBuf, recvBuf, true, true, sendCount, sendType, UINT32_MAX};
    mock_exchange *x = begin(comm, MOCK_ALL_TO_ALL, &a, true, &code);
    if (x == NULL) return code;
    one_each(x, x->out, sendCount * mock_hccl_size(sendType));
    one_each(x, x->in, sendCount * mock_hccl_size(sendType));
    return mock_exchange_submit(x, stream);
}

/* counts[i][j]: what rank i sends to rank j; the pieces stand behind each other. */
MOCK_EXPORT HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
    const void *recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
    HCCL_ENTER(HcclAlltoAllVC);
    HcclResult code = 0;
    if (sendType != recvType) return mock_hccl(HCCL_E_PARA, "sendType and recvType differ");
    const void *const lists[] = {sendCountMatrix};
    mock_exchange *x = begin_listed(comm, MOCK_ALL_TO_ALL_VC, sendBuf, recvBuf, sendType, lists, 1, &code);
    if (x == NULL) return code;
    const uint64_t *counts = sendCountMatrix;
    const uint32_t n = x->comm->ranks, me = x->comm->me;
    uint64_t places[2][MOCK_RANKS], sizes[2][MOCK_RANKS], at[2] = {0, 0};
    for (uint32_t r = 0; r < n; r++) {
        sizes[0][r] = counts[(uint64_t)me * n + r];
        sizes[1][r] = counts[(uint64_t)r * n + me];
        for (int way = 0; way < 2; way++) {
            places[way][r] = at[way];
            if (sizes[way][r] > UINT64_MAX - at[way]) code = mock_hccl(HCCL_E_PARA, "the counts are too large");
            else at[way] += sizes[way][r];
        }
    }
    if (code == 0) code = listed(x->comm, x->out, sizes[0], places[0], mock_hccl_size(sendType));
    if (code == 0) code = listed(x->comm, x->in, sizes[1], places[1], mock_hccl_size(recvType));
    return finish(x, code, stream);
}
