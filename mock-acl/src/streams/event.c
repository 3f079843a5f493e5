/* Events (guide: event management). Ex events follow their latest record, a position in a stream. Events
 * of the older calls are latches as well: a record sets them, a reset clears them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "streams/event.h"
#include "streams/shared_event.h"
#include "streams/streams.h"
#include "streams/timeouts.h"

/* Ids of a device (guide: event management, aclrtCreateEvent). They wrap; engine/quota.c counts what is in use (own
 * choice). */
#define ID_LIMIT 65536u

static mock_event *free_events;
static uint32_t next_id;

static const mock_task_ops record_ops = {"aclrtRecordEvent", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtStreamWaitEvent", NULL, NULL};
static const mock_task_ops reset_ops = {"aclrtResetEvent", NULL, NULL};

mock_event *mock_event_get(const void *handle) {
    mock_event *e = mock_handle_get(MOCK_EVENT, handle);
    if (e == NULL) mock_stale(handle, "event");
    return e;
}

void mock_event_unref(mock_event *e) {
    if (--e->refs != 0) return;
    mock_event_id_give(e);
    mock_point_unref(e->point);
    e->point = NULL;
    mock_shared_unref(e->shared);
    e->shared = NULL;
    mock_mark_clear(&e->mark);
    mock_mark_clear(&e->passed);
    mock_mark_clear(&e->waited);
    e->next_free = free_events;
    free_events = e;
}

static uint64_t done(const mock_stream *s) { return atomic_load_explicit(&s->done, memory_order_acquire); }

bool mock_recorded(const mock_event *e) {
    if (e->point != NULL) return e->point->reached;
    return e->stream != NULL && done(e->stream) >= e->seq;
}

/* ---- creation ---- */

static void drop(void *object) {
    mock_event *e = object;
    mock_handle_take(MOCK_EVENT, e->handle);
    e->handle = NULL;
    mock_event_unref(e);
}

/* An event between processes takes `shared` over. */
static aclError create(aclrtEvent *out, mock_event_family family, uint32_t flags, mock_shared *shared) {
    mock_lock();
    mock_ctx *ctx = mock_current();
    mock_event *e = NULL;
    aclError code = 0;
    if (ctx != NULL && (e = free_events) != NULL) free_events = e->next_free;
    else if (ctx != NULL && (e = calloc(1, sizeof *e)) != NULL) mock_list_init(&e->waiters);
    if (e != NULL) {
        e->handle = mock_handle_new(MOCK_EVENT, e);
        e->refs = 1;
        e->id = next_id++ % ID_LIMIT;
        e->flags = flags;
        e->family = family;
        e->ctx = ctx;
        e->stream = NULL;
        e->point = NULL;
        e->graph = NULL;
        e->timed = e->latch = e->has_id = false;
        e->seq = e->time_ns = e->waits_queued = e->waits_done = 0;
        e->record_use = e->wait_use = 0;
        e->in_model = false;
        e->shared = shared;
        if (family == MOCK_EVENT_FLAGGED || family == MOCK_EVENT_OUTSIDE) code = mock_event_id_take(e);
        if (code == 0) {
            *out = e->handle;
            mock_gave(*out);
        }
        else drop(e);
    }
    mock_unlock();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    return e != NULL ? code : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
}

/* (observed: event_create_flags) */
static aclError bad_flag(uint32_t flag) {
    const bool both = flag == (ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL);
    return mock_fail(
        ACL_ERROR_RT_PARAM_INVALID, both ? "EE1006" : "EE1003", "event flag 0x%x is not valid here", flag);
}

#define COMMON_FLAGS 0xFu

/* Waits, times and progress in one (guide: event management, aclrtCreateEvent). */
MOCK_EXPORT aclError aclrtCreateEvent(aclrtEvent *event) {
    MOCK_ENTER(aclrtCreateEvent);
    if (event == NULL) return mock_null("event");
    return create(event, MOCK_EVENT_PLAIN,
        ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS, NULL);
}

/* Any of the low four bits, or 0x10 or 0x20 alone (observed: event_create_flags). */
MOCK_EXPORT aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) {
    MOCK_ENTER(aclrtCreateEventWithFlag);
    if (event == NULL) return mock_null("event");
    const bool alone = flag == ACL_EVENT_DEVICE_USE_ONLY || flag == ACL_EVENT_EXTERNAL;
    if (!alone && (flag == 0 || (flag & ~COMMON_FLAGS) != 0)) return bad_flag(flag);
    return create(event, flag == ACL_EVENT_EXTERNAL ? MOCK_EVENT_OUTSIDE : MOCK_EVENT_FLAGGED, flag, NULL);
}

