/* Part of racl (mock-acl). Captures: values of the enumerations, begin, queries of the state. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

/* What GetInfo says of a stream. */
static void is_capturing(aclrtStream stream, int active) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureGetInfo(stream, &status, &graph));
    TRUE((int)status == active);
    TRUE((graph != NULL) == (active != 0));
}

static aclrtStream flagged(uint32_t flags) {
    aclrtStream stream = NULL;
    OK(aclrtCreateStreamWithConfig(&stream, 0, flags));
    return stream;
}

RULE(graph, values_of_capture_modes, "header: aclmdlRICaptureMode") {
    TRUE(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL == 0);
    TRUE(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL == 1);
    TRUE(ACL_MODEL_RI_CAPTURE_MODE_RELAXED == 2);
}

RULE(graph, values_of_capture_states, "header: aclmdlRICaptureStatus") {
    TRUE(ACL_MODEL_RI_CAPTURE_STATUS_NONE == 0);
    TRUE(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE == 1);
    TRUE(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED == 2);
}

RULE(graph, values_of_task_types, "header: aclmdlRITaskType") {
    TRUE(ACL_MODEL_RI_TASK_DEFAULT == 0 && ACL_MODEL_RI_TASK_KERNEL == 1);
    TRUE(ACL_MODEL_RI_TASK_EVENT_RECORD == 2 && ACL_MODEL_RI_TASK_EVENT_WAIT == 3);
    TRUE(ACL_MODEL_RI_TASK_EVENT_RESET == 4 && ACL_MODEL_RI_TASK_VALUE_WRITE == 5);
    TRUE(ACL_MODEL_RI_TASK_VALUE_WAIT == 6);
}

RULE(graph, values_of_condition_types, "header: aclmdlRICondTaskType, aclmdlRICondHandleFlag") {
    TRUE(ACL_MODEL_RI_COND_TYPE_IF == 0 && ACL_MODEL_RI_COND_TYPE_WHILE == 1);
    TRUE(ACL_MODEL_RI_COND_TYPE_SWITCH == 2);
    TRUE(ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT == 1);
}

RULE(graph, begin_without_a_stream, "guide: aclmdlRICaptureBegin; observed: capture_begin") {
    up();
    EXPECT(aclmdlRICaptureBegin(NULL, RELAXED), 100000);
}

RULE(graph, begin_with_an_unknown_mode, "observed: capture_begin") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)3), 107000);
    is_capturing(stream, 0);
}

RULE(graph, begin_on_a_stream_for_cpu_scheduling, "observed: capture_begin") {
    up();
    EXPECT(aclmdlRICaptureBegin(flagged(ACL_STREAM_CPU_SCHEDULE), RELAXED), 507000);
}

RULE(graph, begin_on_a_stream_for_device_use, "observed: capture_begin") {
    up();
    EXPECT(aclmdlRICaptureBegin(flagged(ACL_STREAM_DEVICE_USE_ONLY), RELAXED), 507000);
}

RULE(graph, begin_on_streams_with_other_flags, "observed: capture_begin") {
    up();
    const uint32_t flags[] = {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_PERSISTENT, ACL_STREAM_HUGE};
    for (int i = 0; i < 4; i++) {
        aclrtStream stream = flagged(flags[i]);
        aclmdlRI graph = NULL;
        EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 0);
        EXPECT(aclmdlRICaptureEnd(stream, &graph), 0);
    }
}

RULE(graph, begin_on_a_stream_of_another_context, "guide: aclmdlRICaptureBegin") {
    up();
    aclrtStream stream = new_stream();
    aclrtContext other = NULL;
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 107003);
}

RULE(graph, begin_on_a_bound_stream, "observed: build_ri") {
    up();
    aclrtStream stream = flagged(ACL_STREAM_PERSISTENT);
    aclmdlRI model = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclmdlRIBindStream(model, stream, 0));
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 107005);
}

