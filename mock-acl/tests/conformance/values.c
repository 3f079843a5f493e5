/* Part of racl (mock-acl). Numbers that programs are compiled with: enumerations, flags, sizes. */
#include "conform.h"

#define IS(name, number) TRUE((long long)(name) == (number))

/* ---- errors and handles ---- */

RULE(values, an_error_is_an_int_and_0_is_none, "header: acl_base_rt.h, ACL_ERROR_NONE, ACL_SUCCESS") {
    TRUE(sizeof(aclError) == sizeof(int));
    IS((aclError)-1, -1);
    IS(ACL_SUCCESS, 0);
    IS(ACL_ERROR_NONE, 0);
}

RULE(values, handles_are_one_type, "header: acl_base_rt.h, acl_rt.h") {
    int there = 0;
    void *any = &there;
    aclrtStream stream = any;
    aclrtEvent event = stream;
    aclrtContext context = event;
    aclrtNotify notify = context;
    aclrtLabel label = notify;
    aclrtLabelList list = label;
    aclrtTaskGrp group = list;
    aclmdlRI model = group;
    TRUE(model == any);
}

RULE(values, handles_of_newer_releases_are_that_type, "header: acl_base_rt.h, acl_rt.h") {
    int there = 0;
    void *any = &there;
    aclrtCntNotify count = any;
    aclmdlRITask task = count;
    aclmdlRICondHandle condition = task;
    aclrtDrvMemHandle memory = condition;
    aclrtBinHandle binary = memory;
    aclrtFuncHandle function = binary;
    aclrtArgsHandle args = function;
    aclrtParamHandle param = args;
    aclrtMemPool pool = param;
    aclrtAllocatorDesc desc = pool;
    TRUE(desc == any);
}

RULE(values, errors_of_the_upper_layer, "header: acl_base_rt.h") {
    IS(ACL_ERROR_INVALID_PARAM, 100000);
    IS(ACL_ERROR_REPEAT_INITIALIZE, 100002);
    IS(ACL_ERROR_INVALID_FILE, 100003);
    IS(ACL_ERROR_PARSE_FILE, 100006);
    IS(ACL_ERROR_REPEAT_FINALIZE, 100037);
}

/* ---- initialisation ---- */

RULE(values, types_of_init_callbacks, "header: aclRegisterCallbackType") {
    IS(ACL_REG_TYPE_ACL_MODEL, 0);
    IS(ACL_REG_TYPE_ACL_OP_EXECUTOR, 1);
    IS(ACL_REG_TYPE_ACL_OP_CBLAS, 2);
    IS(ACL_REG_TYPE_ACL_OP_COMPILER, 3);
    IS(ACL_REG_TYPE_ACL_TDT_CHANNEL, 4);
    IS(ACL_REG_TYPE_ACL_TDT_QUEUE, 5);
    IS(ACL_REG_TYPE_ACL_DVPP, 6);
    IS(ACL_REG_TYPE_ACL_RETR, 7);
    IS(ACL_REG_TYPE_OTHER, 0xFFFF);
}

RULE(values, packages, "header: aclCANNPackageName, aclCANNPackageVersion") {
    aclCANNPackageVersion v;
    IS(ACL_PKG_NAME_CANN, 0);
    IS(ACL_PKG_NAME_RUNTIME, 1);
    IS(ACL_PKG_NAME_COMPILER, 2);
    IS(ACL_PKG_NAME_HCCL, 3);
    IS(ACL_PKG_NAME_TOOLKIT, 4);
    IS(ACL_PKG_NAME_OPP, 5);
    IS(ACL_PKG_NAME_OPP_KERNEL, 6);
    IS(ACL_PKG_NAME_DRIVER, 7);
    IS(sizeof v.version, 128);
    TRUE(sizeof v.majorVersion == 64 && sizeof v.minorVersion == 64);
    TRUE(sizeof v.releaseVersion == 64 && sizeof v.patchVersion == 64);
    IS(sizeof v.reserved, 128);
}