/* (observed: event_create_flags, event_kinds, event_ex_flags, with a driver that cannot) */
static aclError create_shared(aclrtEvent *event) {
    if (!mock_ipc_events()) {
        mock_lock();
        const bool bound = mock_current() != NULL;
        mock_unlock();
        return bound ? mock_unable() : ACL_ERROR_RT_CONTEXT_NULL;
    }
    mock_shared *shared = mock_shared_new(MOCK_SHARED_EVENT);
    if (shared == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no memory to share");
    atomic_store(&shared->page->any_process, 1);
    const aclError code = create(event, MOCK_EVENT_IPC, ACL_EVENT_IPC | ACL_EVENT_SYNC, shared);
    if (code != 0) mock_shared_unref(shared);
    return code;
}

/* Null: 100000; a handle that no process exported: 107000, of a process that is gone: 507899 (own choice). */
MOCK_EXPORT aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event) {
    MOCK_ENTER(aclrtIpcOpenEventHandle);
    if (event == NULL) return mock_null("event");
    mock_shared_key key;
    mock_shared *shared = NULL;
    memcpy(&key, handle.reserved, sizeof key);
    mock_lock();
    aclError code = mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
    if (code == 0) code = mock_shared_import(&key, MOCK_SHARED_EVENT, &shared);
    mock_unlock();
    if (code == 0) code = create(event, MOCK_EVENT_IPC, ACL_EVENT_IPC | ACL_EVENT_SYNC, shared);
    if (code != 0) mock_shared_unref(shared);
    return code;
}

/* Any of the low four bits, or 0x40 alone (observed: event_create_flags). */
MOCK_EXPORT aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) {
    MOCK_ENTER(aclrtCreateEventExWithFlag);
    if (event == NULL) return mock_null("event");
    if (flag == ACL_EVENT_IPC) return create_shared(event);
    if (flag == 0 || (flag & ~COMMON_FLAGS) != 0) return bad_flag(flag);
    return create(event, MOCK_EVENT_EX, flag, NULL);
}

/* Never waits (guide: event management, aclrtDestroyEvent); also in a capture, whose graph works on
 * (observed: event_destroy_in_capture). */
MOCK_EXPORT aclError aclrtDestroyEvent(aclrtEvent event) {
    MOCK_ENTER_OF(aclrtDestroyEvent, event);
    if (event == NULL) return mock_null("event");
    mock_lock();
    mock_event *e = mock_handle_take(MOCK_EVENT, event);
    if (e != NULL) {
        e->handle = NULL;
        mock_event_unref(e);
    }
    mock_unlock();
    return e != NULL ? 0 : mock_stale(event, "event");
}

void mock_events_reset(void) { mock_handle_each(MOCK_EVENT, drop); }

/* ---- record, wait, reset ---- */

/* Of Ex events with exactly SYNC the first use decides, even when that call failed; calls without a flag count as the
 * default flag. The others cannot be used externally at all, and nothing of it is remembered (observed:
 * external_capture, other_context_stream, sequences). */
