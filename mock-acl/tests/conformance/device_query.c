/* Part of racl (mock-acl). What devices say about themselves. */
#include "conform.h"

RULE(device, there_is_one_at_least, "guide: aclrtGetDeviceCount") {
    uint32_t count = 0;
    EXPECT(aclrtGetDeviceCount(&count), 0);
    TRUE(count >= 1);
    EXPECT(aclrtGetDeviceCount(NULL), 100000);
}

RULE(device, the_chip_has_a_name_before_init, "guide: aclrtGetSocName") {
    const char *name = aclrtGetSocName();
    NEED(name != NULL);
    TRUE(strncmp(name, "Ascend", 6) == 0);
    TRUE(aclrtGetSocName() == name);
}

RULE(device, programs_run_on_the_host, "header: aclrtRunMode") {
    aclrtRunMode mode = ACL_DEVICE;
    EXPECT(aclrtGetRunMode(&mode), 0);
    TRUE(mode == ACL_HOST);
    EXPECT(aclrtGetRunMode(NULL), 100000);
}

RULE(device, its_own_chip_is_compatible, "guide: aclrtCheckArchCompatibility") {
    int32_t can = -1;
    EXPECT(aclrtCheckArchCompatibility(aclrtGetSocName(), &can), 0);
    TRUE(can == 1);
    EXPECT(aclrtCheckArchCompatibility("of nobody", &can), 0);
    TRUE(can == 0);
}

static int64_t info(int attribute) {
    int64_t value = -1;
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)attribute, &value), 0);
    return value;
}

RULE(device, cores_and_memory_are_attributes, "observed: host_notify") {
    up();
    TRUE(info(ACL_DEV_ATTR_AICPU_CORE_NUM) > 0);
    TRUE(info(ACL_DEV_ATTR_AICORE_CORE_NUM) > 0);
    TRUE(info(ACL_DEV_ATTR_VECTOR_CORE_NUM) > 0);
    TRUE(info(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE) > INT64_C(1) << 30);
}

RULE(device, the_architecture_is_an_attribute, "observed: host_notify") {
    int64_t value = 0;
    up();
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)601, &value), 0);
    TRUE(value > 0);
}

RULE(device, unknown_attributes_are_refused, "observed: host_notify") {
    int64_t value = 0;
    up();
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)999, &value), 107000);
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)0, &value), 107000);
    EXPECT(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICPU_CORE_NUM, NULL), 100000);
}

RULE(device, attributes_of_no_device_are_refused, "observed: host_notify") {
    int64_t value = 0;
    up();
    EXPECT(aclrtGetDeviceInfo(99, ACL_DEV_ATTR_AICPU_CORE_NUM, &value), 107000);
    EXPECT(aclrtGetDeviceInfo(UINT32_MAX, ACL_DEV_ATTR_AICPU_CORE_NUM, &value), 107000);
}

RULE_MOCK(device, attributes_of_other_chips_are_not_supported, "own choice: the driver answers there") {
    int64_t value = 0;
    for (int attribute = 202; attribute <= 212; attribute++)
        EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)attribute, &value), 207000);
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)403, &value), 207000);
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)409, &value), 207000);
    EXPECT(aclrtGetDeviceInfo(0, (aclrtDevAttr)302, &value), 107000);
}

RULE_MOCK(device, a_card_is_one_chip_that_is_not_split, "own choice") {
    devices(2);
    int64_t chip = -1;
    TRUE(info(ACL_DEV_ATTR_PHY_CHIP_ID) == 0);
    TRUE(info(ACL_DEV_ATTR_IS_VIRTUAL) == 0);
    EXPECT(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_PHY_CHIP_ID, &chip), 0);
    TRUE(chip == 1);
}

RULE(device, the_platform_knows_cores_and_l2, "implementation of the open runtime") {
    int64_t value = 0;
    OK(aclInit(NULL));
    EXPECT(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &value), 0);
    TRUE(value > 0);
    EXPECT(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), 0);
    TRUE(value > 0);
    EXPECT(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value), 0);
    TRUE(value > 1 << 20);
}

RULE(device, the_platform_refuses_what_it_does_not_know, "implementation of the open runtime") {
    int64_t value = 0;
    OK(aclInit(NULL));
    EXPECT(aclGetDeviceCapability(99, ACL_DEVICE_INFO_L2_SIZE, &value), 100000);
    EXPECT(aclGetDeviceCapability(0, (aclDeviceInfo)99, &value), 100000);
    EXPECT(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, NULL), 100000);
}

RULE(device, updates_of_tasks_are_a_feature, "observed: host_notify") {
    int32_t value = -1;
    up();
    EXPECT(aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &value), 0);
    TRUE(value == 0 || value == 1);
    EXPECT(aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, NULL), 100000);
}

