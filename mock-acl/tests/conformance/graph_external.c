/* Part of racl (mock-acl). Graphs and the world around them: external events, external records and waits. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static uint64_t *memory;
static aclrtStream origin, other;
static aclrtEvent event;

static void prepare(void) {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
    other = new_stream();
    event = new_event(ACL_EVENT_SYNC);
    origin = begin(RELAXED);
}

static aclError wait_outside(aclrtStream stream) {
    return aclrtStreamWaitEventWithFlag(stream, event, 0, ACL_EVENT_WAIT_EXTERNAL);
}

static aclError record_outside(aclrtStream stream) {
    return aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_EXTERNAL);
}

RULE(graph, an_external_event_gates_each_replay, "guide: aclmdlRICaptureTaskUpdateBegin") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    EXPECT(aclrtStreamWaitEvent(origin, gate), 0);
    EXPECT(aclrtResetEvent(gate, origin), 0);
    OK(aclrtValueWrite(memory, 1, 0, origin));
    aclmdlRI graph = end(origin);
    for (int i = 0; i < 2; i++) {
        put_u64(memory, 0);
        OK(aclmdlRIExecuteAsync(graph, origin));
        EXPECT(aclrtSynchronizeStreamWithTimeout(origin, 20), 507046);
        TRUE(u64_at(memory) == 0);
        OK(aclrtRecordEvent(gate, other));
        finish(origin);
        TRUE(u64_at(memory) == 1);
    }
}

RULE(graph, a_record_before_the_replay_opens_the_gate, "guide: aclmdlRICaptureTaskUpdateBegin") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    aclmdlRI graph = end(origin);
    OK(aclrtRecordEvent(gate, other));
    finish(other);
    replay(graph, origin);
}

RULE(graph, an_external_event_forks_nothing, "guide: aclrtCreateEventWithFlag") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    EXPECT(aclrtRecordEvent(gate, origin), 0);
    EXPECT(aclrtStreamWaitEvent(other, gate), 0);
    OK(aclmdlRICaptureGetInfo(other, &status, NULL));
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    replay(end(origin), origin);
    finish(other); /* the replay recorded it */
}

RULE(graph, an_external_event_has_no_state_for_the_host, "guide: aclrtCreateEventWithFlag") {
    up();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    aclrtEventRecordedStatus status;
    float ms = 0;
    EXPECT(aclrtQueryEventStatus(gate, &status), 207000);
    EXPECT(aclrtSynchronizeEvent(gate), 207000);
    EXPECT(aclrtEventElapsedTime(&ms, gate, gate), 207000);
}

RULE(graph, an_external_flag_needs_a_capture, "implementation: aclrtRecordEventWithFlag") {
    up();
    other = new_stream();
    event = new_event(ACL_EVENT_SYNC);
    EXPECT(record_outside(other), 107029);
    EXPECT(wait_outside(other), 107029);
}

RULE(graph, an_external_flag_needs_exactly_sync, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    event = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    EXPECT(record_outside(origin), 207000);
    event = old_event(ACL_EVENT_SYNC);
    EXPECT(wait_outside(origin), 207000);
    end(origin);
}

RULE(graph, unknown_flags_of_records_and_waits, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    EXPECT(aclrtRecordEventWithFlag(event, origin, 2), 100000);
    EXPECT(aclrtStreamWaitEventWithFlag(origin, event, 0, 2), 100000);
    EXPECT(aclrtStreamWaitEventWithFlag(origin, event, 1, ACL_EVENT_WAIT_EXTERNAL), 100000);
    end(origin);
}

RULE(graph, the_first_flag_of_a_record_sticks, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    OK(aclrtRecordEventWithFlag(event, origin, ACL_EVENT_RECORD_DEFAULT));
    EXPECT(record_outside(origin), 107000);
    end(origin);
}

RULE(graph, the_first_flag_sticks_when_the_call_failed, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    EXPECT(record_outside(other), 107029);
    EXPECT(aclrtRecordEventWithFlag(event, origin, ACL_EVENT_RECORD_DEFAULT), 107000);
    end(origin);
}

RULE(graph, an_external_event_twice_in_one_graph, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    OK(wait_outside(origin));
    EXPECT(wait_outside(origin), 107000);
    EXPECT(record_outside(origin), 107000);
    end(origin);
}

RULE(graph, an_external_wait_without_a_record, "guide: aclrtStreamWaitEventWithFlag") {
    prepare();
    OK(wait_outside(origin));
    OK(aclrtValueWrite(memory, 1, 0, origin));
    replay(end(origin), origin);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, an_external_wait_binds_when_the_graph_is_launched, "guide: aclrtStreamWaitEventWithFlag") {
    prepare();
    OK(wait_outside(origin));
    OK(aclrtValueWrite(memory, 1, 0, origin));
    aclmdlRI graph = end(origin);
    aclrtEvent latch = hold(other);
    OK(aclrtRecordEvent(event, other));
    OK(aclmdlRIExecuteAsync(graph, origin));
    EXPECT(aclrtSynchronizeStreamWithTimeout(origin, 20), 507046);
    TRUE(u64_at(memory) == 0);
    let_go(latch);
    finish(origin);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, a_record_after_the_launch_does_not_bind, "guide: aclrtStreamWaitEventWithFlag") {
    prepare();
    OK(wait_outside(origin));
    aclmdlRI graph = end(origin);
    aclrtEvent latch = hold(other);
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtRecordEvent(event, other));
    finish(origin);
    let_go(latch);
    finish(other);
}

