/* Runs a function as each rank of a communicator, as threads of this process or as processes of their own. */
#ifndef MOCK_TESTS_COLLECTIVES_RANKS_H_
#define MOCK_TESTS_COLLECTIVES_RANKS_H_

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "hccl/hccl.h"

#define MOST 4u
#define HOK(call) CODE(call, HCCL_SUCCESS)

typedef struct rank {
    uint32_t me, ranks;
    HcclComm comm;
    aclrtStream stream;
    void (*body)(struct rank *);
} rank;

/* What the ranks of a run share. */
typedef struct meeting {
    _Atomic int posted;
    HcclRootInfo info;
    _Atomic int values[16];
} meeting;
static meeting *table;

static void sit_down(rank *r) {
    OK(aclrtSetDevice((int32_t)(r->me % 2)));
    r->stream = new_stream();
    if (r->me == 0) {
        HOK(HcclGetRootInfo(&table->info));
        atomic_store(&table->posted, 1);
    }
    while (atomic_load(&table->posted) == 0) sched_yield();
    HOK(HcclCommInitRootInfo(r->ranks, &table->info, r->me, &r->comm));
}

static void run_rank(rank *r) {
    sit_down(r);
    r->body(r);
    OK(aclrtSynchronizeStream(r->stream));
    HOK(HcclCommDestroy(r->comm));
    OK(aclrtDestroyStream(r->stream));
}

static void *as_thread(void *what) {
    run_rank(what);
    return NULL;
}

static void open_table(void) {
    if (table == NULL)
        table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(table != MAP_FAILED);
    memset(table, 0, sizeof *table);
}

__attribute__((unused)) static void in_threads(uint32_t ranks, void (*body)(rank *)) {
    open_table();
    CHECK(mock_acl_reset() == 0);
    OK(aclInit(NULL));
    pthread_t thread[MOST];
    rank all[MOST];
    for (uint32_t i = 0; i < ranks; i++) {
        all[i] = (rank){.me = i, .ranks = ranks, .body = body};
        CHECK(pthread_create(&thread[i], NULL, as_thread, &all[i]) == 0);
    }
    for (uint32_t i = 0; i < ranks; i++) CHECK(pthread_join(thread[i], NULL) == 0);
}

/* The parent must not have used the mock before. */
__attribute__((unused)) static void in_processes(uint32_t ranks, void (*body)(rank *)) {
    open_table();
    pid_t child[MOST];
    for (uint32_t i = 0; i < ranks; i++) {
        child[i] = fork();
        CHECK(child[i] >= 0);
        if (child[i] != 0) continue;
        OK(aclInit(NULL));
        rank r = {.me = i, .ranks = ranks, .body = body};
        run_rank(&r);
        exit(0);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        int status = 0;
        CHECK(waitpid(child[i], &status, 0) == child[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

#endif
