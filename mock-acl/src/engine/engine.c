/* The engine: streams are queues without threads of their own. A host thread that must wait executes ready
 * work itself; what no host thread waits for is left to workers (engine/workers.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "base/base.h"
#include "engine/deadline.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "engine/launches.h"
#include "engine/objects.h"
#include "engine/parts.h"
#include "engine/shared.h"
#include "engine/state.h"
#include "engine/task.h"

#define NAP_NS 300000
#define BUDGET 256u /* tasks a thread runs on one stream before it looks at the others */

_Atomic(mock_watcher *) mock_watch;

mock_engine_state mock_engine = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .runnable = {&mock_engine.runnable, &mock_engine.runnable},
    .callers = {&mock_engine.callers, &mock_engine.callers},
    .value_waiters = {&mock_engine.value_waiters, &mock_engine.value_waiters},
    .shared_waiters = {&mock_engine.shared_waiters, &mock_engine.shared_waiters},
};

/* Its threads are behind the tasks. */
mock_task *mock_ring_new(void) {
    return aligned_alloc(64, MOCK_QUEUE_DEPTH * (sizeof(mock_task) + sizeof(uint32_t)));
}

static bool needs_all(void *what, const mock_stream *s) {
    (void)what;
    (void)s;
    return true;
}

static const mock_wait_for anything = {NULL, needs_all, NULL, NULL, NULL, false};

static mock_task *slot(const mock_stream *s, uint64_t seq) { return &s->ring[seq & (MOCK_QUEUE_DEPTH - 1)]; }

static uint64_t done(const mock_stream *s) { return atomic_load_explicit(&s->done, memory_order_acquire); }

const mock_task *mock_next_task(const mock_stream *s) { return slot(s, done(s)); }

void mock_changed(void) {
    if (atomic_load_explicit(&mock_engine.sleeping, memory_order_relaxed) != 0)
        pthread_cond_broadcast(&mock_engine.changed);
}

void mock_make_runnable(mock_stream *s) {
    if (s->running || s->blocked || s->dropping) return;
    if (atomic_load_explicit(&s->held, memory_order_relaxed)) return;
    if (done(s) == s->tail || !mock_list_empty(&s->in_queue)) return;
    if (MOCK_UNLIKELY(s->flags & ACL_STREAM_PERSISTENT)) return; /* stored, not run */
    mock_list_push(&mock_engine.runnable, &s->in_queue);
    mock_changed();
    if (mock_engine.eager_workers && !mock_engine.still && mock_engine.workers_idle != 0)
        pthread_cond_signal(&mock_engine.work);
    if (MOCK_UNLIKELY(mock_engine.starter_sleeps)) mock_starter_wake();
}

void mock_block_on(mock_stream *s, mock_link *waiters) {
    s->blocked = true;
    mock_list_push(waiters, &s->in_queue);
    if (MOCK_UNLIKELY(mock_engine.starter_sleeps)) mock_starter_wake();
}

void mock_wake(mock_stream *s) {
    mock_list_remove(&s->in_queue);
    s->blocked = false;
    mock_deadline_stop(s);
    mock_make_runnable(s);
}

void mock_wake_all(mock_link *waiters) {
    while (!mock_list_empty(waiters)) mock_wake(MOCK_OWNER(waiters->next, mock_stream, in_queue));
}

static void wake_reached(mock_stream *source) {
    const uint64_t reached = done(source);
    for (mock_link *l = source->waiters.next, *next; l != &source->waiters; l = next) {
        next = l->next;
        mock_stream *s = MOCK_OWNER(l, mock_stream, in_queue);
        if (slot(s, done(s))->u.wait.seq <= reached) mock_wake(s);
    }
}

void mock_task_release(mock_task *t) {
    switch (t->kind) {
    case MOCK_TASK_KERNEL:
        if (t->ops->drop != NULL) t->ops->drop(t->u.kernel.arg);
        break;
    case MOCK_TASK_WORK:
        if (t->ops->drop != NULL) t->ops->drop(&t->u);
        break;
    default:
        mock_parts.release(t);
    }
}

aclError mock_task_run(mock_task *t, const mock_stream *s, uint32_t graph) {
    if (MOCK_UNLIKELY(t->fail != 0)) return t->fail;
    if (t->kind != MOCK_TASK_KERNEL) return t->ops->run(&t->u);
    if (MOCK_UNLIKELY(atomic_load_explicit(&mock_launches_on, memory_order_relaxed)))
        mock_launches_add(t, s->id, graph);
    mock_watcher *watcher = atomic_load_explicit(&mock_watch, memory_order_relaxed);
    if (MOCK_UNLIKELY(watcher != NULL)) return watcher(t, s, graph);
    return t->ops->run(t->u.kernel.arg);
}

