/* Part of racl (mock-acl). Own kernels: launches. */
#include "../kernels/binaries/kernels.h"
#include "conform.h"

static aclrtBinHandle binary;

static aclrtFuncHandle function(const char *name) {
    aclrtFuncHandle handle = NULL;
    if (binary == NULL) OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, name, &handle));
    return handle;
}

/* One launch of the kernel that writes 7 to an address. */
static aclError poke(void *address, uint32_t blocks, aclrtStream stream, aclrtLaunchKernelCfg *config) {
    return aclrtLaunchKernelWithHostArgs(
        function("poke"), blocks, stream, config, &address, sizeof address, NULL, 0);
}

static aclError with_attribute(uint32_t id, uint32_t value, uint32_t blocks) {
    static void *memory;
    if (memory == NULL) memory = device(64);
    aclrtLaunchKernelAttr attribute;
    aclrtLaunchKernelCfg config = {&attribute, 1};
    memset(&attribute, 0, sizeof attribute);
    attribute.id = (aclrtLaunchKernelAttrId)id;
    attribute.value.rsv[0] = value;
    return poke(memory, blocks, NULL, &config);
}

RULE(kernel, launching_nothing, "implementation: aclrtLaunchKernel and its neighbours") {
    up();
    uint64_t args = 0;
    dim3 one = {1, 1, 1};
    EXPECT(aclrtLaunchKernel(NULL, 1, &args, 8, NULL), 100000);
    EXPECT(aclrtLaunchKernelV2(NULL, 1, &args, 8, NULL, NULL), 100000);
    EXPECT(aclrtLaunchKernelWithConfig(NULL, 1, NULL, NULL, &args, NULL), 100000);
    EXPECT(aclrtLaunchKernelWithHostArgs(NULL, 1, NULL, NULL, &args, 8, NULL, 0), 100000);
    EXPECT(aclrtLaunchKernelWithArgsArray(NULL, 1, NULL, NULL, NULL), 100000);
    EXPECT(aclrtLaunchSIMTKernelWithArgsArray(NULL, one, one, 0, NULL, NULL, NULL), 100000);
    EXPECT(aclrtLaunchSIMTKernelWithHostArgs(NULL, one, one, 0, NULL, NULL, &args, 8, NULL, 0), 100000);
}

RULE_MOCK(kernel, no_blocks_by_call, "implementation: ACL layer or runtime layer") {
    up();
    aclrtFuncHandle handle = function("poke");
    void *memory = device(64), *args[1] = {&memory};
    aclrtArgsHandle list = NULL;
    OK(aclrtKernelArgsInit(handle, &list));
    EXPECT(aclrtLaunchKernelWithConfig(handle, 0, NULL, NULL, list, NULL), 100000);
    EXPECT(aclrtLaunchKernelWithArgsArray(handle, 0, NULL, NULL, args), 100000);
    EXPECT(aclrtLaunchKernel(handle, 0, memory, 8, NULL), 107000);
    EXPECT(aclrtLaunchKernelV2(handle, 0, memory, 8, NULL, NULL), 107000);
    EXPECT(poke(memory, 0, NULL, NULL), 107000);
}

RULE_MOCK(kernel, up_to_65535_blocks, "guide: aclrtLaunchKernel") {
    up();
    void *memory = device(64);
    EXPECT(poke(memory, 65535, NULL, NULL), 0);
    EXPECT(poke(memory, 65536, NULL, NULL), 107000);
    OK(aclrtSynchronizeStream(NULL));
}

RULE_MOCK(kernel, arguments_must_be_there, "implementation: CheckArgs") {
    up();
    aclrtFuncHandle handle = function("poke");
    void *memory = device(64);
    EXPECT(aclrtLaunchKernel(handle, 1, NULL, 8, NULL), 100000);
    EXPECT(aclrtLaunchKernel(handle, 1, memory, 0, NULL), 107000);
    EXPECT(aclrtLaunchKernelV2(handle, 1, memory, 0, NULL, NULL), 107000);
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, NULL, 8, NULL, 0), 100000);
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, &memory, 0, NULL, 0), 107000);
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, &memory, (size_t)1 << 32, NULL, 0), 107000);
}

RULE_MOCK(kernel, a_reserve_has_to_be_null, "implementation: aclrtLaunchKernelWithConfig") {
    up();
    aclrtArgsHandle list = NULL;
    OK(aclrtKernelArgsInit(function("poke"), &list));
    EXPECT(aclrtLaunchKernelWithConfig(function("poke"), 1, NULL, NULL, list, &list), 100000);
}

