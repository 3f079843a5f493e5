/* Part of racl (mock-acl). Captures: what is recorded, forks, joins, events of other kinds. */
#include "conform.h"

#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED

static aclrtStream origin, side;
static aclrtEvent fork_event, join_event;
static uint64_t *memory;

static void prepare(void) {
    up();
    memory = (uint64_t *)device(128);
    fill(memory, 0, 128);
    side = new_stream();
    fork_event = new_event(ACL_EVENT_SYNC);
    join_event = new_event(ACL_EVENT_SYNC);
    origin = begin(RELAXED);
}

static void forked(void) {
    prepare();
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
}

static void join(void) {
    OK(aclrtRecordEvent(join_event, side));
    OK(aclrtStreamWaitEvent(origin, join_event));
}

static void ends_with(int code) {
    aclmdlRI graph = (aclmdlRI)memory;
    EXPECT(aclmdlRICaptureEnd(origin, &graph), code);
    TRUE((graph == NULL) == (code != 0));
}

/* ---- what is recorded ---- */

RULE(graph, memset_is_recorded, "guide: capture") {
    prepare();
    OK(aclrtMemsetAsync(memory, 8, 1, 8, origin));
    replay(end(origin), origin);
    TRUE(byte_at(memory) == 1);
}

RULE(graph, copies_between_device_addresses_are_recorded, "guide: capture") {
    prepare();
    put_u64(memory, 7);
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin));
    replay(end(origin), origin);
    TRUE(u64_at(memory + 1) == 7);
}

RULE(graph, pinned_memory_is_read_at_each_replay, "guide: capture") {
    prepare();
    uint64_t *host = (uint64_t *)pinned(8);
    OK(aclrtMemcpyAsync(memory, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, origin));
    aclmdlRI graph = end(origin);
    for (uint64_t i = 1; i < 4; i++) {
        *host = i;
        replay(graph, origin);
        TRUE(u64_at(memory) == i);
    }
}

RULE(graph, pinned_memory_is_written_at_each_replay, "guide: capture") {
    prepare();
    uint64_t *host = (uint64_t *)pinned(8);
    OK(aclrtMemcpyAsync(host, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST, origin));
    aclmdlRI graph = end(origin);
    for (uint64_t i = 1; i < 4; i++) {
        put_u64(memory, i);
        replay(graph, origin);
        TRUE(*host == i);
    }
}

RULE(graph, values_are_recorded, "guide: memory value operations") {
    prepare();
    OK(aclrtValueWrite(memory, 3, 0, origin));
    OK(aclrtValueWait(memory, 3, ACL_STREAM_WAIT_VALUE_EQ, origin));
    OK(aclrtValueWrite(memory + 1, 4, 0, origin));
    replay(end(origin), origin);
    TRUE(u64_at(memory + 1) == 4);
}

RULE(graph, batches_are_recorded, "implementation: aclrtMemcpyBatchAsync") {
    prepare();
    uint64_t *host = (uint64_t *)pinned(16);
    void *to[2] = {memory, memory + 1}, *from[2] = {host, host + 1};
    size_t size[2] = {8, 8}, first[1] = {0}, failed = 0;
    aclrtMemcpyBatchAttr attr;
    memset(&attr, 0, sizeof attr);
    attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    EXPECT(aclrtMemcpyBatchAsync(to, size, from, size, 2, &attr, first, 1, &failed, origin), 0);
    aclmdlRI graph = end(origin);
    host[0] = 3;
    host[1] = 4;
    replay(graph, origin);
    TRUE(u64_at(memory) == 3 && u64_at(memory + 1) == 4);
}


static int called;
static void note_call(void *argument) { called += *(int *)argument; }

RULE(graph, host_functions_run_in_each_replay, "guide: callbacks") {
    prepare();
    static int amount = 2;
    OK(aclrtLaunchHostFunc(origin, note_call, &amount));
    aclmdlRI graph = end(origin);
    TRUE(called == 0);
    replay(graph, origin);
    replay(graph, origin);
    TRUE(called == 4);
}

RULE(graph, notifies_are_recorded, "guide: notify") {
    prepare();
    aclrtNotify notify = NULL;
    OK(aclrtCreateNotify(&notify, 0));
    OK(aclrtRecordNotify(notify, origin));
    OK(aclrtWaitAndResetNotify(notify, origin, 0));
    OK(aclrtValueWrite(memory, 5, 0, origin));
    aclmdlRI graph = end(origin);
    replay(graph, origin);
    replay(graph, origin);
    TRUE(u64_at(memory) == 5);
}

