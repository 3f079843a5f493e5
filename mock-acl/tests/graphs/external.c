/* Part of racl (mock-acl). External records and waits: events across the edge of a captured graph. */
#include <pthread.h>
#include "check.h"

enum { RECORD = ACL_EVENT_RECORD_EXTERNAL, WAIT = ACL_EVENT_WAIT_EXTERNAL };

static int recorded(aclrtEvent e) {
    aclrtEventRecordedStatus status;
    OK(aclrtQueryEventStatus(e, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

static void begin(aclrtStream s) { OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED)); }

static aclmdlRI end(aclrtStream s) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureEnd(s, &graph));
    return graph;
}

static void fill(unsigned char *d, int value, aclrtStream s) { OK(aclrtMemsetAsync(d, 1, value, 1, s)); }

static unsigned char *zeroed(size_t size) {
    unsigned char *d = device(size);
    OK(aclrtMemset(d, size, 0, size));
    return d;
}

/* ---- the calls ---- */

static void refused(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC), timed = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    aclrtEvent flagged = NULL, plain = NULL, outside = NULL;
    OK(aclrtCreateEventWithFlag(&flagged, ACL_EVENT_SYNC));
    OK(aclrtCreateEventWithFlag(&outside, ACL_EVENT_EXTERNAL));
    OK(aclrtCreateEvent(&plain));
    CODE(aclrtRecordEventWithFlag(NULL, s, RECORD), 100000);
    CODE(aclrtStreamWaitEventWithFlag(s, NULL, 0, WAIT), 100000);
    CODE(aclrtRecordEventWithFlag(e, s, 2), 100000);
    CODE(aclrtStreamWaitEventWithFlag(s, e, 0, 2), 100000);
    CODE(aclrtStreamWaitEventWithFlag(s, e, 1, WAIT), 100000);
    CODE(aclrtRecordEventWithFlag(e, s, RECORD), 107029);
    CODE(aclrtStreamWaitEventWithFlag(s, e, 0, WAIT), 107029);
    /* The flag sticks although both failed; a record and a wait are counted apart. */
    CODE(aclrtRecordEventWithFlag(e, s, ACL_EVENT_RECORD_DEFAULT), 107000);
    CODE(aclrtRecordEvent(e, s), 107000);
    CODE(aclrtStreamWaitEvent(other, e), 107000);
    CODE(aclrtStreamWaitEventWithTimeout(other, e, 1), 107000);
    aclrtEvent mixed = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(mixed, s));
    begin(s);
    CODE(aclrtRecordEventWithFlag(mixed, s, RECORD), 107000);
    /* Recorded before the capture (observed: sequences). */
    CODE(aclrtStreamWaitEventWithFlag(s, mixed, 0, WAIT), 107000);
    aclrtEvent fresh = new_event(ACL_EVENT_SYNC);
    OK(aclrtStreamWaitEventWithFlag(s, fresh, 0, WAIT));
    aclrtEvent const wrong[] = {timed, flagged, plain, outside};
    for (int i = 0; i < 4; i++) {
        CODE(aclrtRecordEventWithFlag(wrong[i], s, RECORD), 207000);
        CODE(aclrtStreamWaitEventWithFlag(s, wrong[i], 0, WAIT), 207000);
    }
    /* Once in a graph, in one role. */
    OK(aclrtRecordEventWithFlag(e, s, RECORD));
    CODE(aclrtRecordEventWithFlag(e, s, RECORD), 107000);
    CODE(aclrtStreamWaitEventWithFlag(s, e, 0, WAIT), 107000);
    CODE(aclrtStreamWaitEventWithFlag(s, fresh, 0, WAIT), 107000);
    aclmdlRICaptureStatus status;
    OK(aclmdlRICaptureGetInfo(s, &status, NULL));
    CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    OK(aclmdlRIDestroy(end(s)));
    /* In another graph it may be used again; no task group holds it. */
    aclrtTaskGrp group = NULL;
    begin(s);
    OK(aclrtRecordEventWithFlag(e, s, RECORD));
    OK(aclmdlRICaptureTaskGrpBegin(s));
    CODE(aclrtStreamWaitEventWithFlag(s, fresh, 0, WAIT), 507009);
    CODE(aclmdlRICaptureTaskGrpEnd(s, &group), 507009);
    aclmdlRI graph = NULL;
    CODE(aclmdlRICaptureEnd(s, &graph), 507903);
}

