/* Part of racl (mock-acl). Streams: creation, flags, priorities, the default stream, what is left of them. */
#include "conform.h"

static uint32_t flags_of(aclrtStream stream) {
    uint32_t flags = 0xFFFF;
    OK(aclrtStreamGetFlags(stream, &flags));
    return flags;
}

static uint32_t priority_of(aclrtStream stream) {
    uint32_t priority = 99;
    OK(aclrtStreamGetPriority(stream, &priority));
    return priority;
}

static aclrtStream with(uint32_t priority, uint32_t flag) {
    aclrtStream stream = NULL;
    OK(aclrtCreateStreamWithConfig(&stream, priority, flag));
    return stream;
}

RULE(stream, a_place_for_the_stream_is_needed, "observed: stream_basic") {
    up();
    EXPECT(aclrtCreateStream(NULL), 100000);
    EXPECT_TEXT("EH0008");
}

RULE(stream, a_place_for_the_configured_stream_is_needed, "implementation: aclrtCreateStreamWithConfig") {
    up();
    EXPECT(aclrtCreateStreamWithConfig(NULL, 0, 0), 100000);
}

RULE(stream, without_a_device_there_is_no_stream, "observed: thread_no_ctx") {
    aclrtStream stream = NULL;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateStream(&stream), 107002);
}

RULE(stream, a_plain_stream_has_the_highest_priority_and_no_flags, "implementation: aclrtCreateStream") {
    up();
    aclrtStream stream = new_stream();
    TRUE(priority_of(stream) == 0);
    TRUE(flags_of(stream) == 0);
}

RULE(stream, priorities_go_from_7_to_0, "observed: stream_basic") {
    up();
    int32_t least = -1, greatest = -1;
    OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    TRUE(least == 7 && greatest == 0);
}

RULE(stream, either_end_of_the_priorities_may_be_left_out, "implementation: aclrtDeviceGetStreamPriorityRange") {
    up();
    int32_t least = -1, greatest = -1;
    OK(aclrtDeviceGetStreamPriorityRange(&least, NULL));
    OK(aclrtDeviceGetStreamPriorityRange(NULL, &greatest));
    TRUE(least == 7 && greatest == 0);
}

RULE(stream, every_priority_is_kept, "guide: aclrtCreateStreamWithConfig") {
    up();
    for (uint32_t p = 0; p <= 7; p++) TRUE(priority_of(with(p, 0)) == p);
}

RULE(stream, a_priority_above_7_is_cut_to_7, "implementation: aclrtCreateStreamWithConfig") {
    up();
    TRUE(priority_of(with(8, 0)) == 7);
    TRUE(priority_of(with(0xFFFFFFFFu, 0)) == 7);
}

RULE(stream, fast_launch_and_fast_sync_are_kept, "guide: aclrtCreateStreamWithConfig") {
    up();
    TRUE(flags_of(with(0, ACL_STREAM_FAST_LAUNCH)) == ACL_STREAM_FAST_LAUNCH);
    TRUE(flags_of(with(0, ACL_STREAM_FAST_SYNC)) == ACL_STREAM_FAST_SYNC);
    TRUE(flags_of(with(0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC)) == 3);
}

RULE(stream, a_persistent_stream_says_so, "guide: aclrtCreateStreamWithConfig") {
    up();
    TRUE(flags_of(with(0, ACL_STREAM_PERSISTENT)) == ACL_STREAM_PERSISTENT);
}

RULE(stream, scheduling_and_device_only_flags_are_kept, "header: ACL_STREAM_CPU_SCHEDULE") {
    up();
    TRUE(flags_of(with(0, ACL_STREAM_CPU_SCHEDULE)) == ACL_STREAM_CPU_SCHEDULE);
    TRUE(flags_of(with(0, ACL_STREAM_DEVICE_USE_ONLY)) == ACL_STREAM_DEVICE_USE_ONLY);
}

RULE(stream, unknown_flags_are_ignored, "implementation: aclrtCreateStreamWithConfig") {
    up();
    TRUE(flags_of(with(0, 0x100 | ACL_STREAM_FAST_SYNC)) == ACL_STREAM_FAST_SYNC);
}

RULE(stream, a_fast_stream_works_like_any_other, "guide: aclrtCreateStreamWithConfig") {
    up();
    aclrtStream stream = with(3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC);
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtMemsetAsync(memory, 64, 5, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 5);
}

RULE(stream, each_getter_needs_a_place, "implementation: ACL layer") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclrtStreamGetFlags(stream, NULL), 100000);
    EXPECT(aclrtStreamGetPriority(stream, NULL), 100000);
    EXPECT(aclrtStreamGetId(stream, NULL), 100000);
}

RULE(stream, ids_differ, "guide: aclrtStreamGetId") {
    up();
    int32_t a = -1, b = -1, base = -1;
    OK(aclrtStreamGetId(new_stream(), &a));
    OK(aclrtStreamGetId(new_stream(), &b));
    OK(aclrtStreamGetId(NULL, &base));
    TRUE(a != b && a != base && b != base);
}

RULE(stream, a_configuration_carries_flags_and_priority, "header: aclrtStreamConfigAttr") {
    up();
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    NEED(config != NULL);
    size_t flag = ACL_STREAM_FAST_SYNC;
    uint32_t priority = 5;
    aclrtStream stream = NULL;
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &flag, sizeof flag));
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority));
    OK(aclrtCreateStreamV2(&stream, config));
    TRUE(flags_of(stream) == ACL_STREAM_FAST_SYNC);
    TRUE(priority_of(stream) == 5);
    OK(aclrtDestroyStreamConfigHandle(config));
}

