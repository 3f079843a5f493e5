/* How an operation of all ranks goes: room on the stage, one's own pieces put there, the others' awaited, taken, and
 * said to be taken. Two operations can be on a stage: a rank that is ahead waits for the slowest one behind. */
#define _GNU_SOURCE
#include "collectives/exchange.h"
#include <stdlib.h>
#include <string.h>
#include "collectives/reduce.h"
#include "memory/memory.h"
#include "streams/streams.h"

#define AREA (UINT64_C(1) << 40) /* of an operation on the stage */
#define DATA 65536u              /* behind the table of pieces */
#define CHUNK (UINT64_C(1) << 18)
#define KEPT (UINT64_C(16) << 20) /* memory that a stage keeps between operations */
#define LOOKS 64u                 /* until processes are looked at */

enum { BEGIN, ROOM, OTHERS };

static uint64_t area_of(uint64_t seq) { return (seq & 1) * AREA; }

mock_exchange *mock_exchange_new(mock_comm *c, mock_hccl_call call, HcclDataType type, uint64_t count) {
    mock_exchange *x = calloc(1, sizeof *x + 2 * c->ranks * sizeof(mock_piece));
    if (x == NULL) {
        mock_hccl(HCCL_E_MEMORY, "no host memory");
        return NULL;
    }
    x->comm = c;
    atomic_fetch_add(&c->refs, 1);
    x->turn = (mock_turn){
        .kind = (uint32_t)call, .type = (uint32_t)type, .op = UINT32_MAX, .root = UINT32_MAX, .count = count};
    x->out = (mock_piece *)(void *)(x + 1);
    x->in = x->out + c->ranks;
    return x;
}

/* ---- what both kinds of tasks share ---- */

static const mock_task_ops names[MOCK_HCCL_CALLS] = {
    [MOCK_ALL_REDUCE] = {"HcclAllReduce", NULL, NULL},
    [MOCK_REDUCE] = {"HcclReduce", NULL, NULL},
    [MOCK_REDUCE_SCATTER] = {"HcclReduceScatter", NULL, NULL},
    [MOCK_REDUCE_SCATTER_V] = {"HcclReduceScatterV", NULL, NULL},
    [MOCK_BROADCAST] = {"HcclBroadcast", NULL, NULL},
    [MOCK_SCATTER] = {"HcclScatter", NULL, NULL},
    [MOCK_ALL_GATHER] = {"HcclAllGather", NULL, NULL},
    [MOCK_ALL_GATHER_V] = {"HcclAllGatherV", NULL, NULL},
    [MOCK_ALL_TO_ALL] = {"HcclAlltoAll", NULL, NULL},
    [MOCK_ALL_TO_ALL_V] = {"HcclAlltoAllV", NULL, NULL},
    [MOCK_ALL_TO_ALL_VC] = {"HcclAlltoAllVC", NULL, NULL},
    [MOCK_BARRIER] = {"HcclBarrier", NULL, NULL},
    [MOCK_SEND] = {"HcclSend", NULL, NULL},
    [MOCK_RECV] = {"HcclRecv", NULL, NULL},
    [MOCK_BATCH] = {"HcclBatchSendRecv", NULL, NULL},
    [MOCK_GROUP] = {"HcclGroupEnd", NULL, NULL},
};

/* Also of a number that another process wrote. */
static const char *name_of(uint32_t call) {
    return call < MOCK_HCCL_CALLS ? names[call].name : "nothing known";
}

HcclResult mock_outside_submit(const mock_outside *how, void *what, mock_hccl_call call, aclrtStream stream) {
    mock_task t = {.ops = &names[call], .kind = MOCK_TASK_OUTSIDE};
    t.u.outside.how = how;
    t.u.outside.what = what;
    mock_stream *s = NULL;
    mock_given(stream);
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = mock_submit(s, &t);
    else how->drop(what);
    mock_unlock();
    return code == 0 ? HCCL_SUCCESS : HCCL_E_RUNTIME;
}

bool mock_comm_late(const mock_comm *c, uint64_t began_ns) {
    return c->limit_ns != 0 && mock_real_ns() - began_ns > c->limit_ns;
}

void mock_outside_fails(mock_comm *c, mock_stream *s, mock_task *t, aclError code) {
    if (c->told == 0) c->told = code;
    mock_parts.failed_locked(s, t, c->told);
    mock_task_result(s, c->told);
}

/* ---- waiting ---- */

static bool needs(const mock_exchange *x, uint32_t r) { return x->all || x->in[r].bytes != 0; }

/* The first rank that is not as far, or the number of ranks. */
static uint32_t behind(const mock_exchange *x) {
    const mock_comm *c = x->comm;
    for (uint32_t r = 0; r < c->ranks; r++) {
        const mock_seat *seat = &c->board->seats[r];
        if (x->state == ROOM && x->seq > 2 && atomic_load(&seat->finished) < x->seq - 2) return r;
        if (x->state == OTHERS && needs(x, r) && atomic_load(&seat->published) < x->seq) return r;
    }
    return c->ranks;
}

