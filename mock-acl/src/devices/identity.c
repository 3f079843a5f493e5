/* Names and places of devices: UUID, PCI bus id, topology; the id of the process; utilisation; atomic
 * operations. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "devices/devices.h"
#include "devices/inner.h"

/* A constant of the mock and the logic id (own choice). */
MOCK_EXPORT aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid) {
    MOCK_ENTER(aclrtDeviceGetUuid);
    if (uuid == NULL) return mock_null("uuid");
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    memcpy(uuid->bytes, "mock-acl device", 15);
    uuid->bytes[15] = (char)('0' + mock_device_logic(deviceId));
    return 0;
}

/* ---- PCI bus ids ---- */

#define BUS_ID_SIZE 13 /* (guide: device management, aclrtDeviceGetPCIBusId) */
#define FIRST_BUS 0xc0u /* own choice */

/* A buffer below 13 bytes: 107000 (own choice of the code). */
MOCK_EXPORT aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char *pciBusId, int32_t len) {
    MOCK_ENTER(aclrtDeviceGetPCIBusId);
    if (pciBusId == NULL) return mock_null("pciBusId");
    if (len < BUS_ID_SIZE)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%d bytes of %d", len, BUS_ID_SIZE);
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    const unsigned bus = FIRST_BUS + (unsigned)mock_device_logic(deviceId);
    snprintf(pciBusId, BUS_ID_SIZE, "0000:%02x:00.0", bus & 0xFFu);
    return 0;
}

/* Exactly domain:bus:device.function in hexadecimal; only one bus number can differ from 0. */
static bool parse_bus(const char *text, unsigned *bus) {
    static const char form[] = "hhhh:hh:hh.h";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'h' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i]) return false;
    *bus = (unsigned)strtoul(text + 5, NULL, 16);
    return strncmp(text, "0000", 4) == 0 && strcmp(text + 7, ":00.0") == 0;
}

/* Not visible is an error (guide: device management, aclrtDeviceGetByPCIBusId); own choice: 107001, and
 * 107000 for what is no bus id. */
MOCK_EXPORT aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *deviceId) {
    MOCK_ENTER(aclrtDeviceGetByPCIBusId);
    if (pciBusId == NULL || deviceId == NULL) return mock_null("pciBusId and deviceId");
    unsigned bus = 0;
    if (!parse_bus(pciBusId, &bus))
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "\"%.20s\" is no PCI bus id", pciBusId);
    const int32_t user = bus < FIRST_BUS ? -1 : mock_device_user((int32_t)(bus - FIRST_BUS));
    if (user < 0) return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "no device at %s", pciBusId);
    *deviceId = user;
    return 0;
}

/* ---- the machine ---- */

/* (guide: device management, aclrtDeviceGetBareTgid) */
MOCK_EXPORT aclError aclrtDeviceGetBareTgid(int32_t *pid) {
    MOCK_ENTER(aclrtDeviceGetBareTgid);
    if (pid == NULL) return mock_null("pid");
    *pid = (int32_t)getpid();
    return 0;
}

/* All linked by HCCS, as the cards of one server (own choice); a device and itself too (implementation of
 * the open runtime). */
MOCK_EXPORT aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t *value) {
    MOCK_ENTER(aclrtGetDevicesTopo);
    if (value == NULL) return mock_null("value");
    aclError code = mock_device_check((int32_t)deviceId);
    if (code == 0) code = mock_device_check((int32_t)otherDeviceId);
    if (code == 0) *value = ACL_RT_DEVS_TOPOLOGY_HCCS;
    return code;
}

/* Nothing runs between calls: 0 (own choice). What cannot be asked is -1 with the code 0, as memory
 * always is, and cores of a device that does not exist; the extension is reserved, else 100000
 * (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo *utilizationInfo) {
    MOCK_ENTER(aclrtGetDeviceUtilizationRate);
    if (utilizationInfo == NULL) return mock_null("utilizationInfo");
    if (utilizationInfo->utilizationExtend != NULL)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0012", "utilizationExtend must be null");
    const bool known = deviceId >= 0 && (uint32_t)deviceId < mock_device_count();
    const int32_t rate = known ? 0 : DEVICE_UTILIZATION_NOT_SUPPORT;
    *utilizationInfo = (aclrtUtilizationInfo){rate, rate, rate, DEVICE_UTILIZATION_NOT_SUPPORT, NULL};
    return 0;
}

/* ---- atomic operations ---- */

/* Kernels can add, take the smaller and the larger while they store, on words of 8 to 32 bits; the same
 * through the link between devices; nothing on host memory (own choice: no public table names them). */
static uint32_t atomic_capability(aclrtAtomicOperation op, bool host) {
    const uint32_t words = ACL_RT_ATOMIC_CAPABILITY_SIGNED | ACL_RT_ATOMIC_CAPABILITY_REDUCTION;
    if (host) return 0;
    switch (op) {
    case ACL_RT_ATOMIC_OPERATION_DMA_ADD:
    case ACL_RT_ATOMIC_OPERATION_DMA_MIN:
    case ACL_RT_ATOMIC_OPERATION_DMA_MAX:
        return words | ACL_RT_ATOMIC_CAPABILITY_SCALAR8 | ACL_RT_ATOMIC_CAPABILITY_SCALAR16 |
               ACL_RT_ATOMIC_CAPABILITY_SCALAR32;
    default:
        return 0;
    }
}

static bool known_operation(aclrtAtomicOperation op) {
    const int n = (int)op;
    return (n >= ACL_RT_ATOMIC_OPERATION_INTEGER_ADD && n <= ACL_RT_ATOMIC_OPERATION_FLOAT_MAX) ||
           (n >= ACL_RT_ATOMIC_OPERATION_DMA_ADD && n <= ACL_RT_ATOMIC_OPERATION_DMA_MAX) ||
           (n >= ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD && n <= ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH);
}

#define QUESTIONS 1024 /* own choice; more are a mistake, there are 21 operations */

/* Null, none at all and unknown operations: 107000 (own choice: the runtime looks at them). */
static aclError atomics(uint32_t *out, const aclrtAtomicOperation *operations, uint32_t count, bool host) {
    if (out == NULL || operations == NULL || count == 0 || count > QUESTIONS)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "null, or %u operations", count);
    for (uint32_t i = 0; i < count; i++)
        if (!known_operation(operations[i]))
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "operation %d", (int)operations[i]);
    for (uint32_t i = 0; i < count; i++) out[i] = atomic_capability(operations[i], host);
    return 0;
}

MOCK_EXPORT aclError aclrtDeviceGetHostAtomicCapabilities(
    uint32_t *capabilities, const aclrtAtomicOperation *operations, const uint32_t count, int32_t deviceId) {
    MOCK_ENTER(aclrtDeviceGetHostAtomicCapabilities);
    const aclError code = mock_device_check(deviceId);
    return code != 0 ? code : atomics(capabilities, operations, count, true);
}

MOCK_EXPORT aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities,
    const aclrtAtomicOperation *operations, const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId) {
    MOCK_ENTER(aclrtDeviceGetP2PAtomicCapabilities);
    aclError code = mock_device_check(srcDeviceId);
    if (code == 0) code = mock_device_check(dstDeviceId);
    return code != 0 ? code : atomics(capabilities, operations, count, false);
}
