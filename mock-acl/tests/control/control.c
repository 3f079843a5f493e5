/* Part of racl (mock-acl). The control interface. */
#include <unistd.h>
#include "acl/ops/acl_fv.h"
#include "check.h"

/* What `act` writes to standard error. */
static void errors_of(void (*act)(void), char *text, size_t size) {
    char path[] = "/tmp/mock-acl-stderr-XXXXXX";
    const int file = mkstemp(path), old = dup(STDERR_FILENO);
    CHECK(file >= 0 && old >= 0 && dup2(file, STDERR_FILENO) >= 0);
    act();
    CHECK(dup2(old, STDERR_FILENO) >= 0);
    const ssize_t n = pread(file, text, size - 1, 0);
    CHECK(n >= 0);
    text[n] = '\0';
    close(file);
    close(old);
    unlink(path);
}

static void start(void) {
    for (int i = 0; i < 3; i++) up();
    uint32_t devices = 0;
    OK(aclrtGetDeviceCount(&devices));
    CHECK(devices == 16);
}

/* Bad values are named once, and what is used instead. Before anything else: the variables are read once. */
static void environment(void) {
    char text[1000];
    setenv("MOCK_ACL_DEVICES", "17", 1);
    setenv("MOCK_ACL_WORKERS", "2x", 1);
    errors_of(start, text, sizeof text);
    CHECK(strcmp(text, "mock-acl: MOCK_ACL_WORKERS=\"2x\" is not a number from 0 to 64; it counts as unset\n"
                       "mock-acl: MOCK_ACL_DEVICES=\"17\" is not a number from 1 to 16; 16 is used\n") == 0 ||
          strcmp(text, "mock-acl: MOCK_ACL_DEVICES=\"17\" is not a number from 1 to 16; 16 is used\n"
                       "mock-acl: MOCK_ACL_WORKERS=\"2x\" is not a number from 0 to 64; it counts as unset\n") == 0);
    unsetenv("MOCK_ACL_WORKERS");
}

static void clock_stops_at_its_end(void) {
    up();
    mock_acl_advance_ns(1000);
    CHECK(mock_acl_now_ns() == 1000);
    mock_acl_advance_ns(UINT64_MAX);
    CHECK(mock_acl_now_ns() == INT64_MAX);
    mock_acl_advance_ns(UINT64_MAX);
    CHECK(mock_acl_now_ns() == INT64_MAX);
    aclrtStream s = new_stream();
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, INT32_MAX), 507046);
    CHECK(mock_acl_now_ns() == (uint64_t)INT64_MAX + UINT64_C(2147483647000000));
}

static void lookup_and_counts(void) {
    up();
    void *address = mock_acl_lookup("aclrtMalloc");
    aclError (*function)(void **, size_t, aclrtMemMallocPolicy) = aclrtMalloc;
    CHECK(memcmp(&address, &function, sizeof address) == 0);
    CHECK(mock_acl_lookup("aclrtMallo") == NULL && mock_acl_lookup(NULL) == NULL);
    CHECK(mock_acl_calls("aclrtSetDevice") == 1 && mock_acl_calls("aclrtFree") == 0);
    CHECK(mock_acl_calls("nothing") == 0);
    CHECK(strncmp(mock_acl_version(), "mock-acl ", 9) == 0);
}

static void injected(void) {
    up();
    aclrtStream s = NULL;
    OK(mock_acl_fail("aclrtCreateStream", 2, 207008));
    OK(mock_acl_fail("aclrtGetSocName", 1, 500000));
    OK(aclrtCreateStream(&s));
    CODE(aclrtCreateStream(&s), 207008);
    CHECK(strstr(aclGetRecentErrMsg(), "injected") != NULL);
    OK(aclrtCreateStream(&s));
    CHECK(aclrtGetSocName() == NULL);
    CHECK(strcmp(aclrtGetSocName(), "Ascend910B2") == 0);
    CHECK(mock_acl_fail("nothing", 1, 5) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_fail("aclrtFree", 0, 5) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_fail("aclrtFree", 1, 0) == MOCK_ACL_BAD_ARGUMENT);
    OK(mock_acl_fail("aclrtFree", 1, 107000));
    mock_acl_clear_failures();
    OK(aclrtFree(device(8)));
}