RULE(graph, begin_on_the_default_stream, "observed: capture_begin") {
    up();
    aclrtStream stream = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 207000);
}

RULE(graph, begin_twice, "observed: capture_begin") {
    up();
    aclrtStream stream = begin(RELAXED);
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 107027);
    is_capturing(stream, 1);
    end(stream);
}

RULE(graph, begin_without_a_context, "observed: thread_no_ctx") {
    OK(aclInit(NULL));
    aclmdlRICaptureMode mode = RELAXED;
    EXPECT(aclmdlRICaptureThreadExchangeMode(&mode), 107002);
}

RULE_MOCK(graph, begin_on_a_destroyed_stream, "implementation: handle guard") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtDestroyStream(stream));
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 107017);
}

RULE(graph, begin_checks_in_order, "implementation: aclmdlRICaptureBegin") {
    up();
    aclrtStream scheduled = flagged(ACL_STREAM_CPU_SCHEDULE), stream = begin(RELAXED);
    EXPECT(aclmdlRICaptureBegin(NULL, (aclmdlRICaptureMode)3), 100000);
    EXPECT(aclmdlRICaptureBegin(scheduled, (aclmdlRICaptureMode)3), 107000);
    EXPECT(aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)3), 107000);
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRICaptureBegin(scheduled, RELAXED), 507000);
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 107003);
    OK(aclrtSetCurrentContext(mine));
    end(stream);
}

RULE_ENV(graph, a_begin_without_a_stream_left,
    "header: ACL_ERROR_RT_NO_STREAM_RESOURCE", "MOCK_ACL_STREAMS=2") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclmdlRICaptureBegin(stream, RELAXED), 207008);
    is_capturing(stream, 0); /* all is undone */
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtMemsetAsync(memory, 64, 3, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 3);
}

RULE(graph, many_tasks_make_one_stream, "observed, not recorded: queues in software grow") {
    up();
    uint64_t *memory = (uint64_t *)device(64);
    aclrtStream stream = begin(RELAXED);
    for (int i = 0; i < 5000; i++) OK(aclrtValueWrite(memory, 1, 0, stream));
    uint32_t streams = 0;
    OK(aclmdlRIGetStreams(end(stream), NULL, &streams));
    TRUE(streams == 1);
}

RULE(graph, captures_in_several_contexts, "guide: aclmdlRICaptureBegin") {
    up();
    aclrtContext mine = NULL, other = NULL;
    aclrtStream one = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream two = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    end(two);
    OK(aclrtSetCurrentContext(mine));
    is_capturing(one, 1);
    end(one);
}

RULE(graph, captured_work_does_not_run, "guide: aclmdlRICaptureBegin") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtStream stream = begin(RELAXED);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    aclmdlRI graph = end(stream);
    finish(stream);
    TRUE(byte_at(memory) == 1);
    replay(graph, stream);
    TRUE(byte_at(memory) == 2);
}

RULE(graph, work_before_the_capture_goes_on, "guide: aclmdlRICaptureBegin") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtStream stream = new_stream();
    aclrtEvent done = new_event(ACL_EVENT_SYNC), latch = hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    OK(aclrtRecordEvent(done, stream));
    OK(aclmdlRICaptureBegin(stream, RELAXED));
    EXPECT(aclrtSynchronizeEventWithTimeout(done, 20), 507047); /* the begin did not wait */
    let_go(latch);
    OK(aclrtSynchronizeEvent(done)); /* the record stands before the capture */
    end(stream);
    TRUE(byte_at(memory) == 2);
}

RULE(graph, work_before_the_capture_is_no_part_of_it, "guide: aclmdlRICaptureBegin") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    aclrtStream stream = new_stream();
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    OK(aclmdlRICaptureBegin(stream, RELAXED));
    aclmdlRI graph = end(stream);
    finish(stream);
    fill(memory, 3, 64);
    replay(graph, stream);
    TRUE(byte_at(memory) == 3);
}