/* A later error takes the place of an unreported one (guide: FAQ on asynchronous errors). */
static void task_failed(mock_stream *s, aclError code) {
    s->error = code;
    if (s->stop_on_failure) {
        s->stopped = true;
        s->stop_error = code;
    }
}

void mock_task_result(mock_stream *s, aclError code) {
    if (code != 0) task_failed(s, code);
}

/* Runs consecutive plain tasks without the lock. A finished task is published at once and its slot is then
 * free. Threads asleep are told at the end: what they wait for is a record, a callback or the end of a queue,
 * never in between. */
static uint64_t run_plain(mock_stream *s, uint64_t limit) {
    const uint64_t first = done(s);
    const uint64_t end = s->tail - first < limit ? s->tail : first + limit;
    const bool stop = s->stop_on_failure;
    mock_thread *self = mock_self();
    aclError error = 0;
    uint64_t i = first;
    mock_unlock();
    self->in_task++;
    while (i != end) {
        mock_task *t = slot(s, i);
        if (t->kind > MOCK_TASK_WORK) break;
        const aclError code = mock_task_run(t, s, 0);
        if (MOCK_UNLIKELY(code != 0)) {
            /* Before the task counts as done: a wait that finds it done must find its error too. */
            error = code;
            mock_parts.failed(s, t, code);
            mock_lock();
            mock_task_result(s, error);
            mock_unlock();
        }
        if (MOCK_UNLIKELY(self->spent != 0)) {
            mock_lock();
            mock_stream_spends(s, self);
            mock_unlock();
        }
        if (t->ops->drop != NULL) mock_task_release(t);
        atomic_store_explicit(&s->done, ++i, memory_order_release);
        if (MOCK_UNLIKELY(atomic_load_explicit(&s->held, memory_order_relaxed))) break;
        if (MOCK_UNLIKELY(stop && error != 0)) break;
    }
    self->in_task--;
    mock_lock();
    mock_engine.clock_ns += (i - first) * MOCK_TASK_NS;
    mock_engine.tasks_run += i - first;
    return i - first;
}

static bool run_control(mock_stream *s) {
    mock_task *t = slot(s, done(s));
    if (MOCK_UNLIKELY(s->timed_out)) mock_deadline_missed(s, t);
    const mock_outcome outcome = MOCK_UNLIKELY(t->fail != 0) ? MOCK_DONE : mock_parts.step(s, t);
    if (MOCK_UNLIKELY(t->kind == MOCK_TASK_GRAPH) && mock_self()->spent != 0) mock_stream_spends(s, mock_self());
    if (outcome == MOCK_BLOCKED) {
        mock_deadline_start(s, t);
        return false;
    }
    if (MOCK_UNLIKELY(t->fail != 0)) mock_parts.failed_locked(s, t, t->fail);
    mock_task_result(s, t->fail);
    mock_task_release(t);
    mock_engine.clock_ns += MOCK_TASK_NS;
    mock_engine.tasks_run++;
    atomic_store_explicit(&s->done, done(s) + 1, memory_order_release);
    return true;
}

/* Whether the next task of the stream calls a function of the program. */
static bool calls_program(const mock_stream *s) {
    const mock_task *t = slot(s, done(s));
    return t->kind == MOCK_TASK_HOST || (t->kind == MOCK_TASK_GRAPH && mock_parts.calls_program(t));
}

/* A waiting thread runs a host function only when its own wait depends on it: the function may need a lock
 * that the thread holds, and must then run elsewhere, as on the runtime's callback thread. */
static bool may_run(const mock_stream *s, const mock_wait_for *w) {
    return !calls_program(s) || (w->needs != NULL && w->needs(w->what, s));
}

