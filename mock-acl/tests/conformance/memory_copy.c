/* Part of racl (mock-acl). Copies and fills: checks in their order, pinned and pageable memory, captures. A guide is
 * its chapter "memory management". */
#include "conform.h"

#define TO ACL_MEMCPY_HOST_TO_DEVICE
#define FROM ACL_MEMCPY_DEVICE_TO_HOST
#define ON ACL_MEMCPY_DEVICE_TO_DEVICE

RULE(copy, count_0_comes_before_every_check, "observed: sync_copy_modes, pageable") {
    up();
    EXPECT(aclrtMemcpyAsync(NULL, 0, NULL, 0, ON, new_stream()), 0);
    EXPECT(aclrtMemcpy(NULL, 0, NULL, 0, ON), 0);
}

RULE(copy, null_addresses, "implementation: aclrtMemcpy") {
    up();
    void *p = device(8);
    aclrtStream stream = new_stream();
    EXPECT(aclrtMemcpy(NULL, 8, p, 8, ON), 100000);
    EXPECT(aclrtMemcpy(p, 8, NULL, 8, ON), 100000);
    EXPECT(aclrtMemcpyAsync(NULL, 8, p, 8, ON, stream), 100000);
    EXPECT(aclrtMemcpyAsync(p, 8, NULL, 8, ON, stream), 100000);
}

RULE(copy, kinds_beyond_the_list, "observed: pageable") {
    up();
    char *p = (char *)device(16);
    aclrtStream stream = new_stream();
    EXPECT(aclrtMemcpyAsync(p, 8, p + 8, 8, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream), 100000);
    EXPECT(aclrtMemcpyAsync(p, 8, p + 8, 8, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, stream), 100000);
    EXPECT(aclrtMemcpyAsync(p, 8, p + 8, 8, (aclrtMemcpyKind)-1, stream), 100000);
    EXPECT(aclrtMemcpy(p, 8, p + 8, 8, (aclrtMemcpyKind)99), 100000);
}

RULE(copy, more_than_the_destination_holds, "observed: pageable") {
    up();
    void *p = device(8), *q = device(8);
    EXPECT(aclrtMemcpy(p, 7, q, 8, ON), 107000);
    EXPECT(aclrtMemcpyAsync(p, 7, q, 8, ON, new_stream()), 107000);
    EXPECT(aclrtMemcpyAsync(p, 0, q, 8, ON, new_stream()), 107000);
}

RULE(copy, onto_itself, "implementation: aclrtMemcpy") {
    up();
    void *p = device(8);
    EXPECT(aclrtMemcpy(p, 8, p, 8, ON), 0);
    EXPECT(aclrtMemcpyAsync(p, 8, p, 8, ON, new_stream()), 0);
}

RULE(copy, needs_a_context, "observed: thread_no_ctx") {
    OK(aclInit(NULL));
    char a[8] = {0}, b[8];
    EXPECT(aclrtMemcpy(b, 8, a, 8, ACL_MEMCPY_HOST_TO_HOST), 107002);
}

RULE(copy, every_direction, "guide: aclrtMemcpy") {
    up();
    char host[4] = {1, 2, 3, 4}, back[4] = {0};
    void *p = device(4), *q = device(4);
    OK(aclrtMemcpy(p, 4, host, 4, TO));
    OK(aclrtMemcpy(q, 4, p, 4, ON));
    OK(aclrtMemcpy(back, 4, q, 4, FROM));
    TRUE(memcmp(host, back, 4) == 0);
    memset(back, 0, 4);
    OK(aclrtMemcpy(back, 4, host, 4, ACL_MEMCPY_HOST_TO_HOST));
    TRUE(memcmp(host, back, 4) == 0);
}

RULE(copy, the_direction_follows_from_the_addresses, "guide: aclrtMemcpy") {
    up();
    char host[4] = {1, 2, 3, 4}, back[4] = {0};
    void *p = device(4);
    OK(aclrtMemcpy(p, 4, host, 4, ACL_MEMCPY_DEFAULT));
    OK(aclrtMemcpy(back, 4, p, 4, ACL_MEMCPY_DEFAULT));
    TRUE(memcmp(host, back, 4) == 0);
}

