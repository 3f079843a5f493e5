/* Part of racl (mock-acl). Contexts: which is current, what belongs to it, and what ends with it. */
#include "conform.h"

static aclrtContext current(void) {
    aclrtContext context = NULL;
    EXPECT(aclrtGetCurrentContext(&context), 0);
    return context;
}

static aclrtContext create(void) {
    aclrtContext context = NULL;
    OK(aclrtCreateContext(&context, 0));
    return context;
}

RULE(context, setting_a_device_gives_the_default_one, "guide: aclrtSetDevice; observed: ctx") {
    up();
    TRUE(current() != NULL);
}

RULE(context, without_one_there_is_no_current, "observed: thread_no_ctx") {
    aclrtContext context = NULL;
    OK(aclInit(NULL));
    EXPECT(aclrtGetCurrentContext(&context), 107002);
    EXPECT(aclrtGetCurrentContext(NULL), 100000);
}

RULE(context, a_new_one_is_current, "guide: aclrtCreateContext") {
    up();
    aclrtContext first = current(), made = create();
    TRUE(made != NULL && made != first);
    TRUE(current() == made);
}

RULE(context, the_latest_is_current, "guide: aclrtCreateContext") {
    up();
    aclrtContext one = create(), two = create();
    TRUE(one != two);
    TRUE(current() == two);
}

RULE(context, creating_needs_no_set_device, "guide: aclrtCreateContext") {
    int32_t id = -1;
    aclrtContext made = create();
    TRUE(current() == made);
    EXPECT(aclrtGetDevice(&id), 0);
    TRUE(id == 0);
    finish(new_stream());
}

RULE(context, it_is_of_a_device_that_exists, "observed: ctx") {
    aclrtContext context = NULL;
    up();
    EXPECT(aclrtCreateContext(&context, 99), 107001);
    EXPECT(aclrtCreateContext(&context, -1), 107001);
    EXPECT(aclrtCreateContext(NULL, 0), 100000);
}

RULE(context, it_can_be_made_current_again, "guide: aclrtSetCurrentContext") {
    up();
    aclrtContext first = current(), made = create();
    EXPECT(aclrtSetCurrentContext(first), 0);
    TRUE(current() == first);
    EXPECT(aclrtSetCurrentContext(made), 0);
    TRUE(current() == made);
}

RULE(context, a_thread_cannot_have_null, "observed: ctx") {
    up();
    aclrtContext first = current();
    EXPECT(aclrtSetCurrentContext(NULL), 100000);
    TRUE(current() == first);
}

RULE(context, setting_a_device_replaces_it, "implementation of the open runtime") {
    up();
    aclrtContext first = current();
    create();
    OK(aclrtSetDevice(0));
    TRUE(current() == first);
}

RULE(context, making_it_current_switches_the_device, "guide: aclrtSetCurrentContext") {
    int32_t id = -1;
    devices(2);
    up();
    aclrtContext first = current();
    OK(aclrtSetDevice(1));
    OK(aclrtSetCurrentContext(first));
    EXPECT(aclrtGetDevice(&id), 0);
    TRUE(id == 0);
}

RULE(context, the_default_one_cannot_be_destroyed, "observed: ctx") {
    up();
    EXPECT(aclrtDestroyContext(current()), 107002);
    finish(new_stream());
}

RULE(context, it_is_destroyed_once, "observed: ctx") {
    up();
    aclrtContext made = create();
    EXPECT(aclrtDestroyContext(made), 0);
    EXPECT(aclrtDestroyContext(made), 107002);
    EXPECT(aclrtDestroyContext(NULL), 100000);
}

RULE(context, a_destroyed_one_cannot_be_current, "observed: ctx") {
    up();
    aclrtContext made = create();
    OK(aclrtDestroyContext(made));
    EXPECT(aclrtSetCurrentContext(made), 107000);
}

RULE(context, an_unknown_one_cannot_be_current, "observed: ctx") {
    static char unknown[64];
    up();
    EXPECT(aclrtSetCurrentContext((aclrtContext)unknown), 107000);
    EXPECT(aclrtDestroyContext((aclrtContext)unknown), 107002);
}

RULE(context, destroying_the_current_one_leaves_none, "observed: ctx") {
    aclrtStream stream = NULL;
    up();
    OK(aclrtDestroyContext(create()));
    EXPECT(aclrtCreateStream(&stream), 107002);
    OK(aclrtSetDevice(0));
    finish(new_stream());
}

RULE_MOCK(context, its_streams_end_with_it, "observed: ctx") {
    up();
    aclrtContext made = create();
    aclrtStream stream = new_stream();
    OK(aclrtDestroyContext(made));
    OK(aclrtSetDevice(0));
    EXPECT(aclrtSynchronizeStream(stream), 107017);
}

static void destroy(void *context) { EXPECT(aclrtDestroyContext(context), 0); }

