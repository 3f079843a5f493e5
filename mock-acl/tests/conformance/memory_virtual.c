/* Part of racl (mock-acl). Reserved addresses and physical memory (guide: memory management, virtual memory). */
#include "conform.h"

#define TIB ((uintptr_t)1 << 40)

static aclrtPhysicalMemProp prop(void) {
    aclrtPhysicalMemProp p;
    memset(&p, 0, sizeof p);
    p.memAttr = ACL_HBM_MEM_HUGE;
    p.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

static size_t grain(void) {
    aclrtPhysicalMemProp p = prop();
    size_t size = 0;
    OK(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
    return size;
}

static aclrtDrvMemHandle physical(size_t size) {
    aclrtPhysicalMemProp p = prop();
    aclrtDrvMemHandle handle = NULL;
    OK(aclrtMallocPhysical(&handle, size, &p, 0));
    return handle;
}

static char *reserve(size_t size) {
    void *address = NULL;
    OK(aclrtReserveMemAddress(&address, size, 0, NULL, 0));
    return (char *)address;
}

RULE(virtual_memory, the_order_of_the_guide, "guide: aclrtMapMem") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle handle = physical(size);
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, handle, 0));
    fill(p, 5, size);
    TRUE(byte_at(p) == 5 && byte_at(p + size - 1) == 5);
    EXPECT(aclrtUnmapMem(p), 0);
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtReleaseMemAddress(p), 0);
}

RULE(virtual_memory, the_granularity_divides_what_is_recommended, "guide: aclrtMemGetAllocationGranularity") {
    up();
    aclrtPhysicalMemProp p = prop();
    size_t most = 0;
    OK(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &most));
    TRUE(grain() > 0 && most % grain() == 0 && grain() % 4096 == 0);
}

RULE(virtual_memory, the_granularity_needs_its_arguments, "implementation: aclrtMemGetAllocationGranularity") {
    up();
    aclrtPhysicalMemProp p = prop();
    size_t size = 0;
    EXPECT(aclrtMemGetAllocationGranularity(NULL, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size), 100000);
    EXPECT(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, NULL), 100000);
    p.memAttr = ACL_HBM_MEM;
    EXPECT(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size), 100000);
    p.memAttr = ACL_DDR_MEM_HUGE; /* of the host, asked for on a device */
    EXPECT(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size), 100000);
}

RULE(virtual_memory, physical_memory_needs_its_arguments, "implementation: aclrtMallocPhysical") {
    up();
    const size_t size = grain();
    aclrtPhysicalMemProp p = prop();
    aclrtDrvMemHandle h = NULL;
    EXPECT(aclrtMallocPhysical(NULL, size, &p, 0), 100000);
    EXPECT(aclrtMallocPhysical(&h, 0, &p, 0), 100000);
    EXPECT(aclrtMallocPhysical(&h, size, NULL, 0), 100000);
    EXPECT(aclrtMallocPhysical(&h, size, &p, 1), 100000);
    EXPECT(aclrtFreePhysical(NULL), 100000);
}

RULE(virtual_memory, physical_memory_of_kinds_that_are_not_made, "implementation: aclrtMallocPhysical") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle h = NULL;
    aclrtPhysicalMemProp p = prop();
    p.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    EXPECT(aclrtMallocPhysical(&h, size, &p, 0), 100000);
    p = prop();
    p.allocationType = (aclrtMemAllocationType)1;
    EXPECT(aclrtMallocPhysical(&h, size, &p, 0), 100000);
    p = prop();
    p.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    EXPECT(aclrtMallocPhysical(&h, size, &p, 0), 100000);
    p = prop();
    p.memAttr = ACL_DDR_MEM_NORMAL;
    EXPECT(aclrtMallocPhysical(&h, size, &p, 0), 100000);
    p.memAttr = ACL_HBM_MEM_P2P_HUGE;
    EXPECT(aclrtMallocPhysical(&h, size, &p, 0), 100000);
}