RULE(copy, a_blocking_copy_waits_for_no_stream, "guide: aclrtMemcpy") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(8);
    fill(p, 1, 8);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemsetAsync(p, 8, 2, 8, stream));
    TRUE(byte_at(p) == 1);
    let_go(latch);
    finish(stream);
    TRUE(byte_at(p) == 2);
}

RULE(copy, pinned_copies_wait_for_their_turn, "guide: aclrtMemcpyAsync") {
    up();
    aclrtStream stream = new_stream();
    char *host = (char *)pinned(8);
    void *p = device(8);
    fill(p, 1, 8);
    memset(host, 2, 8);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemcpyAsync(p, 8, host, 8, TO, stream));
    TRUE(byte_at(p) == 1);
    memset(host, 3, 8); /* read when the copy runs */
    let_go(latch);
    finish(stream);
    TRUE(byte_at(p) == 3);
}

RULE(copy, pageable_copies_finish_the_stream, "observed: pageable; guide: aclrtMemcpyAsync") {
    up();
    aclrtStream stream = new_stream();
    char host[8] = {7}, back[8] = {0};
    void *p = device(8);
    OK(aclrtMemcpyAsync(p, 8, host, 8, TO, stream));
    host[0] = 0;
    OK(aclrtMemsetAsync((char *)p + 1, 7, 9, 7, stream));
    OK(aclrtMemcpyAsync(back, 8, p, 8, FROM, stream));
    TRUE(back[0] == 7 && back[1] == 9);
}

RULE(copy, host_to_host_is_not_asynchronous, "observed: pageable") {
    up();
    char a[8] = {0}, b[8];
    EXPECT(aclrtMemcpyAsync(b, 8, a, 8, ACL_MEMCPY_HOST_TO_HOST, new_stream()), 207000);
}

RULE(copy, a_buffered_source_is_taken_at_the_call, "guide: aclrtMemcpyAsync") {
    up();
    aclrtStream stream = new_stream();
    char host[8] = {4};
    void *p = device(8);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemcpyAsync(p, 8, host, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
    host[0] = 0;
    let_go(latch);
    finish(stream);
    TRUE(byte_at(p) == 4);
}

RULE(copy, captured_copies_read_pinned_memory_at_replay, "observed: pageable; guide: aclrtMemcpyAsync") {
    up();
    char *host = (char *)pinned(8);
    void *p = device(8);
    host[0] = 1;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemcpyAsync(p, 8, host, 8, TO, stream), 0);
    aclmdlRI graph = end(stream);
    host[0] = 2;
    replay(graph, new_stream());
    TRUE(byte_at(p) == 2);
}

RULE(copy, buffered_copies_are_captured_with_their_content, "observed: pageable (HOST_TO_BUF on capturing)") {
    up();
    char host[8] = {5};
    void *p = device(8);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemcpyAsync(p, 8, host, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream), 0);
    aclmdlRI graph = end(stream);
    host[0] = 0;
    replay(graph, new_stream());
    TRUE(byte_at(p) == 5);
}

RULE(copy, buffered_copies_beside_a_capture, "observed: D14, pageable") {
    up();
    char host[8] = {6};
    void *p = device(8);
    aclrtStream other = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemcpyAsync(p, 8, host, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, other), 0);
    end(stream);
    finish(other);
    TRUE(byte_at(p) == 6);
}

RULE(copy, fills_of_pageable_memory_beside_the_capture, "observed: graph_tasks") {
    up();
    static char host[64];
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemsetAsync(host, 64, 1, 64, stream), 0);
    TRUE(host[63] == 1);
    end(stream);
}

RULE(copy, a_graph_holds_no_memory, "guide: aclmdlRICaptureBegin (lifetime of memory)") {
    up();
    void *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtMemsetAsync(p, 64, 1, 64, stream));
    aclmdlRI graph = end(stream);
    EXPECT(aclrtFree(p), 0);
    EXPECT(aclmdlRIDestroy(graph), 0);
}