RULE(graph, an_external_record_is_waited_for_after_the_launch, "guide: aclrtRecordEventWithFlag") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    OK(aclrtValueWrite(memory, 1, 0, origin));
    OK(record_outside(origin));
    aclmdlRI graph = end(origin);
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other));
    EXPECT(aclrtSynchronizeStreamWithTimeout(other, 20), 507046);
    let_go(gate);
    finish(other);
    TRUE(u64_at(memory + 1) == 1);
    finish(origin);
}

RULE(graph, an_external_wait_in_a_sub_graph, "implementation: aclrtStreamWaitEventWithFlag") {
    prepare();
    aclmdlRI root = NULL, sub = NULL;
    aclmdlRICondHandle handle = NULL;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &root));
    OK(aclmdlRICondHandleCreate(root, 0, (aclmdlRICondHandleFlag)0, &handle));
    const aclmdlRICondTaskParams task = {handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub};
    OK(aclmdlRIAddCondTask(task, origin, 0));
    OK(aclmdlRICaptureToModelRIBegin(other, sub, RELAXED));
    EXPECT(wait_outside(other), 207000);
    EXPECT(record_outside(other), 207000);
    OK(aclmdlRICaptureEnd(other, NULL));
    end(origin);
}

/* ---- marks and flags in detail ---- */

RULE(graph, two_records_before_the_reset_open_once, "guide: aclrtCreateEventWithFlag (a mark, not a count)") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    aclmdlRI graph = end(origin);
    OK(aclrtRecordEvent(gate, other));
    OK(aclrtRecordEvent(gate, other));
    finish(other);
    replay(graph, origin);
    OK(aclmdlRIExecuteAsync(graph, origin));
    EXPECT(aclrtSynchronizeStreamWithTimeout(origin, 20), 507046);
    OK(aclrtRecordEvent(gate, other));
    finish(origin);
}

RULE(graph, a_second_record_lets_the_next_replay_pass, "guide: aclrtCreateEventWithFlag") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    aclmdlRI graph = end(origin);
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtRecordEvent(gate, other));
    finish(origin);
    OK(aclrtRecordEvent(gate, other)); /* one too many: it stays */
    finish(other);
    replay(graph, origin);
}

RULE(graph, without_a_reset_the_gate_stays_open, "guide: aclrtResetEvent") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    aclmdlRI graph = end(origin);
    OK(aclrtRecordEvent(gate, other));
    finish(other);
    replay(graph, origin);
    replay(graph, origin);
}

RULE(graph, the_first_flag_of_a_wait_sticks, "implementation: aclrtStreamWaitEventWithFlag") {
    prepare();
    OK(aclrtStreamWaitEventWithFlag(other, event, 0, ACL_EVENT_WAIT_DEFAULT));
    EXPECT(wait_outside(origin), 107000);
    event = new_event(ACL_EVENT_SYNC);
    EXPECT(wait_outside(other), 107029);
    EXPECT(aclrtStreamWaitEventWithFlag(origin, event, 0, ACL_EVENT_WAIT_DEFAULT), 107000);
    end(origin);
}

RULE(graph, flags_of_records_and_of_waits_are_apart, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    OK(wait_outside(origin));
    EXPECT(aclrtRecordEventWithFlag(event, other, ACL_EVENT_RECORD_DEFAULT), 0);
    end(origin);
    finish(other);
}

RULE(graph, an_external_record_twice_in_one_graph, "implementation: aclrtRecordEventWithFlag") {
    prepare();
    OK(record_outside(origin));
    EXPECT(record_outside(origin), 107000);
    EXPECT(wait_outside(origin), 107000);
    end(origin);
}

RULE(graph, the_default_flags_are_the_calls_without, "guide: aclrtRecordEventWithFlag") {
    prepare();
    OK(aclrtRecordEventWithFlag(event, origin, ACL_EVENT_RECORD_DEFAULT));
    OK(aclrtStreamWaitEventWithFlag(other, event, 0, ACL_EVENT_WAIT_DEFAULT));
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    OK(aclmdlRICaptureGetInfo(other, &status, NULL));
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    TRUE(ACL_EVENT_RECORD_DEFAULT == 0 && ACL_EVENT_RECORD_EXTERNAL == 1);
    TRUE(ACL_EVENT_WAIT_DEFAULT == 0 && ACL_EVENT_WAIT_EXTERNAL == 1);
}

RULE(graph, each_launch_has_an_external_record_of_its_own, "guide: aclrtRecordEventWithFlag") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    OK(record_outside(origin));
    aclmdlRI graph = end(origin);
    for (int i = 0; i < 2; i++) {
        OK(aclmdlRIExecuteAsync(graph, origin));
        OK(aclrtStreamWaitEvent(other, event));
        EXPECT(aclrtSynchronizeStreamWithTimeout(other, 20), 507046);
        let_go(gate);
        finish(other);
        finish(origin);
    }
}

RULE(graph, a_wait_before_the_launch_has_nothing_to_wait_for, "guide: aclrtRecordEventWithFlag") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    OK(record_outside(origin));
    aclmdlRI graph = end(origin);
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclmdlRIExecuteAsync(graph, origin));
    finish(other); /* the record is not there yet */
    let_go(gate);
    finish(origin);
}

RULE(graph, one_graph_follows_another, "guide: aclrtStreamWaitEventWithFlag") {
    prepare();
    aclrtStream second = begin(RELAXED);
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    OK(aclrtValueWrite(memory, 7, 0, origin));
    OK(record_outside(origin));
    OK(wait_outside(second));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
    aclmdlRI writer = end(origin), reader = end(second);
    OK(aclmdlRIExecuteAsync(writer, origin));
    OK(aclmdlRIExecuteAsync(reader, second));
    EXPECT(aclrtSynchronizeStreamWithTimeout(second, 20), 507046);
    let_go(gate);
    finish(second);
    finish(origin);
    TRUE(u64_at(memory + 1) == 7);
}
