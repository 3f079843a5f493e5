/* Part of racl (mock-acl). Models that are built by hand: binding, execution, jumps, labels; aborts. */
#include "acl/acl_mdl.h"
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED
#define HEAD ACL_MODEL_STREAM_FLAG_HEAD
#define LATER ACL_MODEL_STREAM_FLAG_DEFAULT

static aclmdlRI model;
static aclrtStream head, launch;
static uint64_t *memory;

static aclrtStream flagged(uint32_t flags) {
    aclrtStream stream = NULL;
    OK(aclrtCreateStreamWithConfig(&stream, 0, flags));
    return stream;
}

static aclrtStream bound(uint32_t flag) {
    aclrtStream stream = flagged(ACL_STREAM_PERSISTENT);
    OK(aclmdlRIBindStream(model, stream, flag));
    return stream;
}

/* A model with one stream that starts with it. */
static void prepare(void) {
    up();
    memory = (uint64_t *)device(128);
    fill(memory, 0, 128);
    launch = new_stream();
    OK(aclmdlRIBuildBegin(&model, 0));
    head = bound(HEAD);
}

static void put(aclrtStream stream, int place, uint64_t value) {
    OK(aclrtValueWrite(memory + place, value, 0, stream));
}

static void complete(void) {
    OK(aclmdlRIEndTask(model, head));
    OK(aclmdlRIBuildEnd(model, NULL));
}

/* ---- building ---- */

RULE(graph, values_of_stream_flags, "header: acl_mdl.h") {
    TRUE(HEAD == 0);
    TRUE(LATER == 0x7FFFFFFF);
}

RULE(graph, build_without_a_place, "guide: aclmdlRIBuildBegin") {
    up();
    EXPECT(aclmdlRIBuildBegin(NULL, 0), 100000);
}

RULE(graph, bind_a_stream_that_is_not_persistent, "guide: aclmdlRIBindStream") {
    up();
    OK(aclmdlRIBuildBegin(&model, 0));
    EXPECT(aclmdlRIBindStream(model, new_stream(), HEAD), 107000);
}

RULE(graph, bind_a_stream_for_device_use, "implementation: aclmdlRIBindStream") {
    up();
    OK(aclmdlRIBuildBegin(&model, 0));
    EXPECT(aclmdlRIBindStream(model, flagged(ACL_STREAM_PERSISTENT | ACL_STREAM_DEVICE_USE_ONLY), HEAD), 507000);
}

RULE(graph, bind_a_stream_for_fast_launch, "implementation: aclmdlRIBindStream") {
    up();
    OK(aclmdlRIBuildBegin(&model, 0));
    EXPECT(aclmdlRIBindStream(model, flagged(ACL_STREAM_PERSISTENT | ACL_STREAM_FAST_LAUNCH), HEAD), 207000);
}

RULE(graph, bind_a_stream_that_stops_on_failure, "implementation: aclmdlRIBindStream") {
    up();
    OK(aclmdlRIBuildBegin(&model, 0));
    aclrtStream stream = flagged(ACL_STREAM_PERSISTENT);
    OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    EXPECT(aclmdlRIBindStream(model, stream, HEAD), 207000);
}

RULE(graph, bind_to_a_captured_model, "implementation: aclmdlRIBindStream") {
    up();
    aclmdlRI graph = end(begin(RELAXED));
    aclrtStream stream = flagged(ACL_STREAM_PERSISTENT);
    EXPECT(aclmdlRIBindStream(graph, stream, HEAD), 107000);
    EXPECT(aclmdlRIEndTask(graph, stream), 107000);
    EXPECT(aclmdlRIUnbindStream(graph, stream), 107000);
}

RULE(graph, failure_mode_of_a_bound_stream, "guide: aclrtSetStreamFailureMode") {
    prepare();
    EXPECT(aclrtSetStreamFailureMode(head, ACL_STOP_ON_FAILURE), 207000);
}

RULE(graph, build_end_with_a_reserve, "implementation: aclmdlRIBuildEnd") {
    prepare();
    OK(aclmdlRIEndTask(model, head));
    EXPECT(aclmdlRIBuildEnd(model, memory), 100000);
    EXPECT(aclmdlRIBuildEnd(model, NULL), 0);
}

