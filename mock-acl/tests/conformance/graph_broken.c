/* Part of racl (mock-acl). Captures that are lost: what they still take, the order of the checks at their end,
 * what is left of them; streams and notifies that run out. */
#include "conform.h"

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static uint64_t *memory;
static aclrtStream origin, side;

static aclmdlRICaptureStatus status_of(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    return status;
}

static void prepare(aclmdlRICaptureMode mode) {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
    side = new_stream();
    origin = begin(mode);
}

static void fork_off(void) {
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    OK(aclrtStreamWaitEvent(side, event));
}

/* By the event of another capture, whose stream is `side` then. */
static void broken(aclmdlRICaptureMode mode) {
    prepare(mode);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclmdlRICaptureBegin(side, RELAXED));
    OK(aclrtRecordEvent(event, side));
    EXPECT(aclrtStreamWaitEvent(origin, event), 107032);
}

static void ends_with(int code) {
    aclmdlRI graph = (aclmdlRI)memory;
    EXPECT(aclmdlRICaptureEnd(origin, &graph), code);
    TRUE(graph == NULL);
    TRUE(status_of(origin) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

/* ---- more work ---- */

RULE(graph, a_broken_capture_takes_more_work, "observed: cross_graph; more of it observed, not recorded") {
    broken(RELAXED);
    EXPECT(aclrtMemsetAsync(memory, 8, 1, 8, origin), 0);
    EXPECT(aclrtMemcpyAsync(memory, 8, memory + 1, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin), 0);
    EXPECT(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, origin), 0);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), origin), 0);
    EXPECT(aclmdlRICaptureTaskGrpBegin(origin), 0);
    TRUE(status_of(origin) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    ends_with(507903);
}

RULE(graph, the_other_capture_is_broken_as_well, "observed: cross_graph") {
    broken(RELAXED);
    aclmdlRI graph = NULL;
    ends_with(507903);
    TRUE(status_of(side) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    EXPECT(aclmdlRICaptureEnd(side, &graph), 507903);
    TRUE(graph == NULL);
}

RULE(graph, the_error_of_a_group_repeats, "observed: invalid_107034_status") {
    prepare(RELAXED);
    aclrtTaskGrp group = (aclrtTaskGrp)memory;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclrtMemsetAsync(memory, 8, 1, 8, origin), 507009);
    EXPECT(aclrtMemsetAsync(memory, 8, 1, 8, origin), 507009);
    TRUE(status_of(origin) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 507009);
    TRUE(group == (aclrtTaskGrp)memory); /* untouched (observed: group_calls) */
    EXPECT(aclrtMemsetAsync(memory, 8, 1, 8, origin), 0);
    TRUE(status_of(origin) == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    ends_with(507903);
}

RULE(graph, more_tasks_that_no_group_takes, "guide: aclmdlRICaptureTaskGrpBegin (kernels only)") {
    static void (*const nothing)(void *) = free;
    for (int which = 0; which < 4; which++) {
        if (which == 0) prepare(RELAXED);
        else OK(aclmdlRICaptureBegin(origin, RELAXED));
        aclrtTaskGrp group = NULL;
        aclrtEvent event = new_event(ACL_EVENT_SYNC);
        OK(aclrtRecordEvent(event, origin));
        OK(aclmdlRICaptureTaskGrpBegin(origin));
        if (which == 0) EXPECT(aclrtLaunchHostFunc(origin, nothing, NULL), 507009);
        else if (which == 1) EXPECT(aclrtValueWrite(memory, 1, 0, origin), 507009);
        else if (which == 2) EXPECT(aclrtValueWait(memory, 1, 0, origin), 507009);
        else EXPECT(aclrtStreamWaitEvent(origin, event), 507009);
        EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 507009);
        ends_with(507903);
    }
}

/* ---- the end ---- */

typedef struct ending {
    aclrtStream stream;
    int code;
} ending;

static void ends_elsewhere(void *argument) {
    ending *e = (ending *)argument;
    aclmdlRI graph = NULL;
    OK(aclrtSetDevice(0));
    e->code = aclmdlRICaptureEnd(e->stream, &graph);
}

