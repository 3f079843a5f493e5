/* Part of racl (mock-acl). Own kernels: lists of arguments. */
#include "../kernels/binaries/kernels.h"
#include "conform.h"

static aclrtBinHandle binary;

static aclrtFuncHandle function(const char *name) {
    aclrtFuncHandle handle = NULL;
    if (binary == NULL) OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, name, &handle));
    return handle;
}

static aclrtArgsHandle list_of(const char *name) {
    aclrtArgsHandle list = NULL;
    OK(aclrtKernelArgsInit(function(name), &list));
    return list;
}

static uint64_t value = 5;

RULE(kernel, argument_calls_with_null, "implementation: aclrtKernelArgsInit and its neighbours") {
    up();
    aclrtArgsHandle list = NULL;
    aclrtParamHandle param = NULL;
    size_t size = 0;
    void *buffer = NULL;
    EXPECT(aclrtKernelArgsInit(NULL, &list), 100000);
    EXPECT(aclrtKernelArgsInitByUserMem(NULL, &value, &value, 8), 100000);
    EXPECT(aclrtKernelArgsGetMemSize(NULL, 8, &size), 100000);
    EXPECT(aclrtKernelArgsGetHandleMemSize(NULL, &size), 100000);
    EXPECT(aclrtKernelArgsAppend(NULL, &value, 8, &param), 100000);
    EXPECT(aclrtKernelArgsAppendPlaceHolder(NULL, &param), 100000);
    EXPECT(aclrtKernelArgsGetPlaceHolderBuffer(NULL, NULL, 8, &buffer), 100000);
    EXPECT(aclrtKernelArgsParaUpdate(NULL, NULL, &value, 8), 100000);
    EXPECT(aclrtKernelArgsFinalize(NULL), 100000);
}

RULE_MOCK(kernel, a_parameter_has_bytes, "implementation: aclrtKernelArgsAppend") {
    up();
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle param = NULL;
    EXPECT(aclrtKernelArgsAppend(list, &value, 0, &param), 100000);
    EXPECT(aclrtKernelArgsAppend(list, NULL, 8, &param), 100000);
    EXPECT(aclrtKernelArgsAppend(list, &value, 8, NULL), 100000);
    EXPECT(aclrtKernelArgsAppend(list, &value, 8, &param), 0);
}

RULE_MOCK(kernel, at_most_128_parameters, "guide: aclrtKernelArgsAppend") {
    up();
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle param = NULL;
    for (int i = 0; i < 128; i++) OK(aclrtKernelArgsAppend(list, &value, 8, &param));
    EXPECT(aclrtKernelArgsAppend(list, &value, 8, &param), 107000);
    EXPECT(aclrtKernelArgsAppendPlaceHolder(list, &param), 107000);
}

RULE_MOCK(kernel, nothing_after_the_end, "guide: aclrtKernelArgsFinalize") {
    up();
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle param = NULL, place = NULL;
    void *buffer = NULL;
    OK(aclrtKernelArgsAppend(list, &value, 8, &param));
    OK(aclrtKernelArgsAppendPlaceHolder(list, &place));
    EXPECT(aclrtKernelArgsFinalize(list), 0);
    EXPECT(aclrtKernelArgsAppend(list, &value, 8, &param), 207000);
    EXPECT(aclrtKernelArgsAppendPlaceHolder(list, &param), 207000);
    EXPECT(aclrtKernelArgsGetPlaceHolderBuffer(list, place, 8, &buffer), 207000);
    EXPECT(aclrtKernelArgsFinalize(list), 0);
}

RULE_MOCK(kernel, no_parameter_after_data, "implementation: KernelArgsAppend") {
    up();
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle place = NULL, param = NULL;
    void *buffer = NULL;
    OK(aclrtKernelArgsAppendPlaceHolder(list, &place));
    EXPECT(aclrtKernelArgsGetPlaceHolderBuffer(list, place, 24, &buffer), 0);
    TRUE(buffer != NULL);
    EXPECT(aclrtKernelArgsAppend(list, &value, 8, &param), 207000);
    EXPECT(aclrtKernelArgsAppendPlaceHolder(list, &param), 207000);
}

RULE_MOCK(kernel, data_is_for_placeholders, "implementation: KernelArgsGetPlaceHolderBuffer") {
    up();
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle param = NULL;
    void *buffer = NULL;
    OK(aclrtKernelArgsAppend(list, &value, 8, &param));
    EXPECT(aclrtKernelArgsGetPlaceHolderBuffer(list, param, 8, &buffer), 107000);
    EXPECT(aclrtKernelArgsGetPlaceHolderBuffer(list, param, 0, &buffer), 100000);
}

RULE_MOCK(kernel, an_update_keeps_the_size, "guide: aclrtKernelArgsParaUpdate") {
    up();
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle param = NULL, place = NULL;
    OK(aclrtKernelArgsAppend(list, &value, 8, &param));
    OK(aclrtKernelArgsAppendPlaceHolder(list, &place));
    EXPECT(aclrtKernelArgsParaUpdate(list, param, &value, 8), 0);
    EXPECT(aclrtKernelArgsParaUpdate(list, param, &value, 4), 107000);
    EXPECT(aclrtKernelArgsParaUpdate(list, place, &value, 8), 107000);
}