RULE_MOCK(virtual_memory, a_size_that_is_no_multiple, "guide: aclrtMallocPhysical; own choice of the code") {
    up();
    aclrtPhysicalMemProp p = prop();
    aclrtDrvMemHandle h = NULL;
    EXPECT(aclrtMallocPhysical(&h, grain() + 1, &p, 0), 107000);
    EXPECT(aclrtMallocPhysical(&h, (size_t)1 << 46, &p, 0), 207001);
    p.location.id = 99;
    EXPECT(aclrtMallocPhysical(&h, grain(), &p, 0), 107001);
}

RULE(virtual_memory, properties_of_a_handle, "implementation: aclrtMemGetAllocationPropertiesFromHandle") {
    up();
    aclrtDrvMemHandle handle = physical(grain());
    aclrtPhysicalMemProp p;
    memset(&p, 0x55, sizeof p);
    OK(aclrtMemGetAllocationPropertiesFromHandle(handle, &p));
    TRUE(p.memAttr == ACL_HBM_MEM_HUGE && p.handleType == ACL_MEM_HANDLE_TYPE_NONE);
    TRUE(p.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && p.location.id == 0);
    EXPECT(aclrtMemGetAllocationPropertiesFromHandle(NULL, &p), 100000);
    EXPECT(aclrtMemGetAllocationPropertiesFromHandle(handle, NULL), 100000);
}

RULE(virtual_memory, generic_kinds_come_back_as_those_of_the_device, "implementation") {
    up();
    aclrtPhysicalMemProp p = prop();
    aclrtDrvMemHandle handle = NULL;
    p.memAttr = ACL_MEM_HUGE;
    OK(aclrtMallocPhysical(&handle, grain(), &p, 0));
    OK(aclrtMemGetAllocationPropertiesFromHandle(handle, &p));
    TRUE(p.memAttr == ACL_HBM_MEM_HUGE);
}

RULE(virtual_memory, reserving_needs_its_arguments, "implementation: aclrtReserveMemAddress") {
    up();
    void *p = NULL;
    EXPECT(aclrtReserveMemAddress(NULL, grain(), 0, NULL, 0), 100000);
    EXPECT(aclrtReserveMemAddress(&p, 0, 0, NULL, 0), 100000);
    EXPECT(aclrtReserveMemAddress(&p, grain(), 0, NULL, 2), 100000);
    EXPECT(aclrtReleaseMemAddress(NULL), 100000);
}

RULE_MOCK(virtual_memory, an_alignment_cannot_be_asked_for, "guide: aclrtReserveMemAddress; own choice of the code") {
    up();
    void *p = NULL;
    EXPECT(aclrtReserveMemAddress(&p, grain(), 4096, NULL, 0), 107000);
}

RULE(virtual_memory, reserved_addresses_are_aligned, "guide: aclrtReserveMemAddress") {
    up();
    TRUE((uintptr_t)reserve(grain() * 3) % 4096 == 0);
}

/* ThreadSanitizer keeps such addresses to itself. */
#ifdef __SANITIZE_THREAD__
#define NEEDS_ADDRESSES() SKIP("a sanitizer has the addresses")
#else
#define NEEDS_ADDRESSES() ((void)0)
#endif

RULE(virtual_memory, a_wanted_address, "guide: aclrtReserveMemAddress") {
    up();
    NEEDS_ADDRESSES();
    void *p = NULL, *wanted = (void *)(20 * TIB);
    OK(aclrtReserveMemAddress(&p, (size_t)2 << 30, 0, wanted, 0));
    TRUE(p == wanted);
    EXPECT(aclrtReleaseMemAddress(p), 0);
    OK(aclrtReserveMemAddress(&p, (size_t)2 << 30, 0, wanted, 0));
    TRUE(p == wanted);
}

