/* Part of racl (mock-acl). Events seen from the host: queries, waiting, times; events in graphs. */
#include "conform.h"

static aclrtEvent pending(aclrtStream stream, aclrtEvent *latch, uint32_t flags) {
    aclrtEvent event = new_event(flags);
    *latch = hold(stream);
    OK(aclrtRecordEvent(event, stream));
    return event;
}

RULE(event, a_query_needs_event_and_place, "observed: event_query") {
    up();
    aclrtEventRecordedStatus recorded;
    aclrtEventStatus status;
    aclrtEventWaitStatus waits;
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    EXPECT(aclrtQueryEventStatus(NULL, &recorded), 100000);
    EXPECT(aclrtQueryEventStatus(event, NULL), 100000);
    EXPECT(aclrtQueryEvent(NULL, &status), 100000);
    EXPECT(aclrtQueryEvent(event, NULL), 100000);
    EXPECT(aclrtQueryEventWaitStatus(NULL, &waits), 100000);
    EXPECT(aclrtQueryEventWaitStatus(event, NULL), 100000);
}

RULE(event, the_older_queries_are_for_the_older_events, "observed: event_query") {
    up();
    aclrtEventStatus status;
    aclrtEventWaitStatus waits;
    EXPECT(aclrtQueryEvent(new_event(ACL_EVENT_SYNC), &status), 207000);
    EXPECT(aclrtQueryEventWaitStatus(new_event(ACL_EVENT_SYNC), &waits), 207000);
    EXPECT(aclrtQueryEvent(old_event(ACL_EVENT_SYNC), &status), 0);
    EXPECT(aclrtQueryEventWaitStatus(old_event(ACL_EVENT_SYNC), &waits), 0);
}

RULE(event, the_two_statuses_have_opposite_signs, "header: aclrtEventStatus, aclrtEventRecordedStatus") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    aclrtEventStatus status = ACL_EVENT_STATUS_NOT_READY;
    OK(aclrtRecordEvent(event, stream));
    finish(stream);
    OK(aclrtQueryEventStatus(event, &recorded));
    OK(aclrtQueryEvent(event, &status));
    TRUE((int)recorded == 1 && (int)status == 0);
}

RULE(event, waits_are_complete_when_all_ran, "guide: aclrtQueryEventWaitStatus") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent latch = old_event(ACL_EVENT_SYNC);
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_COMPLETE;
    OK(aclrtStreamWaitEvent(b, latch));
    OK(aclrtQueryEventWaitStatus(latch, &status));
    TRUE(status == ACL_EVENT_WAIT_STATUS_NOT_READY);
    OK(aclrtRecordEvent(latch, a));
    finish(b);
    OK(aclrtQueryEventWaitStatus(latch, &status));
    TRUE(status == ACL_EVENT_WAIT_STATUS_COMPLETE);
}

RULE(event, a_wait_for_an_unrecorded_event_returns_at_once, "observed: event_query") {
    up();
    EXPECT(aclrtSynchronizeEvent(new_event(ACL_EVENT_SYNC)), 0);
    EXPECT(aclrtSynchronizeEvent(old_event(ACL_EVENT_SYNC)), 0);
}

RULE(event, a_wait_lasts_until_the_record, "guide: aclrtSynchronizeEvent") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = NULL, event = pending(stream, &latch, ACL_EVENT_SYNC);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), 507047);
    let_go(latch);
    EXPECT(aclrtSynchronizeEvent(event), 0);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 1), 0);
}

RULE(event, a_wait_does_not_cover_later_work, "guide: aclrtSynchronizeEvent") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, stream));
    aclrtEvent latch = hold(stream);
    EXPECT(aclrtSynchronizeEvent(event), 0);
    let_go(latch);
    finish(stream);
}

RULE(event, time_outs_of_the_host_are_minus_one_or_above_zero, "observed: event_query") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 0), 107000);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, -2), 107000);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, -1), 0);
}

static void wait_elsewhere(void *event) { EXPECT(aclrtSynchronizeEvent(event), 0); }

