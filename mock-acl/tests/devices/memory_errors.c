/* Part of racl (mock-acl). Errors of a device's memory: set by a test, told, and repaired. */
#include "check.h"

static aclrtMemUceInfo told[MAX_MEM_UCE_INFO_ARRAY_SIZE];

static size_t told_of(int32_t device) {
    size_t count = 99;
    memset(told, 0x5A, sizeof told);
    OK(aclrtGetMemUceInfo(device, told, MAX_MEM_UCE_INFO_ARRAY_SIZE, &count));
    return count;
}

static bool is(size_t at, void *address, size_t size) { return told[at].addr == address && told[at].len == size; }

static void repaired_one_by_one(char *at) {
    void *const addresses[] = {at, at + 4096, at + 8192};
    const size_t sizes[] = {64, 4096, 1};
    OK(mock_acl_set_memory_errors(0, addresses, sizes, 3));
    CHECK(told_of(0) == 3 && is(0, at, 64) && is(1, at + 4096, 4096) && is(2, at + 8192, 1));
    size_t count = 0;
    OK(aclrtGetMemUceInfo(0, told, 2, &count)); /* as many as there is room for */
    CHECK(count == 2);
    OK(mock_acl_fail("aclrtMemUceRepair", 1, 507899));
    aclrtMemUceInfo gone[2] = {{.addr = at + 4096, .len = 4096}, {.addr = at + 4096, .len = 64}};
    CODE(aclrtMemUceRepair(0, gone, 1), 507899);
    CODE(aclrtMemUceRepair(0, gone, 2), 107000); /* no such range: nothing is repaired */
    CODE(aclrtMemUceRepair(0, gone, 0), 107000);
    CODE(aclrtMemUceRepair(99, gone, 1), 107001);
    CHECK(told_of(0) == 3);
    OK(aclrtMemUceRepair(0, gone, 1));
    CHECK(told_of(0) == 2 && is(0, at, 64) && is(1, at + 8192, 1));
    CODE(aclrtMemUceRepair(0, gone, 1), 107000);
    gone[0] = gone[1] = (aclrtMemUceInfo){.addr = at + 8192, .len = 1};
    OK(aclrtMemUceRepair(0, gone, 2)); /* named twice */
    CHECK(told_of(0) == 1 && is(0, at, 64));
}

/* The latest fault names them while it is one of memory, and its repair repairs them. */
static void told_with_the_fault(char *at) {
    static aclrtErrorInfo info;
    void *const addresses[] = {at};
    const size_t sizes[] = {128};
    OK(mock_acl_set_memory_errors(0, addresses, sizes, 1));
    OK(aclrtGetErrorVerbose(0, &info));
    CHECK(info.errorType == ACL_RT_NO_ERROR && info.detail.uceInfo.arraySize == 0);
    OK(mock_acl_fail_task("aclrtMemsetAsync", 1, 507053));
    OK(aclrtMemsetAsync(at, 4, 0, 4, NULL));
    CODE(aclrtSynchronizeStream(NULL), 507053);
    OK(aclrtGetErrorVerbose(0, &info));
    CHECK(info.errorType == ACL_RT_ERROR_MEMORY && info.hasDetail == 1 && info.detail.uceInfo.arraySize == 1);
    CHECK(info.detail.uceInfo.memUceInfoArray[0].addr == at && info.detail.uceInfo.memUceInfoArray[0].len == 128);
    info.detail.uceInfo.memUceInfoArray[0].len = 5;
    CODE(aclrtRepairError(0, &info), 107000);
    info.detail.uceInfo.arraySize = ACL_RT_MEM_UCE_INFO_MAX_NUM + 1;
    CODE(aclrtRepairError(0, &info), 107000);
    OK(aclrtGetErrorVerbose(0, &info));
    CHECK(info.errorType == ACL_RT_ERROR_MEMORY && told_of(0) == 1);
    OK(aclrtRepairError(0, &info));
    CHECK(told_of(0) == 0);
    OK(aclrtGetErrorVerbose(0, &info));
    CHECK(info.errorType == ACL_RT_NO_ERROR);
}

static void limits(char *at) {
    static void *addresses[MAX_MEM_UCE_INFO_ARRAY_SIZE + 1];
    static size_t sizes[MAX_MEM_UCE_INFO_ARRAY_SIZE + 1];
    for (size_t i = 0; i <= MAX_MEM_UCE_INFO_ARRAY_SIZE; i++) {
        addresses[i] = at + i;
        sizes[i] = 1;
    }
    CHECK(mock_acl_set_memory_errors(0, addresses, sizes, MAX_MEM_UCE_INFO_ARRAY_SIZE + 1) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_set_memory_errors(0, NULL, sizes, 1) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_set_memory_errors(0, addresses, NULL, 1) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_set_memory_errors(-1, addresses, sizes, 1) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_set_memory_errors(1000, addresses, sizes, 1) == MOCK_ACL_BAD_ARGUMENT);
    OK(mock_acl_set_memory_errors(0, addresses, sizes, MAX_MEM_UCE_INFO_ARRAY_SIZE));
    CHECK(told_of(0) == MAX_MEM_UCE_INFO_ARRAY_SIZE);
    OK(mock_acl_set_memory_errors(0, NULL, NULL, 0));
    CHECK(told_of(0) == 0);
    OK(mock_acl_set_memory_errors(0, addresses, sizes, 7));
}

int main(void) {
    void *p = NULL;
    up();
    OK(aclrtMalloc(&p, 16384, ACL_MEM_MALLOC_HUGE_FIRST));
    repaired_one_by_one(p);
    told_with_the_fault(p);
    limits(p);
    up();
    CHECK(told_of(0) == 0); /* a reset takes them back */
    CHECK(mock_acl_reset() == 0);
    return 0;
}
