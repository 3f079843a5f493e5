/* Accesses of streams: what events, notifies, values, callbacks and the host order, and what nothing orders. */
#include "races/racy.h"

static void two_writers(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    char *p = device(BYTES);
    int32_t first = 0, second = 0;
    OK(aclrtStreamGetId(a, &first));
    OK(aclrtStreamGetId(b, &second));
    fill(p, BYTES, a);
    fill(p + 1024, 1024, a);
    wait_for(a);
    fill(p, 512, a);
    fill(p + 100, 1000, b);
    races(1);
    const mock_acl_race r = race_at(0);
    CHECK(strcmp(r.first, "aclrtMemsetAsync") == 0 && strcmp(r.second, "aclrtMemsetAsync") == 0);
    CHECK(r.first_writes && r.second_writes && r.times == 1);
    CHECK(r.first_graph == 0 && r.second_graph == 0);
    CHECK((r.first_stream == first && r.first_task == 3 && r.second_stream == second && r.second_task == 1) ||
          (r.first_stream == second && r.first_task == 1 && r.second_stream == first && r.second_task == 3));
    CHECK(r.address == p + 100 && r.bytes == 412);
    CHECK(r.block == p && r.block_bytes == BYTES && r.offset == 100);
    CHECK(has(0, "nothing orders them") && has(0, "offset 100 of the allocation of 4096 bytes") && has(0, "order: record"));
    CHECK(mock_acl_race_at(1, &(mock_acl_race){.struct_size = sizeof r}) == MOCK_ACL_BAD_ARGUMENT);
    CHECK(mock_acl_race_text(1, NULL, 0) == 0);
    char little[8];
    CHECK(mock_acl_race_text(0, little, sizeof little) > 100 && strlen(little) == 7);
}

/* One pair, however often. */
static void told_once(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    void *p = device(BYTES), *q = device(BYTES);
    for (int i = 0; i < 50; i++) {
        fill(p, BYTES, b);
        copy(q, p, BYTES, a);
        OK(aclrtSynchronizeDevice());
    }
    CHECK(mock_acl_race_count() >= 1 && mock_acl_race_count() <= 2); /* the one or the other runs first */
    uint64_t times = 0;
    for (uint64_t i = 0; i < mock_acl_race_count(); i++) times += race_at(i).times;
    CHECK(times == 50);
}

static void readers_do_not_race(void) {
    start();
    aclrtStream s[4];
    char *p = device(BYTES), *q = device(4 * BYTES);
    for (int i = 0; i < 4; i++) s[i] = new_stream();
    fill(p, BYTES, s[0]);
    wait_for(s[0]);
    for (int i = 0; i < 4; i++) copy(q + i * BYTES, p, BYTES, s[i]);
    races(0);
    /* A writer that comes after three of the four. */
    mock_acl_hold_stream(s[2]);
    for (int i = 0; i < 4; i++) copy(q + i * BYTES, p, BYTES, s[i]);
    for (int i = 0; i < 2; i++) wait_for(s[i]);
    wait_for(s[3]);
    fill(p, BYTES, s[3]);
    wait_for(s[3]);
    mock_acl_release_stream(s[2]);
    races(1);
    CHECK(!race_at(0).second_writes && race_at(0).first_writes); /* the read ran last */
}

static void an_event_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream(), c = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC), f = new_event(ACL_EVENT_SYNC);
    void *p = device(BYTES);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e));
    fill(p, BYTES, b);
    OK(aclrtRecordEvent(f, b));
    OK(aclrtStreamWaitEvent(c, f)); /* after a, too */
    fill(p, BYTES, c);
    races(0);
    /* The wait of before says nothing of what came after its record. */
    OK(aclrtRecordEvent(e, a));
    fill(p, BYTES, a);
    OK(aclrtStreamWaitEvent(b, e));
    OK(aclrtRecordEvent(e, c)); /* a later record is another one */
    fill(p, BYTES, b);
    mock_acl_run_until_idle();
    CHECK(mock_acl_race_count() >= 1);
}

/* The wait takes the record that there was when it was queued, also when that is over and when another one followed. */
static void which_record(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    void *p = device(BYTES), *q = device(BYTES);
    mock_acl_hold_stream(b);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e));
    fill(q, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    fill(p, BYTES, b); /* in order: behind the first record */
    mock_acl_run_until_idle(); /* a is done */
    mock_acl_release_stream(b);
    races(0);
    /* A record that is over when the wait is queued: nothing is queued then, and it orders all the same. */
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    mock_acl_hold_stream(b);
    fill(q, BYTES, b);
    CODE(aclrtSynchronizeStreamWithTimeout(b, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT); /* runs a, and tells nothing of it */
    OK(aclrtStreamWaitEvent(b, e));
    fill(p, BYTES, b);
    mock_acl_release_stream(b);
    races(0);
}

static void a_latch_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = NULL;
    OK(aclrtCreateEventWithFlag(&e, ACL_EVENT_SYNC));
    void *p = device(BYTES);
    for (int i = 0; i < 3; i++) {
        fill(p, BYTES, a);
        OK(aclrtRecordEvent(e, a));
        OK(aclrtStreamWaitEvent(b, e));
        OK(aclrtResetEvent(e, b));
        fill(p, BYTES, b);
        wait_for(b);
        aclrtEventWaitStatus status;
        OK(aclrtQueryEventWaitStatus(e, &status));
    }
    races(0);
}

