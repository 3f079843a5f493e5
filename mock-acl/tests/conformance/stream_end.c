/* Part of racl (mock-acl). Streams: destroying, aborting, stopping; failures and what follows from them. */
#include "conform.h"

RULE(stream, destroying_waits_for_the_work, "guide: aclrtDestroyStream") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtMemsetAsync(memory, 64, 3, 64, stream));
    OK(aclrtDestroyStream(stream));
    TRUE(byte_at(memory) == 3);
}

RULE(stream, destroying_by_force_does_not_wait, "guide: aclrtDestroyStreamForce") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    OK(aclrtDestroyStreamForce(stream));
    TRUE(byte_at(memory) == 1);
}

RULE(stream, a_capturing_stream_is_not_destroyed, "observed: capturing_calls") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtDestroyStream(stream), 107027);
    EXPECT(aclrtDestroyStreamForce(stream), 107027);
    OK(aclmdlRIDestroy(end(stream)));
    OK(aclrtDestroyStream(stream));
}

RULE(stream, a_wait_outlives_the_stream_of_its_record, "guide: aclrtStreamWaitEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(b, event));
    OK(aclrtMemsetAsync(memory, 64, 4, 64, b));
    OK(aclrtDestroyStream(a));
    finish(b);
    TRUE(byte_at(memory) == 4);
}

/* ---- abort and stop ---- */

RULE(stream, an_abort_drops_what_is_queued, "guide: aclrtStreamAbort") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    OK(aclrtStreamAbort(stream));
    finish(stream);
    TRUE(byte_at(memory) == 1);
}

RULE(stream, an_aborted_stream_takes_new_work, "guide: aclrtStreamAbort") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    hold(stream);
    OK(aclrtStreamAbort(stream));
    OK(aclrtMemsetAsync(memory, 64, 5, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 5);
}

RULE(stream, the_default_stream_can_be_aborted, "guide: aclrtStreamAbort") {
    up();
    hold(NULL);
    OK(aclrtStreamAbort(NULL));
    finish(NULL);
}

RULE(stream, an_abort_is_accepted_while_a_stream_captures, "observed: capturing_calls") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtStreamAbort(stream), 0);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE_MOCK(stream, a_stream_of_the_device_alone_is_not_aborted, "guide: aclrtStreamAbort") {
    up();
    aclrtStream stream = NULL;
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
    EXPECT(aclrtStreamAbort(stream), 207000);
}

/* A thread that waits says so by the order of things: the abort comes again and again until the wait is over. */
typedef struct waiter {
    aclrtStream stream;
    aclrtEvent event;
    int code, over;
} waiter;

/* A wait that begins when nothing is queued gives 0: then there is another one. */
static void wait_stream(void *argument) {
    waiter *w = (waiter *)argument;
    OK(aclrtSetDevice(0));
    while (w->code == 0 && __atomic_load_n(&w->over, __ATOMIC_SEQ_CST) == 0) w->code = aclrtSynchronizeStream(w->stream);
    __atomic_store_n(&w->over, 1, __ATOMIC_SEQ_CST);
}

static void wait_event(void *argument) {
    waiter *w = (waiter *)argument;
    OK(aclrtSetDevice(0));
    while (w->code == 0 && __atomic_load_n(&w->over, __ATOMIC_SEQ_CST) == 0) w->code = aclrtSynchronizeEvent(w->event);
    __atomic_store_n(&w->over, 1, __ATOMIC_SEQ_CST);
}

/* A busy machine may start the thread late: the abort is repeated until a wait was there for it. */
static int abort_waiter(void (*run)(void *), int whole_device) {
    waiter w = {new_stream(), new_event(ACL_EVENT_SYNC), 0, 0};
    void *thread = start_thread(run, &w);
    for (int i = 0; i < 300 && __atomic_load_n(&w.over, __ATOMIC_SEQ_CST) == 0; i++) {
        hold(w.stream);
        OK(aclrtRecordEvent(w.event, w.stream));
        usleep(100000);
        if (whole_device) OK(aclrtDeviceTaskAbort(0, 0));
        else OK(aclrtStreamAbort(w.stream));
        usleep(1000);
    }
    __atomic_store_n(&w.over, 1, __ATOMIC_SEQ_CST);
    join_thread(thread);
    return w.code;
}

RULE(stream, an_abort_ends_a_wait_for_the_stream, "guide: aclrtStreamAbort") {
    up();
    EXPECT(abort_waiter(wait_stream, 0), 107023);
}

RULE(stream, an_abort_ends_a_wait_for_an_event_of_the_stream, "guide: aclrtStreamAbort") {
    up();
    EXPECT(abort_waiter(wait_event, 0), 107023);
}

