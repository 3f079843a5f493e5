/* Part of racl (mock-acl). Own kernels: binaries and functions. */
#include "../kernels/binaries/kernels.h"
#include "conform.h"

static aclrtBinHandle load(void) {
    aclrtBinHandle binary = NULL;
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary));
    return binary;
}

static aclrtFuncHandle function(aclrtBinHandle binary, const char *name) {
    aclrtFuncHandle handle = NULL;
    OK(aclrtBinaryGetFunction(binary, name, &handle));
    return handle;
}

static aclError load_with(aclrtBinaryLoadOptionType type, uint32_t value) {
    aclrtBinaryLoadOption option;
    aclrtBinaryLoadOptions options = {&option, 1};
    aclrtBinHandle binary = NULL;
    memset(&option, 0, sizeof option);
    option.type = type;
    option.value.rsv[0] = value;
    return aclrtBinaryLoadFromFile(beside(KERNELS), &options, &binary);
}

/* ---- every library ---- */

RULE(kernel, a_description_needs_data, "implementation: aclrtCreateBinary") {
    up();
    TRUE(aclrtCreateBinary(NULL, 8) == NULL);
}

RULE(kernel, destroying_no_description, "implementation: aclrtDestroyBinary") {
    up();
    EXPECT(aclrtDestroyBinary(NULL), 100000);
}

RULE(kernel, a_description_keeps_only_the_address, "guide: aclrtCreateBinary") {
    up();
    char byte = 1;
    aclrtBinary text = aclrtCreateBinary(&byte, 1);
    NEED(text != NULL);
    EXPECT(aclrtDestroyBinary(text), 0);
}

RULE(kernel, loading_nothing, "implementation: aclrtBinaryLoad") {
    up();
    aclrtBinHandle binary = NULL;
    char byte = 1;
    aclrtBinary text = aclrtCreateBinary(&byte, 1);
    EXPECT(aclrtBinaryLoad(NULL, &binary), 100000);
    EXPECT(aclrtBinaryLoad(text, NULL), 100000);
    EXPECT(aclrtBinaryLoadFromFile(NULL, NULL, &binary), 100000);
    EXPECT(aclrtBinaryLoadFromFile("/tmp", NULL, NULL), 100000);
    EXPECT(aclrtBinaryLoadFromData(NULL, 8, NULL, &binary), 100000);
    EXPECT(aclrtBinaryLoadFromData(&byte, 1, NULL, NULL), 100000);
    OK(aclrtDestroyBinary(text));
}

RULE(kernel, a_file_that_does_not_exist, "implementation: BinaryLoader, ReadBinaryFile") {
    up();
    aclrtBinHandle binary = NULL;
    EXPECT(aclrtBinaryLoadFromFile("/no/such/kernel.o", NULL, &binary), 107000);
}

RULE(kernel, data_without_bytes, "implementation: ApiErrorDecorator, BinaryLoadFromData") {
    up();
    aclrtBinHandle binary = NULL;
    EXPECT(aclrtBinaryLoadFromData("x", 0, NULL, &binary), 107000);
}

RULE(kernel, a_text_is_no_binary, "implementation: BinaryLoader, LoadNonCpu") {
    up();
    aclrtBinHandle binary = NULL;
    char text[256];
    memset(text, 'x', sizeof text);
    EXPECT(aclrtBinaryLoadFromData(text, sizeof text, NULL, &binary), 107000);
}

RULE(kernel, options_without_an_array, "implementation: BinaryLoader, ParseLoadOptions") {
    up();
    aclrtBinaryLoadOptions none = {NULL, 0};
    aclrtBinHandle binary = NULL;
    EXPECT(aclrtBinaryLoadFromFile("/no/such/kernel.o", &none, &binary), 107000);
}

RULE(kernel, unloading_nothing, "implementation: aclrtBinaryUnLoad") {
    up();
    EXPECT(aclrtBinaryUnLoad(NULL), 100000);
}

