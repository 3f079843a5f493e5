/* What else orders streams: counting notifies, events between processes, collective operations. */
#include "collectives/ranks.h"
#include "races/racy.h"

/* ---- counting notifies ---- */

static aclrtCntNotify new_count(void) {
    aclrtCntNotify n = NULL;
    OK(aclrtCntNotifyCreate(&n, 0));
    return n;
}

static void count_up(aclrtCntNotify n, aclrtStream s) {
    aclrtCntNotifyRecordInfo info = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
    OK(aclrtCntNotifyRecord(n, s, &info));
}

static void wait_count(aclrtCntNotify n, aclrtStream s, uint32_t value, int clear) {
    aclrtCntNotifyWaitInfo info = {
        .mode = ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, .value = value, .isClear = clear != 0};
    OK(aclrtCntNotifyWaitWithTimeout(n, s, &info));
}

static void a_count_orders_all_who_counted(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream(), c = new_stream();
    aclrtCntNotify n = new_count();
    char *p = device(2 * BYTES);
    wait_count(n, c, 2, 0); /* before either record */
    fill(p, 2 * BYTES, c);
    fill(p, BYTES, a);
    fill(p + BYTES, BYTES, b);
    count_up(n, a);
    count_up(n, b);
    races(0);
    fill(p, BYTES, a); /* behind its own record, and before nothing */
    count_up(n, b);
    wait_count(n, c, 3, 0);
    fill(p, BYTES, c);
    races(1);
    CHECK(race_at(0).bytes == BYTES && race_at(0).address == p);
}

/* A wait that sets the count back takes what was said with it. */
static void a_count_that_was_taken_says_nothing(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream(), c = new_stream(), d = new_stream();
    aclrtCntNotify n = new_count();
    char *p = device(BYTES);
    fill(p, BYTES, a);
    count_up(n, a);
    wait_count(n, b, 1, 1);
    mock_acl_run_until_idle();
    count_up(n, c); /* another one counts */
    wait_count(n, d, 1, 1);
    fill(p, BYTES, d);
    races(1);
}

/* ---- events between processes ---- */

static void an_event_of_processes_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_IPC);
    char *p = device(BYTES);
    mock_acl_hold_stream(a);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e)); /* of a record that is to come */
    fill(p, BYTES, b);
    mock_acl_release_stream(a);
    races(0);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    mock_acl_run_until_idle(); /* the record is over, and nobody was told */
    OK(aclrtStreamWaitEvent(b, e));
    fill(p, BYTES, b);
    races(0);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtSynchronizeEvent(e)); /* the host knows */
    fill(p, BYTES, b);
    races(0);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    mock_acl_run_until_idle();
    aclrtEventRecordedStatus status;
    OK(aclrtQueryEventStatus(e, &status)); /* it asks */
    CHECK(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    fill(p, BYTES, b);
    races(0);
    OK(aclrtRecordEvent(e, a));
    fill(p, BYTES, a);
    fill(p, BYTES, b); /* no wait */
    races(1);
    OK(aclrtDestroyEvent(e));
}

/* ---- collective operations ---- */

#define COUNT 64u
static char *sends[MOST], *takes[MOST], *shared;
static pthread_barrier_t together;
static int racy;

static void meet(void) { pthread_barrier_wait(&together); }

/* The first and the last rank are on one device. Behind its operation a rank comes after what all streams did before
 * theirs, not after the operations of the others. */
static void reduces(rank *r) {
    sends[r->me] = device(COUNT * 8);
    takes[r->me] = device(COUNT * 8);
    if (r->me == 0) shared = device(BYTES);
    meet();
    fill(sends[r->me], COUNT * 8, r->stream);
    if (r->me == 0) fill(shared, BYTES, r->stream);
    HOK(HcclAllReduce(
        sends[r->me], takes[r->me], COUNT, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, r->comm, r->stream));
    if (r->me == 0 && racy == 1) fill(shared, 8, r->stream);
    if (r->me == 2) fill(shared, BYTES, r->stream);
    meet();
    if (r->me == 0 && racy == 2) fill(takes[0], 8, new_stream()); /* nothing waits for the operation */
    meet();
    /* One thread does the work of all: what races by its order must not race in this process. */
    if (r->me == 0) mock_acl_run_until_idle();
    meet();
    OK(aclrtSynchronizeStream(r->stream));
    meet();
}

static void a_reduction(int how, uint64_t expected) {
    start();
    racy = how;
    CHECK(pthread_barrier_init(&together, NULL, 3) == 0);
    in_threads(3, reduces);
    OK(aclrtSetDevice(0));
    races(expected);
    if (how == 1) CHECK(race_at(0).address == shared && race_at(0).bytes == 8);
    if (how == 2) CHECK(race_at(0).address == takes[0] && race_at(0).bytes == 8 && has(0, "HcclAllReduce"));
    pthread_barrier_destroy(&together);
}

int main(void) {
    setenv("MOCK_ACL_DEVICES", "2", 1);
    a_count_orders_all_who_counted();
    a_count_that_was_taken_says_nothing();
    an_event_of_processes_orders();
    a_reduction(0, 0);
    a_reduction(1, 1);
    a_reduction(2, 1);
    return 0;
}
