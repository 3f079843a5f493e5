/* Part of racl (mock-acl). Own kernels that fail or take too long. */
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

static void time_outs(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    uint64_t ns = 3000000000u;
    aclrtLaunchKernelAttr attribute = {ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, {.timeout = 3}};
    aclrtLaunchKernelCfg c = {&attribute, 1};
    aclrtFuncHandle slow = function(b, "slow");
    const uint64_t start = mock_acl_now_ns();
    OK(aclrtLaunchKernelWithHostArgs(slow, 4, s, &c, &ns, sizeof ns, NULL, 0));
    OK(aclrtSynchronizeStream(s));
    CHECK(mock_acl_now_ns() - start >= ns && mock_acl_now_ns() - start < 2 * ns);
    attribute = (aclrtLaunchKernelAttr){ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, {.timeoutUs = {2999999, 0}}};
    OK(aclrtLaunchKernelWithHostArgs(slow, 4, s, &c, &ns, sizeof ns, NULL, 0));
    CODE(aclrtSynchronizeStream(s), 507014);
    OK(aclrtBinaryUnLoad(b));
}

static void failures(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    aclrtFuncHandle fail = function(b, "fail"), poke = function(b, "poke");
    const int32_t codes[][2] = {{0, 0}, {1, 507035}, {-5, 507035}, {507015, 507015}, {508000, 507035}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        int32_t code = codes[i][0];
        OK(aclrtLaunchKernelWithHostArgs(fail, 1, s, NULL, &code, sizeof code, NULL, 0));
        CODE(aclrtSynchronizeStream(s), codes[i][1]);
    }
    char *memory = device(64);
    void *places[] = {memory + 63, memory + 64, memory - 1, &b, NULL};
    for (int i = 0; i < 5; i++) {
        OK(aclrtLaunchKernelWithHostArgs(poke, 1, s, NULL, &places[i], 8, NULL, 0));
        CODE(aclrtSynchronizeStream(s), i == 0 ? 0 : 507035);
    }
    CHECK(byte_at(memory + 63) == 7);
    OK(aclrtFree(memory));
    OK(aclrtLaunchKernelWithHostArgs(poke, 1, s, NULL, &places[0], 8, NULL, 0));
    CODE(aclrtSynchronizeStream(s), 507035); /* freed */
    OK(aclrtLaunchKernel(poke, 1, &places[0], 8, s)); /* no device memory */
    CODE(aclrtSynchronizeStream(s), 507035);
    CHECK(mock_acl_fail_task("aclrtLaunchKernelWithHostArgs", 1, 507036) == 0);
    OK(aclrtLaunchKernelWithHostArgs(poke, 1, s, NULL, &places[0], 8, NULL, 0));
    CODE(aclrtSynchronizeStream(s), 507036);
    OK(aclrtBinaryUnLoad(b));
}

/* Vector cores have codes of their own; a kernel for either kind of core runs where its launch says. */
static void kinds(void) {
    static const struct {
        const char *name;
        int engine; /* -1: not said */
        int code, late;
    } runs[] = {{"fail_any", -1, 507015, 507014}, {"fail_any", ACL_RT_ENGINE_TYPE_AIC, 507015, 507014},
        {"fail_any", ACL_RT_ENGINE_TYPE_AIV, 507035, 507034}, {"fail_cube", -1, 507015, 507014},
        {"fail_cube", ACL_RT_ENGINE_TYPE_AIV, 507015, 507014}, {"fail", -1, 507035, 507034},
        {"fail_mix", -1, 507015, 507014}, {"fail_mix_0_1", -1, 507035, 507034},
        {"cpu_fail", ACL_RT_ENGINE_TYPE_AIV, 507018, 507017}};
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        aclrtLaunchKernelAttr attributes[2] = {{ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, {.timeout = 1}},
            {ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, {.engineType = (aclrtEngineType)runs[i].engine}}};
        aclrtLaunchKernelCfg c = {attributes, runs[i].engine < 0 ? 1 : 2};
        aclrtFuncHandle f = function(b, runs[i].name);
        int32_t code = 1;
        OK(aclrtLaunchKernelWithHostArgs(f, 1, s, &c, &code, sizeof code, NULL, 0));
        CODE(aclrtSynchronizeStream(s), runs[i].code);
        code = 600000; /* late */
        OK(aclrtLaunchKernelWithHostArgs(f, 1, s, &c, &code, sizeof code, NULL, 0));
        CODE(aclrtSynchronizeStream(s), runs[i].late);
    }
    OK(aclrtBinaryUnLoad(b));
}

/* ---- exceptions ---- */

static int called, called_for_any;
static aclrtFuncHandle failed_function;
static int32_t failed_args;

static void on_failure(aclrtExceptionInfo *info, void *user) {
    void *args = NULL;
    uint32_t size = 0;
    called++;
    OK(aclrtGetFuncHandleFromExceptionInfo(info, &failed_function));
    OK(aclrtGetArgsFromExceptionInfo(info, &args, &size));
    CHECK(size == 4 && user == &called && aclrtGetErrorCodeFromExceptionInfo(info) == 507035);
    OK(aclrtSetDevice(0)); /* a worker that calls has no context */
    read_back(&failed_args, args, size);
}

static void on_any(aclrtExceptionInfo *info) {
    (void)info;
    called_for_any++;
}

/* The callback of the binary sees function and arguments; what it looked at goes with the launch. */
static void exceptions(void) {
    up();
    aclrtStream s = new_stream();
    aclrtBinHandle b = load();
    int32_t code = 1234;
    const uint64_t before = live().device_allocations;
    OK(aclrtBinarySetExceptionCallback(b, on_failure, &called));
    OK(aclrtSetExceptionInfoCallback(on_any));
    OK(aclrtLaunchKernelWithHostArgs(function(b, "fail"), 1, s, NULL, &code, sizeof code, NULL, 0));
    CODE(aclrtSynchronizeStream(s), 507035);
    CHECK(called == 1 && called_for_any == 1 && failed_function == function(b, "fail"));
    CHECK(failed_args == 1234 && live().device_allocations == before);
    OK(aclrtBinarySetExceptionCallback(b, NULL, NULL));
    OK(aclrtLaunchKernelWithHostArgs(function(b, "fail"), 1, s, NULL, &code, sizeof code, NULL, 0));
    CODE(aclrtSynchronizeStream(s), 507035);
    CHECK(called == 1 && called_for_any == 2);
    OK(aclrtBinaryUnLoad(b));
}

int main(void) {
    time_outs();
    failures();
    kinds();
    exceptions();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
