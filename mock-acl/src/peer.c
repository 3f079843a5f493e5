/* Access of one device to the memory of another (guide: device management, aclrtDeviceEnablePeerAccess). It
 * goes one way: from the calling thread's device to the peer. */
#define _GNU_SOURCE
#include "context.h"
#include "space.h"

static atomic_bool enabled[MOCK_MAX_DEVICES][MOCK_MAX_DEVICES];

bool mock_peer_reaches(int32_t device, const void *p) {
    mock_found f;
    int32_t owner = device;
    if (mock_arena_around(p, &owner) != NULL) return owner == device || atomic_load(&enabled[device][owner]);
    if (!mock_space_find(p, 0, &f) || f.size == 0 || f.device == MOCK_HOST_SIDE) return true;
    return (f.reach >> device & 1) != 0 || atomic_load(&enabled[device][f.device]);
}

/* The device itself: 100000 (implementation of the open runtime). */
static aclError pair(int32_t peer, int32_t *device) {
    *device = mock_current_device();
    if (*device < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    if (*device == peer)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "device %d is the current one", peer);
    return mock_device_check(peer);
}

/* Other flags than 0: 200006 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
    MOCK_ENTER(aclrtDeviceEnablePeerAccess);
    if (flags != 0) return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "EH0008", "flags %u", flags);
    int32_t device = 0;
    const aclError code = pair(peerDeviceId, &device);
    if (code == 0) atomic_store(&enabled[device][peerDeviceId], true);
    return code;
}

MOCK_EXPORT aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
    MOCK_ENTER(aclrtDeviceDisablePeerAccess);
    int32_t device = 0;
    const aclError code = pair(peerDeviceId, &device);
    if (code == 0) atomic_store(&enabled[device][peerDeviceId], false);
    return code;
}

MOCK_EXPORT aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t *status) {
    MOCK_ENTER(aclrtDevicePeerAccessStatus);
    if (status == NULL) return mock_null("status");
    aclError code = mock_device_check(deviceId);
    if (code == 0) code = mock_device_check(peerDeviceId);
    if (code == 0) *status = atomic_load(&enabled[deviceId][peerDeviceId]);
    return code;
}

void mock_peers_reset(void) {
    for (int i = 0; i < MOCK_MAX_DEVICES; i++)
        for (int k = 0; k < MOCK_MAX_DEVICES; k++) atomic_store(&enabled[i][k], false);
}
