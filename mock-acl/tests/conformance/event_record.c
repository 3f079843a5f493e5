/* Part of racl (mock-acl). Events: creation, records, waits of streams, resets, ids. */
#include "conform.h"

static int recorded(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    OK(aclrtQueryEventStatus(event, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

RULE(event, flags_of_the_older_family, "observed: event_create_flags") {
    const uint32_t good[] = {1, 2, 4, 8, 0x10, 0x20, 9, 0xF}, bad[] = {0, 0x40, 0x80, 0x11, 0x21, 0x41};
    aclrtEvent event = NULL;
    up();
    for (int i = 0; i < 8; i++) EXPECT(aclrtCreateEventWithFlag(&event, good[i]), 0);
    for (int i = 0; i < 6; i++) EXPECT(aclrtCreateEventWithFlag(&event, bad[i]), 107000);
}

RULE(event, flags_of_the_ex_family, "observed: event_create_flags") {
    const uint32_t good[] = {1, 2, 4, 8, 9, 0xF}, bad[] = {0, 0x10, 0x20, 0x80, 0x11, 0x21, 0x41};
    aclrtEvent event = NULL;
    up();
    for (int i = 0; i < 6; i++) EXPECT(aclrtCreateEventExWithFlag(&event, good[i]), 0);
    for (int i = 0; i < 7; i++) EXPECT(aclrtCreateEventExWithFlag(&event, bad[i]), 107000);
}

RULE(event, creating_needs_a_place, "observed: event_create_flags") {
    up();
    EXPECT(aclrtCreateEvent(NULL), 100000);
    EXPECT(aclrtCreateEventWithFlag(NULL, 1), 100000);
    EXPECT(aclrtCreateEventExWithFlag(NULL, 1), 100000);
}

RULE(event, without_a_device_there_is_no_event, "observed: thread_no_ctx") {
    aclrtEvent event = NULL;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateEvent(&event), 107002);
}

RULE(event, calls_need_an_event, "observed: event_query, stream_basic, null_handles_before_set_device") {
    up();
    EXPECT(aclrtDestroyEvent(NULL), 100000);
    EXPECT(aclrtRecordEvent(NULL, NULL), 100000);
    EXPECT(aclrtStreamWaitEvent(NULL, NULL), 100000);
    EXPECT(aclrtResetEvent(NULL, NULL), 100000);
    EXPECT(aclrtSynchronizeEvent(NULL), 100000);
    EXPECT(aclrtStreamWaitEventWithTimeout(NULL, NULL, 1), 107000); /* the layer below says it */
    EXPECT(aclrtRecordEventWithFlag(NULL, NULL, 0), 100000);
    EXPECT(aclrtStreamWaitEventWithFlag(NULL, NULL, 0, 0), 100000);
}

RULE(event, a_record_orders_two_streams, "guide: aclrtStreamWaitEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    aclrtEvent latch = hold(a);
    OK(aclrtMemsetAsync(memory, 64, 1, 64, a));
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(b, event));
    OK(aclrtMemcpyAsync(memory + 8, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, b));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    let_go(latch);
    finish(b);
    TRUE(byte_at(memory + 8) == 1);
}

RULE(event, the_latest_record_is_the_one_that_counts, "guide: aclrtRecordEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, a));
    finish(a);
    TRUE(recorded(event));
    aclrtEvent latch = hold(b);
    OK(aclrtRecordEvent(event, b));
    TRUE(!recorded(event));
    let_go(latch);
    finish(b);
    TRUE(recorded(event));
}

RULE(event, a_wait_keeps_the_record_that_it_saw, "guide: aclrtStreamWaitEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream(), c = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtEvent first = hold(a);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(c, event));
    aclrtEvent second = hold(b);
    OK(aclrtRecordEvent(event, b));
    let_go(first);
    finish(c); /* not for the second record */
    let_go(second);
    finish(b);
}

RULE(event, a_wait_on_the_stream_of_the_record_inserts_nothing, "implementation: Event wait check") {
    up();
    aclrtStream a = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(a, event));
    finish(a);
}

RULE(event, several_streams_wait_for_one_record, "guide: aclrtStreamWaitEvent") {
    up();
    aclrtStream a = new_stream(), others[4];
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtEvent latch = hold(a);
    OK(aclrtRecordEvent(event, a));
    for (int i = 0; i < 4; i++) {
        others[i] = new_stream();
        OK(aclrtStreamWaitEvent(others[i], event));
    }
    let_go(latch);
    for (int i = 0; i < 4; i++) finish(others[i]);
}

