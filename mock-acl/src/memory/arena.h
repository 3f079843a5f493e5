/* Device and pinned memory, and what the files about it share. The memory lock is a leaf: nothing else is taken while
 * it is held. */
#ifndef MOCK_MEMORY_ARENA_H_
#define MOCK_MEMORY_ARENA_H_

#include "devices/devices.h"

#define MOCK_GIB (UINT64_C(1) << 30)
#define MOCK_DEVICE_BYTES (mock_profile_get()->memory_bytes)

/* An address range with an allocator (memory/arena.c). Blocks are found from any address inside them in constant
 * time. */
typedef struct mock_arena mock_arena;
typedef struct mock_arena_use {
    uint64_t blocks, bytes, charged, capacity, peak;
} mock_arena_use;

/* What an address is to a copy. */
typedef enum mock_place { MOCK_PAGEABLE, MOCK_PINNED, MOCK_DEVICE } mock_place;
/* In the place of a device: host memory that can be mapped. */
#define MOCK_HOST_SIDE MOCK_MAX_DEVICES

/* ---- memory/allocator.c ---- */
void mock_allocators_reset(void);

/* ---- memory/arena.c ---- */
mock_arena *mock_arena_new(uint64_t bytes, bool device);
/* NULL when the capacity is used up. A bare block counts without padding. */
void *mock_arena_alloc(mock_arena *a, uint64_t size, bool bare);
bool mock_arena_free(mock_arena *a, void *p);
bool mock_arena_contains(const mock_arena *a, const void *p);
/* The live block around `p`: its base and size. */
bool mock_arena_block(mock_arena *a, const void *p, void **base, uint64_t *size);
void *mock_arena_view(mock_arena *a, const void *p, uint64_t size);
/* An idle block stays allocated, and no address inside it is live. */
void mock_arena_idle(mock_arena *a, const void *p, bool idle);
/* The file behind a device range, and where in it an address stands. */
int mock_arena_file(const mock_arena *a, const void *p, uint64_t *offset);
void mock_arena_reset(mock_arena *a);
/* Ends a range of host memory; its live blocks stay mapped for ever. */
void mock_arena_retire(mock_arena *a);
mock_arena_use mock_arena_usage(mock_arena *a);

/* ---- memory/copy.c ---- */
aclError mock_copy_check(const void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind);

/* ---- memory/memory.c ---- */
/* The calling thread's device, or -1 after reporting 107002. */
int32_t mock_current_device(void);
/* The range of a device, made when it is needed. */
mock_arena *mock_device_arena(int32_t id);
/* The device range around an address and its device, else NULL. */
mock_arena *mock_arena_around(const void *p, int32_t *device);
void mock_device_idle(const void *p, bool idle);
bool mock_is_pinned(const void *p);
/* The live block of aclrtMalloc or aclrtMallocHost around an address. */
bool mock_block_of(const void *p, void **base, uint64_t *size);
/* As mock_host_address for a copy, of whose devices mock_peer_copies says what they may. */
void *mock_copy_address(const void *p, uint64_t size);

/* ---- memory/peer.c ---- */
/* With the engine lock: whether work of a device may touch this memory; host memory always. */
/* Whether work of the device may copy: two devices need access, one or the host's memory does not (observed: sequences).
 */
bool mock_peer_copies(int32_t device, const void *dst, const void *src);
bool mock_peer_reaches(int32_t device, const void *p);
/* Without the lock: whether access from one device to the other is enabled. */
bool mock_peer_enabled(int32_t from, int32_t to);

/* ---- memory/touch.c ---- */
/* Of the task that runs, see memory.h. */
bool mock_touch_task_copy(const mock_copy *c);
void mock_touch_host_copy(const char *call, const mock_copy *c);
/* Of a call of the host; one that gives back the block that begins there. */
void mock_touch_host(const char *call, const void *p, uint64_t bytes, mock_touch kind);
void mock_touch_free(const char *call, const void *p);

/* ---- memory/pool.c ---- */
/* False for what is no block of a pool; a block is freed unless its release is queued or over. */
bool mock_pool_free(void *p, bool *freed);

#endif
