/* Part of racl (mock-acl). Stream-ordered pools and registered allocators (guide: memory management, stream-ordered
 * memory pools; aclrtAllocatorRegister). */
#include "conform.h"

static aclrtMemPoolProps props(void) {
    aclrtMemPoolProps p;
    memset(&p, 0, sizeof p);
    p.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

static aclrtMemPool new_pool(void) {
    aclrtMemPoolProps p = props();
    aclrtMemPool pool = NULL;
    OK(aclrtMemPoolCreate(&pool, &p));
    return pool;
}

static void *take(aclrtMemPool pool, size_t size, aclrtStream stream) {
    void *p = NULL;
    OK(aclrtMemPoolMallocAsync(&p, size, pool, stream));
    return p;
}

static uint64_t number(aclrtMemPool pool, aclrtMemPoolAttr attr) {
    uint64_t value = 0;
    OK(aclrtMemPoolGetAttr(pool, attr, &value));
    return value;
}

RULE(pool, a_block_is_usable_in_the_order_of_the_stream, "guide: aclrtMemPoolMallocAsync") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    void *p = take(pool, 4096, stream), *kept = device(4096);
    OK(aclrtMemsetAsync(p, 4096, 3, 4096, stream));
    OK(aclrtMemcpyAsync(kept, 4096, p, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT(aclrtMemPoolFreeAsync(p, stream), 0);
    finish(stream);
    TRUE(byte_at(kept) == 3);
    EXPECT(aclrtMemPoolDestroy(pool), 0);
}

RULE(pool, what_a_pool_is_made_of, "implementation: aclrtMemPoolCreate") {
    up();
    aclrtMemPoolProps p = props();
    aclrtMemPool pool = NULL;
    EXPECT(aclrtMemPoolCreate(NULL, &p), 100000);
    EXPECT(aclrtMemPoolCreate(&pool, NULL), 100000);
    p.allocType = (aclrtMemAllocationType)1;
    EXPECT(aclrtMemPoolCreate(&pool, &p), 100000);
    p = props();
    p.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    EXPECT(aclrtMemPoolCreate(&pool, &p), 100000);
    p = props();
    p.reserved[5] = 1;
    EXPECT(aclrtMemPoolCreate(&pool, &p), 100000);
}

RULE(pool, calls_need_their_arguments, "implementation: aclrtMemPoolMallocAsync and its neighbours") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    void *p = NULL;
    uint64_t value = 0;
    EXPECT(aclrtMemPoolMallocAsync(NULL, 64, pool, stream), 100000);
    EXPECT(aclrtMemPoolMallocAsync(&p, 64, NULL, stream), 100000);
    EXPECT(aclrtMemPoolMallocAsync(&p, 64, pool, NULL), 100000);
    EXPECT(aclrtMemPoolFreeAsync(NULL, stream), 100000);
    EXPECT(aclrtMemPoolDestroy(NULL), 100000);
    EXPECT(aclrtMemPoolGetAttr(NULL, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value), 100000);
    EXPECT(aclrtMemPoolSetAttr(NULL, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value), 100000);
    EXPECT(aclrtMemPoolTrimTo(NULL, 0), 100000);
}

RULE(pool, size_0_is_nothing, "implementation: aclrtMemPoolMallocAsync") {
    up();
    void *p = NULL;
    EXPECT(aclrtMemPoolMallocAsync(&p, 0, new_pool(), new_stream()), 0);
    TRUE(p == NULL);
}

RULE(pool, the_threshold_starts_at_0, "guide: aclrtMemPoolSetAttr") {
    up();
    aclrtMemPool pool = new_pool();
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD) == 0);
    uint64_t value = 1 << 20;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value));
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD) == value);
}

RULE(pool, what_is_in_use, "guide: aclrtMemPoolGetAttr") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
    void *p = take(pool, 4096, stream);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) >= 4096);
    const uint64_t used = number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) >= used);
    OK(aclrtMemPoolFreeAsync(p, stream));
    finish(stream);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) >= 4096);
}

RULE_MOCK(pool, a_stream_gets_its_block_again, "guide: reuse in the order of the stream; own choice: the same size") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    void *p = take(pool, 4096, stream);
    aclrtEvent latch = hold(stream);
    OK(aclrtMemPoolFreeAsync(p, stream));
    TRUE(take(pool, 4096, stream) == p);
    TRUE(take(pool, 4096, new_stream()) != p);
    let_go(latch);
    finish(stream);
    EXPECT(aclrtMemset(p, 4096, 1, 4096), 0); /* the old release was overtaken */
}

RULE(pool, idle_memory_goes_back_at_a_wait, "guide: aclrtMemPoolSetAttr (release threshold)") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    void *p = take(pool, 4096, stream);
    OK(aclrtMemPoolFreeAsync(p, stream));
    finish(stream);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
}

