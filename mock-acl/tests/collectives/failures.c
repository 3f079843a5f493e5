/* Part of racl (mock-acl). What goes wrong with communicators: arguments, ranks that do not fit together, that go away
 * or do not come. */
#include <signal.h>
#include <sys/resource.h>
#include "collectives/ranks.h"
#include "engine/engine.h"

static void broken(rank *r, HcclResult with, const char *words) {
    HcclResult error = HCCL_SUCCESS;
    HOK(HcclGetCommAsyncError(r->comm, &error));
    CHECK(error == with);
    const char *text = aclGetRecentErrMsg();
    CHECK(text != NULL && strstr(text, words) != NULL);
}

/* ---- between ranks ---- */

static void other_calls(rank *r) {
    void *d = device(64);
    HcclResult error = HCCL_E_PARA;
    HOK(HcclGetCommAsyncError(r->comm, &error));
    CHECK(error == HCCL_SUCCESS);
    if (r->me == 0) HOK(HcclAllReduce(d, d, 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r->comm, r->stream));
    else HOK(HcclAllGather(d, d, 4, HCCL_DATA_TYPE_FP32, r->comm, r->stream));
    CODE(aclrtSynchronizeStream(r->stream), 507000);
    broken(r, HCCL_E_PARA, r->me == 0 ? "HcclAllGather" : "HcclAllReduce");
    HOK(HcclBarrier(r->comm, r->stream)); /* it stays broken */
    CODE(aclrtSynchronizeStream(r->stream), 507000);
    OK(aclrtFree(d));
}

static void no_device_memory(rank *r) {
    char *d = device(64);
    HOK(HcclAllReduce(
        r->me == 0 ? d + 32 : d, d, 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r->comm, r->stream));
    CODE(aclrtSynchronizeStream(r->stream), r->me == 0 ? 507053 : 507000);
    broken(r, r->me == 0 ? HCCL_E_MEMORY : HCCL_E_REMOTE, r->me == 0 ? "device memory" : "rank 0 failed");
    OK(aclrtFree(d));
}

static void messages_of_other_sizes(rank *r) {
    char *d = device(64);
    if (r->me == 0) HOK(HcclSend(d, 8, HCCL_DATA_TYPE_INT8, 1, r->comm, r->stream));
    else HOK(HcclRecv(d, 9, HCCL_DATA_TYPE_INT8, 0, r->comm, r->stream));
    if (r->me == 1) {
        CODE(aclrtSynchronizeStream(r->stream), 507000);
        broken(r, HCCL_E_MEMORY, "its 9 bytes");
    } else {
        OK(aclrtSynchronizeStream(r->stream));
    }
    OK(aclrtFree(d));
}

/* Rank 1's stream is gone before its operation began: the other one is told. */
static void a_rank_leaves(rank *r) {
    if (r->me == 0) {
        HOK(HcclBarrier(r->comm, r->stream));
        CODE(aclrtSynchronizeStream(r->stream), 507022);
        broken(r, HCCL_E_REMOTE, "rank 1 went away");
    }
}

static void a_stream_is_aborted(rank *r) {
    if (r->me == 0) {
        HOK(HcclBarrier(r->comm, r->stream));
        while (atomic_load(&table->values[0]) == 0) {
            aclrtStreamStatus status;
            OK(aclrtStreamQuery(r->stream, &status));
            OK(aclrtStreamAbort(r->stream));
            atomic_store(&table->values[0], 1);
        }
    } else {
        while (atomic_load(&table->values[0]) == 0) sched_yield();
        HOK(HcclBarrier(r->comm, r->stream));
        const int code = aclrtSynchronizeStream(r->stream);
        /* The other one was there before the abort, or its operation was dropped on the way, or before it began. */
        CHECK(code == 0 || code == 507000 || code == 507022);
    }
}

/* ---- a process that dies ---- */

static void dies(rank *r) {
    if (r->me == 1) _exit(0);
    for (int i = 0; i < 3; i++) HOK(HcclBarrier(r->comm, r->stream));
    CODE(aclrtSynchronizeStream(r->stream), 507022);
    broken(r, HCCL_E_REMOTE, "rank 1 went away");
}

