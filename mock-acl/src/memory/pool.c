/* Stream-ordered memory pools: a block is usable at once by later work of the stream, and goes back when the
 * stream reaches its release.
 *
 * (guide: memory management, stream-ordered memory pools; header: acl_rt_memory_soma.h) A block whose release
 * is queued is given out again to the same stream, in its order. One whose release ran stays with the pool,
 * its addresses dead, and is given out to the stream that released it, or to any with ALLOW_OPPORTUNISTIC.
 * What is above the threshold goes back at the next wait for a stream, an event or the device. A block is
 * only given out again for the size it had, so that its end stays exact, and the other two rules of reuse are
 * kept and never needed (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"

#define BUCKETS 4096u
#define ATTRIBUTES 9

typedef enum block_state { IN_USE, RELEASING, IDLE } block_state;

typedef struct pool {
    void *handle; /* NULL once destroyed */
    int32_t device;
    uint64_t limit, used, high;
    uint64_t reserved, reserved_high;
    uint64_t blocks;
    struct block *idle, *leaving; /* released, and to be released; the latest first */
    struct pool *next;  /* of those that are live */
    uint64_t settings[ATTRIBUTES];
} pool;

typedef struct block {
    struct block *next; /* in its bucket */
    struct block *older; /* in a list of its pool */
    void *address;
    uint64_t size;
    pool *owner;
    block_state state;
    uint64_t turn; /* how often it was given out: an older release task has no effect */
    const mock_stream *stream; /* of the release */
} block;

/* With the engine lock. */
static block *buckets[BUCKETS];
static uint64_t idle_blocks;
static _Atomic uint64_t block_count; /* of all pools; read without the lock: no block, no search */
static pool *pools;

static block **place_of(const void *p) {
    block **at = &buckets[((uintptr_t)p >> 9) * 2654435761u % BUCKETS];
    while (*at != NULL && (*at)->address != p) at = &(*at)->next;
    return at;
}

static void forget_pool(pool *p) {
    if (p->blocks == 0 && p->handle == NULL) free(p);
}

/* The block leaves its pool. */
static void give_back(block *b) {
    block **at = place_of(b->address);
    pool *owner = b->owner;
    *at = b->next;
    mock_device_free(b->address);
    if (b->state != IDLE) owner->used -= b->size;
    owner->reserved -= b->size;
    owner->blocks--;
    atomic_fetch_sub_explicit(&block_count, 1, memory_order_relaxed);
    free(b);
}

/* With the latest release first. */
static void make_idle(block *b) {
    pool *p = b->owner;
    mock_device_idle(b->address, true);
    p->used -= b->size;
    b->state = IDLE;
    b->older = p->idle;
    p->idle = b;
    idle_blocks++;
}

static void unlist(block **list, const block *b) {
    while (*list != b) list = &(*list)->older;
    *list = b->older;
}

static void take_idle(block *b) {
    unlist(&b->owner->idle, b);
    idle_blocks--;
}

/* Gives idle blocks back, the oldest first, until no more than `keep` bytes are reserved. */
static void trim(pool *p, uint64_t keep) {
    while (p->idle != NULL && p->reserved > keep) {
        block *b = p->idle;
        while (b->older != NULL) b = b->older;
        take_idle(b);
        give_back(b);
    }
}

void mock_pools_trim(void) {
    for (pool *p = idle_blocks == 0 ? NULL : pools; p != NULL; p = p->next)
        trim(p, p->settings[ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD]);
}

/* At once, whatever the threshold (guide: memory management, aclrtFree: a synchronous release). */
bool mock_pool_free(void *p, bool *freed) {
    if (atomic_load_explicit(&block_count, memory_order_relaxed) == 0) return false;
    mock_lock();
    block *b = *place_of(p);
    const bool known = b != NULL;
    *freed = known && b->state == IN_USE;
    if (*freed) {
        pool *owner = b->owner;
        give_back(b);
        forget_pool(owner);
    }
    mock_unlock();
    return known;
}

/* ---- pools ---- */

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

static bool is_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* Pinned memory of a device, and reserved bytes of 0: else 100000 (implementation of the open runtime). */
static aclError check_props(const aclrtMemPoolProps *props) {
    if (props->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
        !is_zero(props->reserved, sizeof props->reserved))
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "a pool has pinned memory of a device");
    if (props->location.id >= mock_device_count())
        return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "device %u", props->location.id);
    const int type = (int)props->handleType;
    if (type == ACL_MEM_HANDLE_TYPE_NONE || type == ACL_MEM_HANDLE_TYPE_POSIX) return 0;
    return wrong("unknown type of handle");
}

