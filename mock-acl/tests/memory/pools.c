/* Part of racl (mock-acl). Stream-ordered pools, core limits, stream configuration, abort. */
#include "check.h"

static void pools(void) {
    up();
    aclrtStream s = new_stream();
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps props = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}, .maxSize = 4096};
    void *a = NULL, *b = NULL;
    uint64_t used = 0;
    int32_t reuse = 0;
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolMallocAsync(&a, 3000, pool, s));
    CODE(aclrtMemPoolMallocAsync(&b, 2000, pool, s), 207001);
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(a, 3000, 1, 3000, s));
    OK(aclrtMemPoolFreeAsync(a, s));
    CODE(aclrtMemPoolFreeAsync(a, s), 107000);
    CODE(aclrtMemPoolFreeAsync(s, s), 107000);
    CHECK(live().device_allocations == 1); /* the stream has not reached the release */
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(live().device_allocations == 0);
    OK(aclrtMemPoolMallocAsync(&b, 2000, pool, s));
    OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used == 2000);
    OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &used));
    CHECK(used == 3000);
    OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    CHECK(reuse == 1);
    OK(aclrtMemPoolDestroy(pool));
    CODE(aclrtMemPoolTrimTo(pool, 0), 107017);
    OK(aclrtFree(b)); /* at once */
    CHECK(live().device_allocations == 0);
    OK(aclrtMemPoolCreate(&pool, &props));
    OK(aclrtMemPoolMallocAsync(&a, 16, pool, s));
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    CODE(aclrtMemPoolMallocAsync(&b, 16, pool, s), 207000);
    CODE(aclrtMemPoolFreeAsync(a, s), 207000);
    OK(mock_acl_reset());
    CHECK(live().device_allocations == 0);
}

/* Addresses are given out again in the order of the stream; memory goes back above the threshold only. */
static void reuse(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtMemPool pool = NULL;
    aclrtMemPoolProps props = {.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    OK(aclrtMemPoolCreate(&pool, &props));
    void *a = NULL, *b = NULL, *c = NULL;
    OK(aclrtMemPoolMallocAsync(&a, 4096, pool, s));
    OK(aclrtMemPoolFreeAsync(a, s));
    OK(aclrtMemPoolMallocAsync(&b, 4096, pool, s)); /* the release is still queued */
    CHECK(a == b);
    OK(aclrtMemsetAsync(b, 4096, 1, 4096, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(b) == 1); /* the old release had no effect */
    uint64_t threshold = 8192, reserved = 0;
    int32_t off = 0;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtMemPoolFreeAsync(b, s));
    OK(aclrtSynchronizeStream(s));
    CODE(aclrtMemset(b, 1, 0, 1), 107000); /* kept, and dead */
    OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    CHECK(reserved == 4096 && live().device_allocations == 1);
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &off));
    OK(aclrtMemPoolMallocAsync(&c, 4096, pool, other));
    CHECK(c != b);
    off = 1;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &off));
    OK(aclrtMemPoolMallocAsync(&a, 4096, pool, other));
    CHECK(a == b);
    OK(aclrtMemset(a, 4096, 2, 4096));
    OK(aclrtMemPoolFreeAsync(a, other));
    OK(aclrtMemPoolFreeAsync(c, other));
    OK(aclrtSynchronizeDevice());
    CHECK(live().device_allocations == 2);
    OK(aclrtMemPoolTrimTo(pool, 4096));
    CHECK(live().device_allocations == 1);
    threshold = 0;
    OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(aclrtSynchronizeStream(other));
    CHECK(live().device_allocations == 0);
    OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, &reserved));
    CHECK(reserved == 8192);
    OK(aclrtMemPoolDestroy(pool));
}

static void limits(void) {
    up();
    aclrtStream s = new_stream();
    uint32_t n = 0;
    int64_t value = 0;
    OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &n));
    CHECK(n == 48);
    CODE(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 25), 107000);
    OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 20));
    OK(aclrtGetStreamResLimit(s, ACL_RT_DEV_RES_CUBE_CORE, &n));
    CHECK(n == 20);
    OK(aclrtSetStreamResLimit(s, ACL_RT_DEV_RES_CUBE_CORE, 4));
    OK(aclrtUseStreamResInCurrentThread(s));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &n));
    CHECK(n == 4);
    OK(aclrtUnuseStreamResInCurrentThread(s));
    OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &n));
    CHECK(n == 20);
    CODE(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 107021);
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 1);
    OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    CHECK(value == 0);
}

/* A reset takes back what is left; so does nothing else, as a program may have configurations of its own. */
static void configurations_are_counted(void) {
    up();
    aclrtStream s = NULL;
    aclrtStreamConfigHandle own = {.priority = 3}, *left = aclrtCreateStreamConfigHandle();
    uint32_t got = 0;
    CHECK(live().stream_configs == 1);
    OK(aclrtCreateStreamV2(&s, &own));
    OK(aclrtStreamGetPriority(s, &got));
    CHECK(got == 3);
    CODE(aclrtDestroyStreamConfigHandle(&own), 100000);
    up();
    CHECK(live().stream_configs == 0);
    CODE(aclrtCreateStreamV2(&s, left), 100000);
    CODE(aclrtDestroyStreamConfigHandle(left), 100000);
    for (int i = 0; i < 3000; i++) OK(aclrtDestroyStreamConfigHandle(aclrtCreateStreamConfigHandle()));
    CHECK(live().stream_configs == 0);
}

static void configured_streams(void) {
    up();
    aclrtStream s = NULL;
    aclrtStreamConfigHandle *config = aclrtCreateStreamConfigHandle();
    const uint32_t priority = 5;
    uint32_t got = 0;
    CODE(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, 1), 100000);
    OK(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority));
    OK(aclrtCreateStreamV2(&s, config));
    OK(aclrtDestroyStreamConfigHandle(config));
    aclrtStream none = NULL;
    CODE(aclrtDestroyStreamConfigHandle(config), 100000);
    CODE(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority), 100000);
    CODE(aclrtCreateStreamV2(&none, config), 100000);
    OK(aclrtStreamGetPriority(s, &got));
    CHECK(got == 5);
    unsigned char *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 8, 1, 8, s));
    OK(aclrtStreamAbort(s));
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 0);
}

static void batches(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *h = pinned(64), *d = device(64);
    void *to[2] = {d, d + 32}, *from[2] = {h, h + 32};
    size_t room[2] = {16, 16}, size[2] = {16, 8}, first = 0, failed = 7;
    aclrtMemcpyBatchAttr attr = {.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    memset(h, 9, 64);
    OK(aclrtMemset(d, 64, 0, 64));
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemcpyBatchAsync(to, room, from, size, 2, &attr, &first, 1, &failed, s));
    CHECK(byte_at(d) == 0);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 9 && byte_at(d + 16) == 0 && byte_at(d + 39) == 9 && byte_at(d + 40) == 0);
    room[1] = 4;
    CODE(aclrtMemcpyBatch(to, room, from, size, 2, &attr, &first, 1, &failed), 100000);
    CHECK(failed == 1);
}

int main(void) {
    pools();
    reuse();
    limits();
    configured_streams();
    configurations_are_counted();
    batches();
    return 0;
}
