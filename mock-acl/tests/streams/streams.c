/* Part of racl (mock-acl). Streams: order, gates, time-outs, failures, callbacks. */
#include <pthread.h>
#include "check.h"

static void gates(void) {
    up();
    aclrtStream s = new_stream();
    aclrtStreamStatus status;
    unsigned char *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 8, 1, 8, s));
    CHECK(mock_acl_run_until_idle() == 0);
    OK(aclrtStreamQuery(s, &status));
    CHECK(status == ACL_STREAM_STATUS_NOT_READY && byte_at(d) == 0);
    const uint64_t before = mock_acl_now_ns();
    CODE(aclrtSynchronizeStreamWithTimeout(s, 5000), 507046);
    CHECK(mock_acl_now_ns() - before == UINT64_C(5000000000));
    CODE(aclrtSynchronizeDeviceWithTimeout(1), 507046);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 1);
    CHECK(mock_acl_hold_stream(d) == MOCK_ACL_BAD_ARGUMENT);
}

static void nothing_runs_early(void) {
    if (workers()) return;
    up();
    aclrtStream s = new_stream();
    unsigned char *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    for (int i = 1; i <= 100; i++) OK(aclrtMemsetAsync(d, 8, i, 8, s));
    CHECK(byte_at(d) == 0);
    CHECK(mock_acl_run_until_idle() == 100 && byte_at(d) == 100);
}

static void full_queue_helps(void) {
    up();
    aclrtStream s = new_stream();
    uint64_t *d = device(8);
    for (int i = 0; i < 100000; i++) OK(aclrtValueWrite(d, (uint64_t)i, 0, s));
    OK(aclrtSynchronizeStream(s));
    uint64_t last = 0;
    read_back(&last, d, 8);
    CHECK(last == 99999);
}

static void failures(void) {
    up();
    aclrtStream s = new_stream(), t = new_stream();
    unsigned char *d = device(8);
    OK(mock_acl_fail_task("aclrtMemsetAsync", 2, 507015));
    for (int i = 1; i <= 3; i++) OK(aclrtMemsetAsync(d, 8, i, 8, s));
    OK(aclrtMemsetAsync(d, 8, 9, 8, t));
    CODE(aclrtSynchronizeStream(s), 507015);
    CHECK(strstr(aclGetRecentErrMsg(), "507015") != NULL);
    CHECK(byte_at(d) == 3 || byte_at(d) == 9); /* the next tasks ran */
    OK(aclrtSynchronizeStream(s));
    OK(aclrtSynchronizeStream(t));
    OK(aclrtSetStreamFailureMode(s, ACL_STOP_ON_FAILURE));
    OK(mock_acl_fail_task("aclrtMemsetAsync", 1, 507014));
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 8, 1, 8, s));
    OK(aclrtMemsetAsync(d, 8, 77, 8, s));
    OK(mock_acl_release_stream(s));
    CODE(aclrtSynchronizeStream(s), 507014);
    CHECK(byte_at(d) != 77);
    CODE(aclrtMemsetAsync(d, 8, 1, 8, s), 507014);
    OK(aclrtDestroyStream(s));
}

static void destroy_with_work(void) {
    up();
    unsigned char *d = device(8);
    aclrtStream s = new_stream();
    OK(aclrtMemsetAsync(d, 8, 5, 8, s));
    OK(aclrtDestroyStream(s));
    CHECK(byte_at(d) == 5);
    s = new_stream();
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 8, 6, 8, s));
    OK(aclrtDestroyStreamForce(s));
    CHECK(byte_at(d) == 5);
    /* Held work: the teardown gives up after its (virtual) limit and drops it. */
    s = new_stream();
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 8, 7, 8, s));
    OK(aclrtDestroyStream(s));
    CHECK(byte_at(d) == 5);
    s = new_stream();
    OK(aclrtMemsetAsync(d, 8, 8, 8, s));
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    CHECK(byte_at(d) == 8);
    CODE(aclrtSynchronizeStream(s), 107017);
}

