/* Part of racl (mock-acl). Device and pinned memory, copies, fills. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "aclnnop/aclnn_zero.h"
#include "check.h"

/* Bytes of the card's memory that this process can read. */
static size_t readable(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    char line[512];
    size_t bytes = 0, from = 0, to = 0;
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "mock-acl-device") != NULL && sscanf(line, "%zx-%zx r", &from, &to) == 2 &&
            strstr(line, " rw-s ") != NULL)
            bytes += to - from;
    fclose(maps);
    return bytes;
}

/* Checkers of leaks read all that can be read, and so would have all of the card's memory. The first test: the
 * others use much. */
static void what_was_never_used_cannot_be_read(void) {
    up();
    void *p = device(100), *large = device((size_t)200 << 20);
    CHECK(readable() >= (size_t)200 << 20 && readable() <= (size_t)300 << 20);
    OK(aclrtFree(p));
    OK(aclrtFree(large));
}

static void allocation(void) {
    up();
    void *p = NULL;
    CODE(aclrtMalloc(NULL, 8, 0), 100000);
    CODE(aclrtMalloc(&p, 0, 0), 100000);
    CODE(aclrtFree(NULL), 100000);
    size_t free_before = 0, free_after = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
    CHECK((total == (size_t)64 << 30 || getenv("MOCK_TEST_SMALL") != NULL) && free_before == total);
    p = device(100);
    CHECK((uintptr_t)p % 64 == 0);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total));
    CHECK(free_before - free_after == 160); /* rounded to 32, and 32 more */
    CHECK(live().device_allocations == 1 && live().device_bytes == 100);
    CODE(aclrtFree((char *)p + 8), 107000);
    OK(aclrtFree(p));
    CODE(aclrtFree(p), 107000);
    CHECK(live().device_bytes == 0);
    void *huge = device(total / 8 * 5);
    CODE(aclrtMalloc(&p, total / 2, 0), 207001);
    CHECK(strstr(aclGetRecentErrMsg(), "bytes left") != NULL);
    OK(aclrtFree(huge));
    huge = device(total - 64);
    OK(aclrtFree(huge));
}

/* An operator reaches mapped host memory, and nothing of it that is not mapped. */
static void mapped_memory_is_an_operand(void) {
    up();
    char *host = NULL;
    void *there = NULL;
    const int64_t dims[] = {1024}, step = 1;
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    OK(aclrtMallocHost((void **)&host, 16384));
    memset(host, 7, 16384);
    host = (char *)(((uintptr_t)host + 4095) / 4096 * 4096);
    OK(aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &there));
    for (int past = 0; past < 2; past++) {
        aclTensor *x = aclCreateTensor(dims, 1, ACL_FLOAT, &step, 0, ACL_FORMAT_ND, dims, 1, (char *)there + 4 * past);
        CHECK(x != NULL);
        OK(aclnnInplaceZeroGetWorkspaceSize(x, &bytes, &executor));
        OK(aclnnInplaceZero(NULL, 0, executor, NULL));
        CODE(aclrtSynchronizeDevice(), past ? 507015 : 0);
        OK(aclDestroyTensor(x));
    }
    const float *got = there;
    CHECK(got[0] == 0 && got[1023] == 0 && host[4096] == 7);
    OK(aclrtHostUnregister(host));
}

/* Random sizes in and out; every block keeps its own contents. */
static void churn(void) {
    enum { BLOCKS = 300 };
    up();
    static unsigned char *block[BLOCKS];
    static size_t size[BLOCKS];
    memset(block, 0, sizeof block);
    uint64_t random = 1;
    for (int i = 0; i < 60000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const int k = (int)((random >> 33) % BLOCKS);
        if (block[k] != NULL) {
            CHECK(byte_at(block[k]) == (k & 0xFF) && byte_at(block[k] + size[k] - 1) == (k & 0xFF));
            OK(aclrtFree(block[k]));
            block[k] = NULL;
            continue;
        }
        const unsigned shift = (unsigned)((random >> 20) % 23);
        size[k] = 1 + (size_t)(random >> 40) % ((size_t)1 << shift);
        block[k] = device(size[k]);
        OK(aclrtMemset(block[k], 1, k & 0xFF, 1));
        OK(aclrtMemset(block[k] + size[k] - 1, 1, k & 0xFF, 1));
    }
    for (int k = 0; k < BLOCKS; k++)
        if (block[k] != NULL) OK(aclrtFree(block[k]));
    CHECK(live().device_allocations == 0 && live().device_bytes == 0);
}

