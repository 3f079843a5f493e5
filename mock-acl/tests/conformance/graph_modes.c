/* Part of racl (mock-acl). Captures: what they forbid around them, by mode, context and thread. */
#include "conform.h"

#define GLOBAL ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
#define LOCAL ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED ACL_MODEL_RI_CAPTURE_MODE_RELAXED
#define TO_DEVICE ACL_MEMCPY_HOST_TO_DEVICE

static unsigned char *memory;
static aclmdlRICaptureMode mode_of_thread; /* what a thread sets before it copies */
static int its_capture;                    /* the mode of a capture of its own, -1 for none */
static aclError seen;

static aclmdlRICaptureMode exchange(aclmdlRICaptureMode mode) {
    OK(aclmdlRICaptureThreadExchangeMode(&mode));
    return mode;
}

static aclError synchronous(void) { return aclrtMemset(memory, 64, 1, 64); }

static void copies(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    exchange(mode_of_thread);
    aclrtStream own = NULL;
    if (its_capture >= 0) own = begin((aclmdlRICaptureMode)its_capture);
    seen = synchronous();
    if (own != NULL) end(own);
}

/* The answer to a synchronous call of another thread, beside a capture of `mode` of this one. */
static aclError beside(aclmdlRICaptureMode mode, aclmdlRICaptureMode exchanged, int own) {
    aclrtStream stream = begin(mode);
    mode_of_thread = exchanged;
    its_capture = own;
    join_thread(start_thread(copies, NULL));
    end(stream);
    return seen;
}

static void prepare(void) {
    up();
    memory = (unsigned char *)device(64);
}

RULE(graph, exchange_needs_a_mode, "observed: sync_copy_modes") {
    up();
    EXPECT(aclmdlRICaptureThreadExchangeMode(NULL), 100000);
}

RULE(graph, exchange_with_an_unknown_mode, "observed: sync_copy_modes") {
    up();
    aclmdlRICaptureMode mode = (aclmdlRICaptureMode)3;
    EXPECT(aclmdlRICaptureThreadExchangeMode(&mode), 107000);
}

RULE(graph, exchange_gives_the_old_mode, "guide: aclmdlRICaptureThreadExchangeMode") {
    up();
    TRUE(exchange(RELAXED) == GLOBAL);
    TRUE(exchange(LOCAL) == RELAXED);
    TRUE(exchange(GLOBAL) == LOCAL);
}

RULE(graph, the_exchanged_mode_survives_a_capture, "guide: aclmdlRICaptureThreadExchangeMode") {
    up();
    exchange(RELAXED);
    end(begin(GLOBAL));
    TRUE(exchange(GLOBAL) == RELAXED);
}

static void new_thread_mode(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    TRUE(exchange(GLOBAL) == GLOBAL);
}

RULE(graph, the_exchanged_mode_is_of_the_thread, "guide: aclmdlRICaptureThreadExchangeMode") {
    up();
    exchange(RELAXED);
    join_thread(start_thread(new_thread_mode, NULL));
}

RULE(graph, without_a_capture_all_is_allowed, "guide: capture modes") {
    prepare();
    for (int mode = 0; mode < 3; mode++) {
        exchange((aclmdlRICaptureMode)mode);
        EXPECT(synchronous(), 0);
    }
}

/* ---- the table: the thread that captures ---- */

static void own_thread(aclmdlRICaptureMode mode, aclmdlRICaptureMode exchanged, int code) {
    prepare();
    exchange(exchanged);
    aclrtStream stream = begin(mode);
    EXPECT(synchronous(), code);
    end(stream);
    EXPECT(synchronous(), 0);
}