RULE(graph, cache_maintenance_is_recorded, "observed: cmo") {
    prepare();
    EXPECT(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, origin), 0);
    replay(end(origin), origin);
}

RULE(graph, copies_of_nothing_add_nothing, "implementation: aclrtMemcpyAsync") {
    prepare();
    EXPECT(aclrtMemcpyAsync(memory, 8, memory, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, origin), 0);
    replay(end(origin), origin);
}

RULE(graph, the_order_of_a_stream_is_kept, "guide: capture") {
    prepare();
    OK(aclrtValueWrite(memory, 1, 0, origin));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin));
    OK(aclrtValueWrite(memory, 2, 0, origin));
    replay(end(origin), origin);
    TRUE(u64_at(memory) == 2 && u64_at(memory + 1) == 1);
}

/* ---- forks and joins ---- */

RULE(graph, a_fork_and_a_join, "observed: join_ok") {
    forked();
    OK(aclrtValueWrite(memory, 1, 0, side));
    join();
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, origin));
    replay(end(origin), origin);
    TRUE(u64_at(memory + 1) == 1);
}

RULE(graph, the_side_stream_is_free_after_the_end, "observed: join_ok") {
    forked();
    join();
    end(origin);
    EXPECT(aclrtSynchronizeStream(side), 0);
    OK(aclrtMemsetAsync(memory, 8, 1, 8, side));
    finish(side);
    TRUE(byte_at(memory) == 1);
}

RULE(graph, a_join_through_another_stream, "guide: capture") {
    forked();
    aclrtStream third = new_stream();
    aclrtEvent one = new_event(ACL_EVENT_SYNC), two = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(one, side));
    OK(aclrtStreamWaitEvent(third, one));
    OK(aclrtValueWrite(memory, 9, 0, third));
    OK(aclrtRecordEvent(two, third));
    OK(aclrtStreamWaitEvent(side, two));
    join();
    replay(end(origin), origin);
    TRUE(u64_at(memory) == 9);
}

RULE(graph, a_side_stream_that_is_not_joined, "observed: capture_end") {
    forked();
    OK(aclrtValueWrite(memory, 1, 0, side));
    ends_with(107025);
}

RULE(graph, work_behind_the_last_record, "observed: join_trailing") {
    forked();
    join();
    OK(aclrtValueWrite(memory, 1, 0, side));
    ends_with(107025);
}

RULE(graph, a_side_stream_without_work, "observed: join_nowork") {
    forked();
    ends_with(107025);
}

RULE(graph, a_record_that_nobody_waits_for_on_the_origin, "guide: capture") {
    prepare();
    OK(aclrtRecordEvent(fork_event, origin));
    ends_with(0);
}

RULE(graph, a_record_that_nobody_waits_for_on_the_side, "guide: capture") {
    forked();
    OK(aclrtRecordEvent(join_event, side));
    ends_with(107025);
}

RULE(graph, an_event_recorded_again, "guide: capture") {
    prepare();
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtValueWrite(memory, 1, 0, origin));
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    OK(aclrtMemcpyAsync(memory + 1, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, side));
    join();
    replay(end(origin), origin);
    TRUE(u64_at(memory + 1) == 1);
}

RULE(graph, a_fork_into_the_default_stream, "observed: fork_default") {
    prepare();
    OK(aclrtRecordEvent(fork_event, origin));
    EXPECT(aclrtStreamWaitEvent(NULL, fork_event), 107031);
    ends_with(0); /* which breaks nothing */
}

RULE(graph, a_fork_into_a_stream_of_a_bad_kind, "guide: capture") {
    prepare();
    aclrtStream bad = NULL;
    OK(aclrtCreateStreamWithConfig(&bad, 0, ACL_STREAM_CPU_SCHEDULE));
    OK(aclrtRecordEvent(fork_event, origin));
    EXPECT(aclrtStreamWaitEvent(bad, fork_event), 507000);
}

RULE(graph, a_fork_into_a_bound_stream, "observed, not recorded") {
    prepare();
    aclrtStream bound = NULL;
    aclmdlRI model = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, bound, 0));
    OK(aclrtRecordEvent(fork_event, origin));
    EXPECT(aclrtStreamWaitEvent(bound, fork_event), 207000);
}