RULE(values, the_one_level_of_the_last_error, "header: aclrtLastErrLevel") { IS(ACL_RT_THREAD_LEVEL, 0); }

/* ---- devices and contexts ---- */

RULE(values, run_modes_and_device_states, "header: aclrtRunMode, aclrtDeviceStatus, aclrtDeviceState") {
    IS(ACL_DEVICE, 0);
    IS(ACL_HOST, 1);
    IS(ACL_RT_DEVICE_STATUS_NORMAL, 0);
    IS(ACL_RT_DEVICE_STATUS_ABNORMAL, 1);
    IS(ACL_RT_DEVICE_STATUS_END, 0xFFFF);
    IS(ACL_RT_DEVICE_STATE_SET_PRE, 0);
    IS(ACL_RT_DEVICE_STATE_SET_POST, 1);
    IS(ACL_RT_DEVICE_STATE_RESET_PRE, 2);
    IS(ACL_RT_DEVICE_STATE_RESET_POST, 3);
}

RULE(values, overflow_modes, "header: aclrtFloatOverflowMode") {
    IS(ACL_RT_OVERFLOW_MODE_SATURATION, 0);
    IS(ACL_RT_OVERFLOW_MODE_INFNAN, 1);
}

RULE(values, attributes_of_cores_and_memory, "header: aclrtDevAttr") {
    IS(ACL_DEV_ATTR_AICPU_CORE_NUM, 1);
    IS(ACL_DEV_ATTR_AICORE_CORE_NUM, 101);
    IS(ACL_DEV_ATTR_CUBE_CORE_NUM, 102);
    IS(ACL_DEV_ATTR_VECTOR_CORE_NUM, 201);
    IS(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, 301);
    IS(ACL_DEV_ATTR_L2_CACHE_SIZE, 302);
}

RULE(values, attributes_of_threads, "header: aclrtDevAttr") {
    IS(ACL_DEV_ATTR_WARP_SIZE, 202);
    IS(ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE, 203);
    IS(ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE, 204);
    IS(ACL_DEV_ATTR_MAX_GRID_DIM_X, 205);
    IS(ACL_DEV_ATTR_MAX_GRID_DIM_Y, 206);
    IS(ACL_DEV_ATTR_MAX_GRID_DIM_Z, 207);
    IS(ACL_DEV_ATTR_MAX_BLOCK_PER_GRID, 208);
    IS(ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK, 209);
    IS(ACL_DEV_ATTR_MAX_BLOCK_DIM_X, 210);
    IS(ACL_DEV_ATTR_MAX_BLOCK_DIM_Y, 211);
    IS(ACL_DEV_ATTR_MAX_BLOCK_DIM_Z, 212);
}

RULE(values, the_older_name_of_local_memory, "header: aclrtDevAttr") {
    IS(ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE, 204);
}

RULE(values, attributes_of_the_place, "header: aclrtDevAttr") {
    IS(ACL_DEV_ATTR_SMP_ID, 401);
    IS(ACL_DEV_ATTR_PHY_CHIP_ID, 402);
    IS(ACL_DEV_ATTR_SUPER_POD_DEVICE_ID, 403);
    IS(ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID, 403);
    IS(ACL_DEV_ATTR_SUPER_POD_SERVER_ID, 404);
    IS(ACL_DEV_ATTR_SUPER_POD_ID, 405);
    IS(ACL_DEV_ATTR_CUST_OP_PRIVILEGE, 406);
    IS(ACL_DEV_ATTR_MAINBOARD_ID, 407);
    IS(ACL_DEV_ATTR_HD_CONNECT_TYPE, 408);
    IS(ACL_DEV_ATTR_DEVICE_FORM_FACTOR, 409);
    IS(ACL_DEV_ATTR_IS_VIRTUAL, 501);
    IS(ACL_DEV_ATTR_NPU_ARCH, 601);
}

