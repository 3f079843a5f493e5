/* Part of racl (mock-acl). Cache maintenance (guide: cache memory operations; observed: cmo). */
#include "conform.h"

RULE(cmo, arguments, "observed: cmo") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclrtCmoAsync(NULL, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 100000);
    EXPECT_TEXT("EH0008");
    EXPECT(aclrtCmoAsync(device(64), 0, ACL_RT_CMO_TYPE_PREFETCH, stream), 100000);
}

RULE(cmo, all_four_types, "observed: cmo (the guide names the prefetch only)") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    for (int type = 0; type < 4; type++) EXPECT(aclrtCmoAsync(p, 64, (aclrtCmoType)type, stream), 0);
    EXPECT(aclrtCmoAsync(p, 64, (aclrtCmoType)4, stream), 207000);
    EXPECT(aclrtCmoAsync(p, 64, (aclrtCmoType)-1, stream), 207000);
    finish(stream);
}

RULE_ENV(cmo, the_documented_type_only, "guide: aclrtCmoAsync", "MOCK_ACL_STRICT=doc") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 0);
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_FLUSH, stream), 207000);
}

RULE(cmo, on_the_default_stream, "observed: cmo") {
    up();
    EXPECT(aclrtCmoAsync(device(64), 64, ACL_RT_CMO_TYPE_PREFETCH, NULL), 0);
    OK(aclrtSynchronizeDevice());
}

RULE(cmo, sizes_above_4_gib, "observed: cmo (5 GiB size)") {
    up();
    EXPECT(aclrtCmoAsync(device(64), (size_t)5 << 30, ACL_RT_CMO_TYPE_PREFETCH, new_stream()), 0);
}

RULE(cmo, data_stays, "guide: aclrtCmoAsync") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    fill(p, 5, 64);
    OK(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream));
    OK(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_WRITEBACK, stream));
    finish(stream);
    TRUE(byte_at(p) == 5);
}

RULE(cmo, in_a_graph, "observed: cmo") {
    up();
    void *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 0);
    replay(end(stream), new_stream());
}

RULE(cmo, not_in_a_task_group, "implementation: task groups hold kernels") {
    up();
    void *p = device(64);
    aclrtTaskGrp group = NULL;
    aclmdlRI graph = NULL;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream), 507009);
    aclmdlRICaptureTaskGrpEnd(stream, &group);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
}

RULE(cmo, descriptors_are_not_for_captures, "observed: cmo") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    TRUE(size > 0);
    void *desc = device(size), *p = device(64);
    aclrtStream eager = new_stream();
    OK(aclrtCmoSetDesc(desc, p, 64));
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, eager, NULL), 507000);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtCmoSetDesc(desc, p, 64), 0);
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, stream, NULL), 507000);
    end(stream);
}

RULE(cmo, writing_a_descriptor_in_a_capture, "observed: cmo") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtCmoSetDesc(desc, p, 64), 107030);
    end(stream);
}

RULE(cmo, a_bound_stream_takes_descriptors_only, "observed: build_ri; guide: aclrtCmoAsyncWithDesc") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64);
    aclrtStream bound = NULL;
    aclmdlRI graph = NULL;
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBuildBegin(&graph, 0));
    OK(aclmdlRIBindStream(graph, bound, 0));
    OK(aclrtCmoSetDesc(desc, p, 64));
    EXPECT(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, bound), 207000);
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, bound, NULL), 0);
}

RULE(cmo, the_whole_cache, "implementation: aclrtDeviceL2CacheFlush") {
    up();
    EITHER(aclrtDeviceL2CacheFlush(NULL), 0, 207000);
    int reserved = 0;
    EXPECT(aclrtDeviceL2CacheFlush(&reserved), 100000);
}

RULE(cmo, values_of_types, "header: aclrtCmoType") {
    TRUE(ACL_RT_CMO_TYPE_PREFETCH == 0 && ACL_RT_CMO_TYPE_WRITEBACK == 1);
    TRUE(ACL_RT_CMO_TYPE_INVALID == 2 && ACL_RT_CMO_TYPE_FLUSH == 3);
    TRUE(ACL_RT_CMO_MAX_BARRIER_NUM == 6);
    TRUE(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH == 5); /* of instructions, not of data */
}

