/* Part of racl (mock-acl). Copies: each kind and direction, in rows and in batches, and the order of their
 * checks. A guide is its chapter "memory management". */
#include "conform.h"

#define TO ACL_MEMCPY_HOST_TO_DEVICE
#define FROM ACL_MEMCPY_DEVICE_TO_HOST
#define ON ACL_MEMCPY_DEVICE_TO_DEVICE

RULE(copy, the_addresses_decide_and_not_the_kind, "guide: aclrtMemcpy (host with a card)") {
    up();
    char host[4] = {1, 2, 3, 4}, back[4] = {0};
    void *p = device(4);
    EXPECT(aclrtMemcpy(p, 4, host, 4, FROM), 0);
    EXPECT(aclrtMemcpy(back, 4, p, 4, TO), 0);
    TRUE(memcmp(host, back, 4) == 0);
}

RULE(copy, into_no_room, "guide: aclrtMemcpy; implementation") {
    up();
    char host[4] = {0};
    EXPECT(aclrtMemcpy(device(4), 0, host, 4, TO), 107000);
}

RULE(copy, onto_itself_is_checked_first, "implementation: aclrtMemcpyAsync") {
    up();
    void *p = device(8);
    EXPECT(aclrtMemcpyAsync(p, 7, p, 8, ON, new_stream()), 107000);
    EXPECT(aclrtMemcpyAsync(p, 8, p, 8, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, new_stream()), 100000);
}

RULE(copy, every_asynchronous_direction, "guide: aclrtMemcpyAsync") {
    up();
    aclrtStream stream = new_stream();
    char *host = (char *)pinned(8), *back = (char *)pinned(8), *p = (char *)device(8), *q = (char *)device(8);
    for (char i = 1; i < 3; i++) {
        const aclrtMemcpyKind to = i == 1 ? TO : ACL_MEMCPY_DEFAULT, on = i == 1 ? ON : ACL_MEMCPY_DEFAULT;
        memset(host, i, 8);
        OK(aclrtMemcpyAsync(p, 8, host, 8, to, stream));
        OK(aclrtMemcpyAsync(q, 8, p, 8, on, stream));
        OK(aclrtMemcpyAsync(back, 8, q, 8, i == 1 ? FROM : ACL_MEMCPY_DEFAULT, stream));
        finish(stream);
        TRUE(back[7] == i);
    }
}

RULE(copy, pageable_copies_wait_for_the_stream, "observed: pageable; guide: aclrtMemcpyAsync") {
    up();
    aclrtStream stream = new_stream();
    char host[8] = {7};
    char *p = (char *)device(8), *q = (char *)device(8);
    fill(p, 1, 8);
    OK(aclrtMemsetAsync(p, 8, 2, 8, stream));
    OK(aclrtMemcpyAsync(q, 8, host, 8, TO, stream));
    TRUE(byte_at(p) == 2 && byte_at(q) == 7);
}

/* ---- rows ---- */

RULE(copy, rows_in_every_direction, "guide: aclrtMemcpy2d") {
    up();
    char *host = (char *)pinned(16), *back = (char *)pinned(16);
    char *p = (char *)device(16), *q = (char *)device(16);
    for (char i = 1; i < 3; i++) {
        memset(host, i, 16);
        OK(aclrtMemcpy2d(p, 8, host, 8, 4, 2, i == 1 ? TO : ACL_MEMCPY_DEFAULT));
        OK(aclrtMemcpy2d(back, 8, p, 8, 4, 2, i == 1 ? FROM : ACL_MEMCPY_DEFAULT));
        TRUE(back[3] == i && back[11] == i);
        EXPECT(aclrtMemcpy2d(q, 8, p, 8, 4, 2, i == 1 ? ON : ACL_MEMCPY_DEFAULT), i == 1 ? 207000 : 107000);
    }
}

static void kinds_of(void *dst, const void *src, int k0, int k1, int k2, int k3, int k4, int k5) {
    const int codes[] = {k0, k1, k2, k3, k4, k5};
    aclrtStream stream = new_stream();
    for (int kind = 0; kind < 6; kind++) {
        EXPECT(aclrtMemcpyAsync(dst, 8, src, 8, (aclrtMemcpyKind)kind, stream), codes[kind]);
        finish(stream);
    }
}

RULE_MOCK(copy, the_kind_has_to_fit_where_memory_is_pageable, "observed: memcpy_async_kinds") {
    up();
    char *d = (char *)device(16), *h = (char *)pinned(16), p[16] = {0};
    kinds_of(d, d + 8, 0, 0, 0, 0, 0, 107000);
    kinds_of(d, h, 0, 0, 0, 0, 0, 0);
    kinds_of(d, p, 107000, 0, 107000, 0, 0, 0);
    kinds_of(h, d, 0, 0, 0, 0, 0, 107000);
    kinds_of(h, h + 8, 207000, 207000, 207000, 207000, 207000, 107000);
    kinds_of(h, p, 207000, 107000, 0, 107000, 207000, 107000);
    kinds_of(p, d, 107000, 107000, 0, 0, 0, 107000);
    kinds_of(p, h, 207000, 0, 107000, 107000, 207000, 107000);
    kinds_of(p, p + 8, 207000, 0, 0, 0, 207000, 107000);
}

