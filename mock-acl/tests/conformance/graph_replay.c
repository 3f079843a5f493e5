/* Part of racl (mock-acl). Models: execution, its order, its errors. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static uint64_t *memory;

static void prepare(void) {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
}

static aclmdlRI writes(uint64_t *to, uint64_t value) {
    aclrtStream stream = begin(RELAXED);
    OK(aclrtValueWrite(to, value, 0, stream));
    return end(stream);
}

static aclmdlRI copies(uint64_t *to, const uint64_t *from) {
    aclrtStream stream = begin(RELAXED);
    OK(aclrtMemcpyAsync(to, 8, from, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    return end(stream);
}

RULE(graph, execute_without_a_model, "observed: execute") {
    up();
    EXPECT(aclmdlRIExecuteAsync(NULL, new_stream()), 100000);
}

RULE_MOCK(graph, execute_a_destroyed_model, "observed: execute") {
    prepare();
    aclmdlRI graph = writes(memory, 1);
    OK(aclmdlRIDestroy(graph));
    EXPECT(aclmdlRIExecuteAsync(graph, new_stream()), 107017);
}

RULE_MOCK(graph, execute_on_no_stream, "own choice: the real runtime crashes") {
    prepare();
    EXPECT(aclmdlRIExecuteAsync(writes(memory, 1), NULL), 100000);
}

RULE(graph, execute_on_the_default_stream, "observed: execute_default_real") {
    prepare();
    aclrtStream stream = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    EXPECT(aclmdlRIExecuteAsync(writes(memory, 1), stream), 0);
    finish(stream);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, execute_a_model_of_another_context, "implementation: aclmdlRIExecuteAsync") {
    prepare();
    aclmdlRI graph = writes(memory, 1);
    aclrtContext other = NULL;
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRIExecuteAsync(graph, new_stream()), 107004);
}

RULE(graph, execute_on_a_stream_of_another_context, "implementation: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream stream = new_stream();
    aclrtContext other = NULL;
    OK(aclrtCreateContext(&other, 0));
    aclmdlRI graph = writes(memory, 1);
    EXPECT(aclmdlRIExecuteAsync(graph, stream), 107003);
}

RULE(graph, execute_on_a_bound_stream, "implementation: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, stream, 0));
    EXPECT(aclmdlRIExecuteAsync(writes(memory, 1), stream), 107000);
}

RULE(graph, execute_on_a_capturing_stream, "observed: execute; observed, not recorded: random sequences") {
    prepare();
    aclmdlRI graph = writes(memory, 1);
    aclrtStream stream = begin(RELAXED);
    EXPECT(aclmdlRIExecuteAsync(graph, stream), 107027);
    EXPECT_TEXT("EE1016");
    end(stream);
}

RULE(graph, execution_is_asynchronous_and_in_order, "guide: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream stream = new_stream();
    aclmdlRI graph = copies(memory + 1, memory);
    aclrtEvent latch = hold(stream);
    OK(aclrtValueWrite(memory, 7, 0, stream));
    OK(aclmdlRIExecuteAsync(graph, stream));
    OK(aclrtMemcpyAsync(memory + 2, 8, memory + 1, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    TRUE(u64_at(memory + 1) == 0);
    let_go(latch);
    finish(stream);
    TRUE(u64_at(memory + 2) == 7);
}

RULE(graph, launches_on_one_stream_follow_one_another, "guide: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream stream = new_stream();
    aclmdlRI one = writes(memory, 1), two = copies(memory + 1, memory), three = writes(memory, 3);
    for (int i = 0; i < 50; i++) {
        OK(aclmdlRIExecuteAsync(one, stream));
        OK(aclmdlRIExecuteAsync(two, stream));
        OK(aclmdlRIExecuteAsync(three, stream));
    }
    finish(stream);
    TRUE(u64_at(memory) == 3 && u64_at(memory + 1) == 1);
}

RULE(graph, one_model_launched_again_before_it_ended, "guide: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream stream = new_stream();
    aclmdlRI graph = writes(memory, 1);
    aclrtEvent latch = hold(stream);
    for (int i = 0; i < 10; i++) EXPECT(aclmdlRIExecuteAsync(graph, stream), 0);
    let_go(latch);
    finish(stream);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, models_run_beside_each_other, "guide: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream held = new_stream(), open = new_stream();
    aclmdlRI one = writes(memory, 1), two = writes(memory + 1, 2);
    aclrtEvent latch = hold(held);
    OK(aclmdlRIExecuteAsync(one, held));
    OK(aclmdlRIExecuteAsync(two, open));
    finish(open);
    TRUE(u64_at(memory) == 0 && u64_at(memory + 1) == 2);
    let_go(latch);
    finish(held);
}

RULE(graph, a_replay_is_ordered_by_events, "guide: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream one = new_stream(), two = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclmdlRI first = writes(memory, 5), second = copies(memory + 1, memory);
    OK(aclmdlRIExecuteAsync(first, one));
    OK(aclrtRecordEvent(event, one));
    OK(aclrtStreamWaitEvent(two, event));
    OK(aclmdlRIExecuteAsync(second, two));
    finish(two);
    TRUE(u64_at(memory + 1) == 5);
}

RULE(graph, streams_of_a_model_run_beside_each_other, "guide: capture") {
    prepare();
    aclrtStream origin = begin(RELAXED), side = new_stream();
    aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join_event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    /* Each waits for what the other writes. */
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, origin));
    OK(aclrtValueWrite(memory + 1, 1, 0, origin));
    OK(aclrtValueWrite(memory, 1, 0, side));
    OK(aclrtValueWait(memory + 1, 1, ACL_STREAM_WAIT_VALUE_EQ, side));
    OK(aclrtRecordEvent(join_event, side));
    OK(aclrtStreamWaitEvent(origin, join_event));
    replay(end(origin), origin);
}