/* A device that does not exist: 107001 (own choice). The threshold starts as 0 (guide: memory management,
 * aclrtMemPoolSetAttr), the switches of reuse as 1 (own choice). */
MOCK_EXPORT aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps) {
    MOCK_ENTER(aclrtMemPoolCreate);
    if (memPool == NULL || poolProps == NULL) return mock_null("memPool and poolProps");
    const aclError code = check_props(poolProps);
    if (code != 0) return code;
    pool *p = calloc(1, sizeof *p);
    if (p == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    p->device = (int32_t)poolProps->location.id;
    p->limit = poolProps->maxSize == 0 ? UINT64_MAX : poolProps->maxSize;
    for (int i = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES; i < ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
        i++)
        p->settings[i] = 1;
    mock_lock();
    p->handle = mock_handle_new(MOCK_POOL, p);
    p->next = pools;
    pools = p;
    *memPool = p->handle;
    mock_gave(*memPool);
    mock_unlock();
    return 0;
}

static pool *find(aclrtMemPool handle, aclError *code) {
    pool *p = mock_handle_get(MOCK_POOL, handle);
    *code = 0;
    if (handle == NULL) *code = mock_null("memPool");
    else if (p == NULL)
        *code = mock_stale(handle, "pool");
    return p;
}

/* Blocks that are still out keep the pool's memory until they go back. */
static void destroy(pool *p) {
    pool **at = &pools;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    trim(p, 0);
    mock_handle_take(MOCK_POOL, p->handle);
    p->handle = NULL;
    forget_pool(p);
}

MOCK_EXPORT aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
    MOCK_ENTER_OF(aclrtMemPoolDestroy, memPool);
    aclError code = 0;
    mock_lock();
    pool *p = find(memPool, &code);
    if (code == 0) destroy(p);
    mock_unlock();
    return code;
}

/* Writable and read-only attributes (header: aclrtMemPoolAttr); codes are our own choice. */
static aclError attribute(pool *p, aclrtMemPoolAttr attr, uint64_t *value, bool set) {
    switch ((int)attr) {
    case ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC:
    case ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
        if (set) p->settings[attr] = *value;
        *value = p->settings[attr];
        return 0;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
        *value = p->reserved;
        break;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
        *value = p->used;
        break;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
        if (set) p->reserved_high = p->reserved;
        *value = p->reserved_high;
        return 0;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
        if (set) p->high = p->used; /* a high mark can be reset */
        *value = p->high;
        return 0;
    default:
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "pool attribute %d", (int)attr);
    }
    return set ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "pool attribute %d is read only", (int)attr)
               : 0;
}

static bool is_switch(aclrtMemPoolAttr attr) {
    return attr >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attr <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static aclError access_attribute(aclrtMemPool handle, aclrtMemPoolAttr attr, void *value, bool set) {
    if (handle == NULL) return mock_null("memPool");
    if (value == NULL) return wrong("value must not be null");
    aclError code = 0;
    uint64_t number = 0;
    /* The switches are 32 bits wide, the amounts 64. */
    const size_t size = is_switch(attr) ? sizeof(int32_t) : sizeof(uint64_t);
    if (set) memcpy(&number, value, size);
    mock_lock();
    pool *p = find(handle, &code);
    if (code == 0) code = attribute(p, attr, &number, set);
    mock_unlock();
    if (code == 0 && !set) memcpy(value, &number, size);
    return code;
}

MOCK_EXPORT aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
    MOCK_ENTER_OF(aclrtMemPoolGetAttr, memPool);
    return access_attribute(memPool, attr, value, false);
}

MOCK_EXPORT aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
    MOCK_ENTER_OF(aclrtMemPoolSetAttr, memPool);
    return access_attribute(memPool, attr, value, true);
}

MOCK_EXPORT aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
    MOCK_ENTER_OF(aclrtMemPoolTrimTo, memPool);
    aclError code = 0;
    mock_lock();
    pool *p = find(memPool, &code);
    if (code == 0) trim(p, minBytesToKeep);
    mock_unlock();
    return code;
}

/* ---- blocks ---- */

/* (own choice: the real runtime lets it pass, and the block can be given out again while the graph uses
 * it) */
static aclError not_capturing(const mock_stream *s) {
    if (s->graph == NULL) return 0;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "pools cannot be used in a capture");
}

