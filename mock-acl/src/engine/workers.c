/* The mock's own threads. Workers run what no host thread waits for: what a host polls for, host functions that
 * waiting threads may not run, and whatever was queued a moment ago and is still there.
 *
 * Whoever queues work wakes nobody, since most wait at once and run it themselves. A starter looks at the queues
 * instead, every 0.3 ms while there is something to do, and calls a worker for a stream that stood still between two
 * looks (own choice: a card begins at once). When nothing was queued for a while it sleeps until the next task. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/base.h"
#include "engine/deadline.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "engine/objects.h"
#include "engine/shared.h"
#include "engine/state.h"

#define MAX_WORKERS 64u
#define LOOK_NS 300000L
#define LOOKS_AWAKE 60u    /* without work, before the starter sleeps */
#define LOOKS_OUTSIDE 3u   /* between two looks at what others may change: memory, processes, real time */
#define LOOKS_CROWDED 20u  /* a stream stands still though workers are busy: one more */
#define EXIT_MS 1000

static pthread_cond_t wake_starter = PTHREAD_COND_INITIALIZER;
static bool starter_exists;
static bool settings_read;
static bool leaving, asked; /* the process ends, and something in it polls all the same */

static bool nothing_to_run(void) {
    if (mock_engine.paused) return true;
    return mock_list_empty(&mock_engine.callers) &&
           (mock_list_empty(&mock_engine.runnable) || (leaving && !asked));
}

static mock_stream *first_to_run(void) {
    mock_link *l =
        mock_list_empty(&mock_engine.callers) ? mock_engine.runnable.next : mock_engine.callers.next;
    return MOCK_OWNER(l, mock_stream, in_queue);
}

static void rest(void) {
    mock_engine.workers_idle++;
    pthread_cond_wait(&mock_engine.work, &mock_engine.lock);
    mock_engine.workers_idle--;
}

static void serve(void) {
    for (;;) {
        while (nothing_to_run()) rest();
        mock_run_as_worker(first_to_run());
    }
}

static void *worker_main(void *unused) {
    (void)unused;
    mock_thread_is_worker();
    mock_lock();
    serve();
    return NULL;
}

/* One that was started before there was work: it may begin late, when all has to stand still. */
static void *eager_main(void *unused) {
    (void)unused;
    mock_thread_is_worker();
    mock_lock();
    if (mock_engine.still) rest();
    serve();
    return NULL;
}

/* Signals of the program go to its own threads, but for those that a thread raises itself. */
static bool start_thread(void *(*body)(void *)) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&all, own[i]);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, &attributes, body, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static bool start_worker(void *(*body)(void *)) {
    const bool started = start_thread(body);
    if (started) mock_engine.workers++;
    return started;
}

static void summon(void) {
    if (mock_engine.workers_idle != 0) pthread_cond_signal(&mock_engine.work);
    else if (mock_engine.workers < MAX_WORKERS) start_worker(worker_main);
}

bool mock_call_worker(void) {
    if (mock_list_empty(&mock_engine.callers)) return false;
    summon();
    return true;
}

/* ---- the starter ---- */

static bool others_may_change_it(void) {
    return mock_engine.timed_waits != 0 || !mock_list_empty(&mock_engine.shared_waiters) ||
           !mock_list_empty(&mock_engine.value_waiters);
}

static void look_outside(void) {
    mock_shared_poll();
    mock_deadlines_pass(0);
    mock_wake_all(&mock_engine.value_waiters);
}

typedef struct seen {
    const mock_stream *stream;
    uint64_t done;
    uint32_t looks; /* that found it like this */
} seen;

/* A stream that a thread has in hand is in no list. */
static void look(seen *last) {
    if (nothing_to_run()) {
        last->stream = NULL;
        return;
    }
    const mock_stream *s = first_to_run();
    const uint64_t done = atomic_load_explicit(&s->done, memory_order_relaxed);
    if (s != last->stream || done != last->done) {
        *last = (seen){s, done, 0};
        return;
    }
    last->looks++;
    const bool free = mock_engine.workers_idle != 0 || mock_engine.executing_workers == 0;
    if (free || last->looks % LOOKS_CROWDED == 0) summon();
}

static void nap(void) {
    const struct timespec t = {0, LOOK_NS};
    mock_unlock();
    nanosleep(&t, NULL);
    mock_lock();
}

static void *starter_main(void *unused) {
    (void)unused;
    mock_thread_is_worker();
    seen last = {NULL, 0, 0};
    uint32_t quiet = 0, round = 0;
    mock_lock();
    for (;;) {
        if (mock_engine.still || leaving || (quiet > LOOKS_AWAKE && !others_may_change_it())) {
            mock_engine.starter_sleeps = !mock_engine.still && !leaving;
            pthread_cond_wait(&wake_starter, &mock_engine.lock);
            quiet = 0;
            continue;
        }
        nap();
        if (mock_engine.still || mock_engine.paused) continue;
        if (++round % LOOKS_OUTSIDE == 0 && others_may_change_it()) look_outside();
        look(&last);
        quiet = last.stream == NULL && mock_engine.executing == 0 ? quiet + 1 : 0;
    }
    return NULL;
}

/* A process that ends begins no more work, and lets what a worker has in hand end: destructors of the program may
 * take away what it uses. A function that never returns does not keep the process. */
static void leave(void) {
    if (mock_self()->in_task != 0) return;
    const struct timespec ms = {0, 1000000};
    mock_lock();
    leaving = true;
    for (int i = 0; i < EXIT_MS && mock_engine.executing_workers != 0; i++) {
        mock_unlock();
        nanosleep(&ms, NULL);
        mock_lock();
    }
    mock_unlock();
}

void mock_starter_wake(void) {
    mock_engine.starter_sleeps = false;
    if (starter_exists) {
        pthread_cond_signal(&wake_starter);
        return;
    }
    starter_exists = start_thread(starter_main);
    if (starter_exists) atexit(leave);
}

/* ---- what asks for workers ---- */

static void set_still(bool still) {
    mock_engine.still = still;
    mock_engine.starter_sleeps = !still && !leaving;
    if (mock_engine.starter_sleeps && !(nothing_to_run() && !others_may_change_it())) mock_starter_wake();
}

MOCK_EXPORT int mock_acl_stand_still(int on) {
    mock_lock();
    const bool before = mock_engine.still;
    settings_read = true;
    set_still(on != 0);
    mock_unlock();
    return before;
}

void mock_start_workers(void) {
    const unsigned wanted = mock_config_number("MOCK_ACL_WORKERS", 0, 0, MAX_WORKERS);
    /* No number is as if it were not set. */
    const char *told = getenv("MOCK_ACL_WORKERS");
    if (!settings_read) set_still(told != NULL && strcmp(told, "0") == 0);
    settings_read = true;
    mock_engine.eager_workers = wanted != 0;
    while (mock_engine.workers < wanted && start_worker(eager_main)) continue;
}

void mock_poll_wakes_worker(void) {
    asked = leaving;
    if (mock_engine.workers == 0) start_worker(worker_main);
    mock_shared_poll();
    mock_deadlines_pass(0);
    if (!nothing_to_run()) pthread_cond_signal(&mock_engine.work);
}