RULE(graph, a_model_without_an_end_task, "implementation: aclmdlRIExecuteAsync") {
    prepare();
    put(head, 0, 1);
    EITHER(aclmdlRIBuildEnd(model, NULL), 0, 507011);
    EXPECT(aclmdlRIExecuteAsync(model, launch), 507011);
}

RULE(graph, bound_work_waits_for_an_execution, "guide: aclmdlRIBindStream") {
    prepare();
    put(head, 0, 1);
    EXPECT(aclrtSynchronizeStream(head), 0); /* at once: it runs nothing by itself */
    TRUE(u64_at(memory) == 0);
    complete();
    replay(model, launch);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, a_model_runs_again, "guide: aclmdlRIExecute") {
    prepare();
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, head));
    complete();
    for (uint64_t i = 1; i < 4; i++) {
        put_u64(memory, i);
        EXPECT(aclmdlRIExecute(model, -1), 0);
        TRUE(u64_at(memory + 1) == i);
    }
}

RULE(graph, time_outs_of_an_execution, "observed: execute, build_ri") {
    prepare();
    complete();
    EXPECT(aclmdlRIExecute(model, 0), 107000);
    EXPECT(aclmdlRIExecute(model, -2), 107000);
    EXPECT(aclmdlRIExecute(model, 1000), 0);
}

RULE(graph, an_ex_event_on_a_bound_stream, "observed: build_ri") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC), plain = NULL;
    OK(aclrtCreateEvent(&plain));
    EXPECT(aclrtRecordEvent(event, head), 207000);
    EXPECT(aclrtRecordEvent(plain, head), 207000);
}

RULE(graph, an_old_event_orders_bound_streams, "guide: aclrtRecordEvent") {
    prepare();
    aclrtStream other = bound(HEAD);
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclrtResetEvent(event, other));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other));
    put(head, 0, 6);
    OK(aclrtRecordEvent(event, head));
    complete();
    for (int i = 0; i < 2; i++) {
        fill(memory, 0, 16);
        replay(model, launch);
        TRUE(u64_at(memory + 1) == 6);
    }
}

RULE(graph, waiting_for_an_event_of_a_bound_stream, "implementation: aclrtSynchronizeEvent") {
    prepare();
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, head));
    EXPECT(aclrtSynchronizeEvent(event), 107000);
}

RULE(graph, cache_maintenance_on_a_bound_stream, "observed: build_ri") {
    prepare();
    EXPECT(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, head), 207000);
}

RULE_MOCK(graph, work_after_the_model_is_complete, "own choice of the code: the guide forbids it") {
    prepare();
    complete();
    EXPECT(aclrtValueWrite(memory, 1, 0, head), 107005);
}

RULE(graph, an_unbound_stream_is_an_ordinary_one, "guide: aclmdlRIUnbindStream; observed: build") {
    prepare();
    complete();
    EXPECT(aclmdlRIUnbindStream(model, head), 0);
    EXPECT(aclmdlRIUnbindStream(model, head), 107005);
    EXPECT(aclmdlRIDestroy(model), 0);
}

RULE(graph, flags_of_a_model_built_by_hand, "guide: aclmdlRIBuildBegin, aclmdlRIBindStream") {
    up();
    aclmdlRI other = NULL;
    EXPECT(aclmdlRIBuildBegin(&other, 1), 107000);
    OK(aclmdlRIBuildBegin(&other, 0));
    EXPECT(aclmdlRIBindStream(other, flagged(ACL_STREAM_PERSISTENT), 1), 107000);
    EXPECT(aclmdlRIBindStream(NULL, flagged(ACL_STREAM_PERSISTENT), HEAD), 100000);
    EXPECT(aclmdlRIBindStream(other, NULL, HEAD), 207000); /* the default stream */
}

RULE(graph, a_late_execution_is_given_up, "implementation: aclmdlRIExecute") {
    prepare();
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, head));
    put(head, 1, 1);
    complete();
    EXPECT(aclmdlRIExecute(model, 20), 507046);
    TRUE(u64_at(memory + 1) == 0);
}