#ifndef __SANITIZE_THREAD__ /* whose locks do not survive a fork beside threads */
/* The child of a fork has no part in its parent's communicator. */
static void forks(rank *r) {
    if (r->me == 1) {
        HOK(HcclBarrier(r->comm, r->stream));
        OK(aclrtSynchronizeStream(r->stream));
        return;
    }
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        uint32_t n = 0;
        CODE(HcclGetRankSize(r->comm, &n), HCCL_E_RUNTIME);
        CODE(HcclBarrier(r->comm, r->stream), HCCL_E_RUNTIME);
        CODE(HcclCommDestroy(r->comm), HCCL_E_RUNTIME);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    HOK(HcclBarrier(r->comm, r->stream));
}
#endif

/* ---- no descriptors ---- */

static void few_descriptors(void) {
    up();
    HcclRootInfo info;
    HcclComm comm = NULL;
    HOK(HcclGetRootInfo(&info));
    const pid_t child = fork();
    if (child == 0) pause();
    CHECK(child > 0);
    const uint64_t started = mock_process_start((int32_t)child);
    CHECK(started != 0 && !mock_process_gone((int32_t)child, started));
    CHECK(mock_process_gone((int32_t)child, started + 1));
    int held[1024], n = 0;
    struct rlimit limit, small;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    small = (struct rlimit){256, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &small) == 0);
    while ((held[n] = dup(0)) >= 0) n++;
    CHECK(!mock_process_gone((int32_t)child, started)); /* nobody can look */
    /* One after the other comes back: each of the calls gets as far as it can. */
    while (n > 0 && HcclCommInitRootInfo(1, &info, 0, &comm) != HCCL_SUCCESS) {
        CHECK(strstr(aclGetRecentErrMsg(), "descriptors") != NULL);
        close(held[--n]);
    }
    HOK(HcclCommDestroy(comm));
    while (n > 0) close(held[--n]);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    CHECK(mock_process_gone((int32_t)child, started));
}

/* ---- a rank that never comes ---- */

static void nobody_comes(void) {
    HcclRootInfo info;
    HcclComm comm = NULL;
    up();
    HOK(HcclGetRootInfo(&info));
    setenv("HCCL_CONNECT_TIMEOUT", "1", 1);
    CODE(HcclCommInitRootInfo(2, &info, 0, &comm), HCCL_E_TIMEOUT);
    unsetenv("HCCL_CONNECT_TIMEOUT");
    CODE(HcclCommInitRootInfo(2, &info, 1, &comm), HCCL_E_PARA); /* that root is over */
    CHECK(comm == NULL);
}

static void an_operation_that_is_late(void) {
    up();
    setenv("HCCL_EXEC_TIMEOUT", "1", 1);
    int32_t devices[] = {0, 1};
    HcclComm comms[2];
    HOK(HcclCommInitAll(2, devices, comms));
    unsetenv("HCCL_EXEC_TIMEOUT");
    aclrtStream s = new_stream();
    HOK(HcclBarrier(comms[0], s));
    CODE(aclrtSynchronizeStream(s), 107020);
    HcclResult error = HCCL_SUCCESS;
    HOK(HcclGetCommAsyncError(comms[0], &error));
    CHECK(error == HCCL_E_TIMEOUT && strstr(aclGetRecentErrMsg(), "HCCL_EXEC_TIMEOUT") != NULL);
    HOK(HcclCommDestroy(comms[0]));
    HOK(HcclCommDestroy(comms[1]));
}

/* ---- arguments ---- */