RULE(event, an_event_destroyed_at_once_still_orders, "guide: aclrtDestroyEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    unsigned char *memory = (unsigned char *)device(64);
    aclrtEvent latch = hold(a);
    OK(aclrtMemsetAsync(memory, 64, 1, 64, a));
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(b, event));
    OK(aclrtDestroyEvent(event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    let_go(latch);
    finish(b);
    TRUE(byte_at(memory) == 1);
}

RULE(event, a_stream_waits_for_a_record_on_another_device, "implementation: waits across devices") {
    devices(2);
    up();
    aclrtStream a = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC), latch = hold(a);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtSetDevice(1));
    aclrtStream b = new_stream();
    EXPECT(aclrtStreamWaitEvent(b, event), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtSetDevice(0));
    let_go(latch);
    finish(b);
}

RULE(event, a_stream_waits_for_a_record_of_another_context, "implementation: waits across contexts") {
    up();
    aclrtStream a = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC), latch = hold(a);
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtRecordEvent(event, a));
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream b = new_stream();
    EXPECT(aclrtStreamWaitEvent(b, event), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtSetCurrentContext(mine));
    let_go(latch);
    finish(b);
}

RULE(event, an_ex_event_without_sync_is_not_waited_for, "observed: event_query") {
    up();
    EXPECT(aclrtStreamWaitEvent(NULL, new_event(ACL_EVENT_CAPTURE_STREAM_PROGRESS)), 207000);
    EXPECT(aclrtStreamWaitEvent(NULL, new_event(ACL_EVENT_TIME_LINE)), 207000);
}

RULE(event, the_plain_event_is_waited_for_only_after_a_record, "observed: event_query") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = NULL;
    OK(aclrtCreateEvent(&event));
    EXPECT(aclrtStreamWaitEvent(b, event), 107000);
    OK(aclrtRecordEvent(event, a));
    EXPECT(aclrtStreamWaitEvent(b, event), 0);
    finish(b);
}

RULE(event, a_latch_stays_open_until_it_is_reset, "guide: aclrtResetEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent latch = old_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(latch, a));
    finish(a);
    OK(aclrtStreamWaitEvent(b, latch));
    finish(b);
    OK(aclrtStreamWaitEvent(b, latch));
    finish(b);
    OK(aclrtResetEvent(latch, b));
    OK(aclrtStreamWaitEvent(b, latch));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtRecordEvent(latch, a));
    finish(b);
}

RULE(event, only_latches_are_reset, "observed: event_query") {
    up();
    aclrtEvent plain = NULL;
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtResetEvent(new_event(ACL_EVENT_SYNC), NULL), 207000);
    EXPECT(aclrtResetEvent(old_event(ACL_EVENT_SYNC), NULL), 0);
    EXPECT(aclrtResetEvent(plain, NULL), 0);
    EXPECT(aclrtResetEvent(old_event(ACL_EVENT_TIME_LINE), NULL), 207000);
}

RULE(event, an_event_of_the_device_is_none_for_the_host, "guide: aclrtCreateEventWithFlag") {
    up();
    aclrtEvent event = old_event(ACL_EVENT_DEVICE_USE_ONLY);
    EXPECT(aclrtRecordEvent(event, NULL), 107000);
    EXPECT(aclrtStreamWaitEvent(NULL, event), 107000);
    EXPECT(aclrtResetEvent(event, NULL), 107000);
}

RULE(event, a_wait_has_no_negative_time_out, "observed: event_query") {
    up();
    EXPECT(aclrtStreamWaitEventWithTimeout(NULL, new_event(ACL_EVENT_SYNC), -1), 107000);
}

RULE(event, a_wait_that_is_over_in_time_leaves_no_error, "guide: aclrtStreamWaitEventWithTimeout") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEventWithTimeout(b, event, 10));
    OK(aclrtStreamWaitEventWithFlag(b, event, 10, ACL_EVENT_WAIT_DEFAULT));
    finish(b);
}

RULE(event, a_wait_that_nothing_ends_times_out, "guide: aclrtStreamWaitEventWithTimeout") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtStreamWaitEventWithTimeout(stream, old_event(ACL_EVENT_SYNC), 1));
    TRUE(aclrtSynchronizeStream(stream) != 0);
}

RULE_MOCK(event, a_time_out_of_a_wait_gives_107020, "own choice") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtStreamWaitEventWithTimeout(stream, old_event(ACL_EVENT_SYNC), 5));
    OK(aclrtMemsetAsync(memory, 64, 3, 64, stream));
    EXPECT(aclrtSynchronizeStream(stream), 107020);
    TRUE(byte_at(memory) == 3);
    OK(aclrtStreamWaitEventWithFlag(stream, old_event(ACL_EVENT_SYNC), 5, ACL_EVENT_WAIT_DEFAULT));
    EXPECT(aclrtSynchronizeStream(stream), 107020);
}

