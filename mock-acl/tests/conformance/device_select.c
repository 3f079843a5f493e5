/* Part of racl (mock-acl). Choosing devices and letting them go, on one and more threads. */
#include "conform.h"

static int32_t current(void) {
    int32_t id = -1;
    EXPECT(aclrtGetDevice(&id), 0);
    return id;
}

RULE(device, a_device_that_does_not_exist_is_refused, "guide: aclrtSetDevice; observed: ctx") {
    const int32_t count = (int32_t)devices(1);
    EXPECT(aclrtSetDevice(-1), 107001);
    EXPECT(aclrtSetDevice(count), 107001);
    EXPECT(aclrtSetDevice(INT32_MAX), 107001);
}

RULE(device, setting_makes_it_current, "guide: aclrtSetDevice") {
    OK(aclrtSetDevice(0));
    TRUE(current() == 0);
}

RULE(device, the_last_set_counts, "guide: aclrtSetDevice") {
    devices(2);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(1));
    TRUE(current() == 1);
    OK(aclrtSetDevice(0));
    TRUE(current() == 0);
}

RULE(device, without_a_set_there_is_none, "guide: aclrtGetDevice; observed: thread_no_ctx") {
    int32_t id = -1;
    OK(aclInit(NULL));
    EXPECT(aclrtGetDevice(&id), 107002);
    EXPECT(aclrtGetDevice(NULL), 100000);
}

RULE(device, resets_count_sets, "observed: device_force") {
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    EXPECT(aclrtResetDevice(0), 0);
    TRUE(current() == 0);
    EXPECT(aclrtResetDevice(0), 0);
    EXPECT(aclrtResetDevice(0), 507007);
}

RULE(device, a_reset_without_a_set_fails, "implementation of the open runtime") {
    EXPECT(aclrtResetDevice(0), 507007);
    EXPECT(aclrtResetDeviceForce(0), 507007);
}

RULE(device, force_ends_all_sets, "observed: device_force") {
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    EXPECT(aclrtResetDeviceForce(0), 0);
    EXPECT(aclrtResetDeviceForce(0), 507007);
    EXPECT(aclrtResetDevice(0), 507007);
}

RULE(device, force_after_some_resets_is_fine, "observed: device_force; guide: aclrtResetDeviceForce") {
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    EXPECT(aclrtResetDeviceForce(0), 0);
}

RULE(device, force_after_all_resets_fails, "observed: device_force2") {
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    EXPECT(aclrtResetDeviceForce(0), 507007);
}

RULE(device, resets_of_no_device_are_refused, "guide: aclrtResetDevice") {
    const int32_t count = (int32_t)devices(1);
    EXPECT(aclrtResetDevice(count), 107001);
    EXPECT(aclrtResetDevice(-1), 107001);
    EXPECT(aclrtResetDeviceForce(count), 107001);
}

RULE(device, after_the_last_reset_there_is_no_context, "guide: aclrtResetDevice") {
    up();
    OK(aclrtResetDevice(0));
    aclrtStream stream = NULL;
    EXPECT(aclrtCreateStream(&stream), 107002);
}

RULE(device, a_device_can_be_set_again, "guide: aclrtResetDevice") {
    up();
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    finish(new_stream());
}

RULE_MOCK(device, streams_of_a_device_end_with_it, "guide: aclrtResetDevice; own choice: always 107017") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtResetDevice(0));
    OK(aclrtSetDevice(0));
    EXPECT(aclrtSynchronizeStream(stream), 107017);
    EXPECT(aclrtDestroyStream(stream), 107017);
}

RULE(device, the_last_reset_waits_for_work, "guide: aclrtResetDevice") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *host = (unsigned char *)pinned(64);
    memset(host, 1, 64);
    void *memory = device(64);
    OK(aclrtMemsetAsync(memory, 64, 7, 64, stream));
    OK(aclrtMemcpyAsync(host, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtResetDevice(0));
    TRUE(host[63] == 7);
}

RULE(device, devices_count_for_themselves, "guide: aclrtSetDevice") {
    devices(2);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(1));
    OK(aclrtResetDevice(0));
    TRUE(current() == 1);
    EXPECT(aclrtResetDevice(0), 507007);
    EXPECT(aclrtResetDevice(1), 0);
}

static void reset_once(void *unused) {
    (void)unused;
    EXPECT(aclrtResetDevice(0), 0);
}

RULE(device, the_count_is_of_the_process, "guide: aclrtSetDevice; implementation of the open runtime") {
    OK(aclrtSetDevice(0));
    join_thread(start_thread(reset_once, NULL));
    aclrtContext context = NULL;
    EXPECT(aclrtGetCurrentContext(&context), 107002);
}

static void has_none(void *unused) {
    (void)unused;
    aclrtContext context = NULL;
    EXPECT(aclrtGetCurrentContext(&context), 107002);
}

RULE(device, a_new_thread_has_no_device, "observed: thread_no_ctx") {
    up();
    join_thread(start_thread(has_none, NULL));
}

static void same_context(void *first) {
    aclrtContext context = NULL;
    OK(aclrtSetDevice(0));
    EXPECT(aclrtGetCurrentContext(&context), 0);
    TRUE(context == first);
    EXPECT(aclrtResetDevice(0), 0);
}

RULE(device, threads_share_the_default_context, "guide: aclrtSetDevice") {
    aclrtContext context = NULL;
    up();
    OK(aclrtGetCurrentContext(&context));
    join_thread(start_thread(same_context, context));
    TRUE(current() == 0);
}