/* A block of this size whose release stands before new work of the stream. */
static block *reuse(pool *p, uint64_t size, const mock_stream *s) {
    const bool any = p->settings[ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC] != 0;
    for (block *b = p->idle; b != NULL; b = b->older) {
        if (b->size != size || (!any && b->stream != s)) continue;
        take_idle(b);
        mock_device_idle(b->address, false);
        mock_race_forget(b->address, b->size); /* the pool orders its users */
        p->used += size;
        return b;
    }
    for (block *b = p->leaving; b != NULL; b = b->older) {
        if (b->size != size || b->stream != s) continue;
        unlist(&p->leaving, b);
        return b;
    }
    return NULL;
}

static block *allocate(pool *p, uint64_t size) {
    if (size > p->limit || p->reserved > p->limit - size)
        trim(p, size > p->limit ? p->reserved : p->limit - size);
    const bool fits = size <= p->limit && p->reserved <= p->limit - size;
    block *b = fits ? calloc(1, sizeof *b) : NULL;
    void *address = b == NULL ? NULL : mock_device_alloc(p->device, size);
    if (address == NULL && b != NULL) {
        trim(p, 0);
        address = mock_device_alloc(p->device, size);
    }
    if (address == NULL) {
        free(b);
        return NULL;
    }
    block **at = place_of(address);
    *b = (block){.next = *at, .address = address, .size = size, .owner = p};
    *at = b;
    p->blocks++;
    atomic_fetch_add_explicit(&block_count, 1, memory_order_relaxed);
    p->used += size;
    p->reserved += size;
    return b;
}

/* Above the limit or the capacity: 207001 (own choice: the code of aclrtMalloc). */
static aclError take(pool *p, uint64_t size, const mock_stream *s, void **out) {
    block *b = reuse(p, size, s);
    if (b == NULL) b = allocate(p, size);
    if (b == NULL)
        return mock_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "the pool has no %zu bytes left", (size_t)size);
    b->state = IN_USE;
    b->turn++;
    if (p->used > p->high) p->high = p->used;
    if (p->reserved > p->reserved_high) p->reserved_high = p->reserved;
    *out = b->address;
    mock_gave(*out);
    return 0;
}

/* The default stream is not taken; size 0 is 0 and gives nothing (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtMemPoolMallocAsync(
    void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemPoolMallocAsync, memPool, stream);
    if (ptr == NULL || memPool == NULL || stream == NULL) return mock_null("ptr, memPool and stream");
    if (size == 0) return 0;
    aclError code = 0;
    mock_stream *s = NULL;
    mock_lock();
    pool *p = find(memPool, &code);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = not_capturing(s);
    if (code == 0) code = take(p, size, s, ptr);
    mock_unlock();
    return code;
}

static const mock_task_ops release_ops = {"aclrtMemPoolFreeAsync", NULL, NULL};

/* Unknown address or released twice: 107000 (own choice). */
MOCK_EXPORT aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtMemPoolFreeAsync, ptr, stream);
    if (ptr == NULL) return mock_null("ptr");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = not_capturing(s);
    if (code == 0) code = mock_room(s);
    block *b = code == 0 ? *place_of(ptr) : NULL;
    if (code == 0 && (b == NULL || b->state != IN_USE))
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not a block of a pool", ptr);
    if (code == 0) {
        const mock_task t = {.ops = &release_ops, .kind = MOCK_TASK_RELEASE, .u.value = {ptr, b->turn, 0}};
        b->state = RELEASING;
        b->stream = s;
        b->older = b->owner->leaving;
        b->owner->leaving = b;
        mock_push(s, &t);
    }
    mock_unlock();
    return code;
}

void mock_pool_touch(const mock_task *t) {
    const block *b = *place_of(t->u.value.address);
    if (b != NULL && b->state == RELEASING && b->turn == t->u.value.value)
        mock_touch_task(b->address, b->size, MOCK_FREES);
}

/* The stream reached the release, or went away before it. */
void mock_pool_release(const mock_task *t) {
    block *b = *place_of(t->u.value.address);
    if (b == NULL || b->state != RELEASING || b->turn != t->u.value.value) return;
    pool *owner = b->owner;
    unlist(&owner->leaving, b);
    if (owner->handle != NULL) {
        make_idle(b);
        return;
    }
    give_back(b);
    forget_pool(owner);
}

void mock_pools_reset(void) {
    mock_lock();
    while (pools != NULL) destroy(pools);
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (buckets[i] != NULL) {
            pool *owner = buckets[i]->owner;
            give_back(buckets[i]);
            forget_pool(owner);
        }
    }
    mock_unlock();
}