static aclError use_flag(const mock_event *e, uint8_t *use, uint32_t flag) {
    const uint8_t wanted = (uint8_t)(flag + 1);
    if (e->family != MOCK_EVENT_EX || e->flags != ACL_EVENT_SYNC) return flag == 0 ? 0 : mock_unable();
    if (*use != 0 && *use != wanted)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1018", "the event is used with another flag already");
    *use = wanted;
    return 0;
}

/* What the handles themselves say comes before the context (observed: other_context_stream,
 * thread_without_context_stream). */
static aclError find(aclrtEvent event, aclrtStream stream, mock_event **e, mock_stream **s) {
    *e = mock_event_get(event);
    return *e == NULL ? ACL_ERROR_RT_INVALID_HANDLE : mock_stream_find(stream, s);
}

/* Between processes: not in graphs (guide: event management, aclrtIpcGetEventHandle). */
static aclError no_capture(void) {
    return mock_fail(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "an event between processes cannot be captured");
}

/* Streams that the CPU schedules, and those that store their tasks: nothing is recorded, and nobody waits for it
 * (observed: record_outside_wait_inside, stream_flags, sequences). */
static bool never_recorded(const mock_stream *s, const mock_event *e) {
    if ((s->flags & ACL_STREAM_CPU_SCHEDULE) != 0) return e->family == MOCK_EVENT_EX;
    return (s->flags & ACL_STREAM_PERSISTENT) != 0 && e->family != MOCK_EVENT_FLAGGED;
}

/* The stream decides: a captured event recorded on another stream is an ordinary record (observed:
 * record_elsewhere, default_record, fork_default). Device-only: 107000 (guide: event management,
 * aclrtCreateEventWithFlag). In an update: 507009 (own choice: as for other tasks). */
static aclError record(mock_event *e, mock_stream *s) {
    if (e->flags & ACL_EVENT_DEVICE_USE_ONLY) return bad_flag(e->flags);
    if (s->graph != NULL) {
        if (e->family == MOCK_EVENT_IPC) return no_capture();
        e->in_model = e->in_model || s->bound;
        return mock_capture_record(s, e);
    }
    if (s->update != NULL)
        return mock_fail(
            ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "EE1016", "only kernels may be launched in an update");
    e->stored = never_recorded(s, e) && (s->flags & ACL_STREAM_PERSISTENT) != 0;
    if (never_recorded(s, e)) return 0;
    if (e->family == MOCK_EVENT_IPC) return mock_shared_record(s, e);
    const bool ex = e->family == MOCK_EVENT_EX;
    aclError code = ex ? 0 : mock_event_id_take(e);
    e->refs++; /* also while the call waits for room */
    if (code == 0) code = ex ? mock_record_room(s) : mock_room(s);
    if (code != 0) {
        mock_event_unref(e);
        return code;
    }
    if (ex) mock_record_queued();
    const mock_task_kind kind = ex ? MOCK_TASK_RECORD : MOCK_TASK_LATCH_SET;
    mock_task t = {.ops = &record_ops, .kind = (uint8_t)kind, .u.wait = {s, s->tail + 1, e}};
    mock_mark_clear(&e->mark);
    if (mock_races()) {
        e->mark = mock_mark_open();
        t.u.wait.mark = mock_mark_ref(e->mark);
    }
    mock_point_unref(e->point);
    e->point = NULL;
    e->stream = s;
    e->stream_serial = s->serial;
    e->seq = s->tail + 1;
    e->timed = false;
    e->in_model = false;
    /* An event of a capture stays one until the capture is over (observed: record_outside_wait_inside). */
    if (!mock_event_captured(e)) e->graph = NULL;
    mock_push(s, &t);
    return 0;
}

MOCK_EXPORT aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtRecordEvent, event, stream);
    if (event == NULL) return mock_null("event");
    mock_stream *s = NULL;
    mock_lock();
    mock_event *e = NULL;
    aclError code = find(event, stream, &e, &s);
    if (code == 0) code = use_flag(e, &e->record_use, ACL_EVENT_RECORD_DEFAULT);
    if (code == 0) code = mock_stream_of_submission(&s);
    if (code == 0) code = record(e, s);
    mock_unlock();
    return code;
}