static bool ready(void *what) {
    mock_exchange *x = what;
    const uint32_t r = behind(x);
    if (r == x->comm->ranks || x->comm->error != 0) return true;
    if (++x->looks % LOOKS != 0) return false;
    return mock_seat_lost(&x->comm->board->seats[r]) || mock_comm_late(x->comm, x->began_ns);
}

/* ---- sending ---- */

static bool put(const mock_exchange *x, const mock_piece *p, uint64_t at) {
    if (p->bytes == 0) return true;
    const void *view = mock_device_view(x->send + p->offset, p->bytes);
    mock_touch_task(x->send + p->offset, p->bytes, MOCK_READS);
    return view != NULL && mock_stage_write(x->comm->peers[x->comm->me], view, p->bytes, at);
}

/* Where each piece stands is on the stage in front of them. */
static bool put_all(mock_exchange *x) {
    mock_comm *c = x->comm;
    const uint64_t area = area_of(x->seq);
    const int stage = c->peers[c->me];
    mock_piece table[MOCK_RANKS];
    uint64_t at = DATA;
    if (c->area_bytes[x->seq & 1] > KEPT) mock_stage_forget(stage, area, c->area_bytes[x->seq & 1]);
    for (uint32_t r = 0; r < c->ranks; r++) {
        table[r] = (mock_piece){at, x->out[r].bytes};
        if (x->same && r != 0) table[r].offset = DATA;
        else if (!put(x, &x->out[r], area + at)) return false;
        if (!x->same) at += x->out[r].bytes;
    }
    c->area_bytes[x->seq & 1] = x->same ? DATA + x->out[0].bytes : at;
    return mock_stage_write(stage, table, c->ranks * sizeof *table, area);
}

static void publish(mock_exchange *x, bool good) {
    mock_seat *seat = &x->comm->board->seats[x->comm->me];
    seat->turns[x->seq & 1] = x->turn;
    seat->turns[x->seq & 1].failed = !good;
    atomic_store(&seat->published, x->seq);
}

/* ---- taking ---- */

static bool same_turn(const mock_turn *a, const mock_turn *b) {
    return a->kind == b->kind && a->type == b->type && a->op == b->op && a->root == b->root &&
           a->count == b->count;
}

/* Why rank r's operation is not the counterpart of this one. With the lock. */
static bool check_turn(const mock_exchange *x, uint32_t r) {
    mock_comm *c = x->comm;
    const mock_turn *there = &c->board->seats[r].turns[x->seq & 1], *here = &x->turn;
    if (there->failed != 0)
        mock_comm_break(c, HCCL_E_REMOTE, "rank %u failed in operation %llu", r, (unsigned long long)x->seq);
    else if (!same_turn(there, here))
        mock_comm_break(c, HCCL_E_PARA,
            "operation %llu: rank %u calls %s of %llu elements (%s), rank %u calls %s of %llu (%s), or with "
            "another root "
            "or reduction",
            (unsigned long long)x->seq, r, name_of(there->kind), (unsigned long long)there->count,
            mock_hccl_type(there->type), c->me, name_of(here->kind), (unsigned long long)here->count,
            mock_hccl_type(here->type));
    return c->error == 0;
}

static bool find(const mock_exchange *x, uint32_t r, mock_piece *p) {
    const uint64_t area = area_of(x->seq);
    if (!mock_stage_read(x->comm->peers[r], p, sizeof *p, area + x->comm->me * sizeof *p)) return false;
    p->offset += area;
    return p->bytes == x->in[r].bytes;
}

static bool take_each(const mock_exchange *x, uint32_t *r) {
    for (*r = 0; *r < x->comm->ranks; ++*r) {
        const mock_piece *in = &x->in[*r];
        mock_piece p;
        if (in->bytes == 0) continue;
        char *view = mock_device_view(x->recv + in->offset, in->bytes);
        mock_touch_task(x->recv + in->offset, in->bytes, MOCK_WRITES);
        if (view == NULL || !find(x, *r, &p)) return false;
        if (!mock_stage_read(x->comm->peers[*r], view, p.bytes, p.offset)) return false;
    }
    return true;
}

static bool reduce_chunk(const mock_exchange *x, const mock_piece *pieces, char *to, uint64_t at,
    uint64_t bytes, char *from, void *sum) {
    const HcclDataType type = (HcclDataType)x->turn.type;
    const uint64_t count = bytes / mock_hccl_size(type);
    for (uint32_t r = 0; r < x->comm->ranks; r++) {
        if (!mock_stage_read(x->comm->peers[r], from, bytes, pieces[r].offset + at)) return false;
        if (r == 0) mock_reduce_first(type, sum, from, count);
        else mock_reduce_next(type, (HcclReduceOp)x->turn.op, sum, from, count);
    }
    mock_reduce_last(type, sum, to + at, count);
    return true;
}