RULE_MOCK(event, a_wait_of_the_host_that_ends_earlier_comes_first, "own choice") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtStreamWaitEventWithTimeout(stream, old_event(ACL_EVENT_SYNC), 5));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 4000), 507046);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 2000), 107020);
}

RULE(event, the_time_out_of_the_process_covers_waits_without_one, "guide: aclrtSetOpWaitTimeout") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtSetOpWaitTimeout(1));
    OK(aclrtStreamWaitEvent(stream, old_event(ACL_EVENT_SYNC)));
    TRUE(aclrtSynchronizeStream(stream) != 0);
}

RULE(event, the_last_time_out_of_the_process_counts, "guide: aclrtSetOpWaitTimeout") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtSetOpWaitTimeout(1));
    OK(aclrtSetOpWaitTimeout(0));
    aclrtEvent latch = hold(stream);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 1500), 507046);
    let_go(latch);
    finish(stream);
}

static void record_later(void *argument) {
    aclrtEvent *event = (aclrtEvent *)argument;
    OK(aclrtSetDevice(0));
    usleep(100000);
    aclrtStream stream = new_stream();
    OK(aclrtRecordEvent(*event, stream));
    finish(stream);
}

RULE(event, another_thread_ends_a_wait_in_time, "guide: aclrtStreamWaitEventWithTimeout") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = old_event(ACL_EVENT_SYNC);
    void *thread = start_thread(record_later, &latch);
    OK(aclrtStreamWaitEventWithTimeout(stream, latch, 10));
    /* The mock lets time pass in leaps only when no other thread has used it, so let this one begin. */
    usleep(50000);
    EXPECT(aclrtSynchronizeStream(stream), 0);
    join_thread(thread);
}

RULE(event, flags_of_records_and_waits_are_checked, "implementation: aclrtRecordEventWithFlag") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    EXPECT(aclrtRecordEventWithFlag(event, NULL, 2), 100000);
    EXPECT(aclrtStreamWaitEventWithFlag(NULL, event, 0, 2), 100000);
    EXPECT(aclrtStreamWaitEventWithFlag(NULL, event, 1, ACL_EVENT_WAIT_EXTERNAL), 100000);
    EXPECT(aclrtRecordEventWithFlag(event, NULL, ACL_EVENT_RECORD_DEFAULT), 0);
    EXPECT(aclrtStreamWaitEventWithFlag(NULL, event, 0, ACL_EVENT_WAIT_DEFAULT), 0);
}

/* ---- ids ---- */

RULE(event, the_number_of_events_left_goes_down_with_latches, "guide: aclrtGetEventAvailNum") {
    up();
    uint32_t before = 0, after = 0;
    OK(aclrtGetEventAvailNum(&before));
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    OK(aclrtGetEventAvailNum(&after));
    TRUE(after + 1 == before);
    OK(aclrtDestroyEvent(event));
    OK(aclrtGetEventAvailNum(&after));
    TRUE(after == before);
    EXPECT(aclrtGetEventAvailNum(NULL), 100000);
}

RULE(event, an_ex_event_needs_an_id_only_while_it_is_recorded, "guide: aclrtCreateEventExWithFlag") {
    up();
    uint32_t before = 0, after = 0;
    OK(aclrtGetEventAvailNum(&before));
    for (int i = 0; i < 10; i++) new_event(ACL_EVENT_SYNC);
    OK(aclrtGetEventAvailNum(&after));
    TRUE(after == before);
}

RULE_MOCK(event, there_are_65536_events, "guide: aclrtCreateEvent") {
    up();
    uint32_t left = 0;
    OK(aclrtGetEventAvailNum(&left));
    TRUE(left == 65536);
}

RULE_ENV(event, without_an_id_a_latch_is_not_created, "header: ACL_ERROR_RT_NO_EVENT_RESOURCE", "MOCK_ACL_EVENTS=4") {
    up();
    aclrtEvent event = NULL;
    for (int i = 0; i < 4; i++) old_event(ACL_EVENT_SYNC);
    EXPECT(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), 207007);
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), 0);
}

RULE(event, an_event_has_an_id, "guide: aclrtGetEventId") {
    up();
    uint32_t a = 0, b = 0;
    OK(aclrtGetEventId(old_event(ACL_EVENT_SYNC), &a));
    OK(aclrtGetEventId(old_event(ACL_EVENT_SYNC), &b));
    TRUE(a != b);
    EXPECT(aclrtGetEventId(NULL, &a), 100000);
    EXPECT(aclrtGetEventId(old_event(ACL_EVENT_SYNC), NULL), 100000);
}

