/* Part of racl (mock-acl). Notifies: one record, one wait. */
#include "conform.h"

static aclrtNotify new_notify(void) {
    aclrtNotify notify = NULL;
    OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    return notify;
}

RULE(notify, flags_are_0_and_1, "observed: notify") {
    up();
    aclrtNotify notify = NULL;
    EXPECT(aclrtCreateNotify(&notify, 0), 0);
    EXPECT(aclrtCreateNotify(&notify, 1), 0);
    EXPECT(aclrtCreateNotify(&notify, 2), 107000);
    EXPECT(aclrtCreateNotify(&notify, 8), 107000);
}

RULE(notify, calls_need_a_notify, "implementation: ACL layer") {
    up();
    uint32_t id = 0;
    EXPECT(aclrtCreateNotify(NULL, 0), 100000);
    EXPECT(aclrtDestroyNotify(NULL), 100000);
    EXPECT(aclrtRecordNotify(NULL, NULL), 100000);
    EXPECT(aclrtWaitAndResetNotify(NULL, NULL, 0), 100000);
    EXPECT(aclrtGetNotifyId(NULL, &id), 100000);
    EXPECT(aclrtGetNotifyId(new_notify(), NULL), 100000);
    EXPECT(aclrtNotifyBatchReset(NULL, 1), 100000);
}

RULE(notify, without_a_device_there_is_no_notify, "observed: thread_no_ctx") {
    aclrtNotify notify = NULL;
    OK(aclInit(NULL));
    EXPECT(aclrtCreateNotify(&notify, 0), 107002);
}

RULE(notify, a_wait_lasts_until_the_record, "guide: aclrtWaitAndResetNotify") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify notify = new_notify();
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtRecordNotify(notify, a));
    finish(b);
}

RULE(notify, a_record_may_come_first, "guide: aclrtRecordNotify") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify notify = new_notify();
    OK(aclrtRecordNotify(notify, a));
    finish(a);
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    finish(b);
}

RULE(notify, a_wait_takes_the_record_away, "guide: aclrtWaitAndResetNotify") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify notify = new_notify();
    OK(aclrtRecordNotify(notify, a));
    finish(a);
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtRecordNotify(notify, a));
    finish(b);
}

RULE(notify, two_records_count_once, "guide: aclrtRecordNotify") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify notify = new_notify();
    OK(aclrtRecordNotify(notify, a));
    OK(aclrtRecordNotify(notify, a));
    finish(a);
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    OK(aclrtWaitAndResetNotify(notify, b, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtRecordNotify(notify, a));
    finish(b);
}

RULE(notify, a_reset_takes_records_away_at_once, "guide: aclrtNotifyBatchReset") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify both[2] = {new_notify(), new_notify()};
    for (int i = 0; i < 2; i++) OK(aclrtRecordNotify(both[i], a));
    finish(a);
    OK(aclrtNotifyBatchReset(both, 2));
    OK(aclrtWaitAndResetNotify(both[1], b, 0));
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    OK(aclrtRecordNotify(both[1], a));
    finish(b);
}

RULE(notify, resetting_none_is_refused, "implementation: aclrtNotifyBatchReset") {
    up();
    aclrtNotify notify = new_notify();
    EXPECT(aclrtNotifyBatchReset(&notify, 0), 107000);
}

RULE(notify, ids_differ, "guide: aclrtGetNotifyId") {
    up();
    uint32_t a = 0, b = 0;
    OK(aclrtGetNotifyId(new_notify(), &a));
    OK(aclrtGetNotifyId(new_notify(), &b));
    TRUE(a != b);
}

RULE(notify, a_destroyed_notify_gives_its_id_back, "guide: aclrtCreateNotify") {
    up();
    for (int i = 0; i < 10000; i++) OK(aclrtDestroyNotify(new_notify()));
}

RULE_MOCK(notify, there_are_8192_notifies, "guide: aclrtCreateNotify") {
    static aclrtNotify all[8192];
    aclrtNotify one_more = NULL;
    up();
    for (int i = 0; i < 8192; i++) all[i] = new_notify();
    EXPECT(aclrtCreateNotify(&one_more, 0), 207009);
    OK(aclrtDestroyNotify(all[77]));
    EXPECT(aclrtCreateNotify(&one_more, 0), 0);
}

RULE_MOCK(notify, a_destroyed_notify_is_an_invalid_handle, "observed: notify") {
    up();
    uint32_t id = 0;
    aclrtNotify notify = new_notify();
    OK(aclrtDestroyNotify(notify));
    EXPECT(aclrtDestroyNotify(notify), 107017);
    EXPECT(aclrtRecordNotify(notify, NULL), 107017);
    EXPECT(aclrtWaitAndResetNotify(notify, NULL, 0), 107017);
    EXPECT(aclrtGetNotifyId(notify, &id), 107017);
    EXPECT(aclrtNotifyBatchReset(&notify, 1), 107017);
}

