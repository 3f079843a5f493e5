/* Part of racl (mock-acl). Streams: order, waiting, queries, time-outs, values in memory. */
#include "conform.h"

static aclrtStreamStatus status_of(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    OK(aclrtStreamQuery(stream, &status));
    return status;
}

RULE(stream, work_runs_in_order, "guide: stream management") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    for (int i = 1; i <= 100; i++) OK(aclrtMemsetAsync(memory, 64, i, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 100);
}

RULE(stream, waiting_covers_what_was_submitted_before, "guide: aclrtSynchronizeStream") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 1);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 2);
}

RULE(stream, an_empty_stream_is_complete, "observed: stream_basic") {
    up();
    TRUE(status_of(new_stream()) == ACL_STREAM_STATUS_COMPLETE);
    TRUE(status_of(NULL) == ACL_STREAM_STATUS_COMPLETE);
}

RULE(stream, unfinished_is_a_status_and_no_error, "observed: syncev_timeout") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    TRUE(status_of(stream) == ACL_STREAM_STATUS_NOT_READY);
    let_go(latch);
    finish(stream);
    TRUE(status_of(stream) == ACL_STREAM_STATUS_COMPLETE);
}

RULE(stream, a_query_needs_a_place, "observed: stream_basic") {
    up();
    EXPECT(aclrtStreamQuery(new_stream(), NULL), 100000);
}

RULE(stream, time_outs_are_minus_one_or_above_zero, "observed: stream_basic") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 0), 107000);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, -2), 107000);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, -1), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 1), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, INT32_MAX), 0);
}

RULE(stream, device_time_outs_are_minus_one_or_above_zero, "observed: stream_basic") {
    up();
    EXPECT(aclrtSynchronizeDeviceWithTimeout(0), 107000);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-2), 107000);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-1), 0);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(1), 0);
}

RULE(stream, a_time_out_leaves_the_stream_as_it_is, "observed: syncev_timeout") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    let_go(latch);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20000), 0);
    TRUE(byte_at(memory) == 2);
}

RULE(stream, a_device_time_out_has_the_same_code, "observed: syncev_timeout") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(20), 507046);
    let_go(latch);
    EXPECT(aclrtSynchronizeDevice(), 0);
}

RULE(stream, a_device_waits_for_all_streams_of_the_context, "implementation: aclrtSynchronizeDevice") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    for (int i = 0; i < 8; i++) OK(aclrtMemsetAsync(memory + i, 8, i + 1, 1, new_stream()));
    OK(aclrtSynchronizeDevice());
    for (int i = 0; i < 8; i++) TRUE(byte_at(memory + i) == i + 1);
}

RULE(stream, a_device_does_not_wait_for_other_contexts, "implementation: aclrtSynchronizeDevice") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    OK(aclrtSynchronizeDevice());
    OK(aclrtSetCurrentContext(mine));
    let_go(latch);
    finish(stream);
}

RULE(stream, a_stream_of_another_context_can_be_waited_for, "implementation: aclrtSynchronizeStream") {
    up();
    aclrtStream stream = new_stream();
    aclrtContext other = NULL;
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclrtSynchronizeStream(stream), 0);
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT(aclrtStreamQuery(stream, &status), 0);
}

RULE(stream, a_stream_of_another_context_takes_no_work, "observed: fork_foreign_ctx") {
    up();
    aclrtStream stream = new_stream();
    aclrtContext other = NULL;
    void *memory = device(64);
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, stream), 107003);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), stream), 107003);
    EXPECT(aclrtDestroyStream(stream), 107003);
    EXPECT(aclrtDestroyStreamForce(stream), 107003);
}

RULE(stream, waiting_is_refused_while_a_stream_captures, "observed: capturing_calls") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), other = new_stream();
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT(aclrtSynchronizeStream(stream), 107027);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 10), 107027);
    EXPECT(aclrtStreamQuery(stream, &status), 107027);
    EXPECT(aclrtSynchronizeDevice(), 107027);
    EXPECT(aclrtSynchronizeStream(other), 0);
    EXPECT(aclrtSynchronizeStream(NULL), 0);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(stream, streams_that_run_nothing_are_never_waited_for, "guide: aclrtSynchronizeStream") {
    const uint32_t flags[] = {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY};
    up();
    for (int i = 0; i < 3; i++) {
        aclrtStream stream = NULL;
        OK(aclrtCreateStreamWithConfig(&stream, 0, flags[i]));
        EXPECT(aclrtSynchronizeStream(stream), 0);
        TRUE(status_of(stream) == ACL_STREAM_STATUS_COMPLETE);
    }
}

RULE(stream, a_persistent_stream_does_not_run_its_work, "guide: aclrtCreateStreamWithConfig") {
    up();
    aclrtStream stream = NULL;
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtSynchronizeDevice());
    TRUE(byte_at(memory) == 1);
    OK(aclrtDestroyStream(stream));
    TRUE(byte_at(memory) == 1);
}

