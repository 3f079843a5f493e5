/* The last fault of a device, and repairing it (guide: error handling, aclrtGetErrorVerbose, which it calls
 * reserved; header: aclrtErrorInfo). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "devices/profile.h"
#include "mock_acl.h"

static _Atomic int32_t faults[MOCK_MAX_DEVICES];

/* Ranges of memory with errors, as a test set them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    aclrtMemUceInfo errors[MAX_MEM_UCE_INFO_ARRAY_SIZE];
    size_t count;
} memory[MOCK_MAX_DEVICES];

MOCK_EXPORT int mock_acl_set_memory_errors(
    int32_t device, void *const *addresses, const size_t *sizes, size_t count) {
    if (device < 0 || device >= MOCK_MAX_DEVICES || count > MAX_MEM_UCE_INFO_ARRAY_SIZE) return MOCK_ACL_BAD_ARGUMENT;
    if (count != 0 && (addresses == NULL || sizes == NULL)) return MOCK_ACL_BAD_ARGUMENT;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        memory[device].errors[i] = (aclrtMemUceInfo){.addr = addresses[i], .len = sizes[i]};
    memory[device].count = count;
    pthread_mutex_unlock(&lock);
    return 0;
}

size_t mock_memory_errors(int32_t device, aclrtMemUceInfo *out, size_t room) {
    pthread_mutex_lock(&lock);
    const size_t count = memory[device].count < room ? memory[device].count : room;
    memcpy(out, memory[device].errors, count * sizeof *out);
    pthread_mutex_unlock(&lock);
    return count;
}

/* With the lock; the number of errors is none of them. */
static size_t place_of(int32_t device, const aclrtMemUceInfo *error) {
    size_t at = 0;
    const aclrtMemUceInfo *known = memory[device].errors;
    while (at < memory[device].count && (known[at].addr != error->addr || known[at].len != error->len)) at++;
    return at;
}

bool mock_memory_repair(int32_t device, const aclrtMemUceInfo *errors, size_t count) {
    pthread_mutex_lock(&lock);
    bool known = true;
    for (size_t i = 0; i < count; i++) known = known && place_of(device, &errors[i]) < memory[device].count;
    for (size_t i = 0; known && i < count; i++) {
        const size_t at = place_of(device, &errors[i]);
        if (at == memory[device].count) continue; /* named twice */
        const size_t behind = --memory[device].count - at;
        memmove(&memory[device].errors[at], &memory[device].errors[at + 1], behind * sizeof *errors);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

/* What is no fault of the device: time-outs of waits and aborts. */
static bool is_fault(aclError code) { return code >= ACL_ERROR_RT_INTERNAL_ERROR; }

void mock_device_fault(int32_t device, aclError code) {
    if (is_fault(code)) atomic_store(&faults[device], code);
}

void mock_device_faults_reset(void) {
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) {
        atomic_store(&faults[i], 0);
        (void)mock_acl_set_memory_errors(i, NULL, NULL, 0);
    }
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

/* The latest fault since the last repair. Only faults of memory can be repaired (own choice); their addresses are those
 * that a test set. */
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
    aclrtMemUceInfoArray *known = &errorInfo->detail.uceInfo;
    if (errorInfo->errorType == ACL_RT_ERROR_MEMORY)
        known->arraySize = mock_memory_errors(deviceId, known->memUceInfoArray, ACL_RT_MEM_UCE_INFO_MAX_NUM);
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
    const aclrtMemUceInfoArray *known = &errorInfo->detail.uceInfo;
    if (errorInfo->hasDetail && (known->arraySize > ACL_RT_MEM_UCE_INFO_MAX_NUM ||
            !mock_memory_repair(deviceId, known->memUceInfoArray, known->arraySize)))
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "errorInfo names memory without an error");
    atomic_store(&faults[deviceId], 0);
    return 0;
}
