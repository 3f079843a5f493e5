/* The engine: streams are queues of tasks, and host threads that wait run what is ready. Tasks, contexts, streams,
 * events and notifies as the engine sees them, waits and their time-outs, virtual time, workers, captures that go
 * on, what is left of streams and events, pages that processes share, and the log of kernels.
 *
 * Uses base alone. The rooms that stand on it queue their work here, and fill what it leaves to them
 * (engine/parts.h).
 *
 * One lock, `mock_engine.lock`, guards every object of the runtime. It is never held while a task runs, a callback
 * runs or a host thread waits. Memory and handles have their own leaf locks. Objects of one kind are type-stable:
 * a destroyed one returns to a free list and is never unmapped, so a stale pointer inside the engine is harmless. */
#ifndef MOCK_ENGINE_ENGINE_H_
#define MOCK_ENGINE_ENGINE_H_

#include <stddef.h>
#include <stdint.h>
#include "base/base.h"
#include "engine/notify_ids.h"
#include "engine/objects.h"
#include "engine/parts.h"
#include "engine/shared.h"
#include "engine/state.h"
#include "engine/task.h"
#include "races/races.h"

/* ---- engine/captures.c, with the lock ---- */
/* 107030 or `code` when the capture modes forbid the calling thread a synchronous call, else 0. */
aclError mock_capture_forbids(mock_ctx *ctx, aclError code, const char *what);
/* 107027: the stream captures. */
aclError mock_captured_error(const char *call);
/* With MOCK_ACL_STRICT=doc the capture is invalid from now on. */
void mock_capture_spoil(mock_capture *c);
/* The captures that go on. */
extern mock_link mock_captures;

/* ---- engine/clock.c, with the lock but for the first two ---- */
/* Real time. */
uint64_t mock_real_ns(void);
/* The clock of profiles: it is not adjusted. */
uint64_t mock_raw_ns(void);
/* The task that the thread runs takes so much more time. */
void mock_spend(uint64_t ns);
/* Up to when the stream is busy: now, or later. */
uint64_t mock_stream_time(const mock_stream *s);
/* A host thread saw the end of something. */
void mock_clock_follows(uint64_t ns);

/* ---- engine/current.c, with the lock ---- */
mock_stream *mock_stream_by_id(int32_t id);
void mock_each_stream(void (*visit)(mock_stream *));
/* Live contexts, `own`: those of the program only. */
uint64_t mock_context_count(bool own);
/* Every context, and what gives a thread without one its own (NULL: nothing does). */
extern mock_link mock_contexts;
extern _Atomic(mock_binder *) mock_bind_default;
/* The calling thread's live context, or NULL after reporting 107002. */
mock_ctx *mock_current(void);
/* The same without a text where there is none. */
mock_ctx *mock_current_or_none(void);
mock_ctx *mock_current_quiet(void);
/* Whoever runs the program's functions, they find the context of their stream (own choice). Without the engine lock. */
typedef struct mock_bound {
    mock_ctx *ctx;
    uint64_t serial;
} mock_bound;
mock_bound mock_bind_for(mock_ctx *ctx);
void mock_bind_back(mock_bound before);
/* NULL is the default stream. `submit` streams must belong to the current context. */
aclError mock_stream_to_submit(aclrtStream handle, mock_stream **out);
/* The same in two steps, for calls that look at other things between: the handle alone (NULL for null), then the context,
 * whose default stream takes the place of NULL. */
aclError mock_stream_find(aclrtStream handle, mock_stream **out);
aclError mock_stream_of_submission(mock_stream **s);
aclError mock_stream_to_wait(aclrtStream handle, mock_stream **out);
aclError mock_stream_to_look_at(aclrtStream handle, mock_stream **out);
/* Whether it is null or a live stream: 0 or 107017, also without the lock. */
aclError mock_stream_check(aclrtStream handle);
/* Whether it is a stream of the current context: 0 or 107003. */
aclError mock_stream_of_current(const mock_stream *s);

/* ---- engine/engine.c, with the lock but for tasks that run and mock_memory_changed ---- */
/* Runs a kernel instead of the engine, and looks at it; NULL: nobody looks. */
extern _Atomic(mock_watcher *) mock_watch;
/* The low bits of the clock of profiles in units of 64 ns, which is some four minutes; 0 when nobody looks. */
#define MOCK_TOLD_NS 64u
static inline uint32_t mock_told(void) {
    const bool looked_at = atomic_load_explicit(&mock_watch, memory_order_relaxed) != NULL;
    return MOCK_UNLIKELY(looked_at) ? (uint32_t)(mock_raw_ns() / MOCK_TOLD_NS) : 0;
}
/* Host threads that wait run ready work themselves. Called with the lock, returns with it; `timeout_ns`
 * negative waits without limit. 0, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, or an error when called from inside a
 * task. */
aclError mock_wait(const mock_wait_for *w, int64_t timeout_ns);
/* Ends all queued work of a stream: runs what can run, then drops the rest. The lock is dropped meanwhile, so
 * another thread may free the stream: its serial tells. */
