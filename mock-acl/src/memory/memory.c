/* Allocation of device and pinned host memory, and what an address is.
 *
 * Content of fresh memory is undefined (guide: memory management, aclrtMalloc). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

/* (own choice: the real limit is the memory of the host) */
#define PINNED_BYTES (32 * MOCK_GIB)
#define PAGE 4096u

/* Host memory the program allocated itself and registered. */
typedef struct registered {
    char *base;
    uint64_t size;
    bool pinned, mapped;
} registered;

static pthread_mutex_t setup_lock = PTHREAD_MUTEX_INITIALIZER;
/* The last one is host memory that can be mapped. */
static mock_arena *_Atomic device_arenas[MOCK_MAX_DEVICES + 1];
static mock_arena *_Atomic pinned_arena;
static registered *ranges;
static size_t range_count, range_room;
static _Atomic size_t ranges_seen; /* read without the lock: no range, no search */
static pthread_mutex_t range_lock = PTHREAD_MUTEX_INITIALIZER;

static mock_arena *arena_in(mock_arena *_Atomic *place, uint64_t bytes, bool device) {
    mock_arena *a = atomic_load_explicit(place, memory_order_acquire);
    if (a != NULL) return a;
    pthread_mutex_lock(&setup_lock);
    a = atomic_load_explicit(place, memory_order_acquire);
    if (a == NULL) {
        a = mock_arena_new(bytes, device);
        atomic_store_explicit(place, a, memory_order_release);
    }
    pthread_mutex_unlock(&setup_lock);
    return a;
}

mock_arena *mock_device_arena(int32_t id) {
    return arena_in(&device_arenas[id], id == MOCK_HOST_SIDE ? PINNED_BYTES : MOCK_DEVICE_BYTES, true);
}

mock_arena *mock_arena_around(const void *p, int32_t *device) {
    for (uint32_t i = 0; i < mock_device_count(); i++) {
        mock_arena *a = atomic_load_explicit(&device_arenas[i], memory_order_acquire);
        if (a == NULL || !mock_arena_contains(a, p)) continue;
        if (device != NULL) *device = (int32_t)i;
        return a;
    }
    return NULL;
}

/* Mapped host memory: the device reaches it at the host's own address. */
static void *mapped_view(const void *p, size_t size) {
    if (atomic_load_explicit(&ranges_seen, memory_order_acquire) == 0) return NULL;
    bool mapped = false;
    pthread_mutex_lock(&range_lock);
    for (size_t i = 0; i < range_count && !mapped; i++) {
        const uint64_t offset = (uint64_t)((const char *)p - ranges[i].base);
        mapped = ranges[i].mapped && offset < ranges[i].size && size <= ranges[i].size - offset;
    }
    pthread_mutex_unlock(&range_lock);
    return mapped ? (void *)(uintptr_t)p : NULL;
}

/* For the device whose work this thread executes; what the host does goes anywhere (own choice). */
static void *view_for(const mock_found *f) {
    const mock_stream *s = mock_self()->stream;
    if (s == NULL || f->view == NULL || f->device == MOCK_HOST_SIDE) return f->view;
    const int32_t device = s->ctx->device;
    return (f->throughout >> device & 1) != 0 || mock_peer_enabled(device, f->device) ? f->view : NULL;
}

void *mock_device_view(const void *device, size_t size) {
    static uint64_t nothing;
    mock_found f;
    mock_arena *a = mock_arena_around(device, NULL);
    void *view = NULL;
    if (a != NULL) view = mock_arena_view(a, device, size);
    else if (mock_space_find(device, size, &f)) view = view_for(&f);
    else view = mapped_view(device, size);
    return view == NULL && size == 0 ? &nothing : view;
}

bool mock_is_pinned(const void *p) {
    mock_arena *a = atomic_load_explicit(&pinned_arena, memory_order_acquire);
    if (a != NULL && mock_arena_contains(a, p)) return mock_arena_block(a, p, NULL, NULL);
    if (atomic_load_explicit(&ranges_seen, memory_order_acquire) == 0) return false;
    bool pinned = false;
    pthread_mutex_lock(&range_lock);
    for (size_t i = 0; i < range_count && !pinned; i++)
        pinned = (uint64_t)((const char *)p - ranges[i].base) < ranges[i].size;
    pthread_mutex_unlock(&range_lock);
    return pinned;
}