RULE(graph, several_captures_at_once, "guide: aclmdlRICaptureBegin") {
    up();
    aclrtStream one = begin(RELAXED), two = begin(RELAXED);
    aclmdlRI first = NULL, second = NULL;
    OK(aclmdlRICaptureGetInfo(one, NULL, &first));
    OK(aclmdlRICaptureGetInfo(two, NULL, &second));
    TRUE(first != second);
    TRUE(end(one) == first);
    is_capturing(two, 1);
    TRUE(end(two) == second);
}

RULE(graph, a_capture_of_many_tasks, "guide: aclmdlRICaptureBegin") {
    up();
    uint64_t *memory = (uint64_t *)device(64);
    aclrtStream stream = begin(RELAXED);
    for (uint64_t i = 1; i <= 5000; i++) OK(aclrtValueWrite(memory, i, 0, stream));
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    TRUE(u64_at(memory) == 5000);
}

RULE(graph, info_without_a_stream, "observed: getinfo") {
    up();
    aclmdlRICaptureStatus status;
    EXPECT(aclmdlRICaptureGetInfo(NULL, &status, NULL), 100000);
}

RULE(graph, info_with_nothing_to_write, "observed: getinfo") {
    up();
    EXPECT(aclmdlRICaptureGetInfo(new_stream(), NULL, NULL), 100000);
}

RULE(graph, info_with_one_output, "observed: getinfo") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI graph = NULL;
    EXPECT(aclmdlRICaptureGetInfo(stream, &status, NULL), 0);
    EXPECT(aclmdlRICaptureGetInfo(stream, NULL, &graph), 0);
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE && graph != NULL);
    TRUE(end(stream) == graph);
}

RULE(graph, info_of_an_idle_stream, "observed: getinfo") {
    up();
    is_capturing(new_stream(), 0);
}

RULE(graph, info_of_a_stream_of_the_capture, "observed: capture_end") {
    up();
    aclrtStream origin = begin(RELAXED), side = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    is_capturing(side, 0);
    OK(aclrtStreamWaitEvent(side, event));
    is_capturing(side, 1);
    aclmdlRI one = NULL, two = NULL;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &one));
    OK(aclmdlRICaptureGetInfo(side, NULL, &two));
    TRUE(one == two);
    aclmdlRI graph = NULL;
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 107025);
    is_capturing(origin, 0);
    is_capturing(side, 0);
}

RULE(graph, info_of_the_default_stream, "guide: aclmdlRICaptureGetInfo") {
    up();
    aclrtStream other = begin(RELAXED), stream = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    is_capturing(stream, 0);
    end(other);
}

RULE(graph, the_live_model_can_be_named, "guide: aclmdlRISetName") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclmdlRI graph = NULL;
    char name[16] = "";
    OK(aclmdlRICaptureGetInfo(stream, NULL, &graph));
    EXPECT(aclmdlRISetName(graph, "decode"), 0);
    end(stream);
    EXPECT(aclmdlRIGetName(graph, sizeof name, name), 0);
    TRUE(strcmp(name, "decode") == 0);
}

RULE(graph, the_live_model_cannot_run, "observed: getinfo") {
    up();
    aclrtStream stream = begin(RELAXED), other = new_stream();
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureGetInfo(stream, NULL, &graph));
    EXPECT(aclmdlRIExecuteAsync(graph, other), 107026);
    EXPECT(aclmdlRIDestroy(graph), 107026);
    TRUE(end(stream) == graph);
}

RULE(graph, the_live_model_is_the_one_that_the_end_gives, "guide: aclmdlRICaptureGetInfo") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclmdlRI graph = NULL;
    uint32_t id = 0, again = 1;
    OK(aclmdlRICaptureGetInfo(stream, NULL, &graph));
    EXPECT(aclmdlRIGetId(graph, &id), 0);
    TRUE(end(stream) == graph);
    EXPECT(aclmdlRIGetId(graph, &again), 0);
    TRUE(id == again);
}