RULE(values, features_and_capabilities, "header: aclDeviceInfo, aclrtDevFeatureType, aclCannAttr") {
    IS(ACL_DEVICE_INFO_AI_CORE_NUM, 0);
    IS(ACL_DEVICE_INFO_VECTOR_CORE_NUM, 1);
    IS(ACL_DEVICE_INFO_L2_SIZE, 2);
    IS(ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, 1);
    IS(ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, 21);
    IS(ACL_CANN_ATTR_INF_NAN, 0);
    IS(ACL_CANN_ATTR_BF16, 1);
    IS(ACL_CANN_ATTR_JIT_COMPILE, 2);
}

RULE(values, core_limits_and_options, "header: aclrtDevResLimitType, aclSysParamOpt") {
    IS(ACL_RT_DEV_RES_CUBE_CORE, 0);
    IS(ACL_RT_DEV_RES_VECTOR_CORE, 1);
    IS(ACL_OPT_DETERMINISTIC, 0);
    IS(ACL_OPT_ENABLE_DEBUG_KERNEL, 1);
    IS(ACL_OPT_STRONG_CONSISTENCY, 2);
}

RULE(values, the_option_of_early_starts, "header: aclSysParamOpt") {
    IS(ACL_OPT_ENABLE_KERNEL_EARLY_START, 3);
}

/* ---- streams ---- */

RULE(values, flags_of_streams, "header: ACL_STREAM_FAST_LAUNCH and its neighbours") {
    IS(ACL_STREAM_FAST_LAUNCH, 0x01);
    IS(ACL_STREAM_FAST_SYNC, 0x02);
    IS(ACL_STREAM_PERSISTENT, 0x04);
    IS(ACL_STREAM_HUGE, 0x08);
    IS(ACL_STREAM_CPU_SCHEDULE, 0x10);
    IS(ACL_STREAM_DEVICE_USE_ONLY, 0x20);
}

RULE(values, settings_of_new_streams, "header: aclrtStreamConfigAttr") {
    IS(ACL_RT_STREAM_WORK_ADDR_PTR, 0);
    IS(ACL_RT_STREAM_WORK_SIZE, 1);
    IS(ACL_RT_STREAM_FLAG, 2);
    IS(ACL_RT_STREAM_PRIORITY, 3);
}

RULE(values, states_of_streams, "header: aclrtStreamStatus, aclrtStreamState") {
    IS(ACL_STREAM_STATUS_COMPLETE, 0);
    IS(ACL_STREAM_STATUS_NOT_READY, 1);
    IS(ACL_STREAM_STATUS_RESERVED, 0xFFFF);
    IS(ACL_RT_STREAM_STATE_CREATE_POST, 1);
    IS(ACL_RT_STREAM_STATE_DESTROY_PRE, 2);
}

RULE(values, attributes_of_streams, "header: aclrtStreamAttr, aclrtStreamAttrValue") {
    aclrtStreamAttrValue v;
    IS(ACL_CONTINUE_ON_FAILURE, 0);
    IS(ACL_STOP_ON_FAILURE, 1);
    IS(ACL_STREAM_ATTR_FAILURE_MODE, 1);
    IS(ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 2);
    IS(ACL_STREAM_ATTR_USER_CUSTOM_TAG, 3);
    IS(ACL_STREAM_ATTR_CACHE_OP_INFO, 4);
    IS(sizeof v, 16);
    TRUE(sizeof v.failureMode == 8 && sizeof v.overflowSwitch == 4 && sizeof v.userCustomTag == 4);
    TRUE(sizeof v.cacheOpInfoSwitch == 4 && sizeof v.reserve == 16);
}

RULE(values, the_priority_of_a_stream_as_attribute, "header: aclrtStreamAttr, aclrtStreamAttrValue") {
    aclrtStreamAttrValue v;
    IS(ACL_STREAM_ATTR_PRIORITY, 5);
    IS(sizeof v.streamPriority, 4);
}