RULE(graph, own_global, "observed: sync_copy_modes") { own_thread(GLOBAL, GLOBAL, 107030); }
RULE(graph, own_local, "observed: sync_copy_modes") { own_thread(LOCAL, GLOBAL, 107030); }
RULE(graph, own_relaxed, "observed: sync_copy_modes") { own_thread(RELAXED, GLOBAL, 0); }
RULE(graph, own_global_exchanged_local, "observed: sync_copy_modes") { own_thread(GLOBAL, LOCAL, 107030); }
RULE(graph, own_local_exchanged_local, "observed: sync_copy_modes") { own_thread(LOCAL, LOCAL, 107030); }
RULE(graph, own_relaxed_exchanged_local, "observed: sync_copy_modes") { own_thread(RELAXED, LOCAL, 0); }
RULE(graph, own_global_exchanged_relaxed, "observed: sync_copy_modes") { own_thread(GLOBAL, RELAXED, 0); }
RULE(graph, own_local_exchanged_relaxed, "observed: sync_copy_modes") { own_thread(LOCAL, RELAXED, 0); }

/* ---- the table: another thread of the context ---- */

RULE(graph, another_thread_beside_global, "guide: capture modes") {
    prepare();
    EXPECT(beside(GLOBAL, GLOBAL, -1), 107030);
}

RULE(graph, another_thread_beside_local, "guide: capture modes") {
    prepare();
    EXPECT(beside(LOCAL, GLOBAL, -1), 0);
}

RULE(graph, another_thread_beside_relaxed, "guide: capture modes") {
    prepare();
    EXPECT(beside(RELAXED, GLOBAL, -1), 0);
}

RULE(graph, another_thread_exchanged_relaxed_beside_global, "guide: aclmdlRICaptureThreadExchangeMode") {
    prepare();
    EXPECT(beside(GLOBAL, RELAXED, -1), 0);
}

RULE(graph, another_thread_exchanged_local_beside_global, "implementation: capture modes") {
    prepare();
    EXPECT(beside(GLOBAL, LOCAL, -1), 0);
}

RULE(graph, another_thread_with_a_local_capture_beside_global, "implementation: capture modes") {
    prepare();
    EXPECT(beside(GLOBAL, LOCAL, LOCAL), 107030);
}

RULE(graph, another_thread_with_a_relaxed_capture_beside_local, "implementation: capture modes") {
    prepare();
    EXPECT(beside(LOCAL, GLOBAL, RELAXED), 0);
}

RULE(graph, another_thread_with_a_global_capture_beside_relaxed, "implementation: capture modes") {
    prepare();
    EXPECT(beside(RELAXED, GLOBAL, GLOBAL), 107030);
}

RULE(graph, the_strictest_capture_counts, "implementation: capture modes") {
    prepare();
    aclrtStream lax = begin(RELAXED), strict = begin(GLOBAL), local = begin(LOCAL), last = begin(RELAXED);
    EXPECT(synchronous(), 107030);
    mode_of_thread = GLOBAL;
    its_capture = -1;
    join_thread(start_thread(copies, NULL));
    EXPECT(seen, 107030); /* GLOBAL, for threads without a capture too */
    end(strict);
    EXPECT(synchronous(), 107030);
    join_thread(start_thread(copies, NULL));
    EXPECT(seen, 0); /* THREAD_LOCAL by now */
    end(local);
    EXPECT(synchronous(), 0);
    end(lax);
    end(last);
}

RULE(graph, one_of_two_global_captures_is_enough, "implementation: capture modes") {
    prepare();
    aclrtStream one = begin(GLOBAL), two = begin(GLOBAL);
    end(one);
    EXPECT(synchronous(), 107030);
    end(two);
    EXPECT(synchronous(), 0);
}

RULE(graph, another_context_is_free, "observed: sync_device_other_ctx_capture") {
    prepare();
    aclrtContext mine = NULL, other = NULL;
    OK(aclrtGetCurrentContext(&mine));
    aclrtStream stream = begin(GLOBAL);
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclrtMemset(memory, 64, 1, 64), 0);
    OK(aclrtSetCurrentContext(mine));
    end(stream);
}

RULE(graph, one_of_two_local_captures_is_enough, "implementation: capture modes") {
    prepare();
    aclrtStream one = begin(LOCAL), two = begin(LOCAL);
    end(one);
    EXPECT(synchronous(), 107030);
    end(two);
    EXPECT(synchronous(), 0);
}

