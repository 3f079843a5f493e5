/* Events between processes (guide: event management, aclrtIpcGetEventHandle). Each record is the latest
 * one for every process; a wait keeps the record that was the latest when it was queued, like any Ex
 * event. */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "streams/event.h"
#include "streams/exception.h"
#include "streams/shared_event.h"

static const mock_task_ops record_ops = {"aclrtRecordEvent", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtStreamWaitEvent", NULL, NULL};

/* Whether the driver has the memory that such events need (implementation of the open runtime); the
 * recordings were made with a driver that has not (observed: event_create_flags). */
bool mock_ipc_events(void) { return mock_config_number("MOCK_ACL_IPC_EVENTS", 1, 0, 1) != 0; }

/* No such event, or null: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle) {
    MOCK_ENTER_OF(aclrtIpcGetEventHandle, event);
    if (event == NULL || handle == NULL) return mock_null("event and handle");
    aclError code = 0;
    mock_lock();
    const mock_event *e = mock_event_get(event);
    if (e == NULL) code = ACL_ERROR_RT_INVALID_HANDLE;
    else if (e->family != MOCK_EVENT_IPC)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1006", "the event is not of ACL_EVENT_IPC");
    else if (e->shared->fd < 0)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1006", "an opened event has no handle to give");
    if (code == 0) {
        mock_shared_key key;
        mock_shared_export(e->shared, &key);
        memcpy(handle->reserved, &key, sizeof key);
    }
    mock_unlock();
    return code;
}

/* ---- tasks ---- */

aclError mock_shared_record(mock_stream *s, mock_event *e) {
    mock_task t = {.ops = &record_ops, .kind = MOCK_TASK_SHARED_RECORD};
    e->refs++; /* also while the call waits for room */
    const aclError code = mock_room(s);
    if (code != 0) {
        mock_event_unref(e);
        return code;
    }
    t.u.shared.event = e;
    t.u.shared.ticket = mock_ticket_take(e->shared);
    mock_push(s, &t);
    return 0;
}

aclError mock_shared_wait(mock_stream *s, mock_event *e, uint32_t seconds) {
    const uint64_t ticket = atomic_load(&e->shared->page->latest);
    if (ticket == 0 || mock_ticket_reached(e->shared, ticket)) {
        if (mock_races()) mock_racing_hears_next(s);
        return 0;
    }
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_SHARED_WAIT};
    t.u.shared.event = e;
    t.u.shared.ticket = ticket;
    t.u.shared.seconds = seconds;
    e->refs++;
    return mock_submit(s, &t);
}

mock_outcome mock_shared_record_step(mock_stream *s, mock_task *t) {
    if (mock_races()) mock_racing_tells(s);
    t->u.shared.over = true;
    mock_ticket_done(t->u.shared.event->shared, t->u.shared.ticket);
    mock_shared_poll();
    return MOCK_DONE;
}

/* The other processes are dead: 507022 (own choice; header: ACL_ERROR_RT_IPC_ERROR). */
mock_outcome mock_shared_wait_step(mock_stream *s, mock_task *t) {
    mock_shared *p = t->u.shared.event->shared;
    if (mock_ticket_reached(p, t->u.shared.ticket)) {
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

/* A dropped record counts as executed, so that nobody waits for it for ever (own choice). */
void mock_shared_record_release(mock_task *t) {
    if (!t->u.shared.over) mock_ticket_done(t->u.shared.event->shared, t->u.shared.ticket);
}

/* ---- the host ---- */

/* Never recorded: complete, like other Ex events. */
bool mock_shared_complete(const mock_event *e) {
    const uint64_t ticket = atomic_load(&e->shared->page->latest);
    return ticket == 0 || mock_ticket_reached(e->shared, ticket);
}

typedef struct host_wait {
    mock_shared *shared;
    uint64_t ticket;
} host_wait;

static bool over(void *what) {
    const host_wait *w = what;
    return mock_ticket_reached(w->shared, w->ticket) || mock_shared_lost(w->shared);
}

aclError mock_shared_synchronize(mock_event *e, int64_t timeout_ns) {
    host_wait w = {mock_shared_ref(e->shared), atomic_load(&e->shared->page->latest)};
    aclError code = 0;
    if (w.ticket != 0 && !mock_ticket_reached(w.shared, w.ticket)) {
        mock_engine.shared_waits++;
        code = mock_wait(&(mock_wait_for){over, NULL, &w, NULL, NULL, false}, timeout_ns);
        mock_engine.shared_waits--;
        if (code == 0 && !mock_ticket_reached(w.shared, w.ticket))
            code = mock_fail(ACL_ERROR_RT_IPC_ERROR, "EE9999", "the process that recorded the event is dead");
    }
    mock_shared_unref(w.shared);
    return code;
}
