/* Part of racl (mock-acl). Work that is ended before its time, and what waits for it is told. */
#include <pthread.h>
#include <stdatomic.h>
#include "check.h"

static unsigned char *memory;
static aclrtStream held;
static aclrtEvent event;
static atomic_int told;

static void fill(aclrtStream s) { OK(aclrtMemsetAsync(memory, 64, 1, 64, s)); }

static void begin(void) {
    up();
    memory = device(64);
    OK(aclrtMemset(memory, 64, 0, 64));
    held = new_stream();
    OK(mock_acl_hold_stream(held));
}

static void drops_what_is_queued(void) {
    begin();
    fill(held);
    OK(aclrtStreamAbort(held));
    OK(mock_acl_release_stream(held));
    OK(aclrtSynchronizeStream(held)); /* a wait that begins later */
    CHECK(byte_at(memory) == 0);
    fill(held);
    OK(aclrtSynchronizeStream(held)); /* the stream is usable */
    CHECK(byte_at(memory) == 1);
}

/* Stopping keeps the queue, and no task of the mock is under way: what is queued runs, and a wait ends well. */
static void stopping_keeps_the_queue(void) {
    begin();
    fill(held);
    OK(aclrtStreamStop(held));
    CODE(aclrtSynchronizeStreamWithTimeout(held, 10), 507046);
    OK(mock_acl_release_stream(held));
    OK(aclrtSynchronizeStream(held));
    CHECK(byte_at(memory) == 1);
    CODE(aclrtStreamStop(NULL), 107000);
}

/* An error that nobody has seen is not lost by an abort: the next wait gives it, and the one behind it 0. */
static void an_unseen_error_stays(void) {
    up();
    aclrtStream s = new_stream();
    memory = device(64);
    CHECK(mock_acl_fail_task("aclrtMemsetAsync", 1, 507015) == 0);
    fill(s);
    mock_acl_run_until_idle(); /* unless a worker ran it */
    OK(aclrtStreamAbort(s));
    CODE(aclrtSynchronizeStream(s), 507015);
    OK(aclrtSynchronizeStream(s));
}

static aclError wait_stream(void) { return aclrtSynchronizeStream(held); }
static aclError wait_event(void) { return aclrtSynchronizeEvent(event); }
static aclError wait_device(void) { return aclrtSynchronizeDevice(); }
static aclError (*wait_now)(void);

static void *waiter(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    int code = 0;
    /* A wait that begins when nothing is queued gives 0. */
    while (code == 0) code = wait_now();
    atomic_store(&told, code);
    OK(aclrtResetDevice(0));
    return NULL;
}

static aclError abort_stream(void) { return aclrtStreamAbort(held); }
static aclError abort_device(void) { return aclrtDeviceTaskAbort(0, 100); }

static void waits_are_told(aclError (*wait)(void), aclError (*abort)(void), int expected) {
    begin();
    event = new_event(ACL_EVENT_SYNC);
    wait_now = wait;
    atomic_store(&told, 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
    while (atomic_load(&told) == 0) {
        fill(held);
        OK(aclrtRecordEvent(event, held));
        OK(abort());
    }
    CHECK(pthread_join(thread, NULL) == 0 && atomic_load(&told) == expected);
    CHECK(byte_at(memory) == 0);
}

/* Every stream of every context on the device. */
static void whole_device(void) {
    begin();
    aclrtContext other = NULL, mine = NULL;
    OK(aclrtGetCurrentContext(&mine));
    OK(aclrtCreateContext(&other, 0));
    aclrtStream there = new_stream();
    OK(mock_acl_hold_stream(there));
    fill(there);
    OK(aclrtSetCurrentContext(mine));
    fill(held);
    OK(aclrtDeviceTaskAbort(0, 0));
    CODE(aclrtDeviceTaskAbort(99, 0), 107001);
    OK(mock_acl_release_stream(held));
    OK(mock_acl_release_stream(there));
    OK(aclrtSynchronizeDevice());
    OK(aclrtSynchronizeStream(there));
    CHECK(byte_at(memory) == 0);
}

static void call_abort(void *codes) {
    ((aclError *)codes)[0] = aclrtStreamAbort(held);
    ((aclError *)codes)[1] = aclrtDeviceTaskAbort(0, 0);
}

static void not_from_host_functions(void) {
    begin();
    aclError codes[2] = {0, 0};
    aclrtStream s = new_stream();
    OK(aclrtLaunchHostFunc(s, call_abort, codes));
    OK(aclrtSynchronizeStream(s));
    CHECK(codes[0] == 207000 && codes[1] == 207000);
}

int main(void) {
    drops_what_is_queued();
    stopping_keeps_the_queue();
    an_unseen_error_stays();
    waits_are_told(wait_stream, abort_stream, 107023);
    waits_are_told(wait_event, abort_stream, 107023);
    waits_are_told(wait_device, abort_stream, 107023);
    waits_are_told(wait_stream, abort_device, 107022);
    waits_are_told(wait_event, abort_device, 107022);
    waits_are_told(wait_device, abort_device, 107022);
    whole_device();
    not_from_host_functions();
    return 0;
}
