/* Part of racl (mock-acl). Limits and refusals that no other test meets, part by part. */
#include <unistd.h>
#include "acl/acl_tdt_queue.h"
#include "check.h"
#include "kernels/binaries/kernels.h"

/* ---- callbacks ---- */

static int32_t told;

static int32_t fails_after(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *args) {
    (void)device, (void)timeout, (void)args;
    told++;
    return stage == ACL_RT_DEVICE_TASK_ABORT_POST;
}

static void an_abort_callback_that_fails_afterwards(void) {
    up();
    unsigned char *memory = device(8);
    aclrtStream s = new_stream();
    OK(aclrtMemset(memory, 8, 0, 8));
    OK(aclrtSetDeviceTaskAbortCallback("one", fails_after, NULL));
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(memory, 8, 1, 8, s));
    CODE(aclrtDeviceTaskAbort(0, 0), 107035);
    CHECK(told == 2 && byte_at(memory) == 0); /* the work is gone all the same */
    OK(aclrtSetDeviceTaskAbortCallback("one", NULL, NULL));
}

static void on_stream(aclrtStream s, aclrtStreamState state, void *args) { (void)s, (void)state, (void)args; }

static void many_callbacks(void) {
    up();
    char name[32];
    int code = 0, n = 0;
    for (; code == 0 && n < 1000; n++) {
        snprintf(name, sizeof name, "name %d", n);
        code = (int)aclrtRegStreamStateCallback(name, on_stream, NULL);
    }
    CHECK(code == 207012 && n > 1);
    OK(aclrtRegStreamStateCallback("name 0", NULL, NULL)); /* a place is free again */
    OK(aclrtRegStreamStateCallback(name, on_stream, NULL));
    CODE(aclrtRegStreamStateCallback(name, on_stream, NULL), 107000);
    CODE(aclrtRegStreamStateCallback("unknown", NULL, NULL), 107000);
}

/* ---- gates by the number of a stream ---- */

static void gates_by_number(void) {
    up();
    unsigned char *memory = device(8);
    aclrtStream s = new_stream();
    int32_t id = -1;
    OK(aclrtMemset(memory, 8, 0, 8));
    OK(aclrtStreamGetId(s, &id));
    CHECK(mock_acl_hold_stream_id(id) == 0 && mock_acl_hold_stream_id(9999) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_release_stream_id(9999) == MOCK_ACL_BAD_ARGUMENT);
    OK(aclrtMemsetAsync(memory, 8, 1, 8, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 1), 507046);
    CHECK(byte_at(memory) == 0);
    CHECK(mock_acl_release_stream_id(id) == 0);
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(memory) == 1);
    CHECK(mock_acl_hold_stream(NULL) == 0 && mock_acl_release_stream_id(-1) == 0);
    OK(aclrtResetDevice(0));
    CHECK(mock_acl_hold_stream(NULL) == MOCK_ACL_BAD_ARGUMENT); /* no context, no default stream */
    CHECK(mock_acl_calls(NULL) == 0 && mock_acl_lookup(NULL) == NULL && mock_acl_calls("no such call") == 0);
    CHECK(mock_acl_fail(NULL, 1, 1) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_fail("aclrtFree", 0, 1) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_fail("aclrtFree", 1, 0) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_fail_task("nothing", 1, 507015) == MOCK_ACL_BAD_ARGUMENT);
}

/* Two failures of one call: each has its turn. */
static void failures_in_turn(void) {
    up();
    CHECK(mock_acl_fail("aclrtSynchronizeDevice", 2, 500) == 0);
    CHECK(mock_acl_fail("aclrtSynchronizeDevice", 2, 501) == 0);
    CHECK(mock_acl_fail("aclrtMalloc", 1, 502) == 0);
    OK(aclrtSynchronizeDevice());
    const int first = (int)aclrtSynchronizeDevice();
    CHECK(first == 500 || first == 501);
    mock_acl_clear_failures();
    OK(aclrtSynchronizeDevice());
    OK(aclrtFree(device(8)));
}

/* ---- launches ---- */

static void attributes_reach_the_kernel(void) {
    up();
    aclrtBinHandle b = NULL;
    aclrtFuncHandle report = NULL;
    aclrtStream s = new_stream();
    uint64_t *out = device(64), seen[8];
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &b));
    OK(aclrtBinaryGetFunction(b, "report", &report));
    aclrtLaunchKernelAttr attributes[] = {{.id = ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE},
        {.id = ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING}};
    attributes[0].value.dynUBufSize = 4096;
    aclrtLaunchKernelCfg config = {attributes, 2};
    OK(aclrtLaunchKernelWithHostArgs(report, 3, s, &config, &out, sizeof out, NULL, 0));
    OK(aclrtSynchronizeStream(s));
    read_back(seen, out, sizeof seen);
    CHECK(seen[0] == 2 && seen[1] == 3 && seen[2] == 8 && seen[7] == 4096);
    aclrtArgsHandle list = NULL;
    char memory[256];
    OK(aclrtKernelArgsInit(report, &list));
    CODE(aclrtKernelArgsInitByUserMem(report, list, memory, sizeof memory), 107000); /* it is the runtime's */
    OK(aclrtBinaryUnLoad(b));
}

/* ---- memory ---- */

