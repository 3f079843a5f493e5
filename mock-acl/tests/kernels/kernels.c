/* Part of racl (mock-acl). Own kernels: loading, functions, arguments, launches. */
#include "kernels/binaries/kernels.h"
#include "check.h"

static aclrtBinHandle load(void) {
    aclrtBinHandle b = NULL;
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &b));
    return b;
}

static aclrtFuncHandle function(aclrtBinHandle b, const char *name) {
    aclrtFuncHandle f = NULL;
    OK(aclrtBinaryGetFunction(b, name, &f));
    return f;
}

static void text_has(const char *part) {
    const char *text = aclGetRecentErrMsg();
    if (text == NULL || strstr(text, part) == NULL)
        fprintf(stderr, "text: %s\n", text == NULL ? "none" : text);
    CHECK(text != NULL && strstr(text, part) != NULL);
}

/* ---- loading ---- */

static unsigned char *whole_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    CHECK(fseek(f, 0, SEEK_END) == 0);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *data = malloc(*size);
    CHECK(data != NULL && fread(data, 1, *size, f) == *size);
    fclose(f);
    return data;
}

static void loads_in_three_ways(void) {
    up();
    size_t size = 0;
    unsigned char *data = whole_file(beside(KERNELS), &size);
    aclrtBinHandle a = load(), b = NULL, c = NULL;
    OK(aclrtBinaryLoadFromData(data, size, NULL, &b));
    aclrtBinary text = aclrtCreateBinary(data, size);
    CHECK(text != NULL);
    OK(aclrtBinaryLoad(text, &c));
    OK(aclrtDestroyBinary(text));
    CODE(aclrtDestroyBinary(text), 107017);
    memset(data, 0, size); /* nothing of it is used any more */
    free(data);
    CHECK(live().binaries == 3);
    CHECK(function(a, "add") != function(b, "add") && function(b, "add") != function(c, "add"));
    CHECK(function(a, "add") == function(a, "add"));
    aclrtFuncHandle f = function(c, "add");
    OK(aclrtBinaryUnLoad(a));
    OK(aclrtBinaryUnLoad(b));
    OK(aclrtBinaryUnLoad(c));
    CODE(aclrtBinaryUnLoad(c), 107017);
    char name[8];
    CODE(aclrtGetFunctionName(f, sizeof name, name), 107017);
    CHECK(live().binaries == 0 && live().device_allocations == 0);
}

static void refuse(const void *data, size_t size, const char *why) {
    aclrtBinHandle b = NULL;
    CODE(aclrtBinaryLoadFromData(data, size, NULL, &b), 107000);
    text_has(why);
    CHECK(b == NULL);
}

static void refuses_what_is_no_kernel(void) {
    up();
    size_t size = 0, other = 0;
    unsigned char *data = whole_file(beside(KERNELS), &size);
    refuse("hello", 5, "no ELF file");
    refuse(data, 40, "no ELF file");
    for (size_t cut = 64; cut < size; cut += 1009) {
        aclrtBinHandle b = NULL;
        if (aclrtBinaryLoadFromData(data, cut, NULL, &b) == 0) OK(aclrtBinaryUnLoad(b));
    }
    refuse(data, size / 4, "missing");
    data[18] = 0x29; /* e_machine of the code of a card */
    data[19] = 0x10;
    refuse(data, size, "such as the code of a card");
    free(data);
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(n > 0);
    self[n] = '\0';
    aclrtBinHandle b = NULL;
    CODE(aclrtBinaryLoadFromFile("/nowhere/at/all.o", NULL, &b), 107000);
    text_has("EE1012");
    CODE(aclrtBinaryLoadFromFile("/", NULL, &b), 107000);
    CODE(aclrtBinaryLoadFromFile(beside(KERNELS_OF_ANOTHER_VERSION), NULL, &b), 107000);
    text_has("another version");
    unsigned char *old = whole_file(beside(KERNELS_OF_ANOTHER_VERSION), &other);
    for (size_t i = 0; i + 16 < other; i++)
        if (memcmp(old + i, "mock_acl_kernels", 16) == 0) old[i] = 'M';
    refuse(old, other, "without the table");
    free(old);
    CODE(aclrtBinaryLoadFromData(self, 0, NULL, &b), 107000);
    CHECK(live().binaries == 0);
}

