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

RULE_MOCK(device, a_forced_reset_ends_streams, "guide: aclrtResetDeviceForce; own choice: always 107017") {
    OK(aclrtSetDevice(0));
    up();
    aclrtStream stream = new_stream();
    OK(aclrtResetDeviceForce(0));
    OK(aclrtSetDevice(0));
    EXPECT(aclrtSynchronizeStream(stream), 107017);
}

RULE_MOCK(device, a_forced_reset_drops_what_is_queued, "guide: aclrtResetDeviceForce; a card may be faster") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *host = (unsigned char *)pinned(64);
    memset(host, 1, 64);
    void *memory = device(64);
    OK(aclrtMemsetAsync(memory, 64, 7, 64, stream));
    OK(aclrtMemcpyAsync(host, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtResetDeviceForce(0));
    TRUE(host[63] == 1);
}

RULE(device, a_forced_reset_waits_for_nobody, "guide: aclrtResetDeviceForce") {
    up();
    hold(new_stream());
    hold(NULL);
    EXPECT(aclrtResetDeviceForce(0), 0);
    OK(aclrtSetDevice(0));
    finish(new_stream());
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

RULE(device, devices_count_for_themselves, "guide: aclrtSetDevice; observed: sequences") {
    int32_t id = 7;
    devices(2);
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(1));
    OK(aclrtResetDevice(0));
    EXPECT(aclrtGetDevice(&id), 107002);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
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

/* ---- callbacks ---- */

static int made;

static void on_stream(aclrtStream stream, aclrtStreamState state, void *unused) {
    (void)stream;
    (void)unused;
    made += state == ACL_RT_STREAM_STATE_CREATE_POST;
}

RULE(device, only_the_first_set_makes_a_default_stream, "guide: aclrtRegStreamStateCallback") {
    OK(aclInit(NULL));
    OK(aclrtRegStreamStateCallback("test", on_stream, NULL));
    OK(aclrtSetDevice(0));
    TRUE(made == 1);
    OK(aclrtSetDevice(0));
    TRUE(made == 1);
}

static int told;

static void on_device(int32_t id, aclrtDeviceState state, void *unused) {
    (void)id;
    (void)state;
    (void)unused;
    told++;
}

RULE(device, a_callback_has_a_name_of_its_own, "guide: aclrtRegDeviceStateCallback") {
    OK(aclInit(NULL));
    OK(aclrtRegDeviceStateCallback("test", on_device, NULL));
    TRUE(aclrtRegDeviceStateCallback("test", on_device, NULL) != 0);
    OK(aclrtSetDevice(0));
    TRUE(told == 2);
    EXPECT(aclrtRegDeviceStateCallback("test", NULL, NULL), 0);
    OK(aclrtResetDevice(0));
    TRUE(told == 2);
}