static bool take_sum(const mock_exchange *x, uint32_t *r) {
    const uint64_t bytes = x->in[0].bytes;
    if (bytes == 0) return true;
    mock_piece pieces[MOCK_RANKS];
    for (*r = 0; *r < x->comm->ranks; ++*r)
        if (!find(x, *r, &pieces[*r])) return false;
    char *to = mock_device_view(x->recv, bytes), *from = malloc(CHUNK);
    mock_touch_task(x->recv, bytes, MOCK_WRITES);
    void *sum = malloc(mock_reduce_bytes((HcclDataType)x->turn.type, CHUNK));
    bool good = to != NULL && from != NULL && sum != NULL;
    for (uint64_t at = 0; at < bytes && good; at += CHUNK)
        good = reduce_chunk(x, pieces, to, at, bytes - at < CHUNK ? bytes - at : CHUNK, from, sum);
    free(from);
    free(sum);
    return good;
}

/* ---- the task ---- */

static mock_outcome end(mock_exchange *x, mock_stream *s, mock_task *t, aclError code) {
    mock_seat *seat = &x->comm->board->seats[x->comm->me];
    if (atomic_load(&seat->published) < x->seq) publish(x, false);
    if (atomic_load(&seat->finished) < x->seq) atomic_store(&seat->finished, x->seq);
    x->state = BEGIN;
    mock_shared_poll();
    if (code != 0) mock_outside_fails(x->comm, s, t, code);
    return MOCK_DONE;
}

/* Somebody is behind: nothing to do yet, or nobody will come any more. */
static mock_outcome wait_or_fail(mock_exchange *x, mock_stream *s, mock_task *t, uint32_t r) {
    mock_comm *c = x->comm;
    if (c->error == 0 && mock_seat_lost(&c->board->seats[r])) {
        /* It may have come this far before it left. */
        if (behind(x) != r) return MOCK_BLOCKED;
        mock_comm_break(
            c, HCCL_E_REMOTE, "rank %u went away in front of operation %llu", r, (unsigned long long)x->seq);
        return end(x, s, t, ACL_ERROR_RT_IPC_ERROR);
    }
    if (c->error == 0 && mock_comm_late(c, x->began_ns)) {
        mock_comm_break(c, HCCL_E_TIMEOUT,
            "rank %u did not come to operation %llu (%s) within HCCL_EXEC_TIMEOUT", r,
            (unsigned long long)x->seq, name_of(x->turn.kind));
        return end(x, s, t, ACL_ERROR_RT_TASK_TIMEOUT);
    }
    return c->error == 0 ? MOCK_BLOCKED : end(x, s, t, ACL_ERROR_RT_INTERNAL_ERROR);
}

static bool send_own(mock_exchange *x) {
    mock_unlock();
    const bool good = put_all(x);
    mock_lock();
    publish(x, good);
    if (!good)
        mock_comm_break(x->comm, HCCL_E_MEMORY, "what %s sends is no device memory, or host memory ran out",
            name_of(x->turn.kind));
    mock_shared_poll();
    return good;
}

static bool take(mock_exchange *x) {
    uint32_t r = 0;
    for (r = 0; r < x->comm->ranks; r++)
        if (needs(x, r) && !check_turn(x, r)) return false;
    mock_unlock();
    const bool good = x->reduces ? take_sum(x, &r) : take_each(x, &r);
    mock_lock();
    if (!good)
        mock_comm_break(x->comm, HCCL_E_MEMORY,
            "%s: what comes from rank %u has another size, or where it goes is no device memory",
            name_of(x->turn.kind), r < x->comm->ranks ? r : 0);
    return good;
}

static mock_outcome step(mock_stream *s, mock_task *t) {
    mock_exchange *x = t->u.outside.what;
    if (x->state == BEGIN) {
        if (x->comm->error != 0) {
            mock_outside_fails(x->comm, s, t, ACL_ERROR_RT_INTERNAL_ERROR);
            return MOCK_DONE;
        }
        x->seq = ++x->comm->turn;
        x->began_ns = mock_real_ns();
        x->state = ROOM;
    }
    uint32_t r = behind(x);
    if (r != x->comm->ranks) return wait_or_fail(x, s, t, r);
    if (x->state == ROOM) {
        if (!send_own(x)) return end(x, s, t, ACL_ERROR_RT_DEVICE_MEM_ERROR);
        x->state = OTHERS;
        r = behind(x);
        if (r != x->comm->ranks) return wait_or_fail(x, s, t, r);
    }
    return end(x, s, t, take(x) ? 0 : ACL_ERROR_RT_INTERNAL_ERROR);
}

/* One that is dropped on its way would leave the others waiting. */
static void drop(void *what) {
    mock_exchange *x = what;
    if (x->state != BEGIN) {
        mock_seat *seat = &x->comm->board->seats[x->comm->me];
        if (atomic_load(&seat->published) < x->seq) publish(x, false);
        atomic_store(&seat->finished, x->seq);
        mock_comm_break(
            x->comm, HCCL_E_INTERNAL, "operation %llu was dropped with its stream", (unsigned long long)x->seq);
    }
    mock_comm_unref(x->comm);
    free(x);
}

void mock_exchange_drop(mock_exchange *x) { drop(x); }

static const mock_outside how = {step, ready, drop};

HcclResult mock_exchange_submit(mock_exchange *x, aclrtStream stream) {
    return mock_outside_submit(&how, x, (mock_hccl_call)x->turn.kind, stream);
}