static void physical_properties(void) {
    up();
    size_t step = 0, unused = 0, total = 0;
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total));
    aclrtPhysicalMemProp p = {
        .memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}}, got;
    CODE(aclrtMemGetAllocationGranularity(&p, (aclrtMemGranularityOptions)7, &step), 107000);
    OK(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &step));
    CHECK(step == 2 << 20);
    /* asked for by a name without memory, told by one with it */
    static const aclrtMemAttr names[][3] = {{ACL_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G},
        {ACL_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_MEM_HUGE}, {ACL_MEM_NORMAL, ACL_HBM_MEM_NORMAL, ACL_MEM_NORMAL}};
    for (int host = 0; host < 2; host++) {
        for (int i = 0; i < 3; i++) {
            aclrtDrvMemHandle h = NULL;
            p.memAttr = names[i][0];
            p.location.type = host ? ACL_MEM_LOCATION_TYPE_HOST_NUMA : ACL_MEM_LOCATION_TYPE_DEVICE;
            OK(aclrtMemGetAllocationGranularity(&p, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &step));
            CHECK(step == (size_t)(i == 0 ? 1 << 30 : 2 << 20));
            if (step > total) continue; /* little address space */
            OK(aclrtMallocPhysical(&h, step, &p, 0));
            OK(aclrtMemGetAllocationPropertiesFromHandle(h, &got));
            CHECK(got.memAttr == names[i][1 + host]);
            OK(aclrtFreePhysical(h));
        }
    }
}

static void ranges_of_addresses(void) {
    up();
    void *range = NULL, *base = NULL, *managed = NULL;
    size_t size = 0;
    uint32_t what = 0;
    aclrtPtrAttributes a;
    OK(aclrtMemAllocManaged(&managed, 100, ACL_RT_MEM_ATTACH_GLOBAL));
    OK(aclrtMemGetAddressRange((char *)managed + 7, &base, &size));
    CHECK(base == managed && size == 2 << 20);
    OK(aclrtReserveMemAddress(&range, 4 << 20, 0, NULL, 0));
    CODE(aclrtMemGetAddressRange(range, &base, &size), 107000); /* nothing is mapped there */
    CODE(aclrtMemGetAddressRange(&size, &base, &size), 107000);
    OK(aclrtPointerGetAttributes(range, &a));
    OK(aclrtPointerGetAttributes(managed, &a));
    CODE(aclrtCheckMemType(&range, 1, ACL_RT_MEM_TYPE_DEV, &what, 1), 107000);
    OK(aclrtCheckMemType(&range, 1, ACL_RT_MEM_TYPE_RSVD, &what, 0));
    CHECK(what == 1);
    OK(aclrtCheckMemType(&managed, 1, ACL_RT_MEM_TYPE_DEV, &what, 0));
    CHECK(what == 1);
    OK(aclrtCheckMemType(&managed, 1, ACL_RT_MEM_TYPE_RSVD, &what, 0));
    CHECK(what == 0);
}

static void addresses_in_the_wrong_place(void) {
    up();
    char host[64] = {0};
    uint32_t q = 0;
    aclrtStream s = new_stream();
    void *freed = device(64);
    OK(aclrtFree(freed));
    OK(acltdtCreateQueue(NULL, &q));
    CODE(acltdtEnqueueData(q, freed, 64, NULL, 0, 0, 0), 107000);
    size_t size = 0;
    CODE(acltdtDequeueData(q, freed, 64, &size, NULL, 0, 0), 107000);
    OK(acltdtDestroyQueue(q));
    CODE(aclrtCmoSetDesc(freed, host, 8), 107000);
    CODE(aclrtReduceAsync(host, host, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, s, NULL), 107000);
}

static void settings_of_streams(void) {
    up();
    aclrtStream s = new_stream();
    aclrtStreamAttrValue value = {0};
    uint32_t priority = 0;
    value.streamPriority = 9;
    OK(aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_PRIORITY, &value));
    OK(aclrtStreamGetPriority(s, &priority));
    CHECK(priority == 7); /* cut to what there is */
    value.streamPriority = 3;
    OK(aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_PRIORITY, &value));
    OK(aclrtStreamGetPriority(s, &priority));
    CHECK(priority == 3);
    CODE(aclrtSetStreamAttribute(s, (aclrtStreamAttr)77, &value), 107000);
}

/* ---- graphs ---- */

static void a_capture_in_text(void) {
    up();
    aclrtStream s = new_stream(), t = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    aclmdlRI model = NULL;
    aclmdlRICaptureStatus status;
    aclrtStream streams[4];
    uint32_t n = 4;
    char path[] = "/tmp/mock-acl-corners-XXXXXX", text[8192];
    const int file = mkstemp(path);
    CHECK(file >= 0 && close(file) == 0);
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureGetInfo(s, &status, &model));
    OK(aclmdlRIGetStreams(model, streams, &n)); /* (observed: graph_tasks) */
    CHECK(n == 1 && streams[0] != NULL && streams[1] == NULL);
    OK(aclrtRecordEvent(e, s));
    OK(aclrtStreamWaitEvent(t, e));
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, t));
    OK(aclrtRecordEvent(e, t));
    OK(aclrtStreamWaitEvent(s, e));
    OK(aclmdlRICaptureEnd(s, &model));
    OK(aclmdlRIDebugJsonPrint(model, path, 1));
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    CHECK(fclose(f) == 0 && unlink(path) == 0);
    CHECK(strstr(text, "\"eventId\": 0") != NULL && strstr(text, "\"eventId\": 1") != NULL);
    CHECK(setenv("MOCK_ACL_LOG", "1", 1) == 0);
    OK(aclmdlRIDebugPrint(model));
    CHECK(unsetenv("MOCK_ACL_LOG") == 0);
    OK(aclmdlRIDestroy(model));
}

int main(void) {
    an_abort_callback_that_fails_afterwards();
    many_callbacks();
    gates_by_number();
    failures_in_turn();
    attributes_reach_the_kernel();
    physical_properties();
    ranges_of_addresses();
    addresses_in_the_wrong_place();
    settings_of_streams();
    a_capture_in_text();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