/* Executes up to BUDGET tasks of a runnable stream. The lock is dropped while tasks run. */
static void run_stream(mock_stream *s, const mock_wait_for *w, bool worker) {
    mock_thread *self = mock_self();
    const mock_stream *before = self->stream;
    self->stream = s;
    mock_list_remove(&s->in_queue);
    s->running = true;
    mock_engine.executing++;
    mock_engine.executing_workers += worker;
    uint64_t ran = 0;
    while (ran < BUDGET && done(s) != s->tail && !s->dropping && !s->stopped &&
           !atomic_load_explicit(&s->held, memory_order_relaxed)) {
        if (slot(s, done(s))->kind <= MOCK_TASK_WORK) {
            ran += run_plain(s, BUDGET - ran);
        } else if (may_run(s, w) && run_control(s)) {
            ran++;
        } else {
            break;
        }
        if (!mock_list_empty(&s->waiters)) wake_reached(s);
        mock_changed();
    }
    mock_engine.executing--;
    mock_engine.executing_workers -= worker;
    s->running = false;
    self->stream = before;
    if (s->stopped && !s->dropping) mock_drop_queue(s);
    mock_make_runnable(s);
    if (ran != 0) mock_wake_all(&mock_engine.value_waiters);
    if (MOCK_UNLIKELY(ran != 0 && !mock_list_empty(&mock_engine.shared_waiters)))
        mock_wake_all(&mock_engine.shared_waiters);
    if (MOCK_UNLIKELY(mock_engine.timed_waits != 0)) mock_deadlines_pass(mock_engine.clock_ns);
    mock_changed();
}

/* A stream from the list that the thread may run. Others are left to a worker. */
static mock_stream *pick(const mock_wait_for *w) {
    mock_stream *first = w->first;
    if (first != NULL && !first->blocked && !mock_list_empty(&first->in_queue) && may_run(first, w))
        return first;
    while (!mock_list_empty(&mock_engine.runnable)) {
        mock_stream *s = MOCK_OWNER(mock_engine.runnable.next, mock_stream, in_queue);
        if (may_run(s, w)) return s;
        mock_list_remove(&s->in_queue);
        mock_list_push(&mock_engine.callers, &s->in_queue);
    }
    for (mock_link *l = mock_engine.callers.next; l != &mock_engine.callers; l = l->next)
        if (may_run(MOCK_OWNER(l, mock_stream, in_queue), w)) return MOCK_OWNER(l, mock_stream, in_queue);
    return NULL;
}

static bool step_runnable(const mock_wait_for *w) {
    mock_stream *s = pick(w);
    if (s != NULL) run_stream(s, w, false);
    return s != NULL;
}

void mock_run_as_worker(mock_stream *s) { run_stream(s, &anything, true); }

/* A short sleep: nobody tells this process what others did, or that a time-out passed. */
static void nap(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += NAP_NS;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    atomic_fetch_add_explicit(&mock_engine.sleeping, 1, memory_order_relaxed);
    pthread_cond_timedwait(&mock_engine.changed, &mock_engine.lock, &end);
    atomic_fetch_sub_explicit(&mock_engine.sleeping, 1, memory_order_relaxed);
}

/* Sleeps until something changed. With a time-out, at most until its end in real time: another thread is
 * executing, for instance a host function that waits for this very thread. */
static bool sleep_until_changed(int64_t timeout_ns, struct timespec *until) {
    bool expired = false;
    atomic_fetch_add_explicit(&mock_engine.sleeping, 1, memory_order_relaxed);
    if (timeout_ns < 0) {
        pthread_cond_wait(&mock_engine.changed, &mock_engine.lock);
    } else {
        if (until->tv_sec == 0) {
            clock_gettime(CLOCK_REALTIME, until);
            const int64_t ns = until->tv_nsec + timeout_ns;
            until->tv_sec += (time_t)(ns / 1000000000);
            until->tv_nsec = (long)(ns % 1000000000);
        }
        expired = pthread_cond_timedwait(&mock_engine.changed, &mock_engine.lock, until) == ETIMEDOUT;
    }
    atomic_fetch_sub_explicit(&mock_engine.sleeping, 1, memory_order_relaxed);
    return expired;
}

/* It is done, but on the virtual clock perhaps only after the time-out. */
static aclError settle(const mock_wait_for *w, int64_t timeout_ns, uint64_t deadline) {
    if (!MOCK_UNLIKELY(mock_engine.furthest_ns > mock_engine.clock_ns) || w->ended == NULL) return 0;
    const uint64_t end = w->ended(w->what);
    const bool late = timeout_ns >= 0 && end > deadline;
    mock_clock_follows(late ? deadline : end);
    return late ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT : 0;
}