RULE(context, another_thread_can_destroy_it, "implementation of the open runtime") {
    aclrtStream stream = NULL;
    up();
    join_thread(start_thread(destroy, create()));
    EXPECT(aclrtCreateStream(&stream), 107002);
}

static void use_stream(void *argument) {
    void **both = (void **)argument;
    OK(aclrtSetCurrentContext(both[0]));
    EXPECT(aclrtSynchronizeStream((aclrtStream)both[1]), 0);
    EXPECT(aclrtMemsetAsync(both[2], 64, 5, 64, (aclrtStream)both[1]), 0);
    EXPECT(aclrtSynchronizeStream((aclrtStream)both[1]), 0);
}

RULE(context, threads_can_share_it, "guide: aclrtSetCurrentContext") {
    up();
    void *both[3];
    both[0] = create();
    both[1] = new_stream();
    both[2] = device(64);
    join_thread(start_thread(use_stream, both));
    TRUE(byte_at(both[2]) == 5);
}

RULE(context, work_needs_the_context_of_its_stream, "implementation of the open runtime") {
    up();
    aclrtStream stream = new_stream();
    void *memory = device(64);
    create();
    EXPECT(aclrtMemsetAsync(memory, 64, 1, 64, stream), 107003);
    EXPECT(aclrtRecordEvent(new_event(ACL_EVENT_SYNC), stream), 107003);
}

RULE(context, waiting_for_a_stream_does_not, "implementation of the open runtime") {
    up();
    aclrtStream stream = new_stream();
    create();
    EXPECT(aclrtSynchronizeStream(stream), 0);
}

RULE(context, each_has_a_default_stream, "guide: aclrtCtxGetCurrentDefaultStream") {
    aclrtStream one = NULL, two = NULL, again = NULL;
    up();
    aclrtContext first = current();
    EXPECT(aclrtCtxGetCurrentDefaultStream(&one), 0);
    create();
    EXPECT(aclrtCtxGetCurrentDefaultStream(&two), 0);
    TRUE(one != NULL && two != NULL && one != two);
    OK(aclrtSetCurrentContext(first));
    EXPECT(aclrtCtxGetCurrentDefaultStream(&again), 0);
    TRUE(again == one);
    EXPECT(aclrtCtxGetCurrentDefaultStream(NULL), 100000);
}

RULE(context, the_default_stream_is_null, "observed: execute_default_real") {
    aclrtStream stream = NULL;
    up();
    void *memory = device(64);
    OK(aclrtCtxGetCurrentDefaultStream(&stream));
    OK(aclrtMemsetAsync(memory, 64, 6, 64, NULL));
    finish(stream);
    TRUE(byte_at(memory) == 6);
}

RULE(context, the_default_one_is_active_between_set_and_reset, "header: aclrtGetPrimaryCtxState") {
    int32_t active = -1;
    OK(aclInit(NULL));
    EXPECT(aclrtGetPrimaryCtxState(0, NULL, &active), 0);
    TRUE(active == 0);
    OK(aclrtSetDevice(0));
    EXPECT(aclrtGetPrimaryCtxState(0, NULL, &active), 0);
    TRUE(active == 1);
    OK(aclrtResetDevice(0));
    EXPECT(aclrtGetPrimaryCtxState(0, NULL, &active), 0);
    TRUE(active == 0);
}

RULE(context, synchronizing_waits_for_its_streams_only, "implementation of the open runtime") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    aclrtContext first = current();
    create();
    EXPECT(aclrtSynchronizeDevice(), 0);
    OK(aclrtSetCurrentContext(first));
    EXPECT(aclrtSynchronizeDeviceWithTimeout(20), 507046);
    let_go(latch);
    EXPECT(aclrtSynchronizeDevice(), 0);
}

RULE_ENV(context, the_guide_waits_for_the_whole_device,
    "guide: aclrtSynchronizeDevice", "MOCK_ACL_STRICT=doc") {
    up();
    aclrtStream stream = new_stream();
    aclrtEvent latch = hold(stream);
    aclrtContext first = current();
    create();
    EXPECT(aclrtSynchronizeDeviceWithTimeout(20), 507046);
    OK(aclrtSetCurrentContext(first));
    let_go(latch);
    EXPECT(aclrtSynchronizeDevice(), 0);
}

RULE(context, synchronizing_needs_one, "observed: thread_no_ctx") {
    OK(aclInit(NULL));
    EXPECT(aclrtSynchronizeDevice(), 107002);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(10), 107002);
}

RULE(context, time_outs_are_positive_or_minus_1, "implementation of the open runtime") {
    up();
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-1), 0);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(-2), 107000);
    EXPECT(aclrtSynchronizeDeviceWithTimeout(0), 107000);
}

