/* Part of racl (mock-acl). Models: conditional sub graphs. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED
#define NO_FLAG ((aclmdlRICondHandleFlag)0)
#define DEFAULT ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT
#define IF ACL_MODEL_RI_COND_TYPE_IF
#define WHILE ACL_MODEL_RI_COND_TYPE_WHILE
#define SWITCH ACL_MODEL_RI_COND_TYPE_SWITCH

static aclrtStream origin, inner;
static uint64_t *memory, *value;
static aclmdlRI root, subs[8];
static aclmdlRICondHandle handle;

/* A capture with a condition whose cell is `value`. */
static void prepare(uint32_t initial, aclmdlRICondHandleFlag flag) {
    up();
    memory = (uint64_t *)device(64);
    fill(memory, 0, 64);
    inner = new_stream();
    origin = begin(RELAXED);
    OK(aclmdlRICaptureGetInfo(origin, NULL, &root));
    OK(aclmdlRICondHandleCreate(root, initial, flag, &handle));
    OK(aclmdlRICondHandleGetCondPtr(handle, &value));
    NEED(value != NULL);
}

static aclError add_task(aclmdlRICondTaskType type, uint32_t size) {
    const aclmdlRICondTaskParams task = {handle, type, size, subs};
    return aclmdlRIAddCondTask(task, origin, 0);
}

/* memory[place] = number in one sub graph. */
static void writes(aclmdlRI sub, int place, uint64_t number) {
    OK(aclmdlRICaptureToModelRIBegin(inner, sub, RELAXED));
    OK(aclrtValueWrite(memory + place, number, 0, inner));
    OK(aclmdlRICaptureEnd(inner, NULL));
}

static void run_with(uint64_t number) {
    fill(memory, 0, 64);
    put_u64(value, number);
    replay(root, origin);
}

/* ---- handles ---- */

RULE(graph, condition_without_a_place, "guide: aclmdlRICondHandleCreate") {
    prepare(0, NO_FLAG);
    EXPECT(aclmdlRICondHandleCreate(root, 0, NO_FLAG, NULL), 100000);
    EXPECT(aclmdlRICondHandleCreate(NULL, 0, NO_FLAG, &handle), 100000);
}

RULE(graph, condition_with_an_unknown_flag, "observed: cond") {
    prepare(0, NO_FLAG);
    EXPECT(aclmdlRICondHandleCreate(root, 0, (aclmdlRICondHandleFlag)2, &handle), 107000);
}

RULE(graph, condition_of_a_complete_model, "observed: cond") {
    prepare(0, NO_FLAG);
    root = end(origin);
    EXPECT(aclmdlRICondHandleCreate(root, 0, NO_FLAG, &handle), 107000);
}

RULE(graph, condition_of_a_model_built_by_hand, "implementation: aclmdlRICondHandleCreate") {
    up();
    aclmdlRI model = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    EXPECT(aclmdlRICondHandleCreate(model, 0, NO_FLAG, &handle), 207000);
}

RULE(graph, the_cell_of_a_condition, "guide: aclmdlRICondHandleGetCondPtr") {
    prepare(5, NO_FLAG);
    EXPECT(aclmdlRICondHandleGetCondPtr(NULL, &value), 100000);
    EXPECT(aclmdlRICondHandleGetCondPtr(handle, NULL), 100000);
    end(origin);
    TRUE(u64_at(value) == 0); /* cleared, whatever the default value */
    put_u64(value, 7);
    TRUE(u64_at(value) == 7);
}

RULE(graph, each_condition_has_a_cell, "guide: aclmdlRICondHandleGetCondPtr") {
    prepare(0, NO_FLAG);
    aclmdlRICondHandle other = NULL;
    uint64_t *cell = NULL;
    OK(aclmdlRICondHandleCreate(root, 0, NO_FLAG, &other));
    OK(aclmdlRICondHandleGetCondPtr(other, &cell));
    TRUE(cell != NULL && cell != value);
}

/* ---- tasks ---- */

RULE(graph, condition_task_without_a_stream, "guide: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    const aclmdlRICondTaskParams task = {handle, IF, 1, subs};
    EXPECT(aclmdlRIAddCondTask(task, NULL, 0), 100000);
}

RULE(graph, condition_task_of_an_unknown_type, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    EXPECT(add_task((aclmdlRICondTaskType)3, 1), 107000);
}

