/* Part of racl (mock-acl). The control interface. */
#include "check.h"

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
    CODE(aclrtMemP2PMap(NULL, 0, 0, 0), 207000);
    CHECK(strstr(aclGetRecentErrMsg(), "aclrtMemP2PMap") != NULL);
    CHECK(mock_acl_calls("aclrtMemP2PMap") == 1);
    CHECK(aclrtCreateBinary("", 0) == NULL);
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
    lookup_and_counts();
    injected();
    unsupported();
    prefetches();
    fresh_after_reset();
    return 0;
}