RULE(graph, a_local_capture_beside_a_relaxed_one, "implementation: capture modes") {
    prepare();
    aclrtStream lax = begin(RELAXED), strict = begin(LOCAL), last = begin(RELAXED);
    EXPECT(synchronous(), 107030);
    end(strict);
    EXPECT(synchronous(), 0);
    end(lax);
    end(last);
}

RULE(graph, another_thread_with_a_local_capture_of_its_own, "implementation: capture modes") {
    prepare();
    EXPECT(beside(LOCAL, GLOBAL, LOCAL), 107030);
}

RULE(graph, another_thread_exchanged_local_with_a_relaxed_capture, "implementation: capture modes") {
    prepare();
    EXPECT(beside(GLOBAL, LOCAL, RELAXED), 0);
}

RULE(graph, another_thread_exchanged_relaxed_with_a_global_capture, "implementation: capture modes") {
    prepare();
    EXPECT(beside(GLOBAL, RELAXED, GLOBAL), 0);
}

RULE(graph, another_context_waits_for_its_device, "observed: sync_device_other_ctx_capture") {
    prepare();
    aclrtContext mine = NULL, other = NULL;
    aclrtStream stream = begin(GLOBAL);
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    EXPECT(aclrtSynchronizeDevice(), 0);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(1000), 0);
    OK(aclrtSetCurrentContext(mine));
    EXPECT(aclrtSynchronizeDevice(), 107027);
    end(stream);
    EXPECT(aclrtSynchronizeDevice(), 0);
}

RULE(graph, a_denied_call_does_nothing, "guide: capture modes") {
    prepare();
    unsigned char host[64];
    memset(host, 9, sizeof host);
    fill(memory, 1, 64);
    aclrtStream stream = begin(GLOBAL);
    EXPECT(aclrtMemset(memory, 64, 2, 64), 107030);
    EXPECT(aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), 107030);
    EXPECT(aclrtMemcpy(host, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST), 107030);
    EXPECT_TEXT("EE1016");
    TRUE(host[0] == 9 && host[63] == 9);
    end(stream);
    TRUE(byte_at(memory) == 1);
}

RULE(graph, calls_that_look_at_nothing_are_not_denied, "observed: sync_copy_modes") {
    prepare();
    aclrtStream stream = begin(GLOBAL);
    EXPECT(aclrtMemcpy(memory, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), 0);
    EXPECT(aclrtMemcpy(memory, 64, NULL, 0, ACL_MEMCPY_HOST_TO_DEVICE), 0);
    end(stream);
}

/* ---- what counts as unsafe ---- */

static void beside_global(int which, int code) {
    prepare();
    void *host = pinned(64), *size_host = malloc(64);
    NEED(size_host != NULL);
    aclrtStream capture = begin(GLOBAL), other = new_stream();
    aclrtEvent event = NULL;
    aclrtStream more = NULL;
    aclrtStreamStatus status;
    void *block = NULL;
    size_t free_bytes = 0, total = 0;
    switch (which) {
    case 0: EXPECT(aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE), code); break;
    case 1: EXPECT(aclrtMemset(memory, 64, 0, 64), code); break;
    case 2: EXPECT(aclrtMemcpy2d(memory, 8, host, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE), code); break;
    case 3: EXPECT(aclrtMemcpy(size_host, 64, host, 64, ACL_MEMCPY_HOST_TO_HOST), code); break;
    case 4: EXPECT(aclrtCmoSetDesc(memory, memory, 64), code); break;
    case 5: EXPECT(aclrtMemcpyAsync(memory, 64, size_host, 64, ACL_MEMCPY_HOST_TO_DEVICE, other), code); break;
    case 6: EXPECT(aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, other), code); break;
    case 7: EXPECT(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), code); break;
    case 8: EXPECT(aclrtFree(memory), code); break;
    case 9: EXPECT(aclrtMallocHost(&block, 64), code); break;
    case 10: EXPECT(aclrtFreeHost(host), code); break;
    case 11: EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), code); break;
    case 12: EXPECT(aclrtCreateStream(&more), code); break;
    case 13: EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total), code); break;
    case 14: EXPECT(aclrtMemsetAsync(memory, 64, 0, 64, other), code); break;
    case 15: EXPECT(aclrtSynchronizeStream(other), code); break;
    case 16: EXPECT(aclrtMemsetD32(memory, 64, 1, 4), code); break;
    case 17: EXPECT(aclrtDestroyEvent(new_event(ACL_EVENT_SYNC)), code); break;
    case 18: EXPECT(aclrtDestroyStream(new_stream()), code); break;
    case 19: EXPECT(aclrtMemcpy2dAsync(memory, 8, size_host, 8, 8, 8, TO_DEVICE, other), code); break;
    case 20: EXPECT(aclrtStreamQuery(other, &status), code); break;
    default: break;
    }
    end(capture);
    finish(other);
}

