/* Part of racl (mock-acl). Captures: which record a wait means, joins, kinds of events, other contexts. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static aclrtStream origin, side;
static uint64_t *memory;

static void prepare(void) {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
    side = new_stream();
    origin = begin(RELAXED);
}

/* Of one stream after an event of another. */
static aclrtEvent after(aclrtStream to, aclrtStream from) {
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, from));
    OK(aclrtStreamWaitEvent(to, event));
    return event;
}

static uint32_t tasks_of(aclmdlRI graph) {
    aclrtStream inner = NULL;
    uint32_t streams = 1, tasks = 0;
    OK(aclmdlRIGetStreams(graph, &inner, &streams));
    OK(aclmdlRIGetTasksByStream(inner, NULL, &tasks));
    return tasks;
}

static int captures(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    return status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
}

static void ends_with(int code) {
    aclmdlRI graph = (aclmdlRI)memory;
    EXPECT(aclmdlRICaptureEnd(origin, &graph), code);
    TRUE((graph == NULL) == (code != 0));
}

/* ---- records and waits ---- */

RULE(graph, each_wait_means_the_record_before_it, "guide: aclrtStreamWaitEvent, in the order of calls") {
    prepare();
    aclrtEvent event = after(side, origin);
    /* The origin waits for the side stream; were the first wait for the record below, neither would go on. */
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, origin));
    OK(aclrtValueWrite(memory + 2, 9, 0, origin));
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtValueWrite(memory, 1, 0, side));
    /* Were the second for the record above, the copy would come too early. */
    OK(aclrtStreamWaitEvent(side, event));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory + 2, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, side));
    after(origin, side);
    replay(end(origin), origin);
    TRUE(u64_at(memory + 1) == 9);
}

RULE(graph, each_replay_starts_unrecorded, "implementation: aclmdlRICaptureEnd") {
    prepare();
    after(side, origin);
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, side));
    after(origin, side);
    OK(aclrtValueWrite(memory + 1, 1, 0, origin));
    aclmdlRI graph = end(origin);
    aclrtStream writer = new_stream();
    for (int i = 0; i < 3; i++) {
        fill(memory, 0, 64);
        OK(aclmdlRIExecuteAsync(graph, origin));
        EXPECT(aclrtSynchronizeStreamWithTimeout(origin, 20), 507046);
        TRUE(u64_at(memory + 1) == 0);
        OK(aclrtValueWrite(memory, 1, 0, writer));
        finish(origin);
        TRUE(u64_at(memory + 1) == 1);
    }
}

RULE(graph, a_record_of_before_and_one_inside, "observed: rerecord_outside_then_capture") {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
    side = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, side));
    finish(side);
    origin = begin(RELAXED);
    EXPECT(aclrtRecordEvent(event, origin), 0);
    EXPECT(aclrtStreamWaitEvent(side, event), 0);
    TRUE(captures(side));
    ends_with(107025);
}

RULE(graph, a_record_outside_that_is_pending, "observed: event_outside_pending") {
    up();
    aclrtStream other = new_stream();
    aclrtEvent latch = hold(other), event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, other));
    origin = begin(RELAXED);
    EXPECT(aclrtStreamWaitEvent(origin, event), 107024);
    TRUE(captures(origin));
    let_go(latch);
    end(origin);
    finish(other);
}

RULE(graph, an_eager_stream_waits_for_no_record, "observed: event_outside") {
    prepare();
    EXPECT(aclrtStreamWaitEvent(side, new_event(ACL_EVENT_SYNC)), 0);
    TRUE(!captures(side)); /* no edge, and no fork */
    finish(side);
    end(origin);
}

RULE(graph, a_record_without_sync_is_no_task, "observed: event_kinds (ignored)") {
    prepare();
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_TIME_LINE), origin), 0);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_CAPTURE_STREAM_PROGRESS), origin), 0);
    OK(aclrtValueWrite(memory, 1, 0, origin));
    TRUE(tasks_of(end(origin)) == 1);
}

RULE(graph, copies_of_nothing_are_no_tasks, "observed: pageable (count 0)") {
    prepare();
    OK(aclrtMemcpyAsync(memory, 8, memory + 1, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, origin));
    OK(aclrtMemcpyAsync(NULL, 0, NULL, 0, ACL_MEMCPY_HOST_TO_DEVICE, origin));
    OK(aclrtMemsetAsync(memory, 8, 0, 0, origin));
    OK(aclrtValueWrite(memory, 1, 0, origin));
    TRUE(tasks_of(end(origin)) == 1);
}

RULE(graph, waits_for_events_of_the_old_kind, "observed: event_kinds") {
    prepare();
    aclrtEvent plain = NULL;
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtStreamWaitEvent(origin, plain), 207000);
    EXPECT(aclrtStreamWaitEvent(origin, old_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)), 207000);
    TRUE(captures(origin));
    end(origin);
}

