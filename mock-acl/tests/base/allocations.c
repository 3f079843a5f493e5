/* Part of racl (mock-acl). Host memory that runs out: whatever allocation fails, a call gives an error or does without;
 * nothing crashes or hangs, and what was refused can be given back. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "models/writer.h"

enum { MOST = 400, LIMIT_S = 20, FIRED = 0, NOT_REACHED = 9 };

/* ---- allocations fail from here on ---- */

static _Atomic int left = -1; /* how many succeed; below 0: all */
static _Atomic int fired;

static int fails(void) {
    if (left < 0) return 0;
    if (left-- != 0) return 0;
    fired = 1;
    return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__real_mmap(void *p, size_t size, int rights, int flags, int fd, off_t offset);
int __real_memfd_create(const char *name, unsigned flags);
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return fails() ? NULL : __real_realloc(p, size); }
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }
void *__wrap_mmap(void *p, size_t size, int rights, int flags, int fd, off_t offset) {
    return fails() ? MAP_FAILED : __real_mmap(p, size, rights, flags, fd, offset);
}
int __wrap_memfd_create(const char *name, unsigned flags) {
    return fails() ? -1 : __real_memfd_create(name, flags);
}

/* ---- what is called meanwhile; what each call says is not looked at ---- */

static void nothing(void *data) { (void)data; }

static void streams_and_events(void) {
    aclrtStream s = NULL;
    aclrtEvent e = NULL, old = NULL;
    aclrtNotify n = NULL;
    aclrtLabel label = NULL;
    aclrtContext c = NULL;
    (void)aclrtCreateContext(&c, 0);
    (void)aclrtCreateStream(&s);
    (void)aclrtCreateEventExWithFlag(&e, ACL_EVENT_SYNC);
    (void)aclrtCreateEvent(&old);
    (void)aclrtRecordEvent(e, s);
    (void)aclrtStreamWaitEvent(s, e);
    (void)aclrtRecordEvent(old, s);
    (void)aclrtCreateNotify(&n, 0);
    (void)aclrtRecordNotify(n, s);
    (void)aclrtWaitAndResetNotify(n, s, 0);
    (void)aclrtCreateLabel(&label);
    (void)aclrtLaunchHostFunc(s, nothing, NULL);
    (void)aclrtSynchronizeStream(s);
    (void)aclrtDestroyLabel(label);
    (void)aclrtDestroyNotify(n);
    (void)aclrtDestroyEvent(e);
    (void)aclrtDestroyEvent(old);
    (void)aclrtDestroyStream(s);
    (void)aclrtDestroyContext(c);
}