RULE_MOCK(virtual_memory, a_wanted_address_that_does_not_fit, "guide; own choice of the code") {
    up();
    void *p = NULL;
    EXPECT(aclrtReserveMemAddress(&p, (size_t)1 << 30, 0, (void *)(15 * TIB), 0), 107000);
    EXPECT(aclrtReserveMemAddress(&p, (size_t)1 << 30, 0, (void *)(24 * TIB), 0), 107000);
    EXPECT(aclrtReserveMemAddress(&p, (size_t)1 << 30, 0, (void *)(20 * TIB + grain()), 0), 107000);
    EXPECT(aclrtReserveMemAddress(&p, 3 * grain(), 0, (void *)(20 * TIB + 2 * grain()), 0), 107000);
}

RULE_MOCK(virtual_memory, an_address_that_is_taken, "own choice of the code") {
    up();
    NEEDS_ADDRESSES();
    void *p = NULL, *q = NULL, *wanted = (void *)(21 * TIB);
    OK(aclrtReserveMemAddress(&p, (size_t)1 << 30, 0, wanted, 0));
    EXPECT(aclrtReserveMemAddress(&q, (size_t)1 << 30, 0, wanted, 0), 207001);
}

RULE_MOCK(virtual_memory, without_cached_bypass_the_address_is_chosen, "guide: aclrtReserveMemAddressNoUCMemory") {
    up();
    NEEDS_ADDRESSES();
    void *p = NULL;
    EXPECT(aclrtReserveMemAddressNoUCMemory(&p, (size_t)1 << 30, 0, NULL, 0), 107000);
    EXPECT(aclrtReserveMemAddressNoUCMemory(&p, (size_t)1 << 29, 0, (void *)(50 * TIB), 0), 107000);
    EXPECT(aclrtReserveMemAddressNoUCMemory(&p, (size_t)1 << 30, 0, (void *)(50 * TIB), 0), 0);
    TRUE(p == (void *)(50 * TIB));
}

RULE(virtual_memory, mapping_needs_its_arguments, "implementation: aclrtMapMem") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle h = physical(size);
    char *p = reserve(size);
    EXPECT(aclrtMapMem(NULL, size, 0, h, 0), 100000);
    EXPECT(aclrtMapMem(p, 0, 0, h, 0), 100000);
    EXPECT(aclrtMapMem(p, size, 0, NULL, 0), 100000);
    EXPECT(aclrtMapMem(p, size, 0, h, 1), 100000);
    EXPECT(aclrtUnmapMem(NULL), 100000);
}

RULE_MOCK(virtual_memory, the_mapped_size_is_the_physical_size, "guide: aclrtMapMem; own choice of the code") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle h = physical(2 * size);
    char *p = reserve(4 * size);
    EXPECT(aclrtMapMem(p, size, 0, h, 0), 107000);
    EXPECT(aclrtMapMem(p, 2 * size, size, h, 0), 107000);
    EXPECT(aclrtMapMem(p + 4096, 2 * size, 0, h, 0), 107000);
    EXPECT(aclrtMapMem(p + 3 * size, 2 * size, 0, h, 0), 107000);
    EXPECT(aclrtMapMem(device(64), 2 * size, 0, h, 0), 107000);
    EXPECT(aclrtMapMem(p, 2 * size, 0, h, 0), 0);
}

RULE(virtual_memory, an_inner_address_of_the_range, "guide: aclrtMapMem") {
    up();
    const size_t size = grain();
    char *p = reserve(3 * size);
    OK(aclrtMapMem(p + 2 * size, size, 0, physical(size), 0));
    fill(p + 2 * size, 1, size);
    TRUE(byte_at(p + 3 * size - 1) == 1);
}

