/* Copies and fills (guide: memory management). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"

static uint64_t extent(uint64_t pitch, uint64_t width, uint64_t height) {
    return pitch * (height - 1) + width;
}

static bool copy_rows(const mock_copy *c) {
    char *dst = mock_copy_address(c->dst, extent(c->dst_pitch, c->width, c->height));
    const char *src = mock_copy_address(c->src, extent(c->src_pitch, c->width, c->height));
    if (dst == NULL || src == NULL) return false;
    for (uint64_t row = 0; row < c->height; row++)
        memmove(dst + row * c->dst_pitch, src + row * c->src_pitch, c->width);
    return true;
}

static bool copy_now(const mock_copy *c) {
    mock_views_take();
    const bool good = copy_rows(c);
    mock_views_give();
    return good;
}

static bool fill_bytes(const mock_fill *f) {
    char *dst = mock_host_address(f->dst, f->count);
    if (dst == NULL) return false;
    if (!f->words) {
        memset(dst, f->value, f->count);
        return true;
    }
    for (uint64_t i = 0; i + 4 <= f->count; i += 4) memcpy(dst + i, &f->value, 4);
    return true;
}

static bool fill_now(const mock_fill *f) {
    mock_views_take();
    const bool good = fill_bytes(f);
    mock_views_give();
    return good;
}

/* A task that meets an address outside every live allocation fails like a device memory fault: 507053
 * (header: ACL_ERROR_RT_DEVICE_MEM_ERROR; own choice: the code of real faults depends on the engine). */
static aclError run_copy(void *arg) {
    if (mock_races() && !mock_touch_task_copy(arg)) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    return copy_now(arg) ? 0 : ACL_ERROR_RT_DEVICE_MEM_ERROR;
}
static __attribute__((noinline)) bool touch_fill(const mock_fill *f) {
    return mock_touch_task(f->dst, f->count, MOCK_WRITES);
}
static aclError run_fill(void *arg) {
    if (mock_races() && !touch_fill(arg)) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    return fill_now(arg) ? 0 : ACL_ERROR_RT_DEVICE_MEM_ERROR;
}
static void drop_buffer(void *arg) { free((void *)(uintptr_t)((mock_copy *)arg)->src); }

static const mock_task_ops copy_ops = {"aclrtMemcpyAsync", run_copy, NULL};
static const mock_task_ops copy2d_ops = {"aclrtMemcpy2dAsync", run_copy, NULL};
static const mock_task_ops buffer_ops = {"aclrtMemcpyAsync", run_copy, drop_buffer};
static const mock_task_ops fill_ops = {"aclrtMemsetAsync", run_fill, NULL};
static const mock_task_ops fill32_ops = {"aclrtMemsetD32Async", run_fill, NULL};

/* ---- places ---- */

typedef struct places {
    mock_place to, from;
} places;

static places places_of(const mock_copy *c) {
    return (places){mock_place_of(c->dst), mock_place_of(c->src)};
}

static bool has_pageable(places p) { return p.to == MOCK_PAGEABLE || p.from == MOCK_PAGEABLE; }
static bool has_device(places p) { return p.to == MOCK_DEVICE || p.from == MOCK_DEVICE; }

/* What a kind rules out: pageable memory passes for either side (observed: memcpy_async_kinds, memcpy2d_kinds). */
static bool fits(aclrtMemcpyKind kind, places p) {
    const bool from_host = kind == ACL_MEMCPY_HOST_TO_HOST || kind == ACL_MEMCPY_HOST_TO_DEVICE;
    const bool to_host = kind == ACL_MEMCPY_HOST_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_HOST;
    return kind == ACL_MEMCPY_DEFAULT || (p.from != (from_host ? MOCK_DEVICE : MOCK_PINNED) &&
                                             p.to != (to_host ? MOCK_DEVICE : MOCK_PINNED));
}

/* ---- synchronous ---- */

/* Programs that copy right behind a kernel without waiting have a race, which a card nearly always decides for them:
 * the kernel is done first. With MOCK_ACL_COPIES_WAIT=1 the mock decides it so, too (own choice; off by default). */
static bool copies_wait(void) {
    static _Atomic int known; /* 1 for no, 2 for yes */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (is == 0) {
        is = 1 + (int)mock_config_number("MOCK_ACL_COPIES_WAIT", 0, 0, 1);
        atomic_store(&known, is);
    }
    return is == 2;
}