static void batch_beside_global(int asynchronous, int code) {
    prepare();
    char local[16] = {0};
    void *to[2] = {memory, memory + 8}, *from[2] = {local, local + 8};
    size_t size[2] = {8, 8}, first[1] = {0}, failed = 0;
    aclrtMemcpyBatchAttr attr;
    memset(&attr, 0, sizeof attr);
    attr.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attr.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    aclrtStream capture = begin(GLOBAL), other = new_stream();
    if (asynchronous)
        EXPECT(aclrtMemcpyBatchAsync(to, size, from, size, 2, &attr, first, 1, &failed, other), code);
    else EXPECT(aclrtMemcpyBatch(to, size, from, size, 2, &attr, first, 1, &failed), code);
    end(capture);
    finish(other);
}

RULE(graph, unsafe_copy, "observed: sync_copy_modes") { beside_global(0, 107030); }
RULE(graph, unsafe_memset, "observed: sync_copy_modes") { beside_global(1, 107030); }
RULE(graph, unsafe_copy_2d, "guide: aclmdlRICaptureBegin") { beside_global(2, 107030); }
RULE(graph, unsafe_host_copy, "observed: sync_copy_modes") { beside_global(3, 107030); }
RULE(graph, unsafe_descriptor, "observed: cmo") { beside_global(4, 107030); }
RULE(graph, unsafe_pageable_copy_elsewhere, "observed: pageable") { beside_global(5, 107041); }
RULE(graph, safe_pinned_copy_elsewhere, "observed: pageable") { beside_global(6, 0); }
RULE(graph, safe_malloc, "implementation: capture modes") { beside_global(7, 0); }
RULE(graph, safe_free, "implementation: capture modes") { beside_global(8, 0); }
RULE(graph, safe_malloc_host, "implementation: capture modes") { beside_global(9, 0); }
RULE(graph, safe_free_host, "implementation: capture modes") { beside_global(10, 0); }
RULE(graph, safe_event_creation, "implementation: capture modes") { beside_global(11, 0); }
RULE(graph, safe_stream_creation, "implementation: capture modes") { beside_global(12, 0); }
RULE(graph, safe_memory_query, "implementation: capture modes") { beside_global(13, 0); }
RULE(graph, safe_eager_work, "guide: capture") { beside_global(14, 0); }
RULE(graph, safe_wait_for_another_stream, "observed: capturing_calls") { beside_global(15, 0); }
RULE(graph, unsafe_memset_of_words, "implementation: capture modes") { beside_global(16, 107030); }
RULE(graph, safe_event_destruction, "implementation: capture modes") { beside_global(17, 0); }
RULE(graph, safe_stream_destruction, "implementation: capture modes") { beside_global(18, 0); }
RULE(graph, unsafe_pageable_rows_elsewhere, "implementation: aclrtMemcpy2dAsync") {
    beside_global(19, 107041);
}
RULE(graph, safe_query_of_another_stream, "observed: capturing_calls") { beside_global(20, 0); }
RULE(graph, unsafe_batch, "implementation: capture modes") { batch_beside_global(0, 107030); }
RULE(graph, unsafe_pageable_batch_elsewhere, "implementation: aclrtMemcpyBatchAsync") {
    batch_beside_global(1, 107041);
}

