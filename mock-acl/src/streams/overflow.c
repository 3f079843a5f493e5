/* Overflow of floating-point operators: its mode, and the status that a stream reads (guide: error
 * handling, aclrtGetOverflowStatus and its neighbours). The operators of the mock compute as with INFNAN
 * and never set the status, so it is always zero (own choice). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/overflow.h"
#include "streams/streams.h"

#define STATUS_BYTES 64u

/* One for all devices (observed: sequences); own choice: an Ascend910B starts with INFNAN. */
static aclrtFloatOverflowMode saturation = ACL_RT_OVERFLOW_MODE_INFNAN;
static struct {
    uint64_t serial;
    void *address;
} places[64];

void mock_overflow_reset(void) {
    saturation = ACL_RT_OVERFLOW_MODE_INFNAN;
    memset(places, 0, sizeof places);
}

aclrtFloatOverflowMode mock_saturation(void) { return saturation; }

/* For streams created later (guide: aclrtSetDeviceSatMode). Two modes (header: aclrtFloatOverflowMode);
 * others 107000. Needs
 * no context (observed: before_set_device). */
MOCK_EXPORT aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
    MOCK_ENTER(aclrtSetDeviceSatMode);
    if ((int)mode < 0 || mode > ACL_RT_OVERFLOW_MODE_INFNAN)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "overflow mode %d", (int)mode);
    mock_lock();
    saturation = mode;
    mock_unlock();
    return 0;
}

MOCK_EXPORT aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) {
    MOCK_ENTER(aclrtGetDeviceSatMode);
    if (mode == NULL) return mock_null("mode");
    mock_lock();
    *mode = saturation;
    mock_unlock();
    return 0;
}

/* ---- the status ---- */

/* Outside of a live block: 507053 (own choice, as for copies). */
static aclError run_read(void *arg) {
    const mock_value *v = arg;
    if (!mock_touch_task(v->address, STATUS_BYTES, MOCK_WRITES)) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    void *view = mock_device_view(v->address, STATUS_BYTES);
    if (view == NULL) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    memset(view, 0, STATUS_BYTES);
    return 0;
}

static aclError run_reset(void *arg) {
    (void)arg;
    return 0;
}

static const mock_task_ops read_ops = {"aclrtGetOverflowStatus", run_read, NULL};
static const mock_task_ops reset_ops = {"aclrtResetOverflowStatus", run_reset, NULL};

/* Capturing: 107027 (implementation of the open runtime). */
static aclError queue(const mock_task_ops *ops, void *address, aclrtStream stream, const char *call) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && mock_capturing(s)) code = mock_captured_error(call);
    if (code == 0) {
        mock_task t = {.ops = ops, .kind = MOCK_TASK_WORK, .u.value.address = address};
        code = mock_submit(s, &t);
    }
    mock_unlock();
    return code;
}

/* The size is 64 (guide: aclrtGetOverflowStatus); others 107000 (implementation of the open runtime). */
static aclError read_status(void *address, uint64_t size, aclrtStream stream, const char *call) {
    if (address == NULL) return mock_null("outputAddr");
    if (size != STATUS_BYTES)
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the status has %u bytes, not %llu", STATUS_BYTES,
            (unsigned long long)size);
    return queue(&read_ops, address, stream, call);
}

MOCK_EXPORT aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtGetOverflowStatus, outputAddr, stream);
    return read_status(outputAddr, outputSize, stream, "aclrtGetOverflowStatus");
}

MOCK_EXPORT aclError aclrtResetOverflowStatus(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtResetOverflowStatus, stream);
    return queue(&reset_ops, NULL, stream, "aclrtResetOverflowStatus");
}

MOCK_EXPORT aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtGetFloatOverflowStatus, outputAddr, stream);
    return read_status(outputAddr, outputSize, stream, "aclrtGetFloatOverflowStatus");
}

MOCK_EXPORT aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtResetFloatOverflowStatus, stream);
    return queue(&reset_ops, NULL, stream, "aclrtResetFloatOverflowStatus");
}

/* checkMode has no effect (own choice). */
MOCK_EXPORT aclError aclrtNpuGetFloatOverFlowStatus(
    void *outputAddr, uint64_t outputSize, uint32_t checkMode, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtNpuGetFloatOverFlowStatus, outputAddr, stream);
    (void)checkMode;
    return read_status(outputAddr, outputSize, stream, "aclrtNpuGetFloatOverFlowStatus");
}

MOCK_EXPORT aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtNpuClearFloatOverFlowStatus, stream);
    (void)checkMode;
    return queue(&reset_ops, NULL, stream, "aclrtNpuClearFloatOverFlowStatus");
}

/* ---- the place of the status ---- */

/* A block of the context, live until the context goes (own choice: the guide says nothing of its size). */
static aclError place_of(mock_ctx *ctx, void **out) {
    size_t slot = 64;
    for (size_t i = 0; i < 64; i++) {
        if (places[i].serial == ctx->serial) {
            *out = places[i].address;
            return 0;
        }
        if (places[i].serial == 0 && slot == 64) slot = i;
    }
    void *p = slot == 64 ? NULL : mock_device_alloc(ctx->device, STATUS_BYTES);
    if (p == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no device memory");
    memset(mock_device_view(p, STATUS_BYTES), 0, STATUS_BYTES);
    places[slot].serial = ctx->serial;
    places[slot].address = *out = p;
    return 0;
}

void mock_overflow_leave(const mock_ctx *ctx) {
    for (size_t i = 0; i < 64; i++) {
        if (places[i].serial == 0 || places[i].serial != ctx->serial) continue;
        mock_device_free(places[i].address);
        places[i].serial = 0;
    }
}

MOCK_EXPORT aclError aclrtCtxGetFloatOverflowAddr(void **overflowAddr) {
    MOCK_ENTER(aclrtCtxGetFloatOverflowAddr);
    if (overflowAddr == NULL) return mock_null("overflowAddr");
    mock_lock();
    mock_ctx *ctx = mock_current();
    const aclError code = ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : place_of(ctx, overflowAddr);
    mock_unlock();
    return code;
}
