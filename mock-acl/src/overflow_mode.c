/* The float overflow mode of a device: kept and given back; the mock computes with infinities (own
 * choice). */
#define _GNU_SOURCE
#include "context.h"

static _Atomic int mode_of[MOCK_MAX_DEVICES]; /* ACL_RT_OVERFLOW_MODE_SATURATION at first (own choice) */

/* -1 without a context. */
static int32_t device_of_thread(void) {
    mock_lock();
    const mock_ctx *ctx = mock_current();
    const int32_t device = ctx == NULL ? -1 : ctx->device;
    mock_unlock();
    return device;
}

/* Two modes (header: aclrtFloatOverflowMode); others 107000 (own choice). */
MOCK_EXPORT aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
    MOCK_ENTER(aclrtSetDeviceSatMode);
    if ((int)mode < 0 || mode > ACL_RT_OVERFLOW_MODE_INFNAN)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "overflow mode %d", (int)mode);
    const int32_t device = device_of_thread();
    if (device < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    atomic_store(&mode_of[device], (int)mode);
    return 0;
}

MOCK_EXPORT aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) {
    MOCK_ENTER(aclrtGetDeviceSatMode);
    if (mode == NULL) return mock_null("mode");
    const int32_t device = device_of_thread();
    if (device < 0) return ACL_ERROR_RT_CONTEXT_NULL;
    *mode = (aclrtFloatOverflowMode)atomic_load(&mode_of[device]);
    return 0;
}

void mock_overflow_modes_reset(void) {
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) atomic_store(&mode_of[i], ACL_RT_OVERFLOW_MODE_SATURATION);
}