RULE(graph, execute_waits_only_for_models_built_by_hand, "observed: execute") {
    prepare();
    EXPECT(aclmdlRIExecute(writes(memory, 1), -1), 107000);
}

RULE(graph, abort_of_a_captured_model, "observed: execute") {
    prepare();
    aclmdlRI graph = writes(memory, 1);
    EXPECT(aclmdlRIAbort(graph), 0);
    replay(graph, new_stream());
    TRUE(u64_at(memory) == 1);
}

RULE_MOCK(graph, a_failing_task_leaves_the_model_ready, "implementation: aclmdlRIExecuteAsync") {
    prepare();
    aclrtStream stream = begin(RELAXED);
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, stream));
    aclmdlRI graph = end(stream);
    OK(aclrtFree(memory));
    OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    EXPECT(aclmdlRIExecuteAsync(graph, stream), 0);
    EXPECT(aclrtSynchronizeStream(stream), 507053);
}

/* A capture with a choice among empty graphs. */
static aclrtStream begin_with_branches(aclmdlRI *subs, uint32_t count) {
    aclrtStream origin = begin(RELAXED), inner = new_stream();
    aclmdlRI root = NULL;
    aclmdlRICondHandle handle = NULL;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &root));
    OK(aclmdlRICondHandleCreate(root, 0, (aclmdlRICondHandleFlag)0, &handle));
    const aclmdlRICondTaskParams task = {handle, ACL_MODEL_RI_COND_TYPE_SWITCH, count, subs};
    OK(aclmdlRIAddCondTask(task, origin, 0));
    for (uint32_t i = 0; i < count; i++) {
        OK(aclmdlRICaptureToModelRIBegin(inner, subs[i], RELAXED));
        OK(aclmdlRICaptureEnd(inner, NULL));
    }
    return origin;
}

RULE(graph, a_model_has_at_most_1024_streams, "guide: capture") {
    up();
    static aclmdlRI subs[1100];
    aclrtStream origin = begin_with_branches(subs, 1100);
    aclmdlRI graph = end(origin);
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 207005);
}