RULE(device, the_greatest_priority_is_0, "observed: stream_basic") {
    int32_t least = -1, greatest = -1;
    up();
    EXPECT(aclrtDeviceGetStreamPriorityRange(&least, &greatest), 0);
    TRUE(least == 7);
    TRUE(greatest == 0);
    EXPECT(aclrtDeviceGetStreamPriorityRange(NULL, NULL), 0);
}

RULE(device, a_device_is_normal, "header: aclrtDeviceStatus") {
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    up();
    EXPECT(aclrtQueryDeviceStatus(0, &status), 0);
    TRUE(status == ACL_RT_DEVICE_STATUS_NORMAL);
    EXPECT(aclrtQueryDeviceStatus(0, NULL), 100000);
}

RULE(device, the_task_scheduler_is_one_of_two, "implementation of the open runtime") {
    up();
    EXPECT(aclrtSetTsDevice(ACL_TS_ID_AICORE), 0);
    EXPECT(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), 0);
    EXPECT(aclrtSetTsDevice((aclrtTsId)2), 100000);
}

RULE(device, memory_of_no_kind_has_0, "guide: aclrtGetMemInfo") {
    size_t free_bytes = 1, total = 1;
    up();
    EXPECT(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total), 0);
    TRUE(total > 0 && free_bytes <= total);
    EXPECT(aclrtGetMemInfo(ACL_DDR_MEM_P2P_HUGE, &free_bytes, &total), 0);
    TRUE(free_bytes <= total);
}

/* ---- limits ---- */

RULE(device, a_limit_is_kept_and_rounded, "guide: aclrtDeviceSetLimit") {
    size_t value = 0;
    OK(aclInit(NULL));
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 32769), 0);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &value), 0);
    TRUE(value == 49152);
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, 1025), 0);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, &value), 0);
    TRUE(value == 1032);
}

RULE(device, a_stack_of_32_kib_and_less_has_no_effect, "guide: aclrtDeviceSetLimit") {
    size_t value = 0;
    OK(aclInit(NULL));
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 100), 0);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &value), 0);
    TRUE(value == 32768);
}

RULE(device, a_print_buffer_has_1_kib_to_64_mib, "guide: aclrtDeviceSetLimit") {
    OK(aclInit(NULL));
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, 1023), 107000);
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, 67108865), 107000);
}

RULE(device, limits_of_simt_kernels_are_not_supported, "guide: aclrtDeviceSetLimit") {
    size_t value = 0;
    OK(aclInit(NULL));
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 1024), 207000);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE, &value), 207000);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, &value), 207000);
}

RULE(device, limits_that_do_not_exist_are_refused, "implementation of the open runtime") {
    size_t value = 0;
    OK(aclInit(NULL));
    EXPECT(aclrtDeviceSetLimit((aclrtDeviceLimit)5, 1024), 100000);
    EXPECT(aclrtDeviceGetLimit((aclrtDeviceLimit)5, &value), 100000);
    EXPECT(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, NULL), 100000);
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, (size_t)1 << 32), 100000);
}

RULE(device, a_stack_above_the_chips_fails_at_set, "guide: aclrtDeviceSetLimit") {
    OK(aclInit(NULL));
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 196608), 0);
    EXPECT(aclrtSetDevice(0), 0);
    OK(aclrtResetDevice(0));
    EXPECT(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 196609), 0);
    TRUE(aclrtSetDevice(0) != 0);
}

/* ---- names and places ---- */

RULE(device, devices_have_different_uuids, "guide: aclrtDeviceGetUuid") {
    const uint32_t count = devices(1);
    aclrtUuid first, other;
    up();
    EXPECT(aclrtDeviceGetUuid(0, &first), 0);
    EXPECT(aclrtDeviceGetUuid(0, &other), 0);
    TRUE(memcmp(&first, &other, sizeof first) == 0);
    if (count > 1) {
        EXPECT(aclrtDeviceGetUuid(1, &other), 0);
        TRUE(memcmp(&first, &other, sizeof first) != 0);
    }
    EXPECT(aclrtDeviceGetUuid(0, NULL), 100000);
}

RULE(device, a_bus_id_leads_back_to_its_device, "guide: aclrtDeviceGetPCIBusId") {
    char id[16];
    int32_t back = -1;
    const int32_t count = (int32_t)devices(1);
    up();
    for (int32_t i = 0; i < count; i++) {
        EXPECT(aclrtDeviceGetPCIBusId(i, id, sizeof id), 0);
        TRUE(strlen(id) == 12);
        TRUE(id[4] == ':' && id[7] == ':' && id[10] == '.');
        EXPECT(aclrtDeviceGetByPCIBusId(id, &back), 0);
        TRUE(back == i);
    }
}