static void arguments_of_communicators(void) {
    CHECK(mock_acl_reset() == 0);
    OK(aclInit(NULL));
    HcclRootInfo info = {{0}};
    HcclComm comm = NULL, all[2];
    CODE(HcclGetRootInfo(&info), HCCL_E_RUNTIME); /* no device */
    OK(aclrtSetDevice(0));
    CODE(HcclGetRootInfo(NULL), HCCL_E_PTR);
    CODE(HcclCommInitRootInfo(1, &info, 0, &comm), HCCL_E_PARA); /* no information */
    HOK(HcclGetRootInfo(&info));
    CODE(HcclCommInitRootInfo(1, NULL, 0, &comm), HCCL_E_PTR);
    CODE(HcclCommInitRootInfo(1, &info, 0, NULL), HCCL_E_PTR);
    CODE(HcclCommInitRootInfo(0, &info, 0, &comm), HCCL_E_PARA);
    CODE(HcclCommInitRootInfo(2, &info, 2, &comm), HCCL_E_PARA);
    CODE(HcclCommInitRootInfo(129, &info, 2, &comm), HCCL_E_NOT_SUPPORT);
    CODE(HcclCommInitRootInfoConfig(1, &info, 0, NULL, &comm), HCCL_E_PTR);
    int32_t twice[] = {0, 0}, none[] = {0, 2}, both[] = {1, 0};
    CODE(HcclCommInitAll(2, twice, all), HCCL_E_PARA);
    CODE(HcclCommInitAll(2, none, all), HCCL_E_PARA);
    CODE(HcclCommInitAll(0, both, all), HCCL_E_PARA);
    CODE(HcclCommInitAll(2, NULL, all), HCCL_E_PTR);
    HOK(HcclCommInitAll(2, both, all));
    uint32_t n = 0;
    char name[COMM_NAME_MAX_LENGTH], other[COMM_NAME_MAX_LENGTH];
    HOK(HcclGetRankId(all[1], &n));
    CHECK(n == 1);
    HOK(HcclGetRankSize(all[1], &n));
    CHECK(n == 2);
    HOK(HcclGetCommName(all[0], name));
    HOK(HcclGetCommName(all[1], other));
    CHECK(strcmp(name, other) == 0 && name[0] != '\0');
    CODE(HcclGetRankId(NULL, &n), HCCL_E_PTR);
    CODE(HcclGetRankId((HcclComm)&n, &n), HCCL_E_PARA);
    HOK(HcclCommDestroy(all[1]));
    CODE(HcclCommDestroy(all[1]), HCCL_E_PARA);
    CODE(HcclGetRankId(all[1], &n), HCCL_E_PARA);
    CODE(HcclCommDestroy(NULL), HCCL_E_PTR);
    HOK(HcclCommDestroy(all[0]));
}

static void arguments_of_operations(void) {
    up();
    int32_t one[] = {0};
    HcclComm c = NULL;
    HOK(HcclCommInitAll(1, one, &c));
    aclrtStream s = new_stream();
    void *d = device(64);
    const HcclDataType f = HCCL_DATA_TYPE_FP32;
    HOK(HcclAllReduce(d, d, 16, f, HCCL_REDUCE_SUM, c, s));
    HOK(HcclAllReduce(NULL, NULL, 0, f, HCCL_REDUCE_SUM, c, s));
    CODE(HcclAllReduce(NULL, d, 1, f, HCCL_REDUCE_SUM, c, s), HCCL_E_PTR);
    CODE(HcclAllReduce(d, NULL, 1, f, HCCL_REDUCE_SUM, c, s), HCCL_E_PTR);
    CODE(HcclAllReduce(d, d, 1, HCCL_DATA_TYPE_RESERVED, HCCL_REDUCE_SUM, c, s), HCCL_E_PARA);
    CODE(HcclAllReduce(d, d, 1, (HcclDataType)13, HCCL_REDUCE_SUM, c, s), HCCL_E_PARA);
    CODE(HcclAllReduce(d, d, 1, f, (HcclReduceOp)4, c, s), HCCL_E_PARA);
    CODE(HcclAllReduce(d, d, 1, HCCL_DATA_TYPE_FP64, HCCL_REDUCE_SUM, c, s), HCCL_E_NOT_SUPPORT);
    CODE(HcclAllReduce(d, d, 1, HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_PROD, c, s), HCCL_E_NOT_SUPPORT);
    CODE(HcclAllReduce(d, d, UINT64_MAX / 2, f, HCCL_REDUCE_SUM, c, s), HCCL_E_PARA);
    CODE(HcclAllReduce(d, d, 1, f, HCCL_REDUCE_SUM, NULL, s), HCCL_E_PTR);
    CODE(HcclAllReduce(d, d, 1, f, HCCL_REDUCE_SUM, c, (aclrtStream)d), HCCL_E_RUNTIME);
    CODE(HcclBroadcast(d, 1, f, 1, c, s), HCCL_E_PARA);
    CODE(HcclAlltoAll(d, 1, f, d, 2, f, c, s), HCCL_E_PARA);
    uint64_t count[] = {1}, at[] = {0}, far[] = {UINT64_MAX};
    HOK(HcclAlltoAllV(d, count, at, f, d, count, at, f, c, s));
    CODE(HcclAlltoAllV(d, NULL, at, f, d, count, at, f, c, s), HCCL_E_PTR);
    CODE(HcclAlltoAllV(NULL, count, at, f, d, count, at, f, c, s), HCCL_E_PTR);
    CODE(HcclAlltoAllV(d, count, far, f, d, count, at, f, c, s), HCCL_E_PARA);
    CODE(HcclAllGatherV(d, 2, d, count, at, f, c, s), HCCL_E_PARA);
    CODE(HcclSend(d, 1, f, 1, c, s), HCCL_E_PARA);
    CODE(HcclSend(NULL, 1, f, 0, c, s), HCCL_E_PTR);
    CODE(HcclBatchSendRecv(NULL, 1, c, s), HCCL_E_PTR);
    CODE(HcclGroupEnd(), HCCL_E_PARA);
    HOK(HcclGroupStart());
    HOK(HcclSend(d, 1, f, 0, c, s));
    CODE(HcclRecv(d, 1, f, 9, c, s), HCCL_E_PARA);
    CODE(HcclGroupEnd(), HCCL_E_PARA); /* all of it is refused */
    HOK(HcclGroupStart());
    HOK(HcclSend(d, 4, f, 0, c, s));
    HOK(HcclRecv((char *)d + 32, 4, f, 0, c, s));
    HOK(HcclGroupEnd());
    OK(aclrtSynchronizeStream(s));
    HcclConfigValue v = {.value = 1};
    HOK(HcclSetConfig(HCCL_DETERMINISTIC, v));
    v.value = 0;
    HOK(HcclGetConfig(HCCL_DETERMINISTIC, &v));
    CHECK(v.value == 1);
    v.value = 3;
    CODE(HcclSetConfig(HCCL_DETERMINISTIC, v), HCCL_E_PARA);
    CODE(HcclSetConfig(HCCL_CONFIG_RESERVED, v), HCCL_E_NOT_SUPPORT);
    CHECK(strcmp(HcclGetErrorString(HCCL_E_TIMEOUT), "time-out") == 0 &&
          HcclGetErrorString((HcclResult)99) != NULL);
    HOK(HcclCommDestroy(c));
    OK(aclrtFree(d));
}