/* Mapped host memory counts as pinned; managed memory as memory of the device. */
mock_place mock_place_of(const void *p) {
    mock_found f;
    if (mock_arena_around(p, NULL) != NULL) return MOCK_DEVICE;
    if (mock_space_find(p, 0, &f))
        return f.device == MOCK_HOST_SIDE && f.size != 0 ? MOCK_PINNED : MOCK_DEVICE;
    return mock_is_pinned(p) ? MOCK_PINNED : MOCK_PAGEABLE;
}

bool mock_block_of(const void *p, void **base, uint64_t *size) {
    mock_arena *a = mock_arena_around(p, NULL);
    mock_arena *beside[] = {atomic_load_explicit(&pinned_arena, memory_order_acquire),
        atomic_load_explicit(&device_arenas[MOCK_HOST_SIDE], memory_order_acquire)};
    for (int i = 0; i < 2 && a == NULL; i++)
        if (beside[i] != NULL && mock_arena_contains(beside[i], p)) a = beside[i];
    return a != NULL && mock_arena_block(a, p, base, size);
}

void *mock_host_address(const void *p, uint64_t size) {
    mock_found f;
    if (mock_arena_around(p, NULL) != NULL) return mock_device_view(p, size);
    return mock_space_find(p, size, &f) ? view_for(&f) : (void *)(uintptr_t)p;
}

void *mock_copy_address(const void *p, uint64_t size) {
    mock_found f;
    const bool apart = mock_arena_around(p, NULL) == NULL && mock_space_find(p, size, &f);
    return apart ? f.view : mock_host_address(p, size);
}

mock_arena_use mock_device_usage(int32_t device) {
    mock_arena_use sum = {0, 0, 0, 0, 0};
    for (int32_t i = 0; i < (int32_t)mock_device_count(); i++) {
        mock_arena *a = atomic_load_explicit(&device_arenas[i], memory_order_acquire);
        if (a == NULL || (device >= 0 && device != i)) continue;
        const mock_arena_use one = mock_arena_usage(a);
        sum.blocks += one.blocks;
        sum.bytes += one.bytes;
        sum.charged += one.charged;
        sum.capacity += one.capacity;
        sum.peak += one.peak;
    }
    return sum;
}

mock_arena_use mock_pinned_usage(void) {
    mock_arena *a = atomic_load_explicit(&pinned_arena, memory_order_acquire);
    return a == NULL ? (mock_arena_use){0, 0, 0, 0, 0} : mock_arena_usage(a);
}

/* Regions with host memory that the program held over a reset. */
static mock_arena **aside;
static size_t aside_count;

static bool set_aside(mock_arena *a) {
    mock_arena **grown = realloc(aside, (aside_count + 1) * sizeof *aside);
    if (grown == NULL) return false;
    aside = grown;
    aside[aside_count++] = a;
    return true;
}

/* The spaces first: they hold blocks of the arenas. */
static void reset_spaces(void) {
    mock_ipc_reset();
    mock_virtual_reset();
    mock_physical_reset();
    mock_managed_reset();
    mock_share_reset();
    mock_lock();
    mock_peers_reset();
    mock_unlock();
    mock_allocators_reset();
}

void mock_memory_reset(void) {
    reset_spaces();
    for (uint32_t i = 0; i <= MOCK_HOST_SIDE; i++) {
        mock_arena *a = atomic_load_explicit(&device_arenas[i], memory_order_acquire);
        if (a != NULL) mock_arena_reset(a);
    }
    /* Host memory that the program still holds stays mapped and is given to nobody else: it may be in use as
     * plain memory (own choice). The next allocation begins a new region. */
    mock_arena *a = atomic_load_explicit(&pinned_arena, memory_order_acquire);
    if (a != NULL && mock_pinned_usage().blocks != 0 && set_aside(a)) {
        atomic_store_explicit(&pinned_arena, NULL, memory_order_release);
        mock_arena_retire(a);
    } else if (a != NULL) {
        mock_arena_reset(a);
    }
    pthread_mutex_lock(&range_lock);
    range_count = 0;
    atomic_store_explicit(&ranges_seen, 0, memory_order_release);
    pthread_mutex_unlock(&range_lock);
}