RULE_MOCK(copy, a_copy_to_itself_is_checked_and_does_nothing, "observed: memcpy_same_address") {
    up();
    char *d = (char *)device(8), *h = (char *)pinned(8), p[8] = {0};
    kinds_of(d, d, 0, 0, 0, 0, 0, 107000);
    kinds_of(h, h, 207000, 207000, 207000, 207000, 207000, 107000);
    kinds_of(p, p, 207000, 0, 0, 0, 207000, 107000);
}

RULE(copy, asynchronous_rows_in_every_direction, "guide: aclrtMemcpy2dAsync") {
    up();
    aclrtStream stream = new_stream();
    char *host = (char *)pinned(16), *back = (char *)pinned(16);
    char *p = (char *)device(16), *q = (char *)device(16);
    for (char i = 1; i < 3; i++) {
        memset(host, i, 16);
        OK(aclrtMemcpy2dAsync(p, 8, host, 8, 4, 2, i == 1 ? TO : ACL_MEMCPY_DEFAULT, stream));
        OK(aclrtMemcpy2dAsync(q, 8, p, 8, 4, 2, i == 1 ? ON : ACL_MEMCPY_DEFAULT, stream));
        OK(aclrtMemcpy2dAsync(back, 8, q, 8, 4, 2, i == 1 ? FROM : ACL_MEMCPY_DEFAULT, stream));
        finish(stream);
        TRUE(back[3] == i && back[11] == i);
    }
}

RULE(copy, pageable_rows_in_a_capture, "implementation: aclrtMemcpy2dAsync") {
    up();
    char host[16] = {0};
    void *p = device(16);
    aclrtStream other = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT(aclrtMemcpy2dAsync(p, 8, host, 8, 4, 2, TO, stream), 107000);
    EXPECT(aclrtMemcpy2dAsync(p, 8, host, 8, 4, 2, TO, other), 107041);
    end(stream);
    EXPECT(aclrtMemcpy2dAsync(p, 8, host, 8, 4, 2, TO, other), 0);
}

/* ---- batches ---- */

typedef struct batch {
    void *to[2], *from[2];
    size_t size[2], first[1], failed;
    aclrtMemcpyBatchAttr attr[1];
    char *host, *device;
} batch;

/* Two parts of eight bytes, to the device or from it. */
static batch parts(int back) {
    batch b;
    memset(&b, 0, sizeof b);
    b.host = (char *)pinned(16);
    b.device = (char *)device(16);
    memset(b.host, back ? 0 : 5, 16);
    fill(b.device, back ? 5 : 0, 16);
    for (int i = 0; i < 2; i++) {
        b.to[i] = (back ? b.host : b.device) + 8 * i;
        b.from[i] = (back ? b.device : b.host) + 8 * i;
        b.size[i] = 8;
    }
    b.attr[0].dstLoc.type = back ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE;
    b.attr[0].srcLoc.type = back ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
    return b;
}

RULE(copy, a_batch_to_the_host, "guide: aclrtMemcpyBatch") {
    up();
    batch b = parts(1);
    OK(aclrtMemcpyBatch(b.to, b.size, b.from, b.size, 2, b.attr, b.first, 1, &b.failed));
    TRUE(b.host[0] == 5 && b.host[15] == 5);
}

RULE(copy, a_batch_of_nothing, "guide: aclrtMemcpyBatch; implementation") {
    up();
    batch b = parts(0);
    size_t nothing[2] = {0, 0};
    EXPECT(aclrtMemcpyBatch(b.to, b.size, b.from, nothing, 2, b.attr, b.first, 1, &b.failed), 0);
    aclrtStream stream = new_stream();
    EXPECT(aclrtMemcpyBatchAsync(b.to, b.size, b.from, nothing, 2, b.attr, b.first, 1, &b.failed, stream), 0);
    finish(stream);
    TRUE(byte_at(b.device) == 0);
}

RULE(copy, an_asynchronous_batch_of_the_second_form, "guide: aclrtMemcpyBatchAsyncV2") {
    up();
    batch b = parts(0);
    aclrtStream stream = new_stream();
    OK(aclrtMemcpyBatchAsyncV2(b.to, b.size, b.from, b.size, 2, b.attr, b.first, 1, stream));
    finish(stream);
    TRUE(byte_at(b.device) == 5 && byte_at(b.device + 15) == 5);
}

/* ---- fills ---- */

RULE(copy, words_of_host_memory_are_filled_at_the_call, "guide: aclrtMemsetD32Async") {
    up();
    uint32_t *host = (uint32_t *)pinned(16);
    memset(host, 0, 16);
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    OK(aclrtMemsetD32Async(host, 16, 0x01020304u, 4, stream));
    TRUE(host[0] == 0x01020304u && host[3] == 0x01020304u);
    let_go(latch);
    finish(stream);
}

RULE(copy, an_asynchronous_fill_waits_for_its_turn, "guide: aclrtMemsetAsync") {
    up();
    void *p = device(8);
    fill(p, 1, 8);
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    OK(aclrtMemsetAsync(p, 8, 0x102, 8, stream));
    TRUE(byte_at(p) == 1);
    let_go(latch);
    finish(stream);
    TRUE(byte_at(p) == 2);
}

RULE(copy, a_fill_of_nothing_needs_no_address, "guide: aclrtMemset; implementation") {
    up();
    EXPECT(aclrtMemset(NULL, 0, 1, 0), 0);
    EXPECT(aclrtMemsetAsync(NULL, 0, 1, 0, new_stream()), 0);
}