/* Whether the event can be waited for by a stream at all. Without SYNC: 207000 (observed: event_query,
 * event_kinds). */
static aclError check_waitable(const mock_event *e) {
    if (e->flags & ACL_EVENT_DEVICE_USE_ONLY) return bad_flag(e->flags);
    return mock_event_waitable(e) ? 0 : mock_unable();
}

/* A replay waits as long for an external event as the call said (guide: event management,
 * aclrtSetOpWaitTimeout); records inside of the graph come for certain. */
static aclError capture_wait(mock_stream *s, mock_event *e, uint32_t seconds) {
    const aclError code = mock_capture_wait(s, e);
    const mock_graph *g = s->graph;
    if (code != 0 || g == NULL || g->node_count == 0) return code;
    mock_task *t = &g->nodes[g->node_count - 1];
    if (t->kind == MOCK_TASK_LATCH_WAIT && t->u.latch.event == e) t->u.latch.seconds = seconds;
    return 0;
}

/* The event decides: a captured one makes the wait a captured one (implementation of the open runtime). */
static aclError wait(mock_stream *s, mock_event *e, uint32_t seconds) {
    if (seconds == 0) seconds = mock_op_wait_seconds();
    if (e->family == MOCK_EVENT_IPC) return s->graph != NULL ? no_capture() : mock_shared_wait(s, e, seconds);
    if (s->graph != NULL || mock_event_captured(e)) return capture_wait(s, e, seconds);
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_WAIT, .u.wait = {e->stream, e->seq, e, NULL, seconds}};
    if (e->family == MOCK_EVENT_EX) {
        /* Nothing to wait for: never recorded (observed: event_outside), recorded on this stream, or done
         * (implementation of the open runtime). */
        const mock_stream *source = e->point != NULL ? e->point->stream : e->stream;
        if (source == NULL || source == s) return 0;
        if (mock_recorded(e) && e->ends_ns <= mock_engine.clock_ns) {
            mock_racing_next(s, e->point != NULL ? e->point->mark : e->mark);
            return 0;
        }
        if (e->point == NULL) {
            t.u.wait.mark = mock_mark_ref(e->mark);
        } else {
            t.kind = MOCK_TASK_POINT_WAIT;
            t.u.point.point = mock_point_ref(e->point);
            t.u.point.event = e;
            t.u.point.seconds = seconds;
        }
    } else {
        /* (observed: event_query, "old never recorded wait") */
        if (e->family == MOCK_EVENT_PLAIN && e->stream == NULL)
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1018", "the event was never recorded");
        t.kind = MOCK_TASK_LATCH_WAIT;
        t.u.latch.event = e;
        t.u.latch.seconds = seconds;
    }
    e->refs++;
    e->waits_queued++;
    return mock_submit(s, &t);
}

static aclError wait_event(aclrtStream stream, aclrtEvent event, uint32_t seconds) {
    mock_stream *s = NULL;
    mock_lock();
    mock_event *e = NULL;
    aclError code = find(event, stream, &e, &s);
    if (code == 0) code = check_waitable(e);
    if (code == 0) code = use_flag(e, &e->wait_use, ACL_EVENT_WAIT_DEFAULT);
    if (code == 0) code = mock_stream_of_submission(&s);
    if (code == 0) code = wait(s, e, seconds);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    MOCK_ENTER_OF(aclrtStreamWaitEvent, stream, event);
    if (event == NULL) return mock_null("event");
    return wait_event(stream, event, 0);
}

/* Negative: 107000 (observed: event_query), before a null event, which is 107000, too (observed:
 * null_handles_before_set_device); accepted in a capture (observed: event_reset_in_capture). 0 is the time-out of
 * aclrtSetOpWaitTimeout, by default none (guide: event management; own choice: that the two meet). */