RULE(event, the_plain_event_takes_its_id_at_the_record, "guide: aclrtCreateEvent") {
    up();
    uint32_t before = 0, after = 0;
    aclrtEvent event = NULL;
    OK(aclrtGetEventAvailNum(&before));
    OK(aclrtCreateEvent(&event));
    OK(aclrtGetEventAvailNum(&after));
    TRUE(after == before);
    OK(aclrtRecordEvent(event, NULL));
    OK(aclrtGetEventAvailNum(&after));
    TRUE(after + 1 == before);
}

RULE_ENV(event, a_record_waits_for_an_id, "guide: aclrtCreateEventExWithFlag", "MOCK_ACL_EVENTS=1") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent first = new_event(ACL_EVENT_SYNC), second = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(first, a));
    EXPECT(aclrtRecordEvent(second, b), 0);
    TRUE(recorded(first));
    finish(b);
}

/* ---- more of the older family ---- */

RULE(event, an_older_event_without_sync_is_not_waited_for, "guide: aclrtCreateEventWithFlag") {
    up();
    EXPECT(aclrtStreamWaitEvent(NULL, old_event(ACL_EVENT_TIME_LINE)), 207000);
    EXPECT(aclrtStreamWaitEvent(NULL, old_event(ACL_EVENT_CAPTURE_STREAM_PROGRESS)), 207000);
}

RULE(event, an_unrecorded_plain_event_says_why, "observed: event_query; implementation: message EE1018") {
    up();
    aclrtEvent event = NULL;
    OK(aclrtCreateEvent(&event));
    EXPECT(aclrtStreamWaitEvent(NULL, event), 107000);
    EXPECT_TEXT("EE1018");
}

RULE(event, an_external_event_holds_a_stream_too, "guide: aclrtCreateEventWithFlag; implementation") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(b, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtRecordEvent(event, a));
    finish(b);
}

RULE(event, a_latch_is_recorded_again_without_effect, "guide: aclrtResetEvent") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent latch = old_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(latch, a));
    finish(a);
    aclrtEvent other = hold(a);
    OK(aclrtRecordEvent(latch, a));
    OK(aclrtStreamWaitEvent(b, latch)); /* the first record keeps it open */
    finish(b);
    let_go(other);
    finish(a);
}

RULE(event, a_record_that_is_over_holds_nobody, "implementation: Event wait check") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, a));
    finish(a);
    aclrtEvent latch = hold(a);
    OK(aclrtStreamWaitEvent(b, event));
    finish(b);
    let_go(latch);
    finish(a);
}

static uint32_t last_task(void) {
    uint32_t id = 0;
    OK(aclrtGetThreadLastTaskId(&id));
    return id;
}

RULE(event, a_wait_that_is_not_needed_is_no_task, "implementation: Event wait check") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC), latch = NULL;
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, a));
    uint32_t last = last_task();
    OK(aclrtStreamWaitEvent(b, event)); /* never recorded */
    TRUE(last_task() == last);
    OK(aclrtRecordEvent(event, a));
    last = last_task();
    OK(aclrtStreamWaitEvent(a, event)); /* recorded on the same stream */
    TRUE(last_task() == last);
    finish(a);
    OK(aclrtStreamWaitEvent(b, event)); /* over */
    TRUE(last_task() == last);
    latch = hold(a);
    OK(aclrtRecordEvent(event, a));
    last = last_task();
    OK(aclrtStreamWaitEvent(b, event)); /* needed */
    TRUE(last_task() != last);
    let_go(latch);
    finish(b);
}

RULE(event, the_plain_event_is_not_reset_on_a_models_stream, "implementation: aclrtResetEvent") {
    up();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;
    aclrtEvent event = NULL;
    OK(aclrtCreateEvent(&event));
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, stream, 0));
    EXPECT(aclrtResetEvent(event, stream), 207000);
}

/* ---- time-outs ---- */

RULE(event, a_time_out_of_0_is_none, "guide: aclrtStreamWaitEventWithTimeout") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = old_event(ACL_EVENT_SYNC);
    OK(aclrtStreamWaitEventWithTimeout(stream, latch, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    let_go(latch);
    finish(stream);
}

RULE_MOCK(event, a_time_out_of_the_process_is_for_later_waits, "guide: aclrtSetOpWaitTimeout") {
    up();
    aclrtStream before = new_stream(), after = new_stream();
    aclrtEvent latch = hold(before);
    OK(aclrtSetOpWaitTimeout(1));
    OK(aclrtStreamWaitEvent(after, old_event(ACL_EVENT_SYNC)));
    EXPECT(aclrtSynchronizeStreamWithTimeout(before, 5000), 507046);
    EXPECT(aclrtSynchronizeStream(after), 107020);
    let_go(latch);
    finish(before);
}