RULE(graph, a_fork_under_another_context, "observed: fork_foreign_ctx") {
    prepare();
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclrtStreamWaitEvent(side, fork_event), 107003);
    OK(aclrtSetCurrentContext(mine));
    ends_with(0);
}

/* ---- events ---- */

RULE(graph, a_wait_for_an_event_recorded_outside, "observed: event_outside") {
    up();
    aclrtStream other = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, other));
    finish(other);
    origin = begin(RELAXED);
    EXPECT(aclrtStreamWaitEvent(origin, event), 107024);
    end(origin);
}

RULE(graph, a_wait_for_an_event_never_recorded, "observed: event_outside") {
    prepare();
    EXPECT(aclrtStreamWaitEvent(origin, fork_event), 0);
    replay(end(origin), origin);
}

RULE(graph, a_wait_for_an_event_of_another_capture, "observed: cross_graph") {
    prepare();
    aclrtStream second = begin(RELAXED);
    aclmdlRI graph = NULL;
    OK(aclrtRecordEvent(fork_event, origin));
    EXPECT(aclrtStreamWaitEvent(second, fork_event), 107032);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    OK(aclmdlRICaptureGetInfo(origin, &status, NULL));
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE); /* the model is marked, not the stream */
    EXPECT(aclrtValueWrite(memory, 1, 0, second), 0);
    EXPECT(aclmdlRICaptureEnd(second, &graph), 507903);
    ends_with(507903);
}

RULE(graph, recording_the_event_of_another_capture, "observed: cross_graph") {
    prepare();
    aclrtStream second = begin(RELAXED);
    OK(aclrtRecordEvent(fork_event, origin));
    EXPECT(aclrtRecordEvent(fork_event, second), 0);
    end(second);
    ends_with(0);
}

RULE(graph, recording_a_captured_event_elsewhere, "observed: record_elsewhere") {
    prepare();
    OK(aclrtRecordEvent(fork_event, origin));
    EXPECT(aclrtRecordEvent(fork_event, side), 0);
    finish(side);
    ends_with(0);
}

RULE(graph, an_ex_event_without_sync, "observed: event_kinds") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_TIME_LINE);
    EXPECT(aclrtRecordEvent(event, origin), 0);
    EXPECT(aclrtStreamWaitEvent(origin, event), 207000);
    end(origin);
}

RULE(graph, an_ex_event_with_more_flags, "observed: event_kinds") {
    prepare();
    aclrtEvent event = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS);
    EXPECT(aclrtRecordEvent(event, origin), 0);
    EXPECT(aclrtStreamWaitEvent(side, event), 0);
    join();
    end(origin);
}

RULE(graph, an_event_of_the_old_kind, "observed: event_kinds") {
    prepare();
    aclrtEvent event = NULL;
    OK(aclrtCreateEvent(&event));
    EXPECT(aclrtRecordEvent(event, origin), 207000);
    end(origin);
}

RULE(graph, an_old_event_with_flags, "observed: event_kinds") {
    prepare();
    aclrtEvent event = old_event(ACL_EVENT_SYNC);
    EXPECT(aclrtRecordEvent(event, origin), 207000);
    EXPECT(aclrtStreamWaitEvent(origin, event), 207000);
    end(origin);
}

RULE(graph, the_event_is_as_before_after_the_end, "guide: capture") {
    forked();
    join();
    aclmdlRI graph = end(origin);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    replay(graph, origin);
    OK(aclrtQueryEventStatus(join_event, &status));
    TRUE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE); /* never recorded: complete */
    OK(aclrtRecordEvent(join_event, side));
    EXPECT(aclrtStreamWaitEvent(origin, join_event), 0);
    finish(origin);
}

RULE(graph, events_may_go_before_the_graph, "observed: event_destroy_in_capture") {
    forked();
    OK(aclrtValueWrite(memory, 1, 0, side));
    join();
    OK(aclrtDestroyEvent(fork_event));
    OK(aclrtDestroyEvent(join_event));
    aclmdlRI graph = end(origin);
    replay(graph, origin);
    replay(graph, origin);
    TRUE(u64_at(memory) == 1);
}

RULE(graph, streams_may_go_before_the_graph, "guide: capture") {
    forked();
    OK(aclrtValueWrite(memory, 1, 0, side));
    join();
    aclmdlRI graph = end(origin);
    OK(aclrtDestroyStream(origin));
    OK(aclrtDestroyStream(side));
    replay(graph, new_stream());
    TRUE(u64_at(memory) == 1);
}
