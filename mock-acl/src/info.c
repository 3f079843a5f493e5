/* What the device reports about itself: the profile of one card (own choice: an Ascend910B2). Which questions
 * have an answer is observed (host_notify). */
#define _GNU_SOURCE
#include <string.h>
#include "context.h"
#include "memory.h"

#define SOC_NAME "Ascend910B2"
#define AI_CORES 24
#define VECTOR_CORES 48
#define AI_CPUS 6
#define L2_BYTES (INT64_C(192) << 20)
#define NPU_ARCH 2201

static _Atomic int64_t l2_bytes; /* 0: as on the card */

MOCK_EXPORT int mock_acl_set_l2_bytes(uint64_t bytes) {
    if (bytes > INT64_MAX) return MOCK_ACL_BAD_ARGUMENT;
    atomic_store(&l2_bytes, (int64_t)bytes);
    return 0;
}

MOCK_EXPORT const char *aclrtGetSocName(void) {
    MOCK_ENTER_PTR(aclrtGetSocName);
    return SOC_NAME;
}

/* 1 or 0 (guide: device management, aclrtCheckArchCompatibility); the whole family counts (own choice). */
MOCK_EXPORT aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible) {
    MOCK_ENTER(aclrtCheckArchCompatibility);
    if (socVersion == NULL || canCompatible == NULL) return mock_null("socVersion and canCompatible");
    *canCompatible = strncmp(socVersion, "Ascend910B", 10) == 0;
    return 0;
}

MOCK_EXPORT aclError aclrtGetDeviceCount(uint32_t *count) {
    MOCK_ENTER(aclrtGetDeviceCount);
    if (count == NULL) return mock_null("count");
    *count = mock_device_count();
    return 0;
}

/* (header: aclrtRunMode) */
MOCK_EXPORT aclError aclrtGetRunMode(aclrtRunMode *runMode) {
    MOCK_ENTER(aclrtGetRunMode);
    if (runMode == NULL) return mock_null("runMode");
    *runMode = ACL_HOST;
    return 0;
}

/* The L2 size is no attribute of this chip, nor are unknown ones: 107000 (observed: host_notify);
 * aclGetDeviceCapability has it. Once a test set a size the attribute has it too, as on chips that know it
 * (own choice). Which further ones give 107000 is our own choice. */
static aclError attribute(aclrtDevAttr attr, int64_t *value) {
    const int64_t l2 = atomic_load(&l2_bytes);
    if (attr == ACL_DEV_ATTR_L2_CACHE_SIZE && l2 != 0) {
        *value = l2;
        return 0;
    }
    switch ((int)attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = AI_CPUS;
        return 0;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = AI_CORES;
        return 0;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = VECTOR_CORES;
        return 0;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = (int64_t)MOCK_DEVICE_BYTES;
        return 0;
    case ACL_DEV_ATTR_NPU_ARCH:
        *value = NPU_ARCH;
        return 0;
    case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0;
        return 0;
    default:
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device attribute %d", (int)attr);
    }
}

MOCK_EXPORT aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
    MOCK_ENTER(aclrtGetDeviceInfo);
    if (value == NULL) return mock_null("value");
    /* 107000, not 107001 (observed: host_notify, "attr dev 9"). */
    if (deviceId >= mock_device_count())
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device %u does not exist", deviceId);
    return attribute(attr, value);
}

/* (header: aclDeviceInfo); other devices and properties: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
    MOCK_ENTER(aclGetDeviceCapability);
    if (value == NULL) return mock_null("value");
    if (deviceId >= mock_device_count())
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "device %u", deviceId);
    const int64_t l2 = atomic_load(&l2_bytes);
    switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
        *value = AI_CORES;
        return 0;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = VECTOR_CORES;
        return 0;
    case ACL_DEVICE_INFO_L2_SIZE:
        *value = l2 != 0 ? l2 : L2_BYTES;
        return 0;
    default:
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "device property %d", (int)deviceInfo);
    }
}

/* Task update is there (observed: host_notify, "cap 1"); other features: 107000 (own choice). */
MOCK_EXPORT aclError aclrtGetDeviceCapability(
    int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value) {
    MOCK_ENTER(aclrtGetDeviceCapability);
    if (value == NULL) return mock_null("value");
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
        devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "feature %d", (int)devFeatureType);
    *value = devFeatureType == ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV;
    return 0;
}

/* (observed: stream_basic) */
MOCK_EXPORT aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority) {
    MOCK_ENTER(aclrtDeviceGetStreamPriorityRange);
    if (leastPriority != NULL) *leastPriority = 7;
    if (greatestPriority != NULL) *greatestPriority = 0;
    return 0;
}

/* (header: aclrtDeviceStatus) */
MOCK_EXPORT aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus) {
    MOCK_ENTER(aclrtQueryDeviceStatus);
    if (deviceStatus == NULL) return mock_null("deviceStatus");
    const aclError code = mock_device_check(deviceId);
    if (code == 0) *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return code;
}

MOCK_EXPORT aclError aclrtDeviceCanAccessPeer(
    int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    MOCK_ENTER(aclrtDeviceCanAccessPeer);
    if (canAccessPeer == NULL) return mock_null("canAccessPeer");
    /* Devices that do not exist answer as well (observed: host_notify, "peer"). */
    const int32_t count = (int32_t)mock_device_count();
    *canAccessPeer = deviceId != peerDeviceId && deviceId >= 0 && deviceId < count && peerDeviceId >= 0 &&
                     peerDeviceId < count;
    return 0;
}

/* All numberings agree (own choice: no devices are hidden). */
static aclError same_id(int32_t from, int32_t *to) {
    if (to == NULL) return mock_null("device id");
    const aclError code = mock_device_check(from);
    if (code == 0) *to = from;
    return code;
}

MOCK_EXPORT aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t *const logicDevId) {
    MOCK_ENTER(aclrtGetLogicDevIdByPhyDevId);
    return same_id(phyDevId, logicDevId);
}

MOCK_EXPORT aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t *const phyDevId) {
    MOCK_ENTER(aclrtGetPhyDevIdByLogicDevId);
    return same_id(logicDevId, phyDevId);
}

MOCK_EXPORT aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t *const logicDevId) {
    MOCK_ENTER(aclrtGetLogicDevIdByUserDevId);
    return same_id(userDevid, logicDevId);
}

MOCK_EXPORT aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t *const userDevid) {
    MOCK_ENTER(aclrtGetUserDevIdByLogicDevId);
    return same_id(logicDevId, userDevid);
}

MOCK_EXPORT aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t *const phyDevId) {
    MOCK_ENTER(aclrtGetPhyDevIdByUserDevId);
    return same_id(userDevId, phyDevId);
}

MOCK_EXPORT aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t *const userDevId) {
    MOCK_ENTER(aclrtGetUserDevIdByPhyDevId);
    return same_id(phyDevId, userDevId);
}