RULE(graph, jumps_are_not_captured, "guide: labels and switches belong to bound streams; observed: label") {
    prepare();
    aclrtLabel label = NULL;
    aclrtLabelList labels_of_one = NULL;
    OK(aclrtCreateLabel(&label));
    OK(aclrtCreateLabelList(&label, 1, &labels_of_one));
    aclrtStream stream = begin(RELAXED);
    TRUE(aclrtActiveStream(head, stream) != 0);
    TRUE(aclrtSwitchLabelByIndex(memory, 1, labels_of_one, stream) != 0);
    TRUE(aclrtSwitchStream(memory, ACL_RT_EQUAL, memory, ACL_RT_SWITCH_INT64, head, NULL, stream) != 0);
    TRUE(aclrtSetLabel(label, launch) != 0); /* nor on a stream of its own */
    end(stream);
}

RULE_MOCK(graph, a_stream_is_bound_once, "own choice of the code") {
    prepare();
    aclmdlRI other = NULL;
    OK(aclmdlRIBuildBegin(&other, 0));
    EXPECT(aclmdlRIBindStream(model, head, HEAD), 107005);
    EXPECT(aclmdlRIBindStream(other, head, HEAD), 107005);
    complete();
    EXPECT(aclmdlRIBindStream(model, flagged(ACL_STREAM_PERSISTENT), HEAD), 107000);
    EXPECT(aclmdlRIBuildEnd(model, NULL), 0); /* again (observed: build) */
}


/* ---- streams that start others ---- */

RULE(graph, start_without_streams, "observed: label") {
    prepare();
    EXPECT(aclrtActiveStream(NULL, head), 100000);
    EXPECT(aclrtActiveStream(head, NULL), 100000);
}

RULE(graph, a_stream_that_is_started_later, "guide: aclrtActiveStream") {
    prepare();
    aclrtStream later = bound(LATER), never = bound(LATER);
    put(never, 2, 1);
    put(later, 1, 1);
    OK(aclrtActiveStream(later, head));
    put(head, 0, 1);
    complete();
    replay(model, launch);
    TRUE(u64_at(memory) == 1 && u64_at(memory + 1) == 1 && u64_at(memory + 2) == 0);
}

RULE(graph, a_started_stream_runs_beside, "guide: aclrtActiveStream") {
    prepare();
    aclrtStream later = bound(LATER);
    OK(aclrtActiveStream(later, head));
    /* Each waits for what the other writes. */
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, head));
    put(head, 1, 1);
    put(later, 0, 1);
    OK(aclrtValueWait(memory + 1, 1, ACL_STREAM_WAIT_VALUE_EQ, later));
    put(later, 2, 1);
    complete();
    replay(model, launch);
    TRUE(u64_at(memory + 2) == 1);
}

RULE(graph, start_a_stream_that_is_not_bound, "guide: aclrtActiveStream") {
    prepare();
    TRUE(aclrtActiveStream(launch, head) != 0);
    TRUE(aclrtActiveStream(head, launch) != 0);
}

/* ---- switches ---- */

static aclError switch_to(aclrtStream target, aclrtCondition condition, aclrtCompareDataType type) {
    return aclrtSwitchStream(memory, condition, memory + 1, type, target, NULL, head);
}

RULE(graph, switch_with_null, "guide: aclrtSwitchStream") {
    prepare();
    aclrtStream to = bound(LATER);
    EXPECT(aclrtSwitchStream(NULL, ACL_RT_EQUAL, memory, ACL_RT_SWITCH_INT64, to, NULL, head), 100000);
    EXPECT(aclrtSwitchStream(memory, ACL_RT_EQUAL, NULL, ACL_RT_SWITCH_INT64, to, NULL, head), 100000);
    EXPECT(aclrtSwitchStream(memory, ACL_RT_EQUAL, memory, ACL_RT_SWITCH_INT64, NULL, NULL, head), 100000);
    EXPECT(aclrtSwitchStream(memory, ACL_RT_EQUAL, memory, ACL_RT_SWITCH_INT64, to, NULL, NULL), 100000);
}

