/* Groups of computing units (guide: device management, group information; header: aclrtGroupAttr), and the
 * address for synchronisation between cores.
 *
 * A device has one group with everything (own choice: groups are configured with the device). Codes:
 * (implementation of the open runtime). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "contexts/contexts.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/memory.h"

#define GROUPS 1u

/* A program sees only its name. */
struct tagRtGroupInfo {
    void *handle;
    uint32_t numbers[6]; /* by attribute */
};

/* Attributes 0 to 5: AI cores, vector cores, AICPU cores, copy engines, active streams, the id. The numbers
 * beside the cores are our own choice. */
static const uint32_t all[6] = {24, 48, 6, 16, 0, 0};

static aclError bound(void) {
    mock_lock();
    const bool has = mock_current() != NULL;
    mock_unlock();
    return has ? 0 : ACL_ERROR_RT_CONTEXT_NULL;
}

/* Other groups: 107000 (own choice of the code). */
MOCK_EXPORT aclError aclrtSetGroup(int32_t groupId) {
    MOCK_ENTER(aclrtSetGroup);
    const aclError code = bound();
    if (code != 0 || groupId == 0) return code;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "there is no group %d", groupId);
}

MOCK_EXPORT aclError aclrtGetGroupCount(uint32_t *count) {
    MOCK_ENTER(aclrtGetGroupCount);
    if (count == NULL) return mock_null("count");
    const aclError code = bound();
    if (code == 0) *count = GROUPS;
    return code;
}

MOCK_EXPORT aclrtGroupInfo *aclrtCreateGroupInfo(void) {
    MOCK_ENTER_PTR(aclrtCreateGroupInfo);
    if (bound() != 0) return NULL;
    aclrtGroupInfo *g = calloc(GROUPS, sizeof *g);
    if (g == NULL) mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    if (g != NULL) g->handle = mock_handle_new(MOCK_CORE_GROUP, g);
    return g == NULL ? NULL : g->handle;
}

static aclError stale(const void *handle) {
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "%p is no live group information", handle);
}

MOCK_EXPORT aclError aclrtDestroyGroupInfo(aclrtGroupInfo *groupInfo) {
    MOCK_ENTER(aclrtDestroyGroupInfo);
    if (groupInfo == NULL) return mock_null("groupInfo");
    void *g = mock_handle_take(MOCK_CORE_GROUP, groupInfo);
    if (g == NULL) return stale(groupInfo);
    free(g);
    return 0;
}

MOCK_EXPORT aclError aclrtGetAllGroupInfo(aclrtGroupInfo *groupInfo) {
    MOCK_ENTER(aclrtGetAllGroupInfo);
    if (groupInfo == NULL) return mock_null("groupInfo");
    const aclError code = bound();
    if (code != 0) return code;
    aclrtGroupInfo *g = mock_handle_get(MOCK_CORE_GROUP, groupInfo);
    if (g == NULL) return stale(groupInfo);
    memcpy(g->numbers, all, sizeof all);
    return 0;
}

/* Another index or attribute, and too little room: 100000. */
MOCK_EXPORT aclError aclrtGetGroupInfoDetail(
    const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr, void *attrValue,
    size_t valueLen, size_t *paramRetSize) {
    MOCK_ENTER(aclrtGetGroupInfoDetail);
    if (groupInfo == NULL || attrValue == NULL || paramRetSize == NULL)
        return mock_null("groupInfo, attrValue and paramRetSize");
    const aclError code = bound();
    if (code != 0) return code;
    const aclrtGroupInfo *g = mock_handle_get(MOCK_CORE_GROUP, groupInfo);
    if (g == NULL) return stale(groupInfo);
    if (groupIndex < 0 || (uint32_t)groupIndex >= GROUPS)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "group %d of %u", groupIndex, GROUPS);
    if ((int)attr < ACL_GROUP_AICORE_INT || attr > ACL_GROUP_GROUPID_INT)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "group attribute %d", (int)attr);
    if (valueLen < sizeof(uint32_t))
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%zu bytes for a number of 4", valueLen);
    memcpy(attrValue, &g->numbers[attr], sizeof(uint32_t));
    *paramRetSize = sizeof(uint32_t);
    return 0;
}

/* ---- synchronisation between cores ---- */

/* An address that only kernels of a card use: a place of its own on each device (own choice). Null: 107000
 * (implementation of the open runtime). */
#define SYNC_BYTES 512u
static void *sync_address[MOCK_MAX_DEVICES];

MOCK_EXPORT aclError aclrtGetHardwareSyncAddr(void **addr) {
    MOCK_ENTER(aclrtGetHardwareSyncAddr);
    if (addr == NULL) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "addr must not be null");
    mock_lock();
    const mock_ctx *ctx = mock_current();
    aclError code = ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
    if (code == 0 && sync_address[ctx->device] == NULL) {
        sync_address[ctx->device] = mock_device_alloc(ctx->device, SYNC_BYTES);
        void *view = mock_device_view(sync_address[ctx->device], SYNC_BYTES);
        if (view != NULL) memset(view, 0, SYNC_BYTES);
    }
    if (code == 0) *addr = sync_address[ctx->device];
    mock_unlock();
    if (code == 0 && *addr == NULL)
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no device memory is left");
    return code;
}

static void drop(void *g) {
    mock_handle_take(MOCK_CORE_GROUP, ((aclrtGroupInfo *)g)->handle);
    free(g);
}

/* The device's memory goes with the same reset. */
void mock_core_groups_reset(void) {
    mock_handle_each(MOCK_CORE_GROUP, drop);
    memset(sync_address, 0, sizeof sync_address);
}
