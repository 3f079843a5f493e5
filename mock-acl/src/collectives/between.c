/* Messages between two ranks. A send ends when the message was taken, as over a link: two ranks that both send first
 * wait for each other, unless the calls stand in one batch or group, whose messages go side by side. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "collectives/exchange.h"
#include "memory/memory.h"

/* On the sender's stage, behind the operations of all ranks. */
#define MAILBOX(to) ((UINT64_C(4) + (to)) << 40)
#define LOOKS 64u

typedef struct message {
    void *buffer;
    uint64_t bytes;
    uint32_t peer;
    bool sends;
    /* while it goes on */
    enum { WAITING, SENT, OVER } state;
    uint64_t number; /* from 1 on in its direction, 0 before it began */
} message;

typedef struct batch {
    mock_comm *comm;
    bool begun;
    uint32_t looks, count, room;
    uint64_t began_ns;
    message *messages;
} batch;

/* ---- steps of a message ---- */

static mock_channel *channel(const mock_comm *c, const message *m) {
    return m->sends ? mock_channel_of(c->board, c->me, m->peer) : mock_channel_of(c->board, m->peer, c->me);
}

/* Whether it can go on. */
static bool can_go(const mock_comm *c, const message *m) {
    mock_channel *way = channel(c, m);
    if (m->state == OVER || m->number == 0) return false;
    if (!m->sends) return atomic_load(&way->sent) >= m->number;
    return atomic_load(&way->taken) >= (m->state == WAITING ? m->number - 1 : m->number);
}

static bool move(const mock_comm *c, message *m, uint64_t there) {
    const uint64_t at = m->sends ? MAILBOX(m->peer) : MAILBOX(c->me);
    void *view = m->bytes == 0 ? NULL : mock_device_view(m->buffer, m->bytes);
    if (m->bytes != 0 && view == NULL) return false;
    mock_touch_task(m->buffer, m->bytes, m->sends ? MOCK_READS : MOCK_WRITES);
    if (m->sends) return mock_stage_write(c->peers[c->me], view, m->bytes, at);
    return there == m->bytes && mock_stage_read(c->peers[m->peer], view, m->bytes, at);
}

/* With the lock, which is dropped meanwhile. */
static void go(mock_comm *c, message *m) {
    mock_channel *way = channel(c, m);
    if (m->state == SENT) {
        m->state = OVER;
        return;
    }
    const uint64_t there = m->sends ? 0 : way->bytes;
    mock_unlock();
    const bool good = move(c, m, there);
    mock_lock();
    if (!good)
        mock_comm_break(c, HCCL_E_MEMORY,
            "a message %s rank %u: its %llu bytes are no device memory, or %llu were sent",
            m->sends ? "to" : "from", m->peer, (unsigned long long)m->bytes, (unsigned long long)there);
    if (m->sends) {
        way->bytes = good ? m->bytes : UINT64_MAX;
        atomic_store(&way->sent, m->number);
        m->state = SENT;
    } else {
        atomic_store(&way->taken, m->number);
        m->state = OVER;
    }
}

/* ---- the task ---- */

static bool ready(void *what) {
    batch *b = what;
    bool lost = b->comm->error != 0;
    const bool look = ++b->looks % LOOKS == 0;
    if (look) lost = lost || mock_comm_late(b->comm, b->began_ns);
    for (uint32_t i = 0; i < b->count; i++) {
        const message *m = &b->messages[i];
        if (can_go(b->comm, m)) return true;
        if (look && m->state != OVER) lost = lost || mock_seat_lost(&b->comm->board->seats[m->peer]);
    }
    return lost;
}

/* Messages of one direction go one after the other. */
static void number(batch *b) {
    mock_comm *c = b->comm;
    for (uint32_t i = 0; i < b->count; i++) {
        message *m = &b->messages[i];
        m->number = m->sends ? ++c->sends[m->peer] : ++c->takes[m->peer];
        m->state = WAITING;
    }
    b->begun = true;
    b->began_ns = mock_real_ns();
}

/* The peer of a message that nobody will take or send any more, or the number of ranks. */
static uint32_t lost_peer(const batch *b) {
    for (uint32_t i = 0; i < b->count; i++) {
        const message *m = &b->messages[i];
        if (m->state != OVER && mock_seat_lost(&b->comm->board->seats[m->peer]) && !can_go(b->comm, m))
            return m->peer;
    }
    return b->comm->ranks;
}

