/* Questions about memory: what an address is, who uses how much, what is broken. */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

#define PAGE 4096u
#define LARGE_PAGE (2u << 20)

static aclError wrong(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", what);
}

static void describe(aclrtPtrAttributes *a, aclrtMemLocationType type, uint32_t id, uint32_t page) {
    a->location.type = type;
    a->location.id = id;
    a->pageSize = page;
}

/* Places (header: aclrtMemLocationType); page sizes of 4 KiB and 2 MiB (own choice). Addresses that are
 * reserved and not mapped are in no place. */
MOCK_EXPORT aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) {
    MOCK_ENTER_OF(aclrtPointerGetAttributes, ptr);
    if (ptr == NULL || attributes == NULL) return mock_null("ptr and attributes");
    memset(attributes, 0, sizeof *attributes);
    describe(attributes, ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, PAGE);
    int32_t device = 0;
    mock_found f;
    mock_arena *a = mock_arena_around(ptr, &device);
    if (a != NULL) {
        if (mock_arena_block(a, ptr, NULL, NULL))
            describe(attributes, ACL_MEM_LOCATION_TYPE_DEVICE, (uint32_t)device, LARGE_PAGE);
    } else if (mock_space_find(ptr, 0, &f)) {
        if (f.size == 0) return 0;
        if (f.kind == MOCK_SPACE_MANAGED) describe(attributes, ACL_MEM_LOCATION_TYPE_MANAGED, 0, LARGE_PAGE);
        else if (f.device == MOCK_HOST_SIDE) describe(attributes, ACL_MEM_LOCATION_TYPE_HOST, 0, LARGE_PAGE);
        else describe(attributes, ACL_MEM_LOCATION_TYPE_DEVICE, (uint32_t)f.device, LARGE_PAGE);
    } else if (mock_is_pinned(ptr)) {
        describe(attributes, ACL_MEM_LOCATION_TYPE_HOST, 0, PAGE);
    }
    return 0;
}

/* Base and size of the block (header: aclrtMemGetAddressRange); outside of any: 107000 (own choice). */
MOCK_EXPORT aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize) {
    MOCK_ENTER_OF(aclrtMemGetAddressRange, ptr);
    if (ptr == NULL || (pbase == NULL && psize == NULL)) return mock_null("ptr");
    void *base = NULL;
    uint64_t size = 0;
    mock_found f;
    mock_arena *a = mock_arena_around(ptr, NULL);
    if (a != NULL) {
        mock_arena_block(a, ptr, &base, &size);
    } else if (mock_space_find(ptr, 0, &f)) {
        base = f.base;
        size = f.size;
    }
    if (base == NULL) return wrong("the address is not inside a device allocation");
    if (pbase != NULL) *pbase = base;
    if (psize != NULL) *psize = size;
    return 0;
}

/* The bit of ACL_RT_MEM_TYPE_DEV and its neighbours; media memory is never made. */
static uint32_t type_of(const void *p) {
    mock_found f;
    mock_arena *a = mock_arena_around(p, NULL);
    if (a != NULL) return mock_arena_block(a, p, NULL, NULL) ? ACL_RT_MEM_TYPE_DEV : 0;
    if (!mock_space_find(p, 0, &f)) return 0;
    if (f.kind == MOCK_SPACE_VIRTUAL) return ACL_RT_MEM_TYPE_RSVD;
    return f.size != 0 ? ACL_RT_MEM_TYPE_DEV : 0;
}

/* 1 when every address is of one of the types (guide: memory management, aclrtCheckMemType); no address,
 * other types and a reserve: 107000 (own choice). */
MOCK_EXPORT aclError aclrtCheckMemType(
    void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult, uint32_t reserve) {
    MOCK_ENTER(aclrtCheckMemType);
    if (addrList == NULL || checkResult == NULL) return mock_null("addrList and checkResult");
    const uint32_t known = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
    if (size == 0 || reserve != 0 || memType == 0 || (memType & ~known) != 0)
        return wrong("no address, an unknown type or a reserve");
    *checkResult = 1;
    for (uint32_t i = 0; i < size; i++)
        if ((type_of(addrList[i]) & memType) == 0) *checkResult = 0;
    return 0;
}

/* One component, the program: what its allocations take (own choice: the components of the real card are its
 * firmware's). The sizes include padding. */
MOCK_EXPORT aclError aclrtGetMemUsageInfo(
    int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum, size_t *outputNum) {
    MOCK_ENTER(aclrtGetMemUsageInfo);
    if (memUsageInfo == NULL || outputNum == NULL) return mock_null("memUsageInfo and outputNum");
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    if (inputNum == 0) return wrong("no room for a component");
    const mock_arena_use use = mock_device_usage(deviceId);
    *memUsageInfo = (aclrtMemUsageInfo){.name = "APP", .curMemSize = use.charged, .memPeakSize = use.peak};
    *outputNum = 1;
    return 0;
}

static aclError check_array(int32_t device, const void *array, size_t size) {
    if (array == NULL) return mock_null("memUceInfoArray");
    if (size == 0 || size > MAX_MEM_UCE_INFO_ARRAY_SIZE) return wrong("the array has 1 to 128 elements");
    return mock_device_check(device);
}

/* Those that a test set (mock_acl_set_memory_errors), as many as there is room for (own choice). */
MOCK_EXPORT aclError aclrtGetMemUceInfo(
    int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize) {
    MOCK_ENTER(aclrtGetMemUceInfo);
    if (retSize == NULL) return mock_null("retSize");
    const aclError code = check_array(deviceId, memUceInfoArray, arraySize);
    if (code == 0) *retSize = mock_memory_errors(deviceId, memUceInfoArray, arraySize);
    return code;
}

/* The addresses have no error after it (guide: aclrtMemUceRepair); a range that aclrtGetMemUceInfo does not give: 107000,
 * and nothing is repaired (own choice). */
MOCK_EXPORT aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize) {
    MOCK_ENTER(aclrtMemUceRepair);
    const aclError code = check_array(deviceId, memUceInfoArray, arraySize);
    if (code != 0) return code;
    if (!mock_memory_repair(deviceId, memUceInfoArray, arraySize)) return wrong("a range without an error");
    return 0;
}

/* Every unit reaches registered host memory (own choice). */
MOCK_EXPORT aclError aclrtHostMemMapCapabilities(
    uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability *capabilities) {
    MOCK_ENTER(aclrtHostMemMapCapabilities);
    if (capabilities == NULL) return mock_null("capabilities");
    const aclError code = mock_device_check((int32_t)deviceId);
    if (code != 0) return code;
    if ((int)hacType < 0 || hacType > ACL_RT_HAC_TYPE_CCU) return wrong("unknown type of unit");
    *capabilities = ACL_RT_HOST_MEM_MAP_SUPPORTED;
    return 0;
}

/* Only an earlier translation of the addresses (implementation of the open runtime): access is a matter of
 * aclrtDeviceEnablePeerAccess. */
MOCK_EXPORT aclError aclrtMemP2PMap(void *devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
    MOCK_ENTER_OF(aclrtMemP2PMap, devPtr);
    if (devPtr == NULL || size == 0) return mock_null("devPtr and size");
    if (flags != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flags %zu", (size_t)flags);
    const aclError code = mock_device_check(dstDevId);
    if (code != 0) return code;
    return mock_device_view(devPtr, size) == NULL ? wrong("not inside device memory") : 0;
}
