/* Limits of the process: stacks and print buffers of kernels. They are kept and given back; the mock's
 * kernels have neither.
 *
 * (guide: device management, aclrtDeviceSetLimit) */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"

#define KIB 1024u
#define STACK_DEFAULT (32 * KIB)
#define STACK_STEP (16 * KIB)
#define STACK_MOST (192 * KIB) /* of this chip */
#define PRINT_DEFAULT (32 * KIB)
#define PRINT_LEAST KIB
#define PRINT_MOST (64 * KIB * KIB)

static _Atomic size_t stack_bytes = STACK_DEFAULT, print_bytes = PRINT_DEFAULT;

void mock_device_limits_reset(void) {
    atomic_store(&stack_bytes, STACK_DEFAULT);
    atomic_store(&print_bytes, PRINT_DEFAULT);
}

static size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

/* 32 KiB and less leave it as it was; larger sizes are rounded up to 16 KiB. */
aclError mock_stack_size(size_t bytes) {
    if (bytes > UINT32_MAX) bytes = UINT32_MAX;
    if (bytes > STACK_DEFAULT) atomic_store(&stack_bytes, round_up(bytes, STACK_STEP));
    return 0;
}

aclError mock_print_buffer_size(size_t bytes) {
    if (bytes < PRINT_LEAST || bytes > PRINT_MOST)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "a print buffer of %zu bytes", bytes);
    atomic_store(&print_bytes, round_up(bytes, 8));
    return 0;
}

/* A larger stack than the chip has is found when a device is set up; own choice: 507033. */
aclError mock_device_limits_check(void) {
    const size_t bytes = atomic_load(&stack_bytes);
    if (bytes <= STACK_MOST) return 0;
    return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "EE9999", "a stack of %zu bytes a core", bytes);
}

/* Unknown ones 100000; those of SIMT kernels 207000 on this chip. */
static aclError check(aclrtDeviceLimit limit) {
    switch ((int)limit) {
    case ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE:
    case ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE:
        return 0;
    case ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE:
    case ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE:
    case ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE:
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "limit %d", (int)limit);
    default:
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "limit %d", (int)limit);
    }
}

/* Above 32 bits: 100000 (implementation of the open runtime). No device at all: 107001 (own choice;
 * device 0 is what the limits are set on). */
MOCK_EXPORT aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
    MOCK_ENTER(aclrtDeviceSetLimit);
    aclError code = value > UINT32_MAX && (int)limit >= 0 && limit <= ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE
                        ? mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%zu bytes", value)
                        : check(limit);
    if (code == 0) code = mock_device_check(0);
    if (code != 0) return code;
    return limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE ? mock_stack_size(value) : mock_print_buffer_size(value);
}

MOCK_EXPORT aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value) {
    MOCK_ENTER(aclrtDeviceGetLimit);
    if (value == NULL) return mock_null("value");
    const aclError code = check(limit);
    if (code != 0) return code;
    *value = atomic_load(limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE ? &stack_bytes : &print_bytes);
    return 0;
}