static void fresh_and_bounds(void) {
    up();
    char host[64];
    unsigned char *p = device(64);
    CHECK(byte_at(p) != 0 && byte_at(p + 63) != 0);
    CODE(aclrtMemcpy(host, 64, p + 1, 64, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
    CHECK(strstr(aclGetRecentErrMsg(), "aclrtMemcpy") != NULL);
    CODE(aclrtMemset(p, 100, 0, 65), 107000);
    CODE(aclrtMemset(p, 64, 0, 65), 107000);
    aclrtStream s = new_stream();
    OK(aclrtMemsetAsync(p, 100, 0, 65, s));
    CODE(aclrtSynchronizeStream(s), 507053);
    OK(aclrtSynchronizeStream(s));
    OK(aclrtFree(p));
    CODE(aclrtMemset(p, 1, 0, 1), 107000);
}

static void copies(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *h = pinned(256), *d = device(256), pageable[256], back[256];
    for (int i = 0; i < 256; i++) h[i] = pageable[i] = (unsigned char)i;
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemcpyAsync(d, 256, h, 256, ACL_MEMCPY_HOST_TO_DEVICE, s));
    CHECK(byte_at(d + 1) != 1); /* nothing ran yet */
    OK(mock_acl_release_stream(s));
    OK(aclrtMemcpyAsync(d + 16, 240, d, 200, ACL_MEMCPY_DEVICE_TO_DEVICE, s)); /* overlapping */
    OK(aclrtMemcpyAsync(back, 256, d, 256, ACL_MEMCPY_DEFAULT, s));            /* pageable: waits */
    CHECK(back[15] == 15 && back[16] == 0 && back[215] == 199 && back[216] == 216);
    OK(aclrtMemcpyAsync(d, 256, pageable, 256, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, s));
    memset(pageable, 0, sizeof pageable); /* the buffer was taken at the call */
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d + 77) == 77);
    CODE(aclrtMemcpyAsync(back, 256, h, 256, ACL_MEMCPY_HOST_TO_HOST, s), 207000);
    CODE(aclrtMemcpyAsync(d, 8, h, 9, ACL_MEMCPY_HOST_TO_DEVICE, s), 107000);
    CODE(aclrtMemcpyAsync(d, 256, h, 8, (aclrtMemcpyKind)6, s), 100000);
    OK(aclrtMemcpyAsync(NULL, 0, NULL, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    OK(aclrtMemset(d, 256, 0, 256));
    OK(aclrtMemcpy2d(d, 32, h, 16, 8, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(byte_at(d + 32) == 16 && byte_at(d + 7) == 7 && byte_at(d + 8) == 0 && byte_at(d + 96) == 48);
    CODE(aclrtMemcpy2d(d, 4, h, 16, 8, 4, ACL_MEMCPY_HOST_TO_DEVICE), 100000);
    OK(aclrtMemsetD32Async(d, 256, 0x01020304, 2, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 4 && byte_at(d + 7) == 1);
    OK(aclrtFreeHost(h));
    CODE(aclrtFreeHost(h), 107000);
    OK(aclrtFree(d));
}

static void attributes(void) {
    up();
    char *d = device(64), *h = pinned(64), local = 0;
    static _Alignas(4096) char page[4096];
    aclrtPtrAttributes a;
    OK(aclrtPointerGetAttributes(d + 8, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && a.location.id == 0);
    OK(aclrtPointerGetAttributes(h + 8, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtPointerGetAttributes(&local, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    OK(aclrtHostRegisterV2(page, sizeof page, ACL_HOST_REG_PINNED));
    CODE(aclrtHostRegisterV2(page, sizeof page, ACL_HOST_REG_PINNED), 507910);
    OK(aclrtPointerGetAttributes(page + 5, &a));
    CHECK(a.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtHostUnregister(page));
    CODE(aclrtHostUnregister(page), 507911);
}

/* A host access to device memory faults at the instruction. */
static void device_pointer_faults(void) {
    up();
    volatile char *d = device(64);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        d[0] = 1;
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

static void after_fork(void) {
    up();
    aclrtStream s = new_stream();
    const pid_t child = fork();
    if (child == 0) _exit(aclrtSynchronizeStream(s) == 507000 && aclrtFree(s) == 507000 ? 0 : 1);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(aclrtSynchronizeStream(s));
}

int main(void) {
    what_was_never_used_cannot_be_read();
    allocation();
    mapped_memory_is_an_operand();
    churn();
    fresh_and_bounds();
    copies();
    attributes();
    device_pointer_faults();
    after_fork();
    return 0;
}