/* Neither forks a stream nor counts as a record of the capture. */
static void no_fork(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    begin(s);
    OK(aclrtRecordEventWithFlag(e, s, RECORD));
    CHECK(recorded(e)); /* never recorded outside */
    OK(aclrtSynchronizeEvent(e));
    OK(aclrtStreamWaitEvent(other, e));
    aclmdlRICaptureStatus status;
    OK(aclmdlRICaptureGetInfo(other, &status, NULL));
    CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    aclmdlRI graph = end(s);
    OK(aclrtSynchronizeStream(other));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    begin(other);
    CODE(aclrtStreamWaitEvent(other, e), 107024);
    OK(aclmdlRIDestroy(end(other)));
    OK(aclmdlRIDestroy(graph));
}

/* ---- waits ---- */

static void waits_for_the_record_of_the_launch(void) {
    up();
    aclrtStream s = new_stream(), source = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    unsigned char *d = zeroed(2);
    begin(s);
    fill(d, 1, s);
    OK(aclrtStreamWaitEventWithFlag(s, e, 0, WAIT));
    OK(aclrtMemcpyAsync(d + 1, 1, d, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    aclmdlRI graph = end(s);
    /* Never recorded: it does not wait; nor for a record that comes after the launch. */
    OK(mock_acl_hold_stream(source));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtRecordEvent(e, source));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d + 1) == 1);
    /* The record before each launch, not the latest one when the wait is reached. */
    OK(mock_acl_release_stream(source));
    OK(aclrtSynchronizeStream(source));
    OK(mock_acl_hold_stream(source));
    OK(aclmdlRIExecuteAsync(graph, s)); /* its record is done */
    fill(d, 7, source);
    OK(aclrtRecordEvent(e, source));
    OK(aclrtSynchronizeStream(s));
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(mock_acl_release_stream(source));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 7 && byte_at(d + 1) == 7);
    /* Several launches, each with the record of its time. */
    for (int i = 0; i < 100; i++) {
        OK(aclrtRecordEvent(e, source));
        OK(aclmdlRIExecuteAsync(graph, s));
    }
    OK(aclrtSynchronizeStream(s));
    OK(aclrtSynchronizeStream(source));
    /* The source is dropped: the record counts as passed. */
    OK(mock_acl_hold_stream(source));
    OK(aclrtRecordEvent(e, source));
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(aclrtDestroyStreamForce(source));
    OK(aclrtSynchronizeStream(s));
    OK(aclmdlRIDestroy(graph));
    OK(aclrtDestroyEvent(e));
    CHECK(live().events == 0);
}

/* ---- records ---- */

/* Between two gated halves of a graph. */
typedef struct halves {
    aclrtStream s, other;
    aclrtEvent e, gate;
    unsigned char *d;
    aclmdlRI graph;
} halves;

static halves two_halves(void) {
    halves h = {new_stream(), new_stream(), new_event(ACL_EVENT_SYNC), NULL, zeroed(4), NULL};
    OK(aclrtCreateEventWithFlag(&h.gate, ACL_EVENT_EXTERNAL));
    begin(h.s);
    fill(h.d, 1, h.s);
    OK(aclrtRecordEventWithFlag(h.e, h.s, RECORD));
    OK(aclrtStreamWaitEvent(h.s, h.gate));
    OK(aclrtResetEvent(h.gate, h.s));
    fill(h.d + 1, 1, h.s);
    h.graph = end(h.s);
    return h;
}

