/* How many streams and events a process may have, and what is left of them.
 *
 * Streams inside captured graphs count like those of the program (guide: stream management,
 * aclrtGetStreamAvailableNum). An event needs an id of the device: one of aclrtCreateEventWithFlag from its
 * creation, one of aclrtCreateEvent from its first record, both until they are gone; an Ex event from each
 * record until it is executed (guide: event management, aclrtCreateEvent and its neighbours). */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"
#include "engine/objects.h"
#include "engine/state.h"

/* Events of a device (guide: event management, aclrtCreateEvent); own choice: of the process. */
#define EVENT_LIMIT 65536u
/* Of a device (guide: stream management); what was observed has more: see MOCK_STREAM_LIMIT. */
#define DOCUMENTED_STREAMS 1984u

static struct {
    bool read, keeps; /* the streams of graphs that are gone */
    uint32_t streams, events;       /* at the start */
    uint32_t stream_now, event_now; /* set by the program */
    uint32_t ids, records;
} quota;

/* Of one device (observed: two_devices). */
static struct {
    uint32_t streams;  /* of the program; those that the CPU schedules take none (observed: available_kinds) */
    uint32_t in_graphs;
    uint32_t kept; /* of graphs that are gone */
} used[MOCK_QUOTA_DEVICES];

static bool keeps(void) { return mock_config_number("MOCK_ACL_GRAPH_STREAMS", 1, 0, 1) == 0; }

static void read_environment(void) {
    if (quota.read) return;
    quota.read = true;
    const unsigned most = mock_strict_doc() ? DOCUMENTED_STREAMS : MOCK_STREAM_LIMIT;
    quota.streams = mock_config_number("MOCK_ACL_STREAMS", most, 1, MOCK_STREAM_LIMIT);
    quota.events = mock_config_number("MOCK_ACL_EVENTS", EVENT_LIMIT, 1, EVENT_LIMIT);
    quota.stream_now = quota.streams;
    quota.event_now = quota.events;
    quota.keeps = keeps();
}

void mock_quota_reset(void) {
    read_environment();
    quota.stream_now = quota.streams;
    quota.event_now = quota.events;
    quota.keeps = keeps();
    for (int32_t i = 0; i < MOCK_QUOTA_DEVICES; i++) mock_graph_streams_forgotten(i);
}

static uint32_t left(uint32_t limit, uint32_t used) { return used < limit ? limit - used : 0; }

/* ---- streams ---- */

uint32_t mock_streams_left(int32_t device) {
    read_environment();
    return left(quota.stream_now, used[device].streams + used[device].in_graphs + used[device].kept);
}

static uint32_t takes(const mock_stream *s) { return (s->flags & ACL_STREAM_CPU_SCHEDULE) == 0; }

void mock_stream_taken(const mock_stream *s) {
    mock_engine.streams++;
    used[s->ctx->device].streams += takes(s);
}

void mock_stream_given(const mock_stream *s) {
    mock_engine.streams--;
    used[s->ctx->device].streams -= takes(s);
}

void mock_graph_stream_taken(int32_t device) { used[device].in_graphs++; }

/* They come back with the graph: the implementation destroys them, and the number is the driver's. That of the
 * recordings kept them (observed: available), as MOCK_ACL_GRAPH_STREAMS=0 does. */
void mock_graph_streams_given(int32_t device, uint32_t count) {
    used[device].in_graphs -= count;
    if (quota.keeps) used[device].kept += count;
}

/* (observed: sequences) */
void mock_graph_streams_forgotten(int32_t device) { used[device].kept = 0; }

/* (observed: host_notify, "availNum"; two_devices, available_kinds) */
MOCK_EXPORT aclError aclrtGetStreamAvailableNum(uint32_t *streamCount) {
    MOCK_ENTER(aclrtGetStreamAvailableNum);
    if (streamCount == NULL) return mock_null("streamCount");
    mock_lock();
    const mock_ctx *ctx = mock_current();
    if (ctx != NULL) *streamCount = mock_streams_left(ctx->device);
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

/* ---- events ---- */

static uint32_t events_left(void) {
    read_environment();
    return left(quota.event_now, quota.ids + quota.records);
}

/* (header: ACL_ERROR_RT_NO_EVENT_RESOURCE; guide: event management) */
aclError mock_event_id_take(mock_event *e) {
    if (e->has_id) return 0;
    if (events_left() == 0)
        return mock_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "EE1023", "no event id is left");
    e->has_id = true;
    quota.ids++;
    return 0;
}

void mock_event_id_give(mock_event *e) {
    quota.ids -= e->has_id;
    e->has_id = false;
}

static bool has_record_id(void *unused) {
    (void)unused;
    return events_left() != 0 || quota.records == 0;
}

/* Waits for the end of another record (guide: event management, aclrtRecordEvent); with nothing to wait for
 * it fails (own choice, instead of a call that never returns). */
aclError mock_record_room(mock_stream *s) {
    const uint64_t serial = s->serial;
    for (;;) {
        aclError code = mock_room(s);
        if (code != 0) return code;
        if (events_left() != 0) return 0;
        if (quota.records == 0)
            return mock_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "EE1023", "no event id is left");
        code = mock_wait(&(mock_wait_for){has_record_id, NULL, NULL, NULL, NULL, false}, MOCK_FOREVER);
        if (code != 0) return code;
        if (s->serial != serial)
            return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "the stream was destroyed meanwhile");
    }
}

void mock_record_queued(void) { quota.records++; }

void mock_record_over(void) { quota.records--; }

MOCK_EXPORT aclError aclrtGetEventAvailNum(uint32_t *eventCount) {
    MOCK_ENTER(aclrtGetEventAvailNum);
    if (eventCount == NULL) return mock_null("eventCount");
    mock_lock();
    const bool bound = mock_current() != NULL;
    if (bound) *eventCount = events_left();
    mock_unlock();
    return bound ? 0 : ACL_ERROR_RT_CONTEXT_NULL;
}

/* ---- control ---- */

static int set_limit(uint32_t value, const uint32_t *initial, uint32_t most, uint32_t *now) {
    if (value > most) return MOCK_ACL_BAD_ARGUMENT;
    mock_lock();
    read_environment();
    *now = value == 0 ? *initial : value;
    mock_changed(); /* a record may wait for an id */
    mock_unlock();
    return 0;
}

MOCK_EXPORT int mock_acl_limit_streams(uint32_t streams) {
    return set_limit(streams, &quota.streams, MOCK_STREAM_LIMIT, &quota.stream_now);
}

MOCK_EXPORT int mock_acl_limit_events(uint32_t events) {
    return set_limit(events, &quota.events, EVENT_LIMIT, &quota.event_now);
}
