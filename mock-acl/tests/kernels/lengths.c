/* Part of racl (mock-acl). How long a kernel takes counts for time limits, whoever runs it and when. */
#include "kernels/binaries/kernels.h"
#include "check.h"

#define SECOND UINT64_C(1000000000)

static aclrtBinHandle binary;
static aclrtFuncHandle slow;

static void begin(void) {
    up();
    OK(aclrtBinaryLoadFromFile(beside(KERNELS), NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, "slow", &slow));
}

static void takes(uint64_t seconds, aclrtStream s) {
    uint64_t ns = seconds * SECOND;
    OK(aclrtLaunchKernelWithHostArgs(slow, 1, s, NULL, &ns, sizeof ns, NULL, 0));
}

/* Runs it before anybody waits, as a worker may. */
static void perhaps_run(int before) {
    if (before) mock_acl_run_until_idle();
}

static void of_streams(int before) {
    begin();
    aclrtStream s = new_stream();
    takes(2, s);
    perhaps_run(before);
    const uint64_t start = mock_acl_now_ns();
    CODE(aclrtSynchronizeStreamWithTimeout(s, 1000), 507046);
    CHECK(mock_acl_now_ns() - start == SECOND);
    OK(aclrtSynchronizeStreamWithTimeout(s, 2000));
    CHECK(mock_acl_now_ns() - start >= 2 * SECOND - 10000 && mock_acl_now_ns() - start < 2 * SECOND + 10000);
    OK(aclrtSynchronizeStreamWithTimeout(s, 1));
}

static void of_the_device(int before) {
    begin();
    aclrtStream s = new_stream(), t = new_stream();
    takes(1, s);
    takes(3, t);
    perhaps_run(before);
    CODE(aclrtSynchronizeDeviceWithTimeout(2000), 507046);
    OK(aclrtSynchronizeStreamWithTimeout(s, 1));
    OK(aclrtSynchronizeDeviceWithTimeout(1001));
    CHECK(mock_acl_now_ns() < 4 * SECOND); /* they ran side by side */
}

/* An event in front of the kernel does not wait for it. */
static void of_events(int before) {
    begin();
    aclrtStream s = new_stream();
    const uint32_t flags = ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC;
    aclrtEvent first = new_event(flags), last = new_event(flags);
    OK(aclrtRecordEvent(first, s));
    takes(2, s);
    OK(aclrtRecordEvent(last, s));
    perhaps_run(before);
    OK(aclrtSynchronizeEventWithTimeout(first, 1));
    CODE(aclrtSynchronizeEventWithTimeout(last, 1000), 507047);
    OK(aclrtSynchronizeEventWithTimeout(last, 1001));
    float ms = 0;
    OK(aclrtEventElapsedTime(&ms, first, last));
    CHECK(ms >= 2000 && ms < 2001);
}

static void of_waits_on_the_device(int before) {
    begin();
    aclrtStream s = new_stream(), t = new_stream(), u = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    takes(2, s);
    OK(aclrtRecordEvent(e, s));
    OK(aclrtStreamWaitEventWithTimeout(t, e, 1));
    OK(aclrtStreamWaitEventWithTimeout(u, e, 3));
    perhaps_run(before);
    CODE(aclrtSynchronizeStreamWithTimeout(t, 1500), 107020);
    CODE(aclrtSynchronizeStreamWithTimeout(u, 500), 507046);
    OK(aclrtSynchronizeStreamWithTimeout(u, 1000));
}

static void of_graphs(int before) {
    begin();
    aclrtStream s = new_stream();
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    takes(1, s);
    takes(1, s);
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIExecuteAsync(graph, s));
    perhaps_run(before);
    CODE(aclrtSynchronizeStreamWithTimeout(s, 1900), 507046);
    OK(aclrtSynchronizeStreamWithTimeout(s, 200));
    OK(aclmdlRIDestroy(graph));
}

/* Who sees that it is done sees the time as well. */
static void a_query_moves_the_clock(void) {
    begin();
    aclrtStream s = new_stream();
    takes(2, s);
    mock_acl_run_until_idle();
    CHECK(mock_acl_now_ns() < SECOND);
    aclrtStreamStatus status;
    OK(aclrtStreamQuery(s, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE && mock_acl_now_ns() >= 2 * SECOND);
}

int main(void) {
    for (int before = 0; before < 2; before++) {
        of_streams(before);
        of_the_device(before);
        of_events(before);
        of_waits_on_the_device(before);
        of_graphs(before);
    }
    a_query_moves_the_clock();
    return 0;
}
