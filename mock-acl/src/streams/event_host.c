/* Events seen from the host: queries, waiting, times (guide: event management). */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "streams/event.h"
#include "streams/shared_event.h"
#include "streams/stream.h"

static aclError no_feature(const char *what) {
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "%s", what);
}

/* The event of a query, checked the way every query checks it. With the lock. External: 207000; Ex in the
 * older queries: 207000 (observed: event_query); in an active capture: 107028 (observed: join_ok,
 * event_elapsed_captured). */
typedef enum scope { ANY, NOT_SHARED, LATCHES } scope;

static aclError find(aclrtEvent handle, scope scope, mock_event **out) {
    mock_event *e = mock_event_get(handle);
    if (e == NULL) return ACL_ERROR_RT_INVALID_HANDLE;
    if (e->family == MOCK_EVENT_OUTSIDE) return mock_unable();
    /* (guide: event management, aclrtIpcGetEventHandle) */
    if (scope != ANY && e->family == MOCK_EVENT_IPC) return no_feature("not for events between processes");
    if (scope == LATCHES && e->family == MOCK_EVENT_EX) return mock_unable();
    if (mock_event_captured(e)) {
        mock_capture_spoil(&e->graph->capture);
        return mock_fail(ACL_ERROR_RT_EVENT_CAPTURED, "EE1016", "the event belongs to an active capture");
    }
    *out = e;
    return 0;
}

/* The host saw that the event is complete: what comes next comes after it. */
static void seen(const mock_event *e) {
    mock_clock_follows(e->ends_ns);
    if (!mock_races()) return;
    if (e->shared != NULL) mock_racing_host_hears();
    else mock_racer_join(mock_host_racer, e->point != NULL ? e->point->mark : e->mark);
}

/* Never recorded: Ex is complete, the others are not ready (observed: event_query). A captured record
 * does not count (observed: query_ex_recorded, join_ok). */
MOCK_EXPORT aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
    MOCK_ENTER_OF(aclrtQueryEventStatus, event);
    if (event == NULL || status == NULL) return mock_null("event and status");
    mock_event *e = NULL;
    mock_lock();
    const aclError code = find(event, ANY, &e);
    if (code == 0) {
        const bool complete = e->shared != NULL      ? mock_shared_complete(e)
                              : mock_has_record(e) ? mock_recorded(e)
                                                   : e->family == MOCK_EVENT_EX;
        *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        if (complete) seen(e);
        else mock_poll_wakes_worker();
    }
    mock_unlock();
    return code;
}

/* Never recorded: not ready (own choice). */
MOCK_EXPORT aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) {
    MOCK_ENTER_OF(aclrtQueryEvent, event);
    if (event == NULL || status == NULL) return mock_null("event and status");
    mock_event *e = NULL;
    mock_lock();
    const aclError code = find(event, LATCHES, &e);
    if (code == 0) {
        const bool complete = mock_recorded(e);
        *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
        if (complete) seen(e);
        else mock_poll_wakes_worker();
    }
    mock_unlock();
    return code;
}

/* All waits done (guide: event management, aclrtQueryEventWaitStatus). */
MOCK_EXPORT aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status) {
    MOCK_ENTER_OF(aclrtQueryEventWaitStatus, event);
    if (event == NULL || status == NULL) return mock_null("event and status");
    mock_event *e = NULL;
    mock_lock();
    const aclError code = find(event, LATCHES, &e);
    if (code == 0) {
        const bool complete = e->waits_done == e->waits_queued;
        *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
        if (!complete) mock_poll_wakes_worker();
        else mock_racer_join(mock_host_racer, e->waited);
    }
    mock_unlock();
    return code;
}

/* ---- waiting ---- */

static aclError late(void) {
    return mock_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "EE9999", "the event was not recorded in time");
}

/* In a model's stream: 107000 (implementation of the open runtime). Never recorded: 0 (observed:
 * event_query); time-out: 507047 (observed: syncev_timeout). */
static aclError synchronize(aclrtEvent handle, int64_t timeout_ns) {
    if (handle == NULL) return mock_null("event");
    mock_event *e = NULL;
    mock_lock();
    aclError code = find(handle, ANY, &e);
    if (code == 0 && e->in_model)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the event belongs to a stream of a model");
    if (code == 0 && e->shared != NULL) {
        code = mock_shared_synchronize(e, timeout_ns);
        if (mock_races() && code == 0) mock_racing_host_hears();
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) code = late();
    } else if (code == 0 && mock_has_record(e)) {
        mock_point *point = e->point == NULL ? NULL : mock_point_ref(e->point);
        mock_target t = mock_target_of(point == NULL ? e->stream : point->stream, e->seq);
        t.event = e;
        t.serial = e->stream_serial; /* the stream may be gone, and another one in its place */
        mock_mark *mark = mock_mark_ref(point == NULL ? e->mark : NULL);
        code = point == NULL ? mock_wait_target(&t, timeout_ns) : mock_point_synchronize(point, timeout_ns);
        if (code == 0) mock_racer_join(mock_host_racer, point == NULL ? mark : point->mark);
        mock_mark_drop(mark);
        mock_point_unref(point);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
            code = late();
        } else if (code == 0 && t.stream->aborts != t.aborts) {
            code = mock_aborted(t.stream);
        } else if (code == 0 && mock_target_lives(&t)) {
            /* A failure before the record surfaces here too, and is reported once. */
            code = mock_stream_take_error(t.stream);
        }
    }
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtSynchronizeEvent(aclrtEvent event) {
    MOCK_ENTER_OF(aclrtSynchronizeEvent, event);
    return synchronize(event, MOCK_FOREVER);
}