RULE(notify, a_wait_in_time_leaves_no_error, "guide: aclrtWaitAndResetNotify") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtNotify notify = new_notify();
    OK(aclrtRecordNotify(notify, a));
    OK(aclrtWaitAndResetNotify(notify, b, 10));
    finish(b);
}

RULE(notify, a_wait_that_nothing_ends_times_out, "guide: aclrtWaitAndResetNotify") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtWaitAndResetNotify(new_notify(), stream, 1));
    TRUE(aclrtSynchronizeStream(stream) != 0);
}

RULE_MOCK(notify, a_time_out_gives_107020_and_the_stream_goes_on, "own choice") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtWaitAndResetNotify(new_notify(), stream, 3));
    OK(aclrtMemsetAsync(memory, 64, 3, 64, stream));
    EXPECT(aclrtSynchronizeStream(stream), 107020);
    TRUE(byte_at(memory) == 3);
    finish(stream);
}

RULE(notify, record_and_wait_are_captured, "observed: notify") {
    up();
    aclrtStream other = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtNotify notify = new_notify();
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 0, 64);
    OK(aclrtWaitAndResetNotify(notify, stream, 0));
    OK(aclrtMemsetAsync(memory, 64, 6, 64, stream));
    aclmdlRI graph = end(stream);
    OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    OK(aclrtRecordNotify(notify, other));
    finish(stream);
    TRUE(byte_at(memory) == 6);
    OK(aclmdlRIDestroy(graph));
}

RULE(notify, a_notify_joins_nothing_to_a_capture, "observed: notify; implementation: only events fork") {
    up();
    aclrtStream other = new_stream(), stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    aclrtNotify notify = new_notify();
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    OK(aclrtRecordNotify(notify, stream));
    OK(aclrtWaitAndResetNotify(notify, other, 0));
    OK(aclmdlRICaptureGetInfo(other, &status, NULL));
    TRUE(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    aclmdlRI graph = end(stream);
    EXPECT(aclrtSynchronizeStreamWithTimeout(other, 20), 507046); /* the record runs in the replay */
    replay(graph, stream);
    finish(other);
    OK(aclmdlRIDestroy(graph));
}

/* ---- counting notifies ---- */

static aclrtCntNotify new_count(void) {
    aclrtCntNotify count = NULL;
    const int code = aclrtCntNotifyCreate(&count, 0);
    if (code == 207000) SKIP("the chip has no counting notifies");
    OK(code);
    return count;
}

static void record(aclrtCntNotify count, aclrtStream stream, aclrtCntNotifyRecordMode mode, uint32_t value) {
    aclrtCntNotifyRecordInfo info;
    info.mode = mode;
    info.value = value;
    OK(aclrtCntNotifyRecord(count, stream, &info));
}

static void wait_for(aclrtCntNotify count, aclrtStream stream, aclrtCntNotifyWaitMode mode, uint32_t value,
    uint32_t seconds, int clear) {
    aclrtCntNotifyWaitInfo info;
    memset(&info, 0, sizeof info);
    info.mode = mode;
    info.value = value;
    info.timeout = seconds;
    info.isClear = clear != 0;
    OK(aclrtCntNotifyWaitWithTimeout(count, stream, &info));
}

/* The count is what an equal wait says it is. */
static void is_now(aclrtCntNotify count, uint32_t value) {
    aclrtStream stream = new_stream();
    wait_for(count, stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value, 0, 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 5000), 0);
    OK(aclrtDestroyStreamForce(stream));
}

RULE(notify, records_set_add_and_combine, "header: aclrtCntNotifyRecordMode") {
    up();
    aclrtCntNotify count = new_count();
    aclrtStream stream = new_stream();
    is_now(count, 0);
    record(count, stream, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 6);
    finish(stream);
    is_now(count, 6);
    record(count, stream, ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 3);
    finish(stream);
    is_now(count, 9);
    record(count, stream, ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 6);
    finish(stream);
    is_now(count, 15);
    record(count, stream, ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 12);
    finish(stream);
    is_now(count, 12);
    OK(aclrtCntNotifyReset(count, stream));
    finish(stream);
    is_now(count, 0);
}