RULE(pool, idle_memory_stays_below_the_threshold, "guide: aclrtMemPoolSetAttr, aclrtMemPoolTrimTo") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    uint64_t threshold = (uint64_t)1 << 30;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtMemPoolFreeAsync(take(pool, 4096, stream), stream));
    finish(stream);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) >= 4096);
    OK(aclrtMemPoolTrimTo(pool, threshold));
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) >= 4096);
    OK(aclrtMemPoolTrimTo(pool, 0));
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
}

RULE_MOCK(pool, idle_memory_of_another_stream, "guide: reuse, opportunistic; own choice: the same size") {
    up();
    aclrtStream stream = new_stream(), other = new_stream();
    aclrtMemPool pool = new_pool();
    uint64_t threshold = (uint64_t)1 << 30;
    int32_t off = 0, on = 1;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &off));
    void *p = take(pool, 4096, stream);
    OK(aclrtMemPoolFreeAsync(p, stream));
    finish(stream);
    EXPECT(aclrtMemset(p, 1, 0, 1), 107000); /* kept, and dead */
    TRUE(take(pool, 4096, other) != p);
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &on));
    TRUE(take(pool, 4096, other) == p);
}

RULE_MOCK(pool, the_largest_size, "guide: aclrtMemPoolCreate; own choice of the code") {
    up();
    aclrtMemPoolProps p = props();
    p.maxSize = 8192;
    aclrtMemPool pool = NULL;
    aclrtStream stream = new_stream();
    OK(aclrtMemPoolCreate(&pool, &p));
    void *first = take(pool, 8192, stream), *second = NULL;
    EXPECT(aclrtMemPoolMallocAsync(&second, 16, pool, stream), 207001);
    OK(aclrtMemPoolFreeAsync(first, stream));
    finish(stream);
    EXPECT(aclrtMemPoolMallocAsync(&second, 16, pool, stream), 0);
}

RULE(pool, aclrtFree_takes_blocks_of_a_pool, "guide: aclrtFree") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    void *p = take(pool, 4096, stream);
    finish(stream);
    EXPECT(aclrtFree(p), 0);
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
}

RULE_MOCK(pool, what_is_no_block, "own choice of the code") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = new_pool();
    void *p = take(pool, 64, stream);
    EXPECT(aclrtMemPoolFreeAsync(device(64), stream), 107000);
    EXPECT(aclrtMemPoolFreeAsync((char *)p + 8, stream), 107000);
    OK(aclrtMemPoolFreeAsync(p, stream));
    EXPECT(aclrtMemPoolFreeAsync(p, stream), 107000);
    EXPECT(aclrtFree(p), 107000);
}

RULE_MOCK(pool, attributes_that_cannot_be_set, "own choice of the code") {
    up();
    aclrtMemPool pool = new_pool();
    uint64_t value = 1;
    EXPECT(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &value), 107000);
    EXPECT(aclrtMemPoolSetAttr(pool, (aclrtMemPoolAttr)0, &value), 107000);
    EXPECT(aclrtMemPoolGetAttr(pool, (aclrtMemPoolAttr)9, &value), 107000);
    EXPECT(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, NULL), 107000);
}

RULE_MOCK(pool, a_pool_that_is_gone, "own choice of the code") {
    up();
    aclrtMemPool pool = new_pool();
    void *p = NULL;
    OK(aclrtMemPoolDestroy(pool));
    EXPECT(aclrtMemPoolDestroy(pool), 107017);
    EXPECT(aclrtMemPoolMallocAsync(&p, 64, pool, new_stream()), 107017);
}

RULE_MOCK(pool, no_pool_in_a_capture, "own choice: the real runtime lets it pass") {
    up();
    aclrtMemPool pool = new_pool();
    void *p = take(pool, 64, new_stream()), *q = NULL;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtMemPoolMallocAsync(&q, 64, pool, stream), 207000);
    EXPECT(aclrtMemPoolFreeAsync(p, stream), 207000);
    end(stream);
}

/* ---- allocators ---- */

static void *give(aclrtAllocator object, size_t size) {
    (void)size;
    return object;
}
static void give_back(aclrtAllocator object, aclrtAllocatorBlock block) {
    (void)object;
    (void)block;
}
static void *address_of(aclrtAllocatorBlock block) { return block; }
static int object_of_ours;

static aclrtAllocatorDesc description(void) {
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    NEED(desc != NULL);
    OK(aclrtAllocatorSetObjToDesc(desc, &object_of_ours));
    OK(aclrtAllocatorSetAllocFuncToDesc(desc, give));
    OK(aclrtAllocatorSetFreeFuncToDesc(desc, give_back));
    OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, address_of));
    return desc;
}