static void publishes_a_point_of_the_replay(void) {
    up();
    const halves h = two_halves();
    aclrtStream third = new_stream();
    CHECK(recorded(h.e));
    OK(mock_acl_hold_stream(h.s));
    OK(aclmdlRIExecuteAsync(h.graph, h.s));
    OK(aclrtStreamWaitEvent(h.other, h.e));
    OK(aclrtMemcpyAsync(h.d + 2, 1, h.d, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, h.other));
    CHECK(!recorded(h.e));
    CODE(aclrtSynchronizeEventWithTimeout(h.e, 10), 507047);
    float ms = 1;
    CODE(aclrtEventElapsedTime(&ms, h.e, h.e), 107006);
    CODE(aclrtSynchronizeStreamWithTimeout(h.other, 10), 507046);
    OK(mock_acl_release_stream(h.s));
    OK(aclrtSynchronizeStream(h.other)); /* while the second half still waits */
    CHECK(byte_at(h.d + 1) == 0 && byte_at(h.d + 2) == 1);
    CHECK(recorded(h.e));
    OK(aclrtEventElapsedTime(&ms, h.e, h.e));
    CHECK(ms == 0);
    OK(aclrtStreamWaitEvent(third, h.e)); /* reached: no wait */
    OK(aclrtSynchronizeStream(third));
    OK(aclrtStreamWaitEvent(h.s, h.e)); /* behind its own launch: no wait */
    OK(aclrtRecordEvent(h.gate, third));
    OK(aclrtSynchronizeStream(h.s));
    CHECK(byte_at(h.d + 1) == 1);
    OK(aclmdlRIDestroy(h.graph));
}

/* The latest launch is what counts, for the host and for later waits; earlier waits keep theirs. */
static void each_launch_publishes_anew(void) {
    up();
    const halves h = two_halves();
    OK(aclmdlRIExecuteAsync(h.graph, h.s));
    OK(aclrtSynchronizeEvent(h.e));
    OK(aclmdlRIExecuteAsync(h.graph, h.s)); /* behind the first one, which waits at its gate */
    CHECK(!recorded(h.e));
    OK(aclrtStreamWaitEvent(h.other, h.e));
    CODE(aclrtSynchronizeStreamWithTimeout(h.other, 10), 507046);
    aclrtStream opener = new_stream();
    OK(aclrtRecordEvent(h.gate, opener));
    OK(aclrtSynchronizeEvent(h.e));
    OK(aclrtSynchronizeStream(h.other));
    OK(aclrtRecordEvent(h.gate, opener));
    OK(aclrtSynchronizeStream(h.s));
    /* A replay that is dropped lets its waiters go. */
    OK(mock_acl_hold_stream(h.s));
    OK(aclmdlRIExecuteAsync(h.graph, h.s));
    OK(aclrtStreamWaitEvent(h.other, h.e));
    OK(aclrtDestroyStreamForce(h.s));
    OK(aclrtSynchronizeStream(h.other));
    CHECK(recorded(h.e));
    OK(aclrtDestroyEvent(h.e));
    OK(aclrtDestroyEvent(h.gate));
    OK(aclmdlRIDestroy(h.graph));
    CHECK(live().events == 0);
}

/* One graph waits inside for a point inside another one. */
static void from_graph_to_graph(void) {
    up();
    const halves h = two_halves();
    begin(h.other);
    OK(aclrtStreamWaitEventWithFlag(h.other, h.e, 0, WAIT));
    OK(aclrtMemcpyAsync(h.d + 3, 1, h.d, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, h.other));
    aclmdlRI second = end(h.other);
    aclrtStream opener = new_stream();
    for (int i = 0; i < 100; i++) {
        OK(aclrtMemset(h.d, 4, 0, 4));
        OK(aclmdlRIExecuteAsync(h.graph, h.s));
        OK(aclmdlRIExecuteAsync(second, h.other));
        OK(aclrtSynchronizeStream(h.other));
        CHECK(byte_at(h.d + 3) == 1 && byte_at(h.d + 1) == 0);
        OK(aclrtRecordEvent(h.gate, opener));
        OK(aclrtSynchronizeStream(h.s));
    }
    OK(aclmdlRIDestroy(h.graph));
    OK(aclmdlRIDestroy(second));
}