RULE_MOCK(kernel, a_launch_needs_a_finished_list, "guide: aclrtKernelArgsFinalize") {
    up();
    aclrtArgsHandle list = list_of("poke");
    aclrtParamHandle param = NULL;
    void *memory = device(64);
    aclrtStream stream = new_stream();
    OK(aclrtKernelArgsAppend(list, &memory, 8, &param));
    EXPECT(aclrtLaunchKernelWithConfig(function("poke"), 1, stream, NULL, list, NULL), 107000);
    OK(aclrtKernelArgsFinalize(list));
    EXPECT(aclrtLaunchKernelWithConfig(function("poke"), 1, stream, NULL, list, NULL), 0);
    OK(aclrtKernelArgsParaUpdate(list, param, &memory, 8));
    EXPECT(aclrtLaunchKernelWithConfig(function("poke"), 1, stream, NULL, list, NULL), 107000);
    OK(aclrtKernelArgsFinalize(list));
    EXPECT(aclrtLaunchKernelWithConfig(function("poke"), 1, stream, NULL, list, NULL), 0);
    finish(stream);
    TRUE(byte_at(memory) == 7);
}

RULE_MOCK(kernel, an_empty_list_is_not_launched, "implementation: CheckNonArgsHandle") {
    up();
    aclrtArgsHandle list = list_of("count");
    OK(aclrtKernelArgsFinalize(list));
    EXPECT(aclrtLaunchKernelWithConfig(function("count"), 1, NULL, NULL, list, NULL), 107000);
}

RULE_MOCK(kernel, a_list_serves_many_launches, "guide: aclrtKernelArgsFinalize") {
    up();
    unsigned char *memory = (unsigned char *)device(64);
    void *first = memory, *second = memory + 1;
    aclrtStream stream = new_stream();
    aclrtArgsHandle list = list_of("poke");
    aclrtParamHandle param = NULL;
    fill(memory, 1, 64);
    OK(aclrtKernelArgsAppend(list, &first, 8, &param));
    OK(aclrtKernelArgsFinalize(list));
    aclrtEvent latch = hold(stream);
    OK(aclrtLaunchKernelWithConfig(function("poke"), 1, stream, NULL, list, NULL));
    OK(aclrtKernelArgsParaUpdate(list, param, &second, 8)); /* the launch has its own copy */
    OK(aclrtKernelArgsFinalize(list));
    OK(aclrtLaunchKernelWithConfig(function("poke"), 1, stream, NULL, list, NULL));
    let_go(latch);
    finish(stream);
    TRUE(byte_at(memory) == 7 && byte_at(memory + 1) == 7 && byte_at(memory + 2) == 1);
}

RULE_MOCK(kernel, a_thread_has_one_list, "implementation: KernelArgsInit") {
    up();
    aclrtArgsHandle one = list_of("add"), two = list_of("poke");
    TRUE(one == two);
}

RULE_MOCK(kernel, a_list_goes_with_its_binary, "guide: aclrtKernelArgsInit") {
    up();
    aclrtFuncHandle add = function("add");
    aclrtArgsHandle list = list_of("add");
    aclrtParamHandle param = NULL;
    char place[4096], memory[4096];
    OK(aclrtKernelArgsInitByUserMem(add, place, memory, sizeof memory));
    OK(aclrtBinaryUnLoad(binary));
    EXPECT(aclrtKernelArgsAppend(list, &value, 8, &param), 107017);
    EXPECT(aclrtKernelArgsAppend(place, &value, 8, &param), 107017);
    EXPECT(aclrtKernelArgsFinalize(list), 107017);
    EXPECT(aclrtLaunchKernelWithConfig(add, 1, NULL, NULL, list, NULL), 107017);
}

RULE_ENV(kernel, each_call_makes_a_list, "guide: aclrtKernelArgsInit", "MOCK_ACL_STRICT=doc") {
    up();
    aclrtArgsHandle one = list_of("add"), two = list_of("poke");
    TRUE(one != two);
    aclrtParamHandle param = NULL;
    OK(aclrtKernelArgsAppend(one, &value, 8, &param));
    OK(aclrtKernelArgsAppend(two, &value, 8, &param));
    EXPECT(aclrtKernelArgsFinalize(one), 0);
}

RULE_MOCK(kernel, a_list_in_memory_of_the_program, "guide: aclrtKernelArgsInitByUserMem") {
    up();
    aclrtFuncHandle poke = function("poke");
    size_t handle_size = 0, size = 0;
    OK(aclrtKernelArgsGetHandleMemSize(poke, &handle_size));
    OK(aclrtKernelArgsGetMemSize(poke, 8, &size));
    TRUE(handle_size > 0 && size >= 8);
    void *list = malloc(handle_size), *memory = malloc(size), *target = device(64);
    aclrtParamHandle param = NULL;
    aclrtStream stream = new_stream();
    EXPECT(aclrtKernelArgsInitByUserMem(poke, list, memory, 0), 100000);
    OK(aclrtKernelArgsInitByUserMem(poke, list, memory, size));
    OK(aclrtKernelArgsAppend(list, &target, 8, &param));
    EXPECT(aclrtKernelArgsAppend(list, &target, 8, &param), 107000); /* more than the kernel has */
    OK(aclrtKernelArgsFinalize(list));
    EXPECT(aclrtLaunchKernelWithConfig(poke, 1, stream, NULL, list, NULL), 0);
    finish(stream);
    TRUE(byte_at(target) == 7);
    free(list);
    free(memory);
}

RULE_MOCK(kernel, too_little_memory_for_the_list, "implementation: KernelArgsAppend") {
    up();
    aclrtFuncHandle add = function("add");
    uint64_t memory[2];
    char list[8192];
    aclrtParamHandle param = NULL;
    OK(aclrtKernelArgsInitByUserMem(add, list, memory, sizeof memory));
    OK(aclrtKernelArgsAppend(list, &value, 8, &param));
    OK(aclrtKernelArgsAppend(list, &value, 8, &param));
    EXPECT(aclrtKernelArgsAppend(list, &value, 1, &param), 107000);
}
