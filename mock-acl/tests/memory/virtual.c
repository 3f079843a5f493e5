/* Part of racl (mock-acl). Reserved addresses, physical memory, managed memory, keys for other processes. */
#include <sys/mman.h>
#include <unistd.h>
#include "check.h"

#define MIB2 ((size_t)2 << 20)

static aclrtPhysicalMemProp prop(void) {
    return (aclrtPhysicalMemProp){.memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
}

static aclrtDrvMemHandle physical(size_t size) {
    const aclrtPhysicalMemProp p = prop();
    aclrtDrvMemHandle h = NULL;
    OK(aclrtMallocPhysical(&h, size, &p, 0));
    return h;
}

/* Pages can change behind one address, also under a captured graph. */
static void swapped_behind_a_graph(void) {
    up();
    aclrtDrvMemHandle a = physical(MIB2), b = physical(MIB2);
    void *va = NULL;
    unsigned char *out = device(1);
    OK(aclrtReserveMemAddress(&va, 2 * MIB2, 0, NULL, 0));
    OK(aclrtMapMem(va, MIB2, 0, b, 0));
    OK(aclrtMemset(va, 1, 2, 1));
    OK(aclrtUnmapMem(va));
    OK(aclrtMapMem(va, MIB2, 0, a, 0));
    OK(aclrtMemset(va, 1, 1, 1));
    aclrtStream s = new_stream();
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtMemcpyAsync(out, 1, va, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, s));
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(out) == 1);
    OK(aclrtUnmapMem(va));
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStream(s), 507053);
    OK(aclrtMapMem(va, MIB2, 0, b, 0));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(out) == 2);
}

static void neighbours_and_lifetimes(void) {
    up();
    aclrtDrvMemHandle a = physical(MIB2), b = physical(MIB2), again = NULL;
    char *va = NULL;
    OK(aclrtReserveMemAddress((void **)&va, 4 * MIB2, 0, NULL, 0));
    OK(aclrtMapMem(va, MIB2, 0, a, 0));
    OK(aclrtMapMem(va + MIB2, MIB2, 0, b, 0));
    OK(aclrtMemset(va + MIB2 - 8, 16, 7, 16)); /* across both */
    CHECK(byte_at(va + MIB2 - 1) == 7 && byte_at(va + MIB2 + 7) == 7);
    CODE(aclrtMemset(va + 2 * MIB2 - 8, 16, 7, 16), 107000);
    CODE(aclrtMapMem(va, MIB2, 0, b, 0), 107000);
    OK(aclrtFreePhysical(a));
    CODE(aclrtFreePhysical(a), 107017);
    CHECK(byte_at(va + MIB2 - 1) == 7); /* still mapped */
    OK(aclrtMemRetainAllocationHandle(va, &again));
    OK(aclrtUnmapMem(va));
    OK(aclrtMapMem(va + 2 * MIB2, MIB2, 0, again, 0));
    CHECK(byte_at(va + 3 * MIB2 - 1) == 7);
    CODE(aclrtReleaseMemAddress(va), 107000);
    OK(aclrtUnmapMem(va + MIB2));
    OK(aclrtUnmapMem(va + 2 * MIB2));
    CHECK(live().device_allocations == 3); /* two blocks and the range */
    OK(aclrtFreePhysical(again));
    OK(aclrtFreePhysical(b));
    OK(aclrtReleaseMemAddress(va));
    CHECK(live().device_allocations == 0 && live().device_bytes == 0);
}

