/* Part of racl (mock-acl). Queued work starts by itself: programs that poll memory, look from another process, or wait
 * for nothing at all see it done. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"

static void begin(void) {
    up();
    mock_acl_stand_still(0);
}

static atomic_int seen, let_go;

static void see(void *number) { atomic_fetch_add(&seen, (int)(intptr_t)number); }

static void until(atomic_int *what, int value) {
    while (atomic_load(what) != value) sched_yield();
}

__attribute__((unused)) static void memory_that_is_polled_changes(void) {
    begin();
    _Atomic unsigned char *host = pinned(1);
    unsigned char *d = device(1);
    atomic_store(host, 0);
    aclrtStream s = new_stream();
    for (unsigned char round = 1; round <= 3; round++) {
        OK(aclrtMemsetAsync(d, 1, round, 1, s));
        OK(aclrtMemcpyAsync((void *)host, 1, d, 1, ACL_MEMCPY_DEVICE_TO_HOST, s));
        while (atomic_load(host) != round) sched_yield();
    }
    OK(aclrtDestroyStream(s));
}

static void host_functions_are_called(void) {
    begin();
    atomic_store(&seen, 0);
    aclrtStream s = new_stream();
    OK(aclrtLaunchHostFunc(s, see, (void *)1));
    until(&seen, 1);
    OK(aclrtDestroyStream(s));
}

static aclrtStream its_own;
static int answers[2];
static void nothing(void *unused) { (void)unused; }
static void call_back(void *unused) {
    (void)unused;
    answers[0] = aclrtSynchronizeStream(its_own);
    answers[1] = aclrtLaunchHostFunc(its_own, nothing, NULL);
    atomic_fetch_add(&seen, 1);
}

/* It finds the context of its stream, on a worker as on a thread that waits. */
static void a_host_function_is_told_the_same_everywhere(void) {
    begin();
    its_own = new_stream();
    for (int waits = 0; waits < 2; waits++) {
        atomic_store(&seen, 0);
        if (waits) OK(mock_acl_hold_stream(its_own));
        OK(aclrtLaunchHostFunc(its_own, call_back, NULL));
        if (waits) OK(mock_acl_release_stream(its_own));
        if (waits) OK(aclrtSynchronizeStream(its_own));
        until(&seen, 1);
        CHECK(answers[0] == 207000 && answers[1] == 0);
        OK(aclrtSynchronizeStream(its_own));
    }
    OK(aclrtDestroyStream(its_own));
}

static void call_back_for_an_error(aclrtExceptionInfo *info) {
    (void)info;
    call_back(NULL);
}

static aclError fails(void *unused) {
    (void)unused;
    return 507015;
}

/* So does an exception callback, for which the program may wait or not. */
static void an_exception_callback_is_told_the_same_everywhere(void) {
    static const mock_task_ops failing = {"aclnnAdd", fails, NULL};
    begin();
    its_own = new_stream();
    OK(aclrtSetExceptionInfoCallback(call_back_for_an_error));
    for (int waits = 0; waits < 2; waits++) {
        atomic_store(&seen, 0);
        if (waits) OK(mock_acl_hold_stream(its_own));
        OK(mock_submit_kernel(its_own, &failing, NULL));
        if (waits) OK(mock_acl_release_stream(its_own));
        if (waits) CHECK(aclrtSynchronizeStream(its_own) == 507015);
        until(&seen, 1);
        CHECK(answers[0] == 207000 && answers[1] == 0);
        (void)aclrtSynchronizeStream(its_own);
    }
    OK(aclrtSetExceptionInfoCallback(NULL));
    OK(aclrtDestroyStream(its_own));
}

/* A kernel that runs until a kernel of another stream has run. */
static aclError wait_for_the_other(void *unused) {
    (void)unused;
    until(&let_go, 1);
    return 0;
}
static aclError let_it_go(void *unused) {
    (void)unused;
    atomic_store(&let_go, 1);
    return 0;
}

static void streams_run_side_by_side(void) {
    begin();
    static const mock_task_ops waits = {"aclnnAdd", wait_for_the_other, NULL};
    static const mock_task_ops lets = {"aclnnAdd", let_it_go, NULL};
    aclrtStream a = new_stream(), b = new_stream();
    atomic_store(&let_go, 0);
    OK(mock_submit_kernel(a, &waits, NULL));
    OK(mock_submit_kernel(b, &lets, NULL));
    until(&let_go, 1);
    OK(aclrtSynchronizeDevice());
}