static void a_notify_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify n = NULL;
    OK(aclrtCreateNotify(&n, 0));
    void *p = device(BYTES);
    OK(aclrtWaitAndResetNotify(n, b, 0)); /* before the record */
    fill(p, BYTES, b);
    fill(p, BYTES, a);
    OK(aclrtRecordNotify(n, a));
    races(0);
    fill(p, BYTES, a); /* nothing between this one and b's */
    races(1 - (mock_acl_race_count() != 0 ? 0 : 1));
}

static void a_value_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    uint64_t *word = device(64), zero = 0;
    void *p = device(BYTES);
    OK(aclrtMemcpy(word, 8, &zero, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_GEQ, b));
    fill(p, BYTES, b);
    fill(p, BYTES, a);
    OK(aclrtValueWrite(word, 1, 0, a));
    races(0);
    read_back(&zero, word, 8); /* polls */
    CHECK(zero == 1);
    races(0);
}

static void count(void *number) { ++*(int *)number; }

static void a_host_function_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    void *p = device(BYTES);
    int ran = 0;
    fill(p, BYTES, a);
    OK(aclrtLaunchHostFunc(a, count, &ran));
    while (ran == 0) mock_acl_run_until_idle();
    fill(p, BYTES, b);
    races(0);
}

static void the_host_orders(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    void *p = device(BYTES);
    fill(p, BYTES, a);
    wait_for(a);
    fill(p, BYTES, b);
    OK(aclrtRecordEvent(e, b));
    OK(aclrtSynchronizeEvent(e));
    fill(p, BYTES, a);
    OK(aclrtSynchronizeDevice());
    fill(p, BYTES, b);
    aclrtStreamStatus status;
    do OK(aclrtStreamQuery(b, &status));
    while (status != ACL_STREAM_STATUS_COMPLETE);
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    mock_acl_run_until_idle();
    aclrtEventRecordedStatus recorded;
    OK(aclrtQueryEventStatus(e, &recorded));
    CHECK(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    fill(p, BYTES, b);
    wait_for(b);
    fill(p, BYTES, a);
    OK(aclrtDestroyStream(a));
    aclrtStream c = new_stream();
    fill(p, BYTES, c);
    races(0);
    OK(aclrtDestroyStreamForce(c));
    fill(p, BYTES, b);
    races(0);
}

/* An event says nothing of what the stream got after its record. */
static void the_host_knows_no_more(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    void *p = device(BYTES), *q = device(BYTES);
    fill(q, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    fill(p, BYTES, a);
    OK(aclrtSynchronizeEvent(e));
    fill(q, BYTES, b);
    fill(p, BYTES, b);
    races(1);
}

static void calls_of_the_host(void) {
    start();
    aclrtStream a = new_stream();
    char *p = device(BYTES), *q = device(BYTES), here[64] = {0};
    OK(aclrtMemcpy(p, BYTES, here, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    copy(q, p, BYTES, a); /* after the call */
    races(0);
    copy(q, p, BYTES, a);
    read_back(here, p, 64); /* both read */
    races(0);
    copy(q, p, BYTES, a);
    OK(aclrtMemset(p, BYTES, 0, 64)); /* the stream has not been waited for */
    races(1);
    CHECK(has(0, "of the host") && has(0, "aclrtMemset of the host"));
    copy(q, p, BYTES, a);
    wait_for(a);
    OK(aclrtMemcpy(here, 64, q, 64, ACL_MEMCPY_DEVICE_TO_HOST));
    races(1);
}

static void freed_too_early(void) {
    start();
    aclrtStream a = new_stream();
    void *p = device(BYTES), *host = pinned(BYTES), *q = device(BYTES);
    fill(p, BYTES, a);
    wait_for(a);
    OK(aclrtFree(p));
    races(0);
    fill(q, BYTES, a);
    OK(aclrtMemcpyAsync(host, BYTES, q, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, a));
    mock_acl_hold_stream(a);
    mock_acl_release_stream(a);
    OK(aclrtSynchronizeStream(a));
    OK(aclrtFreeHost(host));
    races(0);
    /* It ran, and the host does not know. */
    aclrtStream b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    fill(q, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e));
    fill(q, BYTES, b);
    OK(aclrtSynchronizeEvent(e));
    wait_for(a);
    OK(aclrtFree(q));
    mock_acl_run_until_idle();
    CHECK(mock_acl_race_count() == 1);
    CHECK(has(0, "aclrtFree of the host") && has(0, "gives back"));
}

/* The address comes again, and nobody of before counts. */
static void given_out_again(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    for (int i = 0; i < 100; i++) {
        void *p = device(BYTES);
        fill(p, BYTES, i % 2 == 0 ? a : b);
        OK(aclrtFreeWithDevSync(p));
    }
    races(0);
    aclrtMemPool pool = NULL;
    const aclrtMemPoolProps props = {
        .allocType = ACL_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = ACL_MEM_LOCATION_TYPE_DEVICE}};
    OK(aclrtMemPoolCreate(&pool, &props));
    for (int i = 0; i < 20; i++) {
        aclrtStream s = i % 3 == 0 ? a : b;
        void *p = NULL;
        OK(aclrtMemPoolMallocAsync(&p, BYTES, pool, s));
        fill(p, BYTES, s);
        OK(aclrtMemPoolFreeAsync(p, s));
        if (i % 4 == 0) mock_acl_run_until_idle();
    }
    races(0);
}

/* Rows of a copy in two dimensions do not touch what lies between them. */
static void rows_and_columns(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    char *p = device(64 * 64), *host = pinned(64 * 32);
    memset(host, 0, 64 * 32);
    OK(aclrtMemcpy2dAsync(p, 64, host, 32, 32, 64, ACL_MEMCPY_HOST_TO_DEVICE, a));
    OK(aclrtMemcpy2dAsync(p + 32, 64, host, 32, 32, 64, ACL_MEMCPY_HOST_TO_DEVICE, b));
    races(0);
    OK(aclrtMemcpy2dAsync(p + 31, 64, host, 32, 2, 64, ACL_MEMCPY_HOST_TO_DEVICE, new_stream()));
    races(0);
    OK(aclrtMemcpy2dAsync(p, 64, host, 32, 32, 64, ACL_MEMCPY_HOST_TO_DEVICE, a));
    OK(aclrtMemcpy2dAsync(p + 31, 64, host, 32, 32, 64, ACL_MEMCPY_HOST_TO_DEVICE, b));
    races(1);
    CHECK(race_at(0).address == p + 31);
}

static void later_fails(void) {
    start();
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_FAIL) == MOCK_ACL_RACES_REPORT);
    aclrtStream a = new_stream(), b = new_stream();
    void *p = device(BYTES);
    OK(aclrtMemset(p, BYTES, 0, BYTES));
    OK(aclrtMemsetAsync(p, BYTES, 1, BYTES, a));
    OK(aclrtMemsetAsync(p, BYTES, 2, BYTES, b));
    mock_acl_hold_stream(b);
    wait_for(a);
    mock_acl_release_stream(b);
    CODE(aclrtSynchronizeStream(b), ACL_ERROR_RT_DEVICE_MEM_ERROR);
    CHECK(mock_acl_race_count() == 1);
    CHECK(byte_at(p) == 1); /* the later one did nothing */
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_REPORT) == MOCK_ACL_RACES_FAIL);
    CHECK(mock_acl_race_count() == 0);
}