RULE(graph, switch_with_a_stream_for_false, "guide: aclrtSwitchStream") {
    prepare();
    aclrtStream to = bound(LATER);
    EXPECT(aclrtSwitchStream(memory, ACL_RT_EQUAL, memory, ACL_RT_SWITCH_INT64, to, to, head), 100000);
}

RULE(graph, switch_with_unknown_values, "guide: aclrtSwitchStream") {
    prepare();
    aclrtStream to = bound(LATER);
    EXPECT(switch_to(to, (aclrtCondition)6, ACL_RT_SWITCH_INT64), 107000);
    EXPECT(switch_to(to, ACL_RT_EQUAL, (aclrtCompareDataType)2), 107000);
}

/* left and right, and whether the stream gives way. */
static void switches(
    aclrtCondition condition, aclrtCompareDataType type, int64_t left, int64_t right, int gives_way) {
    prepare();
    aclrtStream to = bound(LATER);
    OK(switch_to(to, condition, type));
    put(head, 2, 1);
    put(to, 3, 1);
    complete();
    put_u64(memory, (uint64_t)left);
    put_u64(memory + 1, (uint64_t)right);
    replay(model, launch);
    TRUE(u64_at(memory + 2) == (gives_way ? 0u : 1u));
    TRUE(u64_at(memory + 3) == (gives_way ? 1u : 0u));
}

RULE(graph, switch_equal, "guide: aclrtSwitchStream") { switches(ACL_RT_EQUAL, ACL_RT_SWITCH_INT64, 4, 4, 1); }
RULE(graph, switch_equal_false, "guide: aclrtSwitchStream") { switches(ACL_RT_EQUAL, ACL_RT_SWITCH_INT64, 4, 5, 0); }
RULE(graph, switch_not_equal, "guide: aclrtSwitchStream") {
    switches(ACL_RT_NOT_EQUAL, ACL_RT_SWITCH_INT64, 4, 5, 1);
}
RULE(graph, switch_greater, "guide: aclrtSwitchStream") { switches(ACL_RT_GREATER, ACL_RT_SWITCH_INT64, 4, -5, 1); }
RULE(graph, switch_greater_false, "guide: aclrtSwitchStream") {
    switches(ACL_RT_GREATER, ACL_RT_SWITCH_INT64, 4, 4, 0);
}
RULE(graph, switch_greater_or_equal, "guide: aclrtSwitchStream") {
    switches(ACL_RT_GREATER_OR_EQUAL, ACL_RT_SWITCH_INT64, 4, 4, 1);
}
RULE(graph, switch_less, "guide: aclrtSwitchStream") { switches(ACL_RT_LESS, ACL_RT_SWITCH_INT64, -1, 0, 1); }
RULE(graph, switch_less_or_equal, "guide: aclrtSwitchStream") {
    switches(ACL_RT_LESS_OR_EQUAL, ACL_RT_SWITCH_INT64, 1, 0, 0);
}
RULE(graph, switch_on_32_bits, "guide: aclrtSwitchStream") {
    switches(ACL_RT_EQUAL, ACL_RT_SWITCH_INT32, (INT64_C(1) << 40) + 4, 4, 1);
}
RULE(graph, switch_on_32_bits_with_a_sign, "guide: aclrtSwitchStream") {
    switches(ACL_RT_LESS, ACL_RT_SWITCH_INT32, INT64_C(0xFFFFFFFF), 0, 1);
}

/* ---- labels ---- */

static aclrtLabel labels[3];
static aclrtLabelList list;

static void with_labels(size_t count) {
    prepare();
    for (size_t i = 0; i < count; i++) OK(aclrtCreateLabel(&labels[i]));
    OK(aclrtCreateLabelList(labels, count, &list));
}

RULE(graph, labels_need_a_place, "guide: aclrtCreateLabel") {
    with_labels(1);
    EXPECT(aclrtCreateLabel(NULL), 100000);
    EXPECT(aclrtDestroyLabel(NULL), 100000);
    EXPECT(aclrtSetLabel(NULL, head), 100000);
    EXPECT(aclrtCreateLabelList(NULL, 1, &list), 100000);
    EXPECT(aclrtCreateLabelList(labels, 1, NULL), 100000);
    EXPECT(aclrtDestroyLabelList(NULL), 100000);
}