RULE(allocator, registered_for_a_stream, "guide: aclrtAllocatorRegister, aclrtAllocatorGetByStream") {
    up();
    aclrtStream stream = new_stream();
    aclrtAllocatorDesc desc = description(), got = NULL;
    aclrtAllocator object = NULL;
    aclrtAllocatorAllocFunc alloc = NULL;
    aclrtAllocatorAllocAdviseFunc advise = NULL;
    OK(aclrtAllocatorRegister(stream, desc));
    OK(aclrtAllocatorGetByStream(stream, &got, &object, &alloc, NULL, &advise, NULL));
    TRUE(got == desc && object == &object_of_ours && alloc == give && advise == NULL);
    EXPECT(aclrtAllocatorUnregister(stream), 0);
    EXPECT(aclrtAllocatorDestroyDesc(desc), 0);
}

RULE(allocator, a_description_has_to_be_complete, "implementation: aclrtAllocatorRegister") {
    up();
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    OK(aclrtAllocatorSetObjToDesc(desc, &object_of_ours));
    OK(aclrtAllocatorSetAllocFuncToDesc(desc, give));
    OK(aclrtAllocatorSetFreeFuncToDesc(desc, give_back));
    OK(aclrtAllocatorDestroyDesc(desc));
    EXPECT(aclrtAllocatorRegister(new_stream(), NULL), 100000);
    EXPECT(aclrtAllocatorRegister(NULL, description()), 100000);
}

RULE_MOCK(allocator, a_function_is_missing, "implementation; the real fields start undefined") {
    up();
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
    OK(aclrtAllocatorSetObjToDesc(desc, &object_of_ours));
    OK(aclrtAllocatorSetAllocFuncToDesc(desc, give));
    EXPECT(aclrtAllocatorRegister(new_stream(), desc), 100000);
}

RULE(allocator, null_is_refused, "implementation: aclrtAllocatorSetObjToDesc and its neighbours") {
    up();
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc(), got = NULL;
    EXPECT(aclrtAllocatorSetObjToDesc(NULL, &object_of_ours), 100000);
    EXPECT(aclrtAllocatorSetObjToDesc(desc, NULL), 100000);
    EXPECT(aclrtAllocatorSetAllocFuncToDesc(desc, NULL), 100000);
    EXPECT(aclrtAllocatorSetFreeFuncToDesc(desc, NULL), 100000);
    EXPECT(aclrtAllocatorSetAllocAdviseFuncToDesc(desc, NULL), 100000);
    EXPECT(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, NULL), 100000);
    EXPECT(aclrtAllocatorDestroyDesc(NULL), 100000);
    EXPECT(aclrtAllocatorUnregister(NULL), 100000);
    EXPECT(aclrtAllocatorGetByStream(NULL, &got, NULL, NULL, NULL, NULL, NULL), 100000);
    EXPECT(aclrtAllocatorGetByStream(new_stream(), NULL, NULL, NULL, NULL, NULL, NULL), 100000);
}

RULE(allocator, a_stream_without_one, "implementation: aclrtAllocatorGetByStream; guide: aclrtAllocatorUnregister") {
    up();
    aclrtStream stream = new_stream();
    aclrtAllocatorDesc got = NULL;
    EXPECT(aclrtAllocatorGetByStream(stream, &got, NULL, NULL, NULL, NULL, NULL), 100000);
    EXPECT_TEXT("EH0012");
    EXPECT(aclrtAllocatorUnregister(stream), 0);
}

RULE(allocator, a_copy_of_the_description_is_kept, "implementation: aclrtAllocatorRegister") {
    up();
    aclrtStream stream = new_stream();
    aclrtAllocatorDesc desc = description(), got = NULL;
    aclrtAllocatorAllocFunc alloc = NULL;
    OK(aclrtAllocatorRegister(stream, desc));
    OK(aclrtAllocatorDestroyDesc(desc));
    OK(aclrtAllocatorGetByStream(stream, &got, NULL, &alloc, NULL, NULL, NULL));
    TRUE(alloc == give);
}

/* ---- idle memory and waits ---- */

static aclrtMemPool released(aclrtStream stream) {
    aclrtMemPool pool = new_pool();
    OK(aclrtMemPoolFreeAsync(take(pool, 4096, stream), stream));
    return pool;
}

RULE(pool, idle_memory_goes_back_at_a_wait_for_an_event, "guide: aclrtMemPoolSetAttr (release threshold)") {
    up();
    aclrtStream stream = new_stream();
    aclrtMemPool pool = released(stream);
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(event, stream));
    OK(aclrtSynchronizeEvent(event));
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
}

RULE(pool, idle_memory_goes_back_at_a_wait_for_the_device, "guide: aclrtMemPoolSetAttr (release threshold)") {
    up();
    aclrtMemPool pool = released(new_stream());
    OK(aclrtSynchronizeDevice());
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    pool = released(new_stream());
    OK(aclrtSynchronizeDeviceWithTimeout(20000));
    TRUE(number(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
}
