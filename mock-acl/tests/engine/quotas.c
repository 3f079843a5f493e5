/* Part of racl (mock-acl). What is left of streams and events, and what happens when nothing is. */
#include <pthread.h>
#include "check.h"

static uint32_t streams_left(void) {
    uint32_t n = 0;
    OK(aclrtGetStreamAvailableNum(&n));
    return n;
}

static uint32_t events_left(void) {
    uint32_t n = 0;
    OK(aclrtGetEventAvailNum(&n));
    return n;
}

static void fork_into(aclrtStream s, aclrtStream side) {
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(e, s));
    OK(aclrtStreamWaitEvent(side, e));
}

static void join(aclrtStream s, aclrtStream side) {
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(e, side));
    OK(aclrtStreamWaitEvent(s, e));
}

static void environment(void) {
    setenv("MOCK_ACL_STREAMS", "20", 1);
    setenv("MOCK_ACL_EVENTS", "30", 1);
    up();
    CHECK(streams_left() == 19 && events_left() == 30);
    OK(mock_acl_limit_streams(2047));
    OK(mock_acl_limit_events(65536));
    CHECK(streams_left() == 2046 && events_left() == 65536);
    CHECK(mock_acl_limit_streams(2048) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_limit_events(65537) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(streams_left() == 2046 && events_left() == 65536);
    OK(mock_acl_limit_streams(0));
    OK(mock_acl_limit_events(0));
    CHECK(streams_left() == 19 && events_left() == 30);
    OK(mock_acl_limit_streams(5));
    up(); /* a reset as well */
    CHECK(streams_left() == 19 && events_left() == 30);
}

/* A stream, and one more inside the graph for every stream of the capture, as long as the graph lives. */
static void streams(void) {
    up();
    const uint32_t all = streams_left();
    aclrtStream s = new_stream(), side = new_stream();
    CHECK(streams_left() == all - 2);
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CHECK(streams_left() == all - 3);
    fork_into(s, side);
    fork_into(s, side); /* it takes part already */
    CHECK(streams_left() == all - 4);
    join(s, side);
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureEnd(s, &graph));
    CHECK(streams_left() == all - 4);
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(streams_left() == all - 4);
    OK(aclrtDestroyStream(side));
    CHECK(streams_left() == all - 3);
    OK(aclmdlRIDestroy(graph));
    CHECK(streams_left() == all - 1);
    /* A capture that fails gives them back, a built model takes none. */
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    side = new_stream();
    fork_into(s, side);
    CODE(aclmdlRICaptureEnd(s, &graph), 107025);
    CHECK(streams_left() == all - 2);
    OK(aclrtDestroyStream(side));
    aclrtStream kept = NULL;
    OK(aclrtCreateStreamWithConfig(&kept, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBuildBegin(&graph, 0));
    OK(aclmdlRIBindStream(graph, kept, ACL_MODEL_STREAM_FLAG_HEAD));
    CHECK(streams_left() == all - 2);
    OK(aclmdlRIDestroy(graph));
    CHECK(streams_left() == all - 2);
}

/* As in the recordings (observed: available; sequences, for the reset). */
static void kept(void) {
    setenv("MOCK_ACL_GRAPH_STREAMS", "0", 1);
    up();
    const uint32_t all = streams_left();
    aclrtStream s = new_stream();
    for (uint32_t i = 1; i <= 3; i++) {
        aclmdlRI graph = NULL;
        OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        OK(aclmdlRICaptureEnd(s, &graph));
        OK(aclmdlRIDestroy(graph));
        CHECK(streams_left() == all - 1 - i);
    }
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    CHECK(streams_left() == all);
    unsetenv("MOCK_ACL_GRAPH_STREAMS");
}

static void no_stream_left(void) {
    up();
    OK(mock_acl_limit_streams(3));
    aclrtStream s = new_stream(), side = new_stream(), more = NULL;
    aclrtContext current = NULL, context = NULL;
    OK(aclrtGetCurrentContext(&current));
    CHECK(streams_left() == 0);
    const mock_acl_live before = live();
    aclmdlRI graph = NULL;
    aclmdlRICaptureStatus status;
    for (int i = 0; i < 3; i++) {
        CODE(aclrtCreateStream(&more), 207008);
        CODE(aclrtCreateStreamWithConfig(&more, 0, ACL_STREAM_FAST_SYNC), 207008);
        CHECK(more == NULL);
        CHECK(aclrtCreateContext(&context, 0) != 0);
        CODE(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 207008);
        OK(aclmdlRICaptureGetInfo(s, &status, NULL));
        CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
        OK(aclrtMemsetAsync(device(8), 8, 0, 8, s));
        OK(aclrtSynchronizeStream(s)); /* still an ordinary stream */
    }
    /* The fork is what fails: it invalidates the capture, the stream stays out of it. */
    OK(mock_acl_limit_streams(4));
    for (int i = 0; i < 3; i++) {
        aclrtEvent e = new_event(ACL_EVENT_SYNC);
        OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        CHECK(streams_left() == 0);
        OK(aclrtRecordEvent(e, s));
        CODE(aclrtStreamWaitEvent(side, e), 207008);
        OK(aclmdlRICaptureGetInfo(side, &status, NULL));
        CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
        OK(aclmdlRICaptureGetInfo(s, &status, NULL));
        CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
        CODE(aclmdlRICaptureEnd(s, &graph), 507903);
        CHECK(graph == NULL && streams_left() == 1);
        OK(aclrtSynchronizeStream(side));
        OK(aclrtDestroyEvent(e));
    }
    const mock_acl_live after = live();
    CHECK(after.streams == before.streams && after.graphs == before.graphs && after.events == before.events);
    CHECK(after.contexts == before.contexts);
    /* Below what is in use: nothing until enough is gone. */
    OK(mock_acl_limit_streams(2));
    CHECK(streams_left() == 0);
    OK(aclrtDestroyStream(side));
    CODE(aclrtCreateStream(&more), 207008);
    OK(aclrtDestroyStream(s));
    OK(aclrtCreateStream(&more));
}

/* ---- events ---- */

static void ids(void) {
    up();
    const uint32_t all = events_left();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent flagged = NULL, outside = NULL, plain = NULL, ex = new_event(ACL_EVENT_SYNC);
    OK(aclrtCreateEventWithFlag(&flagged, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&outside, ACL_EVENT_EXTERNAL));
    OK(aclrtCreateEvent(&plain));
    CHECK(events_left() == all - 2);
    OK(aclrtRecordEvent(plain, s));
    OK(aclrtRecordEvent(plain, s));
    OK(aclrtRecordEvent(flagged, s));
    CHECK(events_left() == all - 3);
    OK(aclrtSynchronizeStream(s));
    CHECK(events_left() == all - 3);
    /* Ex: from a record to its execution. */
    OK(mock_acl_hold_stream(s));
    OK(aclrtRecordEvent(ex, s));
    OK(aclrtRecordEvent(ex, s));
    CHECK(events_left() == all - 5);
    OK(aclrtStreamWaitEvent(other, ex));
    CHECK(events_left() == all - 5);
    OK(aclrtDestroyEvent(ex));
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(other));
    CHECK(events_left() == all - 3);
    ex = new_event(ACL_EVENT_SYNC);
    OK(mock_acl_hold_stream(s));
    OK(aclrtRecordEvent(ex, s));
    OK(aclrtDestroyStreamForce(s));
    CHECK(events_left() == all - 3);
    /* In a graph until the graph is gone. */
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtRecordEvent(ex, other));
    OK(aclrtRecordEvent(outside, other));
    OK(aclmdlRICaptureEnd(other, &graph));
    OK(aclrtDestroyEvent(outside));
    OK(aclrtDestroyEvent(plain));
    OK(aclrtDestroyEvent(flagged));
    CHECK(events_left() == all - 1);
    OK(aclmdlRIDestroy(graph));
    CHECK(events_left() == all);
}