RULE(event, a_thread_without_a_device_can_wait, "implementation: the event knows its context") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, stream));
    join_thread(start_thread(wait_elsewhere, event));
}

/* ---- external events ---- */

RULE(event, an_external_event_has_no_state_for_the_host, "observed: event_query") {
    up();
    aclrtEvent event = old_event(ACL_EVENT_EXTERNAL);
    aclrtEventRecordedStatus recorded;
    aclrtEventStatus status;
    aclrtEventWaitStatus waits;
    float ms = 0;
    EXPECT(aclrtQueryEventStatus(event, &recorded), 207000);
    EXPECT(aclrtQueryEvent(event, &status), 207000);
    EXPECT(aclrtQueryEventWaitStatus(event, &waits), 207000);
    EXPECT(aclrtSynchronizeEvent(event), 207000);
    EXPECT(aclrtEventElapsedTime(&ms, event, event), 207000);
}

RULE(event, an_external_event_gates_each_replay, "guide: aclrtCreateEventWithFlag") {
    up();
    aclrtStream other = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtStreamWaitEvent(stream, gate));
    OK(aclrtResetEvent(gate, stream));
    OK(aclrtMemsetAsync(memory, 64, 4, 64, stream));
    aclmdlRI graph = end(stream);
    for (int i = 0; i < 3; i++) {
        fill(memory, 0, 64);
        OK(aclmdlRIExecuteAsync(graph, stream));
        EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
        TRUE(byte_at(memory) == 0);
        OK(aclrtRecordEvent(gate, other));
        finish(stream);
        TRUE(byte_at(memory) == 4);
    }
    OK(aclmdlRIDestroy(graph));
}

RULE(event, a_replay_whose_gate_stays_shut_times_out, "guide: aclrtSetOpWaitTimeout") {
    up();
    OK(aclrtSetOpWaitTimeout(1));
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtStreamWaitEvent(stream, old_event(ACL_EVENT_EXTERNAL)));
    aclmdlRI graph = end(stream);
    OK(aclmdlRIExecuteAsync(graph, stream));
    TRUE(aclrtSynchronizeStream(stream) != 0);
    OK(aclmdlRIDestroy(graph));
}

RULE(event, external_records_belong_into_captures, "implementation: aclrtRecordEventWithFlag") {
    up();
    EXPECT(aclrtRecordEventWithFlag(new_event(ACL_EVENT_SYNC), new_stream(), ACL_EVENT_RECORD_EXTERNAL), 107029);
    EXPECT(aclrtStreamWaitEventWithFlag(new_stream(), new_event(ACL_EVENT_SYNC), 0, ACL_EVENT_WAIT_EXTERNAL), 107029);
}

RULE(event, external_records_need_exactly_sync, "implementation: aclrtRecordEventWithFlag") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent both = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    EXPECT(aclrtRecordEventWithFlag(both, stream, ACL_EVENT_RECORD_EXTERNAL), 207000);
    EXPECT(aclrtStreamWaitEventWithFlag(stream, both, 0, ACL_EVENT_WAIT_EXTERNAL), 207000);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, the_first_flag_of_an_event_sticks, "implementation: aclrtRecordEventWithFlag") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtStream stream = new_stream();
    EXPECT(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), 107029);
    EXPECT(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_DEFAULT), 107000);
}

RULE(event, an_event_is_external_once_in_a_graph, "implementation: aclrtRecordEventWithFlag") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    EXPECT(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), 0);
    EXPECT(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL), 107000);
    EXPECT(aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL), 107000);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, an_external_record_is_reached_inside_a_replay, "implementation: aclrtRecordEventWithFlag") {
    up();
    aclrtStream other = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC), gate = old_event(ACL_EVENT_EXTERNAL);
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    OK(aclrtMemsetAsync(memory, 64, 8, 64, stream));
    OK(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL));
    OK(aclrtStreamWaitEvent(stream, gate));
    OK(aclrtResetEvent(gate, stream));
    aclmdlRI graph = end(stream);
    OK(aclmdlRIExecuteAsync(graph, stream));
    OK(aclrtStreamWaitEvent(other, event));
    finish(other);
    TRUE(byte_at(memory) == 8);
    OK(aclrtRecordEvent(gate, other));
    finish(stream);
    OK(aclmdlRIDestroy(graph));
}