RULE_MOCK(kernel, a_destroyed_function_or_stream, "implementation: handle guard") {
    up();
    aclrtFuncHandle handle = function("poke");
    void *memory = device(64);
    aclrtStream stream = new_stream();
    OK(aclrtDestroyStream(stream));
    EXPECT(poke(memory, 1, stream, NULL), 107017);
    OK(aclrtBinaryUnLoad(binary));
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, &memory, 8, NULL, 0), 107017);
}

RULE_MOCK(kernel, a_stream_of_another_context, "guide: contexts; observed: ctx") {
    up();
    aclrtContext mine = NULL, other = NULL;
    void *memory = device(64);
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream stream = new_stream();
    OK(aclrtSetCurrentContext(mine));
    EXPECT(poke(memory, 1, stream, NULL), 107003);
}

RULE_MOCK(kernel, the_null_stream_is_the_default_one, "guide: aclrtLaunchKernel") {
    up();
    void *memory = device(64);
    EXPECT(poke(memory, 1, NULL, NULL), 0);
    OK(aclrtSynchronizeStream(NULL));
    TRUE(byte_at(memory) == 7);
}

RULE_MOCK(kernel, launches_are_asynchronous_and_in_order, "guide: aclrtLaunchKernel") {
    up();
    void *memory = device(64);
    fill(memory, 1, 64);
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    OK(poke(memory, 1, stream, NULL));
    TRUE(byte_at(memory) == 1);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 2);
}

RULE_MOCK(kernel, host_arguments_are_copied, "guide: aclrtLaunchKernelWithHostArgs") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    void *args = memory;
    fill(memory, 1, 64);
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    OK(aclrtLaunchKernelWithHostArgs(function("poke"), 1, stream, NULL, &args, 8, NULL, 0));
    args = memory + 1;
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 7 && byte_at(memory + 1) == 1);
}

RULE_MOCK(kernel, device_arguments_are_read_when_it_runs, "guide: aclrtLaunchKernel") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    uint64_t *args = (uint64_t *)device(8);
    fill(memory, 1, 64);
    put_u64(args, (uint64_t)(uintptr_t)memory);
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    OK(aclrtLaunchKernel(function("poke"), 1, args, 8, stream));
    put_u64(args, (uint64_t)(uintptr_t)(memory + 1));
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 1 && byte_at(memory + 1) == 7);
}

RULE_MOCK(kernel, placeholders_lie_inside_the_arguments, "implementation: CheckArgs") {
    up();
    uint64_t args[6] = {0};
    aclrtFuncHandle handle = function("matrix");
    aclrtPlaceHolderInfo place = {48, 0};
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, args, sizeof args, &place, 1), 107000);
    place.addrOffset = 0;
    place.dataOffset = 48;
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, args, sizeof args, &place, 1), 107000);
    EXPECT(aclrtLaunchKernelWithHostArgs(handle, 1, NULL, NULL, args, sizeof args, NULL, 1), 107000);
}

RULE_MOCK(kernel, arguments_from_an_array, "implementation: CheckArgsWithType") {
    up();
    void *memory = device(64), *args[1] = {&memory};
    EXPECT(aclrtLaunchKernelWithArgsArray(function("poke"), 1, NULL, NULL, args), 0);
    EXPECT(aclrtLaunchKernelWithArgsArray(function("poke"), 1, NULL, NULL, NULL), 107000);
    EXPECT(aclrtLaunchKernelWithArgsArray(function("count"), 1, NULL, NULL, NULL), 0);
    EXPECT(aclrtLaunchKernelWithArgsArray(function("scale"), 1, NULL, NULL, args), 107000);
    OK(aclrtSynchronizeStream(NULL));
    TRUE(byte_at(memory) == 7);
}

RULE_MOCK(kernel, attributes_have_ranges, "implementation: CheckKernelLaunchCfg") {
    up();
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 1, 1), 0);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 2, 1), 107000);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH, 1, 1), 0);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH, 2, 1), 107000);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP, 1, 1), 0);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP, 2, 1), 107000);
    OK(aclrtSynchronizeStream(NULL));
}

