/* Access between devices: which direction is enabled, and what work of a device may touch. */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

static bool enabled[MOCK_MAX_DEVICES][MOCK_MAX_DEVICES]; /* from, to; with the engine lock */

void mock_peers_reset(void) {
    for (int from = 0; from < MOCK_MAX_DEVICES; from++)
        for (int to = 0; to < MOCK_MAX_DEVICES; to++) enabled[from][to] = false;
}

/* From the device of the current context to the peer; itself: 100000 (implementation of the open
 * runtime); the same again is fine (own choice). */
static aclError change(int32_t peer, bool on) {
    mock_lock();
    const mock_ctx *ctx = mock_current();
    aclError code = ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
    if (code == 0 && ctx->device == peer)
        code = mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "device %d is the current one", peer);
    if (code == 0) code = mock_device_check(peer);
    if (code == 0) enabled[ctx->device][peer] = on;
    mock_unlock();
    return code;
}

/* flags is 0 (guide: device management, aclrtDeviceEnablePeerAccess); else 200006 (implementation of the open
 * runtime). */
MOCK_EXPORT aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    MOCK_ENTER(aclrtDeviceEnablePeerAccess);
    if (flags != 0) return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "EH0008", "flags %u", flags);
    return change(peerDeviceId, true);
}

MOCK_EXPORT aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
    MOCK_ENTER(aclrtDeviceDisablePeerAccess);
    return change(peerDeviceId, false);
}

/* 1 when enabled. Ids out of range: 107000 (guide: device management, aclrtDevicePeerAccessStatus). */
MOCK_EXPORT aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status) {
    MOCK_ENTER(aclrtDevicePeerAccessStatus);
    if (status == NULL) return mock_null("status");
    const int32_t count = (int32_t)mock_device_count();
    if (deviceId < 0 || deviceId >= count || peerDeviceId < 0 || peerDeviceId >= count)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "devices %d and %d", deviceId, peerDeviceId);
    mock_lock();
    const mock_ctx *ctx = mock_current();
    if (ctx != NULL) *status = enabled[deviceId][peerDeviceId];
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

bool mock_peer_reaches(int32_t device, const void *p) {
    mock_found f;
    int32_t owner = device;
    if (mock_arena_around(p, &owner) != NULL) return owner == device || enabled[device][owner];
    if (!mock_space_find(p, 0, &f) || f.size == 0 || f.device == MOCK_HOST_SIDE) return true;
    return (f.reach >> device & 1) != 0 || enabled[device][f.device];
}