/* ---- captured events ---- */

RULE(event, a_captured_event_is_not_queried, "observed: join_ok, event_elapsed_captured") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtEventRecordedStatus status;
    float ms = 0;
    OK(aclrtRecordEvent(event, stream));
    EXPECT(aclrtQueryEventStatus(event, &status), 107028);
    EXPECT(aclrtSynchronizeEvent(event), 107028);
    EXPECT(aclrtEventElapsedTime(&ms, event, event), 107028);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, older_events_are_not_captured, "observed: event_kinds") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent plain = NULL;
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtRecordEvent(plain, stream), 207000);
    EXPECT(aclrtRecordEvent(old_event(ACL_EVENT_SYNC), stream), 207000);
    EXPECT(aclrtStreamWaitEvent(stream, old_event(ACL_EVENT_SYNC)), 207000);
    EXPECT(aclrtRecordEvent(old_event(ACL_EVENT_EXTERNAL), stream), 0);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, an_event_of_before_the_capture_is_no_dependency, "observed: event_outside") {
    up();
    aclrtStream outside = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, outside));
    finish(outside);
    EXPECT(aclrtStreamWaitEvent(stream, event), 107024);
    EXPECT(aclrtStreamWaitEvent(stream, new_event(ACL_EVENT_SYNC)), 0);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, a_graph_outlives_its_events, "observed: event_destroy_in_capture") {
    up();
    aclrtStream side = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent fork = new_event(ACL_EVENT_SYNC), join = new_event(ACL_EVENT_SYNC);
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtRecordEvent(fork, stream));
    OK(aclrtStreamWaitEvent(side, fork));
    OK(aclrtMemsetAsync(memory, 64, 3, 64, side));
    OK(aclrtRecordEvent(join, side));
    OK(aclrtStreamWaitEvent(stream, join));
    OK(aclrtDestroyEvent(fork));
    OK(aclrtDestroyEvent(join));
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    TRUE(byte_at(memory) == 3);
    OK(aclmdlRIDestroy(graph));
}

RULE(event, a_captured_wait_needs_sync, "observed: event_kinds") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtStreamWaitEvent(stream, new_event(ACL_EVENT_TIME_LINE)), 207000);
    EXPECT(aclrtStreamWaitEvent(stream, new_event(ACL_EVENT_CAPTURE_STREAM_PROGRESS)), 207000);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_TIME_LINE), stream), 0);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(event, a_captured_wait_may_have_a_time_out, "observed: event_reset_in_capture") {
    up();
    aclrtStream side = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtEvent fork = new_event(ACL_EVENT_SYNC), join = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(fork, stream));
    EXPECT(aclrtStreamWaitEventWithTimeout(side, fork, 5), 0);
    OK(aclrtRecordEvent(join, side));
    EXPECT(aclrtStreamWaitEventWithTimeout(stream, join, 5), 0);
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    OK(aclmdlRIDestroy(graph));
}

RULE(event, an_event_of_a_models_stream_is_not_waited_for_by_the_host, "implementation: aclrtSynchronizeEvent") {
    up();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, stream, 0));
    OK(aclrtRecordEvent(event, stream));
    EXPECT(aclrtSynchronizeEvent(event), 107000);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), stream), 207000);
}

/* ---- times ---- */

RULE(event, elapsed_time_needs_all_three, "implementation: ACL layer") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_TIME_LINE);
    float ms = 0;
    EXPECT(aclrtEventElapsedTime(NULL, event, event), 100000);
    EXPECT(aclrtEventElapsedTime(&ms, NULL, event), 100000);
    EXPECT(aclrtEventElapsedTime(&ms, event, NULL), 100000);
    uint64_t us = 0;
    EXPECT(aclrtEventGetTimestamp(NULL, &us), 100000);
    EXPECT(aclrtEventGetTimestamp(event, NULL), 100000);
}

