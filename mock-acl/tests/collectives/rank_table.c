/* Part of racl (mock-acl). Communicators of rank tables. */
#include <sys/stat.h>
#include "collectives/ranks.h"

static char folder[] = "/tmp/mock-ranks-XXXXXX";

static const char *write_table(const char *name, const char *text) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    return path;
}

#define DEVICE(device, rank) "{\"device_id\": \"" device "\", \"device_ip\": \"10.0.0." device "\", \"rank_id\": \"" rank "\"}"
#define SERVER(devices) "{\"server_id\": \"10.0.0.9\", \"device\": [" devices "]}"
#define TABLE(servers) "{\"status\": \"completed\", \"version\": \"1.0\", \"server_list\": [" servers "]}\n"
/* Rank 0 has device 1. */
static const char good[] = TABLE(SERVER(DEVICE("1", "0") ", " DEVICE("0", "1")));

/* ---- ranks that meet ---- */

static const char *path_of_all;

static void be(uint32_t me, const char *name) {
    HcclComm comm = NULL;
    uint32_t size = 0, id = 9;
    char called[COMM_NAME_MAX_LENGTH];
    OK(aclrtSetDevice(me == 0 ? 1 : 0));
    if (name == NULL) {
        HOK(HcclCommInitClusterInfo(path_of_all, me, &comm));
    } else {
        HcclCommConfig config = {0};
        const size_t known = sizeof config;
        const uint32_t words[] = {HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION};
        memcpy(config.reserved, &known, sizeof known);
        memcpy(config.reserved + sizeof known, words, sizeof words);
        config.hcclExecTimeOut = -1;
        snprintf(config.hcclCommName, sizeof config.hcclCommName, "%s", name);
        HOK(HcclCommInitClusterInfoConfig(path_of_all, me, &config, &comm));
        HOK(HcclGetCommName(comm, called));
        CHECK(strcmp(called, name) == 0);
    }
    HOK(HcclGetRankSize(comm, &size));
    HOK(HcclGetRankId(comm, &id));
    CHECK(size == 2 && id == me);
    aclrtStream s = new_stream();
    float mine[4] = {1.0f + (float)me, 2, 3, 4}, sum[4];
    float *d = device(sizeof mine);
    OK(aclrtMemcpy(d, sizeof mine, mine, sizeof mine, ACL_MEMCPY_HOST_TO_DEVICE));
    HOK(HcclAllReduce(d, d, 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtMemcpy(sum, sizeof sum, d, sizeof sum, ACL_MEMCPY_DEVICE_TO_HOST));
    CHECK(sum[0] == 3 && sum[1] == 4 && sum[2] == 6 && sum[3] == 8);
    OK(aclrtFree(d));
    HOK(HcclCommDestroy(comm));
    OK(aclrtDestroyStream(s));
}

static void processes_meet(const char *name) {
    pid_t child[2];
    for (uint32_t i = 0; i < 2; i++) {
        child[i] = fork();
        CHECK(child[i] >= 0);
        if (child[i] != 0) continue;
        OK(aclInit(NULL));
        be(i, name);
        be(i, name); /* the name is free again */
        exit(0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        int status = 0;
        CHECK(waitpid(child[i], &status, 0) == child[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void *as_one(void *me) {
    be((uint32_t)(uintptr_t)me, NULL);
    return NULL;
}

static void threads_meet(void) {
    pthread_t thread[2];
    for (uintptr_t i = 0; i < 2; i++) CHECK(pthread_create(&thread[i], NULL, as_one, (void *)i) == 0);
    for (uint32_t i = 0; i < 2; i++) CHECK(pthread_join(thread[i], NULL) == 0);
}

/* ---- what is refused ---- */

static void refused(const char *text, uint32_t rank, HcclResult code, const char *words) {
    HcclComm comm = NULL;
    CODE(HcclCommInitClusterInfo(write_table("bad", text), rank, &comm), (int)code);
    const char *said = aclGetRecentErrMsg();
    CHECK(comm == NULL && said != NULL && strstr(said, words) != NULL);
}

static void tables_are_checked(void) {
    HcclComm comm = NULL;
    refused("", 0, HCCL_E_PARA, "no JSON object");
    refused("{\"status\": ", 0, HCCL_E_PARA, "no JSON object");
    refused("[1, 2]", 0, HCCL_E_PARA, "no JSON object");
    refused("{\"status\": \"initializing\"}", 0, HCCL_E_PARA, "completed");
    refused("{\"status\": \"completed\", \"version\": \"7\"}", 0, HCCL_E_NOT_SUPPORT, "version");
    refused("{\"status\": \"completed\", \"version\": \"1.2\"}", 0, HCCL_E_PARA, "server_list");
    refused(TABLE(""), 0, HCCL_E_PARA, "server_list");
    refused(TABLE("3"), 0, HCCL_E_PARA, "no device");
    refused(TABLE(SERVER("")), 0, HCCL_E_PARA, "no device");
    refused(TABLE(SERVER("4")), 0, HCCL_E_PARA, "no device_id");
    refused(TABLE(SERVER(DEVICE("0", "x"))), 0, HCCL_E_PARA, "no rank_id");
    refused(TABLE(SERVER(DEVICE("0", "99999999999999999999"))), 0, HCCL_E_PARA, "no rank_id");
    refused(TABLE(SERVER(DEVICE("0", "128"))), 0, HCCL_E_NOT_SUPPORT, "up to 128");
    refused(TABLE(SERVER(DEVICE("0", "0") "," DEVICE("1", "0"))), 0, HCCL_E_PARA, "rank_id stands there twice");
    refused(TABLE(SERVER(DEVICE("0", "0") "," DEVICE("0", "1"))), 0, HCCL_E_PARA, "device_id stands there twice");
    refused(TABLE(SERVER(DEVICE("0", "0") "," DEVICE("1", "2"))), 0, HCCL_E_PARA, "count up from 0");
    refused(TABLE(SERVER(DEVICE("0", "0")) "," SERVER(DEVICE("0", "1"))), 0, HCCL_E_NOT_SUPPORT, "one server");
    refused(good, 2, HCCL_E_PARA, "the rank table has 2");
    refused(good, 0, HCCL_E_PARA, "is device 1 in the rank table, and the thread has device 0");
    CODE(HcclCommInitClusterInfo("/nowhere/at/all", 0, &comm), HCCL_E_OPEN_FILE_FAILURE);
    CODE(HcclCommInitClusterInfo(folder, 0, &comm), HCCL_E_OPEN_FILE_FAILURE);
    CODE(HcclCommInitClusterInfo(NULL, 0, &comm), HCCL_E_PTR);
    CODE(HcclCommInitClusterInfo(path_of_all, 0, NULL), HCCL_E_PTR);
    CODE(HcclCommInitClusterInfoConfig(path_of_all, 0, NULL, &comm), HCCL_E_PTR);
}

static void a_rank_that_does_not_come(void) {
    HcclComm comm = NULL;
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    refused(good, 1, HCCL_E_TIMEOUT, "rank 0 of the rank table did not come");
    OK(aclrtSetDevice(1));
    CODE(HcclCommInitClusterInfo(path_of_all, 0, &comm), HCCL_E_TIMEOUT);
    unsetenv("HCCL_CONNECT_TIMEOUT");
    threads_meet();
}

int main(void) {
    static char path[128];
    setenv("MOCK_ACL_DEVICES", "2", 1);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s", write_table("good", good));
    path_of_all = path;
    processes_meet(NULL);
    processes_meet("mine");
    OK(aclInit(NULL));
    HcclComm comm = NULL;
    CODE(HcclCommInitClusterInfo(path_of_all, 0, &comm), HCCL_E_RUNTIME);
    OK(aclrtSetDevice(0));
    threads_meet();
    tables_are_checked();
    a_rank_that_does_not_come();
    CHECK(unlink(write_table("bad", "")) == 0 && unlink(path) == 0 && rmdir(folder) == 0);
    return 0;
}