static mock_outcome fail(batch *b, mock_stream *s, mock_task *t, aclError code) {
    b->begun = false;
    mock_shared_poll();
    mock_outside_fails(b->comm, s, t, code);
    return MOCK_DONE;
}

static mock_outcome wait_or_fail(batch *b, mock_stream *s, mock_task *t) {
    mock_comm *c = b->comm;
    if (c->error != 0) return fail(b, s, t, ACL_ERROR_RT_INTERNAL_ERROR);
    const uint32_t peer = lost_peer(b);
    if (peer != c->ranks) {
        mock_comm_break(c, HCCL_E_REMOTE, "rank %u went away amid a message", peer);
        return fail(b, s, t, ACL_ERROR_RT_IPC_ERROR);
    }
    if (!mock_comm_late(c, b->began_ns)) return MOCK_BLOCKED;
    mock_comm_break(c, HCCL_E_TIMEOUT, "a message was not taken or did not come within HCCL_EXEC_TIMEOUT");
    return fail(b, s, t, ACL_ERROR_RT_TASK_TIMEOUT);
}

static mock_outcome step(mock_stream *s, mock_task *t) {
    batch *b = t->u.outside.what;
    if (b->comm->error == 0 && !b->begun) number(b);
    bool moved = true, over = false;
    while (moved && b->comm->error == 0) {
        moved = false;
        over = true;
        for (uint32_t i = 0; i < b->count; i++) {
            message *m = &b->messages[i];
            if (can_go(b->comm, m)) {
                go(b->comm, m);
                moved = true;
            }
            over = over && m->state == OVER;
        }
        if (moved) mock_shared_poll();
    }
    if (b->comm->error != 0 || !over) return wait_or_fail(b, s, t);
    b->begun = false;
    return MOCK_DONE;
}

static void drop(void *what) {
    batch *b = what;
    if (b->begun) mock_comm_break(b->comm, HCCL_E_INTERNAL, "messages were dropped with their stream");
    mock_comm_unref(b->comm);
    free(b->messages);
    free(b);
}

static const mock_outside how = {step, ready, drop};

/* ---- making batches ---- */

static batch *new_batch(mock_comm *c) {
    batch *b = calloc(1, sizeof *b);
    if (b == NULL) {
        mock_hccl(HCCL_E_MEMORY, "no host memory");
        return NULL;
    }
    b->comm = c;
    atomic_fetch_add(&c->refs, 1);
    return b;
}

static HcclResult check(const mock_comm *c, const HcclSendRecvItem *i) {
    const uint32_t size = mock_hccl_size(i->dataType);
    if (size == 0) return mock_hccl(HCCL_E_PARA, "%d is no data type", (int)i->dataType);
    if (i->sendRecvType != HCCL_SEND && i->sendRecvType != HCCL_RECV)
        return mock_hccl(HCCL_E_PARA, "%d is neither send nor receive", (int)i->sendRecvType);
    if (i->remoteRank >= c->ranks) return mock_hccl(HCCL_E_PARA, "rank %u of %u", i->remoteRank, c->ranks);
    if (i->count > INT64_MAX / size) return mock_hccl(HCCL_E_PARA, "too many elements");
    if (i->count != 0 && i->buf == NULL) return mock_hccl(HCCL_E_PTR, "a buffer must not be null");
    return 0;
}

static HcclResult add(batch *b, const HcclSendRecvItem *i) {
    const HcclResult code = check(b->comm, i);
    if (code != 0) return code;
    if (b->count == b->room) {
        const uint32_t room = b->room == 0 ? 4 : 2 * b->room;
        message *grown = realloc(b->messages, room * sizeof *grown);
        if (grown == NULL) return mock_hccl(HCCL_E_MEMORY, "no host memory");
        b->messages = grown;
        b->room = room;
    }
    b->messages[b->count++] = (message){.buffer = i->buf,
        .bytes = i->count * mock_hccl_size(i->dataType),
        .peer = i->remoteRank,
        .sends = i->sendRecvType == HCCL_SEND};
    return 0;
}

/* ---- groups ---- */

#define MOST_GROUPED 64

