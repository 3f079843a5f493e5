/* Part of racl (mock-acl). Time-outs of waits on the virtual clock, aborts, exceptions: what needs the
 * control interface. */
#include <pthread.h>
#include "add.h"

/* ---- time-outs ---- */

/* The clock stands at the deadline when a wait that nothing can end is over. */
static void passes_on_the_clock(void) {
    up();
    aclrtStream s = new_stream();
    aclrtNotify n = NULL;
    OK(aclrtCreateNotify(&n, 0));
    const uint64_t before = mock_acl_now_ns();
    OK(aclrtWaitAndResetNotify(n, s, 1800));
    CODE(aclrtSynchronizeStream(s), 107020);
    const uint64_t passed = mock_acl_now_ns() - before;
    CHECK(passed >= UINT64_C(1800000000000) && passed < UINT64_C(1800001000000));
    OK(aclrtSynchronizeStream(s));
}

/* Advancing the clock past it ends the wait without anybody who waits. */
static void advancing_ends_it(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent latch = NULL;
    unsigned char *d = device(8);
    OK(aclrtCreateEventWithFlag(&latch, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEventWithTimeout(s, latch, 2));
    OK(aclrtMemsetAsync(d, 8, 7, 8, s));
    mock_acl_run_until_idle();
    aclrtStreamStatus status;
    mock_acl_advance_ns(1900000000);
    mock_acl_run_until_idle();
    OK(aclrtStreamQuery(s, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY);
    mock_acl_advance_ns(200000000);
    mock_acl_run_until_idle();
    OK(aclrtStreamQuery(s, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);
    CHECK(byte_at(d) == 7);
    CODE(aclrtSynchronizeStream(s), 107020);
}

/* The earliest first; each stream has its own. */
static void several_deadlines(void) {
    up();
    aclrtStream s[3];
    aclrtEvent latch = NULL;
    OK(aclrtCreateEventWithFlag(&latch, ACL_EVENT_SYNC));
    const int32_t seconds[] = {30, 10, 20};
    for (int i = 0; i < 3; i++) {
        s[i] = new_stream();
        OK(aclrtStreamWaitEventWithTimeout(s[i], latch, seconds[i]));
    }
    CODE(aclrtSynchronizeStream(s[1]), 107020);
    CHECK(mock_acl_now_ns() < UINT64_C(11000000000));
    CODE(aclrtSynchronizeStreamWithTimeout(s[2], 5000), 507046);
    CODE(aclrtSynchronizeStream(s[2]), 107020);
    CHECK(mock_acl_now_ns() < UINT64_C(21000000000));
    aclrtStream other = new_stream();
    OK(aclrtRecordEvent(latch, other));
    OK(aclrtSynchronizeStream(s[0])); /* in time */
}

/* A record counts when it comes before the deadline, also when the clock goes on afterwards. */
static void ended_in_time(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(mock_acl_hold_stream(a));
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEventWithTimeout(b, e, 1));
    mock_acl_run_until_idle();
    OK(mock_acl_release_stream(a));
    mock_acl_run_until_idle();
    mock_acl_advance_ns(5000000000);
    OK(aclrtSynchronizeStream(b));
}

/* The time begins when the stream gets to the wait. */
static void starts_at_the_wait(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent latch = NULL;
    OK(aclrtCreateEventWithFlag(&latch, ACL_EVENT_SYNC));
    OK(mock_acl_hold_stream(s));
    OK(aclrtStreamWaitEventWithTimeout(s, latch, 1));
    mock_acl_advance_ns(9000000000);
    OK(mock_acl_release_stream(s));
    mock_acl_run_until_idle();
    CODE(aclrtSynchronizeStreamWithTimeout(s, 900), 507046);
    CODE(aclrtSynchronizeStreamWithTimeout(s, 200), 107020);
}

/* Dropping the queue drops the deadline. */
static void dropped_with_the_queue(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent latch = NULL;
    OK(aclrtCreateEventWithFlag(&latch, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEventWithTimeout(s, latch, 1));
    mock_acl_run_until_idle();
    OK(aclrtStreamAbort(s));
    mock_acl_advance_ns(5000000000);
    OK(aclrtSynchronizeStream(s));
    OK(aclrtStreamWaitEvent(s, latch));
    OK(aclrtDestroyStreamForce(s));
}

static pthread_barrier_t both;

static void *wait_beside(void *stream) {
    OK(aclrtSetDevice(0));
    pthread_barrier_wait(&both);
    CODE(aclrtSynchronizeStream(stream), 107020);
    return NULL;
}

/* Two threads wait, and nobody else uses the library: time leaps. */
static void every_thread_waits(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent latch = NULL;
    pthread_t t;
    OK(aclrtCreateEventWithFlag(&latch, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEventWithTimeout(a, latch, 1000));
    OK(aclrtStreamWaitEventWithTimeout(b, latch, 1000));
    pthread_barrier_init(&both, NULL, 2);
    CHECK(pthread_create(&t, NULL, wait_beside, a) == 0);
    pthread_barrier_wait(&both);
    CODE(aclrtSynchronizeStream(b), 107020);
    CHECK(pthread_join(t, NULL) == 0);
    pthread_barrier_destroy(&both);
}

/* A thread that could still record keeps it from leaping; advancing the clock ends it. */
static void a_free_thread_keeps_time(void) {
    up();
    aclrtStream a = new_stream();
    aclrtEvent latch = NULL;
    pthread_t t;
    OK(aclrtCreateEventWithFlag(&latch, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEventWithTimeout(a, latch, 1000));
    mock_acl_run_until_idle(); /* the time begins */
    pthread_barrier_init(&both, NULL, 2);
    CHECK(pthread_create(&t, NULL, wait_beside, a) == 0);
    pthread_barrier_wait(&both);
    for (int i = 0; i < 10; i++) CHECK(mock_acl_now_ns() < UINT64_C(1000000000));
    mock_acl_advance_ns(UINT64_C(1000000000000));
    CHECK(pthread_join(t, NULL) == 0);
    pthread_barrier_destroy(&both);
}

/* ---- the queue ---- */

typedef struct submitter {
    aclrtContext context;
    aclrtStream stream;
    void *memory;
    int taken;
    aclError code;
} submitter;

static void submit_until_refused(void *argument) {
    submitter *s = argument;
    OK(aclrtSetCurrentContext(s->context)); /* a worker has none */
    while ((s->code = aclrtMemsetAsync(s->memory, 8, 0, 8, s->stream)) == 0) s->taken++;
}

static void *submit_one_more(void *argument) {
    const submitter *s = argument;
    OK(aclrtSetCurrentContext(s->context));
    OK(aclrtMemsetAsync(s->memory, 8, 0, 8, s->stream));
    return NULL;
}

static void whoever_waits_for_room_is_counted(void) {
    up();
    submitter s = {NULL, new_stream(), device(8), 0, 0};
    OK(aclrtGetCurrentContext(&s.context));
    OK(mock_acl_hold_stream(s.stream));
    for (int i = 0; i < 2013; i++) OK(aclrtMemsetAsync(s.memory, 8, 0, 8, s.stream));
    CHECK(mock_acl_waiting_for_room() == 0);
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, submit_one_more, &s) == 0);
        while (mock_acl_waiting_for_room() != i + 1) sched_yield();
    }
    OK(mock_acl_release_stream(s.stream));
    for (size_t i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(mock_acl_waiting_for_room() == 0);
    OK(aclrtSynchronizeStream(s.stream));
}

/* Inside a host function a call that would wait for room is refused, so a full queue can be seen. */
static void a_queue_takes_2013(void) {
    up();
    submitter s = {NULL, new_stream(), device(8), 0, 0};
    OK(aclrtGetCurrentContext(&s.context));
    aclrtStream other = new_stream();
    OK(mock_acl_hold_stream(s.stream));
    OK(aclrtLaunchHostFunc(other, submit_until_refused, &s));
    OK(aclrtSynchronizeStream(other));
    CHECK(s.taken == 2013);
    CHECK(s.code == 207000);
    OK(mock_acl_release_stream(s.stream));
    OK(aclrtSynchronizeStream(s.stream));
}

/* ---- exceptions of operators ---- */

static int told;
static uint32_t code_told, thread_told;
static aclError args_told;

static void on_exception(aclrtExceptionInfo *info) {
    void *args = &told;
    uint32_t size = 1;
    aclrtFuncHandle f = NULL;
    told++;
    code_told = aclrtGetErrorCodeFromExceptionInfo(info);
    thread_told = aclrtGetThreadIdFromExceptionInfo(info);
    args_told = aclrtGetArgsFromExceptionInfo(info, &args, &size);
    CHECK(args == NULL && size == 0);
    CODE(aclrtGetFuncHandleFromExceptionInfo(info, &f), 107000);
}

static void a_failed_operator(void) {
    up();
    told = 0;
    OK(aclrtSetExceptionInfoCallback(on_exception));
    add o = new_add();
    aclrtStream s = new_stream();
    OK(mock_acl_fail_task("aclnnAdd", 1, 507015));
    once(&o, s);
    CODE(aclrtSynchronizeStream(s), 507015);
    CHECK(told == 1 && code_told == 507015 && args_told == 0 && thread_told != 0);
    static aclrtErrorInfo info;
    OK(aclrtGetErrorVerbose(0, &info));
    CHECK(info.errorType == ACL_RT_ERROR_AICORE && info.hasDetail == 1 && info.tryRepair == 0);
    end_add(&o);
}

/* Tasks that steer streams fail as well, and are told of once. */
static void a_failed_record(void) {
    up();
    told = 0;
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(mock_acl_fail_task("aclrtRecordEvent", 1, 507000));
    OK(aclrtRecordEvent(e, s));
    CODE(aclrtSynchronizeStream(s), 507000);
}

/* ---- nothing is left ---- */

static void reset_gives_all_back(void) {
    up();
    aclrtCntNotify c = NULL;
    aclrtEvent shared = NULL;
    aclrtNotify n = NULL;
    void *place = NULL;
    char key[65];
    OK(aclrtCntNotifyCreate(&c, 0));
    OK(aclrtCreateEventExWithFlag(&shared, ACL_EVENT_IPC));
    OK(aclrtRecordEvent(shared, NULL));
    OK(aclrtCreateNotify(&n, 0));
    OK(aclrtNotifyGetExportKey(n, key, sizeof key, 2));
    OK(aclrtWaitAndResetNotify(n, NULL, 5));
    OK(aclrtCtxGetFloatOverflowAddr(&place));
    OK(aclrtSetOpWaitTimeout(3));
    CHECK(mock_acl_reset() == 0);
    up();
    mock_acl_live live = {.struct_size = sizeof live};
    CHECK(mock_acl_live_handles(&live) == 0);
    CHECK(live.events == 0 && live.device_allocations == 0);
    for (int i = 0; i < 8192; i++) OK(aclrtCreateNotify(&n, 0));
    CODE(aclrtCreateNotify(&n, 0), 207009);
    for (int i = 0; i < 8192; i++) OK(aclrtCntNotifyCreate(&c, 0));
    CODE(aclrtCntNotifyCreate(&c, 0), 207009);
}

/* A context that goes takes its overflow place along. */
static void overflow_place_goes_with_its_context(void) {
    up();
    aclrtContext ctx = NULL;
    void *place = NULL;
    OK(aclrtCreateContext(&ctx, 0));
    OK(aclrtCtxGetFloatOverflowAddr(&place));
    OK(aclrtDestroyContext(ctx));
    mock_acl_live live = {.struct_size = sizeof live};
    CHECK(mock_acl_live_handles(&live) == 0);
    CHECK(live.device_allocations == 0);
}

int main(void) {
    passes_on_the_clock();
    advancing_ends_it();
    several_deadlines();
    ended_in_time();
    starts_at_the_wait();
    dropped_with_the_queue();
    every_thread_waits();
    a_free_thread_keeps_time();
    whoever_waits_for_room_is_counted();
    a_queue_takes_2013();
    a_failed_operator();
    a_failed_record();
    reset_gives_all_back();
    overflow_place_goes_with_its_context();
    return mock_acl_reset();
}