RULE_MOCK(kernel, one_time_out_only, "guide: aclrtLaunchKernelAttrId") {
    up();
    aclrtLaunchKernelAttr two[2];
    aclrtLaunchKernelCfg config = {two, 2};
    memset(two, 0, sizeof two);
    two[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    two[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    void *memory = device(64);
    EXPECT(poke(memory, 1, NULL, &config), 107000);
    config.numAttrs = 1;
    EXPECT(poke(memory, 1, NULL, &config), 0);
    config.attrs = NULL;
    EXPECT(poke(memory, 1, NULL, &config), 107000);
    OK(aclrtSynchronizeStream(NULL));
}

RULE_MOCK(kernel, a_late_kernel_times_out, "guide: aclrtLaunchKernelAttrId; header: ACL_ERROR_RT_AICORE_TIMEOUT") {
    up();
    aclrtLaunchKernelAttr attribute;
    aclrtLaunchKernelCfg config = {&attribute, 1};
    uint64_t ns = 2000000001u;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attribute.value.timeout = 2;
    aclrtStream stream = new_stream();
    OK(aclrtLaunchKernelWithHostArgs(function("slow"), 1, stream, &config, &ns, sizeof ns, NULL, 0));
    EXPECT(aclrtSynchronizeStream(stream), 507014);
    attribute.value.timeout = 0; /* for ever */
    OK(aclrtLaunchKernelWithHostArgs(function("slow"), 1, stream, &config, &ns, sizeof ns, NULL, 0));
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(kernel, a_late_aicpu_kernel_has_its_own_code, "header: ACL_ERROR_RT_AICPU_TIMEOUT") {
    up();
    aclrtLaunchKernelAttr attribute;
    aclrtLaunchKernelCfg config = {&attribute, 1};
    uint64_t ns = 2000000001u;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attribute.value.timeout = 2;
    aclrtStream stream = new_stream();
    OK(aclrtLaunchKernelWithHostArgs(function("cpu_slow"), 1, stream, &config, &ns, sizeof ns, NULL, 0));
    EXPECT(aclrtSynchronizeStream(stream), 507017);
}

RULE_MOCK(kernel, a_batch_needs_a_core_for_each_block, "guide: schedule mode") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, 4));
    OK(aclrtUseStreamResInCurrentThread(stream));
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 1, 4), 0);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 1, 5), 107000);
    EXPECT(with_attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, 0, 5), 0);
    OK(aclrtSynchronizeStream(NULL));
}

RULE_MOCK(kernel, a_failed_kernel_is_found_by_the_wait, "header: ACL_ERROR_RT_AICORE_EXCEPTION") {
    up();
    int32_t code = 1;
    aclrtStream stream = new_stream();
    EXPECT(aclrtLaunchKernelWithHostArgs(function("fail_cube"), 1, stream, NULL, &code, 4, NULL, 0), 0);
    EXPECT(aclrtSynchronizeStream(stream), 507015);
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(kernel, a_failed_vector_kernel_has_its_own_code, "header: ACL_ERROR_RT_VECTOR_CORE_EXCEPTION") {
    up();
    int32_t code = 1;
    aclrtStream stream = new_stream();
    EXPECT(aclrtLaunchKernelWithHostArgs(function("fail"), 1, stream, NULL, &code, 4, NULL, 0), 0);
    EXPECT(aclrtSynchronizeStream(stream), 507035);
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(kernel, an_aicpu_kernel_fails_with_its_own_code, "header: ACL_ERROR_RT_AICPU_EXCEPTION") {
    up();
    int32_t code = 1;
    aclrtStream stream = new_stream();
    EXPECT(aclrtLaunchKernelWithHostArgs(function("cpu_fail"), 1, stream, NULL, &code, 4, NULL, 0), 0);
    EXPECT(aclrtSynchronizeStream(stream), 507018);
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE_MOCK(kernel, memory_that_is_not_there, "guide: asynchronous errors") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    aclrtStream stream = new_stream();
    OK(poke(memory + 64, 1, stream, NULL));
    EXPECT(aclrtSynchronizeStream(stream), 507035);
    OK(poke(&memory, 1, stream, NULL)); /* of the host */
    EXPECT(aclrtSynchronizeStream(stream), 507035);
    OK(aclrtFree(memory));
    OK(poke(memory, 1, stream, NULL));
    EXPECT(aclrtSynchronizeStream(stream), 507035);
}

RULE_MOCK(kernel, simt_is_not_for_this_device, "guide: aclrtLaunchSIMTKernelWithArgsArray, supported products") {
    up();
    dim3 one = {1, 1, 1};
    void *memory = device(64), *args[1] = {&memory};
    EXPECT(aclrtLaunchSIMTKernelWithArgsArray(function("poke"), one, one, 0, NULL, NULL, args), 207000);
}