RULE(graph, lists_of_no_or_too_many_labels, "guide: aclrtCreateLabelList") {
    with_labels(1);
    EXPECT(aclrtCreateLabelList(labels, 0, &list), 107000);
    EXPECT(aclrtCreateLabelList(labels, 65536, &list), 107000);
}

RULE(graph, a_label_on_a_capturing_stream, "observed: label") {
    up();
    OK(aclrtCreateLabel(&labels[0]));
    aclrtStream stream = begin(RELAXED);
    EXPECT(aclrtSetLabel(labels[0], stream), 107005);
    end(stream);
}

RULE(graph, a_jump_with_null, "guide: aclrtSwitchLabelByIndex") {
    with_labels(1);
    EXPECT(aclrtSwitchLabelByIndex(NULL, 1, list, head), 100000);
    EXPECT(aclrtSwitchLabelByIndex(memory, 1, NULL, head), 100000);
    EXPECT(aclrtSwitchLabelByIndex(memory, 1, list, NULL), 100000);
}

/* The index lies in memory[0]. */
static void jump(uint64_t index) {
    fill(memory, 0, 128);
    put_u64(memory, index);
    replay(model, launch);
}

RULE(graph, a_jump_within_a_stream, "guide: aclrtSwitchLabelByIndex") {
    with_labels(2);
    OK(aclrtSwitchLabelByIndex(memory, 2, list, head));
    put(head, 1, 1); /* never runs */
    OK(aclrtSetLabel(labels[0], head));
    put(head, 2, 1);
    OK(aclrtSetLabel(labels[1], head));
    put(head, 3, 1);
    complete();
    jump(0);
    TRUE(u64_at(memory + 1) == 0 && u64_at(memory + 2) == 1 && u64_at(memory + 3) == 1);
    jump(1);
    TRUE(u64_at(memory + 1) == 0 && u64_at(memory + 2) == 0 && u64_at(memory + 3) == 1);
}

RULE(graph, a_jump_to_another_stream, "guide: aclrtSwitchLabelByIndex") {
    with_labels(1);
    aclrtStream other = bound(LATER);
    OK(aclrtSwitchLabelByIndex(memory, 1, list, head));
    put(head, 1, 1); /* this stream stops */
    put(other, 2, 1); /* before the label */
    OK(aclrtSetLabel(labels[0], other));
    put(other, 3, 1);
    complete();
    jump(0);
    TRUE(u64_at(memory + 1) == 0 && u64_at(memory + 2) == 0 && u64_at(memory + 3) == 1);
}

RULE(graph, an_index_past_the_end_is_the_last_label, "guide: aclrtSwitchLabelByIndex") {
    with_labels(2);
    OK(aclrtSwitchLabelByIndex(memory, 2, list, head));
    OK(aclrtSetLabel(labels[0], head));
    put(head, 2, 1);
    OK(aclrtSetLabel(labels[1], head));
    put(head, 3, 1);
    complete();
    jump(9);
    TRUE(u64_at(memory + 2) == 0 && u64_at(memory + 3) == 1);
}

RULE(graph, labels_and_switches_are_for_bound_streams, "guide: aclrtSetLabel, aclrtSwitchStream") {
    with_labels(1);
    aclrtStream to = bound(LATER);
    EXPECT(aclrtSetLabel(labels[0], launch), 107005);
    TRUE(aclrtSwitchLabelByIndex(memory, 1, list, launch) != 0);
    TRUE(aclrtSwitchStream(memory, ACL_RT_EQUAL, memory, ACL_RT_SWITCH_INT64, to, NULL, launch) != 0);
}

/* ---- tasks queued anew ---- */

RULE(graph, clean_a_stream_of_a_wrong_kind, "implementation: aclrtPersistentTaskClean") {
    prepare();
    EXPECT(aclrtPersistentTaskClean(NULL), 107000);
    EXPECT(aclrtPersistentTaskClean(launch), 507000);
    EXPECT(aclrtPersistentTaskClean(flagged(ACL_STREAM_PERSISTENT)), 507000);
    EXPECT(aclrtPersistentTaskClean(head), 507000); /* the model is not complete */
}