/* On a side stream, with the event destroyed before the replays: the graph keeps what it needs. */
static void outlives_its_event(void) {
    up();
    aclrtStream s = new_stream(), side = new_stream(), source = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC), fork_event = new_event(ACL_EVENT_SYNC);
    aclrtEvent join = new_event(ACL_EVENT_SYNC), out = new_event(ACL_EVENT_SYNC);
    unsigned char *d = zeroed(2);
    begin(s);
    OK(aclrtRecordEvent(fork_event, s));
    OK(aclrtStreamWaitEvent(side, fork_event));
    OK(aclrtStreamWaitEventWithFlag(side, e, 0, WAIT));
    fill(d, 5, side);
    OK(aclrtRecordEvent(join, side));
    OK(aclrtStreamWaitEvent(s, join));
    OK(aclrtRecordEventWithFlag(out, s, RECORD));
    aclmdlRI graph = end(s);
    OK(mock_acl_hold_stream(source));
    OK(aclrtRecordEvent(e, source));
    OK(aclrtDestroyEvent(e));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtDestroyEvent(out));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(mock_acl_release_stream(source));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 5);
    /* One that fails is no record; the end of the launch is. */
    OK(aclmdlRIDestroy(graph));
    OK(mock_acl_fail_task("aclrtRecordEventWithFlag", 1, 507011));
    out = new_event(ACL_EVENT_SYNC);
    begin(s);
    OK(aclrtRecordEventWithFlag(out, s, RECORD));
    graph = end(s);
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeEvent(out), 507011);
    OK(aclmdlRIDestroy(graph));
}

/* ---- two threads ---- */

static struct {
    aclrtEvent in, out;
    aclrtStream source, sink;
} shared;

static void *around(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    for (int i = 0; i < 1000; i++) {
        OK(aclrtRecordEvent(shared.in, shared.source));
        OK(aclrtStreamWaitEvent(shared.sink, shared.out));
        if (i % 3 == 0) OK(aclrtSynchronizeEvent(shared.out));
        if (i % 7 == 0) OK(aclrtSynchronizeStream(shared.sink));
        recorded(shared.in);
        recorded(shared.out);
    }
    OK(aclrtSynchronizeStream(shared.sink));
    return NULL;
}

/* One launches, the other records, waits and asks. */
static void beside_another_thread(void) {
    up();
    aclrtStream s = new_stream();
    shared.source = new_stream();
    shared.sink = new_stream();
    shared.in = new_event(ACL_EVENT_SYNC);
    shared.out = new_event(ACL_EVENT_SYNC);
    unsigned char *d = zeroed(1);
    begin(s);
    OK(aclrtStreamWaitEventWithFlag(s, shared.in, 0, WAIT));
    fill(d, 1, s);
    OK(aclrtRecordEventWithFlag(shared.out, s, RECORD));
    aclmdlRI graph = end(s);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, around, NULL) == 0);
    for (int i = 0; i < 1000; i++) {
        OK(aclmdlRIExecuteAsync(graph, s));
        if (i % 5 == 0) OK(aclrtSynchronizeStream(s));
    }
    OK(aclrtSynchronizeStream(s));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclmdlRIDestroy(graph));
    OK(aclrtDestroyEvent(shared.in));
    OK(aclrtDestroyEvent(shared.out));
    CHECK(live().events == 0 && byte_at(d) == 1);
}

int main(void) {
    refused();
    no_fork();
    waits_for_the_record_of_the_launch();
    publishes_a_point_of_the_replay();
    each_launch_publishes_anew();
    from_graph_to_graph();
    outlives_its_event();
    beside_another_thread();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
