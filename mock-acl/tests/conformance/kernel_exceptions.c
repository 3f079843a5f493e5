/* Part of racl (mock-acl). Own kernels that fail: what the callbacks are told. */
#include "../kernels/binaries/kernels.h"
#include "conform.h"

static aclrtBinHandle binary;
static aclrtFuncHandle failing, told_function;
static int called, told_code, args_code;
static uint32_t told_size;
static void *told_args, *told_user;

static void on_failure(aclrtExceptionInfo *info, void *user) {
    called++;
    told_user = user;
    told_code = (int)aclrtGetErrorCodeFromExceptionInfo(info);
    OK(aclrtGetFuncHandleFromExceptionInfo(info, &told_function));
    args_code = aclrtGetArgsFromExceptionInfo(info, &told_args, &told_size);
}

static void run_failing(aclrtStream stream) {
    int32_t code = 1234;
    OK(aclrtLaunchKernelWithHostArgs(failing, 1, stream, NULL, &code, sizeof code, NULL, 0));
    EXPECT(aclrtSynchronizeStream(stream), 507035);
}

static void prepare(void) {
    up();
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, "fail", &failing));
}

RULE_MOCK(kernel, a_binary_is_told_of_its_failures, "guide: aclrtBinarySetExceptionCallback") {
    prepare();
    aclrtStream stream = new_stream();
    OK(aclrtBinarySetExceptionCallback(binary, on_failure, &called));
    run_failing(stream);
    TRUE(called == 1 && told_user == &called && told_code == 507035);
    OK(aclrtBinarySetExceptionCallback(binary, NULL, NULL));
    run_failing(stream);
    TRUE(called == 1);
    EXPECT(aclrtBinarySetExceptionCallback(NULL, on_failure, NULL), 100000);
}

RULE_MOCK(kernel, a_failure_names_its_function_and_arguments, "guide: aclrtGetArgsFromExceptionInfo") {
    prepare();
    OK(aclrtBinarySetExceptionCallback(binary, on_failure, NULL));
    run_failing(new_stream());
    TRUE(told_function == failing);
    EXPECT(args_code, 0);
    TRUE(told_args != NULL && told_size == 4);
}