RULE(kernel, asking_nothing_for_functions, "implementation: aclrtBinaryGetFunction and its neighbours") {
    up();
    aclrtFuncHandle handle = NULL;
    void *address = NULL;
    size_t size = 0;
    EXPECT(aclrtBinaryGetFunction(NULL, "add", &handle), 100000);
    EXPECT(aclrtBinaryGetFunctionByEntry(NULL, 1, &handle), 100000);
    EXPECT(aclrtBinaryGetGlobal(NULL, "x", &address, &size), 100000);
    EXPECT(aclrtBinaryGetDevAddress(NULL, &address, &size), 100000);
    EXPECT(aclrtRegisterCpuFunc(NULL, "a", "b", &handle), 100000);
    EXPECT(aclrtGetFuncBySymbol(NULL, &handle), 100000);
}

RULE(kernel, asking_no_function, "implementation: aclrtGetFunctionName and its neighbours") {
    up();
    char name[8];
    int64_t value = 0;
    size_t size = 0;
    aclrtBinHandle binary = NULL;
    EXPECT(aclrtGetFunctionName(NULL, 8, NULL), 100000);
    EXPECT(aclrtGetFunctionName(NULL, 8, name), 107000);
    EXPECT(aclrtGetFunctionAttribute(NULL, ACL_FUNC_ATTR_KERNEL_TYPE, &value), 100000);
    EXPECT(aclrtGetFunctionSize(NULL, &size, &size), 107000);
    EXPECT(aclrtFunctionGetBinary(NULL, &binary), 107000);
    EXPECT(aclrtFunctionGetParamCount(NULL, &size), 100000);
}

RULE(kernel, a_symbol_that_nobody_registered, "header: ACL_ERROR_RT_INVALID_SYMBOL") {
    up();
    static int here;
    aclrtFuncHandle handle = NULL;
    void *address = NULL;
    size_t size = 0;
    EXPECT(aclrtGetFuncBySymbol(&here, &handle), 107044);
    EXPECT(aclrtGetSymbolAddress(&here, &address), 107043);
    EXPECT(aclrtGetSymbolSize(&here, &size), 107043);
}

/* ---- with kernels of the mock ---- */

RULE_MOCK(kernel, loading_needs_a_context, "guide: aclrtBinaryLoadFromFile") {
    OK(aclInit(NULL));
    aclrtBinHandle binary = NULL;
    EXPECT(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary), 107002);
}

RULE_MOCK(kernel, loaded_twice_is_two_binaries, "guide: aclrtBinaryLoadFromFile") {
    up();
    aclrtBinHandle one = load(), two = load();
    TRUE(one != two && function(one, "add") != function(two, "add"));
    OK(aclrtBinaryUnLoad(one));
    function(two, "scale");
    OK(aclrtBinaryUnLoad(two));
}

RULE_MOCK(kernel, a_name_gives_one_handle, "guide: aclrtBinaryGetFunction") {
    up();
    aclrtBinHandle binary = load();
    TRUE(function(binary, "add") == function(binary, "add"));
    aclrtFuncHandle handle = NULL;
    OK(aclrtBinaryGetFunctionByEntry(binary, 11, &handle));
    TRUE(handle == function(binary, "add"));
}

RULE_MOCK(kernel, an_unknown_name_or_entry, "implementation: ApiImpl, BinaryGetFunctionByName and ByEntry") {
    up();
    aclrtBinHandle binary = load();
    aclrtFuncHandle handle = NULL;
    EXPECT(aclrtBinaryGetFunction(binary, "nothing", &handle), 107000);
    EXPECT(aclrtBinaryGetFunctionByEntry(binary, 12345, &handle), 107000);
    EXPECT(aclrtBinaryGetFunction(binary, NULL, &handle), 100000);
    EXPECT(aclrtBinaryGetFunction(binary, "add", NULL), 100000);
}

