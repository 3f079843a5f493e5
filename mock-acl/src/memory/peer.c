/* Access between devices: which direction is enabled, and what work of a device may touch. */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/arena.h"
#include "memory/memory.h"
#include "memory/space.h"

static atomic_bool enabled[MOCK_MAX_DEVICES][MOCK_MAX_DEVICES]; /* from, to; written with the engine lock */

bool mock_peer_enabled(int32_t from, int32_t to) { return enabled[from][to]; }

void mock_peers_reset(void) {
    for (int from = 0; from < MOCK_MAX_DEVICES; from++)
        for (int to = 0; to < MOCK_MAX_DEVICES; to++) enabled[from][to] = false;
}

/* The device of the current context, -1 without one, which leaves no trace (observed: before_set_device). Itself:
 * 100000 (implementation of the open runtime). */
static aclError check_peer(int32_t peer, int32_t *device) {
    mock_lock();
    const mock_ctx *ctx = mock_current_or_none();
    *device = ctx == NULL ? -1 : ctx->device;
    mock_unlock();
    if (*device < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    if (*device == peer)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "device %d is the current one", peer);
    if (peer < 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device %d", peer);
    return mock_device_peer_check(peer);
}

/* The same again is fine (own choice). */
static aclError change(int32_t peer, bool on) {
    int32_t device = -1;
    const aclError code = check_peer(peer, &device);
    if (code != 0) return code;
    mock_lock();
    enabled[device][peer] = on;
    mock_unlock();
    return 0;
}

/* flags is 0 (guide: device management, aclrtDeviceEnablePeerAccess); else 200006 (implementation of the open
 * runtime). */
MOCK_EXPORT aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    MOCK_ENTER(aclrtDeviceEnablePeerAccess);
    if (flags != 0) return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "EH0009", "flags %u", flags);
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

/* -1 for memory of the host. */
static int32_t owner_of(const void *p) {
    mock_found f;
    int32_t owner = -1;
    if (mock_arena_around(p, &owner) != NULL) return owner;
    return mock_space_find(p, 0, &f) && f.size != 0 && f.device != MOCK_HOST_SIDE ? f.device : -1;
}

bool mock_peer_copies(int32_t device, const void *dst, const void *src) {
    const int32_t to = owner_of(dst), from = owner_of(src);
    return to < 0 || from < 0 || to == from || (mock_peer_reaches(device, dst) && mock_peer_reaches(device, src));
}

bool mock_peer_reaches(int32_t device, const void *p) {
    mock_found f;
    int32_t owner = device;
    if (mock_arena_around(p, &owner) != NULL) return owner == device || enabled[device][owner];
    if (!mock_space_find(p, 0, &f) || f.size == 0 || f.device == MOCK_HOST_SIDE) return true;
    return (f.reach >> device & 1) != 0 || enabled[device][f.device];
}