static void memory(void) {
    void *p = NULL, *host = NULL, *managed = NULL, *at = NULL;
    aclrtDrvMemHandle physical = NULL;
    aclrtPhysicalMemProp prop = {.memAttr = ACL_HBM_MEM_HUGE, .location.type = ACL_MEM_LOCATION_TYPE_DEVICE};
    (void)aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    (void)aclrtMallocHost(&host, 64);
    (void)aclrtMemAllocManaged(&managed, 4096, ACL_RT_MEM_ATTACH_GLOBAL);
    (void)aclrtMallocPhysical(&physical, 2 << 20, &prop, 0);
    (void)aclrtReserveMemAddress(&at, 2 << 20, 0, NULL, 0);
    (void)aclrtMapMem(at, 2 << 20, 0, physical, 0);
    if (p != NULL && host != NULL) (void)aclrtMemcpy(p, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
    (void)aclrtUnmapMem(at);
    (void)aclrtReleaseMemAddress(at);
    (void)aclrtFreePhysical(physical);
    (void)aclrtFree(managed);
    (void)aclrtFreeHost(host);
    (void)aclrtFree(p);
}

static void capture(void) {
    static char bytes[4096];
    aclrtStream s = NULL, other = NULL;
    aclrtEvent e = NULL;
    aclmdlRI graph = NULL;
    void *p = NULL;
    (void)aclrtMalloc(&p, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    (void)aclrtCreateStream(&s);
    (void)aclrtCreateStream(&other);
    (void)aclrtCreateEventExWithFlag(&e, ACL_EVENT_SYNC);
    (void)aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    (void)aclrtMemsetAsync(p, 64, 1, 64, s);
    (void)aclrtRecordEvent(e, s);
    (void)aclrtStreamWaitEvent(other, e);
    (void)aclrtMemsetAsync(p, 64, 1, 64, other);
    (void)aclrtRecordEvent(e, other);
    (void)aclrtStreamWaitEvent(s, e);
    (void)aclrtMemcpyAsync(p, sizeof bytes, bytes, sizeof bytes, ACL_MEMCPY_HOST_TO_DEVICE, s);
    (void)aclmdlRICaptureEnd(s, &graph);
    (void)aclmdlRIExecuteAsync(graph, s);
    (void)aclrtSynchronizeStream(s);
    (void)aclmdlRIDestroy(graph);
    (void)aclrtDestroyEvent(e);
    (void)aclrtDestroyStream(other);
    (void)aclrtDestroyStream(s);
    (void)aclrtFree(p);
}

static void queues(void) {
    uint32_t id = 0, to = 0;
    char data[8] = "message";
    acltdtQueueAttr *a = acltdtCreateQueueAttr();
    (void)acltdtCreateQueue(a, &id);
    (void)acltdtCreateQueue(a, &to);
    acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
    acltdtQueueRoute *route = acltdtCreateQueueRoute(id, to);
    (void)acltdtAddQueueRoute(list, route);
    (void)acltdtBindQueueRoutes(list);
    acltdtBuf buffer = NULL;
    (void)acltdtAllocBuf(64, 0, &buffer);
    (void)acltdtEnqueue(id, buffer, 0);
    size_t got = 0;
    (void)acltdtEnqueueData(id, data, sizeof data, NULL, 0, 0, 0);
    (void)acltdtDequeueData(to, data, sizeof data, &got, NULL, 0, 0);
    acltdtQueueRouteQueryInfo *query = acltdtCreateQueueRouteQueryInfo();
    (void)acltdtDestroyQueueRouteQueryInfo(query);
    (void)acltdtUnbindQueueRoutes(list);
    (void)acltdtDestroyQueueRoute(route);
    (void)acltdtDestroyQueueRouteList(list);
    (void)acltdtDestroyQueue(id);
    (void)acltdtDestroyQueue(to);
    (void)acltdtDestroyQueueAttr(a);
}

static void channels(void) {
    const int64_t dims[] = {8};
    char data[8] = "message";
    acltdtChannelHandle *c = acltdtCreateChannelWithCapacity(0, "channel", 4);
    acltdtDataset *set = acltdtCreateDataset();
    acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT8, data, sizeof data);
    (void)acltdtAddDataItem(set, item);
    (void)acltdtSendTensor(c, set, 0);
    (void)acltdtDestroyDataItem(item);
    (void)acltdtDestroyDataset(set);
    (void)acltdtDestroyChannel(c);
}

static void descriptions(void) {
    const int64_t dims[] = {1, 3, 4, 4};
    int64_t range[][2] = {{1, 2}};
    char value[4] = {0};
    aclTensorDesc *d = aclCreateTensorDesc(ACL_FLOAT, 4, dims, ACL_FORMAT_NCHW), *to = NULL;
    aclSetTensorDescName(d, "name");
    (void)aclSetTensorShapeRange(d, 1, range);
    (void)aclSetTensorValueRange(d, 1, range);
    (void)aclSetTensorDynamicInput(d, "dynamic");
    (void)aclSetTensorConst(d, value, sizeof value);
    (void)aclTransTensorDescFormat(d, ACL_FORMAT_NHWC, &to);
    aclDestroyTensorDesc(to);
    aclDestroyTensorDesc(d);
    (void)aclmdlDestroyAIPP(aclmdlCreateAIPP(2));
    aclmdlConfigHandle *c = aclmdlCreateConfigHandle();
    const char *path = "model";
    (void)aclmdlSetConfigOpt(c, ACL_MDL_PATH_PTR, &path, sizeof path);
    (void)aclmdlSetExternalWeightAddress(c, "file", value, sizeof value);
    (void)aclmdlDestroyConfigHandle(c);
    aclmdlExecConfigHandle *run = aclmdlCreateExecConfigHandle();
    (void)aclmdlDestroyExecConfigHandle(run);
}

static void operators(void) {
    const int64_t dims[] = {4}, one[] = {1};
    const float number = 1;
    void *p = NULL;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    (void)aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    aclTensor *x = aclCreateTensor(dims, 1, ACL_FLOAT, one, 0, ACL_FORMAT_ND, dims, 1, p);
    aclScalar *alpha = aclCreateScalar((void *)(uintptr_t)&number, ACL_FLOAT);
    aclIntArray *array = aclCreateIntArray(dims, 1);
    const aclTensor *members[] = {x};
    aclTensorList *list = x == NULL ? NULL : aclCreateTensorList(members, 1);
    if (x != NULL && alpha != NULL && aclnnAddGetWorkspaceSize(x, x, alpha, x, &size, &executor) == 0)
        (void)aclnnAdd(NULL, 0, executor, NULL);
    (void)aclDestroyIntArray(array);
    (void)aclDestroyScalar(alpha);
    if (list != NULL) (void)aclDestroyTensorList(list);
    else (void)aclDestroyTensor(x);
    (void)aclrtFree(p);
}

static void profiles_and_callbacks(void) {
    aclrtStream s = NULL;
    uint32_t ids[1] = {0};
    (void)aclrtCreateStream(&s);
    aclprofConfig *config = aclprofCreateConfig(ids, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API);
    (void)aclprofDestroyConfig(config);
    void *stamp = aclprofCreateStamp();
    aclprofDestroyStamp(stamp);
    (void)aclrtSubscribeReport(1, s);
    (void)aclrtLaunchCallback((aclrtCallback)nothing, NULL, ACL_CALLBACK_NO_BLOCK, s);
    (void)aclrtUnSubscribeReport(1, s);
    (void)aclrtDestroyStream(s);
}

static void setting_up(void) {
    (void)aclrtSetDevice(1);
    (void)aclrtResetDevice(1);
}

static model_writer model_file;

/* y = x + w */
static void write_model(void) {
    const int64_t four = 4;
    const float values[] = {1, 2, 3, 4};
    m_begin(&model_file);
    const uint32_t x = m_tensor(&model_file, "x", ACL_FLOAT, M_INPUT, 1, &four, NULL);
    const uint32_t w = m_weight(&model_file, "w", 1, &four, values, 4);
    const uint32_t y = m_tensor(&model_file, "y", ACL_FLOAT, M_OUTPUT, 1, &four, NULL);
    m_op(&model_file, "Add", 2, (uint32_t[]){x, w}, y, 0);
    m_finish(&model_file);
}

static void models(void) {
    uint32_t id = 0;
    void *p = NULL;
    (void)aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    (void)aclmdlLoadFromMem(model_file.bytes, model_file.size, &id);
    aclmdlDesc *d = aclmdlCreateDesc();
    (void)aclmdlGetDesc(d, id);
    aclmdlDataset *in = aclmdlCreateDataset(), *out = aclmdlCreateDataset();
    aclDataBuffer *x = aclCreateDataBuffer(p, 16), *y = aclCreateDataBuffer(p, 16);
    (void)aclmdlAddDatasetBuffer(in, x);
    (void)aclmdlAddDatasetBuffer(out, y);
    (void)aclmdlExecute(id, in, out);
    (void)aclDestroyDataBuffer(x);
    (void)aclDestroyDataBuffer(y);
    (void)aclmdlDestroyDataset(in);
    (void)aclmdlDestroyDataset(out);
    (void)aclmdlDestroyDesc(d);
    (void)aclmdlUnload(id);
    (void)aclrtFree(p);
}

static void kernels(void) {
    aclrtBinHandle binary = NULL;
    aclrtFuncHandle function = NULL;
    aclrtArgsHandle args = NULL;
    (void)aclrtBinaryLoadFromFile("build/kernels.so", NULL, &binary);
    (void)aclrtBinaryGetFunction(binary, "add", &function);
    (void)aclrtKernelArgsInit(function, &args);
    (void)aclrtBinaryUnLoad(binary);
}

/* In order as long as each call is taken: then no memory is no race. The checks end, or go on. */
static void races(void) {
    int bad = mock_acl_check_races(MOCK_ACL_RACES_REPORT) != MOCK_ACL_RACES_OFF;
    aclrtStream s[3] = {NULL, NULL, NULL};
    aclrtEvent e = NULL;
    aclrtCntNotify n = NULL;
    aclrtCntNotifyRecordInfo more = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
    aclrtCntNotifyWaitInfo two = {.mode = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, .value = 2};
    void *p = NULL;
    for (int i = 0; i < 3; i++) bad |= aclrtCreateStream(&s[i]);
    bad |= aclrtCreateEventExWithFlag(&e, ACL_EVENT_SYNC) | aclrtCntNotifyCreate(&n, 0);
    bad |= aclrtMalloc(&p, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < 6 && bad == 0; i++) {
        aclrtStream now = s[i % 2], next = s[(i + 1) % 2];
        bad |= aclrtMemsetAsync((char *)p + 64 * i, 256, 1, 256, now);
        bad |= aclrtRecordEvent(e, now) | aclrtStreamWaitEvent(next, e);
        bad |= aclrtMemcpyAsync((char *)p + 2048, 128, p, 128, ACL_MEMCPY_DEVICE_TO_DEVICE, next);
        bad |= aclrtRecordEvent(e, next) | aclrtStreamWaitEvent(now, e);
    }
    if (bad == 0) {
        bad |= aclrtCntNotifyRecord(n, s[0], &more) | aclrtCntNotifyRecord(n, s[1], &more);
        bad |= aclrtCntNotifyWaitWithTimeout(n, s[2], &two) | aclrtMemsetAsync(p, 4096, 2, 4096, s[2]);
        bad |= aclrtSynchronizeDevice();
    }
    if (bad == 0) CHECK(mock_acl_race_count() == 0);
    for (int i = 0; i < 3; i++) (void)aclrtDestroyStream(s[i]);
    (void)aclrtDestroyEvent(e);
    (void)aclrtCntNotifyDestroy(n);
    (void)aclrtFree(p);
    (void)mock_acl_check_races(MOCK_ACL_RACES_OFF);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"streams and events", streams_and_events}, {"memory", memory}, {"capture", capture}, {"queues", queues},
    {"channels", channels}, {"descriptions", descriptions}, {"operators", operators},
    {"profiles and callbacks", profiles_and_callbacks}, {"setting up", setting_up}, {"models", models},
    {"kernels", kernels}, {"races", races},
};