RULE(values, waits_for_values, "header: ACL_STREAM_WAIT_VALUE_GEQ and its neighbours") {
    IS(ACL_STREAM_WAIT_VALUE_GEQ, 0);
    IS(ACL_STREAM_WAIT_VALUE_EQ, 1);
    IS(ACL_STREAM_WAIT_VALUE_AND, 2);
    IS(ACL_STREAM_WAIT_VALUE_NOR, 3);
}

RULE(values, conditions_of_switches, "header: aclrtCondition, aclrtCompareDataType") {
    IS(ACL_RT_EQUAL, 0);
    IS(ACL_RT_NOT_EQUAL, 1);
    IS(ACL_RT_GREATER, 2);
    IS(ACL_RT_GREATER_OR_EQUAL, 3);
    IS(ACL_RT_LESS, 4);
    IS(ACL_RT_LESS_OR_EQUAL, 5);
    IS(ACL_RT_SWITCH_INT32, 0);
    IS(ACL_RT_SWITCH_INT64, 1);
}

/* ---- events and notifies ---- */

RULE(values, flags_of_events, "header: ACL_EVENT_SYNC and its neighbours") {
    IS(ACL_EVENT_SYNC, 0x01);
    IS(ACL_EVENT_CAPTURE_STREAM_PROGRESS, 0x02);
    IS(ACL_EVENT_TIME_LINE, 0x08);
    IS(ACL_EVENT_DEVICE_USE_ONLY, 0x10);
    IS(ACL_EVENT_EXTERNAL, 0x20);
}

RULE(values, the_flag_of_shared_events, "header: ACL_EVENT_IPC, aclrtIpcEventHandle") {
    IS(ACL_EVENT_IPC, 0x40);
    IS(ACL_IPC_EVENT_HANDLE_SIZE, 64);
    IS(sizeof(aclrtIpcEventHandle), 64);
}

RULE(values, flags_of_records_and_waits, "header: ACL_EVENT_RECORD_DEFAULT, ACL_EVENT_WAIT_DEFAULT") {
    IS(ACL_EVENT_RECORD_DEFAULT, 0);
    IS(ACL_EVENT_RECORD_EXTERNAL, 1);
    IS(ACL_EVENT_WAIT_DEFAULT, 0);
    IS(ACL_EVENT_WAIT_EXTERNAL, 1);
}

RULE(values, states_of_events, "header: aclrtEventRecordedStatus, aclrtEventStatus, aclrtEventWaitStatus") {
    IS(ACL_EVENT_RECORDED_STATUS_NOT_READY, 0);
    IS(ACL_EVENT_RECORDED_STATUS_COMPLETE, 1);
    IS(ACL_EVENT_STATUS_COMPLETE, 0);
    IS(ACL_EVENT_STATUS_NOT_READY, 1);
    IS(ACL_EVENT_WAIT_STATUS_COMPLETE, 0);
    IS(ACL_EVENT_WAIT_STATUS_NOT_READY, 1);
    IS(ACL_EVENT_WAIT_STATUS_RESERVED, 0xFFFF);
}

RULE(values, flags_of_notifies, "header: ACL_NOTIFY_DEFAULT, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT") {
    IS(ACL_NOTIFY_DEFAULT, 0);
    IS(ACL_NOTIFY_DEVICE_USE_ONLY, 1);
    IS(ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT, 0);
    IS(ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION, 2);
    IS(ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT, 0);
    IS(ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS, 2);
}

RULE(values, modes_of_counting_notifies, "header: aclrtCntNotifyRecordMode") {
    IS(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 0);
    IS(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1);
    IS(ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 2);
    IS(ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 4);
}

/* ---- memory ---- */

