/* The last fault of a device, and repairing it (guide: error handling, aclrtGetErrorVerbose, which it calls
 * reserved; header: aclrtErrorInfo). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "devices/profile.h"

static _Atomic int32_t faults[MOCK_MAX_DEVICES];

/* What is no fault of the device: time-outs of waits and aborts. */
static bool is_fault(aclError code) { return code >= ACL_ERROR_RT_INTERNAL_ERROR; }

void mock_device_fault(int32_t device, aclError code) {
    if (is_fault(code)) atomic_store(&faults[device], code);
}

void mock_device_faults_reset(void) {
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) atomic_store(&faults[i], 0);
}

static bool among(aclError code, const aclError *codes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (codes[i] == code) return true;
    return false;
}

#define AMONG(code, ...) \
    among(code, (const aclError[]){__VA_ARGS__}, sizeof(aclError[]){__VA_ARGS__} / sizeof(aclError))

static aclrtErrorType type_of(aclError code) {
    if (code == 0) return ACL_RT_NO_ERROR;
    if (code == ACL_ERROR_RT_LINK_ERROR) return ACL_RT_ERROR_LINK;
    if (AMONG(code, ACL_ERROR_RT_DEVICE_MEM_ERROR, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR,
            ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR))
        return ACL_RT_ERROR_MEMORY;
    if (AMONG(code, ACL_ERROR_RT_AICORE_TIMEOUT, ACL_ERROR_RT_AICORE_EXCEPTION,
            ACL_ERROR_RT_AICORE_TRAP_EXCEPTION, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION))
        return ACL_RT_ERROR_AICORE;
    return ACL_RT_ERROR_OTHERS;
}

/* The latest fault since the last repair. Only faults of memory can be repaired; the mock knows no
 * addresses of them (own choice). */
MOCK_EXPORT aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo) {
    MOCK_ENTER(aclrtGetErrorVerbose);
    if (errorInfo == NULL) return mock_null("errorInfo");
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    memset(errorInfo, 0, sizeof *errorInfo);
    errorInfo->errorType = type_of(atomic_load(&faults[deviceId]));
    errorInfo->tryRepair = errorInfo->errorType == ACL_RT_ERROR_MEMORY;
    errorInfo->hasDetail = errorInfo->tryRepair || errorInfo->errorType == ACL_RT_ERROR_AICORE;
    if (errorInfo->errorType == ACL_RT_ERROR_AICORE)
        errorInfo->detail.aicoreErrType = ACL_RT_AICORE_ERROR_UNKNOWN;
    return 0;
}

/* Nothing to repair: 0; what cannot be repaired: 207000 (own choice). */
MOCK_EXPORT aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo) {
    MOCK_ENTER(aclrtRepairError);
    if (errorInfo == NULL) return mock_null("errorInfo");
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    if (errorInfo->errorType == ACL_RT_NO_ERROR) return 0;
    if (errorInfo->errorType != ACL_RT_ERROR_MEMORY)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "errors of type %d cannot be repaired",
            (int)errorInfo->errorType);
    atomic_store(&faults[deviceId], 0);
    return 0;
}
