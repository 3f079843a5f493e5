/* Part of racl (mock-acl). Models: their streams and tasks, one by one, and changing them. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static uint64_t *memory;
static aclrtStream origin;
static aclmdlRI graph;
static aclmdlRITask tasks[16];
static uint32_t count;

static void prepare(void) {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
    origin = begin(RELAXED);
}

static void list_tasks(void) {
    aclrtStream inner = NULL;
    uint32_t n = 1;
    OK(aclmdlRIGetStreams(graph, &inner, &n));
    count = 16;
    OK(aclmdlRIGetTasksByStream(inner, tasks, &count));
}

/* memory[0] = 1, then the tasks are listed. */
static void one_write(void) {
    prepare();
    OK(aclrtValueWrite(memory, 1, 0, origin));
    graph = end(origin);
    list_tasks();
    NEED(count >= 1);
}

/* The position of the first task of a type, or -1. */
static int first_of(aclmdlRITaskType wanted) {
    for (uint32_t i = 0; i < count; i++) {
        aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
        OK(aclmdlRITaskGetType(tasks[i], &type));
        if (type == wanted) return (int)i;
    }
    return -1;
}

static aclmdlRITask the_write(void) {
    const int i = first_of(ACL_MODEL_RI_TASK_VALUE_WRITE);
    NEED(i >= 0);
    return tasks[i];
}

RULE(graph, streams_are_counted, "observed: tasks") {
    prepare();
    graph = end(origin);
    uint32_t n = 0;
    EXPECT(aclmdlRIGetStreams(graph, NULL, &n), 0);
    TRUE(n == 1);
}

RULE(graph, streams_of_a_fork_are_counted, "guide: aclmdlRIGetStreams") {
    prepare();
    aclrtStream side = new_stream();
    aclrtEvent one = new_event(ACL_EVENT_SYNC), two = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(one, origin));
    OK(aclrtStreamWaitEvent(side, one));
    OK(aclrtRecordEvent(two, side));
    OK(aclrtStreamWaitEvent(origin, two));
    graph = end(origin);
    uint32_t n = 0;
    OK(aclmdlRIGetStreams(graph, NULL, &n));
    TRUE(n == 2);
    aclrtStream few[1] = {NULL}, many[4] = {NULL, NULL, NULL, NULL};
    n = 1;
    EXPECT(aclmdlRIGetStreams(graph, few, &n), 107039);
    TRUE(few[0] != NULL);
    n = 4;
    many[2] = many[3] = origin;
    EXPECT(aclmdlRIGetStreams(graph, many, &n), 0);
    TRUE(n == 2 && many[0] != NULL && many[1] != NULL && many[2] == NULL && many[3] == NULL);
}

RULE(graph, streams_need_a_place, "observed: live_graph") {
    prepare();
    graph = end(origin);
    EXPECT(aclmdlRIGetStreams(graph, NULL, NULL), 107000);
}

RULE(graph, tasks_of_a_stream_of_the_program, "observed: tasks") {
    prepare();
    graph = end(origin);
    uint32_t n = 0;
    EXPECT(aclmdlRIGetTasksByStream(origin, NULL, &n), 107000);
}

RULE(graph, tasks_into_arrays_of_other_sizes, "guide: aclmdlRIGetTasksByStream") {
    prepare();
    for (int i = 0; i < 3; i++) OK(aclrtValueWrite(memory, 1, 0, origin));
    graph = end(origin);
    aclrtStream inner = NULL;
    uint32_t n = 1, all = 0;
    OK(aclmdlRIGetStreams(graph, &inner, &n));
    OK(aclmdlRIGetTasksByStream(inner, NULL, &all));
    TRUE(all >= 3);
    n = 1;
    EXPECT(aclmdlRIGetTasksByStream(inner, tasks, &n), 107039);
    n = 16;
    tasks[15] = (aclmdlRITask)memory;
    EXPECT(aclmdlRIGetTasksByStream(inner, tasks, &n), 0);
    TRUE(n == all && tasks[0] != NULL && tasks[15] == NULL);
}