typedef struct grouped {
    batch *batch;
    aclrtStream stream;
} grouped;
static _Thread_local struct {
    uint32_t depth, count;
    HcclResult error;
    grouped at[MOST_GROUPED];
} group;

/* The batch of the communicator and stream in the thread's group. */
static batch *in_group(mock_comm *c, aclrtStream stream) {
    for (uint32_t i = 0; i < group.count; i++)
        if (group.at[i].batch->comm == c && group.at[i].stream == stream) return group.at[i].batch;
    if (group.count == MOST_GROUPED) {
        mock_hccl(HCCL_E_NOT_SUPPORT, "a group has up to %d streams", MOST_GROUPED);
        return NULL;
    }
    batch *b = new_batch(c);
    if (b != NULL) group.at[group.count++] = (grouped){b, stream};
    return b;
}

MOCK_EXPORT HcclResult HcclGroupStart(void) {
    HCCL_ENTER(HcclGroupStart);
    if (group.depth++ == 0) group.error = 0;
    return 0;
}

/* A call that was refused in the group refuses the whole (own choice), and so does an injected failure of this one. */
MOCK_EXPORT HcclResult HcclGroupEnd(void) {
    const HcclResult injected = mock_hccl_enter(MOCK_API_HcclGroupEnd);
    if (group.depth == 0 && injected != 0) return injected;
    if (group.depth == 0) return mock_hccl(HCCL_E_PARA, "no group was begun");
    if (injected != 0 && group.error == 0) group.error = injected;
    if (--group.depth != 0) return 0;
    HcclResult code = group.error;
    for (uint32_t i = 0; i < group.count; i++) {
        if (code != 0) drop(group.at[i].batch);
        else code = mock_outside_submit(&how, group.at[i].batch, MOCK_GROUP, group.at[i].stream);
    }
    group.count = 0;
    return code;
}

/* An injected failure is a refused call of the group too. */
static HcclResult enter(mock_api api) {
    const HcclResult injected = mock_hccl_enter(api);
    if (injected != 0 && group.depth != 0 && group.error == 0) group.error = injected;
    return injected;
}
#define ENTER_IN_GROUP(name)                                       \
    do {                                                           \
        const HcclResult injected = enter(MOCK_API_##name);        \
        if (injected != HCCL_SUCCESS) return injected;             \
    } while (0)

static HcclResult submit(
    HcclComm comm, const HcclSendRecvItem *items, uint32_t count, mock_hccl_call call, aclrtStream stream) {
    HcclResult code = 0;
    for (uint32_t i = 0; i < count; i++) mock_given(items[i].buf);
    mock_given(comm);
    mock_comm *c = mock_comm_get(comm, &code);
    if (c == NULL) return code;
    const bool grouped = group.depth != 0;
    batch *b = grouped ? in_group(c, stream) : new_batch(c);
    if (b == NULL) code = HCCL_E_MEMORY;
    for (uint32_t i = 0; i < count && code == 0; i++) code = add(b, &items[i]);
    if (grouped) {
        if (code != 0 && group.error == 0) group.error = code;
        return code;
    }
    if (code == 0) return mock_outside_submit(&how, b, call, stream);
    if (b != NULL) drop(b);
    return code;
}

MOCK_EXPORT HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
    HcclComm comm, aclrtStream stream) {
    ENTER_IN_GROUP(HcclSend);
    const HcclSendRecvItem i = {HCCL_SEND, sendBuf, count, dataType, destRank};
    return submit(comm, &i, 1, MOCK_SEND, stream);
}

MOCK_EXPORT HcclResult HcclRecv(
    void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm, aclrtStream stream) {
    ENTER_IN_GROUP(HcclRecv);
    const HcclSendRecvItem i = {HCCL_RECV, recvBuf, count, dataType, srcRank};
    return submit(comm, &i, 1, MOCK_RECV, stream);
}

MOCK_EXPORT HcclResult HcclBatchSendRecv(
    HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream) {
    ENTER_IN_GROUP(HcclBatchSendRecv);
    if (sendRecvInfo == NULL) return mock_hccl(HCCL_E_PTR, "sendRecvInfo must not be null");
    if (itemNum == 0) return mock_hccl(HCCL_E_PARA, "a batch has messages");
    return submit(comm, sendRecvInfo, itemNum, MOCK_BATCH, stream);
}
