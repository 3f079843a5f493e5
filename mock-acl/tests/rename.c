/* Part of racl (mock-acl). A build that renames every exported symbol, as a program does that links the mock beside a
 * real library: built with a generated header of `#pragma redefine_extname` lines. */
#include "check.h"

/* The function under the name that the build gives it; it does not link when the build does not rename. */
extern aclError renamed_malloc(void **, size_t, aclrtMemMallocPolicy) __asm__("racl_mock_aclrtMalloc");

int main(void) {
    CHECK(renamed_malloc == aclrtMalloc);
    CHECK(mock_acl_lookup("racl_mock_aclrtMalloc") == NULL);
    void *address = mock_acl_lookup("aclrtSetDevice");
    aclError (*set_device)(int32_t) = NULL;
    memcpy(&set_device, &address, sizeof address);
    CHECK(set_device == aclrtSetDevice);
    OK(set_device(0));
    CHECK(mock_acl_calls("aclrtSetDevice") == 1);
    CODE(aclrtProfTrace(NULL, 0, NULL), 207000);
    CHECK(strstr(aclGetRecentErrMsg(), ": aclrtProfTrace is not supported") != NULL);
    OK(mock_acl_fail_task("aclrtMemsetAsync", 1, 507015));
    aclrtStream s = new_stream();
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, s));
    CODE(aclrtSynchronizeStream(s), 507015);
    return 0;
}