RULE(graph, types_of_tasks, "guide: aclmdlRITaskGetType") {
    prepare();
    OK(aclrtValueWrite(memory, 1, 0, origin));
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, origin));
    graph = end(origin);
    list_tasks();
    TRUE(first_of(ACL_MODEL_RI_TASK_VALUE_WRITE) >= 0);
    TRUE(first_of(ACL_MODEL_RI_TASK_VALUE_WAIT) > first_of(ACL_MODEL_RI_TASK_VALUE_WRITE));
    EXPECT(aclmdlRITaskGetType(tasks[0], NULL), 100000);
    EXPECT(aclmdlRITaskGetType(NULL, NULL), 100000);
}

RULE(graph, sequence_numbers_of_tasks, "guide: aclmdlRITaskGetSeqId") {
    one_write();
    uint32_t id = 0;
    EXPECT(aclmdlRITaskGetSeqId(tasks[0], &id), 0);
    EXPECT(aclmdlRITaskGetSeqId(tasks[0], NULL), 100000);
}

RULE(graph, parameters_of_a_value_write, "guide: aclmdlRITaskGetParams") {
    one_write();
    aclmdlRITaskParams p;
    EXPECT(aclmdlRITaskGetParams(the_write(), &p), 0);
    TRUE(p.type == ACL_MODEL_RI_TASK_VALUE_WRITE);
    TRUE(p.valueWriteTaskParams.devAddr == memory && p.valueWriteTaskParams.value == 1);
    EXPECT(aclmdlRITaskGetParams(the_write(), NULL), 100000);
}

RULE(graph, parameters_of_a_value_wait, "guide: aclmdlRITaskGetParams") {
    prepare();
    OK(aclrtValueWait(memory, 6, ACL_STREAM_WAIT_VALUE_AND, origin));
    graph = end(origin);
    list_tasks();
    const int i = first_of(ACL_MODEL_RI_TASK_VALUE_WAIT);
    NEED(i >= 0);
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(tasks[i], &p));
    TRUE(p.valueWaitTaskParams.devAddr == memory && p.valueWaitTaskParams.value == 6);
    TRUE(p.valueWaitTaskParams.flag == ACL_STREAM_WAIT_VALUE_AND);
}

RULE(graph, parameters_of_an_event_record, "guide: aclmdlRITaskGetParams") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    graph = end(origin);
    list_tasks();
    const int i = first_of(ACL_MODEL_RI_TASK_EVENT_RECORD);
    NEED(i >= 0);
    aclmdlRITaskParams p;
    EXPECT(aclmdlRITaskGetParams(tasks[i], &p), 0);
    TRUE(p.type == ACL_MODEL_RI_TASK_EVENT_RECORD && p.eventRecordTaskParams.event == event);
}

RULE(graph, parameters_of_an_internal_task, "implementation: aclmdlRITaskGetParams") {
    prepare();
    OK(aclrtMemsetAsync(memory, 8, 0, 8, origin));
    graph = end(origin);
    list_tasks();
    const int i = first_of(ACL_MODEL_RI_TASK_DEFAULT);
    NEED(i >= 0);
    aclmdlRITaskParams p;
    EXPECT(aclmdlRITaskGetParams(tasks[i], &p), 107000);
}

RULE(graph, a_value_is_changed, "guide: aclmdlRITaskSetParams, aclmdlRIUpdate") {
    one_write();
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(the_write(), &p));
    p.valueWriteTaskParams.value = 9;
    EXPECT(aclmdlRITaskSetParams(the_write(), &p), 0);
    EXPECT(aclmdlRIUpdate(graph), 0);
    replay(graph, origin);
    TRUE(u64_at(memory) == 9);
}

RULE(graph, a_changed_model_waits_for_its_update, "guide: aclmdlRIUpdate") {
    one_write();
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(the_write(), &p));
    OK(aclmdlRITaskSetParams(the_write(), &p));
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 507011);
    OK(aclmdlRIUpdate(graph));
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 0);
    finish(origin);
}

RULE(graph, a_task_is_disabled, "guide: aclmdlRITaskDisable") {
    one_write();
    EXPECT(aclmdlRITaskDisable(the_write()), 0);
    OK(aclmdlRIUpdate(graph));
    replay(graph, origin);
    TRUE(u64_at(memory) == 0);
}