RULE(event, elapsed_time_does_not_wait, "observed: syncev_timeout") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent start = new_event(ACL_EVENT_TIME_LINE), latch = NULL, stop = NULL;
    float ms = 0;
    uint64_t us = 0;
    OK(aclrtRecordEvent(start, stream));
    finish(stream);
    stop = pending(stream, &latch, ACL_EVENT_TIME_LINE);
    EXPECT(aclrtEventElapsedTime(&ms, start, stop), 107006);
    EXPECT(aclrtEventGetTimestamp(stop, &us), 107006);
    let_go(latch);
    finish(stream);
    EXPECT(aclrtEventElapsedTime(&ms, start, stop), 0);
    TRUE(ms >= 0);
}

RULE(event, an_unrecorded_event_has_no_time, "observed: event_elapsed_captured") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_TIME_LINE);
    float ms = 0;
    EXPECT(aclrtEventElapsedTime(&ms, event, event), 507000);
}

RULE(event, times_go_forward, "guide: aclrtEventGetTimestamp") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent start = new_event(ACL_EVENT_TIME_LINE), stop = new_event(ACL_EVENT_TIME_LINE);
    void *memory = device(1 << 20);
    uint64_t first = 0, second = 0;
    float ms = -1, back = 1;
    OK(aclrtRecordEvent(start, stream));
    for (int i = 0; i < 50; i++) OK(aclrtMemsetAsync(memory, 1 << 20, i, 1 << 20, stream));
    OK(aclrtRecordEvent(stop, stream));
    finish(stream);
    OK(aclrtEventGetTimestamp(start, &first));
    OK(aclrtEventGetTimestamp(stop, &second));
    OK(aclrtEventElapsedTime(&ms, start, stop));
    OK(aclrtEventElapsedTime(&back, stop, start));
    TRUE(second > first);
    TRUE(ms > 0);
    TRUE(back == -ms);
}

RULE(event, the_plain_event_has_a_time, "guide: aclrtCreateEvent") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent a = NULL, b = NULL;
    float ms = -1;
    OK(aclrtCreateEvent(&a));
    OK(aclrtCreateEvent(&b));
    OK(aclrtRecordEvent(a, stream));
    OK(aclrtRecordEvent(b, stream));
    finish(stream);
    EXPECT(aclrtEventElapsedTime(&ms, a, b), 0);
    TRUE(ms >= 0);
}

RULE(event, without_a_time_line_there_is_no_time, "observed: times without TIME_LINE") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent a = new_event(ACL_EVENT_SYNC), b = new_event(ACL_EVENT_SYNC);
    float ms = 0;
    OK(aclrtRecordEvent(a, stream));
    OK(aclrtRecordEvent(b, stream));
    finish(stream);
    if (EITHER(aclrtEventElapsedTime(&ms, a, b), 0, 107006)) TRUE(ms == 0);
}

RULE_MOCK(event, a_destroyed_event_is_refused_everywhere, "observed: stream_basic") {
    up();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtEventRecordedStatus status;
    uint32_t id = 0;
    OK(aclrtDestroyEvent(event));
    EXPECT(aclrtDestroyEvent(event), 107017);
    EXPECT(aclrtStreamWaitEvent(NULL, event), 107017);
    EXPECT(aclrtResetEvent(event, NULL), 107017);
    EXPECT(aclrtQueryEventStatus(event, &status), 107017);
    EXPECT(aclrtSynchronizeEvent(event), 107017);
    EXPECT(aclrtGetEventId(event, &id), 107017);
}

RULE(event, without_a_time_line_an_unfinished_event_says_so, "observed, not recorded") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = NULL, event = pending(stream, &latch, ACL_EVENT_SYNC);
    float ms = 0;
    uint64_t us = 0;
    EXPECT(aclrtEventElapsedTime(&ms, event, event), 107006);
    EXPECT(aclrtEventGetTimestamp(event, &us), 107006);
    let_go(latch);
    finish(stream);
}