RULE(virtual_memory, neighbours_are_one_range, "guide: aclrtMapMem") {
    up();
    const size_t size = grain();
    char *p = reserve(2 * size), *out = (char *)device(64);
    OK(aclrtMapMem(p + size, size, 0, physical(size), 0));
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    fill(p, 4, 2 * size);
    OK(aclrtMemcpy(out, 64, p + size - 32, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
    TRUE(byte_at(out) == 4 && byte_at(out + 63) == 4);
}

RULE_MOCK(virtual_memory, a_gap_in_the_range, "own choice of the code") {
    up();
    const size_t size = grain();
    char *p = reserve(3 * size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    OK(aclrtMapMem(p + 2 * size, size, 0, physical(size), 0));
    EXPECT(aclrtMemset(p, 3 * size, 0, 3 * size), 107000);
    aclrtStream stream = new_stream();
    OK(aclrtMemsetAsync(p + size, size, 0, 64, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
}

RULE_MOCK(virtual_memory, mapped_twice_at_one_place, "own choice of the code") {
    up();
    const size_t size = grain();
    char *p = reserve(2 * size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    EXPECT(aclrtMapMem(p, size, 0, physical(size), 0), 107000);
}

RULE(virtual_memory, physical_memory_freed_while_it_is_mapped, "guide: aclrtFreePhysical") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle h = physical(size);
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, h, 0));
    fill(p, 6, size);
    EXPECT(aclrtFreePhysical(h), 0);
    for (int i = 0; i < 8; i++) fill(device(size), 7, size); /* nobody else gets it */
    TRUE(byte_at(p) == 6 && byte_at(p + size - 1) == 6);
    EXPECT(aclrtUnmapMem(p), 0);
}

RULE_MOCK(virtual_memory, a_handle_that_was_freed, "own choice of the code") {
    up();
    aclrtDrvMemHandle h = physical(grain());
    OK(aclrtFreePhysical(h));
    EXPECT(aclrtFreePhysical(h), 107017);
    EXPECT(aclrtMapMem(reserve(grain()), grain(), 0, h, 0), 107017);
    EXPECT(aclrtFreePhysical(new_stream()), 107017);
}

RULE(virtual_memory, the_memory_moves_with_its_mapping, "guide: aclrtMapMem") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle h = physical(size);
    char *p = reserve(size), *q = reserve(size);
    OK(aclrtMapMem(p, size, 0, h, 0));
    fill(p, 9, size);
    OK(aclrtUnmapMem(p));
    OK(aclrtMapMem(q, size, 0, h, 0));
    TRUE(byte_at(q + size - 1) == 9);
}

RULE_MOCK(virtual_memory, unmapping_at_another_address, "guide: aclrtUnmapMem; own choice of the code") {
    up();
    const size_t size = grain();
    char *p = reserve(2 * size);
    OK(aclrtMapMem(p, 2 * size, 0, physical(2 * size), 0));
    EXPECT(aclrtUnmapMem(p + size), 107000);
    EXPECT(aclrtUnmapMem(p), 0);
    EXPECT(aclrtUnmapMem(p), 107000);
    EXPECT(aclrtUnmapMem(device(64)), 107000);
}

RULE_MOCK(virtual_memory, releasing_a_range_in_use, "own choice of the code") {
    up();
    const size_t size = grain();
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    EXPECT(aclrtReleaseMemAddress(p), 107000);
    OK(aclrtUnmapMem(p));
    EXPECT(aclrtReleaseMemAddress(p + 4096), 107000);
    EXPECT(aclrtReleaseMemAddress(p), 0);
    EXPECT(aclrtReleaseMemAddress(p), 107000);
    EXPECT(aclrtReleaseMemAddress(device(64)), 107000);
}

RULE_MOCK(virtual_memory, memory_of_two_devices_in_a_range, "guide: aclrtMapMem; own choice of the code") {
    OK(aclInit(NULL));
    devices(2);
    OK(aclrtSetDevice(0));
    const size_t size = grain();
    aclrtPhysicalMemProp p = prop();
    p.location.id = 1;
    aclrtDrvMemHandle other = NULL;
    OK(aclrtMallocPhysical(&other, size, &p, 0));
    char *range = reserve(2 * size);
    OK(aclrtMapMem(range, size, 0, physical(size), 0));
    EXPECT(aclrtMapMem(range + size, size, 0, other, 0), 107000);
}

RULE(virtual_memory, a_retained_handle, "guide: aclrtMemRetainAllocationHandle") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle h = physical(size), again = NULL;
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, h, 0));
    OK(aclrtMemRetainAllocationHandle(p, &again));
    EXPECT(aclrtFreePhysical(h), 0);
    EXPECT(aclrtFreePhysical(again), 0);
    EXPECT(aclrtMemRetainAllocationHandle(NULL, &again), 100000);
    EXPECT(aclrtMemRetainAllocationHandle(p, NULL), 100000);
}

