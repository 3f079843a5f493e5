/* What the tasks that steer streams do: records, waits, latches, notifies, value waits and host functions; and the
 * other parts that the engine leaves to the rooms that stand on it.
 * Each step runs with the engine lock and either finishes or links the stream to what it waits for.
 *
 * The order of a stream, and what each wait refers to: (guide: event management, notify, memory value
 * operations, callbacks). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "memory/memory.h"
#include "streams/callback.h"
#include "streams/count_notify.h"
#include "streams/event.h"
#include "streams/exception.h"
#include "streams/notify.h"
#include "streams/shared_event.h"

static uint64_t done(const mock_stream *s) { return atomic_load_explicit(&s->done, memory_order_acquire); }

/* What waits for another stream comes after what that one did, when races are looked for. */
static void waited(mock_stream *s, mock_event *e, const mock_mark *m) {
    e->waits_done++;
    if (!mock_races()) return;
    mock_racer *r = mock_racing_now(s);
    mock_racer_join(r, m);
    mock_mark_add(&e->waited, r);
}

/* Only the latest record of an event sets its time (guide: event management, aclrtRecordEvent). */
static mock_outcome step_record(mock_stream *s, mock_task *t) {
    mock_event *e = t->u.wait.event;
    if (mock_races()) mock_mark_fill(t->u.wait.mark, mock_racing_now(s));
    if (e->stream == s && e->seq == t->u.wait.seq) {
        e->time_ns = mock_stream_time(s);
        e->ends_ns = s->time_ns;
        e->timed = (e->flags & ACL_EVENT_TIME_LINE) != 0;
    }
    return MOCK_DONE;
}

/* The stream goes on when what it waited for ends, unless its time-out passes before. */
static void wait_until(mock_stream *s, mock_task *t, uint64_t ends_ns, uint32_t seconds) {
    const uint64_t now = mock_stream_time(s);
    const uint64_t limit = seconds == 0 ? UINT64_MAX : now + seconds * UINT64_C(1000000000);
    if (ends_ns > limit && t->fail == 0) t->fail = ACL_ERROR_RT_TASK_TIMEOUT;
    if (ends_ns > now) s->time_ns = ends_ns < limit ? ends_ns : limit;
}

/* The record that was the latest when the wait was queued (guide: event management,
 * aclrtStreamWaitEvent). */
static mock_outcome step_wait(mock_stream *s, mock_task *t) {
    mock_stream *source = t->u.wait.stream;
    mock_event *e = t->u.wait.event;
    if (done(source) < t->u.wait.seq) {
        mock_block_on(s, &source->waiters);
        return MOCK_BLOCKED;
    }
    waited(s, e, t->u.wait.mark);
    if (e->stream == source && e->seq == t->u.wait.seq) wait_until(s, t, e->ends_ns, t->u.wait.seconds);
    return MOCK_DONE;
}

/* The older events keep their mark until a reset (guide: event management, aclrtResetEvent). */
static mock_outcome step_latch_set(mock_stream *s, mock_task *t) {
    mock_event *e = t->u.wait.event;
    (void)s;
    step_record(s, t);
    e->latch = true;
    if (mock_races()) mock_mark_add(&e->passed, mock_racing_now(s));
    mock_wake_all(&e->waiters);
    return MOCK_DONE;
}

static mock_outcome step_latch_wait(mock_stream *s, mock_task *t) {
    mock_event *e = t->u.latch.event;
    if (!e->latch) {
        mock_block_on(s, &e->waiters);
        return MOCK_BLOCKED;
    }
    waited(s, e, e->passed);
    wait_until(s, t, e->ends_ns, t->u.latch.seconds);
    return MOCK_DONE;
}

static mock_outcome step_latch_reset(mock_stream *s, mock_task *t) {
    (void)s;
    t->u.latch.event->latch = false;
    mock_mark_clear(&t->u.latch.event->passed);
    return MOCK_DONE;
}

static mock_outcome step_notify_set(mock_stream *s, mock_task *t) {
    mock_notify *n = t->u.notify.notify;
    if (mock_races() && n->shared != NULL) mock_racing_tells(s);
    else if (mock_races()) mock_mark_add(&n->mark, mock_racing_now(s));
    if (n->shared != NULL) {
        atomic_store(&n->shared->page->set, 1);
        mock_shared_poll();
        return MOCK_DONE;
    }
    n->set = true;
    mock_wake_all(&n->waiters);
    return MOCK_DONE;
}

/* The other processes are dead: 507022 (own choice; header: ACL_ERROR_RT_IPC_ERROR). */
static mock_outcome step_shared_notify_wait(mock_stream *s, mock_task *t) {
    mock_shared *p = t->u.notify.notify->shared;
    if (atomic_exchange(&p->page->set, 0) != 0) {
        if (mock_races()) mock_racing_hears(s);
        return MOCK_DONE;
    }
    if (mock_shared_lost(p)) {
        mock_exception_locked(s, t, ACL_ERROR_RT_IPC_ERROR);
        mock_task_result(s, ACL_ERROR_RT_IPC_ERROR);
        return MOCK_DONE;
    }
    mock_block_on(s, &mock_engine.shared_waiters);
    return MOCK_BLOCKED;
}

