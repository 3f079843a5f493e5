/* Part of racl (mock-acl). Managed memory: advice and prefetches page by page, and what is known of them. */
#include "check.h"

#define PAGE ((uint64_t)2 << 20)
enum { NONE = -2, HOST = -1 };

static char *memory; /* four pages */

static aclrtMemManagedLocation place(aclrtMemManagedLocationType type, int32_t id) {
    return (aclrtMemManagedLocation){.type = type, .id = id};
}

static aclrtMemManagedLocation on_device(int32_t id) { return place(ACL_MEM_LOCATIONTYPE_DEVICE, id); }
static aclrtMemManagedLocation on_host(void) { return place(ACL_MEM_LOCATIONTYPE_HOST, 99); }

static int32_t attribute(aclrtMemManagedRangeAttribute a, uint64_t page, uint64_t pages) {
    int32_t value = 77;
    OK(aclrtMemManagedGetAttr(a, memory + page * PAGE, pages * PAGE, &value, sizeof value));
    return value;
}

static void advise(
    uint64_t page, uint64_t pages, aclrtMemManagedAdviseType advice, aclrtMemManagedLocation l) {
    OK(aclrtMemManagedAdvise(memory + page * PAGE, pages * PAGE, advice, l));
}

static void begin(void) {
    up();
    OK(aclrtMemAllocManaged((void **)&memory, 4 * PAGE, ACL_RT_MEM_ATTACH_GLOBAL));
}

static void read_mostly(void) {
    begin();
    CHECK(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 4) == 0);
    advise(1, 2, ACL_MEM_ADVISE_SET_READ_MOSTLY, on_device(99)); /* no place is looked at */
    CHECK(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1, 2) == 1);
    CHECK(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 2) == 0);
    advise(1, 1, ACL_MEM_ADVISE_UNSET_READ_MOSTLY, on_host());
    CHECK(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1, 1) == 0);
    CHECK(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 2, 1) == 1);
}

static void preferred_places(void) {
    begin();
    const aclrtMemManagedRangeAttribute type = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE;
    const aclrtMemManagedRangeAttribute id = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID;
    CHECK(attribute(id, 0, 4) == NONE);
    advise(0, 1, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, on_device(0));
    advise(1, 1, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host());
    advise(2, 1, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, place(ACL_MEM_LOCATIONTYPE_HOST_NUMA, 3));
    advise(3, 1, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, place(ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT, 5));
    CHECK(attribute(type, 0, 1) == ACL_MEM_LOCATIONTYPE_DEVICE && attribute(id, 0, 1) == 0);
    CHECK(attribute(type, 1, 1) == ACL_MEM_LOCATIONTYPE_HOST && attribute(id, 1, 1) == HOST);
    CHECK(attribute(type, 2, 1) == ACL_MEM_LOCATIONTYPE_HOST_NUMA && attribute(id, 2, 1) == 3);
    CHECK(attribute(type, 3, 1) == ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT && attribute(id, 3, 1) == HOST);
    CHECK(attribute(type, 0, 2) == ACL_MEM_LOCATIONTYPE_INVALID && attribute(id, 0, 2) == NONE);
    advise(0, 1, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, on_device(99));
    CHECK(attribute(type, 0, 1) == ACL_MEM_LOCATIONTYPE_INVALID && attribute(id, 0, 1) == NONE);
}

static void readers(void) {
    begin();
    int32_t who[3] = {0};
    advise(0, 4, ACL_MEM_ADVISE_SET_ACCESSED_BY, on_device(0));
    advise(0, 2, ACL_MEM_ADVISE_SET_ACCESSED_BY, on_host());
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 2 * PAGE, who, sizeof who));
    CHECK(who[0] == 0 && who[1] == HOST && who[2] == NONE);
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 4 * PAGE, who, sizeof who));
    CHECK(who[0] == 0 && who[1] == NONE); /* those of every page */
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, PAGE, who, 4));
    CHECK(who[0] == 0);
    advise(0, 4, ACL_MEM_ADVISE_UNSET_ACCESSED_BY, on_device(0));
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, PAGE, who, 4));
    CHECK(who[0] == HOST);
}

static void refused_advice(void) {
    begin();
    const aclrtMemManagedAdviseType prefer = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
    CODE(aclrtMemManagedAdvise(NULL, PAGE, prefer, on_host()), 100000);
    CODE(aclrtMemManagedAdvise(memory, 0, prefer, on_host()), 100000);
    CODE(aclrtMemManagedAdvise(memory, PAGE + 1, prefer, on_host()), 107000);
    CODE(aclrtMemManagedAdvise(memory, 5 * PAGE, prefer, on_host()), 107000);
    CODE(aclrtMemManagedAdvise(memory, PAGE, (aclrtMemManagedAdviseType)-1, on_host()), 107000);
    CODE(aclrtMemManagedAdvise(memory, PAGE, (aclrtMemManagedAdviseType)99, on_host()), 107000);
    CODE(aclrtMemManagedAdvise(memory, PAGE, prefer, on_device(99)), 107000);
    CODE(aclrtMemManagedAdvise(memory, PAGE, prefer, on_device(-1)), 107000);
    CODE(aclrtMemManagedAdvise(memory, PAGE, prefer, place(ACL_MEM_LOCATIONTYPE_HOST_NUMA, -1)), 107000);
    CODE(aclrtMemManagedAdvise(memory, PAGE, prefer, place((aclrtMemManagedLocationType)77, 0)), 107000);
    CODE(aclrtMemManagedAdvise(device(PAGE), PAGE, prefer, on_host()), 107000);
    void *range = NULL; /* another kind of space */
    OK(aclrtReserveMemAddress(&range, PAGE, 0, NULL, 0));
    CODE(aclrtMemManagedAdvise(range, PAGE, prefer, on_host()), 107000);
    int32_t value[2];
    CODE(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, range, PAGE, value, 4), 107000);
    CODE(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, PAGE, value, 8), 107000);
    CODE(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, PAGE, value, 3), 107000);
    CODE(aclrtMemManagedGetAttr((aclrtMemManagedRangeAttribute)99, memory, PAGE, value, 4), 107000);
}