RULE(context, a_capture_stops_synchronizing, "observed: capturing_calls") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtSynchronizeDevice(), 107027);
    aclmdlRI graph = end(stream);
    EXPECT(aclmdlRIDestroy(graph), 0);
    EXPECT(aclrtSynchronizeDevice(), 0);
}

RULE(context, options_that_were_never_set_say_so, "implementation of the open runtime") {
    int64_t value = 0;
    up();
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 107021);
    EXPECT(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), 0);
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
    TRUE(value == 1);
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, NULL), 100000);
}

RULE(context, options_are_its_own, "guide: aclrtCtxSetSysParamOpt") {
    int64_t value = 0;
    up();
    OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    create();
    EXPECT(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 107021);
}

RULE(context, options_of_the_process_start_at_0, "implementation of the open runtime") {
    int64_t value = 9;
    up();
    EXPECT(aclrtGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &value), 0);
    TRUE(value == 0);
    EXPECT(aclrtSetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, 1), 0);
    EXPECT(aclrtGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &value), 0);
    TRUE(value == 1);
}

static void in_a_host_function(void *context) {
    EXPECT(aclrtDestroyContext((aclrtContext)context), 207000);
    EXPECT(aclrtResetDevice(0), 207000);
    EXPECT(aclrtResetDeviceForce(0), 207000);
}

RULE_MOCK(context, a_host_function_ends_nothing, "own choice: it would wait for itself") {
    up();
    aclrtContext made = create();
    aclrtStream stream = new_stream();
    OK(aclrtLaunchHostFunc(stream, in_a_host_function, made));
    finish(stream);
    EXPECT(aclrtDestroyContext(made), 0);
}

RULE_ENV(context, each_needs_a_stream, "guide: aclrtCreateContext; own choice", "MOCK_ACL_STREAMS=2") {
    aclrtContext context = NULL;
    up();
    create();
    EXPECT(aclrtCreateContext(&context, 0), 207008);
    OK(aclrtResetDevice(0));
    EXPECT(aclrtCreateContext(&context, 0), 207008);
}

RULE_ENV(context, a_device_needs_a_stream, "header: ACL_ERROR_RT_DEV_SETUP_ERROR", "MOCK_ACL_STREAMS=2") {
    aclrtContext context = NULL;
    devices(2);
    up();
    OK(aclrtSetDevice(1));
    OK(aclrtCreateContext(&context, 1));
    OK(aclrtResetDevice(1));
    OK(aclrtSetCurrentContext(context));
    new_stream(); /* the context and its stream are all that the device has */
    EXPECT(aclrtSetDevice(1), 507033);
    EXPECT(aclrtResetDevice(1), 507007);
}

RULE(context, explicit_ones_outlive_a_reset, "implementation of the open runtime") {
    up();
    aclrtContext made = create();
    OK(aclrtResetDevice(0));
    TRUE(current() == made);
    EXPECT(aclrtDestroyContext(made), 0);
}

RULE(context, its_queued_work_is_dropped_with_it, "implementation of the open runtime") {
    up();
    aclrtEvent latch = NULL;
    unsigned char *memory = (unsigned char *)device(64);
    fill(memory, 1, 64);
    aclrtContext made = create();
    aclrtStream stream = new_stream();
    latch = hold(stream);
    OK(aclrtMemsetAsync(memory, 64, 2, 64, stream));
    EXPECT(aclrtDestroyContext(made), 0);
    OK(aclrtSetDevice(0));
    let_go(latch);
    TRUE(byte_at(memory) == 1);
}

static uint32_t streams_left(void) {
    uint32_t left = 0;
    OK(aclrtGetStreamAvailableNum(&left));
    return left;
}

RULE(context, the_first_on_a_device_takes_two_streams, "guide: aclrtCreateContext") {
    OK(aclInit(NULL));
    create();
    const uint32_t one = streams_left();
    OK(aclrtSetDevice(0));
    TRUE(streams_left() == one); /* the default stream of the device was there */
    create();
    TRUE(streams_left() == one - 1);
}

RULE(context, early_starts_are_of_the_process, "guide: aclrtCtxSetSysParamOpt; implementation") {
    int64_t value = 0;
    up();
    EXPECT(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1), 107000);
    EXPECT(aclrtSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1), 0);
    EXPECT(aclrtGetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, &value), 0);
    TRUE(value == 1);
}

RULE(context, any_capture_stops_a_wait_for_the_device, "implementation: aclrtSynchronizeDevice") {
    up();
    aclrtEvent latch = hold(new_stream()); /* nothing is waited for, or this would not end */
    for (int mode = 0; mode < 3; mode++) {
        aclrtStream stream = begin((aclmdlRICaptureMode)mode);
        EXPECT(aclrtSynchronizeDevice(), 107027);
        EXPECT(aclmdlRIDestroy(end(stream)), 0);
    }
    let_go(latch);
    EXPECT(aclrtSynchronizeDevice(), 0);
}