RULE(graph, end_checks_the_thread_first, "implementation: aclmdlRICaptureEnd") {
    broken(GLOBAL);
    ending e = {origin, 0};
    join_thread(start_thread(ends_elsewhere, &e));
    TRUE(e.code == 107038);
}

RULE(graph, end_checks_what_is_broken_before_what_is_open, "implementation: aclmdlRICaptureEnd") {
    broken(RELAXED);
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    ends_with(507903);
}

RULE(graph, end_checks_sub_graphs_before_groups, "implementation: aclmdlRICaptureEnd") {
    prepare(RELAXED);
    aclmdlRI root = NULL, sub = NULL;
    aclmdlRICondHandle handle = NULL;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &root));
    OK(aclmdlRICondHandleCreate(root, 0, (aclmdlRICondHandleFlag)0, &handle));
    const aclmdlRICondTaskParams task = {handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub};
    OK(aclmdlRIAddCondTask(task, origin, 0));
    OK(aclmdlRICaptureToModelRIBegin(side, sub, RELAXED));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    ends_with(107045);
}

RULE(graph, end_checks_groups_before_joins, "implementation: aclmdlRICaptureEnd") {
    prepare(RELAXED);
    fork_off();
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    ends_with(107033);
    TRUE(status_of(side) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

RULE(graph, streams_work_again_after_a_failed_end, "observed: capture_end, capture_end_thread") {
    prepare(RELAXED);
    fork_off();
    OK(aclrtValueWrite(memory, 9, 0, origin));
    ends_with(107025);
    OK(aclrtValueWrite(memory + 1, 1, 0, origin));
    OK(aclrtValueWrite(memory + 2, 2, 0, side));
    finish(origin);
    finish(side);
    TRUE(u64_at(memory) == 0 && u64_at(memory + 1) == 1 && u64_at(memory + 2) == 2);
    OK(aclmdlRICaptureBegin(origin, RELAXED));
    end(origin);
}

RULE_MOCK(graph, a_failed_end_destroys_the_model, "guide: aclmdlRICaptureEnd; implementation: handle guard") {
    prepare(RELAXED);
    aclmdlRI graph = NULL;
    uint32_t id = 0;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &graph));
    fork_off();
    ends_with(107025);
    EXPECT(aclmdlRIGetId(graph, &id), 107017);
    EXPECT(aclmdlRIDestroy(graph), 107017);
}

/* ---- without a context, and under another one ---- */

typedef struct things {
    aclrtStream stream;
    aclmdlRI ready, live;
} things;

static void nothing_is_current(void *argument) {
    const things *t = (const things *)argument;
    aclmdlRI graph = NULL;
    aclmdlRICondHandle handle = NULL;
    EXPECT(aclmdlRICaptureBegin(t->stream, RELAXED), 107002);
    EXPECT(aclmdlRICaptureEnd(t->stream, &graph), 107002);
    EXPECT(aclmdlRIExecuteAsync(t->ready, t->stream), 107027); /* the stream captures, which is said first */
    EXPECT(aclmdlRIDestroy(t->ready), 107002);
    EXPECT(aclmdlRICondHandleCreate(t->live, 0, (aclmdlRICondHandleFlag)0, &handle), 107002);
    EXPECT(aclmdlRICaptureTaskGrpBegin(t->stream), 107002);
    EXPECT(aclmdlRIBuildBegin(&graph, 0), 107002);
}

RULE(graph, captures_need_a_context,
    "implementation: context checks; observed, not recorded: random sequences") {
    prepare(RELAXED);
    things t = {origin, end(begin(RELAXED)), NULL};
    OK(aclmdlRICaptureGetInfo(origin, NULL, &t.live));
    join_thread(start_thread(nothing_is_current, &t));
    end(origin);
}

RULE(graph, a_condition_under_another_context, "implementation: aclmdlRICondHandleCreate") {
    prepare(RELAXED);
    aclmdlRI live = NULL;
    aclmdlRICondHandle handle = NULL;
    aclrtContext mine = NULL, other = NULL;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &live));
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRICondHandleCreate(live, 0, (aclmdlRICondHandleFlag)0, &handle), 107004);
    OK(aclrtSetCurrentContext(mine));
    end(origin);
}