/* ---- calls that no mode allows ---- */

static void on_capturing(int which, int code) {
    prepare();
    void *pageable = malloc(64);
    NEED(pageable != NULL);
    aclmdlRI ready = end(begin(RELAXED));
    aclrtStream s = begin(RELAXED), other = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtStreamStatus status;
    OK(aclrtRecordEvent(event, s));
    switch (which) {
    case 0: EXPECT(aclrtSynchronizeStream(s), code); break;
    case 1: EXPECT(aclrtSynchronizeStreamWithTimeout(s, 10), code); break;
    case 2: EXPECT(aclrtStreamQuery(s, &status), code); break;
    case 3: EXPECT(aclrtDestroyStream(s), code); break;
    case 4: EXPECT(aclrtDestroyStreamForce(s), code); break;
    case 5: EXPECT(aclrtSynchronizeDevice(), code); break;
    case 6: EXPECT(aclrtSynchronizeDeviceWithTimeout(10), code); break;
    case 7: EXPECT(aclmdlRIExecuteAsync(ready, s), code); break;
    case 8: EXPECT(aclrtSetStreamOverflowSwitch(s, 1), code); break;
    case 9: EXPECT(aclrtMemcpyAsync(memory, 64, pageable, 64, ACL_MEMCPY_HOST_TO_DEVICE, s), code); break;
    case 10: EXPECT(aclrtSynchronizeEvent(event), code); break;
    case 11: EXPECT(aclrtCmoAsyncWithDesc(memory, ACL_RT_CMO_TYPE_PREFETCH, s, NULL), code); break;
    case 12: EXPECT(aclrtStreamWaitEvent(NULL, event), code); break;
    case 13: EXPECT(aclrtRecordEvent(event, NULL), code); break;
    case 14: EXPECT(aclrtMemcpy2dAsync(memory, 8, pageable, 8, 8, 8, TO_DEVICE, s), code); break;
    case 15: EXPECT(aclrtMemcpyAsync(pageable, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST, s), code); break;
    case 16: EXPECT(aclmdlRICaptureBegin(s, GLOBAL), code); break;
    case 17: EXPECT(aclrtSetStreamFailureMode(s, ACL_STOP_ON_FAILURE), code); break;
    default: break;
    }
    end(s); /* it goes on as if nothing had been */
    finish(other);
}

RULE(graph, capturing_synchronize, "observed: capturing_calls") { on_capturing(0, 107027); }
RULE(graph, capturing_synchronize_with_timeout, "observed: capturing_calls") { on_capturing(1, 107027); }
RULE(graph, capturing_query, "observed: capturing_calls") { on_capturing(2, 107027); }
RULE(graph, capturing_destroy, "observed: capturing_calls") { on_capturing(3, 107027); }
RULE(graph, capturing_destroy_by_force, "observed: capturing_calls") { on_capturing(4, 107027); }
RULE(graph, capturing_synchronize_device, "observed: capturing_calls") { on_capturing(5, 107027); }
RULE(graph, capturing_synchronize_device_with_timeout, "observed: capturing_calls") { on_capturing(6, 107027); }
RULE(graph, capturing_nested_graph, "observed: execute") { on_capturing(7, 107027); }
RULE(graph, capturing_overflow_switch, "observed: capturing_calls") { on_capturing(8, 107027); }
RULE(graph, capturing_pageable_copy, "observed: pageable") { on_capturing(9, 107000); }
RULE(graph, capturing_event_synchronize, "observed: join_ok") { on_capturing(10, 107028); }
RULE(graph, capturing_cache_descriptor, "observed: cmo") { on_capturing(11, 507000); }
RULE(graph, capturing_default_stream_wait, "observed: fork_default") { on_capturing(12, 107031); }
RULE(graph, capturing_default_stream_record, "observed: default_record") { on_capturing(13, 0); }
RULE(graph, capturing_pageable_rows, "implementation: aclrtMemcpy2dAsync") { on_capturing(14, 107000); }
RULE(graph, capturing_pageable_copy_back, "guide: aclrtMemcpyAsync") { on_capturing(15, 107000); }
RULE(graph, capturing_begin_again, "observed: capture_begin") { on_capturing(16, 107027); }
RULE(graph, capturing_failure_mode, "observed: capturing_calls") { on_capturing(17, 0); }