static void options(void) {
    up();
    aclrtBinaryLoadOption o = {ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, {.isLazyLoad = 1}};
    aclrtBinaryLoadOptions all = {&o, 1}, none = {NULL, 0};
    aclrtBinHandle b = NULL;
    const uint64_t before = live().device_allocations;
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), &all, &b));
    CHECK(live().device_allocations == before); /* not before it is used */
    function(b, "add");
    CHECK(live().device_allocations == before + 1);
    OK(aclrtBinaryUnLoad(b));
    CODE(aclrtBinaryLoadFromFile(beside(KERNELS), &none, &b), 107000);
    o.value.isLazyLoad = 2;
    CODE(aclrtBinaryLoadFromFile(beside(KERNELS), &all, &b), 107000);
    o.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    o.value.magic = ACL_RT_BINARY_MAGIC_ELF_AICORE;
    CODE(aclrtBinaryLoadFromFile(beside(KERNELS), &all, &b), 107000); /* of data only */
    size_t size = 0;
    unsigned char *data = whole_file(beside(KERNELS), &size);
    OK(aclrtBinaryLoadFromData(data, size, &all, &b));
    OK(aclrtBinaryUnLoad(b));
    o.value.magic = 1;
    CODE(aclrtBinaryLoadFromData(data, size, &all, &b), 107000);
    o.type = (aclrtBinaryLoadOptionType)9;
    CODE(aclrtBinaryLoadFromData(data, size, &all, &b), 107000);
    free(data);
}

/* ---- what is known of functions ---- */

static void functions(void) {
    up();
    aclrtBinHandle b = load(), of = NULL;
    aclrtFuncHandle add = function(b, "add"), by_entry = NULL, mix = function(b, "report");
    OK(aclrtBinaryGetFunctionByEntry(b, 11, &by_entry));
    CHECK(by_entry == add);
    CODE(aclrtBinaryGetFunctionByEntry(b, 99, &by_entry), 107000);
    CODE(aclrtBinaryGetFunction(b, "nothing", &by_entry), 107000);
    char name[16];
    OK(aclrtGetFunctionName(add, 4, name));
    CHECK(strcmp(name, "add") == 0);
    CODE(aclrtGetFunctionName(add, 3, name), 107000);
    OK(aclrtFunctionGetBinary(add, &of));
    CHECK(of == b);
    int64_t v = 0;
    OK(aclrtGetFunctionAttribute(add, ACL_FUNC_ATTR_KERNEL_TYPE, &v));
    CHECK(v == ACL_KERNEL_TYPE_VECTOR);
    OK(aclrtGetFunctionAttribute(mix, ACL_FUNC_ATTR_KERNEL_RATIO, &v));
    CHECK(v == ((1 << 16) | 2));
    OK(aclrtGetFunctionAttribute(function(b, "report_1_1"), ACL_FUNC_ATTR_KERNEL_SCHED_MODE, &v));
    CHECK(v == 1);
    CODE(aclrtGetFunctionAttribute(add, (aclrtFuncAttribute)4, &v), 107000);
    void *cube = &v, *vector = NULL;
    size_t cube_size = 1, vector_size = 0;
    OK(aclrtGetFunctionAddr(add, &cube, &vector));
    OK(aclrtGetFunctionSize(add, &cube_size, &vector_size));
    CHECK(cube == NULL && vector != NULL && cube_size == 0 && vector_size != 0);
    OK(aclrtGetFunctionAddr(mix, &cube, &vector));
    CHECK(cube != NULL && vector != NULL);
    size_t count = 0, offset = 0, size = 0;
    OK(aclrtFunctionGetParamCount(add, &count));
    CHECK(count == 4);
    OK(aclrtFunctionGetParamInfo(function(b, "scale_described"), 2, &offset, &size));
    CHECK(offset == 16 && size == 4);
    CODE(aclrtFunctionGetParamInfo(add, 4, &offset, NULL), 107000);
    CODE(aclrtFunctionGetParamCount(function(b, "scale"), &count), 107000);
    OK(aclrtFunctionGetAvailDynUbufPerBlock(add, 0, &size));
    CHECK(size == 0);
    OK(aclrtBinaryUnLoad(b));
}