RULE(cmo, any_alignment, "implementation: aclrtCmoAsync checks none") {
    up();
    aclrtStream stream = new_stream();
    char *p = (char *)device(64);
    EXPECT(aclrtCmoAsync(p + 1, 3, ACL_RT_CMO_TYPE_PREFETCH, stream), 0);
    finish(stream);
}

RULE(cmo, in_the_order_of_its_stream, "guide: aclrtCmoAsync (asynchronous)") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    fill(p, 1, 64);
    aclrtEvent latch = hold(stream);
    OK(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream));
    OK(aclrtMemsetAsync(p, 64, 2, 64, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 10), 507046);
    TRUE(byte_at(p) == 1);
    let_go(latch);
    finish(stream);
    TRUE(byte_at(p) == 2);
}

RULE(cmo, a_captured_one_is_a_task, "observed: cmo; guide: aclmdlRIGetTasksByStream") {
    up();
    void *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), inner = NULL;
    OK(aclrtCmoAsync(p, 64, ACL_RT_CMO_TYPE_PREFETCH, stream));
    aclmdlRI graph = end(stream);
    uint32_t streams = 1, tasks = 0;
    OK(aclmdlRIGetStreams(graph, &inner, &streams));
    OK(aclmdlRIGetTasksByStream(inner, NULL, &tasks));
    TRUE(tasks >= 1);
}

RULE(cmo, a_prefetch_beside_the_work, "guide: capture; observed: cmo, join_ok") {
    up();
    void *weights = device(4096), *p = device(64);
    aclrtStream side = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    aclrtEvent go = new_event(ACL_EVENT_SYNC), done = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(go, stream));
    OK(aclrtStreamWaitEvent(side, go));
    for (int i = 0; i < 4; i++)
        EXPECT(aclrtCmoAsync((char *)weights + 1024 * i, 1024, ACL_RT_CMO_TYPE_PREFETCH, side), 0);
    OK(aclrtMemsetAsync(p, 64, 9, 64, stream));
    OK(aclrtRecordEvent(done, side));
    OK(aclrtStreamWaitEvent(stream, done));
    aclmdlRI graph = end(stream);
    replay(graph, stream);
    replay(graph, stream);
    TRUE(byte_at(p) == 9);
}

RULE(cmo, descriptors_need_their_arguments, "implementation: aclrtCmoGetDescSize, aclrtCmoSetDesc") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64);
    EXPECT(aclrtCmoGetDescSize(NULL), 100000);
    EXPECT(aclrtCmoSetDesc(NULL, p, 64), 100000);
    EXPECT(aclrtCmoSetDesc(desc, NULL, 64), 100000);
    EXPECT(aclrtCmoSetDesc(desc, p, 0), 100000);
    EXPECT(aclrtCmoAsyncWithDesc(NULL, ACL_RT_CMO_TYPE_PREFETCH, new_stream(), NULL), 100000);
}

RULE(cmo, a_descriptor_may_change_between_executions, "guide: aclrtCmoAsyncWithDesc") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64), *q = device(128);
    aclrtStream bound = NULL, launch = new_stream();
    aclmdlRI model = NULL;
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclmdlRIBindStream(model, bound, 0));
    OK(aclrtCmoSetDesc(desc, p, 64));
    OK(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, bound, NULL));
    OK(aclmdlRIEndTask(model, bound));
    OK(aclmdlRIBuildEnd(model, NULL));
    replay(model, launch);
    EXPECT(aclrtCmoSetDesc(desc, q, 128), 0);
    replay(model, launch);
}

/* ---- barriers ---- */