RULE(graph, clean_and_queue_anew, "guide: aclrtPersistentTaskClean") {
    prepare();
    put(head, 0, 1);
    complete();
    EXPECT(aclrtPersistentTaskClean(head), 0);
    put(head, 1, 1);
    replay(model, launch);
    TRUE(u64_at(memory) == 0 && u64_at(memory + 1) == 1);
}

/* ---- aborts ---- */

RULE(graph, abort_of_no_model, "observed: null_handles_before_set_device") {
    up();
    EXPECT(aclmdlRIAbort(NULL), 107000);
}

RULE_MOCK(graph, abort_of_a_model_that_waits, "own choice: where the code shows") {
    prepare();
    OK(aclrtValueWait(memory, 1, ACL_STREAM_WAIT_VALUE_EQ, head));
    put(head, 1, 1);
    complete();
    OK(aclmdlRIExecuteAsync(model, launch));
    EXPECT(aclrtSynchronizeStreamWithTimeout(launch, 1), 507046);
    EXPECT(aclmdlRIAbort(model), 0);
    EXPECT(aclrtSynchronizeStream(launch), 507023);
    TRUE(u64_at(memory + 1) == 0);
}

RULE_MOCK(graph, abort_of_a_bound_stream, "own choice of the code: the guide rules it out") {
    prepare();
    EXPECT(aclrtStreamAbort(head), 207000);
    EXPECT(aclrtStreamStop(head), 207000);
}

RULE(graph, stop_of_a_stream, "observed: label") {
    up();
    EXPECT(aclrtStreamStop(new_stream()), 0);
    EXPECT(aclrtStreamStop(NULL), 107000);
}

RULE(graph, abort_drops_what_is_queued, "guide: aclrtStreamAbort") {
    prepare();
    aclrtEvent latch = hold(launch);
    put(launch, 0, 1);
    EXPECT(aclrtStreamAbort(launch), 0);
    let_go(latch);
    put(launch, 1, 1);
    finish(launch);
    TRUE(u64_at(memory) == 0 && u64_at(memory + 1) == 1);
}


static aclError told;

static aclError read_told(void) { return __atomic_load_n(&told, __ATOMIC_ACQUIRE); }

static void waits_until_told(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    while (read_told() == 0) __atomic_store_n(&told, aclrtSynchronizeStream(launch), __ATOMIC_RELEASE);
}

RULE_MOCK(graph, an_abort_is_told_to_those_who_wait, "guide: aclrtStreamAbort") {
    prepare();
    void *thread = start_thread(waits_until_told, NULL);
    while (read_told() == 0) {
        aclrtEvent latch = hold(launch);
        OK(aclrtStreamAbort(launch));
        OK(aclrtDestroyEvent(latch));
    }
    join_thread(thread);
    TRUE(read_told() == 107023);
}

RULE_MOCK(graph, an_abort_of_the_device_is_told_to_those_who_wait, "guide: aclrtDeviceTaskAbort") {
    prepare();
    void *thread = start_thread(waits_until_told, NULL);
    while (read_told() == 0) {
        aclrtEvent latch = hold(launch);
        OK(aclrtDeviceTaskAbort(0, 100));
        OK(aclrtDestroyEvent(latch));
    }
    join_thread(thread);
    TRUE(read_told() == 107022);
}

/* ---- what the chip does not have ---- */

RULE(graph, barriers_of_cache_maintenance, "guide: aclrtCmoAsyncWithBarrier") {
    prepare();
    aclrtBarrierTaskInfo info;
    memset(&info, 0, sizeof info);
    EXPECT(aclrtCmoAsyncWithBarrier(NULL, 64, ACL_RT_CMO_TYPE_INVALID, 1, head), 100000);
    EXPECT(aclrtCmoAsyncWithBarrier(memory, 64, ACL_RT_CMO_TYPE_INVALID, 0, head), 107000);
    EXPECT(aclrtCmoAsyncWithBarrier(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, 1, head), 107000);
    EXPECT(aclrtCmoWaitBarrier(&info, head, 0), 107000);
    info.barrierNum = 7;
    EXPECT(aclrtCmoWaitBarrier(&info, head, 0), 107000);
}