/* ---- device memory ---- */

int32_t mock_current_device(void) {
    mock_lock();
    const mock_ctx *ctx = mock_current();
    const int32_t device = ctx == NULL ? -1 : ctx->device;
    mock_unlock();
    return device;
}

/* The same with the text of calls that go to the driver at once (observed: before_set_device). */
static int32_t driver_device(void) {
    mock_lock();
    const mock_ctx *ctx = mock_current_or_none();
    const int32_t device = ctx == NULL ? -1 : ctx->device;
    mock_unlock();
    if (ctx == NULL) mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "EE1001", "the calling thread has no current context");
    return device;
}

/* No context: 107002 (observed: thread_no_ctx). Null or size 0, and a size that overflows with its
 * padding: 100000; no memory: 207001 (implementation of the open runtime). */
static aclError allocate(void **out, uint64_t size, bool bare) {
    if (out == NULL) return mock_null("devPtr");
    if (size == 0) return mock_zero("size");
    if (size > UINT64_MAX - 64)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH9999", "size %zu overflows", (size_t)size);
    const int32_t device = mock_current_device();
    if (device < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    mock_arena *a = mock_device_arena(device);
    void *p = a == NULL ? NULL : mock_arena_alloc(a, size, bare);
    if (p == NULL)
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "device %d has no %zu bytes left", device,
            (size_t)size);
    *out = p;
    mock_gave(p);
    return 0;
}

/* Pages of 1 GiB come without padding (implementation of the open runtime). */
static bool is_bare(aclrtMemMallocPolicy policy) {
    return policy == ACL_MEM_MALLOC_HUGE1G_ONLY || policy == ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
}

/* Policies choose page sizes; unknown ones mean automatic (guide: memory management, aclrtMalloc). They
 * are not looked at otherwise. */
MOCK_EXPORT aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    MOCK_ENTER(aclrtMalloc);
    return allocate(devPtr, size, is_bare(policy));
}

MOCK_EXPORT aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    MOCK_ENTER(aclrtMallocAlign32);
    (void)policy;
    return allocate(devPtr, size, true);
}

MOCK_EXPORT aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) {
    MOCK_ENTER(aclrtMallocCached);
    return allocate(devPtr, size, is_bare(policy));
}

/* Attributes announced but null: 100000 (implementation of the open runtime). */
static aclError check_config(void **out, const aclrtMallocConfig *cfg) {
    if (out == NULL) return mock_null("pointer");
    if (cfg != NULL && cfg->numAttrs > 0 && cfg->attrs == NULL) return mock_null("attrs");
    return 0;
}

MOCK_EXPORT aclError aclrtMallocWithCfg(
    void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg) {
    MOCK_ENTER(aclrtMallocWithCfg);
    const aclError code = check_config(devPtr, cfg);
    return code != 0 ? code : allocate(devPtr, size, is_bare(policy));
}

MOCK_EXPORT aclError aclrtMallocForTaskScheduler(
    void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg) {
    MOCK_ENTER(aclrtMallocForTaskScheduler);
    const aclError code = check_config(devPtr, cfg);
    return code != 0 ? code : allocate(devPtr, size, is_bare(policy));
}

void *mock_device_alloc(int32_t device, uint64_t size) {
    mock_arena *a = mock_device_arena(device);
    return a == NULL ? NULL : mock_arena_alloc(a, size, false);
}

void mock_device_idle(const void *p, bool idle) {
    mock_arena *a = mock_arena_around(p, NULL);
    if (a != NULL) mock_arena_idle(a, p, idle);
}

bool mock_device_free(void *p) {
    mock_arena *a = mock_arena_around(p, NULL);
    mock_arena *host = atomic_load_explicit(&device_arenas[MOCK_HOST_SIDE], memory_order_acquire);
    if (a == NULL && host != NULL && mock_arena_contains(host, p)) a = host;
    uint64_t size = 0;
    if (mock_races() && a != NULL && mock_arena_block(a, p, NULL, &size)) mock_race_forget(p, size);
    return a != NULL && mock_arena_free(a, p);
}