/* A synchronous call looks at no stream, but captures restrict it: 107030 (observed: sync_copy_modes). */
aclError mock_forbidden_sync(const char *call) {
    mock_lock();
    mock_ctx *ctx = mock_current();
    const aclError code = ctx == NULL
                              ? ACL_ERROR_RT_CONTEXT_NULL
                              : mock_capture_forbids(ctx, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, call);
    if (code == 0 && copies_wait() && mock_self()->in_task == 0) mock_run_all();
    mock_unlock();
    return code;
}

/* (own choice: the driver answers for bad addresses) */
static aclError end_sync(bool good, const char *call) {
    if (!good)
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s reaches outside a live device allocation", call);
    mock_memory_changed();
    return 0;
}

/* (observed: pageable, "kind 6") */
static aclError bad_kind(int kind, int last) {
    if (kind >= 0 && kind <= last) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "copy kind %d", kind);
}

/* (observed: pageable, "count>destMax") */
static aclError too_long(size_t count, size_t limit) {
    if (count <= limit) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "count %zu is above the size %zu", count, limit);
}

static aclError check_arguments(const void *dst, const void *src, aclrtMemcpyKind kind) {
    if (dst == NULL || src == NULL) return mock_null("dst and src");
    return bad_kind((int)kind, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE);
}

aclError mock_copy_check(const void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind) {
    const aclError code = check_arguments(dst, src, kind);
    return code != 0 ? code : too_long(count, max);
}

/* In this order: count 0 is 0 before any check, dst == src is 0 before the capture check (observed:
 * sync_copy_modes). Copies between host addresses are restricted in captures too (observed, not
 * recorded). */
aclError mock_copy_sync(
    void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind, const char *call) {
    if (count == 0) return 0;
    aclError code = mock_copy_check(dst, max, src, count, kind);
    if (code != 0 || dst == src) return code;
    code = mock_forbidden_sync(call);
    if (code != 0) return code;
    /* The direction follows from the addresses; the kind is not looked at (guide: memory management,
     * aclrtMemcpy). */
    const mock_copy c = {dst, src, count, count, count, 1};
    mock_touch_host_copy(call, &c);
    return end_sync(copy_now(&c), call);
}

MOCK_EXPORT aclError aclrtMemcpy(
    void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind) {
    MOCK_ENTER_OF(aclrtMemcpy, dst, src);
    return mock_copy_sync(dst, destMax, src, count, kind, "aclrtMemcpy");
}

/* Captures restrict it (observed: sync_copy_modes), before count above maxCount is 107000, by the
 * driver (observed: capture_sync_calls, sequences). */
MOCK_EXPORT aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) {
    MOCK_ENTER_OF(aclrtMemset, devPtr);
    if (count == 0) return 0;
    if (devPtr == NULL) return mock_null("devPtr");
    aclError code = mock_forbidden_sync("aclrtMemset");
    if (code == 0 && count > maxCount)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EL9999", "count %zu is above %zu", count, maxCount);
    if (code != 0) return code;
    mock_touch_host("aclrtMemset", devPtr, count, MOCK_WRITES);
    return end_sync(fill_now(&(mock_fill){devPtr, count, value, false}), "aclrtMemset");
}

/* Null, 0, an address that is not aligned, more words than fit and memory that no call of AscendCL made:
 * 100000 (implementation of the open runtime). */
static aclError check_words(const void *ptr, size_t size, size_t n) {
    if (ptr == NULL || n == 0) return mock_null("ptr and N");
    if ((uintptr_t)ptr % 4 != 0)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%p is not aligned", ptr);
    if (n > size / 4) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%zu words in %zu bytes", n, size);
    if (mock_place_of(ptr) != MOCK_PAGEABLE) return 0;
    return mock_fail(
        ACL_ERROR_INVALID_PARAM, "EH0007", "%p is not memory of aclrtMalloc or aclrtMallocHost", ptr);
}

MOCK_EXPORT aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N) {
    MOCK_ENTER_OF(aclrtMemsetD32, ptr);
    aclError code = check_words(ptr, memSize, N);
    if (code == 0) code = mock_forbidden_sync("aclrtMemsetD32");
    if (code != 0) return code;
    mock_touch_host("aclrtMemsetD32", ptr, N * 4, MOCK_WRITES);
    return end_sync(fill_now(&(mock_fill){ptr, N * 4, (int32_t)value, true}), "aclrtMemsetD32");
}