static void off_and_on(void) {
    start();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    void *p = device(BYTES);
    CHECK(mock_acl_check_races(3) == MOCK_ACL_BAD_ARGUMENT && mock_acl_check_races(-1) == MOCK_ACL_BAD_ARGUMENT);
    fill(p, BYTES, a);
    fill(p, BYTES, b);
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_OFF) == MOCK_ACL_RACES_REPORT);
    races(0); /* off */
    fill(p, BYTES, a);
    OK(aclrtRecordEvent(e, a));
    fill(p, BYTES, b);
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_REPORT) == MOCK_ACL_RACES_OFF);
    OK(aclrtStreamWaitEvent(b, e)); /* of a record that nobody looked at */
    races(0);
    fill(p, BYTES, a);
    fill(p, BYTES, b);
    races(1);
    CHECK(mock_acl_reset() == 0);
    CHECK(mock_acl_race_count() == 0);
    up();
    aclrtStream c = new_stream(), d = new_stream();
    p = device(BYTES);
    fill(p, BYTES, c);
    fill(p, BYTES, d);
    races(1); /* the mode stays over a reset */
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_OFF) == MOCK_ACL_RACES_REPORT);
}

int main(void) {
    two_writers();
    told_once();
    readers_do_not_race();
    an_event_orders();
    which_record();
    a_latch_orders();
    a_notify_orders();
    a_value_orders();
    a_host_function_orders();
    the_host_orders();
    the_host_knows_no_more();
    calls_of_the_host();
    freed_too_early();
    given_out_again();
    rows_and_columns();
    later_fails();
    off_and_on();
    return 0;
}
