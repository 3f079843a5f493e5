/* Part of racl (mock-acl). Events: positions and latches, queries, times. */
#include "check.h"

static int recorded(aclrtEvent e) {
    aclrtEventRecordedStatus status;
    OK(aclrtQueryEventStatus(e, &status));
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

/* A wait keeps the record it saw; a later record does not move it. */
static void snapshot(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    unsigned char *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    CHECK(recorded(e));
    OK(mock_acl_hold_stream(a));
    OK(aclrtMemsetAsync(d, 8, 1, 8, a));
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e));
    OK(aclrtMemsetAsync(d + 4, 4, 2, 1, b));
    CHECK(!recorded(e));
    CODE(aclrtSynchronizeStreamWithTimeout(b, 10), 507046);
    CODE(aclrtSynchronizeEventWithTimeout(e, 10), 507047);
    OK(mock_acl_release_stream(a));
    OK(aclrtSynchronizeStream(b)); /* pulls the other stream along */
    CHECK(byte_at(d) == 1 && byte_at(d + 4) == 2);
    CHECK(recorded(e));
    /* The latest record is the one that counts for the host. */
    OK(mock_acl_hold_stream(a));
    OK(aclrtMemsetAsync(d, 8, 3, 8, a));
    OK(aclrtRecordEvent(e, a));
    CHECK(!recorded(e));
    OK(mock_acl_release_stream(a));
    OK(aclrtSynchronizeEvent(e));
    CHECK(byte_at(d) == 3);
}

static void outlives_destruction(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    unsigned char *d = device(8);
    OK(aclrtMemsetAsync(d, 8, 4, 8, a));
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e));
    OK(aclrtDestroyEvent(e));
    OK(aclrtDestroyStream(a));
    OK(aclrtSynchronizeStream(b));
    CHECK(byte_at(d) == 4);
}

static void latches(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = NULL, plain = NULL;
    OK(aclrtCreateEventWithFlag(&e, ACL_EVENT_SYNC));
    OK(aclrtStreamWaitEvent(b, e)); /* before any record: the stream stalls */
    CODE(aclrtSynchronizeStreamWithTimeout(b, 10), 507046);
    aclrtEventWaitStatus waits;
    OK(aclrtQueryEventWaitStatus(e, &waits));
    CHECK(waits == ACL_EVENT_WAIT_STATUS_NOT_READY);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtSynchronizeStream(b));
    OK(aclrtQueryEventWaitStatus(e, &waits));
    CHECK(waits == ACL_EVENT_WAIT_STATUS_COMPLETE);
    OK(aclrtStreamWaitEvent(b, e)); /* sticky */
    OK(aclrtSynchronizeStream(b));
    OK(aclrtResetEvent(e, b));
    OK(aclrtStreamWaitEvent(b, e));
    CODE(aclrtSynchronizeStreamWithTimeout(b, 10), 507046);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtSynchronizeStream(b));
    OK(aclrtCreateEvent(&plain));
    CODE(aclrtStreamWaitEvent(b, plain), 107000);
    OK(aclrtRecordEvent(plain, a));
    OK(aclrtStreamWaitEvent(b, plain));
    OK(aclrtSynchronizeStream(b));
}

static void times(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent start = new_event(ACL_EVENT_TIME_LINE), end = new_event(ACL_EVENT_TIME_LINE),
               no = new_event(ACL_EVENT_SYNC);
    float ms = -1;
    CODE(aclrtEventElapsedTime(&ms, start, end), 507000);
    OK(mock_acl_hold_stream(s));
    OK(aclrtRecordEvent(start, s));
    for (int i = 0; i < 999; i++) OK(aclrtCmoAsync(s, 1, ACL_RT_CMO_TYPE_PREFETCH, s));
    OK(aclrtRecordEvent(end, s));
    OK(aclrtRecordEvent(no, s));
    CODE(aclrtEventElapsedTime(&ms, start, end), 107006);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    OK(aclrtEventElapsedTime(&ms, start, end));
    CHECK(ms == 1.0f); /* a record is a task, too */
    OK(aclrtEventElapsedTime(&ms, end, start));
    CHECK(ms == -1.0f);
    OK(aclrtEventElapsedTime(&ms, start, no));
    CHECK(ms == 0.0f);
    mock_acl_advance_ns(5000000);
    OK(aclrtRecordEvent(end, s));
    OK(aclrtSynchronizeEvent(end));
    OK(aclrtEventElapsedTime(&ms, start, end));
    CHECK(ms > 6.0f);
    uint64_t us = 0;
    OK(aclrtEventGetTimestamp(end, &us));
    CHECK(us > 6000);
}

static void error_by_event(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(mock_acl_fail_task("aclrtMemsetAsync", 1, 507015));
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, s));
    OK(aclrtRecordEvent(e, s));
    CODE(aclrtSynchronizeEvent(e), 507015);
    OK(aclrtSynchronizeStream(s));
}

int main(void) {
    snapshot();
    outlives_destruction();
    latches();
    times();
    error_by_event();
    return 0;
}