RULE(graph, launches_are_checked_in_order,
    "observed: getinfo, execute; implementation: aclmdlRIExecuteAsync") {
    prepare();
    EXPECT(aclmdlRIExecuteAsync(NULL, NULL), 100000);
    aclrtStream stream = begin(RELAXED);
    aclmdlRI live = NULL;
    OK(aclmdlRICaptureGetInfo(stream, NULL, &live));
    EXPECT(aclmdlRIExecuteAsync(live, new_stream()), 107026);
    end(stream);
}

RULE(graph, too_many_streams_say_so, "implementation: aclmdlRIExecuteAsync (EE1023)") {
    up();
    static aclmdlRI subs[1030];
    aclrtStream origin = begin_with_branches(subs, 1024);
    aclmdlRI graph = end(origin); /* 1,024 and its own */
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 207005);
    EXPECT_TEXT("EE1023");
    EXPECT(aclmdlRIDestroy(graph), 0);
}

static aclmdlRI wide(uint32_t streams) {
    static aclmdlRI subs[1030];
    aclrtStream origin = begin_with_branches(subs, streams - 1);
    OK(aclrtValueWrite(memory, 1, 0, origin));
    return end(origin);
}

RULE(graph, a_model_may_have_1024_streams, "implementation: queues of a device") {
    prepare();
    aclrtStream stream = new_stream();
    replay(wide(1024), stream);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, idle_models_give_way_to_others, "implementation: queues of a device are shared") {
    prepare();
    aclrtStream stream = new_stream();
    aclmdlRI one = wide(700), two = wide(700);
    for (int i = 0; i < 3; i++) {
        replay(one, stream);
        replay(two, stream);
    }
    TRUE(u64_at(memory) == 1);
}

RULE_MOCK(graph, launches_from_two_streams_follow_one_another, "own choice; observed: destroy_running") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL);
    aclrtStream stream = begin(RELAXED), one = new_stream(), two = new_stream(), other = new_stream();
    OK(aclrtStreamWaitEvent(stream, gate));
    OK(aclrtResetEvent(gate, stream));
    aclmdlRI graph = end(stream);
    EXPECT(aclmdlRIExecuteAsync(graph, one), 0);
    EXPECT(aclmdlRIExecuteAsync(graph, two), 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(one, 20), 507046);
    EXPECT(aclrtSynchronizeStreamWithTimeout(two, 20), 507046);
    OK(aclrtRecordEvent(gate, other));
    finish(one);
    EXPECT(aclrtSynchronizeStreamWithTimeout(two, 20), 507046);
    OK(aclrtRecordEvent(gate, other));
    finish(two);
}

RULE(graph, a_value_wait_reads_memory_in_each_replay, "guide: memory value operations") {
    prepare();
    aclrtStream stream = begin(RELAXED), writer = new_stream();
    OK(aclrtValueWait(memory, 4, ACL_STREAM_WAIT_VALUE_EQ, stream));
    aclmdlRI graph = end(stream);
    put_u64(memory, 4);
    replay(graph, stream);
    put_u64(memory, 0);
    OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    OK(aclrtValueWrite(memory, 4, 0, writer));
    finish(stream);
}

RULE(graph, a_launch_outlives_its_stream, "observed: execute (destroy source stream)") {
    prepare();
    aclrtStream stream = begin(RELAXED);
    OK(aclrtValueWrite(memory, 1, 0, stream));
    aclmdlRI graph = end(stream);
    OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT(aclrtDestroyStream(stream), 0);
    TRUE(u64_at(memory) == 1);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

static void launch_elsewhere(void *graph) {
    OK(aclrtSetDevice(0));
    replay((aclmdlRI)graph, new_stream());
}

RULE(graph, another_thread_may_launch, "guide: multithreading") {
    prepare();
    aclmdlRI graph = writes(memory, 3);
    join_thread(start_thread(launch_elsewhere, graph));
    TRUE(u64_at(memory) == 3);
}