RULE_MOCK(graph, a_sub_capture_under_another_context, "own choice: as for other uses of a model") {
    prepare(RELAXED);
    aclmdlRI root = NULL, sub = NULL;
    aclmdlRICondHandle handle = NULL;
    aclrtContext other = NULL;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &root));
    OK(aclmdlRICondHandleCreate(root, 0, (aclmdlRICondHandleFlag)0, &handle));
    const aclmdlRICondTaskParams task = {handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub};
    OK(aclmdlRIAddCondTask(task, origin, 0));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclmdlRICaptureToModelRIBegin(new_stream(), sub, RELAXED), 107004);
}

RULE(graph, begin_on_a_stream_that_updates, "observed: group_after_update") {
    prepare(RELAXED);
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    end(origin);
    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    EXPECT(aclmdlRICaptureBegin(side, RELAXED), 0);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(side), 107027);
    end(side);
    EXPECT(aclmdlRICaptureTaskUpdateEnd(side), 0);
    EXPECT(aclmdlRICaptureBegin(side, RELAXED), 0);
}

/* ---- what runs out ---- */

/* The default stream, two of the program, one inside the graph. */
RULE_ENV(graph, a_fork_without_a_stream_left,
    "header: ACL_ERROR_RT_NO_STREAM_RESOURCE", "MOCK_ACL_STREAMS=4") {
    prepare(RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    EXPECT(aclrtStreamWaitEvent(side, event), 207008);
    TRUE(status_of(origin) == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    TRUE(status_of(side) == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    ends_with(507903);
}

RULE_ENV(graph, an_invalidated_capture_takes_no_work,
    "implementation: submission to a capture", "MOCK_ACL_STREAMS=4") {
    prepare(RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    OK(aclrtRecordEvent(event, origin));
    EXPECT(aclrtStreamWaitEvent(side, event), 207008);
    EXPECT(aclrtMemsetAsync(memory, 8, 1, 8, origin), 507903);
    EXPECT(aclrtRecordEvent(event, origin), 507903);
    EXPECT(aclrtStreamWaitEvent(origin, event), 507903);
    EXPECT(aclrtLaunchHostFunc(origin, free, NULL), 507903);
    ends_with(507903);
}

RULE_ENV(graph, a_group_of_an_invalidated_capture,
    "implementation: aclmdlRICaptureTaskGrpEnd", "MOCK_ACL_STREAMS=4") {
    prepare(RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtTaskGrp group = (aclrtTaskGrp)memory;
    OK(aclrtRecordEvent(event, origin));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    EXPECT(aclrtStreamWaitEvent(side, event), 207008);
    EXPECT(aclmdlRICaptureTaskGrpEnd(origin, &group), 507903);
    TRUE(group == (aclrtTaskGrp)memory);
    ends_with(507903);
}

RULE(graph, joins_without_a_notify_left,
    "header: ACL_ERROR_RT_NO_NOTIFY_RESOURCE; implementation: capture end") {
    prepare(RELAXED);
    aclrtNotify notify = NULL, last = NULL;
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    int code = 0;
    for (int i = 0; code == 0 && i < 100000; i++) {
        code = aclrtCreateNotify(&notify, 0);
        if (code == 0) last = notify;
    }
    NEED(code == 207009 && last != NULL);
    fork_off();
    OK(aclrtRecordEvent(event, side));
    OK(aclrtStreamWaitEvent(origin, event));
    ends_with(207009);
    OK(aclrtDestroyNotify(last));
    OK(aclmdlRICaptureBegin(origin, RELAXED));
    end(origin); /* nothing to join */
}

RULE_MOCK(graph, a_join_takes_a_notify, "own choice: one for each stream that joins, while the model lives") {
    prepare(RELAXED);
    aclrtNotify notify = NULL;
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    int before = 0, after = 0;
    fork_off();
    OK(aclrtRecordEvent(event, side));
    OK(aclrtStreamWaitEvent(origin, event));
    aclmdlRI graph = end(origin);
    while (aclrtCreateNotify(&notify, 0) == 0) before++;
    OK(aclmdlRIDestroy(graph));
    while (aclrtCreateNotify(&notify, 0) == 0) after++;
    TRUE(before > 0 && after == 1);
}