static bool free_block(void *p) {
    mock_arena *a = mock_arena_around(p, NULL);
    return a != NULL && mock_arena_free(a, p);
}

/* Does not wait for users of the memory, and needs no context (guide: memory management, aclrtFree).
 * Null: 100000; pool blocks too (implementation of the open runtime). Unknown and inner addresses: 107000
 * (own choice: the driver answers there). */
aclError mock_device_release(void *p) {
    if (p == NULL) return mock_null("devPtr");
    bool freed = false;
    mock_touch_free("aclrtFree", p);
    if (!mock_pool_free(p, &freed)) freed = free_block(p) || mock_managed_free(p);
    if (freed) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not the start of a device allocation", p);
}

MOCK_EXPORT aclError aclrtFree(void *devPtr) {
    MOCK_ENTER_OF(aclrtFree, devPtr);
    return mock_device_release(devPtr);
}

/* Unknown kinds: 107016, before the context is looked for (observed: thread_no_ctx, before_set_device). */
MOCK_EXPORT aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total) {
    MOCK_ENTER(aclrtGetMemInfo);
    if (free == NULL || total == NULL) return mock_null("free and total");
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G)
        return mock_fail(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "EE1003", "memory attribute %d", (int)attr);
    const int32_t device = driver_device();
    if (device < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    *free = *total = 0;
    /* High-bandwidth memory only: kinds that do not apply have 0 (guide: memory management,
     * aclrtGetMemInfo). */
    const bool here = attr == ACL_HBM_MEM || attr == ACL_HBM_MEM_HUGE || attr == ACL_HBM_MEM_NORMAL ||
                      attr == ACL_HBM_MEM_HUGE1G || (attr >= ACL_MEM_NORMAL && attr <= ACL_MEM_HUGE1G);
    if (!here || mock_device_arena(device) == NULL) return 0;
    const mock_arena_use use = mock_device_usage(device);
    *total = use.capacity;
    *free = use.capacity - use.charged;
    return 0;
}

/* ---- pinned host memory ---- */

/* Needs a context (observed: thread_no_ctx); page-locked memory (guide: memory management,
 * aclrtMallocHost). */
static aclError allocate_host(void **out, uint64_t size) {
    if (out == NULL) return mock_null("hostPtr");
    if (size == 0) return mock_zero("size");
    if (mock_current_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    mock_arena *a = arena_in(&pinned_arena, PINNED_BYTES, false);
    void *p = a == NULL || size > PINNED_BYTES ? NULL : mock_arena_alloc(a, size, false);
    if (p == NULL)
        return mock_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "no %zu bytes of host memory", (size_t)size);
    *out = p;
    mock_gave(p);
    return 0;
}

MOCK_EXPORT aclError aclrtMallocHost(void **hostPtr, size_t size) {
    MOCK_ENTER(aclrtMallocHost);
    return allocate_host(hostPtr, size);
}

MOCK_EXPORT aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg) {
    MOCK_ENTER(aclrtMallocHostWithCfg);
    const aclError code = check_config(ptr, cfg);
    return code != 0 ? code : allocate_host(ptr, size);
}

/* Null: 100000, no wait (guide: memory management, aclrtFreeHost). Unknown addresses: 107000 (own choice:
 * the driver answers there). */
aclError mock_host_release(void *p) {
    if (p == NULL) return mock_null("hostPtr");
    mock_touch_free("aclrtFreeHost", p);
    mock_arena *a = atomic_load_explicit(&pinned_arena, memory_order_acquire);
    if (a != NULL && mock_arena_free(a, p)) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not the start of a host allocation", p);
}

MOCK_EXPORT aclError aclrtFreeHost(void *hostPtr) {
    MOCK_ENTER_OF(aclrtFreeHost, hostPtr);
    return mock_host_release(hostPtr);
}

/* ---- registered host memory ---- */

/* Mapped memory starts at a page, and by the guide all that is registered; pinning pinned memory and registering an address twice fail (guide:
 * memory management, aclrtHostRegisterV2; header: ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED). */