RULE_MOCK(stream, a_persistent_stream_stores_2013_tasks, "own choice") {
    up();
    aclrtStream stream = NULL;
    void *memory = device(64);
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    for (int i = 0; i < 2013; i++) OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    EXPECT(aclrtMemsetAsync(memory, 64, 2, 64, stream), 507002);
    OK(aclrtDestroyStream(stream));
}

RULE(stream, an_ex_event_is_not_recorded_where_nothing_runs, "observed: stream_flags") {
    up();
    aclrtStream stream = NULL;
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    EXPECT(aclrtRecordEvent(event, stream), 0);
    EXPECT(aclrtSynchronizeEvent(event), 0);
}

static void submit_many(void *stream) {
    OK(aclrtSetDevice(0));
    void *memory = device(64);
    for (int i = 0; i < 3000; i++) OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
}

RULE(stream, a_full_queue_makes_the_submitting_thread_wait, "guide: stream management") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    void *thread = start_thread(submit_many, stream);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 50), 507046);
    let_go(latch);
    join_thread(thread);
    finish(stream);
}

RULE(stream, threads_may_share_a_stream, "guide: multithreading") {
    up();
    aclrtStream stream = new_stream();
    void *threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(submit_many, stream);
    for (int i = 0; i < 4; i++) join_thread(threads[i]);
    finish(stream);
}

RULE_MOCK(stream, a_destroyed_stream_is_an_invalid_handle, "observed: stream_basic") {
    up();
    aclrtStream stream = new_stream();
    aclrtStreamStatus status;
    void *memory = device(64);
    OK(aclrtDestroyStream(stream));
    EXPECT(aclrtSynchronizeStream(stream), 107017);
    EXPECT_TEXT("EE1017");
    EXPECT(aclrtStreamQuery(stream, &status), 107017);
    EXPECT(aclrtDestroyStream(stream), 107017);
    EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, stream), 107017);
    EXPECT(aclrtStreamAbort(stream), 107017);
    EXPECT(aclrtStreamStop(stream), 107017);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107017);
}

/* ---- values in memory ---- */

RULE(stream, a_value_is_written_in_order, "guide: aclrtValueWrite") {
    up();
    aclrtStream stream = new_stream();
    void *memory = device(64);
    put_u64(memory, 0);
    aclrtEvent latch = hold(stream);
    OK(aclrtValueWrite(memory, UINT64_C(0x123456789ABCDEF0), 0, stream));
    TRUE(u64_at(memory) == 0);
    let_go(latch);
    finish(stream);
    TRUE(u64_at(memory) == UINT64_C(0x123456789ABCDEF0));
}

static void value_case(uint64_t before, uint64_t after, uint64_t value, uint32_t flag) {
    aclrtStream stream = new_stream(), other = new_stream();
    void *memory = device(64);
    put_u64(memory, before);
    OK(aclrtValueWait(memory, value, flag, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    OK(aclrtValueWrite(memory, after, 0, other));
    finish(other);
    finish(stream);
}

RULE(stream, a_value_wait_compares_by_greater_or_equal, "guide: aclrtValueWait") {
    up();
    value_case(4, 5, 5, ACL_STREAM_WAIT_VALUE_GEQ);
    value_case(4, 9, 5, ACL_STREAM_WAIT_VALUE_GEQ);
}

RULE(stream, greater_or_equal_is_a_signed_difference, "guide: aclrtValueWait") {
    up();
    value_case(UINT64_C(0xFFFFFFFFFFFFFFFE), 1, 1, ACL_STREAM_WAIT_VALUE_GEQ);
}

RULE(stream, a_value_wait_compares_by_equality, "guide: aclrtValueWait") {
    up();
    value_case(6, 5, 5, ACL_STREAM_WAIT_VALUE_EQ);
}

RULE(stream, a_value_wait_compares_by_bits, "guide: aclrtValueWait") {
    up();
    value_case(2, 3, 1, ACL_STREAM_WAIT_VALUE_AND);
    value_case(UINT64_C(0xFFFFFFFFFFFFFFFF), 0, 1, ACL_STREAM_WAIT_VALUE_NOR);
}

RULE(stream, a_value_that_holds_is_not_waited_for, "guide: aclrtValueWait") {
    up();
    void *memory = device(64);
    put_u64(memory, 7);
    OK(aclrtValueWait(memory, 7, ACL_STREAM_WAIT_VALUE_EQ, NULL));
    finish(NULL);
}

RULE(stream, value_calls_check_address_and_flag, "observed: valuewait") {
    up();
    void *memory = device(64);
    EXPECT(aclrtValueWrite(NULL, 1, 0, NULL), 100000);
    EXPECT(aclrtValueWait(NULL, 1, 0, NULL), 100000);
    EXPECT(aclrtValueWait(memory, 1, 4, NULL), 107000);
}

RULE(stream, a_value_write_has_no_flags_yet, "guide: aclrtValueWrite") {
    up();
    void *memory = device(64);
    EXPECT(aclrtValueWrite(memory, 1, 1, NULL), 107000);
}

RULE(stream, a_call_accepts_a_value_at_any_address, "observed: valuewait") {
    up();
    char *memory = (char *)device(64);
    EXPECT(aclrtValueWrite(memory + 4, 1, 0, NULL), 0);
}
