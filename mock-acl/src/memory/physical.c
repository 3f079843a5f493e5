/* Physical memory, to be mapped to reserved addresses: whole pages of a device's file, or of a file of host
 * memory.
 *
 * (guide: memory management, virtual memory) Arguments that are null, zero or out of their range, flags and
 * reserved fields: 100000 (implementation of the open runtime). What the driver answers there, 107000 for bad
 * arguments and 107017 for handles that are not live, is our own choice. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/share.h"
#include "memory/space.h"

/* Freed while another process still has it open. */
static mock_physical *kept[64];

static aclError bad(const char *what, int value) {
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%s %d", what, value);
}

static bool on_host(aclrtMemLocationType type) {
    return type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

/* DDR belongs to the host; kinds without a page size are refused (implementation of the open runtime). */
static aclError check_prop(const aclrtPhysicalMemProp *prop) {
    const int attr = (int)prop->memAttr;
    const bool ddr = attr == ACL_DDR_MEM_HUGE || attr == ACL_DDR_MEM_NORMAL || attr == ACL_DDR_MEM_P2P_HUGE ||
                     attr == ACL_DDR_MEM_P2P_NORMAL;
    const bool hbm = attr == ACL_HBM_MEM_HUGE || attr == ACL_HBM_MEM_NORMAL || attr == ACL_HBM_MEM_HUGE1G;
    const bool any = attr >= ACL_MEM_NORMAL && attr <= ACL_MEM_P2P_HUGE1G;
    const bool device = prop->location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    if (!ddr && !hbm && !any) return bad("memory attribute", attr);
    if (ddr && device) return bad("a device has no memory of attribute", attr);
    if (!device && !on_host(prop->location.type)) return bad("location type", (int)prop->location.type);
    if (device && prop->location.id >= mock_device_count())
        return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "device %u", prop->location.id);
    return 0;
}

/* 2 MiB, or 1 GiB for pages of that size (own choice: the driver says). */
static uint64_t granularity(aclrtMemAttr attr) {
    const bool large = attr == ACL_HBM_MEM_HUGE1G || attr == ACL_MEM_HUGE1G || attr == ACL_MEM_P2P_HUGE1G;
    return large ? MOCK_GIB : MOCK_GRANULARITY;
}

MOCK_EXPORT aclError aclrtMemGetAllocationGranularity(
    aclrtPhysicalMemProp *prop, aclrtMemGranularityOptions option, size_t *out) {
    MOCK_ENTER(aclrtMemGetAllocationGranularity);
    if (prop == NULL || out == NULL) return mock_null("prop and granularity");
    const aclError code = check_prop(prop);
    if (code != 0) return code;
    if ((int)option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        (int)option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "option %d", (int)option);
    *out = granularity(prop->memAttr);
    return 0;
}

/* Memory that nobody holds, maps or has imported any more goes back. */
static bool give_back(mock_physical *m) {
    if (m->slot != 0 && mock_share_busy(m->slot)) return false;
    if (m->slot != 0) mock_share_close(m->slot);
    if (m->imported) mock_share_detach(m->card, m->file);
    else mock_device_free(m->block);
    free(m);
    return true;
}

static void sweep(void) {
    for (size_t i = 0; i < 64; i++)
        if (kept[i] != NULL && give_back(kept[i])) kept[i] = NULL;
}

void mock_physical_settle(mock_physical *m) {
    sweep();
    if (m->refs == 0 && m->handle != NULL) {
        mock_handle_take(MOCK_PHYSICAL, m->handle);
        m->handle = NULL;
    }
    if (m->refs != 0 || m->mapped != 0 || give_back(m)) return;
    for (size_t i = 0; i < 64; i++) {
        if (kept[i] != NULL) continue;
        kept[i] = m;
        return;
    }
    mock_share_close(m->slot); /* too many to remember: the other process keeps its view */
    m->slot = 0;
    give_back(m);
}

mock_physical *mock_physical_find(aclrtDrvMemHandle handle, aclError *code) {
    mock_physical *m = mock_handle_get(MOCK_PHYSICAL, handle);
    *code = 0;
    if (handle == NULL) *code = mock_null("handle");
    else if (m == NULL)
        *code = mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "%p is not live physical memory", handle);
    return m;
}