static void unsupported(void) {
    up();
    CODE(aclrtProfTrace(NULL, 0, NULL), 207000);
    CHECK(strstr(aclGetRecentErrMsg(), "aclrtProfTrace") != NULL);
    CHECK(mock_acl_calls("aclrtProfTrace") == 1);
    CHECK(aclfvCreateInitPara(1) == NULL);
}

static void prefetches(void) {
    up();
    aclrtStream s = new_stream();
    mock_acl_cmo_totals t = {.struct_size = sizeof t};
    OK(aclrtCmoAsync(s, 1000, ACL_RT_CMO_TYPE_PREFETCH, s));
    OK(aclrtCmoAsync(s, ((size_t)1 << 32) + 24, ACL_RT_CMO_TYPE_PREFETCH, s));
    OK(mock_acl_cmo(&t));
    CHECK(t.tasks == 0);
    OK(aclrtSynchronizeStream(s));
    OK(mock_acl_cmo(&t));
    CHECK(t.tasks == 2 && t.bytes == 1024); /* 32 bits, as in the real task */
    CHECK(mock_acl_cmo(NULL) == MOCK_ACL_BAD_ARGUMENT);
    t = (mock_acl_cmo_totals){.struct_size = offsetof(mock_acl_cmo_totals, bytes), .bytes = 7};
    OK(mock_acl_cmo(&t));
    CHECK(t.tasks == 2 && t.bytes == 7);
}

static void l2_size(void) {
    up();
    int64_t size = 0;
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &size));
    CHECK(size == INT64_C(192) << 20);
    CODE(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_L2_CACHE_SIZE, &size), 107000);
    CHECK(mock_acl_set_l2_bytes(UINT64_MAX) == MOCK_ACL_BAD_ARGUMENT);
    OK(mock_acl_set_l2_bytes(1000));
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &size));
    CHECK(size == 1000);
    size = 0;
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_L2_CACHE_SIZE, &size));
    CHECK(size == 1000);
    CODE(aclrtGetDeviceInfo(16, ACL_DEV_ATTR_L2_CACHE_SIZE, &size), 107000);
    up();
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &size));
    CHECK(size == INT64_C(192) << 20);
    CODE(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_L2_CACHE_SIZE, &size), 107000);
}

static void fresh_after_reset(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    void *d = device(64);
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    OK(aclmdlRICaptureThreadExchangeMode(&mode));
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 64, 0, 64, s));
    OK(mock_acl_fail("aclInit", 1, 500000));
    OK(aclmdlRICaptureBegin(new_stream(), mode));
    CODE(aclrtFree(NULL), 100000);
    OK(mock_acl_reset());
    const mock_acl_live l = live();
    CHECK(l.streams == 0 && l.events == 0 && l.graphs == 0 && l.device_bytes == 0 && l.contexts == 0);
    CHECK(mock_acl_now_ns() == 0 && mock_acl_calls("aclrtFree") == 0);
    CODE(aclrtSynchronizeStream(s), 107017);
    CODE(aclrtDestroyEvent(e), 107017);
    CODE(aclrtMemset(d, 1, 0, 1), 107002);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    CHECK(aclGetRecentErrMsg() != NULL && aclGetRecentErrMsg() == NULL);
    mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    OK(aclmdlRICaptureThreadExchangeMode(&mode));
    CHECK(mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclFinalize());
}

int main(void) {
    environment();
    clock_stops_at_its_end();
    lookup_and_counts();
    injected();
    unsupported();
    prefetches();
    l2_size();
    fresh_after_reset();
    return 0;
}