/* Waits, then clears (guide: notify, aclrtWaitAndResetNotify). */
static mock_outcome step_notify_wait(mock_stream *s, mock_task *t) {
    mock_notify *n = t->u.notify.notify;
    if (n->shared != NULL) return step_shared_notify_wait(s, t);
    if (!n->set) {
        mock_block_on(s, &n->waiters);
        return MOCK_BLOCKED;
    }
    n->set = false;
    if (mock_races()) mock_racer_join(mock_racing_now(s), n->mark);
    mock_mark_clear(&n->mark);
    return MOCK_DONE;
}

/* (guide: memory value operations, aclrtValueWait; header: ACL_STREAM_WAIT_VALUE_GEQ and its neighbours) */
static bool value_holds(uint64_t memory, uint64_t value, uint32_t flag) {
    switch (flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
        return (int64_t)(memory - value) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
        return memory == value;
    case ACL_STREAM_WAIT_VALUE_AND:
        return (memory & value) != 0;
    default:
        return ~(memory | value) != 0;
    }
}

/* Outside of a live block: 507053 (own choice, as for copies). */
static mock_outcome step_value_wait(mock_stream *s, mock_task *t) {
    const _Atomic uint64_t *cell = mock_device_view(t->u.value.address, sizeof(uint64_t));
    if (cell == NULL) {
        mock_exception_locked(s, t, ACL_ERROR_RT_DEVICE_MEM_ERROR);
        mock_task_result(s, ACL_ERROR_RT_DEVICE_MEM_ERROR);
        return MOCK_DONE;
    }
    if (!value_holds(atomic_load_explicit(cell, memory_order_acquire), t->u.value.value, t->u.value.flag)) {
        mock_block_on(s, &mock_engine.value_waiters);
        return MOCK_BLOCKED;
    }
    if (mock_races()) mock_race_heed(mock_racing_now(s), t->u.value.address);
    return MOCK_DONE;
}

/* One at a time in a context (implementation of the open runtime: one callback thread each). */
static mock_outcome step_host(mock_stream *s, mock_task *t) {
    mock_ctx *ctx = s->ctx;
    if (ctx->in_callback) {
        mock_block_on(s, &ctx->callback_waiters);
        return MOCK_BLOCKED;
    }
    mock_thread *self = mock_self();
    mock_racer *racer = mock_racing_now(s);
    ctx->in_callback = true;
    mock_changed();
    mock_unlock();
    const mock_bound before = mock_bind_for(ctx);
    self->in_task++;
    self->stream = NULL; /* what the function does, the host does */
    mock_racing_calls(racer);
    t->u.host.fn(t->u.host.user);
    mock_racing_called(racer);
    self->stream = s;
    self->in_task--;
    mock_bind_back(before);
    mock_lock();
    ctx->in_callback = false;
    mock_wake_all(&ctx->callback_waiters);
    return MOCK_DONE;
}

/* The end of the task gives the block back. */
static mock_outcome step_release(mock_stream *s, mock_task *t) {
    (void)s;
    mock_pool_touch(t);
    return MOCK_DONE;
}

static mock_outcome step_outside(mock_stream *s, mock_task *t) {
    if (mock_races()) mock_racing_tells(s);
    const mock_outcome outcome = t->u.outside.how->step(s, t);
    if (mock_races() && outcome == MOCK_DONE) mock_racing_hears(s);
    if (outcome == MOCK_BLOCKED) mock_block_on(s, &mock_engine.shared_waiters);
    return outcome;
}

static mock_outcome (*const steps[MOCK_TASK_KINDS])(mock_stream *, mock_task *) = {
    [MOCK_TASK_RECORD] = step_record,
    [MOCK_TASK_WAIT] = step_wait,
    [MOCK_TASK_LATCH_SET] = step_latch_set,
    [MOCK_TASK_LATCH_WAIT] = step_latch_wait,
    [MOCK_TASK_LATCH_RESET] = step_latch_reset,
    [MOCK_TASK_NOTIFY_SET] = step_notify_set,
    [MOCK_TASK_NOTIFY_WAIT] = step_notify_wait,
    [MOCK_TASK_VALUE_WAIT] = step_value_wait,
    [MOCK_TASK_HOST] = step_host,
    [MOCK_TASK_REPORT] = mock_report_step,
    [MOCK_TASK_GRAPH] = mock_graph_step,
    [MOCK_TASK_REPLACE] = mock_replace_step,
    [MOCK_TASK_RELEASE] = step_release,
    [MOCK_TASK_POINT_WAIT] = mock_point_step,
    [MOCK_TASK_COUNT_SET] = mock_count_set_step,
    [MOCK_TASK_COUNT_WAIT] = mock_count_wait_step,
    [MOCK_TASK_SHARED_RECORD] = mock_shared_record_step,
    [MOCK_TASK_SHARED_WAIT] = mock_shared_wait_step,
    [MOCK_TASK_OUTSIDE] = step_outside,
};

static mock_outcome step(mock_stream *s, mock_task *t) { return steps[t->kind](s, t); }