void mock_drain(mock_stream *s);
/* The same without waiting for what may never come: a first task that waits for something, a closed gate. */
void mock_end_by_force(mock_stream *s);
mock_target mock_target_of(mock_stream *s, uint64_t seq);
aclError mock_wait_target(mock_target *t, int64_t timeout_ns);
void mock_drop_queue(mock_stream *s);
/* Runs all that can run, and waits for what other threads have in hand. */
void mock_run_all(void);
void mock_make_runnable(mock_stream *s);
void mock_block_on(mock_stream *s, mock_link *waiters);
void mock_wake_all(mock_link *waiters);
void mock_changed(void);
/* The host wrote device memory: waits for values are looked at again. Takes the lock. */
void mock_memory_changed(void);
aclError mock_stream_finish(mock_stream *s); /* with the lock; waits without limit */
/* Room for one more task; drops the lock while the queue is full, so the stream is checked again. */
aclError mock_room(mock_stream *s);
void mock_push(mock_stream *s, const mock_task *t);
/* Queues or records the task and takes over what it owns, also on failure. With the lock. */
aclError mock_submit(mock_stream *s, mock_task *t);
void mock_task_release(mock_task *t);
/* A plain task on a stream; `graph` is the id of its graph, or 0. */
aclError mock_task_run(mock_task *t, const mock_stream *s, uint32_t graph);
const mock_task *mock_next_task(const mock_stream *s);
void mock_task_result(mock_stream *s, aclError code);
/* The thread that queued the first task of a stream. */
uint32_t mock_submitter(const mock_stream *s);

/* ---- engine/workers.c, with the lock ---- */
/* A host that polls sees progress at once. */
void mock_poll_wakes_worker(void);
/* Reads MOCK_ACL_WORKERS. */
void mock_start_workers(void);

/* ---- engine/notify_ids.c, with the lock ---- */
extern mock_id_pool mock_notify_ids;
/* Ids without a number, of the notifies inside of graphs; false when there are too few, and none is taken
 * then. */
bool mock_notify_ids_take(uint32_t count);
void mock_notify_ids_give(uint32_t count);

/* ---- engine/quota.c, with the lock ---- */
/* What is left of streams and events. */
void mock_quota_reset(void);
uint32_t mock_streams_left(int32_t device);
void mock_stream_taken(const mock_stream *s);
void mock_stream_given(const mock_stream *s);
/* Streams inside captured graphs. */
void mock_graph_stream_taken(int32_t device);
void mock_graph_streams_given(int32_t device, uint32_t count);
void mock_graph_streams_forgotten(int32_t device);
/* The id of an event of the older calls: 0, also when it has one, or 207007. */
aclError mock_event_id_take(mock_event *e);
void mock_event_id_give(mock_event *e);
/* Room and an id for the record of an Ex event; may drop the lock, as mock_room. */
aclError mock_record_room(mock_stream *s);
void mock_record_queued(void);
void mock_record_over(void);

/* ---- engine/racing.c, with the lock unless it says otherwise ---- */
/* The task after the queued ones comes after a mark. */
void mock_racing_next(mock_stream *s, mock_mark *m);
/* The host saw that all is over that the stream did; that every stream which has nothing left has. */
void mock_racing_over(const mock_stream *s);
void mock_racing_idle(void);
/* The stream goes, and its racer with it. */
void mock_racing_leave(mock_stream *s);
/* Who the calling thread runs: the node of a graph, or the next task of the stream. NULL when races are not looked for, or
 * were not when it was queued. Also without the lock. */
mock_racer *mock_racing_now(const mock_stream *s);
/* A function of the program begins and ends on behalf of a racer that waits for it; they order what the host knows. Also
 * without the lock. */
void mock_racing_calls(mock_racer *r);
void mock_racing_called(mock_racer *r);
/* Whatever is told to other processes, and heard from them, goes through one mark. */
void mock_racing_tells(const mock_stream *s);
void mock_racing_hears(const mock_stream *s);
void mock_racing_hears_next(mock_stream *s);
void mock_racing_host_hears(void);
/* An access of the task that the calling thread runs; nobody's when it runs none. False: it fails. Without the lock. */
bool mock_racing_task(mock_touch kind, const mock_pieces *what);
/* An access of a call of the host. With the lock or without. */
void mock_racing_host(const char *call, mock_touch kind, const mock_pieces *what);
/* Reads MOCK_ACL_RACES, the first time. */
void mock_racing_start(void);

/* ---- engine/shared.c, with the lock except for what is atomic ---- */
/* When a process started, in ticks since boot; 0 when there is none, or it is dead. */
uint64_t mock_process_start(int32_t pid);
/* Whether the one that started then is dead. */
bool mock_process_gone(int32_t pid, uint64_t started);
/* Opens the sealed anonymous file `of` of a process, if it has this name, and this size unless that is negative: no
 * other file is ever opened, whatever stands in a key. -1 when it is not there. */
int mock_process_file(int32_t pid, uint64_t started, int32_t of, const char *name, int64_t size);
/* NULL without memory or descriptors. */
mock_shared *mock_shared_new(mock_shared_kind kind);
mock_shared *mock_shared_ref(mock_shared *p);
void mock_shared_unref(mock_shared *p);
uint64_t mock_shared_magic(void);
void mock_shared_export(const mock_shared *p, mock_shared_key *key);
/* 107000 for a key that no mock wrote, 507899 when its process or object is gone, 207006 when the process
 * is not on the list. */
aclError mock_shared_import(const mock_shared_key *key, mock_shared_kind kind, mock_shared **out);
/* Looks whether a stream that waits can go on; true when one can. */
bool mock_shared_poll(void);
/* Whether every other process of the object that was there is dead now: then nobody ends a wait. */
bool mock_shared_lost(mock_shared *p);
/* An event's records: tickets from 1 on. */
uint64_t mock_ticket_take(mock_shared *p);
void mock_ticket_done(mock_shared *p, uint64_t ticket);
bool mock_ticket_reached(const mock_shared *p, uint64_t ticket);

#endif
