/* Facts about the chip as texts (header: acl_platform.h; codes: implementation of the open platform
 * library). Sizes of buffers inside a core are those of an Ascend910B2; clocks, versions of cores and
 * instructions are not known to the mock (own choice: 100024 as for an unknown key). */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include "acl/acl_platform.h"
#include "base/base.h"

static const char *const facts[] = {
    [ACL_PLATFORM_AICORE_CNT] = "24",
    [ACL_PLATFORM_AICORE_UB_SIZE] = "196608",
    [ACL_PLATFORM_CUBE_CORE_CNT] = "24",
    [ACL_PLATFORM_VECTOR_CORE_CNT] = "48",
    [ACL_PLATFORM_L2_SIZE] = "201326592",
    [ACL_PLATFORM_MEMORY_SIZE] = "68719476736",
    [ACL_PLATFORM_BT_SIZE] = "1024",
    [ACL_PLATFORM_L0_A_SIZE] = "65536",
    [ACL_PLATFORM_L0_B_SIZE] = "65536",
    [ACL_PLATFORM_L0_C_SIZE] = "131072",
    [ACL_PLATFORM_L1_SIZE] = "524288",
    [ACL_PLATFORM_SOC_VERSION] = "Ascend910B2",
    [ACL_PLATFORM_NPU_ARCH] = "2201",
    [ACL_PLATFORM_MEMORY_TYPE] = NULL,
};

static aclError unknown(const char *what) {
    return mock_fail(ACL_ERROR_OP_NOT_FOUND, "EH0008", "%s is not known", what);
}

MOCK_EXPORT aclError aclplatformGetDeviceInfo(aclplatformDevInfo infoType, char *value, uint32_t maxLen) {
    MOCK_ENTER(aclplatformGetDeviceInfo);
    if (value == NULL || maxLen == 0) return mock_null("value and maxLen");
    if ((unsigned)infoType >= sizeof facts / sizeof facts[0]) return mock_invalid("fact %d", (int)infoType);
    const char *fact = facts[infoType];
    if (fact == NULL) return unknown("this fact");
    if (strlen(fact) + 1 > maxLen) return mock_invalid("room for %u bytes, %zu needed", maxLen,
        strlen(fact) + 1);
    strcpy(value, fact);
    return 0;
}

MOCK_EXPORT aclError aclplatformGetInstructionInfo(
    aclplatformCoreType type, const char *instruction, char *value, uint32_t maxLen) {
    MOCK_ENTER(aclplatformGetInstructionInfo);
    if (instruction == NULL || value == NULL ||
        maxLen == 0) return mock_null("instruction, value and maxLen");
    if (type != ACL_PLATFORM_CORE_TYPE_AI_CORE && type != ACL_PLATFORM_CORE_TYPE_VECTOR_CORE)
        return mock_invalid("kind of core %d", (int)type);
    return unknown(instruction);
}
