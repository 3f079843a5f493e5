/* What the device reports about itself: the profile of one card. Which questions have an answer is observed
 * (host_notify). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "devices/inner.h"
#include "devices/profile.h"
#include "engine/engine.h"

static _Atomic int64_t l2_bytes; /* 0: as on the card */

MOCK_EXPORT int mock_acl_set_l2_bytes(uint64_t bytes) {
    if (bytes > INT64_MAX) return MOCK_ACL_BAD_ARGUMENT;
    atomic_store(&l2_bytes, (int64_t)bytes);
    return 0;
}

MOCK_EXPORT const char *aclrtGetSocName(void) {
    MOCK_ENTER_PTR(aclrtGetSocName);
    return mock_profile_get()->soc;
}

/* 1 or 0 (guide: device management, aclrtCheckArchCompatibility); the whole family counts (own choice). */
MOCK_EXPORT aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible) {
    MOCK_ENTER(aclrtCheckArchCompatibility);
    if (socVersion == NULL || canCompatible == NULL) return mock_null("socVersion and canCompatible");
    *canCompatible = strncmp(socVersion, "Ascend910B", 10) == 0;
    return 0;
}

/* (header: aclrtRunMode) */
MOCK_EXPORT aclError aclrtGetRunMode(aclrtRunMode *runMode) {
    MOCK_ENTER(aclrtGetRunMode);
    if (runMode == NULL) return mock_null("runMode");
    *runMode = ACL_HOST;
    return 0;
}

/* Where the attribute is a fact about this card and not about its chip. */
static bool place_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value) {
    switch ((int)attr) {
    case ACL_DEV_ATTR_PHY_CHIP_ID:
        *value = mock_device_logic((int32_t)device); /* own choice: one chip a card */
        return true;
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
    case ACL_DEV_ATTR_MAINBOARD_ID:
    case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0; /* own choice: one server, not split */
        return true;
    default:
        return false;
    }
}

/* 0 and *value, or a code. SIMT and super pods are for other products: 207000, as the board's two newest
 * questions (own choice: the driver answers there). The L2 size is no attribute of this chip, nor are
 * unknown ones: 107000 (observed: host_notify); aclGetDeviceCapability has it. Once a test set a size the
 * attribute has it too, as on chips that know it (own choice). */
static aclError attribute(uint32_t device, aclrtDevAttr attr, int64_t *value) {
    const mock_profile *p = mock_profile_get();
    const int64_t l2 = atomic_load(&l2_bytes);
    if (place_attribute(device, attr, value)) return 0;
    switch ((int)attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
        *value = p->ai_cpus;
        return 0;
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = p->ai_cores;
        return 0;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = p->vector_cores;
        return 0;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = (int64_t)p->memory_bytes;
        return 0;
    case ACL_DEV_ATTR_NPU_ARCH:
        *value = p->npu_arch;
        return 0;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        if (l2 == 0) break;
        *value = l2;
        return 0;
    default:
        if ((attr >= ACL_DEV_ATTR_WARP_SIZE && attr <= ACL_DEV_ATTR_MAX_BLOCK_DIM_Z) ||
            (attr >= ACL_DEV_ATTR_SUPER_POD_DEVICE_ID && attr <= ACL_DEV_ATTR_DEVICE_FORM_FACTOR))
            return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "device attribute %d", (int)attr);
    }
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device attribute %d", (int)attr);
}

MOCK_EXPORT aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t *value) {
    MOCK_ENTER(aclrtGetDeviceInfo);
    if (value == NULL) return mock_null("value");
    /* 107000, not 107001 (observed: host_notify, "attr dev 9"). */
    if (deviceId >= mock_device_count())
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device %u does not exist", deviceId);
    return attribute(deviceId, attr, value);
}

/* (header: aclDeviceInfo); other devices and properties: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value) {
    MOCK_ENTER(aclGetDeviceCapability);
    if (value == NULL) return mock_null("value");
    if (deviceId >= mock_device_count())
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "device %u", deviceId);
    const int64_t l2 = atomic_load(&l2_bytes);
    switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
        *value = mock_profile_get()->ai_cores;
        return 0;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = mock_profile_get()->vector_cores;
        return 0;
    case ACL_DEVICE_INFO_L2_SIZE:
        *value = l2 != 0 ? l2 : (int64_t)mock_profile_get()->l2_bytes;
        return 0;
    default:
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "device property %d", (int)deviceInfo);
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

/* The driver answers for the second device only, and its texts are inner ones, which need a context (observed:
 * with_context, before_set_device, sequences). */
aclError mock_device_peer_check(int32_t id) {
    if (id >= 0 && (uint32_t)id < mock_device_count()) return 0;
    mock_lock();
    const bool bound = mock_current_quiet() != NULL;
    mock_unlock();
    if (!bound) return mock_fail_untold(ACL_ERROR_RT_INVALID_DEVICEID);
    return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EL9999", "device %d does not exist", id);
}

/* One device twice: 100000; no context is needed (observed: before_set_device, two_devices). */
MOCK_EXPORT aclError aclrtDeviceCanAccessPeer(
    int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
    MOCK_ENTER(aclrtDeviceCanAccessPeer);
    if (canAccessPeer == NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "canAccessPeer is null");
    if (deviceId == peerDeviceId)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "device %d has no link to itself", deviceId);
    const aclError code = mock_device_peer_check(peerDeviceId);
    if (code != 0) return code;
    if (deviceId < 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "device %d", deviceId);
    *canAccessPeer = 1;
    return 0;
}

/* All three are there on this chip (own choice: the card's own list comes from two files of the toolkit). */
static const aclCannAttr cann_attributes[] = {
    ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};

MOCK_EXPORT aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num) {
    MOCK_ENTER(aclGetCannAttributeList);
    if (cannAttrList == NULL || num == NULL) return mock_null("cannAttrList and num");
    *cannAttrList = cann_attributes;
    *num = sizeof cann_attributes / sizeof cann_attributes[0];
    return 0;
}

/* 1 where it is available; unknown ones 100000, without a text (implementation of the open runtime). */
MOCK_EXPORT aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value) {
    MOCK_ENTER(aclGetCannAttribute);
    if (value == NULL) return mock_null("value");
    if ((int)cannAttr < ACL_CANN_ATTR_INF_NAN || cannAttr > ACL_CANN_ATTR_JIT_COMPILE)
        return ACL_ERROR_INVALID_PARAM;
    *value = 1;
    return 0;
}