static aclError add_range(void *p, uint64_t size, bool pinned, bool mapped, aclError again) {
    if (driver_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    if ((mapped || mock_strict_doc()) && (uintptr_t)p % PAGE != 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not aligned to 4 KiB", p);
    aclError code = 0;
    if (pinned && mock_is_pinned(p)) code = ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    pthread_mutex_lock(&range_lock);
    for (size_t i = 0; i < range_count && code == 0; i++)
        if (ranges[i].base == p) code = again;
    if (code == 0 && range_count == range_room) {
        registered *grown = realloc(ranges, (range_room * 2 + 8) * sizeof *ranges);
        if (grown == NULL) code = ACL_ERROR_RT_MEMORY_ALLOCATION;
        else ranges = grown;
        if (grown != NULL) range_room = range_room * 2 + 8;
    }
    if (code == 0) {
        ranges[range_count++] = (registered){p, size, pinned, mapped};
        atomic_store_explicit(&ranges_seen, range_count, memory_order_release);
    }
    pthread_mutex_unlock(&range_lock);
    return code == 0 ? 0 : mock_fail(code, "EE1003", "%p cannot be registered", p);
}

/* Other types: 207000, after the arguments (observed: with_context); the same address again: 207015 (observed: sequences).
 * The mapped address is the host address (own choice: kernels of the mock run on the host). */
MOCK_EXPORT aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr) {
    MOCK_ENTER_OF(aclrtHostRegister, ptr);
    if (ptr == NULL || devPtr == NULL) return mock_null("ptr and devPtr");
    if (size == 0) return mock_zero("size");
    if (type != ACL_HOST_REGISTER_MAPPED)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1001", "register type %d", (int)type);
    const aclError code = add_range(ptr, size, false, true, ACL_ERROR_RT_REPEATED_INIT);
    if (code == 0) *devPtr = ptr;
    return code;
}

/* Known flags (header: ACL_HOST_REG_MAPPED and its neighbours); others 107000 (own choice). */
MOCK_EXPORT aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag) {
    MOCK_ENTER_OF(aclrtHostRegisterV2, ptr);
    if (ptr == NULL) return mock_null("ptr");
    if (size == 0) return mock_zero("size");
    const uint32_t known =
        ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;
    if (flag == 0 || (flag & ~known) != 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag 0x%x", flag);
    return add_range(ptr, size, (flag & ACL_HOST_REG_PINNED) != 0, (flag & ACL_HOST_REG_MAPPED) != 0,
        ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
}

/* (header: ACL_ERROR_HOST_MEMORY_NOT_REGISTERED; observed: with_context, before_set_device) */
MOCK_EXPORT aclError aclrtHostUnregister(void *ptr) {
    MOCK_ENTER_OF(aclrtHostUnregister, ptr);
    if (ptr == NULL) return mock_null("ptr");
    if (driver_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    aclError code = ACL_ERROR_HOST_MEMORY_NOT_REGISTERED;
    pthread_mutex_lock(&range_lock);
    for (size_t i = 0; i < range_count && code != 0; i++) {
        if (ranges[i].base != ptr) continue;
        mock_race_forget(ptr, ranges[i].size);
        ranges[i] = ranges[--range_count];
        atomic_store_explicit(&ranges_seen, range_count, memory_order_release);
        code = 0;
    }
    pthread_mutex_unlock(&range_lock);
    return code == 0 ? 0 : mock_fail(code, "EE1018", "%p is not registered", ptr);
}

/* flag must be 0, else 100000 (implementation of the open runtime); not mapped: 507911 (header:
 * ACL_ERROR_HOST_MEMORY_NOT_REGISTERED). */
MOCK_EXPORT aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag) {
    MOCK_ENTER(aclrtHostGetDevicePointer);
    if (pHost == NULL || pDevice == NULL) return mock_null("pHost and pDevice");
    if (flag != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flag %u", flag);
    aclError code = ACL_ERROR_HOST_MEMORY_NOT_REGISTERED;
    pthread_mutex_lock(&range_lock);
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].mapped && (uint64_t)((char *)pHost - ranges[i].base) < ranges[i].size) code = 0;
    pthread_mutex_unlock(&range_lock);
    if (code != 0) return mock_fail(code, "EE1003", "%p is not mapped", pHost);
    *pDevice = pHost;
    return 0;
}