RULE_MOCK(copy, a_replay_that_uses_freed_memory, "own choice of the code") {
    up();
    void *p = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), other = new_stream();
    OK(aclrtMemsetAsync(p, 64, 1, 64, stream));
    aclmdlRI graph = end(stream);
    OK(aclrtFree(p));
    OK(aclmdlRIExecuteAsync(graph, other));
    EXPECT(aclrtSynchronizeStream(other), 507053);
}

RULE(copy, a_graph_reads_memory_when_it_runs, "guide: aclmdlRICaptureBegin (addresses are stored)") {
    up();
    char *from = (char *)device(8), *to = (char *)device(8);
    fill(from, 1, 8);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), other = new_stream();
    OK(aclrtMemcpyAsync(to, 8, from, 8, ON, stream));
    aclmdlRI graph = end(stream);
    fill(from, 2, 8);
    replay(graph, other);
    TRUE(byte_at(to) == 2);
    fill(from, 3, 8);
    replay(graph, other);
    TRUE(byte_at(to) == 3);
}

static void pageable_in(aclmdlRICaptureMode mode, int beside) {
    up();
    char host[8] = {0};
    void *p = device(8);
    aclrtStream other = new_stream(), stream = begin(mode);
    EXPECT(aclrtMemcpyAsync(p, 8, host, 8, TO, stream), 107000);
    EXPECT_TEXT("EE1016");
    EXPECT(aclrtMemcpyAsync(p, 8, host, 8, TO, other), beside);
    EXPECT(aclrtMemcpyAsync(p, 8, host, 8, TO, NULL), beside);
    end(stream);
}

RULE(copy, pageable_beside_a_global_capture, "observed: pageable") {
    pageable_in(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, 107041);
}
RULE(copy, pageable_beside_a_thread_local_capture, "observed: pageable") {
    pageable_in(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, 107041);
}
RULE(copy, pageable_beside_a_relaxed_capture, "observed: pageable") {
    pageable_in(ACL_MODEL_RI_CAPTURE_MODE_RELAXED, 0);
}

RULE(copy, blocking_copies_are_restricted_in_a_capture, "observed: sync_copy_modes") {
    up();
    char a[8] = {0}, b[8];
    void *p = device(8);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemcpy(p, 8, a, 8, TO), 107030);
    EXPECT(aclrtMemcpy(b, 8, a, 8, ACL_MEMCPY_HOST_TO_HOST), 107030);
    EXPECT(aclrtMemset(p, 8, 0, 8), 107030);
    EXPECT(aclrtMemcpy(p, 8, p, 8, ON), 0);
    EXPECT(aclrtMemcpy(p, 8, a, 0, TO), 0);
    end(stream);
    EXPECT(aclrtMemcpy(p, 8, a, 8, TO), 0);
}

RULE(copy, a_relaxed_capture_restricts_nothing, "observed: sync_copy_modes") {
    up();
    char a[8] = {0};
    void *p = device(8);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtMemcpy(p, 8, a, 8, TO), 0);
    EXPECT(aclrtMemset(p, 8, 0, 8), 0);
    end(stream);
}

RULE(copy, allocation_is_not_restricted_in_a_capture, "implementation: capture modes") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    void *p = NULL;
    EXPECT(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    EXPECT(aclrtFree(p), 0);
    end(stream);
}

RULE(copy, with_condition_is_a_copy, "guide: aclrtMemcpyAsyncWithCondition") {
    up();
    aclrtStream stream = new_stream();
    char host[4] = {6};
    void *p = device(4);
    OK(aclrtMemcpyAsyncWithCondition(p, 4, host, 4, TO, stream));
    finish(stream);
    TRUE(byte_at(p) == 6);
    EXPECT(aclrtMemcpyAsyncWithCondition(NULL, 4, host, 4, TO, stream), 100000);
    EXPECT(aclrtMemcpyAsyncWithCondition(p, 4, host, 4, (aclrtMemcpyKind)6, stream), 100000);
}