/* 0: 107000 (observed: event_query), after the handle; below -1 the same, before a null event (observed:
 * event_ex_unrecorded, null_handles_before_set_device, sequences). */
MOCK_EXPORT aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
    MOCK_ENTER_OF(aclrtSynchronizeEventWithTimeout, event);
    if (timeout < -1)
        return mock_fail_acl(ACL_ERROR_RT_PARAM_INVALID, "EH0007", "the time-out %d is below -1", timeout);
    if (event == NULL) return mock_null("event");
    if (timeout == 0 && mock_handle_get(MOCK_EVENT, event) != NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the time-out must not be 0");
    return synchronize(event, timeout < 0 ? MOCK_FOREVER : (int64_t)timeout * 1000000);
}

/* ---- times ---- */

/* Without a context the thread hears no text (observed: sequences). */
static aclError never_recorded(void) {
    if (mock_current_or_none() == NULL) return mock_fail_untold(ACL_ERROR_RT_INTERNAL_ERROR);
    return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the event was never recorded");
}

/* The time of the latest record. Never recorded: 507000 (observed: event_elapsed_captured); unfinished:
 * 107006 (observed: syncev_timeout). 0 for an event without a time line (observed, not recorded: before
 * the host has reclaimed the record it is 107006). */
static aclError time_of(const mock_event *e, uint64_t *ns, bool *timed) {
    if (!mock_has_record(e))
        return never_recorded();
    if (!mock_recorded(e))
        return mock_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "EE1016", "the event has not finished");
    if (mock_races()) mock_racer_join(mock_host_racer, e->point != NULL ? e->point->mark : e->mark);
    *ns = e->timed ? e->time_ns : 0;
    *timed = *timed && e->timed;
    return 0;
}

/* May be negative (implementation of the open runtime). 0 when one of the two has no time line. */
MOCK_EXPORT aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
    MOCK_ENTER_OF(aclrtEventElapsedTime, startEvent, endEvent);
    if (ms == NULL || startEvent == NULL || endEvent == NULL) return mock_null("ms and events");
    uint64_t start = 0, end = 0;
    bool timed = true;
    mock_lock();
    mock_event *first = NULL, *second = NULL;
    aclError code = find(startEvent, NOT_SHARED, &first);
    if (code == 0) code = find(endEvent, NOT_SHARED, &second);
    if (code == 0) code = time_of(first, &start, &timed);
    if (code == 0) code = time_of(second, &end, &timed);
    mock_unlock();
    if (code == 0) *ms = !timed ? 0.0f : (float)((double)((int64_t)(end - start)) / 1e6);
    return code;
}

/* Microseconds (guide: event management, aclrtEventGetTimestamp), of the virtual clock. */
MOCK_EXPORT aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
    MOCK_ENTER_OF(aclrtEventGetTimestamp, event);
    if (event == NULL || timestamp == NULL) return mock_null("event and timestamp");
    uint64_t ns = 0;
    bool timed = true;
    mock_lock();
    mock_event *e = NULL;
    aclError code = find(event, NOT_SHARED, &e);
    if (code == 0) code = time_of(e, &ns, &timed);
    mock_unlock();
    if (code == 0) *timestamp = ns / 1000;
    return code;
}

/* Only of the older kinds, with SYNC: 507000 for the others (observed: event_flavours, event_ex_unrecorded). */
MOCK_EXPORT aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId) {
    MOCK_ENTER_OF(aclrtGetEventId, event);
    if (event == NULL || eventId == NULL) return mock_null("event and eventId");
    mock_lock();
    const mock_event *e = mock_event_get(event);
    aclError code = e != NULL ? 0 : ACL_ERROR_RT_INVALID_HANDLE;
    if (code == 0 && e->family == MOCK_EVENT_IPC) code = no_feature("not for events between processes");
    if (code == 0 && (e->family == MOCK_EVENT_EX || !mock_event_waitable(e)))
        code = mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the event has no id");
    if (code == 0) *eventId = e->id;
    mock_unlock();
    return code;
}