#ifdef MOCK_COVERAGE
void __gcov_dump(void);
#endif

/* In a process of its own: the allocation after `n` others fails. */
static void attempt(void (*run)(void), int n) {
    alarm(LIMIT_S);
    up();
    left = n;
    run();
    left = -1;
    up(); /* everything was given back, and it starts anew */
    OK(aclrtDestroyStream(new_stream()));
#ifdef MOCK_COVERAGE
    __gcov_dump();
#endif
    _exit(fired ? FIRED : NOT_REACHED);
}

/* Every allocation of the scenario in turn, until one more is not made. */
static int fail_each(size_t index) {
    for (int n = 0; n < MOST; n++) {
        int status = 0;
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) attempt(scenarios[index].run, n);
        CHECK(waitpid(pid, &status, 0) == pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REACHED) {
            printf("%s: %d allocations\n", scenarios[index].name, n);
            return n == 0;
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != FIRED) {
            const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            printf("%s: allocation %d failed, then signal %d or code %d\n", scenarios[index].name, n, signal,
                WEXITSTATUS(status));
            return 1;
        }
    }
    printf("%s: more than %d allocations\n", scenarios[index].name, MOST);
    return 1;
}

int main(void) {
    int bad = 0;
    setenv("MOCK_ACL_DEVICES", "2", 1);
    write_model();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) bad += fail_each(i);
    fflush(stdout);
    return bad != 0;
}