RULE(stream, a_configuration_and_its_values_are_needed, "implementation: ACL layer") {
    up();
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    aclrtStream stream = NULL;
    uint32_t priority = 1;
    EXPECT(aclrtCreateStreamV2(&stream, NULL), 100000);
    EXPECT(aclrtCreateStreamV2(NULL, config), 100000);
    EXPECT(aclrtSetStreamConfigOpt(NULL, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority), 100000);
    EXPECT(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, NULL, sizeof priority), 100000);
    EXPECT(aclrtDestroyStreamConfigHandle(NULL), 100000);
    OK(aclrtDestroyStreamConfigHandle(config));
}

RULE_MOCK(stream, a_configured_value_has_its_size, "own choice") {
    up();
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    uint32_t priority = 1;
    EXPECT(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, 2), 100000);
    EXPECT(aclrtSetStreamConfigOpt(config, (aclrtStreamConfigAttr)9, &priority, sizeof priority), 100000);
    OK(aclrtDestroyStreamConfigHandle(config));
}

RULE(stream, a_stream_and_a_captured_graph_take_one_of_those_left, "guide: aclrtGetStreamAvailableNum") {
    up();
    uint32_t before = 0, after = 0, graph_takes = 0;
    OK(aclrtGetStreamAvailableNum(&before));
    aclrtStream stream = new_stream();
    OK(aclrtGetStreamAvailableNum(&after));
    TRUE(after + 1 == before);
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtGetStreamAvailableNum(&graph_takes));
    TRUE(graph_takes < after);
    OK(aclmdlRIDestroy(end(stream)));
    OK(aclrtDestroyStream(stream));
    OK(aclrtGetStreamAvailableNum(&after));
    TRUE(after == before);
}

RULE(stream, the_number_left_needs_a_place, "implementation: ACL layer") {
    up();
    EXPECT(aclrtGetStreamAvailableNum(NULL), 100000);
}

RULE_ENV(stream, without_a_stream_left_creating_one_fails, "header: ACL_ERROR_RT_NO_STREAM_RESOURCE",
    "MOCK_ACL_STREAMS=3") {
    up();
    aclrtStream stream = NULL;
    new_stream();
    new_stream();
    EITHER(aclrtCreateStream(&stream), 207005, 207008);
}

RULE_MOCK(stream, a_process_has_2047_streams, "observed: host_notify") {
    up();
    uint32_t left = 0;
    new_stream();
    OK(aclrtGetStreamAvailableNum(&left));
    TRUE(left == 2045);
}

RULE_ENV(stream, by_the_documents_a_device_has_1984_streams, "guide: stream management", "MOCK_ACL_STRICT=doc") {
    up();
    uint32_t left = 0;
    OK(aclrtGetStreamAvailableNum(&left));
    TRUE(left == 1983);
}

/* ---- the default stream ---- */

RULE(stream, null_is_the_default_stream_of_the_context, "observed: stream_basic") {
    up();
    aclrtStream real = NULL;
    int32_t a = -1, b = -2;
    OK(aclrtCtxGetCurrentDefaultStream(&real));
    NEED(real != NULL);
    OK(aclrtStreamGetId(real, &a));
    OK(aclrtStreamGetId(NULL, &b));
    TRUE(a == b);
}

RULE(stream, each_context_has_a_default_stream, "guide: aclrtCreateContext") {
    up();
    aclrtStream first = NULL, second = NULL;
    aclrtContext context = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&first));
    OK(aclrtCreateContext(&context, 0));
    OK(aclrtCtxGetCurrentDefaultStream(&second));
    TRUE(first != second);
}

RULE(stream, the_default_stream_takes_work, "guide: stream management") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtMemsetAsync(memory, 64, 9, 64, NULL));
    finish(NULL);
    TRUE(byte_at(memory) == 9);
}

RULE(stream, the_default_stream_does_not_wait_for_others, "implementation: no barrier between streams") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, NULL));
    finish(NULL);
    TRUE(byte_at(memory) == 2);
    let_go(latch);
    finish(stream);
}

RULE(stream, no_stream_waits_for_the_default_one, "implementation: no barrier between streams") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    aclrtEvent latch = hold(NULL);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 2);
    let_go(latch);
    finish(NULL);
}

RULE(stream, the_default_stream_keeps_the_order, "guide: stream management") {
    up();
    uint64_t *memory = (uint64_t *)device(64);
    for (uint64_t i = 1; i <= 100; i++) OK(aclrtValueWrite(memory, i, 0, NULL));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL));
    OK(aclrtValueWrite(memory, 7, 0, NULL));
    finish(NULL);
    TRUE(u64_at(memory) == 7 && u64_at(memory + 1) == 100);
}

RULE(stream, null_is_no_stream_to_destroy, "observed: stream_basic") {
    up();
    EXPECT(aclrtDestroyStream(NULL), 100000);
    EXPECT(aclrtDestroyStreamForce(NULL), 100000);
}

RULE_MOCK(stream, the_default_stream_is_not_destroyed, "own choice: the real runtime crashes later") {
    up();
    aclrtStream real = NULL;
    OK(aclrtCtxGetCurrentDefaultStream(&real));
    EXPECT(aclrtDestroyStream(real), 107000);
    finish(NULL);
}

RULE(stream, null_is_no_stream_to_capture_or_switch, "observed: capture_begin, label") {
    up();
    EXPECT(aclmdlRICaptureBegin(NULL, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 100000);
    EXPECT(aclrtActiveStream(NULL, new_stream()), 100000);
    EXPECT(aclrtStreamStop(NULL), 107000);
}

RULE(stream, an_event_or_a_model_is_no_stream, "observed: stream_basic2") {
    up();
    EXPECT(aclrtSynchronizeStream(new_event(ACL_EVENT_SYNC)), 107017);
    EXPECT(aclrtRecordEvent(new_stream(), NULL), 107017);
}