RULE(values, policies_of_allocation, "header: aclrtMemMallocPolicy") {
    IS(ACL_MEM_MALLOC_HUGE_FIRST, 0);
    IS(ACL_MEM_MALLOC_HUGE_ONLY, 1);
    IS(ACL_MEM_MALLOC_NORMAL_ONLY, 2);
    IS(ACL_MEM_MALLOC_HUGE_FIRST_P2P, 3);
    IS(ACL_MEM_MALLOC_HUGE_ONLY_P2P, 4);
    IS(ACL_MEM_MALLOC_NORMAL_ONLY_P2P, 5);
    IS(ACL_MEM_TYPE_LOW_BAND_WIDTH, 0x100);
    IS(ACL_MEM_TYPE_HIGH_BAND_WIDTH, 0x1000);
}

RULE(values, newer_policies_of_allocation, "header: aclrtMemMallocPolicy") {
    IS(ACL_MEM_MALLOC_HUGE1G_ONLY, 6);
    IS(ACL_MEM_MALLOC_HUGE1G_ONLY_P2P, 7);
    IS(ACL_MEM_ACCESS_USER_SPACE_READONLY, 0x100000);
}

RULE(values, attributes_of_an_allocation, "header: aclrtMallocAttrType") {
    IS(ACL_RT_MEM_ATTR_MODULE_ID, 1);
    IS(ACL_RT_MEM_ATTR_DEVICE_ID, 2);
    IS(ACL_RT_MEM_ATTR_VA_FLAG, 3);
}

RULE(values, kinds_of_copies, "header: aclrtMemcpyKind") {
    IS(ACL_MEMCPY_HOST_TO_HOST, 0);
    IS(ACL_MEMCPY_HOST_TO_DEVICE, 1);
    IS(ACL_MEMCPY_DEVICE_TO_HOST, 2);
    IS(ACL_MEMCPY_DEVICE_TO_DEVICE, 3);
    IS(ACL_MEMCPY_DEFAULT, 4);
    IS(ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, 5);
    IS(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, 6);
    IS(ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, 7);
}

RULE(values, places_of_memory, "header: aclrtMemLocationType") {
    IS(ACL_MEM_LOCATION_TYPE_HOST, 0);
    IS(ACL_MEM_LOCATION_TYPE_DEVICE, 1);
    IS(ACL_MEM_LOCATION_TYPE_UNREGISTERED, 2);
    IS(ACL_MEM_LOCATION_TYPE_MANAGED, 3);
    IS(ACL_MEM_LOCATION_TYPE_HOST_NUMA, 4);
}

RULE(values, registered_host_memory, "header: aclrtHostRegisterType, ACL_HOST_REG_MAPPED") {
    IS(ACL_HOST_REGISTER_MAPPED, 0);
    IS(ACL_HOST_REG_MAPPED, 0x2);
    IS(ACL_HOST_REG_IOMEMORY, 0x4);
    IS(ACL_HOST_REG_READONLY, 0x8);
    IS(ACL_HOST_REG_PINNED, 0x10000000);
}

RULE(values, kinds_of_physical_memory, "header: aclrtMemAttr, aclrtMemHandleType, aclrtMemAllocationType") {
    IS(ACL_MEM_HANDLE_TYPE_NONE, 0);
    IS(ACL_MEM_HANDLE_TYPE_POSIX, 2);
    IS(ACL_MEM_ALLOCATION_TYPE_PINNED, 0);
    IS(ACL_HBM_MEM_HUGE, 4);
    IS(ACL_MEM_NORMAL, 12);
    IS(ACL_MEM_HUGE, 13);
    IS(ACL_MEM_HUGE1G, 14);
    IS(ACL_MEM_P2P_NORMAL, 15);
    IS(ACL_MEM_P2P_HUGE, 16);
    IS(ACL_MEM_P2P_HUGE1G, 17);
    IS(ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, 0);
    IS(ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, 1);
    IS(ACL_RT_MEM_ATTACH_GLOBAL, 1);
}