/* (observed: memcpy2d_kinds, sequences) */
static aclError check_2d(
    const void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, aclrtMemcpyKind kind) {
    if (dst == NULL || src == NULL) return mock_null("dst and src");
    if (width > dpitch || width > spitch)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "width %zu is above a pitch", width);
    if (kind >= ACL_MEMCPY_HOST_TO_DEVICE && kind <= ACL_MEMCPY_DEFAULT) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "copy kind %d", (int)kind);
}

/* One side is the device's: else 107000, and where pageable memory hides it the kind has to fit (observed:
 * memcpy2d_kinds). */
static aclError check_2d_places(aclrtMemcpyKind kind, const mock_copy *c) {
    const places p = places_of(c);
    const bool known = !has_pageable(p) || kind == ACL_MEMCPY_DEFAULT;
    if (known ? (p.to == MOCK_DEVICE) != (p.from == MOCK_DEVICE) : fits(kind, p)) return 0;
    return mock_fail(
        ACL_ERROR_RT_PARAM_INVALID, "EE1017", "aclrtMemcpy2d: kind %d is not where the addresses are", (int)kind);
}

MOCK_EXPORT aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
    size_t height, aclrtMemcpyKind kind) {
    MOCK_ENTER_OF(aclrtMemcpy2d, dst, src);
    if (width == 0 || height == 0) return 0;
    const mock_copy c = {dst, src, dpitch, spitch, width, height};
    aclError code = check_2d(dst, dpitch, src, spitch, width, kind);
    if (code == 0 && kind == ACL_MEMCPY_DEVICE_TO_DEVICE)
        code = mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1001", "aclrtMemcpy2d does not copy from device to device");
    if (code == 0) code = check_2d_places(kind, &c);
    if (code == 0) code = mock_forbidden_sync("aclrtMemcpy2d");
    if (code != 0) return code;
    mock_touch_host_copy("aclrtMemcpy2d", &c);
    return end_sync(copy_now(&c), "aclrtMemcpy2d");
}

/* ---- asynchronous ---- */

/* Pageable memory cannot be read by the device later: the stream is waited for and the copy done at once,
 * which a capture rules out. With the lock. On the capturing stream 107000, on another one 107041, or 0
 * beside a RELAXED capture (observed: pageable, pageable_in_capture). */
static aclError copy_pageable(mock_stream *s, const mock_copy *c, const char *call) {
    if (mock_capturing(s))
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1016", "%s cannot capture a copy of pageable host memory", call);
    aclError code = mock_capture_forbids(mock_current_quiet(), ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC, call);
    if (code == 0) code = mock_stream_finish(s);
    if (code != 0) return code;
    mock_unlock();
    mock_touch_host_copy(call, c);
    const bool good = copy_now(c);
    mock_lock();
    if (!good)
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s reaches outside a live device allocation", call);
    mock_wake_all(&mock_engine.value_waiters);
    return 0;
}

/* Where nothing is pageable the addresses alone decide; host to host: 207000 (observed: memcpy_async_kinds, pageable).
 * An address copied to itself passes the same checks, and nothing is queued (observed: memcpy_same_address,
 * group_calls). */
static aclError check_places(aclrtMemcpyKind kind, places p, const char *call) {
    if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
        if (p.to == MOCK_DEVICE && p.from != MOCK_DEVICE) return 0;
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1011", "%s: the copy is not from host to device", call);
    }
    if (!has_pageable(p)) return has_device(p) ? 0 : mock_unable();
    if (!fits(kind, p))
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1001", "%s: kind %d is not where the addresses are", call, (int)kind);
    const bool looks = kind == ACL_MEMCPY_HOST_TO_HOST || kind == ACL_MEMCPY_DEFAULT;
    return looks && !has_device(p) ? mock_unable() : 0;
}

/* HOST_TO_BUF copies the source at the call, also in a capture (guide: memory management, aclrtMemcpyAsync;
 * observed: pageable). From device to device needs aclrtDeviceEnablePeerAccess (guide: memory management,
 * aclrtMemcpyAsync), else 107000 (own choice: the driver answers there). */
static aclError queue_copy(mock_stream *s, const mock_copy *c, aclrtMemcpyKind kind, const mock_task_ops *ops) {
    if (!mock_peer_copies(s->ctx->device, c->dst, c->src))
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003",
            "device %d has no access to memory of another device", s->ctx->device);
    mock_task t = {.ops = ops, .kind = MOCK_TASK_WORK, .u.copy = *c};
    if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
        char *buffer = malloc(c->width);
        if (buffer == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
        t.u.copy.src = memcpy(buffer, c->src, c->width);
        t.ops = &buffer_ops;
    }
    return mock_submit(s, &t);
}