RULE(graph, an_update_of_nothing, "observed: tasks") {
    one_write();
    EXPECT(aclmdlRIUpdate(graph), 0);
    replay(graph, origin);
    TRUE(u64_at(memory) == 1);
}

/* A change that fails makes the model useless for good. */
static void is_spoilt(void) {
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 507011);
    EXPECT(aclmdlRIUpdate(graph), 107040);
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 507011);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

RULE(graph, disabling_an_internal_task_spoils_the_model, "observed: tasks") {
    prepare();
    OK(aclrtMemsetAsync(memory, 8, 0, 8, origin));
    graph = end(origin);
    list_tasks();
    EXPECT(aclmdlRITaskDisable(tasks[0]), 107000);
    is_spoilt();
}

RULE(graph, changing_an_event_spoils_the_model, "implementation: aclmdlRITaskSetParams") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, origin));
    graph = end(origin);
    list_tasks();
    const int i = first_of(ACL_MODEL_RI_TASK_EVENT_RECORD);
    NEED(i >= 0);
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(tasks[i], &p));
    EXPECT(aclmdlRITaskSetParams(tasks[i], &p), 107000);
    is_spoilt();
}

RULE(graph, changing_the_type_spoils_the_model, "implementation: aclmdlRITaskSetParams") {
    one_write();
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(the_write(), &p));
    p.type = ACL_MODEL_RI_TASK_VALUE_WAIT;
    EXPECT(aclmdlRITaskSetParams(the_write(), &p), 107000);
    is_spoilt();
}

RULE(graph, a_running_model_is_not_changed, "implementation: aclmdlRIUpdate") {
    one_write();
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(the_write(), &p));
    aclrtEvent latch = hold(origin);
    OK(aclmdlRIExecuteAsync(graph, origin));
    EXPECT(aclmdlRITaskSetParams(the_write(), &p), 107040);
    EXPECT(aclmdlRITaskDisable(the_write()), 107040);
    EXPECT(aclmdlRIUpdate(graph), 107040);
    let_go(latch);
    finish(origin);
    EXPECT(aclmdlRIUpdate(graph), 0);
}

RULE(graph, attributes_are_of_kernels, "guide: aclmdlRIKernelTaskGetAttribute") {
    one_write();
    aclrtLaunchKernelAttrValue value;
    EXPECT(aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, NULL), 100000);
    EXPECT(aclmdlRIKernelTaskGetAttribute(the_write(), ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value), 107000);
}

RULE(graph, layout_of_task_parameters, "header: aclmdlRITaskParams") {
    TRUE(sizeof(aclmdlRITaskParams) == 200);
    TRUE(sizeof(aclmdlRIKernelTaskParams) == 88);
    TRUE(sizeof(aclmdlRIEventRecordTaskParams) == 16 && sizeof(aclmdlRIEventWaitTaskParams) == 16);
    TRUE(sizeof(aclmdlRIEventResetTaskParams) == 16 && sizeof(aclmdlRIValueWriteTaskParams) == 16);
    TRUE(sizeof(aclmdlRIValueWaitTaskParams) == 24 && sizeof(aclmdlRICondTaskParams) == 24);
}