static void set_and_reset(void *unused) {
    (void)unused;
    for (int i = 0; i < 200; i++) {
        OK(aclrtSetDevice(0));
        finish(new_stream());
        OK(aclrtResetDevice(0));
    }
}

RULE(device, threads_set_and_reset_at_once, "guide: aclrtSetDevice") {
    up();
    void *threads[4];
    for (int i = 0; i < 4; i++) threads[i] = start_thread(set_and_reset, NULL);
    for (int i = 0; i < 4; i++) join_thread(threads[i]);
    EXPECT(aclrtResetDevice(0), 0);
    EXPECT(aclrtResetDevice(0), 507007);
}

/* ---- callbacks of devices ---- */

static char states[32];

static void note(int32_t id, aclrtDeviceState state, void *args) {
    const size_t n = strlen(states);
    NEED(n + 2 < sizeof states);
    states[n] = (char)('a' + (int)state + 4 * id);
    states[n + 1] = 0;
    TRUE(args == (void *)states);
}

RULE(device, callbacks_tell_of_a_set_and_a_reset, "guide: aclrtRegDeviceStateCallback") {
    OK(aclrtRegDeviceStateCallback("conform", note, states));
    OK(aclrtSetDevice(0));
    TRUE(strcmp(states, "ab") == 0);
    OK(aclrtResetDevice(0));
    TRUE(strcmp(states, "abcd") == 0);
}

RULE_MOCK(device, callbacks_tell_only_of_changes, "own choice") {
    OK(aclrtRegDeviceStateCallback("conform", note, states));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    TRUE(strcmp(states, "ab") == 0);
    OK(aclrtResetDeviceForce(0));
    TRUE(strcmp(states, "abcd") == 0);
    EXPECT(aclrtSetDevice(99), 107001);
    EXPECT(aclrtResetDevice(0), 507007);
    TRUE(strcmp(states, "abcd") == 0);
}

RULE(device, a_callback_is_taken_away_with_null, "guide: aclrtRegDeviceStateCallback") {
    OK(aclrtRegDeviceStateCallback("conform", note, states));
    OK(aclrtRegDeviceStateCallback("conform", NULL, NULL));
    OK(aclrtSetDevice(0));
    TRUE(states[0] == 0);
}

RULE(device, a_callback_has_a_name, "implementation of the open runtime") {
    EXPECT(aclrtRegDeviceStateCallback(NULL, note, NULL), 100000);
    EXPECT(aclrtSetDeviceTaskAbortCallback(NULL, NULL, NULL), 100000);
}

RULE_MOCK(device, names_of_callbacks_are_there_once,
    "guide: aclrtRegDeviceStateCallback; own choice of the code") {
    OK(aclrtRegDeviceStateCallback("conform", note, states));
    EXPECT(aclrtRegDeviceStateCallback("conform", note, states), 107000);
    EXPECT(aclrtRegDeviceStateCallback("", note, states), 107000);
    EXPECT(aclrtRegDeviceStateCallback("another", NULL, NULL), 107000);
    OK(aclrtSetDevice(0));
    TRUE(strcmp(states, "ab") == 0);
}

/* ---- aclrtDeviceTaskAbort ---- */

static char stages[8];

static int32_t note_abort(int32_t id, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *args) {
    (void)args;
    TRUE(id == 0);
    TRUE(timeout == 100);
    strcat(stages, stage == ACL_RT_DEVICE_TASK_ABORT_PRE ? "<" : ">");
    return 0;
}

RULE(device, an_abort_calls_back_before_and_after, "guide: aclrtSetDeviceTaskAbortCallback") {
    up();
    OK(aclrtSetDeviceTaskAbortCallback("conform", note_abort, NULL));
    EXPECT(aclrtDeviceTaskAbort(0, 100), 0);
    TRUE(strcmp(stages, "<>") == 0);
}

RULE(device, an_abort_drops_queued_work, "guide: aclrtDeviceTaskAbort; header: its code") {
    up();
    aclrtStream stream = new_stream();
    void *memory = device(64);
    fill(memory, 1, 64);
    hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    EXPECT(aclrtDeviceTaskAbort(0, 1000), 0);
    EXPECT(aclrtSynchronizeStream(stream), 107022);
}

RULE_MOCK(device, after_an_abort_a_stream_goes_on, "own choice") {
    up();
    aclrtStream stream = new_stream();
    void *memory = device(64);
    fill(memory, 1, 64);
    hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    OK(aclrtDeviceTaskAbort(0, 1000));
    EXPECT(aclrtSynchronizeStream(stream), 107022);
    TRUE(byte_at(memory) == 1);
    OK(aclrtMemsetAsync(memory, 64, 3, 64, stream));
    finish(stream);
    TRUE(byte_at(memory) == 3);
}

RULE_MOCK(device, an_abort_leaves_other_devices_alone, "guide: aclrtDeviceTaskAbort") {
    devices(2);
    OK(aclrtSetDevice(1));
    aclrtStream other = new_stream();
    aclrtEvent latch = hold(other);
    up();
    OK(aclrtDeviceTaskAbort(0, 1000));
    OK(aclrtSetDevice(1));
    let_go(latch);
    finish(other);
}

RULE_MOCK(device, an_abort_needs_a_device_that_is_set, "own choice of the code") {
    EXPECT(aclrtDeviceTaskAbort(0, 0), 107002);
    EXPECT(aclrtDeviceTaskAbort(99, 0), 107001);
}
