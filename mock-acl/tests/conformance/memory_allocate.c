/* Part of racl (mock-acl). Device and pinned memory: sizes, alignment, releases, what an address is. A guide is its
 * chapter "memory management". */
#include "conform.h"

#define MIB ((size_t)1 << 20)

static size_t free_bytes(void) {
    size_t left = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    return left;
}

static aclrtMemLocationType place(const void *address) {
    aclrtPtrAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    OK(aclrtPointerGetAttributes(address, &attributes));
    return attributes.location.type;
}

RULE(memory, malloc_refuses_a_null_pointer, "implementation: aclrtMalloc") {
    up();
    EXPECT(aclrtMalloc(NULL, 8, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    EXPECT_TEXT("EH0");
}

RULE(memory, malloc_refuses_size_0, "implementation: aclrtMalloc") {
    up();
    void *p = NULL;
    EXPECT(aclrtMalloc(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    EXPECT(aclrtMallocAlign32(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    EXPECT(aclrtMallocCached(&p, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
}

RULE(memory, malloc_refuses_a_size_that_overflows, "implementation: aclrtMalloc") {
    up();
    void *p = NULL;
    EXPECT(aclrtMalloc(&p, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
    EXPECT(aclrtMalloc(&p, SIZE_MAX - 16, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
}

RULE(memory, malloc_needs_a_context, "observed: thread_no_ctx") {
    OK(aclInit(NULL));
    void *p = NULL;
    EXPECT(aclrtMalloc(&p, 8, ACL_MEM_MALLOC_HUGE_FIRST), 107002);
}

RULE(memory, malloc_without_memory_left, "guide: aclrtMalloc; implementation: error table") {
    up();
    void *p = NULL;
    EXPECT(aclrtMalloc(&p, (size_t)1 << 46, ACL_MEM_MALLOC_HUGE_FIRST), 207001);
}

RULE(memory, addresses_are_aligned_to_64, "guide: aclrtMalloc, aclrtMallocAlign32") {
    up();
    for (size_t size = 1; size < 5000; size = size * 3 + 1) {
        void *p = device(size), *q = NULL;
        OK(aclrtMallocAlign32(&q, size, ACL_MEM_MALLOC_HUGE_FIRST));
        TRUE((uintptr_t)p % 64 == 0 && (uintptr_t)q % 64 == 0);
    }
}

RULE(memory, every_policy_gives_memory, "guide: aclrtMallocWithCfg, aclrtMemMallocPolicy") {
    up();
    static const int policies[] = {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY,
        ACL_MEM_MALLOC_HUGE_FIRST_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P, ACL_MEM_MALLOC_NORMAL_ONLY_P2P};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        void *p = NULL;
        EXPECT(aclrtMalloc(&p, 4 * MIB, (aclrtMemMallocPolicy)policies[i]), 0);
        EXPECT(aclrtFree(p), 0);
    }
}

RULE(memory, an_unknown_policy_is_automatic, "guide: aclrtMalloc") {
    up();
    void *p = NULL;
    OK(aclrtMalloc(&p, 4 * MIB, (aclrtMemMallocPolicy)77));
    fill(p, 3, 64);
    TRUE(byte_at(p) == 3);
    OK(aclrtFree(p));
}

RULE_MOCK(memory, malloc_takes_32_bytes_more_than_the_rounded_size, "guide: aclrtMalloc") {
    up();
    const size_t before = free_bytes();
    device(100);
    TRUE(before - free_bytes() == 160);
}

RULE_MOCK(memory, align32_takes_no_padding, "guide: aclrtMallocAlign32") {
    up();
    const size_t before = free_bytes();
    void *p = NULL;
    OK(aclrtMallocAlign32(&p, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    TRUE(before - free_bytes() == 128);
    OK(aclrtFree(p));
    TRUE(before == free_bytes());
}

RULE_MOCK(memory, pages_of_1_gib_take_no_padding, "implementation: aclrtMalloc") {
    up();
    const size_t before = free_bytes();
    void *p = NULL;
    OK(aclrtMalloc(&p, 2 * MIB, ACL_MEM_MALLOC_HUGE1G_ONLY));
    TRUE(before - free_bytes() == 2 * MIB);
}

RULE(memory, an_over_read_of_32_bytes_stays_inside, "guide: aclrtMalloc") {
    up();
    size_t left = 0, total = 0;
    device(64);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
    TRUE(left < total);
}

RULE(memory, attributes_that_are_announced_must_be_there, "implementation: aclrtMallocWithCfg") {
    up();
    void *p = NULL;
    aclrtMallocConfig config = {NULL, 1};
    EXPECT(aclrtMallocWithCfg(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config), 100000);
    EXPECT(aclrtMallocForTaskScheduler(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config), 100000);
}

RULE(memory, a_configuration_may_be_missing_or_empty, "guide: aclrtMallocWithCfg") {
    up();
    void *p = NULL, *q = NULL;
    aclrtMallocConfig config = {NULL, 0};
    OK(aclrtMallocWithCfg(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    OK(aclrtMallocWithCfg(&q, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    EXPECT(aclrtFree(p), 0);
    EXPECT(aclrtFree(q), 0);
}

RULE(memory, free_refuses_null, "implementation: aclrtFree") {
    up();
    EXPECT(aclrtFree(NULL), 100000);
    EXPECT(aclrtFreeHost(NULL), 100000);
    EXPECT(aclrtFreeWithDevSync(NULL), 100000);
    EXPECT(aclrtFreeHostWithDevSync(NULL), 100000);
}

RULE_MOCK(memory, free_refuses_an_inner_address, "guide: aclrtFree; own choice of the code") {
    up();
    char *p = (char *)device(256);
    EXPECT(aclrtFree(p + 64), 107000);
    EXPECT(aclrtFree(p), 0);
    EXPECT(aclrtFree(p), 107000);
}

RULE_MOCK(memory, free_refuses_a_host_address, "own choice of the code") {
    up();
    char local = 0;
    EXPECT(aclrtFree(&local), 107000);
    EXPECT(aclrtFree(pinned(64)), 107000);
    EXPECT(aclrtFreeHost(device(64)), 107000);
    EXPECT(aclrtFreeHost(&local), 107000);
}

static void free_elsewhere(void *address) { EXPECT(aclrtFree(address), 0); }

RULE(memory, free_needs_no_context, "guide: aclrtFree") {
    up();
    join_thread(start_thread(free_elsewhere, device(64)));
}

RULE(memory, free_does_not_wait_for_the_device, "guide: aclrtFree") {
    up();
    aclrtStream stream = new_stream();
    void *p = device(64);
    aclrtEvent latch = hold(stream);
    EXPECT(aclrtFree(p), 0);
    let_go(latch);
    finish(stream);
}

RULE(memory, free_with_sync_waits_for_the_device, "guide: aclrtFreeWithDevSync") {
    up();
    aclrtStream stream = new_stream();
    char *p = (char *)device(64), *kept = (char *)device(64);
    fill(kept, 0, 64);
    OK(aclrtMemsetAsync(p, 64, 5, 64, stream));
    OK(aclrtMemcpyAsync(kept, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    EXPECT(aclrtFreeWithDevSync(p), 0);
    TRUE(byte_at(kept) == 5);
}

RULE(memory, freed_memory_is_free_again, "guide: aclrtFree") {
    up();
    const size_t before = free_bytes();
    void *p = device(8 * MIB);
    TRUE(free_bytes() <= before - 8 * MIB);
    OK(aclrtFree(p));
    TRUE(free_bytes() == before);
}

RULE(memory, mem_info_needs_places_for_the_answers, "implementation: aclrtGetMemInfo") {
    up();
    size_t n = 0;
    EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, NULL, &n), 100000);
    EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, &n, NULL), 100000);
}

RULE(memory, mem_info_of_memory_that_is_not_there_is_0, "guide: aclrtGetMemInfo") {
    up();
    size_t left = 7, total = 7;
    OK(aclrtGetMemInfo(ACL_DDR_MEM_P2P_HUGE, &left, &total));
    TRUE(left == 0 && total == 0);
}

RULE(memory, pinned_memory_is_aligned_to_64, "guide: aclrtMallocHost") {
    up();
    for (size_t size = 1; size < 5000; size = size * 3 + 1) TRUE((uintptr_t)pinned(size) % 64 == 0);
}

RULE(memory, pinned_memory_needs_a_size_and_a_place, "implementation: aclrtMallocHost") {
    up();
    void *p = NULL;
    EXPECT(aclrtMallocHost(NULL, 8), 100000);
    EXPECT(aclrtMallocHost(&p, 0), 100000);
    EXPECT(aclrtMallocHostWithCfg(NULL, 8, NULL), 100000);
    EXPECT(aclrtMallocHostWithCfg(&p, 0, NULL), 100000);
}

RULE(memory, pinned_memory_needs_a_context, "observed: thread_no_ctx") {
    OK(aclInit(NULL));
    void *p = NULL;
    EXPECT(aclrtMallocHost(&p, 8), 107002);
}

RULE(memory, pinned_memory_with_a_configuration, "guide: aclrtMallocHostWithCfg") {
    up();
    void *p = NULL;
    OK(aclrtMallocHostWithCfg(&p, 64, NULL));
    memset(p, 1, 64);
    EXPECT(aclrtFreeHost(p), 0);
}

RULE(memory, attributes_tell_where_memory_is, "guide: aclrtPointerGetAttributes") {
    up();
    char local = 0;
    TRUE(place(device(64)) == ACL_MEM_LOCATION_TYPE_DEVICE);
    TRUE(place(pinned(64)) == ACL_MEM_LOCATION_TYPE_HOST);
    TRUE(place(&local) == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

RULE(memory, attributes_of_an_inner_address, "guide: aclrtPointerGetAttributes") {
    up();
    TRUE(place((char *)device(4096) + 100) == ACL_MEM_LOCATION_TYPE_DEVICE);
    TRUE(place((char *)pinned(4096) + 100) == ACL_MEM_LOCATION_TYPE_HOST);
}

RULE(memory, attributes_name_the_device, "guide: aclrtPointerGetAttributes") {
    OK(aclInit(NULL));
    devices(2);
    OK(aclrtSetDevice(1));
    aclrtPtrAttributes attributes;
    OK(aclrtPointerGetAttributes(device(64), &attributes));
    TRUE(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 1);
}

RULE(memory, attributes_need_their_arguments, "implementation: aclrtPointerGetAttributes") {
    up();
    aclrtPtrAttributes attributes;
    EXPECT(aclrtPointerGetAttributes(NULL, &attributes), 100000);
    EXPECT(aclrtPointerGetAttributes(device(8), NULL), 100000);
}

RULE_MOCK(memory, attributes_of_freed_memory, "own choice") {
    up();
    void *p = device(64);
    OK(aclrtFree(p));
    TRUE(place(p) == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

RULE(memory, the_range_around_an_address, "header: aclrtMemGetAddressRange") {
    up();
    char *p = (char *)device(4096);
    void *base = NULL;
    size_t size = 0;
    OK(aclrtMemGetAddressRange(p + 1000, &base, &size));
    TRUE(base == p && size >= 4096);
    EXPECT(aclrtMemGetAddressRange(NULL, &base, &size), 100000);
}

RULE(memory, registering_needs_memory, "implementation: aclrtHostRegisterV2") {
    up();
    void *out = NULL;
    EXPECT(aclrtHostRegisterV2(NULL, 4096, ACL_HOST_REG_MAPPED), 100000);
    EXPECT(aclrtHostRegister(NULL, 4096, ACL_HOST_REGISTER_MAPPED, &out), 100000);
    EXPECT(aclrtHostRegister(pinned(4096), 0, ACL_HOST_REGISTER_MAPPED, &out), 100000);
    EXPECT(aclrtHostRegister(pinned(4096), 4096, ACL_HOST_REGISTER_MAPPED, NULL), 100000);
    EXPECT(aclrtHostUnregister(NULL), 100000);
}

static char *page(void) {
    void *p = NULL;
    return posix_memalign(&p, 4096, 8192) == 0 ? (char *)p : NULL;
}

RULE_MOCK(memory, mapping_needs_whole_pages, "guide: aclrtHostRegisterV2; own choice of the code") {
    up();
    EXPECT(aclrtHostRegisterV2(page() + 64, 4096, ACL_HOST_REG_MAPPED), 107000);
}

RULE_MOCK(memory, pinning_begins_anywhere, "own choice of the code") {
    up();
    char *p = page();
    OK(aclrtHostRegisterV2(p + 64, 4096, ACL_HOST_REG_PINNED));
    OK(aclrtHostUnregister(p + 64));
}

RULE_ENV(memory, by_the_guide_pinning_begins_at_a_page, "guide: aclrtHostRegisterV2", "MOCK_ACL_STRICT=doc") {
    up();
    char *p = page();
    EXPECT(aclrtHostRegisterV2(p + 64, 4096, ACL_HOST_REG_PINNED), 107000);
    OK(aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_PINNED));
    OK(aclrtHostUnregister(p));
}

RULE_MOCK(memory, registering_twice_and_never, "header: ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED and its neighbour") {
    up();
    char *p = page();
    OK(aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_MAPPED));
    EXPECT(aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_MAPPED), 507910);
    EXPECT(aclrtHostUnregister(p), 0);
    EXPECT(aclrtHostUnregister(p), 507911);
}

RULE_MOCK(memory, pinning_pinned_memory, "guide: aclrtHostRegisterV2; own choice of the code") {
    up();
    char *p = page();
    OK(aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_PINNED));
    TRUE(place(p + 5) == ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT(aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_PINNED), 507910);
    OK(aclrtHostUnregister(p));
    TRUE(place(p + 5) == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

RULE(memory, the_device_address_of_mapped_memory, "guide: aclrtHostGetDevicePointer") {
    up();
    void *p = pinned(8192), *there = NULL;
    p = (void *)(((uintptr_t)p + 4095) / 4096 * 4096);
    OK(aclrtHostRegisterV2(p, 4096, ACL_HOST_REG_MAPPED));
    EXPECT(aclrtHostGetDevicePointer(p, &there, 0), 0);
    TRUE(there != NULL);
    EXPECT(aclrtHostGetDevicePointer(NULL, &there, 0), 100000);
    EXPECT(aclrtHostGetDevicePointer(p, &there, 1), 100000);
    OK(aclrtHostUnregister(p));
}

RULE(memory, units_that_reach_host_memory, "implementation: aclrtHostMemMapCapabilities") {
    up();
    EXPECT(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIC, NULL), 100000);
}

RULE(memory, the_type_of_addresses, "guide: aclrtCheckMemType") {
    up();
    void *list[2] = {device(64), device(64)};
    uint32_t result = 7;
    OK(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    TRUE(result == 1);
    OK(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_RSVD, &result, 0));
    TRUE(result == 0);
    OK(aclrtCheckMemType(list, 2, ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_RSVD, &result, 0));
    TRUE(result == 1);
    EXPECT(aclrtCheckMemType(NULL, 1, ACL_RT_MEM_TYPE_DEV, &result, 0), 100000);
    EXPECT(aclrtCheckMemType(list, 1, ACL_RT_MEM_TYPE_DEV, NULL, 0), 100000);
}

RULE_MOCK(memory, usage_by_component, "guide: aclrtGetMemUsageInfo") {
    up();
    aclrtMemUsageInfo info[3];
    size_t count = 0;
    memset(info, 0, sizeof info);
    void *p = device(100);
    OK(aclrtGetMemUsageInfo(0, info, 3, &count));
    TRUE(count == 1 && info[0].curMemSize == 160 && info[0].memPeakSize == 160);
    OK(aclrtFree(p));
    OK(aclrtGetMemUsageInfo(0, info, 3, &count));
    TRUE(info[0].curMemSize == 0 && info[0].memPeakSize == 160);
    EXPECT(aclrtGetMemUsageInfo(99, info, 3, &count), 107001);
}

RULE(memory, usage_needs_its_arguments, "implementation: aclrtGetMemUsageInfo") {
    up();
    aclrtMemUsageInfo info;
    size_t count = 0;
    EXPECT(aclrtGetMemUsageInfo(0, NULL, 1, &count), 100000);
    EXPECT(aclrtGetMemUsageInfo(0, &info, 1, NULL), 100000);
}

RULE(memory, the_guard_against_null_in_cache_calls, "implementation: aclrtMemFlush, aclrtMemInvalidate") {
    up();
    EXPECT(aclrtMemFlush(NULL, 8), 100000);
    EXPECT(aclrtMemFlush(device(8), 0), 100000);
    EXPECT(aclrtMemInvalidate(NULL, 8), 100000);
    EXPECT(aclrtMemInvalidate(device(8), 0), 100000);
}

RULE(memory, errors_of_memory, "guide: aclrtGetMemUceInfo; implementation") {
    up();
    aclrtMemUceInfo info[2];
    size_t count = 7;
    memset(info, 0, sizeof info);
    OK(aclrtGetMemUceInfo(0, info, 2, &count));
    TRUE(count == 0);
    EXPECT(aclrtGetMemUceInfo(0, NULL, 2, &count), 100000);
    EXPECT(aclrtGetMemUceInfo(0, info, 2, NULL), 100000);
    EXPECT(aclrtMemUceRepair(0, NULL, 2), 100000);
}

RULE(memory, memory_for_a_peer, "implementation: aclrtMemP2PMap") {
    up();
    void *p = device(64);
    EXPECT(aclrtMemP2PMap(NULL, 64, 0, 0), 100000);
    EXPECT(aclrtMemP2PMap(p, 0, 0, 0), 100000);
    EXPECT(aclrtMemP2PMap(p, 64, 0, 1), 100000);
}

RULE(memory, free_of_pinned_memory_with_sync, "guide: aclrtFreeHostWithDevSync") {
    up();
    aclrtStream stream = new_stream();
    char *host = (char *)pinned(64), *p = (char *)device(64);
    fill(p, 0, 64);
    memset(host, 5, 64);
    OK(aclrtMemcpyAsync(p, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    EXPECT(aclrtFreeHostWithDevSync(host), 0);
    TRUE(byte_at(p) == 5);
}

RULE(memory, free_takes_every_allocation, "guide: aclrtFree") {
    up();
    aclrtMallocConfig config = {NULL, 0};
    void *p[4] = {NULL, NULL, NULL, NULL};
    OK(aclrtMallocCached(&p[0], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocAlign32(&p[1], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocWithCfg(&p[2], 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    OK(aclrtMallocForTaskScheduler(&p[3], 64, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    for (int i = 0; i < 4; i++) EXPECT(aclrtFree(p[i]), 0);
}

RULE(memory, cached_memory_has_four_policies, "guide: aclrtMallocCached") {
    up();
    const aclrtMemMallocPolicy policies[] = {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY,
        ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY};
    for (size_t i = 0; i < 4; i++) {
        void *p = NULL;
        EXPECT(aclrtMallocCached(&p, 2 * MIB, policies[i]), 0);
        fill(p, 3, 64);
        TRUE(byte_at(p) == 3);
        OK(aclrtFree(p));
    }
}

RULE(memory, a_policy_may_be_qualified_with_a_configuration, "guide: aclrtMallocWithCfg") {
    up();
    void *p = NULL;
    const int policy = ACL_MEM_MALLOC_HUGE_FIRST | ACL_MEM_TYPE_HIGH_BAND_WIDTH;
    EXPECT(aclrtMallocWithCfg(&p, 64, (aclrtMemMallocPolicy)policy, NULL), 0);
    EXPECT(aclrtFree(p), 0);
}

RULE(memory, mem_info_needs_a_context, "implementation: aclrtGetMemInfo") {
    size_t n = 0;
    OK(aclInit(NULL));
    EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, &n, &n), 107002);
}

RULE_MOCK(memory, pinned_by_registration_is_copied_later, "guide: aclrtHostRegisterV2") {
    up();
    char *host = page(), *memory = (char *)device(64);
    aclrtStream stream = new_stream();
    NEED(host != NULL);
    memset(host, 1, 64);
    fill(memory, 0, 64);
    OK(aclrtHostRegisterV2(host, 4096, ACL_HOST_REG_PINNED));
    aclrtEvent latch = hold(stream);
    OK(aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    TRUE(byte_at(memory) == 0);
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 1);
    EXPECT(aclrtHostUnregister(host), 0);
}

RULE_MOCK(memory, flags_of_registered_memory, "guide: aclrtHostRegisterV2; own choice of the code") {
    up();
    char *host = page();
    NEED(host != NULL);
    EXPECT(aclrtHostRegisterV2(host, 4096, 0x10), 107000);
    EXPECT(aclrtHostRegisterV2(host, 4096, ACL_HOST_REG_MAPPED | ACL_HOST_REG_READONLY), 0);
    EXPECT(aclrtHostUnregister(host), 0);
}

RULE(memory, an_allocation_has_attributes, "guide: aclrtMallocWithCfg; header: aclrtMallocAttrType") {
    up();
    void *p = NULL;
    aclrtMallocAttribute attribute;
    aclrtMallocConfig config = {&attribute, 1};
    memset(&attribute, 0, sizeof attribute);
    attribute.attr = ACL_RT_MEM_ATTR_MODULE_ID;
    attribute.value.moduleId = 33;
    EXPECT(aclrtMallocWithCfg(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config), 0);
    fill(p, 3, 64);
    TRUE(byte_at(p) == 3);
    EXPECT(aclrtFree(p), 0);
}

RULE(memory, freeing_pinned_memory_does_not_wait, "guide: aclrtFreeHost") {
    up();
    aclrtStream stream = new_stream();
    void *host = pinned(64);
    aclrtEvent latch = hold(stream);
    EXPECT(aclrtFreeHost(host), 0);
    let_go(latch);
    finish(stream);
}

RULE(memory, attributes_have_a_page_size, "header: aclrtPtrAttributes") {
    up();
    aclrtPtrAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    OK(aclrtPointerGetAttributes(device(4 * MIB), &attributes));
    TRUE(attributes.pageSize >= 4096 && (attributes.pageSize & (attributes.pageSize - 1)) == 0);
}