aclError mock_wait(const mock_wait_for *w, int64_t timeout_ns) {
    const uint64_t deadline = mock_engine.clock_ns + (timeout_ns < 0 ? 0 : (uint64_t)timeout_ns);
    if (w->ready(w->what)) return settle(w, timeout_ns, deadline);
    if (mock_self()->in_task != 0)
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "a host function must not wait for the device");
    uint64_t began = 0; /* the first nap, in real time: most waits never look at a clock */
    struct timespec until = {0, 0};
    aclError result = 0;
    mock_engine.waiting++;
    while (!w->ready(w->what)) {
        const uint64_t turns = mock_engine.loop_turns;
        if (step_runnable(w)) {
            /* A loop in a graph may never end: the wait does when its time is over. */
            const bool looping = turns != mock_engine.loop_turns;
            if (!looping || timeout_ns < 0 || mock_engine.clock_ns < deadline || w->ready(w->what)) continue;
            result = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
            break;
        }
        if (mock_shared_poll()) continue;
        const bool others = mock_engine.executing != 0 || mock_call_worker() || mock_parts.coming();
        const bool outside = mock_shared_waiting();
        /* Who else could end a wait with a time-out? Nobody, when every thread of the program waits as
         * well. */
        const uint32_t idle = w->serves ? 1 : mock_engine.waiting;
        const bool all_wait = (timeout_ns >= 0 && !w->serves) || mock_threads_alive() <= idle;
        const bool alone = all_wait && !others && !outside;
        if (mock_deadlines_pass(!alone ? 0 : timeout_ns < 0 ? UINT64_MAX : deadline)) continue;
        bool expired = timeout_ns >= 0;
        if (outside || (timeout_ns < 0 && mock_engine.timed_waits != 0)) {
            if (began == 0) began = mock_real_ns();
            nap();
            expired = expired && mock_real_ns() - began >= (uint64_t)timeout_ns;
        } else if (timeout_ns < 0 || !alone) {
            expired = sleep_until_changed(timeout_ns, &until);
        }
        if (!expired || w->ready(w->what)) continue;
        if (mock_engine.clock_ns < deadline && (alone || !w->serves)) mock_engine.clock_ns = deadline;
        result = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
        break;
    }
    mock_engine.waiting--;
    return result == 0 ? settle(w, timeout_ns, deadline) : result;
}

void mock_run_all(void) {
    mock_engine.waiting++;
    for (;;) {
        if (step_runnable(&anything)) continue;
        if (mock_engine.executing == 0) break;
        sleep_until_changed(MOCK_FOREVER, NULL);
    }
    mock_engine.waiting--;
}

mock_target mock_target_of(mock_stream *s, uint64_t seq) {
    return (mock_target){s, seq, s->aborts, s->serial, NULL};
}

static bool target_reached(void *what) {
    const mock_target *t = what;
    return done(t->stream) >= t->seq;
}

static bool target_needs(void *what, const mock_stream *s) {
    const mock_target *t = what;
    return t->stream == s && done(s) < t->seq;
}

/* An event that was recorded again meanwhile has another time. */
static uint64_t target_ended(void *what) {
    const mock_target *t = what;
    if (!mock_target_lives(t)) return 0;
    if (t->event == NULL) return t->stream->time_ns;
    return t->event->stream == t->stream && t->event->seq == t->seq ? t->event->ends_ns : 0;
}

aclError mock_wait_target(mock_target *t, int64_t timeout_ns) {
    const aclError code =
        mock_wait(&(mock_wait_for){target_reached, target_needs, t, t->stream, target_ended, false}, timeout_ns);
    if (mock_races() && code == 0 && t->event == NULL) mock_racing_over(t->stream);
    mock_parts.waited();
    return code;
}

aclError mock_stream_finish(mock_stream *s) {
    if (s->flags & ACL_STREAM_PERSISTENT) return 0;
    mock_target t = mock_target_of(s, s->tail);
    return mock_wait_target(&t, MOCK_FOREVER);
}

/* ---- queueing ---- */

static bool has_room(const mock_stream *s) { return s->tail - done(s) < MOCK_QUEUE_TASKS; }

/* For waits that end when the stream is gone as well. */
static bool room_or_gone(void *what) {
    const mock_target *t = what;
    return !mock_target_lives(t) || has_room(t->stream);
}

static bool is_it(void *what, const mock_stream *s) { return s == ((const mock_target *)what)->stream; }

aclError mock_room(mock_stream *s) {
    if (MOCK_UNLIKELY(s->ring == NULL)) {
        s->ring = mock_ring_new();
        if (s->ring == NULL)
            return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no memory for a stream's queue");
    }
    if (MOCK_UNLIKELY(s->stopped))
        return mock_fail(s->stop_error, "EE9999", "the stream stopped after error %d", s->stop_error);
    if (has_room(s)) return 0;
    /* Nothing makes room in a stream that stores its tasks (own choice: as many as another queue takes). */
    if (s->flags & ACL_STREAM_PERSISTENT)
        return mock_fail(ACL_ERROR_RT_STREAM_TASK_FULL, "EE1016", "stream %d stores %u tasks already", s->id,
            MOCK_QUEUE_TASKS);
    mock_target t = mock_target_of(s, 0);
    mock_engine.roomless++;
    const aclError code = mock_wait(&(mock_wait_for){room_or_gone, is_it, &t, s, NULL, false}, MOCK_FOREVER);
    mock_engine.roomless--;
    if (code != 0) return code;
    if (!mock_target_lives(&t) || s->handle == NULL)
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EH0008", "the stream was destroyed meanwhile");
    return 0;
}