/* Nothing tells the mock that a program wrote memory which the device sees as well. */
static void values_that_the_host_writes_are_seen(void) {
    begin();
    void *address = device(8);
    OK(aclrtMemset(address, 8, 0, 8));
    _Atomic uint64_t *cell = mock_device_view(address, 8);
    atomic_store(&seen, 0);
    aclrtStream s = new_stream();
    OK(aclrtValueWait(address, 7, ACL_STREAM_WAIT_VALUE_EQ, s));
    OK(aclrtLaunchHostFunc(s, see, (void *)1));
    aclrtStreamStatus status;
    OK(aclrtStreamQuery(s, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    atomic_store(cell, 7);
    until(&seen, 1);
    OK(aclrtDestroyStream(s));
}

/* The producer waits for nothing but the pipe; the consumer waits for its event. */
static void another_process_sees_an_event(void) {
    int to[2], back[2];
    CHECK(pipe(to) == 0 && pipe(back) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    aclrtIpcEventHandle handle;
    char byte = 0;
    if (child == 0) {
        begin();
        aclrtStream s = new_stream();
        aclrtEvent e = NULL;
        OK(aclrtCreateEventExWithFlag(&e, ACL_EVENT_IPC));
        OK(aclrtIpcGetEventHandle(e, &handle));
        OK(aclrtRecordEvent(e, s));
        CHECK(write(to[1], &handle, sizeof handle) == sizeof handle);
        CHECK(read(back[0], &byte, 1) == 1);
        _exit(0);
    }
    begin();
    CHECK(read(to[0], &handle, sizeof handle) == sizeof handle);
    aclrtEvent e = NULL;
    OK(aclrtIpcOpenEventHandle(handle, &e));
    OK(aclrtSynchronizeEvent(e));
    CHECK(write(back[1], &byte, 1) == 1);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(aclrtDestroyEvent(e));
}

static bool starter_sleeps(void) {
    mock_lock();
    const bool sleeps = mock_engine.starter_sleeps;
    mock_unlock();
    return sleeps;
}

/* An idle process has no thread that looks at anything. */
static void nobody_looks_at_empty_queues(void) {
    begin();
    aclrtStream s = new_stream();
    for (int i = 0; i < 3; i++) {
        atomic_store(&seen, 0);
        OK(aclrtLaunchHostFunc(s, see, (void *)1));
        CHECK(!starter_sleeps());
        until(&seen, 1);
        while (!starter_sleeps()) sched_yield();
    }
    OK(aclrtDestroyStream(s));
}

/* The task is still there when the other stream has been waited for. */
static void it_can_stand_still(void) {
    begin();
    CHECK(mock_acl_stand_still(1) == 0 && mock_acl_stand_still(1) == 1);
    aclrtStream s = new_stream(), other = new_stream();
    atomic_store(&seen, 0);
    OK(aclrtLaunchHostFunc(s, see, (void *)1));
    for (int i = 0; i < 100; i++) sched_yield();
    OK(aclrtSynchronizeStream(other));
    CHECK(atomic_load(&seen) == 0);
    CHECK(mock_acl_stand_still(0) == 1); /* what is queued starts now */
    until(&seen, 1);
    OK(aclrtDestroyStream(s));
    OK(aclrtDestroyStream(other));
}

/* By force: what a card would be done with has run, what waits is dropped. */
static void force_runs_what_can_run(void) {
    begin();
    for (int still = 0; still < 2; still++) {
        mock_acl_stand_still(still);
        unsigned char *d = device(2);
        OK(aclrtMemset(d, 2, 0, 2));
        aclrtStream s = new_stream(), other = new_stream();
        aclrtEvent e = new_event(ACL_EVENT_SYNC);
        OK(mock_acl_hold_stream(other));
        OK(aclrtRecordEvent(e, other));
        OK(aclrtMemsetAsync(d, 1, 1, 1, s));
        OK(aclrtStreamWaitEvent(s, e));
        OK(aclrtMemsetAsync(d + 1, 1, 1, 1, s));
        OK(aclrtDestroyStreamForce(s));
        OK(mock_acl_release_stream(other));
        OK(aclrtSynchronizeStream(other));
        CHECK(byte_at(d) == 1 && byte_at(d + 1) == 0);
        OK(aclrtMemsetAsync(d, 1, 2, 1, other));
        OK(mock_acl_hold_stream(other));
        OK(aclrtDestroyStreamForce(other));
        CHECK(byte_at(d) <= 2); /* held before it began or after */
    }
}

/* What is queued when a program ends does not keep it, nor does a function that never returns. */
static void never_returns(void *unused) {
    (void)unused;
    for (;;) pause();
}

static void a_process_can_end(bool stuck) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        begin();
        aclrtStream s = new_stream();
        atomic_store(&seen, 0);
        OK(aclrtLaunchHostFunc(s, see, (void *)1));
        until(&seen, 1);
        OK(aclrtLaunchHostFunc(s, stuck ? never_returns : see, (void *)1));
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The locks of a sanitizer do not survive a fork beside threads. */
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
/* A fork while another thread of the parent is amid a call: the child ends all the same. */
static atomic_int holds;
static void *hold_the_lock(void *unused) {
    (void)unused;
    mock_lock();
    atomic_store(&holds, 1);
    until(&holds, 2);
    mock_unlock();
    return NULL;
}

static void the_child_of_a_fork_can_end(void) {
    begin();
    aclrtStream s = new_stream();
    atomic_store(&seen, 0);
    OK(aclrtLaunchHostFunc(s, see, (void *)1)); /* from here on the end of a process is watched */
    until(&seen, 1);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, hold_the_lock, NULL) == 0);
    until(&holds, 1);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(20);
        CHECK(mock_acl_run_until_idle() == 0 && mock_acl_stand_still(1) == 0);
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    atomic_store(&holds, 2);
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtDestroyStream(s));
}
#endif

int main(void) {
    if (!workers()) {
        a_process_can_end(false);
        a_process_can_end(true);
        another_process_sees_an_event();
#ifndef __SANITIZE_THREAD__ /* a race on purpose */
        memory_that_is_polled_changes();
#endif
        host_functions_are_called();
        a_host_function_is_told_the_same_everywhere();
        an_exception_callback_is_told_the_same_everywhere();
        streams_run_side_by_side();
        values_that_the_host_writes_are_seen();
        nobody_looks_at_empty_queues();
        it_can_stand_still();
        force_runs_what_can_run();
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
        the_child_of_a_fork_can_end();
#endif
    }
    return 0;
}
