/* Part of racl (mock-acl). Cards, visible devices, and what a reset of the mock gives back. */
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "memory/memory.h"

/* A process of its own, which has not read the environment yet. */
static void apart(const char *name, const char *value, void (*run)(void)) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (name != NULL) CHECK(setenv(name, value, 1) == 0);
        run();
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int64_t info(int attribute) {
    int64_t value = -1;
    OK(aclrtGetDeviceInfo(0, (aclrtDevAttr)attribute, &value));
    return value;
}

static void card(const char *name, int cores, int64_t l2, uint64_t memory) {
    int64_t value = 0;
    uint32_t limit = 0;
    size_t free_bytes = 0, total = 0;
    up();
    CHECK(strcmp(aclrtGetSocName(), name) == 0);
    CHECK(info(ACL_DEV_ATTR_AICORE_CORE_NUM) == cores && info(ACL_DEV_ATTR_CUBE_CORE_NUM) == cores);
    CHECK(info(ACL_DEV_ATTR_VECTOR_CORE_NUM) == 2 * cores);
    CHECK(info(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE) == (int64_t)memory);
    CHECK(info(ACL_DEV_ATTR_NPU_ARCH) == 2201);
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &value));
    CHECK(value == l2);
    OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &limit));
    CHECK((int)limit == cores);
    CODE(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, limit + 1), 107000);
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    const bool small = getenv("MOCK_TEST_SMALL") != NULL; /* little address space, as under Valgrind */
    CHECK(total <= memory && total >= memory / (small ? 1024 : 64));
}

static void b1(void) { card("Ascend910B1", 24, INT64_C(192) << 20, 64 * MOCK_GIB); }
static void b2(void) { card("Ascend910B2", 24, INT64_C(192) << 20, 64 * MOCK_GIB); }
static void b3(void) { card("Ascend910B3", 20, INT64_C(192) << 20, 64 * MOCK_GIB); }
static void b4(void) { card("Ascend910B4", 20, INT64_C(96) << 20, 32 * MOCK_GIB); }

static void cards(void) {
    apart(NULL, NULL, b2);
    apart("MOCK_ACL_SOC", "Ascend910B1", b1);
    apart("MOCK_ACL_SOC", "910b3", b3);
    apart("MOCK_ACL_SOC", "ASCEND910B4", b4);
    apart("MOCK_ACL_SOC", "910C", b2); /* with a line on standard error */
}

/* Eight devices, of which a list shows three, in its order. */
static void shown(void) {
    static const int32_t logic[] = {5, 0, 7};
    uint32_t count = 0;
    int32_t id = -1;
    OK(aclrtGetDeviceCount(&count));
    CHECK(count == 3);
    for (int32_t i = 0; i < 3; i++) {
        OK(aclrtGetLogicDevIdByUserDevId(i, &id));
        CHECK(id == logic[i]);
        OK(aclrtGetUserDevIdByPhyDevId(logic[i], &id));
        CHECK(id == i);
        OK(aclrtSetDevice(i));
        OK(aclrtFree(device(1 << 20)));
        OK(aclrtResetDevice(i));
    }
    CODE(aclrtGetUserDevIdByLogicDevId(1, &id), 107001);
    CODE(aclrtGetUserDevIdByLogicDevId(8, &id), 107001);
    CODE(aclrtGetLogicDevIdByUserDevId(3, &id), 107001);
    CODE(aclrtSetDevice(5), 107001);
    char bus[16];
    OK(aclrtDeviceGetPCIBusId(0, bus, sizeof bus));
    CHECK(strcmp(bus, "0000:c5:00.0") == 0);
    CODE(aclrtDeviceGetByPCIBusId("0000:c1:00.0", &id), 107001);
    OK(aclrtDeviceGetByPCIBusId("0000:C7:00.0", &id));
    CHECK(id == 2);
    CODE(aclrtDeviceGetByPCIBusId("0000:c7:00.1", &id), 107000);
    CODE(aclrtDeviceGetByPCIBusId("0000:c7:00.0x", &id), 107000);
    CODE(aclrtDeviceGetByPCIBusId("+000:c7:00.0", &id), 107000);
}