/* Queues the copy, or does it at once: then the stream may be one of another context (observed: other_context_stream).
 * DEVICE_TO_DEVICE queues pageable memory too (observed: pageable_in_capture). */
static aclError copy_async(const mock_copy *c, aclrtMemcpyKind kind, aclrtStream stream,
    const mock_task_ops *ops, const char *call) {
    const places p = places_of(c);
    const bool at_once = has_pageable(p) && kind != ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE &&
                         kind != ACL_MEMCPY_DEVICE_TO_DEVICE;
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) code = check_places(kind, p, call);
    const bool moves = code == 0 && c->dst != c->src;
    if (moves && !at_once) code = mock_stream_of_current(s);
    if (moves && code == 0) code = at_once ? copy_pageable(s, c, call) : queue_copy(s, c, kind, ops);
    mock_unlock();
    return code;
}

/* count 0 is 0 whatever the addresses (observed: pageable, "count 0 bad ptr"). */
aclError mock_copy_async(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind,
    aclrtStream stream, const char *call) {
    if (count == 0) return 0;
    aclError code = check_arguments(dst, src, kind);
    if (code == 0) code = mock_stream_check(stream);
    if (code == 0) code = too_long(count, max);
    if (code != 0) return code;
    return copy_async(&(mock_copy){dst, src, count, count, count, 1}, kind, stream, &copy_ops, call);
}

MOCK_EXPORT aclError aclrtMemcpyAsync(
    void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyAsync, dst, src, stream);
    return mock_copy_async(dst, destMax, src, count, kind, stream, "aclrtMemcpyAsync");
}

MOCK_EXPORT aclError aclrtMemcpyAsyncWithCondition(
    void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyAsyncWithCondition, dst, src, stream);
    return mock_copy_async(dst, destMax, src, count, kind, stream, "aclrtMemcpyAsyncWithCondition");
}

/* Limits of width and height (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
    size_t width, size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpy2dAsync, dst, src, stream);
    if (width == 0 || height == 0) return 0;
    const aclError code = check_2d(dst, dpitch, src, spitch, width, kind);
    if (code != 0) return code;
    if (width > 5000000 || height > 5 * 1024 * 1024)
        return mock_fail(
            ACL_ERROR_INVALID_PARAM, "EH0007", "width %zu or height %zu is too large", width, height);
    return copy_async(&(mock_copy){dst, src, dpitch, spitch, width, height}, kind, stream, &copy2d_ops,
        "aclrtMemcpy2dAsync");
}

/* Captured; memory of the host is filled at once then, and is no task (observed: graph_tasks, group_calls). */
static aclError fill_async(const mock_fill *f, aclrtStream stream, const mock_task_ops *ops) {
    mock_task t = {.ops = ops, .kind = MOCK_TASK_WORK, .u.fill = *f};
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    const bool at_once = code == 0 && mock_capturing(s) && mock_place_of(f->dst) != MOCK_DEVICE;
    if (at_once) code = fill_now(f) ? 0 : ACL_ERROR_RT_PARAM_INVALID;
    else if (code == 0) code = mock_submit(s, &t);
    mock_unlock();
    return code;
}

/* count above maxCount: 107000 (observed, not recorded). */
MOCK_EXPORT aclError aclrtMemsetAsync(
    void *devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemsetAsync, devPtr, stream);
    if (count == 0) return 0;
    if (devPtr == NULL) return mock_null("devPtr");
    aclError code = mock_stream_check(stream);
    if (code == 0) code = too_long(count, maxCount);
    return code != 0 ? code : fill_async(&(mock_fill){devPtr, count, value, false}, stream, &fill_ops);
}

/* Host memory is filled at the call (guide: memory management, aclrtMemsetD32Async), for which captures
 * restrict it (own choice). */
MOCK_EXPORT aclError aclrtMemsetD32Async(
    void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemsetD32Async, ptr, stream);
    aclError code = check_words(ptr, memSize, N);
    if (code != 0) return code;
    const mock_fill f = {ptr, N * 4, (int32_t)value, true};
    if (mock_place_of(ptr) == MOCK_DEVICE) return fill_async(&f, stream, &fill32_ops);
    code = mock_forbidden_sync("aclrtMemsetD32Async");
    if (code != 0) return code;
    mock_touch_host("aclrtMemsetD32Async", ptr, N * 4, MOCK_WRITES);
    return end_sync(fill_now(&f), "aclrtMemsetD32Async");
}