RULE(copy, rows, "guide: aclrtMemcpy2d") {
    up();
    char host[16];
    for (int i = 0; i < 16; i++) host[i] = (char)i;
    char *p = (char *)device(32);
    fill(p, 77, 32);
    OK(aclrtMemcpy2d(p, 8, host, 4, 3, 4, TO));
    TRUE(byte_at(p) == 0 && byte_at(p + 2) == 2 && byte_at(p + 3) == 77);
    TRUE(byte_at(p + 24) == 12 && byte_at(p + 26) == 14 && byte_at(p + 27) == 77);
}

RULE(copy, rows_checks, "implementation: aclrtMemcpy2d") {
    up();
    void *p = device(64), *h = pinned(64);
    EXPECT(aclrtMemcpy2d(p, 2, h, 8, 4, 2, TO), 100000);
    EXPECT(aclrtMemcpy2d(p, 8, h, 2, 4, 2, TO), 100000);
    EXPECT(aclrtMemcpy2d(NULL, 8, h, 8, 4, 2, TO), 100000);
    EXPECT(aclrtMemcpy2d(p, 8, h, 8, 4, 2, ACL_MEMCPY_HOST_TO_HOST), 100000);
    EXPECT(aclrtMemcpy2d(p, 8, h, 8, 4, 2, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE), 100000);
    EXPECT(aclrtMemcpy2dAsync(p, 2, h, 8, 4, 2, TO, new_stream()), 100000);
}

RULE(copy, rows_without_extent, "implementation: aclrtMemcpy2d") {
    up();
    void *p = device(64), *h = pinned(64);
    EXPECT(aclrtMemcpy2d(p, 8, h, 8, 0, 2, TO), 0);
    EXPECT(aclrtMemcpy2d(p, 8, h, 8, 4, 0, TO), 0);
    EXPECT(aclrtMemcpy2dAsync(p, 8, h, 8, 0, 2, TO, new_stream()), 0);
}

RULE_MOCK(copy, rows_beyond_the_limits, "guide: aclrtMemcpy2dAsync; own choice of the code") {
    up();
    void *p = device(64), *h = pinned(64);
    EXPECT(aclrtMemcpy2dAsync(p, 6000000, h, 6000000, 5000001, 1, TO, new_stream()), 100000);
    EXPECT(aclrtMemcpy2dAsync(p, 1, h, 1, 1, 5 * 1024 * 1024 + 1, TO, new_stream()), 100000);
}

RULE(copy, rows_in_a_graph, "guide: aclrtMemcpy2dAsync") {
    up();
    char *h = (char *)pinned(16), *p = (char *)device(16);
    memset(h, 3, 16);
    fill(p, 0, 16);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtMemcpy2dAsync(p, 8, h, 8, 4, 2, TO, stream));
    aclmdlRI graph = end(stream);
    TRUE(byte_at(p) == 0);
    replay(graph, new_stream());
    TRUE(byte_at(p + 3) == 3 && byte_at(p + 4) == 0 && byte_at(p + 8) == 3);
}