aclError mock_physical_hold(mock_physical *m, aclrtDrvMemHandle *handle) {
    if (m->handle == NULL) m->handle = mock_handle_new(MOCK_PHYSICAL, m);
    if (m->handle == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no handle is left");
    m->refs++;
    *handle = m->handle;
    mock_gave(*handle);
    return 0;
}

static aclError allocate(mock_physical *m) {
    mock_arena *a = mock_device_arena(m->device);
    m->block = a == NULL ? NULL : mock_arena_alloc(a, m->size, true);
    if (m->block == NULL)
        return mock_fail(
            ACL_ERROR_RT_MEMORY_ALLOCATION, "EL0004", "no %zu bytes of physical memory", (size_t)m->size);
    m->file = mock_arena_file(a, m->block, &m->offset);
    return 0;
}

/* In this order: handle type NONE, pinned (implementation of the open runtime). The size is a multiple of the
 * granularity (guide: memory management, aclrtMallocPhysical), else 107000. */
MOCK_EXPORT aclError aclrtMallocPhysical(
    aclrtDrvMemHandle *handle, size_t size, const aclrtPhysicalMemProp *prop, uint64_t flags) {
    MOCK_ENTER(aclrtMallocPhysical);
    if (handle == NULL || prop == NULL || size == 0) return mock_null("handle, prop and size");
    if (flags != 0) return bad("flags", (int)flags);
    if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE) return bad("handle type", (int)prop->handleType);
    if (prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return bad("allocation type", (int)prop->allocationType);
    aclError code = check_prop(prop);
    if (code != 0) return code;
    if (mock_current_device() < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    if (size % granularity(prop->memAttr) != 0)
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "size %zu is no multiple of the granularity", size);
    mock_physical *m = calloc(1, sizeof *m);
    if (m == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    m->size = size;
    m->prop = *prop;
    m->device = on_host(prop->location.type) ? MOCK_HOST_SIDE : (int32_t)prop->location.id;
    mock_space_lock();
    sweep();
    code = allocate(m);
    if (code == 0) code = mock_physical_hold(m, handle);
    if (code != 0 && m->block != NULL) mock_device_free(m->block);
    mock_space_unlock();
    if (code != 0) free(m);
    return code;
}

/* As often as there are handles; what is mapped stays until it is unmapped (guide: memory management,
 * aclrtFreePhysical, aclrtMemRetainAllocationHandle). */
MOCK_EXPORT aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
    MOCK_ENTER_OF(aclrtFreePhysical, handle);
    aclError code = 0;
    mock_space_lock();
    mock_physical *m = mock_physical_find(handle, &code);
    if (code == 0) {
        m->refs--;
        mock_physical_settle(m);
    }
    mock_space_unlock();
    return code;
}

/* Kinds that name no memory come back as that of their place (implementation of the open runtime). */
static aclrtMemAttr canonical(const aclrtPhysicalMemProp *p) {
    const bool host = on_host(p->location.type);
    switch ((int)p->memAttr) {
    case ACL_DDR_MEM_HUGE:
        return ACL_MEM_HUGE;
    case ACL_DDR_MEM_NORMAL:
        return ACL_MEM_NORMAL;
    case ACL_DDR_MEM_P2P_HUGE:
        return ACL_MEM_P2P_HUGE;
    case ACL_MEM_P2P_NORMAL:
        return host ? ACL_DDR_MEM_P2P_NORMAL : p->memAttr;
    case ACL_MEM_NORMAL:
        return host ? p->memAttr : ACL_HBM_MEM_NORMAL;
    case ACL_MEM_HUGE:
        return host ? p->memAttr : ACL_HBM_MEM_HUGE;
    case ACL_MEM_HUGE1G:
        return host ? p->memAttr : ACL_HBM_MEM_HUGE1G;
    default:
        return p->memAttr;
    }
}

MOCK_EXPORT aclError aclrtMemGetAllocationPropertiesFromHandle(
    aclrtDrvMemHandle handle, aclrtPhysicalMemProp *prop) {
    MOCK_ENTER_OF(aclrtMemGetAllocationPropertiesFromHandle, handle);
    if (handle == NULL || prop == NULL) return mock_null("handle and prop");
    aclError code = 0;
    mock_space_lock();
    const mock_physical *m = mock_physical_find(handle, &code);
    if (code == 0) {
        *prop = m->prop;
        prop->memAttr = canonical(&m->prop);
    }
    mock_space_unlock();
    return code;
}

/* On a 910B2 a link is not chosen (own choice): the arguments are checked. */
MOCK_EXPORT aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
    MOCK_ENTER_OF(aclrtMemMapSetLink, handle);
    aclError code = 0;
    mock_space_lock();
    mock_physical_find(handle, &code);
    mock_space_unlock();
    if (code == 0 && ((int)adviceLink < 0 || adviceLink > ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH))
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "link %d", (int)adviceLink);
    return code;
}

static void forget(void *object) {
    mock_physical *m = object;
    mock_handle_take(MOCK_PHYSICAL, m->handle);
    if (m->imported) mock_share_detach(m->card, m->file);
    free(m);
}

/* The blocks themselves go with their arenas. */
void mock_physical_reset(void) {
    mock_space_lock();
    mock_handle_each(MOCK_PHYSICAL, forget);
    for (size_t i = 0; i < 64; i++) {
        free(kept[i]);
        kept[i] = NULL;
    }
    mock_space_unlock();
}