static aclrtBarrierTaskInfo barrier(size_t count, aclrtCmoType type, uint32_t id) {
    aclrtBarrierTaskInfo info;
    memset(&info, 0, sizeof info);
    info.barrierNum = count;
    for (size_t i = 0; i < count && i < 6; i++) {
        info.cmoInfo[i].cmoType = type;
        info.cmoInfo[i].barrierId = id;
    }
    return info;
}

RULE(cmo, what_a_barrier_waits_for, "implementation: aclrtCmoWaitBarrier") {
    up();
    aclrtStream stream = new_stream();
    aclrtBarrierTaskInfo no_id = barrier(1, ACL_RT_CMO_TYPE_INVALID, 0);
    aclrtBarrierTaskInfo other = barrier(1, ACL_RT_CMO_TYPE_FLUSH, 1);
    aclrtBarrierTaskInfo none = barrier(0, ACL_RT_CMO_TYPE_INVALID, 1);
    aclrtBarrierTaskInfo seven = barrier(7, ACL_RT_CMO_TYPE_INVALID, 1);
    EXPECT(aclrtCmoWaitBarrier(NULL, stream, 0), 100000);
    EXPECT(aclrtCmoWaitBarrier(&no_id, stream, 0), 107000);
    EXPECT(aclrtCmoWaitBarrier(&other, stream, 0), 107000);
    EXPECT(aclrtCmoWaitBarrier(&none, stream, 0), 107000);
    EXPECT(aclrtCmoWaitBarrier(&seven, stream, 0), 107000);
}

RULE(cmo, ids_of_barriers, "implementation: aclrtCmoAsyncWithBarrier") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    EXPECT(aclrtCmoAsyncWithBarrier(p, 0, ACL_RT_CMO_TYPE_INVALID, 1, stream), 100000);
    EXPECT(aclrtCmoAsyncWithBarrier(p, 64, ACL_RT_CMO_TYPE_INVALID, 0, stream), 107000);
    const aclrtCmoType others[] = {
        ACL_RT_CMO_TYPE_PREFETCH, ACL_RT_CMO_TYPE_WRITEBACK, ACL_RT_CMO_TYPE_FLUSH};
    for (int i = 0; i < 3; i++) EXPECT(aclrtCmoAsyncWithBarrier(p, 64, others[i], 1, stream), 107000);
}

RULE(cmo, a_chip_without_barriers, "guide: aclrtCmoAsyncWithBarrier, supported products") {
    up();
    aclrtStream stream = new_stream();
    aclrtBarrierTaskInfo six = barrier(6, ACL_RT_CMO_TYPE_INVALID, 1);
    EXPECT(aclrtCmoAsyncWithBarrier(device(64), 64, ACL_RT_CMO_TYPE_INVALID, 1, stream), 207000);
    EXPECT(aclrtCmoAsyncWithBarrier(device(64), 64, ACL_RT_CMO_TYPE_PREFETCH, 0, stream), 207000);
    EXPECT(aclrtCmoWaitBarrier(&six, stream, 0), 207000);
}

RULE_MOCK(cmo, the_descriptor_form_is_a_prefetch, "header: aclrtCmoAsyncWithDesc; own choice of the code") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *desc = device(size), *p = device(64);
    aclrtStream bound = NULL;
    aclmdlRI model = NULL;
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclmdlRIBindStream(model, bound, 0));
    OK(aclrtCmoSetDesc(desc, p, 64));
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_FLUSH, bound, NULL), 107000);
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, bound, p), 107000);
    EXPECT(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, bound, NULL), 0);
}

RULE_MOCK(cmo, a_descriptor_lies_in_device_memory, "own choice of the code") {
    up();
    size_t size = 0;
    OK(aclrtCmoGetDescSize(&size));
    void *host = pinned(size), *p = device(64);
    aclrtStream bound = NULL;
    aclmdlRI model = NULL;
    OK(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclmdlRIBindStream(model, bound, 0));
    static char pageable[256];
    EXPECT(aclrtCmoSetDesc(pageable, p, 64), 107000);
    EXPECT(aclrtCmoAsyncWithDesc(host, ACL_RT_CMO_TYPE_PREFETCH, bound, NULL), 107000);
}
