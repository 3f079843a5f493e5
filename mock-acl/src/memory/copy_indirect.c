/* Copies whose addresses stand in device memory and are read when the copy runs: a captured one follows them
 * from replay to replay (guide: memory management, aclrtMemcpyAsyncWithDesc, aclrtMemcpyAsyncWithOffset).
 *
 * Both only within a device: kind 6. Other kinds: 207000 for descriptors, and 107000 with offsets; kinds
 * beyond the list: 100000 (implementation of the open runtime; own choice of the codes of the inner layer). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"

/* (own choice: the real size depends on the chip, and programs ask for it) */
#define DESC_BYTES 64u
#define MAGIC UINT64_C(0x6d6f636b636f7079)
/* (implementation of the open runtime) */
#define MOST (UINT64_C(4) << 30)

typedef struct descriptor {
    uint64_t magic;
    void *dst;
    const void *src;
    uint64_t count;
} descriptor;
_Static_assert(sizeof(descriptor) <= DESC_BYTES, "a descriptor fits");

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

static aclError check_kind(aclrtMemcpyKind kind) {
    if ((int)kind < 0 || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "copy kind %d", (int)kind);
    if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return 0;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "copy kind %d", (int)kind);
}

static aclError copy(void *dst, const void *src, uint64_t count) {
    void *to = mock_device_view(dst, count);
    const void *from = mock_device_view(src, count);
    if (to == NULL || from == NULL) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    if (mock_races() && !mock_touch_task_copy(&(mock_copy){dst, src, count, count, count, 1})) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    memmove(to, from, count);
    return 0;
}

static aclError run_desc(void *arg) {
    const mock_indirect *i = arg;
    const void *view = mock_device_view(i->dst, DESC_BYTES);
    descriptor d;
    if (view == NULL) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    if (!mock_touch_task(i->dst, sizeof d, MOCK_READS)) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    memcpy(&d, view, sizeof d);
    return d.magic != MAGIC ? ACL_ERROR_RT_DEVICE_MEM_ERROR : copy(d.dst, d.src, d.count);
}

static bool read_address(const void *at, char **out) {
    const void *view = mock_device_view(at, sizeof *out);
    if (!mock_touch_task(at, sizeof *out, MOCK_READS)) return false;
    if (view != NULL) memcpy(out, view, sizeof *out);
    return view != NULL;
}

static aclError run_offset(void *arg) {
    const mock_indirect *i = arg;
    char *dst = NULL, *src = NULL;
    if (!read_address(i->dst, &dst) || !read_address(i->src, &src)) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    return copy((char *)((uintptr_t)dst + i->dst_offset), (char *)((uintptr_t)src + i->src_offset), i->count);
}

static const mock_task_ops desc_ops = {"aclrtMemcpyAsyncWithDesc", run_desc, NULL};
static const mock_task_ops offset_ops = {"aclrtMemcpyAsyncWithOffset", run_offset, NULL};

static aclError submit(const mock_task_ops *ops, const mock_indirect *what, aclrtStream stream) {
    mock_task t = {.ops = ops, .kind = MOCK_TASK_WORK, .u.indirect = *what};
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = mock_submit(s, &t);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize) {
    MOCK_ENTER(aclrtGetMemcpyDescSize);
    if (descSize == NULL) return mock_null("descSize");
    const aclError code = check_kind(kind);
    if (code == 0) *descSize = DESC_BYTES;
    return code;
}

/* A synchronous copy of the descriptor, which captures restrict: 107030 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtSetMemcpyDesc(
    void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count, void *config) {
    MOCK_ENTER_OF(aclrtSetMemcpyDesc, srcAddr, dstAddr);
    if (desc == NULL || srcAddr == NULL || dstAddr == NULL || count == 0)
        return mock_null("desc, srcAddr, dstAddr and count");
    if (config != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "config must be null");
    aclError code = check_kind(kind);
    if (code == 0 && count > MOST) code = wrong("the count is above 4 GiB");
    if (code == 0) code = mock_forbidden_sync("aclrtSetMemcpyDesc");
    if (code != 0) return code;
    const descriptor d = {MAGIC, dstAddr, srcAddr, count};
    mock_touch_host("aclrtSetMemcpyDesc", desc, DESC_BYTES, MOCK_WRITES);
    mock_views_take();
    void *view = mock_device_view(desc, DESC_BYTES);
    if (view != NULL) memset(view, 0, DESC_BYTES);
    if (view != NULL) memcpy(view, &d, sizeof d);
    mock_views_give();
    return view != NULL ? 0 : wrong("the descriptor is not in device memory");
}

/* A stream is needed, not the default one (implementation of the open runtime). What is no descriptor fails
 * on the device with 507053, as an address outside of live memory does (own choice). */
MOCK_EXPORT aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyAsyncWithDesc, stream);
    if (desc == NULL || stream == NULL) return mock_null("desc and stream");
    aclError code = check_kind(kind);
    if (code == 0 && mock_place_of(desc) != MOCK_DEVICE)
        code = wrong("the descriptor is not in device memory");
    return code != 0 ? code : submit(&desc_ops, &(mock_indirect){.dst = desc}, stream);
}

/* Nothing is checked by the outer layer, so every mistake is 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset,
    const void **src, size_t count, size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemcpyAsyncWithOffset, stream);
    if (dst == NULL || src == NULL || count == 0) return wrong("dst, src and count must not be null or 0");
    if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return wrong("only copies within a device");
    if (count > destMax || count > MOST) return wrong("the count is above destMax or 4 GiB");
    if (mock_place_of(dst) != MOCK_DEVICE || mock_place_of(src) != MOCK_DEVICE)
        return wrong("the addresses do not stand in device memory");
    return submit(&offset_ops,
        &(mock_indirect){dst, (void *)(uintptr_t)src, dstDataOffset, srcDataOffset, destMax, count}, stream);
}