RULE_MOCK(stream, aborting_a_device_ends_waits, "implementation: aclrtDeviceTaskAbort") {
    up();
    EXPECT(abort_waiter(wait_stream, 1), 107022);
    EXPECT(abort_waiter(wait_event, 1), 107022);
}

RULE_MOCK(stream, aborting_a_device_drops_all_work, "guide: aclrtDeviceTaskAbort") {
    up();
    aclrtStream streams[4];
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    for (int i = 0; i < 4; i++) {
        streams[i] = new_stream();
        hold(streams[i]);
        OK(aclrtMemsetAsync(memory + i, 1, 2, 1, streams[i]));
    }
    OK(aclrtDeviceTaskAbort(0, 1000));
    for (int i = 0; i < 4; i++) {
        finish(streams[i]);
        TRUE(byte_at(memory + i) == 1);
    }
}

RULE_MOCK(stream, aborting_a_device_checks_its_arguments, "guide: aclrtDeviceTaskAbort") {
    up();
    EXPECT(aclrtDeviceTaskAbort(-1, 0), 107001);
    EXPECT(aclrtDeviceTaskAbort(999, 0), 107001);
    EXPECT(aclrtDeviceTaskAbort(0, 36 * 60 * 1000 + 1), 107000);
    EXPECT(aclrtDeviceTaskAbort(0, 36 * 60 * 1000), 0);
}

RULE(stream, stopping_keeps_the_queue, "guide: aclrtStreamStop") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    aclrtEvent latch = hold(stream);
    EXPECT(aclrtStreamStop(NULL), 107000);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 2);
}

/* ---- failure mode ---- */

RULE(stream, a_stream_that_stops_on_failure_stays_so, "observed: failmode") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), 0);
    EXPECT(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), 0);
    EXPECT(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), 0);
    EXPECT(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), 207000);
}

RULE(stream, only_stop_is_a_failure_mode_to_set, "observed: attributes, other_context_stream") {
    up();
    aclrtStream stream = new_stream();
    aclrtStreamAttrValue value;
    EXPECT(aclrtSetStreamFailureMode(stream, 2), 0);
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    TRUE(value.failureMode == 0);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(aclrtSetStreamFailureMode(stream, 2), 207000);
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    TRUE(value.failureMode == 1);
}

