/* Device and pinned memory. The memory lock is a leaf: nothing else is taken while it is held. */
#ifndef MOCK_MEMORY_H_
#define MOCK_MEMORY_H_

#include "core.h"
#include "profile.h"

#define MOCK_GIB (UINT64_C(1) << 30)
#define MOCK_DEVICE_BYTES (mock_profile_get()->memory_bytes)

/* An address range with an allocator (arena.c). Blocks are found from any address inside them in constant
 * time. */
typedef struct mock_arena mock_arena;
mock_arena *mock_arena_new(uint64_t bytes, bool device);
/* NULL when the capacity is used up. */
void *mock_arena_alloc(mock_arena *a, uint64_t size);
bool mock_arena_free(mock_arena *a, void *p);
bool mock_arena_contains(const mock_arena *a, const void *p);
/* The live block around `p`: its base and size. */
bool mock_arena_block(mock_arena *a, const void *p, void **base, uint64_t *size);
void *mock_arena_view(mock_arena *a, const void *p, uint64_t size);
void mock_arena_reset(mock_arena *a);
typedef struct mock_arena_use {
    uint64_t blocks, bytes, charged, capacity;
} mock_arena_use;
mock_arena_use mock_arena_usage(mock_arena *a);

/* What an address is to a copy. */
typedef enum mock_place { MOCK_PAGEABLE, MOCK_PINNED, MOCK_DEVICE } mock_place;
mock_place mock_place_of(const void *p);
/* A host address to work on: the pointer itself for host memory, the view for device memory, NULL outside a
 * live device block. */
void *mock_host_address(const void *p, uint64_t size);
aclError mock_copy_check(const void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind);
aclError mock_copy_sync(
    void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind, const char *call);
aclError mock_copy_async(void *dst, size_t max, const void *src, size_t count, aclrtMemcpyKind kind,
    aclrtStream stream, const char *call);
void mock_memory_reset(void);
void *mock_device_alloc(int32_t device, uint64_t size);
bool mock_device_free(void *p);
/* pool.c: a block of a pool; false for any other pointer. */
bool mock_pool_free(void *p);
void mock_pool_release(const mock_task *t);
void mock_pools_reset(void);
mock_arena_use mock_device_usage(int32_t device); /* -1: all devices */
mock_arena_use mock_pinned_usage(void);

#endif