/* The wait holds at `before` and ends at `after`. */
static void count_case(aclrtCntNotifyWaitMode mode, uint32_t value, uint32_t before, uint32_t after) {
    aclrtCntNotify count = new_count();
    aclrtStream a = new_stream(), b = new_stream();
    record(count, a, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, before);
    finish(a);
    wait_for(count, b, mode, value, 0, 0);
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 20), 507046);
    record(count, a, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, after);
    finish(a);
    EXPECT(aclrtSynchronizeStreamWithTimeout(b, 5000), 0);
    OK(aclrtCntNotifyDestroy(count));
}

RULE(notify, a_count_is_waited_for_to_be_less, "header: aclrtCntNotifyWaitMode") {
    up();
    count_case(ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, 5, 5, 4);
}

RULE(notify, a_count_is_waited_for_to_be_equal, "header: aclrtCntNotifyWaitMode") {
    up();
    count_case(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 5, 6, 5);
}

RULE(notify, a_count_is_waited_for_to_be_bigger, "header: aclrtCntNotifyWaitMode") {
    up();
    count_case(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, 5, 5, 6);
}

RULE(notify, a_count_is_waited_for_to_be_bigger_or_equal, "header: aclrtCntNotifyWaitMode") {
    up();
    count_case(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 5, 4, 5);
    count_case(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 5, 4, 0xFFFFFFFFu);
}

RULE(notify, a_count_is_waited_for_by_bits, "header: aclrtCntNotifyWaitMode") {
    up();
    count_case(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 5, 4, 13);
}

RULE(notify, a_wait_may_clear_the_count, "guide: aclrtCntNotifyWaitInfo") {
    up();
    aclrtCntNotify count = new_count();
    aclrtStream stream = new_stream();
    record(count, stream, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 5);
    wait_for(count, stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 5, 0, 0);
    finish(stream);
    is_now(count, 5);
    wait_for(count, stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 5, 0, 1);
    finish(stream);
    is_now(count, 0);
}

RULE(notify, a_wait_for_a_count_times_out, "guide: aclrtCntNotifyWaitInfo") {
    up();
    aclrtCntNotify count = new_count();
    aclrtStream stream = new_stream();
    wait_for(count, stream, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 5, 1, 0);
    TRUE(aclrtSynchronizeStream(stream) != 0);
    is_now(count, 0);
}

RULE(notify, modes_and_arguments_of_counts_are_checked, "implementation: CntNotify checks") {
    up();
    aclrtCntNotify count = new_count();
    aclrtCntNotifyRecordInfo r;
    aclrtCntNotifyWaitInfo w;
    uint32_t id = 0;
    memset(&r, 0, sizeof r);
    memset(&w, 0, sizeof w);
    EXPECT(aclrtCntNotifyRecord(count, NULL, NULL), 100000);
    EXPECT(aclrtCntNotifyWaitWithTimeout(count, NULL, NULL), 100000);
    EXPECT(aclrtCntNotifyRecord(NULL, NULL, &r), 107000);
    EXPECT(aclrtCntNotifyWaitWithTimeout(NULL, NULL, &w), 107000);
    EXPECT(aclrtCntNotifyReset(NULL, NULL), 107000);
    EXPECT(aclrtCntNotifyDestroy(NULL), 107000);
    EXPECT(aclrtCntNotifyGetId(NULL, &id), 107000);
    r.mode = (aclrtCntNotifyRecordMode)3;
    EXPECT(aclrtCntNotifyRecord(count, NULL, &r), 107000);
    r.mode = (aclrtCntNotifyRecordMode)5;
    EXPECT(aclrtCntNotifyRecord(count, NULL, &r), 107000);
    w.mode = (aclrtCntNotifyWaitMode)5;
    EXPECT(aclrtCntNotifyWaitWithTimeout(count, NULL, &w), 107000);
    EXPECT(aclrtCntNotifyCreate(&count, 1), 107000);
    EXPECT(aclrtCntNotifyGetId(count, &id), 0);
}

RULE_MOCK(notify, a_destroyed_count_is_an_invalid_handle, "own choice: as other handles") {
    up();
    aclrtCntNotify count = new_count();
    uint32_t id = 0;
    OK(aclrtCntNotifyDestroy(count));
    EXPECT(aclrtCntNotifyDestroy(count), 107017);
    EXPECT(aclrtCntNotifyReset(count, NULL), 107017);
    EXPECT(aclrtCntNotifyGetId(count, &id), 107017);
}

RULE_ENV(notify, by_the_documents_an_a2_counts_nothing, "guide: aclrtCntNotifyCreate", "MOCK_ACL_STRICT=doc") {
    up();
    aclrtCntNotify count = NULL;
    EXPECT(aclrtCntNotifyCreate(&count, 0), 207000);
}