RULE(device, a_bus_id_needs_13_bytes, "guide: aclrtDeviceGetPCIBusId") {
    char id[16];
    up();
    TRUE(aclrtDeviceGetPCIBusId(0, id, 12) != 0);
    EXPECT(aclrtDeviceGetPCIBusId(0, id, 13), 0);
    EXPECT(aclrtDeviceGetPCIBusId(0, NULL, 13), 100000);
}

RULE(device, a_bus_without_a_device_is_an_error, "guide: aclrtDeviceGetByPCIBusId") {
    int32_t id = -1;
    up();
    TRUE(aclrtDeviceGetByPCIBusId("ffff:ff:1f.7", &id) != 0);
    TRUE(aclrtDeviceGetByPCIBusId("of nobody", &id) != 0);
    TRUE(aclrtDeviceGetByPCIBusId("", &id) != 0);
    EXPECT(aclrtDeviceGetByPCIBusId(NULL, &id), 100000);
    EXPECT(aclrtDeviceGetByPCIBusId("0000:00:00.0", NULL), 100000);
}

RULE(device, the_process_has_an_id, "guide: aclrtDeviceGetBareTgid") {
    int32_t pid = 0;
    up();
    EXPECT(aclrtDeviceGetBareTgid(&pid), 0);
    TRUE(pid > 0);
    EXPECT(aclrtDeviceGetBareTgid(NULL), 100000);
}

RULE(device, two_devices_are_linked, "guide: aclrtGetDevicesTopo") {
    uint64_t link = 0;
    devices(2);
    up();
    EXPECT(aclrtGetDevicesTopo(0, 1, &link), 0);
    TRUE(link != 0 && (link & ~UINT64_C(0x7f)) == 0);
    EXPECT(aclrtGetDevicesTopo(0, 1, NULL), 100000);
}

static aclrtUtilizationInfo used(int32_t id) {
    aclrtUtilizationInfo rate;
    memset(&rate, 0, sizeof rate);
    EXPECT(aclrtGetDeviceUtilizationRate(id, &rate), 0);
    return rate;
}

RULE(device, use_is_in_percent_and_unknown_for_memory, "guide: aclrtGetDeviceUtilizationRate") {
    up();
    const aclrtUtilizationInfo rate = used(0);
    TRUE(rate.cubeUtilization >= -1 && rate.cubeUtilization <= 100);
    TRUE(rate.vectorUtilization >= -1 && rate.vectorUtilization <= 100);
    TRUE(rate.aicpuUtilization >= -1 && rate.aicpuUtilization <= 100);
    TRUE(rate.memoryUtilization == -1);
}

RULE(device, use_of_no_device_is_unknown, "implementation of the open runtime") {
    up();
    const aclrtUtilizationInfo rate = used(99);
    TRUE(rate.cubeUtilization == -1 && rate.vectorUtilization == -1 && rate.aicpuUtilization == -1);
}

RULE(device, the_extension_of_use_is_reserved, "implementation of the open runtime") {
    aclrtUtilizationInfo rate;
    memset(&rate, 0, sizeof rate);
    up();
    rate.utilizationExtend = (aclrtUtilizationExtendInfo *)&rate;
    EXPECT(aclrtGetDeviceUtilizationRate(0, &rate), 100000);
    EXPECT(aclrtGetDeviceUtilizationRate(0, NULL), 100000);
}

RULE(device, atomic_operations_are_answered_one_by_one, "guide: aclrtDeviceGetP2PAtomicCapabilities") {
    const aclrtAtomicOperation asked[2] = {ACL_RT_ATOMIC_OPERATION_DMA_ADD, ACL_RT_ATOMIC_OPERATION_CAS};
    uint32_t answers[3] = {7, 7, 0xABCD};
    devices(2);
    up();
    EXPECT(aclrtDeviceGetP2PAtomicCapabilities(answers, asked, 2, 0, 1), 0);
    EXPECT(aclrtDeviceGetHostAtomicCapabilities(answers, asked, 2, 0), 0);
    TRUE(answers[2] == 0xABCD);
}

RULE_MOCK(device, bad_questions_about_atomics_are_refused, "own choice of the codes") {
    const aclrtAtomicOperation asked[1] = {(aclrtAtomicOperation)20};
    uint32_t answer = 0;
    EXPECT(aclrtDeviceGetHostAtomicCapabilities(&answer, asked, 1, 0), 107000);
    EXPECT(aclrtDeviceGetHostAtomicCapabilities(NULL, asked, 1, 0), 107000);
    EXPECT(aclrtDeviceGetHostAtomicCapabilities(&answer, NULL, 1, 0), 107000);
    EXPECT(aclrtDeviceGetHostAtomicCapabilities(&answer, asked, 0, 0), 107000);
    EXPECT(aclrtDeviceGetP2PAtomicCapabilities(&answer, asked, 1, 0, 99), 107001);
}