static void no_event_left(void) {
    up();
    OK(mock_acl_limit_events(2));
    aclrtStream s = new_stream();
    aclrtEvent a = NULL, b = NULL, c = NULL, plain = NULL, ex = new_event(ACL_EVENT_SYNC);
    OK(aclrtCreateEventWithFlag(&a, ACL_EVENT_EXTERNAL));
    OK(aclrtCreateEvent(&plain));
    OK(aclrtCreateEventWithFlag(&b, ACL_EVENT_SYNC));
    const uint64_t before = live().events;
    for (int i = 0; i < 3; i++) {
        CODE(aclrtCreateEventWithFlag(&c, ACL_EVENT_EXTERNAL), 207007);
        CODE(aclrtCreateEventWithFlag(&c, ACL_EVENT_SYNC), 207007);
        CODE(aclrtRecordEvent(plain, s), 207007);
        CODE(aclrtRecordEvent(ex, s), 207007); /* nothing that would end */
    }
    CHECK(c == NULL && live().events == before && events_left() == 0);
    OK(aclrtSynchronizeEvent(ex));
    /* With a record under way the next one waits for its end. */
    OK(aclrtDestroyEvent(a));
    for (int i = 0; i < 100; i++) OK(aclrtRecordEvent(ex, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(events_left() == 1);
    OK(aclrtRecordEvent(plain, s));
    CHECK(events_left() == 0);
    OK(aclrtDestroyEvent(plain));
    OK(aclrtSynchronizeStream(s)); /* the id goes with the last task that names the event */
    CHECK(events_left() == 1);
}

static void *releases(void *stream) {
    OK(mock_acl_release_stream(stream));
    return NULL;
}

/* The host waits while the record that has the last id is held. */
static void record_waits_for_an_id(void) {
    up();
    OK(mock_acl_limit_events(1));
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(mock_acl_hold_stream(s));
    OK(aclrtRecordEvent(e, s));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, releases, s) == 0);
    OK(aclrtRecordEvent(e, other));
    OK(aclrtSynchronizeEvent(e));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(events_left() == 1);
}

int main(void) {
    environment();
    streams();
    kept();
    no_stream_left();
    ids();
    no_event_left();
    record_waits_for_an_id();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