RULE_MOCK(kernel, handles_end_with_the_binary, "guide: aclrtBinaryUnLoad; implementation: handle guard") {
    up();
    aclrtBinHandle binary = load();
    aclrtFuncHandle handle = function(binary, "add");
    aclrtBinHandle of = NULL;
    size_t count = 0;
    OK(aclrtBinaryUnLoad(binary));
    EXPECT(aclrtBinaryUnLoad(binary), 107017);
    EXPECT(aclrtFunctionGetBinary(handle, &of), 107017);
    EXPECT(aclrtFunctionGetParamCount(handle, &count), 107017);
    EXPECT(aclrtBinaryGetFunction(binary, "add", &handle), 107017);
}

RULE_MOCK(kernel, handles_of_another_kind, "implementation: handle guard") {
    up();
    aclrtBinHandle binary = load();
    aclrtFuncHandle handle = function(binary, "add"), out = NULL;
    char name[16];
    EXPECT(aclrtBinaryGetFunction(handle, "add", &out), 107017);
    EXPECT(aclrtGetFunctionName(binary, 16, name), 107017);
    EXPECT(aclrtBinaryUnLoad(handle), 107017);
    EXPECT(aclrtDestroyBinary(binary), 107017);
}

RULE_MOCK(kernel, lazy_loading_is_0_or_1, "implementation: BinaryLoader, ParseLoadOptions") {
    up();
    EXPECT(load_with(ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, 0), 0);
    EXPECT(load_with(ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, 1), 0);
    EXPECT(load_with(ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, 2), 107000);
}

RULE_MOCK(kernel, a_file_takes_no_magic, "implementation: BinaryLoader, ParseLoadOptions") {
    up();
    EXPECT(load_with(ACL_RT_BINARY_LOAD_OPT_MAGIC, ACL_RT_BINARY_MAGIC_ELF_AICORE), 107000);
}

RULE_MOCK(kernel, an_unknown_option, "implementation: BinaryLoader, ParseLoadOptions") {
    up();
    EXPECT(load_with((aclrtBinaryLoadOptionType)4, 0), 107000);
}

RULE_MOCK(kernel, aicpu_modes_by_source, "implementation: BinaryLoader, SetCpuBinInfo") {
    up();
    EXPECT(load_with(ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, 1), 0);
    EXPECT(load_with(ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, 2), 107000);
}

RULE_MOCK(kernel, only_aicpu_binaries_register_functions, "guide: aclrtRegisterCpuFunc") {
    up();
    aclrtFuncHandle handle = NULL;
    EXPECT(aclrtRegisterCpuFunc(load(), "cpu_poke", "Poke", &handle), 107000);
}

RULE_MOCK(kernel, the_name_has_to_fit, "implementation: FuncGetName") {
    up();
    aclrtFuncHandle handle = function(load(), "add");
    char name[8];
    EXPECT(aclrtGetFunctionName(handle, 3, name), 107000);
    EXPECT(aclrtGetFunctionName(handle, 4, name), 0);
    TRUE(strcmp(name, "add") == 0);
}

RULE_MOCK(kernel, attributes_of_functions, "header: aclrtFuncAttribute, aclrtKernelType") {
    up();
    aclrtBinHandle binary = load();
    int64_t value = -1;
    EXPECT(aclrtGetFunctionAttribute(function(binary, "matrix"), ACL_FUNC_ATTR_KERNEL_TYPE, &value), 0);
    TRUE(value == ACL_KERNEL_TYPE_CUBE);
    EXPECT(aclrtGetFunctionAttribute(function(binary, "add"), ACL_FUNC_ATTR_KERNEL_TYPE, &value), 0);
    TRUE(value == ACL_KERNEL_TYPE_VECTOR);
    EXPECT(aclrtGetFunctionAttribute(function(binary, "add"), ACL_FUNC_ATTR_KERNEL_SCHED_MODE, &value), 0);
    TRUE(value == 0);
    EXPECT(aclrtGetFunctionAttribute(function(binary, "add"), (aclrtFuncAttribute)0, &value), 107000);
    EXPECT(aclrtGetFunctionAttribute(function(binary, "add"), (aclrtFuncAttribute)4, &value), 107000);
}