MOCK_EXPORT aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    MOCK_ENTER_OF(aclrtStreamWaitEventWithTimeout, stream, event);
    if (timeout < 0)
        return mock_fail_acl(ACL_ERROR_RT_PARAM_INVALID, "EH0007", "the time-out %d is negative", timeout);
    if (stream != NULL && mock_handle_get(MOCK_STREAM, stream) == NULL) return mock_stale(stream, "stream");
    if (event == NULL) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "event must not be null");
    return wait_event(stream, event, (uint32_t)timeout);
}

/* Other flags: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
    MOCK_ENTER_OF(aclrtRecordEventWithFlag, event, stream);
    if (event == NULL) return mock_null("event");
    if (flag > ACL_EVENT_RECORD_EXTERNAL)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flag %u", flag);
    mock_stream *s = NULL;
    mock_lock();
    mock_event *e = NULL;
    aclError code = find(event, stream, &e, &s);
    if (code == 0) code = use_flag(e, &e->record_use, flag);
    if (code == 0) code = mock_stream_of_submission(&s);
    if (code == 0)
        code = flag == ACL_EVENT_RECORD_EXTERNAL ? mock_external_capture(s, e, true) : record(e, s);
    mock_unlock();
    return code;
}

/* Other flags, and a time-out of an external wait: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtStreamWaitEventWithFlag(
    aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
    MOCK_ENTER_OF(aclrtStreamWaitEventWithFlag, stream, event);
    if (event == NULL) return mock_null("event");
    if (flag > ACL_EVENT_WAIT_EXTERNAL || (flag == ACL_EVENT_WAIT_EXTERNAL && timeout != 0))
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flag %u with time-out %u", flag, timeout);
    mock_stream *s = NULL;
    mock_lock();
    mock_event *e = NULL;
    aclError code = find(event, stream, &e, &s);
    if (code == 0) code = check_waitable(e);
    if (code == 0) code = use_flag(e, &e->wait_use, flag);
    if (code == 0) code = mock_stream_of_submission(&s);
    if (code == 0)
        code = flag == ACL_EVENT_WAIT_EXTERNAL ? mock_external_capture(s, e, false) : wait(s, e, timeout);
    mock_unlock();
    return code;
}

/* Ex: 207000, the older kinds: 0 (observed: event_query); in a capture external events only (observed:
 * event_kinds, event_reset_in_capture); on a stream of a model not those of aclrtCreateEvent, as for records
 * (implementation of the open runtime). Device-only: 107000 (guide: event management,
 * aclrtCreateEventWithFlag). */
static aclError check_resettable(const mock_event *e) {
    const bool host = e->family != MOCK_EVENT_EX && e->family != MOCK_EVENT_IPC;
    return host ? check_waitable(e) : mock_unable();
}

static aclError check_reset(const mock_event *e, const mock_stream *s) {
    if (e->family == MOCK_EVENT_PLAIN && s->bound) return mock_unable();
    return mock_capturing(s) && e->family != MOCK_EVENT_OUTSIDE ? mock_unable() : 0;
}

MOCK_EXPORT aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtResetEvent, event, stream);
    if (event == NULL) return mock_null("event");
    mock_stream *s = NULL;
    mock_lock();
    mock_event *e = NULL;
    aclError code = find(event, stream, &e, &s);
    if (code == 0 && mock_current() == NULL) code = ACL_ERROR_RT_CONTEXT_NULL;
    if (code == 0) code = check_resettable(e);
    if (code == 0) code = mock_stream_of_submission(&s);
    if (code == 0) code = check_reset(e, s);
    if (code == 0) {
        mock_task t = {
            .ops = &reset_ops, .kind = MOCK_TASK_LATCH_RESET, .type = ACL_MODEL_RI_TASK_EVENT_RESET};
        t.u.latch.event = e;
        e->refs++;
        code = mock_submit(s, &t);
    }
    mock_unlock();
    return code;
}