/* ---- communicators of some of the ranks ---- */

static void of_some(rank *r) {
    HcclCommConfig config = {.hcclExecTimeOut = 5};
    const size_t size = sizeof config;
    const uint32_t words[] = {HCCL_COMM_CONFIG_MAGIC_WORD, HCCL_COMM_CONFIG_VERSION};
    memcpy(config.reserved, &size, sizeof size);
    memcpy(config.reserved + sizeof size, words, sizeof words);
    strcpy(config.hcclCommName, "some of them");
    uint32_t even[] = {2, 0}, odd[] = {1, 3};
    for (int round = 0; round < 3; round++) {
        HcclComm sub = NULL;
        const uint32_t place = r->me % 2 == 0 ? (r->me == 2 ? 0 : 1) : r->me / 2;
        HOK(HcclCreateSubCommConfig(&r->comm, 2, r->me % 2 == 0 ? even : odd, 1, place, &config, &sub));
        int64_t *d = device(8), v = (int64_t)r->me + 1;
        OK(aclrtMemcpy(d, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE));
        HOK(HcclAllReduce(d, d, 1, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, sub, r->stream));
        OK(aclrtSynchronizeStream(r->stream));
        read_back(&v, d, 8);
        CHECK(v == (r->me % 2 == 0 ? 1 + 3 : 2 + 4));
        char name[COMM_NAME_MAX_LENGTH];
        HOK(HcclGetCommName(sub, name));
        CHECK(strcmp(name, "some of them") == 0);
        HOK(HcclCommDestroy(sub));
        OK(aclrtFree(d));
    }
    HcclComm none = r->comm;
    HOK(HcclCreateSubCommConfig(&r->comm, 0, NULL, 0xFFFFFFFFu, 0, &config, &none));
    CHECK(none == NULL);
    uint32_t wrong[] = {9, r->me};
    CODE(HcclCreateSubCommConfig(&r->comm, 2, wrong, 1, 1, &config, &none), HCCL_E_PARA);
    CODE(HcclCreateSubCommConfig(&r->comm, 2, even, 1, 3, &config, &none), HCCL_E_PARA);
}

int main(void) {
    setenv("MOCK_ACL_DEVICES", "2", 1);
    in_processes(2, dies);
    in_processes(4, of_some);
#ifndef __SANITIZE_THREAD__
    in_processes(2, forks);
#endif
    in_processes(2, other_calls);
    in_threads(4, of_some);
    in_threads(2, other_calls);
    in_threads(2, no_device_memory);
    in_threads(2, messages_of_other_sizes);
    in_threads(2, a_rank_leaves);
    in_threads(2, a_stream_is_aborted);
    few_descriptors();
    nobody_comes();
    an_operation_that_is_late();
    arguments_of_communicators();
    arguments_of_operations();
    return 0;
}