RULE_MOCK(event, without_a_time_line_the_time_is_0, "observed, not recorded: once it was reclaimed") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC), timed = new_event(ACL_EVENT_TIME_LINE);
    float ms = 7;
    uint64_t us = 7;
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtRecordEvent(timed, stream));
    finish(stream);
    EXPECT(aclrtEventElapsedTime(&ms, event, timed), 0);
    EXPECT(aclrtEventGetTimestamp(event, &us), 0);
    TRUE(ms == 0 && us == 0);
}

RULE(event, both_ends_of_a_time_were_recorded, "observed: event_elapsed_captured; implementation") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_TIME_LINE), never = new_event(ACL_EVENT_TIME_LINE);
    float ms = 0;
    uint64_t us = 0;
    OK(aclrtRecordEvent(event, stream));
    finish(stream);
    EXPECT(aclrtEventElapsedTime(&ms, event, never), 507000);
    EXPECT(aclrtEventElapsedTime(&ms, never, event), 507000);
    EXPECT(aclrtEventGetTimestamp(never, &us), 507000);
}

RULE(event, an_external_event_has_no_time_and_no_wait, "implementation: aclrtEventGetTimestamp") {
    up();
    uint64_t us = 0;
    aclrtEvent event = old_event(ACL_EVENT_EXTERNAL);
    EXPECT(aclrtEventGetTimestamp(event, &us), 207000);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 10), 207000);
}

RULE(event, it_is_asked_for_under_any_context, "implementation: the event knows its context") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = NULL, event = pending(stream, &latch, ACL_EVENT_SYNC);
    aclrtContext mine = NULL, other = NULL;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclrtQueryEventStatus(event, &status), 0);
    TRUE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), 507047);
    OK(aclrtSetCurrentContext(mine));
    let_go(latch);
    OK(aclrtSetCurrentContext(other));
    EXPECT(aclrtSynchronizeEvent(event), 0);
}

RULE(event, a_progress_event_is_for_the_host, "guide: aclrtCreateEventExWithFlag") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = NULL, event = pending(stream, &latch, ACL_EVENT_CAPTURE_STREAM_PROGRESS);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 20), 507047);
    let_go(latch);
    EXPECT(aclrtSynchronizeEvent(event), 0);
}

RULE(event, a_plain_event_is_not_ready_at_first, "observed: event_query") {
    up();
    aclrtEvent event = NULL;
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    OK(aclrtCreateEvent(&event));
    OK(aclrtQueryEventStatus(event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

RULE(event, a_time_stamp_is_in_microseconds, "guide: aclrtEventGetTimestamp") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent start = new_event(ACL_EVENT_TIME_LINE), stop = new_event(ACL_EVENT_TIME_LINE);
    uint64_t first = 0, second = 0;
    float ms = 0;
    void *memory = device(1 << 20);
    OK(aclrtRecordEvent(start, stream));
    for (int i = 0; i < 200; i++) OK(aclrtMemsetAsync(memory, 1 << 20, i, 1 << 20, stream));
    OK(aclrtRecordEvent(stop, stream));
    finish(stream);
    OK(aclrtEventGetTimestamp(start, &first));
    OK(aclrtEventGetTimestamp(stop, &second));
    OK(aclrtEventElapsedTime(&ms, start, stop));
    const double us = (double)(second - first), difference = us - (double)ms * 1000;
    TRUE(us > 0 && difference > -2 && difference < 2);
}

RULE(event, a_timed_event_orders_streams_too, "guide: aclrtCreateEventExWithFlag") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), latch = hold(a);
    uint64_t us = 0;
    OK(aclrtRecordEvent(event, a));
    OK(aclrtStreamWaitEvent(b, event));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    let_go(latch);
    finish(b);
    EXPECT(aclrtEventGetTimestamp(event, &us), 0);
}
