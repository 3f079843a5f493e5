/* Part of racl (mock-acl). Captures that are lost before their end, and what still says that they go on; how
 * long a captured stream may grow; forks into another context. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static aclrtStream origin, other;
static aclrtEvent event;
static uint64_t *memory;

static void prepare(void) {
    up();
    memory = (uint64_t *)device(128);
    fill(memory, 0, 128);
    event = new_event(ACL_EVENT_SYNC);
    other = new_stream();
    origin = begin(RELAXED);
}

static aclmdlRICaptureStatus status_of(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    return status;
}

static int active(aclrtStream stream) { return status_of(stream) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE; }

static void is_lost(aclrtStream stream) {
    aclmdlRI graph = (aclmdlRI)memory;
    TRUE(active(stream));
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
    TRUE(graph == NULL);
    TRUE(status_of(stream) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

/* An event of the capture of `origin`, waited for in that of `other`: both are lost. */
static void mixed(void) {
    prepare();
    OK(aclmdlRICaptureBegin(other, RELAXED));
    OK(aclrtRecordEvent(event, origin));
    EXPECT(aclrtStreamWaitEvent(other, event), 107032);
}

RULE(graph, two_mixed_captures_look_active_until_their_end, "observed: cross_graph") {
    mixed();
    TRUE(active(origin) && active(other));
    is_lost(origin);
    is_lost(other);
}

RULE(graph, a_capture_with_work_beside_its_group_looks_active, "observed: taskgrp_other_begin") {
    prepare();
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, other), 107034);
    TRUE(active(other));
    is_lost(origin);
}

RULE(graph, a_capture_with_a_bad_group_looks_active, "observed: invalid_107034_status") {
    prepare();
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, origin), 507009);
    TRUE(active(origin));
    EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, origin), 507009); /* while the group is open the error repeats */
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 507009);
    EXPECT(aclrtMemsetAsync(memory, 8, 0, 8, origin), 0);
    is_lost(origin);
}

RULE(graph, more_work_on_a_lost_capture_is_accepted, "observed: cross_graph; observed, not recorded") {
    mixed();
    EXPECT(aclrtMemsetAsync(memory, 8, 1, 8, other), 0);
    EXPECT(aclrtMemcpyAsync(memory, 8, memory + 1, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other), 0);
    EXPECT(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, other), 0);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), other), 0);
    EXPECT(aclmdlRICaptureTaskGrpBegin(other), 0);
    is_lost(other);
}

RULE_ENV(graph, a_capture_without_a_stream_for_a_fork_is_invalid, "observed, not recorded",
    "MOCK_ACL_STREAMS=4") {
    prepare();
    aclmdlRI graph = NULL;
    OK(aclrtRecordEvent(event, origin));
    EITHER(aclrtStreamWaitEvent(other, event), 207005, 207008);
    TRUE(status_of(origin) == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    EXPECT(aclrtSynchronizeStream(origin), 107027);
    EXPECT(aclmdlRICaptureEnd(origin, &graph), 507903);
}

/* ---- long captures ---- */

RULE(graph, a_long_capture_takes_one_stream, "observed, not recorded: queues in software grow to 32768") {
    prepare();
    uint32_t before = 0, after = 0;
    OK(aclrtValueWrite(memory, 1, 0, origin));
    OK(aclrtGetStreamAvailableNum(&before));
    for (uint64_t i = 1; i <= 32000; i++) OK(aclrtValueWrite(memory, i, 0, origin));
    OK(aclrtGetStreamAvailableNum(&after));
    TRUE(after == before);
    replay(end(origin), origin);
    TRUE(u64_at(memory) == 32000);
}

/* ---- another context ---- */

RULE(graph, a_fork_follows_the_current_context, "observed: fork_foreign_ctx") {
    prepare();
    aclrtContext mine = NULL, second = NULL;
    aclrtEvent back = new_event(ACL_EVENT_SYNC);
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtCreateContext(&second, 0));
    aclrtStream side = new_stream();
    EXPECT(aclrtStreamWaitEvent(other, event), 107003); /* a stream of the first context */
    EXPECT(aclrtStreamWaitEvent(side, event), 0);
    TRUE(active(side));
    OK(aclrtValueWrite(memory, 5, 0, side));
    EXPECT(aclrtRecordEvent(back, side), 0);
    EXPECT(aclrtSynchronizeDevice(), 107027);
    OK(aclrtSetCurrentContext(mine));
    EXPECT(aclrtStreamWaitEvent(origin, back), 0);
    aclmdlRI graph = end(origin);
    replay(graph, origin);
    TRUE(u64_at(memory) == 5);
}

/* ---- an update before the graph is complete ---- */

RULE(graph, an_update_begins_amid_the_capture, "observed, not recorded") {
    prepare();
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    EXPECT(aclmdlRICaptureTaskUpdateBegin(other, group), 0);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(other), 0);
    end(origin);
}