RULE(stream, stopping_on_failure_is_of_one_stream, "observed: failure_mode_streams") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtStreamAttrValue value;
    OK(aclrtSetStreamFailureMode(a, ACL_STOP_ON_FAILURE));
    OK(aclrtGetStreamAttribute(b, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    TRUE(value.failureMode == 0);
    OK(aclrtGetStreamAttribute(new_stream(), ACL_STREAM_ATTR_FAILURE_MODE, &value));
    TRUE(value.failureMode == 0);
}

RULE(stream, the_default_stream_has_a_failure_mode, "guide: aclrtSetStreamFailureMode") {
    up();
    aclrtStreamAttrValue value;
    EXPECT(aclrtSetStreamFailureMode(NULL, ACL_STOP_ON_FAILURE), 0);
    OK(aclrtGetStreamAttribute(NULL, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    TRUE(value.failureMode == 1);
}

/* A task that fails on the mock: memory that is not there. */
static void fail(aclrtStream stream) {
    char *gone = (char *)device(4096);
    OK(aclrtFree(gone));
    OK(aclrtMemsetAsync(gone, 64, 1, 64, stream));
}

static void fail_otherwise(aclrtStream stream) {
    aclrtEvent never = old_event(ACL_EVENT_SYNC);
    OK(aclrtStreamWaitEventWithTimeout(stream, never, 1));
}

RULE_MOCK(stream, a_failed_task_is_reported_once_and_later, "guide: asynchronous errors") {
    up();
    aclrtStream stream = new_stream();
    fail(stream);
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(stream, work_behind_a_failure_runs, "guide: aclrtSetStreamFailureMode") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fail(stream);
    OK(aclrtMemsetAsync(memory, 64, 6, 64, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    TRUE(byte_at(memory) == 6);
}

RULE_MOCK(stream, a_later_error_takes_the_place_of_an_earlier_one, "guide: asynchronous errors") {
    up();
    aclrtStream stream = new_stream();
    fail(stream);
    fail_otherwise(stream);
    EXPECT(aclrtSynchronizeStream(stream), 107020);
    fail_otherwise(stream);
    fail(stream);
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(stream, a_device_wait_reports_an_error_of_its_streams, "implementation: aclrtSynchronizeDevice") {
    up();
    fail(new_stream());
    EXPECT(aclrtSynchronizeDevice(), 507053);
    EXPECT(aclrtSynchronizeDevice(), 0);
}

RULE_MOCK(stream, a_wait_for_an_event_reports_an_error_before_it, "guide: asynchronous errors") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    fail(stream);
    OK(aclrtRecordEvent(event, stream));
    EXPECT(aclrtSynchronizeEvent(event), 507053);
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(stream, beside_a_stream_that_stops_the_others_go_on, "observed: failure_mode_streams") {
    up();
    aclrtStream stream = new_stream(), other = new_stream();
    void *memory = device(64);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    fail(other);
    EXPECT(aclrtSynchronizeStream(other), 507053);
    EXPECT(aclrtMemsetAsync(memory, 64, 7, 64, other), 0);
}

RULE_MOCK(stream, a_stopped_stream_drops_its_work_and_says_so_each_time, "guide: aclrtSetStreamFailureMode") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    fail(stream);
    OK(aclrtMemsetAsync(memory, 64, 6, 64, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    EXPECT(aclrtMemsetAsync(memory, 64, 7, 64, stream), 507053);
    TRUE(byte_at(memory) == 1);
}

RULE_MOCK(stream, aborting_a_device_lets_stopped_streams_go_on, "own choice") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    fail(stream);
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    OK(aclrtDeviceTaskAbort(0, 0));
    OK(aclrtMemsetAsync(memory, 64, 7, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 7);
}

/* ---- attributes ---- */

static aclrtStreamAttrValue get(aclrtStream stream, aclrtStreamAttr id) {
    aclrtStreamAttrValue value;
    memset(&value, 0xFF, sizeof value);
    OK(aclrtGetStreamAttribute(stream, id, &value));
    return value;
}

RULE(stream, the_overflow_switch_is_0_or_1, "implementation: aclrtSetStreamOverflowSwitch") {
    up();
    aclrtStream stream = new_stream();
    uint32_t flag = 9;
    EXPECT(aclrtSetStreamOverflowSwitch(stream, 2), 100000);
    OK(aclrtSetStreamOverflowSwitch(stream, 1));
    OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    TRUE(flag == 1);
    OK(aclrtSetStreamOverflowSwitch(stream, 0));
    OK(aclrtGetStreamOverflowSwitch(stream, &flag));
    TRUE(flag == 0);
    EXPECT(aclrtGetStreamOverflowSwitch(stream, NULL), 100000);
}

RULE(stream, the_overflow_switch_stays_while_a_stream_captures, "observed: capturing_calls") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtSetStreamOverflowSwitch(stream, 1), 107027);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(stream, attributes_are_kept, "header: aclrtStreamAttr") {
    up();
    aclrtStream stream = new_stream();
    aclrtStreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.userCustomTag = 77;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    TRUE(get(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG).userCustomTag == 77);
    memset(&value, 0, sizeof value);
    value.overflowSwitch = 1;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
    TRUE(get(stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK).overflowSwitch == 1);
}

RULE(stream, the_priority_is_an_attribute, "header: ACL_STREAM_ATTR_PRIORITY") {
    up();
    aclrtStream stream = NULL;
    OK(aclrtCreateStreamWithConfig(&stream, 4, 0));
    TRUE(get(stream, ACL_STREAM_ATTR_PRIORITY).streamPriority == 4);
}

RULE(stream, operator_information_is_cached_only_while_a_stream_captures, "guide: aclrtSetStreamAttribute") {
    up();
    aclrtStream stream = new_stream();
    aclrtStreamAttrValue on;
    memset(&on, 0, sizeof on);
    on.cacheOpInfoSwitch = 1;
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    TRUE(get(stream, ACL_STREAM_ATTR_CACHE_OP_INFO).cacheOpInfoSwitch == 0);
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &on));
    TRUE(get(stream, ACL_STREAM_ATTR_CACHE_OP_INFO).cacheOpInfoSwitch == 1);
    OK(aclmdlRIDestroy(end(stream)));
    TRUE(get(stream, ACL_STREAM_ATTR_CACHE_OP_INFO).cacheOpInfoSwitch == 0);
}

RULE(stream, an_attribute_needs_a_value, "implementation: ACL layer") {
    up();
    EXPECT(aclrtSetStreamAttribute(NULL, ACL_STREAM_ATTR_PRIORITY, NULL), 100000);
    EXPECT(aclrtGetStreamAttribute(NULL, ACL_STREAM_ATTR_PRIORITY, NULL), 100000);
}

RULE(stream, an_unknown_attribute_is_refused, "header: aclrtStreamAttr") {
    up();
    aclrtStreamAttrValue value;
    memset(&value, 0, sizeof value);
    EXPECT(aclrtGetStreamAttribute(NULL, (aclrtStreamAttr)77, &value), 107000);
    EXPECT(aclrtSetStreamAttribute(NULL, (aclrtStreamAttr)77, &value), 107000);
}