static int calls_made;
static aclError inner_code;

static void count_call(void *stream) {
    calls_made++;
    if (stream != NULL) inner_code = aclrtSynchronizeStream(stream);
}

static void host_functions(void) {
    up();
    aclrtStream s = new_stream(), t = new_stream();
    calls_made = 0;
    OK(mock_acl_hold_stream(s));
    OK(aclrtLaunchHostFunc(s, count_call, NULL));
    CHECK(calls_made == 0);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    CHECK(calls_made == 1);
    /* A wait inside is refused instead of a deadlock. */
    OK(mock_acl_hold_stream(t));
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, t));
    OK(aclrtLaunchHostFunc(s, count_call, t));
    OK(aclrtSynchronizeStream(s));
    CHECK(calls_made == 2 && inner_code == 207000);
}

static void reports(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    const uint64_t me = (uint64_t)pthread_self();
    CODE(aclrtProcessReport(10), 107012);
    OK(aclrtSubscribeReport(me, s));
    calls_made = 0;
    OK(aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_BLOCK, s));
    OK(aclrtMemsetAsync(d, 8, 1, 8, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    CHECK(calls_made == 0 && byte_at(d) == 0);
    OK(aclrtProcessReport(10));
    CHECK(calls_made == 1);
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 1);
    OK(aclrtLaunchCallback(count_call, NULL, ACL_CALLBACK_NO_BLOCK, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtProcessReport(-1));
    CHECK(calls_made == 2);
    CODE(aclrtProcessReport(10), 507012);
    OK(aclrtUnSubscribeReport(me, s));
    CODE(aclrtProcessReport(10), 107012);
}

static void *ask(void *codes) {
    for (int i = 0; i < 3; i++) ((aclError *)codes)[i] = aclrtProcessReport(1);
    return NULL;
}

/* A thread that asks for callbacks beside another one does not move the clock. */
static void serving(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclError codes[3];
    pthread_t thread;
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), other));
    const uint64_t before = mock_acl_now_ns();
    CODE(aclrtProcessReport(1), 507012);
    CHECK(mock_acl_now_ns() - before == 1000000);
    CHECK(pthread_create(&thread, NULL, ask, codes) == 0);
    OK(aclrtSubscribeReport((uint64_t)thread, s));
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 3; i++) CHECK(codes[i] == 507012 || codes[i] == 107012);
    CHECK(mock_acl_now_ns() - before == 1000000);
}

static void poll_until_done(void) {
    up();
    aclrtStream s = new_stream();
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    OK(aclrtMemsetAsync(device(8), 8, 1, 8, s));
    while (status != ACL_STREAM_STATUS_COMPLETE) OK(aclrtStreamQuery(s, &status));
}

static void values(void) {
    up();
    aclrtStream s = new_stream(), t = new_stream();
    uint64_t *flag = device(8), zero = 0;
    unsigned char *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    OK(aclrtMemcpy(flag, 8, &zero, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtValueWait(flag, 3, ACL_STREAM_WAIT_VALUE_GEQ, s));
    OK(aclrtMemsetAsync(d, 8, 1, 8, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(aclrtValueWrite(flag, 2, 0, t));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(aclrtValueWrite(flag, 3, 0, t));
    OK(aclrtSynchronizeStream(s));
    CHECK(byte_at(d) == 1);
    aclrtNotify n = NULL;
    OK(aclrtCreateNotify(&n, 0));
    OK(aclrtWaitAndResetNotify(n, s, 0));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(aclrtRecordNotify(n, t));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtDestroyNotify(n));
}

int main(void) {
    /* First: a query leaves a worker, which may come late and run what it finds. */
    nothing_runs_early();
    gates();
    full_queue_helps();
    failures();
    destroy_with_work();
    host_functions();
    reports();
    serving();
    poll_until_done();
    values();
    return 0;
}