RULE(virtual_memory, access_of_the_own_device, "guide: aclrtMemGetAccess") {
    up();
    const size_t size = grain();
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    aclrtMemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    desc.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclrtMemSetAccess(p, size, &desc, 1));
    uint64_t flags = 0;
    OK(aclrtMemGetAccess(p, &desc.location, &flags));
    TRUE(flags == ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
    EXPECT(aclrtMemGetAccess(NULL, &desc.location, &flags), 100000);
    EXPECT(aclrtMemGetAccess(p, NULL, &flags), 100000);
    EXPECT(aclrtMemGetAccess(p, &desc.location, NULL), 100000);
}

RULE(virtual_memory, access_without_arguments, "implementation: aclrtMemSetAccess") {
    up();
    aclrtMemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    EXPECT(aclrtMemSetAccess(NULL, grain(), &desc, 1), 107000);
    EXPECT(aclrtMemSetAccess(reserve(grain()), grain(), NULL, 1), 107000);
}

RULE_MOCK(virtual_memory, access_names_a_whole_mapping, "guide: aclrtMemSetAccess; own choice of the code") {
    up();
    const size_t size = grain();
    char *p = reserve(2 * size);
    OK(aclrtMapMem(p, 2 * size, 0, physical(2 * size), 0));
    aclrtMemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    desc.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    EXPECT(aclrtMemSetAccess(p, size, &desc, 1), 107000);
    EXPECT(aclrtMemSetAccess(p + size, size, &desc, 1), 107000);
    desc.location.id = 99;
    EXPECT(aclrtMemSetAccess(p, 2 * size, &desc, 1), 107000);
    desc.location.id = 0;
    desc.flags = (aclrtMemAccessFlags)2;
    EXPECT(aclrtMemSetAccess(p, 2 * size, &desc, 1), 107000);
}

RULE_MOCK(virtual_memory, no_access_until_it_is_given, "header: aclrtMemMapNoAccess; own choice") {
    up();
    const size_t size = grain();
    char *p = reserve(size);
    OK(aclrtMemMapNoAccess(p, size, 0, physical(size), 0));
    EXPECT(aclrtMemset(p, size, 1, size), 107000);
    aclrtMemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    desc.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    OK(aclrtMemSetAccess(p, size, &desc, 1));
    EXPECT(aclrtMemset(p, size, 1, size), 0);
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
    OK(aclrtMemSetAccess(p, size, &desc, 1));
    EXPECT(aclrtMemset(p, size, 1, size), 107000);
}