/* One that failed, or was dropped, leaves its mark all the same: who waits for it goes on. */
static void record_released(mock_task *t) {
    if (t->u.wait.mark != NULL) mock_mark_fill(t->u.wait.mark, mock_racing_now(t->u.wait.stream));
    mock_mark_drop(t->u.wait.mark);
    mock_event_unref(t->u.wait.event);
}

/* Gives back what a steering task holds. */
static void release(mock_task *t) {
    switch (t->kind) {
    case MOCK_TASK_RECORD:
        mock_record_over();
        record_released(t);
        break;
    case MOCK_TASK_LATCH_SET:
        record_released(t);
        break;
    case MOCK_TASK_WAIT:
        mock_mark_drop(t->u.wait.mark);
        mock_event_unref(t->u.wait.event);
        break;
    case MOCK_TASK_LATCH_WAIT:
    case MOCK_TASK_LATCH_RESET:
        mock_event_unref(t->u.latch.event);
        break;
    case MOCK_TASK_NOTIFY_SET:
    case MOCK_TASK_NOTIFY_WAIT:
        mock_notify_unref(t->u.notify.notify);
        break;
    case MOCK_TASK_REPORT:
        mock_report_forget(t);
        break;
    case MOCK_TASK_GRAPH:
        mock_graph_release_launch(t);
        break;
    case MOCK_TASK_REPLACE:
        mock_replace_release(t);
        break;
    case MOCK_TASK_RELEASE:
        mock_pool_release(t);
        break;
    case MOCK_TASK_POINT_WAIT:
        mock_point_unref(t->u.point.point);
        mock_event_unref(t->u.point.event);
        break;
    case MOCK_TASK_COUNT_SET:
    case MOCK_TASK_COUNT_WAIT:
        mock_count_unref(t->u.count.count);
        break;
    case MOCK_TASK_SHARED_RECORD:
        mock_shared_record_release(t);
        mock_event_unref(t->u.shared.event);
        break;
    case MOCK_TASK_SHARED_WAIT:
        mock_event_unref(t->u.shared.event);
        break;
    case MOCK_TASK_OUTSIDE:
        t->u.outside.how->drop(t->u.outside.what);
        break;
    case MOCK_TASK_EXTERNAL_WAIT:
    case MOCK_TASK_EXTERNAL_RECORD:
        mock_event_unref(t->u.external.event);
        break;
    case MOCK_TASK_LABEL:
    case MOCK_TASK_BRANCH:
        mock_branch_release(t);
        break;
    default:
        break;
    }
}

static uint32_t seconds_of(const mock_task *t) {
    switch (t->kind) {
    case MOCK_TASK_WAIT:
        return t->u.wait.seconds;
    case MOCK_TASK_LATCH_WAIT:
        return t->u.latch.seconds;
    case MOCK_TASK_NOTIFY_WAIT:
        return t->u.notify.seconds;
    case MOCK_TASK_COUNT_WAIT:
        return t->u.count.seconds;
    case MOCK_TASK_SHARED_WAIT:
        return t->u.shared.seconds;
    case MOCK_TASK_POINT_WAIT:
        return t->u.point.seconds;
    case MOCK_TASK_GRAPH:
        return mock_graph_seconds(t);
    default:
        return 0;
    }
}

/* The event counts a wait whose time-out passed as done. */
static void missed(mock_task *t) {
    if (t->kind == MOCK_TASK_WAIT) t->u.wait.event->waits_done++;
    if (t->kind == MOCK_TASK_LATCH_WAIT) t->u.latch.event->waits_done++;
    if (t->kind == MOCK_TASK_POINT_WAIT) t->u.point.event->waits_done++;
}

static bool shared_ready(const mock_task *t) {
    if (t->kind == MOCK_TASK_GRAPH) return mock_graph_shared_ready(t);
    if (t->kind == MOCK_TASK_OUTSIDE) return t->u.outside.how->ready(t->u.outside.what);
    if (t->kind == MOCK_TASK_NOTIFY_WAIT) {
        mock_shared *p = t->u.notify.notify->shared;
        return p == NULL || atomic_load(&p->page->set) != 0 || mock_shared_lost(p);
    }
    mock_shared *p = t->u.shared.event->shared;
    return mock_ticket_reached(p, t->u.shared.ticket) || mock_shared_lost(p);
}

/* The thread's last task is then the one in the graph. */
static aclError capture(mock_stream *s, mock_task *t) {
    const mock_graph *g = s->graph;
    const aclError code = mock_capture_task(s, t);
    if (code == 0) {
        mock_self()->last_task = g->node_count;
        mock_self()->last_graph = g->serial;
    }
    return code;
}

const mock_engine_parts mock_parts = {
    .step = step,
    .release = release,
    .seconds = seconds_of,
    .missed = missed,
    .shared_ready = shared_ready,
    .calls_program = mock_graph_calls_program,
    .capture = capture,
    .update = mock_update_task,
    .failed = mock_exception_raise,
    .failed_locked = mock_exception_locked,
    .coming = mock_reports_coming,
    .waited = mock_pools_trim,
};
