/* Part of racl (mock-acl). Parts that meet: what one call waits for, another one ends. */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "core.h"
#include "shared.h"

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

int main(void) {
    places_of_the_dead();
    destroyed_while_the_record_waits();
    puts("interplay: ok");
    return 0;
}
