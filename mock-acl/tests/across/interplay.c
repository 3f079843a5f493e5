/* Part of racl (mock-acl). Parts that meet: what one call waits for, another one ends. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "engine/engine.h"
#include "memory/share.h"
#include "kernels/binaries/kernels.h"

static aclrtEvent shared_event(void) {
    aclrtEvent e = NULL;
    OK(aclrtCreateEventExWithFlag(&e, ACL_EVENT_IPC));
    return e;
}

typedef struct record {
    aclrtContext context;
    aclrtEvent event;
    aclrtStream stream;
} record;

static void *record_it(void *arg) {
    const record *r = arg;
    OK(aclrtSetCurrentContext(r->context));
    OK(aclrtRecordEvent(r->event, r->stream));
    return NULL;
}

static void wait_for_a_waiter(void) {
    for (uint32_t waiting = 0; waiting == 0; sched_yield()) {
        mock_lock();
        waiting = mock_engine.waiting;
        mock_unlock();
    }
}

/* A record that waits for room in a full queue keeps its event. */
static void destroyed_while_the_record_waits(void) {
    up();
    record r = {NULL, shared_event(), new_stream()};
    OK(aclrtGetCurrentContext(&r.context));
    OK(mock_acl_hold_stream(r.stream));
    aclrtNotify n = NULL;
    OK(aclrtCreateNotify(&n, 0));
    for (uint32_t i = 0; i < MOCK_QUEUE_TASKS; i++) OK(aclrtRecordNotify(n, r.stream));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, record_it, &r) == 0);
    wait_for_a_waiter();
    OK(aclrtDestroyEvent(r.event));
    OK(mock_acl_release_stream(r.stream));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtSynchronizeStream(r.stream));
    CHECK(live().events == 0);
    CHECK(mock_acl_reset() == 0);
}

static int32_t dead_process(void) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    return (int32_t)child;
}

/* Processes that were killed leave their places in the page behind; the next ones get them. */
static void places_of_the_dead(void) {
    up();
    mock_shared_key key;
    mock_shared *own = mock_shared_new(MOCK_SHARED_EVENT), *opened = NULL;
    CHECK(own != NULL && own->member == 0);
    const int32_t dead = dead_process();
    for (uint32_t i = 1; i < MOCK_MEMBERS; i++) {
        own->page->members[i].pid = dead;
        own->page->members[i].started = i % 2; /* 0: it died while it came */
    }
    mock_shared_export(own, &key);
    OK(mock_shared_import(&key, MOCK_SHARED_EVENT, &opened));
    CHECK(opened->member > 0);
    const mock_member *m = &own->page->members[opened->member];
    CHECK(m->pid == (int32_t)getpid() && m->started == key.started);
    mock_shared_unref(opened);
    CHECK(m->pid == 0 && m->started == 0);
    mock_shared_unref(own);
}

static uint64_t pages_mapped(void) {
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL && fscanf(f, "%llu", &pages) == 1);
    fclose(f);
    return pages;
}

/* Host memory that a program holds over a reset stays, the region around it does not: else addresses run out
 * after some thousand resets. */
static void held_over_resets(void) {
    char *small = NULL, *large = NULL;
    uint64_t before = 0;
    for (int i = 0; i < 20; i++) {
        up();
        small = pinned(100);
        large = pinned(3 << 20);
        memset(small, 1, 100);
        memset(large, 2, 3 << 20);
        CHECK(mock_acl_reset() == 0 && live().pinned_allocations == 0);
        CHECK(small[99] == 1 && large[(3 << 20) - 1] == 2);
        small[0] = large[0] = 3;
        if (i == 3) before = pages_mapped();
    }
    CHECK((pages_mapped() - before) * 4096 < UINT64_C(1) << 30);
    up();
    CHECK(aclrtFreeHost(small) != 0 && aclrtFreeHost(large) != 0);
}

/* ---- own kernels ---- */

static int farewells;

/* As the destructor of a global object may do. */
static void farewell(void) {
    CHECK(mock_acl_now_ns() != UINT64_MAX);
    farewells++;
}

/* The last use of the code goes while the engine drops a queue. */
static void code_that_ends_calls_the_library(void) {
    void (*call)(void) = farewell;
    aclrtBinHandle b = NULL;
    aclrtFuncHandle f = NULL;
    up();
    aclrtStream s = new_stream();
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &b));
    OK(aclrtBinaryGetFunction(b, "at_end", &f));
    OK(aclrtLaunchKernelWithHostArgs(f, 1, s, NULL, &call, sizeof call, NULL, 0));
    OK(aclrtSynchronizeStream(s));
    OK(mock_acl_hold_stream(s));
    OK(aclrtLaunchKernelWithHostArgs(f, 1, s, NULL, &call, sizeof call, NULL, 0));
    OK(aclrtBinaryUnLoad(b));
    CHECK(farewells == 0);
    OK(aclrtDestroyStreamForce(s));
    CHECK(mock_acl_reset() == 0);
    CHECK(farewells == 1);
}

/* The same for memory: who comes when all places are taken gets that of a process that is gone. That the file
 * behind the card is another is found out after that. */
static void places_of_the_dead_at_memory(void) {
    up();
    const mock_offer offer = {.kind = MOCK_SHARE_PHYSICAL, .file = STDERR_FILENO, .size = 4096, .everybody = true};
    aclError code = 0;
    const uint32_t slot = mock_share_open(&offer, &code);
    const mock_key key = mock_share_key(slot);
    mock_card *own = mock_share_own(&key, MOCK_SHARE_PHYSICAL), *card = NULL;
    int file = -1;
    CHECK(slot != 0 && code == 0 && own != NULL);
    const int32_t dead = dead_process();
    for (int i = 0; i < MOCK_SHARE_PEERS; i++) {
        own->peers[i].pid = dead;
        own->peers[i].opened = 1;
    }
    CODE(mock_share_attach(&key, MOCK_SHARE_PHYSICAL, &card, &file), 507899);
    CHECK(strstr(aclGetRecentErrMsg(), "its file is gone") != NULL);
    CHECK(own->peers[0].pid == (int32_t)getpid() && own->peers[0].opened == 0 && own->peers[1].pid == dead);
    mock_share_close(slot);
    CHECK(mock_acl_reset() == 0);
}

int main(void) {
    code_that_ends_calls_the_library();
    held_over_resets();
    places_of_the_dead();
    places_of_the_dead_at_memory();
    destroyed_while_the_record_waits();
    puts("interplay: ok");
    return 0;
}
