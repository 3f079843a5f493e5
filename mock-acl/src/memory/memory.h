/* Memory: of devices, pinned, virtual, managed, and shared between processes; pools, copies, reductions and cache
 * operations; who may reach it.
 *
 * Uses devices, and the engine to queue copies. Whatever touches an address uses it: graphs, streams, contexts,
 * kernels, objects, quantised products, own operators, models, channels, and the control interface.
 *
 * The memory lock and the lock of spaces are leaves: nothing else is taken while one is held. */
#ifndef MOCK_MEMORY_MEMORY_H_
#define MOCK_MEMORY_MEMORY_H_

#include "engine/engine.h"
#include "memory/arena.h"

/* ---- memory/copy.c ---- */
aclError mock_copy_sync(
    void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind, const char *call);
aclError mock_copy_async(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind,
    aclrtStream stream, const char *call);
/* 0, 107002 without a context, or 107030 when a capture forbids the calling thread a synchronous call. */
aclError mock_forbidden_sync(const char *call);

/* ---- memory/memory.c ---- */
/* The host view of the device bytes [device, device + size), or NULL when they are not inside one live device
 * allocation or one range of mapped host memory. Size 0 gives a non-null pointer for any address. For use inside
 * `run`. Never hand the result out. */
void *mock_device_view(const void *device, size_t size);
/* What an address is to a copy. */
mock_place mock_place_of(const void *p);
/* A host address to work on: the pointer itself for host memory, the view for device memory, NULL outside a
 * live device block, and where the device whose work runs has no access to mapped memory. */
void *mock_host_address(const void *p, uint64_t size);
void mock_memory_reset(void);
void *mock_device_alloc(int32_t device, uint64_t size);
bool mock_device_free(void *p);
/* What aclrtFree and aclrtFreeHost do. */
aclError mock_device_release(void *p);
aclError mock_host_release(void *p);
mock_arena_use mock_device_usage(int32_t device); /* -1: all devices */
mock_arena_use mock_pinned_usage(void);

/* ---- memory/peer.c ---- */
void mock_peers_reset(void);

/* ---- memory/pool.c ---- */
void mock_pool_release(const mock_task *t);
/* The stream gives the block of a release back. */
void mock_pool_touch(const mock_task *t);
void mock_pools_reset(void);
/* With the engine lock, after a wait of the host: memory above the thresholds goes back. */
void mock_pools_trim(void);

/* ---- memory/touch.c ---- */
/* An access of the task that runs; nothing without one, or while races are not looked for. False: the task fails. Host
 * memory that the program allocated itself is not looked at. */
bool mock_touch_task_pieces(const mock_pieces *what, mock_touch kind);
static inline bool mock_touch_task(const void *p, uint64_t bytes, mock_touch kind) {
    if (!mock_races()) return true;
    return mock_touch_task_pieces(&(mock_pieces){.from = (uintptr_t)p, .bytes = bytes}, kind);
}

/* ---- memory/space.c ---- */
/* Around the use of a view outside of a task and without the engine lock: what is unmapped or closed meanwhile
 * stays where it is until the end. */
void mock_views_take(void);
void mock_views_give(void);
void mock_space_lock(void);
void mock_space_unlock(void);
size_t mock_space_count(void);

#endif