/* Either check may come first. */
RULE(graph, older_queries_of_captured_events, "observed: event_query; guide: aclrtQueryEvent") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtEventStatus status;
    aclrtEventWaitStatus waits;
    OK(aclrtRecordEvent(event, stream));
    EITHER(aclrtQueryEvent(event, &status), 107028, 207000);
    EITHER(aclrtQueryEventWaitStatus(event, &waits), 107028, 207000);
    end(stream);
}

RULE(graph, the_same_calls_on_a_side_stream, "observed: destroy_side") {
    up();
    aclrtStream stream = begin(RELAXED), side = new_stream();
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    aclrtStreamStatus status;
    aclmdlRI graph = NULL;
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtStreamWaitEvent(side, event));
    EXPECT(aclrtDestroyStream(side), 107027);
    EXPECT(aclrtSynchronizeStream(side), 107027);
    EXPECT(aclrtStreamQuery(side, &status), 107027);
    EXPECT(aclmdlRICaptureBegin(side, RELAXED), 107027);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 107025);
    EXPECT(aclrtDestroyStream(side), 0);
}

RULE(graph, queries_of_captured_events, "observed: join_ok, event_elapsed_captured") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclrtEvent event = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    aclrtEventRecordedStatus status;
    float ms = 0;
    uint64_t us = 0;
    OK(aclrtRecordEvent(event, stream));
    EXPECT(aclrtQueryEventStatus(event, &status), 107028);
    EXPECT(aclrtSynchronizeEventWithTimeout(event, 10), 107028);
    EXPECT(aclrtEventElapsedTime(&ms, event, event), 107028);
    EXPECT(aclrtEventGetTimestamp(event, &us), 107028);
    end(stream);
    EXPECT(aclrtQueryEventStatus(event, &status), 0); /* as if it had not been recorded */
    TRUE(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

RULE_MOCK(graph, abort_of_a_capturing_stream, "observed: capturing_calls") {
    up();
    aclrtStream stream = begin(RELAXED);
    EXPECT(aclrtStreamAbort(stream), 0);
    end(stream);
}

RULE(graph, binding_a_capturing_stream, "observed: bind_capturing") {
    up();
    aclrtStream stream = NULL;
    aclmdlRI model = NULL;
    OK(aclmdlRIBuildBegin(&model, 0));
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRICaptureBegin(stream, RELAXED));
    EXPECT(aclmdlRIBindStream(model, stream, 0), 107027);
    EXPECT(aclmdlRIEndTask(model, stream), 107027);
    EXPECT(aclmdlRIUnbindStream(model, stream), 107027);
    end(stream);
}

/* The same calls where the documents decide. */
RULE_ENV(graph, documents_an_illegal_call_spoils_the_capture, "guide: aclmdlRICaptureBegin", "MOCK_ACL_STRICT=doc") {
    up();
    aclrtStream stream = begin(RELAXED);
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI graph = NULL;
    EXPECT(aclrtSynchronizeStream(stream), 107027);
    OK(aclmdlRICaptureGetInfo(stream, &status, NULL));
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
}

RULE_ENV(graph, documents_an_unsafe_call_spoils_the_capture, "guide: aclmdlRICaptureBegin", "MOCK_ACL_STRICT=doc") {
    prepare();
    aclrtStream stream = begin(GLOBAL);
    aclmdlRI graph = NULL;
    EXPECT(aclrtMemset(memory, 64, 0, 64), 107041);
    EXPECT(aclmdlRICaptureEnd(stream, &graph), 507903);
}