static void variables(void) {
    up();
    aclrtBinHandle b = load(), c = load();
    aclrtStream s = new_stream();
    void *address = NULL, *other = NULL;
    size_t size = 0;
    OK(aclrtBinaryGetGlobal(b, "counter", &address, &size));
    OK(aclrtBinaryGetGlobal(c, "counter", &other, NULL));
    CHECK(size == 4 && address != other);
    OK(aclrtLaunchKernelWithArgsArray(function(b, "count"), 2, s, NULL, NULL));
    OK(aclrtSynchronizeStream(s));
    int32_t n = 0, m = 0;
    read_back(&n, address, sizeof n);
    read_back(&m, other, sizeof m);
    CHECK(n == 42 && m == 40); /* each load has its own */
    OK(aclrtBinaryGetGlobal(b, "table", NULL, &size));
    CHECK(size == 1000);
    CODE(aclrtBinaryGetGlobal(b, "nothing", &address, NULL), 107042);
    CODE(aclrtBinaryGetGlobal(b, "table", NULL, NULL), 100000);
    OK(aclrtBinaryGetDevAddress(b, &address, &size));
    unsigned char magic[4];
    read_back(magic, address, 4);
    CHECK(memcmp(magic, "\177ELF", 4) == 0);
    /* symbols of the host */
    static char host_counter, host_count;
    aclrtFuncHandle f = NULL;
    CHECK(mock_acl_register_symbol(b, &host_counter, "counter") == 0);
    CHECK(mock_acl_register_symbol(b, &host_counter, "table") == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_register_symbol(b, &host_count, "count") == 0);
    CHECK(mock_acl_register_symbol(b, &b, "nothing") == MOCK_ACL_BAD_ARGUMENT);
    OK(aclrtGetFuncBySymbol(&host_count, &f));
    CHECK(f == function(b, "count"));
    CODE(aclrtGetFuncBySymbol(&host_counter, &f), 107044);
    OK(aclrtGetSymbolSize(&host_counter, &size));
    OK(aclrtGetSymbolAddress(&host_counter, &other));
    CHECK(size == 4);
    CODE(aclrtGetSymbolAddress(&host_count, &other), 107043);
    OK(aclrtLaunchKernelWithArgsArray(&host_count, 1, s, NULL, NULL));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtMemcpyFromSymbol(&n, sizeof n, &host_counter, sizeof n, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(n == 43);
    n = 7;
    OK(aclrtMemcpyToSymbol(&host_counter, &n, sizeof n, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    CODE(aclrtMemcpyToSymbol(&host_counter, &n, sizeof n, 1, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
    OK(aclrtMemcpyFromSymbolAsync(&m, sizeof m, &host_counter, sizeof m, 0, ACL_MEMCPY_DEVICE_TO_HOST, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(m == 7);
    OK(aclrtBinaryUnLoad(b));
    CODE(aclrtGetSymbolSize(&host_counter, &size), 107043);
    OK(aclrtBinaryUnLoad(c));
}

/* ---- launches ---- */

static float *floats(const float *values, size_t count) {
    float *p = device(count * sizeof *p);
    OK(aclrtMemcpy(p, count * sizeof *p, values, count * sizeof *p, ACL_MEMCPY_HOST_TO_DEVICE));
    return p;
}

static void same(const float *device_memory, const float *values, size_t count) {
    float got[64];
    CHECK(count <= 64);
    read_back(got, device_memory, count * sizeof *got);
    CHECK(memcmp(got, values, count * sizeof *got) == 0);
}

typedef struct add_args {
    float *a, *b, *out;
    uint64_t count;
} add_args;

static void launches_in_five_ways(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    aclrtFuncHandle add = function(b, "add");
    const float x[] = {1, 2, 3, 4, 5}, y[] = {10, 20, 30, 40, 50}, sum[] = {11, 22, 33, 44, 55};
    add_args a = {floats(x, 5), floats(y, 5), NULL, 5};
    float *out[5];
    for (int i = 0; i < 5; i++) out[i] = device(sizeof x);
    /* arguments in device memory are read when the kernel runs */
    add_args *on_device = device(sizeof a);
    a.out = out[0];
    OK(aclrtMemcpy(on_device, sizeof a, &a, sizeof a, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtLaunchKernel(add, 1, on_device, sizeof a, s));
    OK(aclrtSynchronizeStream(s));
    a.out = out[1];
    OK(mock_acl_hold_stream(s));
    OK(aclrtLaunchKernelV2(add, 2, on_device, sizeof a, NULL, s));
    OK(aclrtMemcpy(on_device, sizeof a, &a, sizeof a, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(mock_acl_release_stream(s));
    /* others are copied by the call */
    a.out = out[2];
    OK(aclrtLaunchKernelWithHostArgs(add, 3, s, NULL, &a, sizeof a, NULL, 0));
    aclrtArgsHandle list = NULL;
    aclrtParamHandle p[4];
    a.out = out[3];
    OK(aclrtKernelArgsInit(add, &list));
    OK(aclrtKernelArgsAppend(list, &a.a, 8, &p[0]));
    OK(aclrtKernelArgsAppend(list, &a.b, 8, &p[1]));
    OK(aclrtKernelArgsAppend(list, &a.out, 8, &p[2]));
    OK(aclrtKernelArgsAppend(list, &a.count, 8, &p[3]));
    CODE(aclrtLaunchKernelWithConfig(add, 8, s, NULL, list, NULL), 107000); /* not finished */
    OK(aclrtKernelArgsFinalize(list));
    OK(aclrtLaunchKernelWithConfig(add, 8, s, NULL, list, NULL));
    a.out = out[4];
    void *args[] = {&a.a, &a.b, &a.out, &a.count};
    OK(aclrtLaunchKernelWithArgsArray(add, 65535, s, NULL, args));
    memset(&a, 0xFF, sizeof a);
    OK(aclrtSynchronizeStream(s));
    for (int i = 0; i < 5; i++) same(out[i], sum, 5);
    OK(aclrtBinaryUnLoad(b));
}

static void placeholders(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    aclrtFuncHandle matrix = function(b, "matrix");
    const float x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 0, 0, 1, 1, 1}, product[] = {4, 5, 10, 11};
    float *a = floats(x, 6), *c = floats(y, 6), *out[2] = {device(16), device(16)};
    const uint32_t shape[] = {2, 3, 2};
    struct {
        float *a, *b, *out;
        void *shape;
        uint32_t data[3];
    } block = {a, c, out[0], NULL, {2, 3, 2}};
    aclrtPlaceHolderInfo place = {24, 32};
    OK(aclrtLaunchKernelWithHostArgs(matrix, 2, s, NULL, &block, sizeof block, &place, 1));
    aclrtArgsHandle list = NULL;
    aclrtParamHandle p[4];
    void *data = NULL;
    OK(aclrtKernelArgsInit(matrix, &list));
    OK(aclrtKernelArgsAppend(list, &a, 8, &p[0]));
    OK(aclrtKernelArgsAppend(list, &c, 8, &p[1]));
    OK(aclrtKernelArgsAppend(list, &out[1], 8, &p[2]));
    OK(aclrtKernelArgsAppendPlaceHolder(list, &p[3]));
    OK(aclrtKernelArgsGetPlaceHolderBuffer(list, p[3], sizeof shape, &data));
    memcpy(data, shape, sizeof shape);
    OK(aclrtKernelArgsFinalize(list));
    OK(aclrtLaunchKernelWithConfig(matrix, 1, s, NULL, list, NULL));
    memset(data, 0, sizeof shape);
    OK(aclrtSynchronizeStream(s));
    same(out[0], product, 4);
    same(out[1], product, 4);
    place.addrOffset = 41; /* no room for an address */
    CODE(aclrtLaunchKernelWithHostArgs(matrix, 1, s, NULL, &block, sizeof block, &place, 1), 107000);
    place = (aclrtPlaceHolderInfo){24, sizeof block};
    CODE(aclrtLaunchKernelWithHostArgs(matrix, 1, s, NULL, &block, sizeof block, &place, 1), 107000);
    CODE(aclrtLaunchKernelWithHostArgs(matrix, 1, s, NULL, &block, sizeof block, NULL, 1), 107000);
    OK(aclrtBinaryUnLoad(b));
}

static void argument_lists(void) {
    up();
    aclrtBinHandle b = load();
    aclrtFuncHandle add = function(b, "add"), one = function(b, "poke");
    aclrtArgsHandle list = NULL, again = NULL;
    aclrtParamHandle p = NULL, q = NULL;
    uint64_t value = 3;
    void *data = NULL;
    OK(aclrtKernelArgsInit(add, &list));
    OK(aclrtKernelArgsAppend(list, &value, 8, &p));
    OK(aclrtKernelArgsAppendPlaceHolder(list, &q));
    CODE(aclrtKernelArgsGetPlaceHolderBuffer(list, p, 8, &data), 107000);
    CODE(aclrtKernelArgsParaUpdate(list, q, &value, 8), 107000);
    CODE(aclrtKernelArgsParaUpdate(list, p, &value, 4), 107000);
    CODE(aclrtKernelArgsParaUpdate(list, &value, &value, 8), 107017);
    OK(aclrtKernelArgsGetPlaceHolderBuffer(list, q, 24, &data));
    CODE(aclrtKernelArgsAppend(list, &value, 8, &p), 207000);
    CODE(aclrtKernelArgsAppendPlaceHolder(list, &p), 207000);
    OK(aclrtKernelArgsFinalize(list));
    CODE(aclrtKernelArgsAppend(list, &value, 8, &p), 207000);
    CODE(aclrtKernelArgsGetPlaceHolderBuffer(list, q, 24, &data), 207000);
    aclrtStream s = new_stream();
    OK(aclrtKernelArgsParaUpdate(list, p, &value, 8));
    CODE(aclrtLaunchKernelWithConfig(add, 1, s, NULL, list, NULL), 107000); /* to be finished again */
    /* one list a thread */
    OK(aclrtKernelArgsInit(one, &again));
    CHECK(again == list);
    CODE(aclrtKernelArgsParaUpdate(list, p, &value, 8), 107017); /* it is empty */
    OK(aclrtKernelArgsFinalize(list));
    CODE(aclrtLaunchKernelWithConfig(one, 1, s, NULL, list, NULL), 107000);
    OK(aclrtKernelArgsInit(one, &list));
    for (int i = 0; i < 128; i++) OK(aclrtKernelArgsAppend(list, &value, 1, &p));
    CODE(aclrtKernelArgsAppend(list, &value, 1, &p), 107000);
    /* in memory of the program */
    size_t handle_size = 0, size = 0;
    OK(aclrtKernelArgsGetHandleMemSize(one, &handle_size));
    OK(aclrtKernelArgsGetMemSize(one, 8, &size));
    CHECK(handle_size != 0 && size >= 8);
    void *handle = malloc(handle_size), *memory = malloc(size);
    char *target = device(64);
    OK(aclrtMemset(target, 64, 1, 64));
    CODE(aclrtKernelArgsAppend(handle, &target, 8, &p), 107017);
    OK(aclrtKernelArgsInitByUserMem(one, handle, memory, size));
    OK(aclrtKernelArgsAppend(handle, &target, 8, &p));
    CODE(aclrtKernelArgsAppend(handle, &target, 8, &p), 107000); /* the kernel takes one */
    OK(aclrtKernelArgsFinalize(handle));
    OK(aclrtLaunchKernelWithConfig(one, 1, s, NULL, handle, NULL));
    OK(aclrtKernelArgsInitByUserMem(one, handle, memory, 4));
    CODE(aclrtKernelArgsAppend(handle, &target, 8, &p), 107000); /* no room */
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(target) == 7 && byte_at(target + 1) == 1);
    free(handle);
    free(memory);
    OK(aclrtBinaryUnLoad(b));
    CODE(aclrtKernelArgsFinalize(list), 107017);
}

/* ---- what launches are like ---- */

typedef struct reported {
    uint64_t block, blocks, size, cube, vector, batch, offset, ubuf;
} reported;

static reported report(aclrtFuncHandle f, uint32_t blocks, aclrtLaunchKernelCfg *cfg, aclrtStream s) {
    reported *memory = device(sizeof *memory), r;
    OK(aclrtLaunchKernelWithHostArgs(f, blocks, s, cfg, &memory, sizeof memory, NULL, 0));
    OK(aclrtSynchronizeStream(s));
    read_back(&r, memory, sizeof r);
    return r;
}

static aclError config(aclrtFuncHandle f, uint32_t blocks, uint32_t id, uint32_t value) {
    uint64_t *memory = device(64);
    aclrtLaunchKernelAttr attribute = {(aclrtLaunchKernelAttrId)id, {.rsv = {value, 0, 0, 0}}};
    aclrtLaunchKernelCfg c = {&attribute, 1};
    return aclrtLaunchKernelWithHostArgs(f, blocks, NULL, &c, &memory, sizeof memory, NULL, 0);
}

static void attributes(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    aclrtFuncHandle mix = function(b, "report"), batch = function(b, "report_1_1");
    reported r = report(mix, 3, NULL, s);
    CHECK(r.block == 2 && r.blocks == 3 && r.size == 8 && r.cube == 24 && r.vector == 48 && r.batch == 0);
    OK(aclrtSetStreamResLimit(s, ACL_RT_DEV_RES_CUBE_CORE, 4));
    OK(aclrtUseStreamResInCurrentThread(s));
    CHECK(report(batch, 4, NULL, s).batch == 1);
    aclrtLaunchKernelAttr two[2] = {{ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, {.schemMode = 0}},
        {ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET, {.blockDimOffset = 9}}};
    aclrtLaunchKernelCfg c = {two, 2};
    r = report(batch, 5, &c, s);
    CHECK(r.cube == 4 && r.batch == 0 && r.offset == 9);
    CODE(config(mix, 5, 1, 1), 107000); /* a batch above the limit of cores */
    text_has("needs as many cores");
    OK(aclrtUnuseStreamResInCurrentThread(s));
    OK(config(mix, 5, 1, 1));
    CODE(config(mix, 1, 1, 2), 107000);
    CODE(config(mix, 1, 5, 2), 107000);
    CODE(config(mix, 1, 6, 2), 107000);
    CODE(config(mix, 1, 77, 0), 107000);
    CODE(config(mix, 0, 1, 0), 107000);
    CODE(config(mix, 65536, 1, 0), 107000);
    c.attrs = NULL;
    uint64_t none = 0;
    CODE(aclrtLaunchKernelWithHostArgs(mix, 1, s, &c, &none, sizeof none, NULL, 0), 107000);
    two[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    two[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    c = (aclrtLaunchKernelCfg){two, 2};
    CODE(aclrtLaunchKernelWithHostArgs(mix, 1, s, &c, &none, sizeof none, NULL, 0), 107000);
    OK(aclrtSynchronizeDevice());
    OK(aclrtBinaryUnLoad(b));
}

/* ---- AICPU ---- */

static void cpu_functions(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinaryLoadOption o = {ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE, {.cpuKernelMode = 1}};
    aclrtBinaryLoadOptions all = {&o, 1};
    aclrtBinHandle plain = load(), b = NULL;
    aclrtFuncHandle f = NULL, g = NULL;
    CODE(aclrtRegisterCpuFunc(plain, "cpu_poke", "Poke", &f), 107000);
    char described[4096];
    snprintf(described, sizeof described, "%s", beside("kernels.json"));
    OK(aclrtBinaryLoadFromFile(described, &all, &b)); /* the code lies beside */
    OK(aclrtRegisterCpuFunc(b, "cpu_poke", "Poke", &f));
    OK(aclrtRegisterCpuFunc(b, "cpu_poke", "Poke", &g));
    CHECK(f == g && f == function(b, "Poke"));
    CODE(aclrtRegisterCpuFunc(b, "add", "Add", &g), 107000);
    char *memory = device(64);
    OK(aclrtLaunchKernelWithHostArgs(f, 1, s, NULL, &memory, sizeof memory, NULL, 0));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(memory) == 7);
    int32_t code = 1;
    OK(aclrtRegisterCpuFunc(b, "cpu_fail", "Fail", &g));
    OK(aclrtLaunchKernelWithHostArgs(g, 1, s, NULL, &code, sizeof code, NULL, 0));
    CODE(aclrtSynchronizeStream(s), 507018);
    size_t count = 0;
    CODE(aclrtFunctionGetParamCount(f, &count), 207000);
    CODE(aclrtLaunchKernelWithArgsArray(f, 1, s, NULL, NULL), 207000);
    o.value.cpuKernelMode = 0;
    CODE(aclrtBinaryLoadFromFile(described, &all, &plain), 207000);
    o.value.cpuKernelMode = 2;
    CODE(aclrtBinaryLoadFromFile(described, &all, &plain), 107000);
    OK(aclrtBinaryUnLoad(b));
    CHECK(mock_acl_reset() == 0); /* gives back what is still loaded */
    CHECK(live().binaries == 0);
}

static void code_stays_for_queued_work(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    char *memory = device(64);
    OK(mock_acl_hold_stream(s));
    OK(aclrtLaunchKernelWithHostArgs(function(b, "poke"), 1, s, NULL, &memory, sizeof memory, NULL, 0));
    OK(aclrtBinaryUnLoad(b));
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(memory) == 7);
}

int main(void) {
    loads_in_three_ways();
    refuses_what_is_no_kernel();
    options();
    functions();
    variables();
    launches_in_five_ways();
    placeholders();
    argument_lists();
    attributes();
    cpu_functions();
    code_stays_for_queued_work();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