RULE(graph, sequence_numbers_differ, "guide: aclmdlRITaskGetSeqId") {
    prepare();
    for (int i = 0; i < 3; i++) OK(aclrtValueWrite(memory, 1, 0, origin));
    graph = end(origin);
    list_tasks();
    NEED(count >= 3);
    uint32_t ids[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) OK(aclmdlRITaskGetSeqId(tasks[i], &ids[i]));
    TRUE(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
}

RULE(graph, parameters_of_event_waits_and_resets, "guide: aclmdlRITaskGetParams; observed: graph_tasks") {
    prepare();
    aclrtEvent gate = old_event(ACL_EVENT_EXTERNAL), outside = new_event(ACL_EVENT_SYNC);
    aclmdlRITaskParams p;
    OK(aclrtStreamWaitEvent(origin, gate));
    OK(aclrtResetEvent(gate, origin));
    OK(aclrtRecordEventWithFlag(outside, origin, ACL_EVENT_RECORD_EXTERNAL));
    graph = end(origin);
    list_tasks();
    const int wait = first_of(ACL_MODEL_RI_TASK_EVENT_WAIT), reset = first_of(ACL_MODEL_RI_TASK_EVENT_RESET);
    NEED(wait >= 0 && reset > wait);
    TRUE(first_of(ACL_MODEL_RI_TASK_EVENT_RECORD) < 0); /* the external one is an internal task */
    TRUE(first_of(ACL_MODEL_RI_TASK_DEFAULT) > reset);
    OK(aclmdlRITaskGetParams(tasks[wait], &p));
    TRUE(p.eventWaitTaskParams.event == gate && p.eventWaitTaskParams.waitFlag == ACL_EVENT_WAIT_DEFAULT);
    OK(aclmdlRITaskGetParams(tasks[reset], &p));
    TRUE(p.eventResetTaskParams.event == gate);
}

RULE(graph, a_value_wait_is_changed, "guide: aclmdlRITaskSetParams") {
    prepare();
    OK(aclrtValueWait(memory, 6, ACL_STREAM_WAIT_VALUE_EQ, origin));
    graph = end(origin);
    list_tasks();
    const int i = first_of(ACL_MODEL_RI_TASK_VALUE_WAIT);
    NEED(i >= 0);
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(tasks[i], &p));
    p.valueWaitTaskParams.value = 0;
    EXPECT(aclmdlRITaskSetParams(tasks[i], &p), 0);
    OK(aclmdlRIUpdate(graph));
    replay(graph, origin); /* the memory holds 0 */
}

RULE(graph, several_changes_and_one_update, "guide: aclmdlRIUpdate") {
    prepare();
    OK(aclrtValueWrite(memory, 1, 0, origin));
    OK(aclrtValueWrite(memory + 1, 2, 0, origin));
    graph = end(origin);
    list_tasks();
    NEED(count >= 2);
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(tasks[0], &p));
    p.valueWriteTaskParams.value = 10;
    EXPECT(aclmdlRITaskSetParams(tasks[0], &p), 0);
    EXPECT(aclmdlRITaskDisable(tasks[1]), 0);
    EXPECT(aclmdlRIExecuteAsync(graph, origin), 507011);
    EXPECT(aclmdlRIUpdate(graph), 0);
    replay(graph, origin);
    TRUE(u64_at(memory) == 10 && u64_at(memory + 1) == 0);
}

RULE(graph, a_disabled_task_after_a_replay, "guide: aclmdlRITaskDisable") {
    one_write();
    replay(graph, origin);
    TRUE(u64_at(memory) == 1);
    OK(aclmdlRITaskDisable(the_write()));
    OK(aclmdlRIUpdate(graph));
    put_u64(memory, 0);
    replay(graph, origin);
    TRUE(u64_at(memory) == 0);
}

RULE(graph, tasks_of_no_stream, "observed: null_handles_before_set_device") {
    one_write();
    uint32_t n = 0;
    EXPECT(aclmdlRIGetTasksByStream(NULL, NULL, &n), 107000);
    EXPECT(aclmdlRIGetStreams(NULL, NULL, &n), 107000);
    EXPECT(aclmdlRIUpdate(NULL), 107000);
    EXPECT(aclmdlRITaskDisable(NULL), 100000);
}

RULE(graph, tasks_of_a_capture_that_goes_on, "observed: graph_tasks") {
    prepare();
    uint32_t n = 0;
    OK(aclmdlRICaptureGetInfo(origin, NULL, &graph));
    EXPECT(aclmdlRIGetStreams(graph, NULL, &n), 0);
    TRUE(n == 1);
    end(origin);
    EXPECT(aclmdlRIGetStreams(graph, NULL, &n), 0);
}

RULE_MOCK(graph, changes_need_parameters, "own choice: null is refused by the ACL layer") {
    one_write();
    EXPECT(aclmdlRITaskSetParams(the_write(), NULL), 100000);
    EXPECT(aclmdlRITaskSetParams(NULL, NULL), 100000);
    EXPECT(aclmdlRIUpdate(graph), 0); /* nothing is spoilt */
}

RULE_MOCK(graph, tasks_go_with_their_model, "implementation: handle guard") {
    one_write();
    aclmdlRITask task = the_write();
    aclmdlRITaskType type;
    OK(aclmdlRIDestroy(graph));
    EXPECT(aclmdlRITaskGetType(task, &type), 107017);
}
