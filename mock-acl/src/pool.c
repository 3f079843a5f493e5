/* Stream-ordered memory pools: a block is usable at once by later work of the stream, and goes back when the
 * stream reaches its release.
 *
 * (guide: memory management, stream-ordered memory pools; header: acl_rt_memory_soma.h). A released block
 * leaves the pool when the stream reaches the release, and is not handed out inside the pool first (own
 * choice: a use after the release faults; the real pool keeps it until the next synchronisation). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "memory.h"

#define BUCKETS 4096u
#define ATTRIBUTES 9

typedef struct pool {
    void *handle; /* NULL once destroyed */
    int32_t device;
    uint64_t limit, used, high;
    uint64_t blocks;
    uint64_t settings[ATTRIBUTES];
} pool;

typedef struct block {
    struct block *next;
    void *address;
    uint64_t size;
    pool *owner;
    bool releasing; /* its release is queued */
} block;

/* With the engine lock. */
static block *buckets[BUCKETS];

static block **place_of(const void *p) {
    block **at = &buckets[((uintptr_t)p >> 9) * 2654435761u % BUCKETS];
    while (*at != NULL && (*at)->address != p) at = &(*at)->next;
    return at;
}

static void release(block **at) {
    block *b = *at;
    pool *owner = b->owner;
    *at = b->next;
    mock_device_free(b->address);
    owner->used -= b->size;
    if (--owner->blocks == 0 && owner->handle == NULL) free(owner);
    free(b);
}

bool mock_pool_free(void *p) {
    mock_lock();
    block **at = place_of(p);
    const bool known = *at != NULL;
    if (known) release(at);
    mock_unlock();
    return known;
}

/* ---- pools ---- */

/* Anything but a device that exists: 107000 (own choice). The threshold starts as 0 (guide: memory
 * management, aclrtMemPoolSetAttr), the switches of reuse as 1 (own choice). */
MOCK_EXPORT aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps) {
    MOCK_ENTER(aclrtMemPoolCreate);
    if (memPool == NULL || poolProps == NULL) return mock_null("memPool and poolProps");
    if (poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
        poolProps->location.id >= mock_device_count())
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "a pool lives on a device that exists");
    pool *p = calloc(1, sizeof *p);
    if (p == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    p->device = (int32_t)poolProps->location.id;
    p->limit = poolProps->maxSize == 0 ? UINT64_MAX : poolProps->maxSize;
    for (int i = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES; i < ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
        i++)
        p->settings[i] = 1;
    p->handle = mock_handle_new(MOCK_POOL, p);
    *memPool = p->handle;
    return 0;
}

static pool *find(aclrtMemPool handle, aclError *code) {
    pool *p = mock_handle_get(MOCK_POOL, handle);
    *code = 0;
    if (handle == NULL) *code = mock_null("memPool");
    else if (p == NULL)
        *code = mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EH0008", "%p is not a live pool", handle);
    return p;
}

/* Blocks that are still out keep the pool's memory until they go back. */
MOCK_EXPORT aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
    MOCK_ENTER(aclrtMemPoolDestroy);
    aclError code = 0;
    mock_lock();
    pool *p = find(memPool, &code);
    if (code == 0) {
        mock_handle_take(MOCK_POOL, memPool);
        p->handle = NULL;
        if (p->blocks == 0) free(p);
    }
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
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
        *value = p->used;
        break;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
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
    if (value == NULL) return mock_null("value");
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
    MOCK_ENTER(aclrtMemPoolGetAttr);
    return access_attribute(memPool, attr, value, false);
}

MOCK_EXPORT aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value) {
    MOCK_ENTER(aclrtMemPoolSetAttr);
    return access_attribute(memPool, attr, value, true);
}

/* Released blocks leave the pool at once, so there is nothing to trim. */
MOCK_EXPORT aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
    MOCK_ENTER(aclrtMemPoolTrimTo);
    (void)minBytesToKeep;
    aclError code = 0;
    mock_lock();
    find(memPool, &code);
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

/* Above the limit or the capacity: 207001 (own choice: the code of aclrtMalloc). */
static aclError take(pool *p, uint64_t size, void **out) {
    block *b = size <= p->limit - p->used ? malloc(sizeof *b) : NULL;
    void *address = b == NULL ? NULL : mock_device_alloc(p->device, size);
    if (address == NULL) {
        free(b);
        return mock_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "the pool has no %zu bytes left", (size_t)size);
    }
    block **at = place_of(address);
    *b = (block){*at, address, size, p, false};
    *at = b;
    p->blocks++;
    p->used += size;
    if (p->used > p->high) p->high = p->used;
    *out = address;
    return 0;
}

MOCK_EXPORT aclError aclrtMemPoolMallocAsync(
    void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
    MOCK_ENTER(aclrtMemPoolMallocAsync);
    if (ptr == NULL || size == 0) return mock_null("ptr and size");
    aclError code = 0;
    mock_stream *s = NULL;
    mock_lock();
    pool *p = find(memPool, &code);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = not_capturing(s);
    if (code == 0) code = take(p, size, ptr);
    mock_unlock();
    return code;
}

static const mock_task_ops release_ops = {"aclrtMemPoolFreeAsync", NULL, NULL};

/* Unknown address or released twice: 107000 (own choice). */
MOCK_EXPORT aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream) {
    MOCK_ENTER(aclrtMemPoolFreeAsync);
    if (ptr == NULL) return mock_null("ptr");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = not_capturing(s);
    if (code == 0) code = mock_room(s);
    block *b = code == 0 ? *place_of(ptr) : NULL;
    if (code == 0 && (b == NULL || b->releasing))
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not a block of a pool", ptr);
    if (code == 0) {
        const mock_task t = {.ops = &release_ops, .kind = MOCK_TASK_RELEASE, .u.value.address = ptr};
        b->releasing = true;
        mock_push(s, &t);
    }
    mock_unlock();
    return code;
}

/* The stream reached the release, or went away before it. */
void mock_pool_release(const mock_task *t) {
    block **at = place_of(t->u.value.address);
    if (*at != NULL && (*at)->releasing) release(at);
}

static void drop_pool(void *object) {
    pool *p = object;
    mock_handle_take(MOCK_POOL, p->handle);
    p->handle = NULL;
    if (p->blocks == 0) free(p);
}

void mock_pools_reset(void) {
    mock_lock();
    for (unsigned i = 0; i < BUCKETS; i++)
        while (buckets[i] != NULL) release(&buckets[i]);
    mock_handle_each(MOCK_POOL, drop_pool);
    mock_unlock();
}