static void visible(void) {
    CHECK(setenv("MOCK_ACL_DEVICES", "8", 1) == 0);
    apart("ASCEND_RT_VISIBLE_DEVICES", "5,0,7", shown);
    apart("ASCEND_RT_VISIBLE_DEVICES", "5, 0 ,7,8,1", shown);
    apart("ASCEND_RT_VISIBLE_DEVICES", "5,0,7,-1", shown);
    apart("ASCEND_RT_VISIBLE_DEVICES", "5,0,7,18446744073709551616", shown);
    apart("ASCEND_RT_VISIBLE_DEVICES", "5,0,7,,1", shown);
    unsetenv("MOCK_ACL_DEVICES");
}

static aclError ignore(const char *text, size_t length, void *user) {
    (void)text;
    (void)length;
    (void)user;
    return 0;
}

static aclError at_the_end(void *user) {
    (void)user;
    exit(1);
}

static uint32_t also_never(int32_t id, void *args) {
    (void)id;
    (void)args;
    exit(1);
}

static int init(const char *text) {
    char path[] = "/tmp/mock-acl-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const int code = (int)aclInit(path);
    unlink(path);
    return code;
}

/* A reset gives a process as new: configuration, callbacks, limits, access, states. */
static void dirty(void) {
    int32_t id = -1;
    CODE(init("{\"a\":1,\"defaultDevice\":{\"default_device\":\"1\"},\"err_msg_mode\":\"1\"}"), 0);
    OK(aclrtGetDevice(&id));
    CHECK(id == 1);
    OK(aclrtDeviceEnablePeerAccess(0, 0));
    OK(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 65536));
    OK(aclrtSnapShotProcessLock(getpid(), NULL));
    OK(aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, also_never, NULL));
    OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, at_the_end, NULL));
    CODE(aclrtMalloc(NULL, 1, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
}

static void fresh(void) {
    size_t size = 0;
    int32_t status = -1, id = -1;
    dirty();
    CHECK(mock_acl_reset() == 0);
    CODE(aclrtGetDevice(&id), 107002);
    OK(aclInit(NULL));
    OK(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, ignore, NULL));
    OK(aclFinalize());
    CODE(init("{}"), 100000);
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    (void)aclGetRecentErrMsg();
    CHECK(aclGetRecentErrMsg() == NULL);
    OK(aclrtDevicePeerAccessStatus(1, 0, &status));
    CHECK(status == 0);
    OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &size));
    CHECK(size == 32768);
    OK(aclrtSnapShotProcessLock(getpid(), NULL));
}

static void resets(void) {
    apart("MOCK_ACL_DEVICES", "2", fresh);
}

/* The fortieth error text and the first: all there, the newest on top, of the process. */
static void *fail_often(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    for (int i = 0; i < 40; i++) CODE(aclrtSetDevice(99), 107001);
    return NULL;
}

static void shared_texts(void) {
    pthread_t threads[4];
    CODE(init("{\"err_msg_mode\":\"1\"}"), 0);
    OK(aclrtSetDevice(0));
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, fail_often, NULL) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL);
    int lines = 1;
    for (const char *p = text; *p != '\0'; p++) lines += *p == '\n';
    CHECK(lines == 160);
    CHECK(aclGetRecentErrMsg() == NULL);
}

static void use_device(void) {
    const int again = aclInit(NULL);
    CHECK(again == 0 || again == 100002);
    OK(aclrtSetDevice(0));
    aclrtStream s = new_stream();
    OK(aclrtMemsetAsync(device(8), 8, 1, 8, s));
    OK(aclrtSynchronizeStream(s));
}

static void find_no_device(void) { CODE(aclrtSetDevice(0), 507000); }

/* A child may use devices as long as its parent has used none. */
__attribute__((unused)) static void forks(void) {
    uint32_t count = 0;
    OK(aclInit(NULL));
    OK(aclrtGetDeviceCount(&count));
    apart(NULL, NULL, use_device);
    use_device();
    apart(NULL, NULL, find_no_device);
    CHECK(mock_acl_reset() == 0);
    apart(NULL, NULL, find_no_device);
}

__attribute__((unused)) static void all_forks(void) {
    apart(NULL, NULL, forks);
    apart("MOCK_ACL_WORKERS", "2", forks);
}

int main(void) {
/* Their runtimes may not go on in the child of a process with threads: locks of theirs stay taken. */
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    all_forks();
#endif
    cards();
    visible();
    resets();
    apart(NULL, NULL, shared_texts);
    return 0;
}