RULE(graph, condition_task_with_null_in_it, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    const aclmdlRICondTaskParams no_handle = {NULL, IF, 1, subs}, no_array = {handle, IF, 1, NULL};
    EXPECT(aclmdlRIAddCondTask(no_handle, origin, 0), 107000);
    EXPECT(aclmdlRIAddCondTask(no_array, origin, 0), 107000);
}

RULE(graph, condition_task_with_flags, "guide: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    const aclmdlRICondTaskParams task = {handle, IF, 1, subs};
    EXPECT(aclmdlRIAddCondTask(task, origin, 1), 107000);
}

RULE(graph, sizes_of_if, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    EXPECT(add_task(IF, 0), 107000);
    EXPECT(add_task(IF, 3), 107000);
    EXPECT(add_task(IF, 2), 0);
}

RULE(graph, sizes_of_while, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    EXPECT(add_task(WHILE, 0), 107000);
    EXPECT(add_task(WHILE, 2), 107000);
    EXPECT(add_task(WHILE, 1), 0);
}

RULE(graph, sizes_of_switch, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    EXPECT(add_task(SWITCH, 0), 107000);
    EXPECT(add_task(SWITCH, 8), 0);
    for (int i = 0; i < 8; i++) TRUE(subs[i] != NULL);
}

RULE(graph, condition_task_without_a_capture, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    const aclmdlRICondTaskParams task = {handle, IF, 1, subs};
    EXPECT(aclmdlRIAddCondTask(task, inner, 0), 107029);
}

RULE(graph, condition_of_another_capture, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    aclrtStream other = begin(RELAXED);
    const aclmdlRICondTaskParams task = {handle, IF, 1, subs};
    EXPECT(aclmdlRIAddCondTask(task, other, 0), 107000);
}

RULE(graph, condition_used_twice, "implementation: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 1));
    EXPECT(add_task(IF, 1), 107000);
}

RULE(graph, condition_that_no_task_uses, "guide: aclmdlRICondHandleCreate") {
    prepare(0, DEFAULT);
    replay(end(origin), origin);
}

/* ---- captures of sub graphs ---- */

RULE(graph, sub_capture_without_stream_or_model, "guide: aclmdlRICaptureToModelRIBegin") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 1));
    EXPECT(aclmdlRICaptureToModelRIBegin(NULL, subs[0], RELAXED), 100000);
    EXPECT(aclmdlRICaptureToModelRIBegin(inner, NULL, RELAXED), 100000);
    EXPECT(aclmdlRICaptureToModelRIBegin(inner, subs[0], (aclmdlRICaptureMode)3), 107000);
}

RULE(graph, sub_capture_into_a_root, "implementation: aclmdlRICaptureToModelRIBegin") {
    prepare(0, NO_FLAG);
    EXPECT(aclmdlRICaptureToModelRIBegin(inner, root, RELAXED), 107000);
}

RULE(graph, sub_capture_twice, "implementation: aclmdlRICaptureToModelRIBegin") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 1));
    writes(subs[0], 0, 1);
    EXPECT(aclmdlRICaptureToModelRIBegin(inner, subs[0], RELAXED), 107026);
}

RULE(graph, info_of_a_sub_capture, "guide: aclmdlRICaptureToModelRIBegin") {
    prepare(0, NO_FLAG);
    aclmdlRI seen = NULL;
    OK(add_task(IF, 1));
    OK(aclmdlRICaptureToModelRIBegin(inner, subs[0], RELAXED));
    OK(aclmdlRICaptureGetInfo(inner, NULL, &seen));
    TRUE(seen == subs[0]);
    OK(aclmdlRICaptureEnd(inner, &seen));
    TRUE(seen == subs[0]);
    end(origin);
}

RULE(graph, the_root_ends_before_its_sub_graph, "implementation: aclmdlRICaptureEnd") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 1));
    OK(aclmdlRICaptureToModelRIBegin(inner, subs[0], RELAXED));
    EXPECT(aclmdlRICaptureEnd(origin, &root), 107045);
    TRUE(root == NULL);
}

RULE(graph, calls_that_a_sub_graph_refuses, "implementation: sub graphs") {
    prepare(0, NO_FLAG);
    uint32_t n = 0;
    OK(add_task(IF, 1));
    writes(subs[0], 0, 1);
    root = end(origin);
    EXPECT(aclmdlRIExecuteAsync(subs[0], inner), 207000);
    EXPECT(aclmdlRIDestroy(subs[0]), 207000);
    EXPECT(aclmdlRIUpdate(subs[0]), 207000);
    EXPECT(aclmdlRIGetStreams(subs[0], NULL, &n), 207000);
    EXPECT(aclmdlRIDestroyRegisterCallback(subs[0], free, NULL), 207000);
    EXPECT(aclmdlRIDestroyUnregisterCallback(subs[0], free), 207000);
    EXPECT(aclmdlRIDestroy(root), 0);
}