RULE_MOCK(copy, an_address_behind_the_block, "own choice") {
    up();
    char *p = (char *)device(64), *q = (char *)device(64);
    aclrtStream stream = new_stream();
    EXPECT(aclrtMemcpy(p + 1, 64, q, 64, ON), 107000);
    OK(aclrtMemcpyAsync(p + 1, 64, q, 64, ON, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
}

RULE_MOCK(copy, another_device_needs_access, "guide: aclrtDeviceEnablePeerAccess; own choice of the code") {
    OK(aclInit(NULL));
    devices(2);
    OK(aclrtSetDevice(0));
    void *there = device(8);
    OK(aclrtSetDevice(1));
    void *here = device(8);
    aclrtStream stream = new_stream();
    EXPECT(aclrtMemcpyAsync(here, 8, there, 8, ON, stream), 107000);
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT(aclrtMemcpyAsync(here, 8, there, 8, ON, stream), 0);
    finish(stream);
}

RULE(copy, peer_access_checks, "implementation: aclrtDeviceEnablePeerAccess") {
    up();
    EXPECT(aclrtDeviceEnablePeerAccess(0, 0), 100000);
    EXPECT(aclrtDeviceEnablePeerAccess(0, 1), 200006);
    EXPECT(aclrtDeviceDisablePeerAccess(0), 100000);
    EXPECT(aclrtDevicePeerAccessStatus(0, 0, NULL), 100000);
}

/* ---- batches ---- */

typedef struct batch {
    void *to[2], *from[2];
    size_t room[2], size[2], first[2], failed;
    aclrtMemcpyBatchAttr attr[2];
} batch;

static batch to_device(void) {
    batch b;
    memset(&b, 0, sizeof b);
    char *host = (char *)pinned(16), *p = (char *)device(16);
    memset(host, 8, 16);
    fill(p, 0, 16);
    for (int i = 0; i < 2; i++) {
        b.to[i] = p + 8 * i;
        b.from[i] = host + 8 * i;
        b.room[i] = b.size[i] = 8;
        b.attr[i].dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        b.attr[i].srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    }
    b.first[1] = 1;
    return b;
}

static int run(batch *b, size_t attrs) {
    return aclrtMemcpyBatch(b->to, b->room, b->from, b->size, 2, b->attr, b->first, attrs, &b->failed);
}

RULE(copy, a_batch, "guide: aclrtMemcpyBatch") {
    up();
    batch b = to_device();
    OK(run(&b, 1));
    TRUE(byte_at(b.to[0]) == 8 && byte_at(b.to[1]) == 8);
}

RULE(copy, a_batch_with_an_attribute_each, "guide: aclrtMemcpyBatch") {
    up();
    batch b = to_device();
    OK(run(&b, 2));
    TRUE(byte_at(b.to[1]) == 8);
}

RULE(copy, a_batch_needs_its_arrays, "implementation: aclrtMemcpyBatch") {
    up();
    batch b = to_device();
    EXPECT(aclrtMemcpyBatch(NULL, b.room, b.from, b.size, 2, b.attr, b.first, 1, &b.failed), 100000);
    EXPECT(aclrtMemcpyBatch(b.to, NULL, b.from, b.size, 2, b.attr, b.first, 1, &b.failed), 100000);
    EXPECT(aclrtMemcpyBatch(b.to, b.room, b.from, b.size, 0, b.attr, b.first, 1, &b.failed), 100000);
    EXPECT(aclrtMemcpyBatch(b.to, b.room, b.from, b.size, 2, NULL, b.first, 1, &b.failed), 100000);
    EXPECT(aclrtMemcpyBatch(b.to, b.room, b.from, b.size, 2, b.attr, b.first, 1, NULL), 100000);
    EXPECT(aclrtMemcpyBatchV2(b.to, b.room, b.from, b.size, 2, b.attr, b.first, 1), 0);
}

RULE(copy, a_batch_with_a_size_above_its_room, "implementation: aclrtMemcpyBatch") {
    up();
    batch b = to_device();
    b.room[1] = 4;
    EXPECT(run(&b, 1), 100000);
}

RULE(copy, reserved_bytes_of_a_batch, "implementation: aclrtMemcpyBatch") {
    up();
    batch b = to_device();
    b.attr[0].rsv[3] = 1;
    EXPECT(run(&b, 1), 100000);
}

RULE_MOCK(copy, indexes_of_a_batch, "guide: aclrtMemcpyBatch; own choice of the code") {
    up();
    batch b = to_device();
    b.first[0] = 1;
    EXPECT(run(&b, 1), 107000);
    b.first[0] = b.first[1] = 0;
    EXPECT(run(&b, 2), 107000);
    b.first[1] = 2;
    EXPECT(run(&b, 2), 107000);
    EXPECT(run(&b, 0), 107000);
}

RULE_MOCK(copy, one_direction_a_batch, "guide: aclrtMemcpyBatch; own choice of the code") {
    up();
    batch b = to_device();
    void *swap = b.to[1];
    b.to[1] = b.from[1];
    b.from[1] = swap;
    b.attr[1].dstLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    b.attr[1].srcLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    EXPECT(run(&b, 2), 107000);
    TRUE(b.failed == 1);
    b = to_device();
    b.from[1] = device(8);
    EXPECT(run(&b, 2), 107000);
}

RULE(copy, an_asynchronous_batch, "guide: aclrtMemcpyBatchAsync") {
    up();
    batch b = to_device();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    OK(aclrtMemcpyBatchAsync(b.to, b.room, b.from, b.size, 2, b.attr, b.first, 1, &b.failed, stream));
    TRUE(byte_at(b.to[0]) == 0);
    let_go(latch);
    finish(stream);
    TRUE(byte_at(b.to[0]) == 8);
}

RULE(copy, a_captured_batch_of_pageable_memory, "implementation: aclrtMemcpyBatchAsync") {
    up();
    batch b = to_device();
    char local[16] = {0};
    b.from[0] = local;
    b.from[1] = local + 8;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemcpyBatchAsync(b.to, b.room, b.from, b.size, 2, b.attr, b.first, 1, &b.failed, stream), 107000);
    end(stream);
}

/* ---- fills ---- */

RULE(copy, fill_bytes, "guide: aclrtMemset") {
    up();
    char *p = (char *)device(16), *h = (char *)pinned(16);
    OK(aclrtMemset(p, 16, 0x1FF, 8));
    OK(aclrtMemset(h, 16, 3, 16));
    TRUE(byte_at(p) == 0xFF && h[15] == 3);
}

RULE(copy, fill_checks, "guide: aclrtMemsetAsync; implementation") {
    up();
    void *p = device(8);
    EXPECT(aclrtMemset(NULL, 8, 0, 8), 100000);
    EXPECT(aclrtMemsetAsync(NULL, 8, 0, 8, new_stream()), 100000);
    EXPECT(aclrtMemset(p, 8, 0, 0), 0);
    EXPECT(aclrtMemsetAsync(p, 8, 0, 9, new_stream()), 107000);
}

RULE_MOCK(copy, a_blocking_fill_beyond_its_limit, "own choice: the real one leaves it to the driver") {
    up();
    EXPECT(aclrtMemset(device(8), 8, 0, 9), 107000);
}

RULE(copy, fill_words, "guide: aclrtMemsetD32") {
    up();
    char *p = (char *)device(16);
    fill(p, 0, 16);
    OK(aclrtMemsetD32(p, 16, 0x04030201u, 2));
    TRUE(byte_at(p) == 1 && byte_at(p + 3) == 4 && byte_at(p + 7) == 4 && byte_at(p + 8) == 0);
    aclrtStream stream = new_stream();
    OK(aclrtMemsetD32Async(p, 16, 0x08070605u, 1, stream));
    finish(stream);
    TRUE(byte_at(p) == 5 && byte_at(p + 4) == 1);
}

RULE(copy, fill_words_checks, "implementation: aclrtMemsetD32") {
    up();
    char *p = (char *)device(16), local[8];
    EXPECT(aclrtMemsetD32(NULL, 16, 0, 1), 100000);
    EXPECT(aclrtMemsetD32(p, 16, 0, 0), 100000);
    EXPECT(aclrtMemsetD32(p, 16, 0, 5), 100000);
    EXPECT(aclrtMemsetD32(p + 2, 8, 0, 1), 100000);
    EXPECT(aclrtMemsetD32((void *)((uintptr_t)local / 4 * 4), 4, 0, 1), 100000);
    EXPECT(aclrtMemsetD32Async(p, 16, 0, 0, new_stream()), 100000);
}

RULE(copy, fills_in_a_graph, "observed: pageable (memset on capturing)") {
    up();
    void *p = device(8);
    fill(p, 0, 8);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemsetAsync(p, 8, 6, 8, stream), 0);
    aclmdlRI graph = end(stream);
    TRUE(byte_at(p) == 0);
    replay(graph, new_stream());
    TRUE(byte_at(p) == 6);
}