RULE_MOCK(virtual_memory, access_of_another_device, "guide: aclrtMemSetAccess; own choice") {
    OK(aclInit(NULL));
    devices(2);
    OK(aclrtSetDevice(0));
    const size_t size = grain();
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    OK(aclrtSetDevice(1));
    aclrtStream stream = new_stream();
    void *here = device(64);
    EXPECT(aclrtMemcpyAsync(here, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 107000);
    aclrtMemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    desc.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    desc.location.id = 1;
    OK(aclrtMemSetAccess(p, size, &desc, 1));
    EXPECT(aclrtMemcpyAsync(here, 64, p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), 0);
    finish(stream);
}

RULE(virtual_memory, pages_change_behind_a_graph, "guide: aclrtMapMem") {
    up();
    const size_t size = grain();
    aclrtDrvMemHandle first = physical(size), second = physical(size);
    char *p = reserve(size), *out = (char *)device(8);
    OK(aclrtMapMem(p, size, 0, first, 0));
    fill(p, 1, size);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtMemcpyAsync(out, 8, p, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    aclmdlRI graph = end(stream);
    OK(aclrtUnmapMem(p));
    OK(aclrtMapMem(p, size, 0, second, 0));
    fill(p, 2, size);
    replay(graph, new_stream());
    TRUE(byte_at(out) == 2);
}

RULE(virtual_memory, types_and_places_of_a_mapping, "guide: aclrtCheckMemType, aclrtPointerGetAttributes") {
    up();
    const size_t size = grain();
    char *p = reserve(size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    void *list[1] = {p};
    uint32_t result = 7;
    OK(aclrtCheckMemType(list, 1, ACL_RT_MEM_TYPE_RSVD, &result, 0));
    TRUE(result == 1);
    aclrtPtrAttributes attributes;
    OK(aclrtPointerGetAttributes(p + 100, &attributes));
    TRUE(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
}

RULE_MOCK(virtual_memory, a_second_address_by_a_link, "implementation: aclrtMemMapSelectedLink") {
    up();
    const size_t size = grain();
    char *p = reserve(size), *q = reserve(size);
    OK(aclrtMapMem(p, size, 0, physical(size), 0));
    EXPECT(aclrtMemMapSelectedLink(NULL, size, p, 0), 100000);
    EXPECT(aclrtMemMapSelectedLink(q, 0, p, 0), 100000);
    EXPECT(aclrtMemMapSelectedLink(q, size, p, 2), 100000);
    OK(aclrtMemMapSelectedLink(q, size, p, 1));
    fill(p, 3, 8);
    TRUE(byte_at(q) == 3);
}

static int kind_of(aclrtMemLocationType place, aclrtMemAttr attr) {
    aclrtPhysicalMemProp p = prop(), got = prop();
    aclrtDrvMemHandle handle = NULL;
    p.location.type = place;
    p.memAttr = attr;
    OK(aclrtMallocPhysical(&handle, grain(), &p, 0));
    OK(aclrtMemGetAllocationPropertiesFromHandle(handle, &got));
    EXPECT(aclrtFreePhysical(handle), 0);
    return (int)got.memAttr;
}

RULE(virtual_memory, kinds_of_host_memory, "implementation: aclrtMemGetAllocationPropertiesFromHandle") {
    const aclrtMemLocationType host = ACL_MEM_LOCATION_TYPE_HOST;
    up();
    TRUE(kind_of(host, ACL_DDR_MEM_HUGE) == (int)ACL_MEM_HUGE);
    TRUE(kind_of(host, ACL_DDR_MEM_NORMAL) == (int)ACL_MEM_NORMAL);
    TRUE(kind_of(host, ACL_DDR_MEM_P2P_HUGE) == (int)ACL_MEM_P2P_HUGE);
    TRUE(kind_of(host, ACL_MEM_NORMAL) == (int)ACL_MEM_NORMAL);
    TRUE(kind_of(host, ACL_MEM_HUGE) == (int)ACL_MEM_HUGE);
    TRUE(kind_of(host, ACL_MEM_P2P_NORMAL) == (int)ACL_DDR_MEM_P2P_NORMAL);
}

RULE(virtual_memory, kinds_of_device_memory, "implementation: aclrtMemGetAllocationPropertiesFromHandle") {
    const aclrtMemLocationType device = ACL_MEM_LOCATION_TYPE_DEVICE;
    up();
    TRUE(kind_of(device, ACL_MEM_NORMAL) == (int)ACL_HBM_MEM_NORMAL);
    TRUE(kind_of(device, ACL_MEM_HUGE) == (int)ACL_HBM_MEM_HUGE);
    TRUE(kind_of(device, ACL_MEM_P2P_NORMAL) == (int)ACL_MEM_P2P_NORMAL);
    TRUE(kind_of(device, ACL_HBM_MEM_NORMAL) == (int)ACL_HBM_MEM_NORMAL);
}

RULE(virtual_memory, larger_pages_have_a_larger_granularity, "guide: aclrtMemGetAllocationGranularity") {
    const aclrtMemAttr large[] = {ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G, ACL_MEM_P2P_HUGE1G};
    up();
    for (size_t i = 0; i < 3; i++) {
        aclrtPhysicalMemProp p = prop();
        size_t size = 0;
        p.memAttr = large[i];
        OK(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &size));
        TRUE(size == (size_t)1 << 30);
    }
}
