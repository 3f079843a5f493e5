/* Part of racl (mock-acl). Copies through descriptors, reductions, peers, allocators, small address spaces. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

/* A captured copy follows its descriptor. */
static void descriptors(void) {
    up();
    aclrtStream s = new_stream();
    size_t size = 0;
    OK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size));
    unsigned char *desc = device(size), *a = device(8), *b = device(8);
    OK(aclrtMemset(a, 8, 1, 8));
    OK(aclrtMemset(b, 8, 2, 8));
    OK(aclrtSetMemcpyDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, a, b, 4, NULL));
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclrtMemcpyAsyncWithDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, s));
    CODE(aclrtSetMemcpyDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, a, b, 4, NULL), 107030);
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(b + 3) == 1 && byte_at(b + 4) == 2);
    OK(aclrtSetMemcpyDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, b + 4, a, 4, NULL));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(a) == 2 && byte_at(a + 4) == 1);
    OK(aclrtMemset(desc, size, 0, size)); /* no descriptor any more */
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStream(s), 507053);
}

static void offsets(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *a = device(16), *b = device(16);
    void **cells = device(16);
    void *addresses[2] = {b, a};
    OK(aclrtMemcpy(cells, 16, addresses, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemset(a, 16, 3, 16));
    OK(aclrtMemset(b, 16, 0, 16));
    const aclrtMemcpyKind kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    OK(aclrtMemcpyAsyncWithOffset(cells, 16, 2, (const void **)(cells + 1), 4, 8, kind, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(b + 1) == 0 && byte_at(b + 2) == 3 && byte_at(b + 5) == 3 && byte_at(b + 6) == 0);
    OK(aclrtMemcpyAsyncWithOffset(cells, 16, 16, (const void **)(cells + 1), 4, 8, kind, s));
    CODE(aclrtSynchronizeStream(s), 507053); /* beyond the block */
    CODE(aclrtMemcpyAsyncWithOffset(cells, 3, 0, (const void **)(cells + 1), 4, 0, kind, s), 107000);
    CODE(aclrtMemcpyAsyncWithOffset(cells, 8, 0, (const void **)(cells + 1), 4, 0, ACL_MEMCPY_DEFAULT, s), 107000);
}

static const aclrtReduceKind kinds[4] = {ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL};

/* One pair of numbers, all kinds; the patterns were worked out by hand. */
static void one_type(aclDataType type, size_t size, uint32_t left, uint32_t right, const uint32_t expected[4]) {
    aclrtStream s = new_stream();
    unsigned char *dst = device(2 * size), *src = device(2 * size);
    for (int i = 0; i < 4; i++) {
        uint32_t got = 0;
        for (int k = 0; k < 2; k++) {
            OK(aclrtMemcpy(dst + k * size, size, &left, size, ACL_MEMCPY_HOST_TO_DEVICE));
            OK(aclrtMemcpy(src + k * size, size, &right, size, ACL_MEMCPY_HOST_TO_DEVICE));
        }
        OK(aclrtReduceAsync(dst, src, 2 * size, kinds[i], type, s, NULL));
        OK(aclrtSynchronizeStream(s));
        for (int k = 0; k < 2; k++) {
            read_back(&got, dst + k * size, size);
            if (got != expected[i]) fprintf(stderr, "type %d kind %d: %x\n", (int)type, i, got);
            CHECK(got == expected[i]);
        }
    }
    OK(aclrtDestroyStream(s));
}

static void reductions(void) {
    up();
    one_type(ACL_INT8, 1, 0x7F, 2, (const uint32_t[]){0x81, 0x7F, 2, 0});
    one_type(ACL_INT8, 1, 0xFF, 0xFF, (const uint32_t[]){0xFE, 0xFF, 0xFF, 1});
    one_type(ACL_INT16, 2, 0x8000, 1, (const uint32_t[]){0x8001, 1, 0x8000, 0});
    one_type(ACL_INT32, 4, 7, 0xFFFFFFFF, (const uint32_t[]){6, 7, 0xFFFFFFFF, 0});
    one_type(ACL_FLOAT, 4, 0x3F800000, 0xC0000000, (const uint32_t[]){0xBF800000, 0x3F800000, 0xC0000000, 0});
    one_type(ACL_FLOAT16, 2, 0x3C00, 0x4000, (const uint32_t[]){0x4200, 0x4000, 0x3C00, 0});
    one_type(ACL_BF16, 2, 0x3F80, 0x3F80, (const uint32_t[]){0x4000, 0x3F80, 0x3F80, 0x3F80});
    aclrtStream s = new_stream();
    unsigned char *d = device(8), *h = pinned(8);
    CODE(aclrtReduceAsync(d, d, 8, kinds[0], ACL_UINT8, s, NULL), 207000);
    CODE(aclrtReduceAsync(d, d, 8, kinds[0], ACL_DOUBLE, s, NULL), 100000);
    CODE(aclrtReduceAsync(d, h, 8, kinds[0], ACL_INT8, s, NULL), 107000);
    CODE(aclrtReduceAsync(d, d, 7, kinds[0], ACL_INT16, s, NULL), 107000);
    OK(aclrtReduceAsync(d, d, 16, kinds[0], ACL_INT8, s, NULL));
    CODE(aclrtSynchronizeStream(s), 507053);
}

static void peers(void) {
    up();
    uint32_t count = 0;
    OK(aclrtGetDeviceCount(&count));
    CHECK(count == 2);
    unsigned char *zero = device(8);
    OK(aclrtSetDevice(1));
    unsigned char *one = device(8);
    aclrtStream s = new_stream();
    int32_t status = 7;
    OK(aclrtMemset(one, 8, 1, 8));
    CODE(aclrtMemcpyAsync(zero, 8, one, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s), 107000);
    CHECK(strstr(aclGetRecentErrMsg(), "no access") != NULL);
    OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    CHECK(status == 0);
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    OK(aclrtMemcpyAsync(zero, 8, one, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(zero + 7) == 1);
    OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    CHECK(status == 1);
    OK(aclrtDevicePeerAccessStatus(0, 1, &status)); /* one way only */
    CHECK(status == 0);
    CODE(aclrtReduceAsync(one, one, 8, (aclrtReduceKind)9, ACL_INT8, s, NULL), 107000);
    OK(aclrtDeviceDisablePeerAccess(0));
    CODE(aclrtMemcpyAsync(zero, 8, one, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s), 107000);
    CODE(aclrtDeviceEnablePeerAccess(1, 0), 100000);
    CODE(aclrtDeviceEnablePeerAccess(0, 1), 200006);
    CODE(aclrtDeviceEnablePeerAccess(5, 0), 107001);
}

static void *give(aclrtAllocator a, size_t n) {
    (void)n;
    return a;
}
static void take(aclrtAllocator a, aclrtAllocatorBlock b) {
    (void)a;
    (void)b;
}
static void *at(aclrtAllocatorBlock b) { return b; }

static void allocators(void) {
    up();
    aclrtStream s = new_stream();
    int object = 0;
    aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc(), got = NULL;
    aclrtAllocator got_object = NULL;
    aclrtAllocatorAllocFunc got_alloc = NULL;
    CHECK(desc != NULL);
    CODE(aclrtAllocatorRegister(s, desc), 100000); /* nothing is set */
    OK(aclrtAllocatorSetObjToDesc(desc, &object));
    OK(aclrtAllocatorSetAllocFuncToDesc(desc, give));
    OK(aclrtAllocatorSetFreeFuncToDesc(desc, take));
    CODE(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, NULL), 100000);
    OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc, at));
    CODE(aclrtAllocatorGetByStream(s, &got, NULL, NULL, NULL, NULL, NULL), 100000);
    OK(aclrtAllocatorRegister(s, desc));
    OK(aclrtAllocatorDestroyDesc(desc)); /* the registration keeps a copy */
    CODE(aclrtAllocatorDestroyDesc(desc), 107017);
    OK(aclrtAllocatorGetByStream(s, &got, &got_object, &got_alloc, NULL, NULL, NULL));
    CHECK(got == desc && got_object == &object && got_alloc == give);
    OK(aclrtAllocatorUnregister(s));
    OK(aclrtAllocatorUnregister(s));
    CODE(aclrtAllocatorGetByStream(s, &got, NULL, NULL, NULL, NULL, NULL), 100000);
}

/* Device and pinned memory both fit into an address space of 1.5 GiB. */
static void small_address_space(const char *self) {
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {(rlim_t)3 << 29, (rlim_t)3 << 29};
        if (setrlimit(RLIMIT_AS, &limit) == 0) execl(self, self, "small", (char *)NULL);
        _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
#else
    (void)self;
#endif
}

static int in_small_address_space(void) {
    up();
    size_t free_now = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total));
    CHECK(total >= (size_t)64 << 20);
    unsigned char *d = device((size_t)48 << 20), *h = pinned((size_t)64 << 20);
    OK(aclrtMemcpy(d, 1024, h, 1024, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtSetDevice(1));
    device((size_t)4 << 20);
    free(malloc((size_t)256 << 20));
    return 0;
}

int main(int argc, char **argv) {
    setenv("MOCK_ACL_DEVICES", "2", 1);
    if (argc > 1) return in_small_address_space();
    small_address_space(argv[0]);
    descriptors();
    offsets();
    reductions();
    peers();
    allocators();
    return 0;
}