RULE_MOCK(graph, sub_graphs_go_with_the_root, "implementation: handle guard") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 1));
    writes(subs[0], 0, 1);
    OK(aclmdlRIDestroy(end(origin)));
    EXPECT(aclmdlRIDestroy(subs[0]), 107017);
    EXPECT(aclmdlRICondHandleGetCondPtr(handle, &value), 107017);
}

RULE(graph, a_sub_graph_that_was_never_captured, "implementation: aclmdlRICaptureEnd") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 2));
    writes(subs[0], 0, 1);
    EXPECT(aclmdlRICaptureEnd(origin, &root), 107045);
    TRUE(root == NULL);
}

RULE(graph, a_copy_writes_the_cell, "guide: aclmdlRICondHandleGetCondPtr") {
    prepare(0, NO_FLAG);
    put_u64(memory + 1, 1);
    OK(aclrtMemcpyAsync(value, 8, memory + 1, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin));
    OK(add_task(IF, 1));
    writes(subs[0], 0, 6);
    root = end(origin);
    replay(root, origin);
    TRUE(u64_at(memory) == 6);
    put_u64(memory + 1, 0);
    put_u64(memory, 0);
    replay(root, origin);
    TRUE(u64_at(memory) == 0);
}

RULE(graph, sub_graphs_are_captured_in_any_mode, "guide: aclmdlRICaptureToModelRIBegin") {
    prepare(1, DEFAULT);
    OK(add_task(IF, 1));
    OK(aclmdlRICaptureToModelRIBegin(inner, subs[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    EXPECT(aclrtMemset(memory, 64, 0, 64), 107030); /* it counts like another capture */
    OK(aclrtValueWrite(memory, 3, 0, inner));
    OK(aclmdlRICaptureEnd(inner, NULL));
    EXPECT(aclrtMemset(memory, 64, 0, 64), 0);
    root = end(origin);
    replay(root, origin);
    TRUE(u64_at(memory) == 3);
}

/* ---- replays ---- */

RULE(graph, if_runs_or_not, "guide: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 1));
    writes(subs[0], 0, 1);
    root = end(origin);
    run_with(1);
    TRUE(u64_at(memory) == 1);
    run_with(0);
    TRUE(u64_at(memory) == 0);
}

RULE(graph, if_with_an_else, "guide: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    OK(add_task(IF, 2));
    writes(subs[0], 0, 1);
    writes(subs[1], 1, 1);
    root = end(origin);
    run_with(1);
    TRUE(u64_at(memory) == 1 && u64_at(memory + 1) == 0);
    run_with(0);
    TRUE(u64_at(memory) == 0 && u64_at(memory + 1) == 1);
}

RULE(graph, while_runs_until_the_value_is_0, "guide: aclmdlRIAddCondTask") {
    prepare(1, DEFAULT);
    OK(add_task(WHILE, 1));
    /* The rounds: [1] = [0], then the value = [2], which the first round sets to 0. */
    OK(aclmdlRICaptureToModelRIBegin(inner, subs[0], RELAXED));
    OK(aclrtMemcpyAsync(value, 8, memory + 2, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, inner));
    OK(aclrtValueWrite(memory + 2, 0, 0, inner));
    OK(aclrtMemcpyAsync(memory + 4, 8, memory + 3, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, inner));
    OK(aclrtValueWrite(memory + 3, 1, 0, inner));
    OK(aclmdlRICaptureEnd(inner, NULL));
    root = end(origin);
    fill(memory, 0, 64);
    put_u64(memory + 2, 1);
    replay(root, origin);
    TRUE(u64_at(memory + 4) == 1); /* two rounds */
    fill(memory, 0, 64);
    replay(root, origin);
    TRUE(u64_at(memory + 3) == 1 && u64_at(memory + 4) == 0); /* one */
}

RULE(graph, while_with_0_runs_nothing, "guide: aclmdlRIAddCondTask") {
    prepare(0, DEFAULT);
    OK(add_task(WHILE, 1));
    writes(subs[0], 0, 1);
    root = end(origin);
    run_with(5); /* the default value takes its place */
    TRUE(u64_at(memory) == 0);
}

RULE(graph, switch_runs_one, "guide: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    OK(add_task(SWITCH, 3));
    for (int i = 0; i < 3; i++) writes(subs[i], i, 1);
    root = end(origin);
    for (uint64_t i = 0; i < 3; i++) {
        run_with(i);
        for (uint64_t j = 0; j < 3; j++) TRUE(u64_at(memory + j) == (i == j));
    }
}

RULE(graph, switch_past_the_end_runs_none, "guide: aclmdlRIAddCondTask") {
    prepare(0, NO_FLAG);
    OK(add_task(SWITCH, 2));
    for (int i = 0; i < 2; i++) writes(subs[i], i, 1);
    root = end(origin);
    run_with(2);
    TRUE(u64_at(memory) == 0 && u64_at(memory + 1) == 0);
}

RULE(graph, the_default_value_holds_in_each_replay, "guide: aclmdlRICondHandleCreate") {
    prepare(1, DEFAULT);
    OK(add_task(IF, 1));
    writes(subs[0], 0, 1);
    OK(aclrtValueWrite(value, 0, 0, origin));
    root = end(origin);
    for (int i = 0; i < 2; i++) {
        run_with(0);
        TRUE(u64_at(memory) == 1 && u64_at(value) == 0);
    }
}

RULE(graph, without_a_flag_the_value_is_the_programs, "guide: aclmdlRICondHandleCreate") {
    prepare(1, NO_FLAG);
    OK(add_task(IF, 1));
    writes(subs[0], 0, 1);
    root = end(origin);
    replay(root, origin);
    TRUE(u64_at(memory) == 0);
}

RULE(graph, the_value_is_read_when_the_task_is_reached, "guide: aclmdlRIAddCondTask") {
    prepare(0, DEFAULT);
    OK(aclrtValueWrite(value, 1, 0, origin));
    OK(add_task(IF, 1));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin));
    writes(subs[0], 0, 4);
    root = end(origin);
    replay(root, origin);
    TRUE(u64_at(memory + 1) == 4); /* what follows comes after the sub graph */
}

RULE(graph, conditions_nest, "guide: aclmdlRIAddCondTask") {
    prepare(1, DEFAULT);
    OK(add_task(IF, 1));
    aclmdlRI outer = subs[0], leaf = NULL;
    aclmdlRICondHandle deep = NULL;
    aclrtStream third = new_stream();
    OK(aclmdlRICaptureToModelRIBegin(inner, outer, RELAXED));
    OK(aclmdlRICondHandleCreate(outer, 1, DEFAULT, &deep));
    const aclmdlRICondTaskParams task = {deep, IF, 1, &leaf};
    EXPECT(aclmdlRIAddCondTask(task, inner, 0), 0);
    OK(aclmdlRICaptureToModelRIBegin(third, leaf, RELAXED));
    OK(aclrtValueWrite(memory, 8, 0, third));
    OK(aclmdlRICaptureEnd(third, NULL));
    OK(aclmdlRICaptureEnd(inner, NULL));
    root = end(origin);
    replay(root, origin);
    TRUE(u64_at(memory) == 8);
}

RULE(graph, sub_graphs_have_forks_of_their_own, "guide: aclmdlRICaptureToModelRIBegin") {
    prepare(1, DEFAULT);
    OK(add_task(IF, 1));
    aclrtStream third = new_stream();
    aclrtEvent one = new_event(ACL_EVENT_SYNC), two = new_event(ACL_EVENT_SYNC);
    OK(aclmdlRICaptureToModelRIBegin(inner, subs[0], RELAXED));
    OK(aclrtRecordEvent(one, inner));
    OK(aclrtStreamWaitEvent(third, one));
    OK(aclrtValueWrite(memory, 8, 0, third));
    EXPECT(aclrtStreamWaitEvent(origin, one), 107032); /* of another capture: both are broken */
    OK(aclrtRecordEvent(two, third));
    OK(aclrtStreamWaitEvent(inner, two));
    EXPECT(aclmdlRICaptureEnd(inner, NULL), 507903);
}

RULE_MOCK(graph, a_loop_without_end_is_cut_off, "own choice: a million rounds") {
    prepare(1, DEFAULT);
    OK(add_task(WHILE, 1));
    writes(subs[0], 0, 1);
    root = end(origin);
    OK(aclmdlRIExecuteAsync(root, origin));
    EXPECT(aclrtSynchronizeStreamWithTimeout(origin, 1), 507046);
    EXPECT(aclrtSynchronizeStream(origin), 507011);
}