/* The threads that queued the tasks of a ring, behind it. */
static uint32_t *submitters(const mock_stream *s) { return (uint32_t *)(void *)(s->ring + MOCK_QUEUE_DEPTH); }

uint32_t mock_submitter(const mock_stream *s) { return submitters(s)[done(s) & (MOCK_QUEUE_DEPTH - 1)]; }

void mock_push(mock_stream *s, const mock_task *t) {
    mock_thread *self = mock_self();
    *slot(s, s->tail) = *t;
    submitters(s)[s->tail & (MOCK_QUEUE_DEPTH - 1)] = self->tid;
    s->tail++;
    self->last_task = (uint32_t)(s->tail - s->base);
    self->last_graph = 0;
    if (mock_tasks_fail()) slot(s, s->tail - 1)->fail = mock_task_fault(t->ops->name);
    if (mock_races()) mock_racing_queued(s);
    if (mock_list_empty(&s->in_queue)) mock_make_runnable(s);
}

aclError mock_submit(mock_stream *s, mock_task *t) {
    aclError code;
    if (MOCK_UNLIKELY(s->graph != NULL)) return mock_parts.capture(s, t);
    if (MOCK_UNLIKELY(s->update != NULL)) return mock_parts.update(s, t);
    code = mock_room(s);
    if (MOCK_UNLIKELY(code != 0)) {
        mock_task_release(t);
        return code;
    }
    mock_push(s, t);
    return 0;
}

/* ---- ending ---- */

static bool not_running(void *what) {
    const mock_target *t = what;
    return !mock_target_lives(t) || !t->stream->running;
}

/* Several threads may be here for one stream. When one of them freed it, the others must leave alone what is
 * in its place by then. */
void mock_drop_queue(mock_stream *s) {
    mock_target t = mock_target_of(s, 0);
    s->dropping++;
    mock_wait(&(mock_wait_for){not_running, NULL, &t, NULL, NULL, false}, MOCK_FOREVER);
    if (!mock_target_lives(&t)) return;
    if (!mock_list_empty(&s->in_queue)) mock_list_remove(&s->in_queue);
    s->blocked = s->timed_out = false;
    mock_deadline_stop(s);
    while (done(s) != s->tail) {
        mock_task_release(slot(s, done(s)));
        atomic_store_explicit(&s->done, done(s) + 1, memory_order_release);
    }
    s->dropping--;
    if (mock_races()) mock_racing_over(s);
    wake_reached(s);
    mock_wake_all(&mock_engine.value_waiters);
    mock_changed();
}

static bool drained(void *what) {
    const mock_target *t = what;
    return !mock_target_lives(t) || (done(t->stream) == t->stream->tail && !t->stream->running);
}

/* Teardown waits up to 30 s (of virtual time) for the queue to empty, then drops what is left. */
void mock_drain(mock_stream *s) {
    mock_target t = mock_target_of(s, 0);
    if ((s->flags & ACL_STREAM_PERSISTENT) == 0)
        mock_wait(&(mock_wait_for){drained, is_it, &t, s, NULL, false}, INT64_C(30000000000));
    if (mock_target_lives(&t)) mock_drop_queue(s);
}

/* Its tasks are done, or the first one waits for something that nothing brings about now. */
static bool no_further(void *what) {
    const mock_target *t = what;
    const mock_stream *s = t->stream;
    if (!mock_target_lives(t) || s->dropping || s->stopped) return true;
    if (done(s) >= t->seq) return true;
    if (atomic_load_explicit(&s->held, memory_order_relaxed)) return !s->running;
    return s->blocked && mock_engine.executing == 0 && mock_list_empty(&mock_engine.runnable) &&
           mock_list_empty(&mock_engine.callers);
}

void mock_end_by_force(mock_stream *s) {
    mock_target t = mock_target_of(s, s->tail);
    if ((s->flags & ACL_STREAM_PERSISTENT) == 0)
        mock_wait(&(mock_wait_for){no_further, is_it, &t, s, NULL, false}, MOCK_FOREVER);
    if (mock_target_lives(&t)) mock_drop_queue(s);
}

/* The host wrote device memory: waits for values are looked at again. */
void mock_memory_changed(void) {
    mock_lock();
    mock_wake_all(&mock_engine.value_waiters);
    mock_unlock();
}