RULE(graph, resets_in_a_capture, "observed: event_reset_in_capture, event_kinds") {
    prepare();
    EXPECT(aclrtResetEvent(new_event(ACL_EVENT_SYNC), origin), 207000);
    EXPECT(aclrtResetEvent(old_event(ACL_EVENT_SYNC), origin), 207000);
    EXPECT(aclrtResetEvent(old_event(ACL_EVENT_EXTERNAL), origin), 0);
    TRUE(captures(origin));
    end(origin);
}

RULE(graph, a_captured_event_has_no_time_afterwards, "observed: event_elapsed_captured") {
    prepare();
    aclrtEvent one = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    aclrtEvent two = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    float ms = 0;
    OK(aclrtRecordEvent(one, origin));
    OK(aclrtRecordEvent(two, origin));
    aclmdlRI graph = end(origin);
    EXPECT(aclrtEventElapsedTime(&ms, one, two), 507000);
    replay(graph, origin);
    EXPECT(aclrtEventElapsedTime(&ms, one, two), 507000);
}

RULE(graph, a_replay_is_timed_from_outside, "guide: aclrtEventElapsedTime") {
    prepare();
    aclrtEvent one = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    aclrtEvent two = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    float ms = -1;
    OK(aclrtValueWrite(memory, 1, 0, origin));
    aclmdlRI graph = end(origin);
    OK(aclrtRecordEvent(one, origin));
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtRecordEvent(two, origin));
    finish(origin);
    EXPECT(aclrtEventElapsedTime(&ms, one, two), 0);
    TRUE(ms >= 0);
}

RULE(graph, an_event_after_the_end_is_an_ordinary_one, "observed: query_ex_recorded") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    end(origin);
    EXPECT(aclrtSynchronizeEvent(event), 0);
    EXPECT(aclrtStreamWaitEvent(side, event), 0);
    TRUE(!captures(side));
    OK(aclrtRecordEvent(event, side));
    EXPECT(aclrtSynchronizeEvent(event), 0);
    EXPECT(aclrtDestroyEvent(event), 0);
}

RULE(graph, an_event_serves_several_captures, "guide: capture") {
    prepare();
    aclrtEvent event = after(side, origin);
    after(origin, side);
    end(origin);
    OK(aclmdlRICaptureBegin(origin, RELAXED));
    EXPECT(aclrtRecordEvent(event, origin), 0);
    EXPECT(aclrtStreamWaitEvent(side, event), 0);
    after(origin, side);
    ends_with(0);
}

/* ---- joins ---- */

RULE(graph, a_side_stream_captures_until_the_end, "guide: capture") {
    prepare();
    after(side, origin);
    after(origin, side);
    TRUE(captures(side)); /* joined, and still a part */
    EXPECT(aclrtSynchronizeStream(side), 107027);
    end(origin);
    TRUE(!captures(side));
    EXPECT(aclrtSynchronizeStream(side), 0);
}

RULE(graph, a_record_behind_the_join, "guide: capture (the last task is a record that is waited for)") {
    prepare();
    after(side, origin);
    after(origin, side);
    OK(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), side));
    ends_with(107025);
}

RULE(graph, a_second_join_makes_up_for_later_work, "guide: capture") {
    prepare();
    after(side, origin);
    after(origin, side);
    OK(aclrtValueWrite(memory, 5, 0, side));
    after(origin, side);
    replay(end(origin), origin);
    TRUE(u64_at(memory) == 5);
}

RULE(graph, a_join_that_does_not_reach_the_origin, "guide: capture") {
    prepare();
    aclrtStream third = new_stream();
    after(side, origin);
    after(third, origin);
    after(third, side); /* the third stream is not joined itself */
    OK(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), third));
    ends_with(107025);
}

RULE(graph, several_side_streams, "guide: capture") {
    prepare();
    aclrtStream sides[8];
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    for (int i = 0; i < 8; i++) {
        sides[i] = new_stream();
        OK(aclrtStreamWaitEvent(sides[i], event));
        OK(aclrtValueWrite(memory + i, (uint64_t)i + 1, 0, sides[i]));
    }
    for (int i = 0; i < 8; i++) after(origin, sides[i]);
    replay(end(origin), origin);
    for (int i = 0; i < 8; i++) TRUE(u64_at(memory + i) == (uint64_t)i + 1);
}

/* ---- other contexts ---- */

RULE(graph, a_fork_into_another_context, "observed: fork_foreign_ctx") {
    prepare();
    aclrtContext mine = NULL, other = NULL;
    aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join_event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream foreign = new_stream();
    EXPECT(aclrtStreamWaitEvent(foreign, fork_event), 0);
    TRUE(captures(foreign));
    EXPECT(aclrtSynchronizeDevice(), 107027); /* this context captures, too */
    OK(aclrtRecordEvent(join_event, foreign));
    OK(aclrtSetCurrentContext(mine));
    EXPECT(aclrtStreamWaitEvent(foreign, fork_event), 107003);
    EXPECT(aclrtStreamWaitEvent(origin, join_event), 0);
    ends_with(0);
    OK(aclrtSetCurrentContext(other));
    EXPECT(aclrtSynchronizeDevice(), 0);
    OK(aclrtSetCurrentContext(mine));
}