static void host_pages(void) {
    up();
    aclrtPhysicalMemProp p = prop(), got;
    p.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    p.memAttr = ACL_DDR_MEM_HUGE;
    aclrtDrvMemHandle h = NULL;
    unsigned char *va = NULL, *d = device(4);
    OK(aclrtMallocPhysical(&h, MIB2, &p, 0));
    OK(aclrtMemGetAllocationPropertiesFromHandle(h, &got));
    CHECK(got.memAttr == ACL_MEM_HUGE && got.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtReserveMemAddress((void **)&va, MIB2, 0, NULL, 0));
    OK(aclrtMapMem(va, MIB2, 0, h, 0));
    va[3] = 9; /* the host reaches it */
    aclrtStream s = new_stream();
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemcpyAsync(d, 4, va, 4, ACL_MEMCPY_HOST_TO_DEVICE, s));
    OK(aclrtMemcpyAsync(d, 4, va, 4, ACL_MEMCPY_HOST_TO_DEVICE, s));
    OK(aclrtUnmapMem(va)); /* work in the queue meets nothing, and does not crash */
    OK(mock_acl_release_stream(s));
    CODE(aclrtSynchronizeStream(s), 507053);
    OK(aclrtMapMem(va, MIB2, 0, h, 0));
    OK(aclrtMemcpy(d, 4, va, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(byte_at(d + 3) == 9);
}

/* Memory of a pool of pages is released in the middle of executing work. */
static void release_inside(void *va) {
    OK(aclrtUnmapMem(va));
    OK(aclrtReleaseMemAddress(va));
}

static void released_by_a_host_function(void) {
    up();
    aclrtDrvMemHandle h = physical(MIB2);
    void *va = NULL;
    OK(aclrtReserveMemAddress(&va, MIB2, 0, NULL, 0));
    OK(aclrtMapMem(va, MIB2, 0, h, 0));
    aclrtStream s = new_stream();
    OK(aclrtLaunchHostFunc(s, release_inside, va));
    OK(aclrtMemsetAsync(va, 8, 0, 8, s));
    CODE(aclrtSynchronizeStream(s), 507053);
    OK(aclrtReserveMemAddress(&va, MIB2, 0, NULL, 0));
    OK(aclrtReleaseMemAddress(va));
    OK(aclrtFreePhysical(h));
}

static void keys(void) {
    up();
    char key[65], other[65];
    unsigned char *d = device(3000);
    void *p = NULL, *q = NULL;
    int32_t self = (int32_t)getpid();
    OK(aclrtMemset(d, 3000, 5, 3000));
    OK(aclrtIpcMemGetExportKey(d + 10, 2000, key, sizeof key, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
    CODE(aclrtIpcMemImportByKey(&p, key, 0), 507899); /* not on the list */
    OK(aclrtIpcMemSetImportPid(key, &self, 1));
    OK(aclrtIpcMemImportByKey(&p, key, 0));
    OK(aclrtIpcMemImportByKey(&q, key, 0));
    CHECK(p == q && p != d + 10);
    OK(aclrtMemset((char *)p + 1999, 1, 6, 1));
    CHECK(byte_at(d + 2009) == 6);
    CODE(aclrtMemset((char *)p + 1999, 2, 6, 2), 107000); /* the end of what was exported */
    CODE(aclrtFree(p), 107000);
    memcpy(other, key, sizeof key);
    other[30] = other[30] == '0' ? '1' : '0';
    CODE(aclrtIpcMemImportByKey(&q, other, 0), 507899);
    CODE(aclrtIpcMemImportByKey(&q, "mock-acl-", 0), 107000);
    OK(aclrtIpcMemClose(key));
    OK(aclrtIpcMemClose(key)); /* as often as it was opened */
    CODE(aclrtMemset(p, 1, 6, 1), 107000);
    OK(aclrtIpcMemClose(key)); /* the export */
    CODE(aclrtIpcMemClose(key), 107000);
    CODE(aclrtIpcMemImportByKey(&p, key, 0), 507899);
    CHECK(live().device_allocations == 1);
}

/* Handles that nobody made: every process and card number, and files that are none of ours. */
static void forged_handles(void) {
    up();
    aclrtDrvMemHandle h = physical(MIB2), in = NULL;
    uint64_t good = 0, random = 1;
    OK(aclrtMemExportToShareableHandle(h, ACL_MEM_HANDLE_TYPE_NONE, 1, &good));
    for (int i = 0; i < 300; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t forged = i % 2 == 0 ? random : good ^ (UINT64_C(1) << (random >> 58));
        CODE(aclrtMemImportFromShareableHandle(forged, 0, &in), 507899);
    }
    aclrtMemFabricHandle f;
    memset(&f, 0xA5, sizeof f);
    CODE(aclrtMemImportFromShareableHandleV2(&f, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &in), 507899);
    OK(aclrtMemImportFromShareableHandle(good, 0, &in));
    OK(aclrtFreePhysical(in));
}

static void too_many_exports(void) {
    up();
    char key[65];
    void *d = device(64);
    int made = 0, code = 0;
    while (code == 0 && made < 5000) {
        code = aclrtIpcMemGetExportKey(d, 64, key, sizeof key, 1);
        made += code == 0;
    }
    CHECK(code == 207005 && made > 4000);
    up();
    d = device(64);
    OK(aclrtIpcMemGetExportKey(d, 64, key, sizeof key, 1));
}

static void managed(void) {
    up();
    unsigned char *m = NULL, *d = device(8);
    OK(aclrtMemAllocManaged((void **)&m, MIB2 + 1, ACL_RT_MEM_ATTACH_GLOBAL));
    m[MIB2] = 4; /* rounded up to 4 MiB, and the host writes it */
    aclrtStream s = new_stream();
    OK(aclrtMemcpyAsync(d, 8, m + MIB2, 1, ACL_MEMCPY_DEFAULT, s));
    OK(aclrtMemsetAsync(m, 1, 8, 1, s));
    OK(aclrtMemcpyAsync(m + 8, 8, m, 1, ACL_MEMCPY_DEFAULT, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 4 && m[8] == 8);
    int32_t value = 0, readers[4];
    const aclrtMemManagedLocation zero = {ACL_MEM_LOCATIONTYPE_DEVICE, 0}, host = {ACL_MEM_LOCATIONTYPE_HOST, 0};
    OK(aclrtMemManagedAdvise(m, 2 * MIB2, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, zero));
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m, 2 * MIB2, &value, 4));
    CHECK(value == 0);
    OK(aclrtMemManagedAdvise(m, MIB2, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m, MIB2, &value, 4));
    CHECK(value == -1);
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m, 2 * MIB2, &value, 4));
    CHECK(value == -2);
    OK(aclrtMemManagedAdvise(m, 2 * MIB2, ACL_MEM_ADVISE_SET_ACCESSED_BY, zero));
    OK(aclrtMemManagedAdvise(m, 2 * MIB2, ACL_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, m, 2 * MIB2, readers, sizeof readers));
    CHECK(readers[0] == 0 && readers[1] == -1 && readers[2] == -2);
    OK(aclrtMemManagedPrefetchAsync(m, MIB2, zero, 0, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m, MIB2, &value, 4));
    CHECK(value == 0);
    CODE(aclrtMemManagedAdvise(m, 3 * MIB2, ACL_MEM_ADVISE_SET_READ_MOSTLY, host), 107000);
    CODE(aclrtMemManagedPrefetchAsync(m, 5, zero, 0, s), 107000);
    CODE(aclrtFree(m + MIB2), 107000);
    OK(aclrtFree(m));
    CODE(aclrtFree(m), 107000);
    CHECK(live().device_allocations == 1);
}

int main(void) {
    swapped_behind_a_graph();
    neighbours_and_lifetimes();
    host_pages();
    released_by_a_host_function();
    keys();
    forged_handles();
    too_many_exports();
    managed();
    OK(mock_acl_reset());
    CHECK(live().device_allocations == 0 && live().device_bytes == 0);
    return 0;
}