RULE_MOCK(kernel, the_ratio_has_vector_cores_in_the_lower_half, "implementation: FunctionGetAttribute") {
    up();
    int64_t value = -1;
    EXPECT(aclrtGetFunctionAttribute(function(load(), "report"), ACL_FUNC_ATTR_KERNEL_RATIO, &value), 0);
    TRUE(value == ((1 << 16) | 2));
}

RULE_MOCK(kernel, a_vector_kernel_has_no_cube_address, "implementation: FuncGetAddr, FuncGetSize") {
    up();
    aclrtFuncHandle handle = function(load(), "add");
    void *cube = &handle, *vector = NULL;
    size_t cube_size = 1, vector_size = 0;
    EXPECT(aclrtGetFunctionAddr(handle, &cube, &vector), 0);
    EXPECT(aclrtGetFunctionSize(handle, &cube_size, &vector_size), 0);
    TRUE(cube == NULL && vector != NULL && cube_size == 0 && vector_size != 0);
    EXPECT(aclrtGetFunctionAddr(handle, NULL, &vector), 100000);
}

RULE_MOCK(kernel, parameters_start_at_multiples_of_8, "guide: kernel launch, arguments") {
    up();
    aclrtBinHandle binary = load();
    aclrtFuncHandle handle = function(binary, "scale_described");
    size_t count = 0, offset = 0, size = 0;
    EXPECT(aclrtFunctionGetParamCount(handle, &count), 0);
    TRUE(count == 3);
    EXPECT(aclrtFunctionGetParamInfo(handle, 1, &offset, &size), 0);
    TRUE(offset == 8 && size == 4);
    EXPECT(aclrtFunctionGetParamInfo(handle, 2, &offset, NULL), 0);
    TRUE(offset == 16);
    EXPECT(aclrtFunctionGetParamInfo(handle, 3, &offset, &size), 107000);
    EXPECT(aclrtFunctionGetParamInfo(handle, 0, NULL, NULL), 100000);
}

RULE_MOCK(kernel, parameters_that_are_not_described, "implementation: FunctionGetParamCount") {
    up();
    size_t count = 0;
    EXPECT(aclrtFunctionGetParamCount(function(load(), "scale"), &count), 107000);
}

RULE_MOCK(kernel, dynamic_memory_is_for_simt_only, "implementation: FunctionGetAvailDynUbufPerBlock") {
    up();
    aclrtFuncHandle handle = function(load(), "add");
    size_t size = 1;
    EXPECT(aclrtFunctionGetAvailDynUbufPerBlock(handle, 0, &size), 0);
    TRUE(size == 0);
    EXPECT(aclrtFunctionGetAvailDynUbufPerBlock(handle, 1, &size), 100000);
}

RULE_MOCK(kernel, the_image_lies_in_device_memory, "guide: aclrtBinaryGetDevAddress") {
    up();
    void *address = NULL;
    size_t size = 0;
    OK(aclrtBinaryGetDevAddress(load(), &address, &size));
    TRUE(size > 4 && byte_at(address) == 0x7F);
}

RULE_MOCK(kernel, a_function_knows_its_binary, "guide: aclrtFunctionGetBinary") {
    up();
    aclrtBinHandle binary = load(), of = NULL;
    EXPECT(aclrtFunctionGetBinary(function(binary, "add"), &of), 0);
    TRUE(of == binary);
}

RULE_MOCK(kernel, variables_by_name, "guide: aclrtBinaryGetGlobal; header: ACL_ERROR_RT_SYMBOL_NOT_FOUND") {
    up();
    aclrtBinHandle binary = load();
    void *address = NULL;
    size_t size = 0;
    EXPECT(aclrtBinaryGetGlobal(binary, "counter", &address, &size), 0);
    TRUE(size == 4 && byte_at(address) == 40);
    EXPECT(aclrtBinaryGetGlobal(binary, "counter", NULL, &size), 0);
    EXPECT(aclrtBinaryGetGlobal(binary, "counter", &address, NULL), 0);
    EXPECT(aclrtBinaryGetGlobal(binary, "counter", NULL, NULL), 100000);
    EXPECT(aclrtBinaryGetGlobal(binary, "nothing", &address, &size), 107042);
}