static void prefetches(void) {
    begin();
    const aclrtMemManagedRangeAttribute type = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
    const aclrtMemManagedRangeAttribute id = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID;
    aclrtStream s = new_stream();
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemManagedPrefetchAsync(memory, 2 * PAGE, on_device(0), 0, s));
    CHECK(attribute(id, 0, 1) == NONE); /* not before the stream gets there */
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(attribute(id, 0, 2) == 0 && attribute(type, 0, 2) == ACL_MEM_LOCATIONTYPE_DEVICE);
    CHECK(attribute(type, 1, 2) == ACL_MEM_LOCATIONTYPE_INVALID && attribute(id, 1, 2) == NONE);
    CODE(aclrtMemManagedPrefetchAsync(NULL, PAGE, on_host(), 0, s), 100000);
    CODE(aclrtMemManagedPrefetchAsync(memory, 0, on_host(), 0, s), 100000);
    CODE(aclrtMemManagedPrefetchAsync(memory, PAGE, on_host(), 1, s), 100000);
    CODE(aclrtMemManagedPrefetchAsync(memory, PAGE, on_device(99), 0, s), 107000);
    CODE(aclrtMemManagedPrefetchAsync(memory, PAGE - 1, on_host(), 0, s), 107000);
    CODE(aclrtMemManagedPrefetchAsync(memory, 5 * PAGE, on_host(), 0, s), 107000);
    CODE(aclrtMemManagedPrefetchAsync(memory, PAGE, on_host(), 0, (aclrtStream)memory), 107017);
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemManagedPrefetchAsync(memory, PAGE, on_host(), 0, s));
    OK(aclrtFree(memory)); /* the work names memory that is gone */
    OK(mock_acl_release_stream(s));
    CODE(aclrtSynchronizeStream(s), 507053);
}

static void batches(void) {
    begin();
    aclrtStream s = new_stream();
    const void *at[3] = {memory, memory + PAGE, memory + 2 * PAGE};
    size_t sizes[3] = {PAGE, PAGE, PAGE}, first[2] = {0, 2};
    aclrtMemManagedLocation to[2] = {on_device(0), on_host()};
    const aclrtMemManagedRangeAttribute id = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID;
    OK(aclrtMemManagedPrefetchBatchAsync(at, sizes, 3, to, first, 2, 0, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(attribute(id, 0, 2) == 0 && attribute(id, 2, 1) == HOST && attribute(id, 3, 1) == NONE);
    CODE(aclrtMemManagedPrefetchBatchAsync(at, sizes, 3, to, first, 2, 1, s), 100000);
    CODE(aclrtMemManagedPrefetchBatchAsync(at, sizes, 1, to, first, 2, 0, s), 100000);
    CODE(aclrtMemManagedPrefetchBatchAsync(at, NULL, 1, to, first, 1, 0, s), 100000);
    CODE(aclrtMemManagedPrefetchBatchAsync(at, sizes, 2, to, first, 2, 0, s), 107000); /* 2 is beyond */
    first[0] = 1;
    CODE(aclrtMemManagedPrefetchBatchAsync(at, sizes, 3, to, first, 2, 0, s), 107000);
    first[0] = first[1] = 0;
    CODE(aclrtMemManagedPrefetchBatchAsync(at, sizes, 3, to, first, 2, 0, s), 107000);
    first[1] = 1;
    sizes[1] = 1; /* the ranges before it are queued */
    CODE(aclrtMemManagedPrefetchBatchAsync(at, sizes, 3, to, first, 2, 0, s), 107000);
    OK(aclrtSynchronizeStream(s));
}

/* Blocks leave their addresses one after another, also beside other spaces. */
static void many_blocks(void) {
    begin();
    void *blocks[40], *range = NULL;
    OK(aclrtReserveMemAddress(&range, PAGE, 0, NULL, 0));
    for (int i = 0; i < 40; i++) {
        OK(aclrtMemAllocManaged(&blocks[i], PAGE * (uint64_t)(i % 3 + 1), ACL_RT_MEM_ATTACH_GLOBAL));
        memset(blocks[i], i, PAGE);
    }
    for (int i = 0; i < 40; i += 2) OK(aclrtFree(blocks[i]));
    for (int i = 0; i < 40; i += 2)
        OK(aclrtMemAllocManaged(&blocks[i], PAGE * 3, ACL_RT_MEM_ATTACH_GLOBAL));
    for (int i = 1; i < 40; i += 2) CHECK(*(char *)blocks[i] == i);
    CODE(aclrtFree((char *)blocks[0] + PAGE), 107000);
    CHECK(mock_acl_reset() == 0 && live().device_allocations == 0);
}

int main(void) {
    read_mostly();
    preferred_places();
    readers();
    refused_advice();
    prefetches();
    batches();
    many_blocks();
    return 0;
}
