/* Part of racl (mock-acl). Callbacks for failed tasks, streams, devices and aborts; what a thread submitted last;
 * overflow; time-outs of operators. */
#include <sys/syscall.h>
#include "conform.h"

/* A task that fails on the mock: memory that is not there. */
static void fail(aclrtStream stream) {
    char *gone = (char *)device(4096);
    OK(aclrtFree(gone));
    OK(aclrtMemsetAsync(gone, 64, 1, 64, stream));
}

static int called, others, inner;
static uint32_t stream_id, task_id, thread_id, device_id, code_seen;
static void *args;
static uint32_t args_size;
static int args_code, func_code;

static void on_exception(aclrtExceptionInfo *info) {
    aclrtFuncHandle function = NULL;
    called++;
    stream_id = aclrtGetStreamIdFromExceptionInfo(info);
    task_id = aclrtGetTaskIdFromExceptionInfo(info);
    thread_id = aclrtGetThreadIdFromExceptionInfo(info);
    device_id = aclrtGetDeviceIdFromExceptionInfo(info);
    code_seen = aclrtGetErrorCodeFromExceptionInfo(info);
    args_code = aclrtGetArgsFromExceptionInfo(info, &args, &args_size);
    func_code = aclrtGetFuncHandleFromExceptionInfo(info, &function);
}

static void on_other(aclrtExceptionInfo *info) {
    (void)info;
    others++;
    inner = aclrtSynchronizeDevice();
}

RULE_MOCK(callback, a_failed_task_is_told_of, "guide: aclrtSetExceptionInfoCallback") {
    up();
    aclrtStream stream = new_stream();
    int32_t id = 0;
    uint32_t last = 0;
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtSetExceptionInfoCallback(on_exception));
    fail(stream);
    OK(aclrtGetThreadLastTaskId(&last));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    TRUE(called == 1);
    TRUE(stream_id == (uint32_t)id && task_id == last && device_id == 0 && code_seen == 507053);
    TRUE(thread_id == (uint32_t)syscall(SYS_gettid));
    TRUE(args_code != 0); /* it is no kernel */
    TRUE(func_code != 0);
}

RULE_MOCK(callback, each_failed_task_is_told_of, "guide: aclrtSetExceptionInfoCallback") {
    up();
    OK(aclrtSetExceptionInfoCallback(on_exception));
    for (int i = 0; i < 3; i++) fail(NULL);
    EXPECT(aclrtSynchronizeDevice(), 507053);
    TRUE(called == 3);
}

RULE_MOCK(callback, a_failed_node_of_a_replay_is_told_of, "guide: aclrtSetExceptionInfoCallback") {
    up();
    char *memory = (char *)device(4096);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    aclmdlRI graph = end(stream);
    OK(aclrtFree(memory));
    OK(aclrtSetExceptionInfoCallback(on_exception));
    OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT(aclrtSynchronizeStream(stream), 507053);
    TRUE(called == 1 && code_seen == 507053);
    OK(aclmdlRIDestroy(graph));
}

RULE_MOCK(callback, a_time_out_of_a_wait_is_told_of, "own choice") {
    up();
    OK(aclrtSetExceptionInfoCallback(on_exception));
    OK(aclrtStreamWaitEventWithTimeout(NULL, old_event(ACL_EVENT_SYNC), 1));
    EXPECT(aclrtSynchronizeStream(NULL), 107020);
    TRUE(called == 1 && code_seen == 107020);
}

RULE_MOCK(callback, the_last_single_callback_counts, "guide: aclrtSetExceptionInfoCallback") {
    up();
    OK(aclrtSetExceptionInfoCallback(on_exception));
    OK(aclrtSetExceptionInfoCallback(on_other));
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    TRUE(called == 0 && others == 1);
    OK(aclrtSetExceptionInfoCallback(NULL));
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    TRUE(others == 1);
}

RULE_MOCK(callback, several_functions_may_be_registered, "guide: aclrtExceptionInfoCallbackRegister") {
    up();
    OK(aclrtExceptionInfoCallbackRegister(on_exception));
    OK(aclrtExceptionInfoCallbackRegister(on_exception));
    OK(aclrtExceptionInfoCallbackRegister(on_other));
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    TRUE(called == 1 && others == 1);
    OK(aclrtExceptionInfoCallbackUnregister(on_exception));
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    TRUE(called == 1 && others == 2);
}

static void leaves_inside(aclrtExceptionInfo *info) {
    (void)info;
    called++;
    inner = aclrtExceptionInfoCallbackUnregister(leaves_inside);
}

RULE_MOCK(callback, unregistering_does_not_wait_for_calls,
    "implementation: aclrtExceptionInfoCallbackUnregister") {
    up();
    OK(aclrtExceptionInfoCallbackRegister(leaves_inside));
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    TRUE(called == 1);
    EXPECT(inner, 0);
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    TRUE(called == 1);
}

RULE_MOCK(callback, an_exception_callback_may_not_wait, "own choice: the guide warns of deadlocks") {
    up();
    hold(new_stream());
    OK(aclrtSetExceptionInfoCallback(on_other));
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    EXPECT(inner, 207000);
}

RULE(callback, registering_needs_a_function, "implementation: aclrtExceptionInfoCallbackRegister") {
    up();
    EXPECT(aclrtExceptionInfoCallbackRegister(NULL), 107000);
    EXPECT(aclrtExceptionInfoCallbackUnregister(NULL), 107000);
    EXPECT(aclrtExceptionInfoCallbackUnregister(on_exception), 0);
}

RULE(callback, without_information_the_answer_is_all_ones, "implementation: ACL_ERROR_INVALID_EXCEPTION_INFO") {
    up();
    TRUE(aclrtGetTaskIdFromExceptionInfo(NULL) == 0xFFFFFFFFu);
    TRUE(aclrtGetStreamIdFromExceptionInfo(NULL) == 0xFFFFFFFFu);
    TRUE(aclrtGetThreadIdFromExceptionInfo(NULL) == 0xFFFFFFFFu);
    TRUE(aclrtGetDeviceIdFromExceptionInfo(NULL) == 0xFFFFFFFFu);
    TRUE(aclrtGetErrorCodeFromExceptionInfo(NULL) == 0xFFFFFFFFu);
    EXPECT(aclrtGetArgsFromExceptionInfo(NULL, &args, &args_size), -1);
    EXPECT(aclrtGetFuncHandleFromExceptionInfo(NULL, &args), -1);
}

/* ---- streams and devices ---- */

static int made, gone, of_args;
static aclrtStream last_stream;

static void on_stream(aclrtStream stream, aclrtStreamState state, void *argument) {
    if (state == ACL_RT_STREAM_STATE_CREATE_POST) made++;
    if (state == ACL_RT_STREAM_STATE_DESTROY_PRE) gone++;
    last_stream = stream;
    of_args += *(int *)argument;
}

RULE(callback, streams_are_told_of, "guide: aclrtRegStreamStateCallback") {
    int one = 1;
    up();
    OK(aclrtRegStreamStateCallback("test", on_stream, &one));
    aclrtStream stream = new_stream();
    TRUE(made == 1 && gone == 0 && last_stream == stream && of_args == 1);
    OK(aclrtDestroyStream(stream));
    TRUE(made == 1 && gone == 1 && last_stream == stream);
    OK(aclrtRegStreamStateCallback("test", NULL, NULL));
    new_stream();
    TRUE(made == 1);
}

RULE(callback, default_streams_are_told_of, "guide: aclrtRegStreamStateCallback") {
    int one = 1;
    aclrtContext context = NULL;
    up();
    OK(aclrtRegStreamStateCallback("test", on_stream, &one));
    OK(aclrtCreateContext(&context, 0));
    TRUE(made == 1);
    OK(aclrtDestroyContext(context));
    TRUE(gone == 1);
}

RULE(callback, a_name_is_registered_once, "guide: aclrtRegStreamStateCallback") {
    int one = 1;
    up();
    OK(aclrtRegStreamStateCallback("test", on_stream, &one));
    TRUE(aclrtRegStreamStateCallback("test", on_stream, &one) != 0);
    EXPECT(aclrtRegStreamStateCallback(NULL, on_stream, &one), 100000);
    OK(aclrtRegStreamStateCallback("test", NULL, NULL));
    OK(aclrtRegStreamStateCallback("test", on_stream, &one));
}

static int states[8], state_count;

static void on_device(int32_t id, aclrtDeviceState state, void *argument) {
    (void)argument;
    if (id == 0 && state_count < 8) states[state_count++] = (int)state;
}

RULE(callback, devices_are_told_of, "guide: aclrtRegDeviceStateCallback") {
    OK(aclInit(NULL));
    OK(aclrtRegDeviceStateCallback("test", on_device, NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtResetDevice(0));
    TRUE(state_count == 4);
    TRUE(states[0] == ACL_RT_DEVICE_STATE_SET_PRE && states[1] == ACL_RT_DEVICE_STATE_SET_POST);
    TRUE(states[2] == ACL_RT_DEVICE_STATE_RESET_PRE && states[3] == ACL_RT_DEVICE_STATE_RESET_POST);
    EXPECT(aclrtRegDeviceStateCallback(NULL, on_device, NULL), 100000);
}

static int stages[8], stage_count, stage_result;
static uint32_t stage_timeout;

static int32_t on_abort(int32_t id, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void *argument) {
    (void)argument;
    stage_timeout = timeout;
    if (id == 0 && stage_count < 8) stages[stage_count++] = (int)stage;
    return stage_result;
}

RULE_MOCK(callback, aborts_of_a_device_are_told_of, "guide: aclrtSetDeviceTaskAbortCallback") {
    up();
    EXPECT(aclrtSetDeviceTaskAbortCallback(NULL, on_abort, NULL), 100000);
    OK(aclrtSetDeviceTaskAbortCallback("test", on_abort, NULL));
    OK(aclrtDeviceTaskAbort(0, 700));
    TRUE(stage_count == 2 && stage_timeout == 700);
    TRUE(stages[0] == ACL_RT_DEVICE_TASK_ABORT_PRE && stages[1] == ACL_RT_DEVICE_TASK_ABORT_POST);
    stage_result = 1;
    EXPECT(aclrtDeviceTaskAbort(0, 700), 107035);
    OK(aclrtSetDeviceTaskAbortCallback("test", NULL, NULL));
    EXPECT(aclrtDeviceTaskAbort(0, 700), 0);
}

/* ---- the last task of a thread ---- */

RULE(callback, the_last_task_of_a_thread_has_an_id, "guide: aclrtGetThreadLastTaskId") {
    up();
    uint32_t a = 0, b = 0;
    void *memory = device(64);
    aclrtStream stream = new_stream();
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    OK(aclrtGetThreadLastTaskId(&a));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    OK(aclrtGetThreadLastTaskId(&b));
    TRUE(a != b);
    EXPECT(aclrtGetThreadLastTaskId(NULL), 100000);
    finish(stream);
}

RULE(callback, operator_information_belongs_to_a_capture, "guide: aclrtCacheLastTaskOpInfo") {
    up();
    char info[16] = "info";
    void *memory = device(64);
    aclrtStreamAttrValue on;
    memset(&on, 0, sizeof on);
    on.cacheOpInfoSwitch = 1;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_CACHE_OP_INFO, &on));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    EXPECT(aclrtCacheLastTaskOpInfo(info, sizeof info), 0);
    TRUE(aclrtCacheLastTaskOpInfo(NULL, 4) != 0);
    TRUE(aclrtCacheLastTaskOpInfo(info, 0) != 0);
    TRUE(aclrtCacheLastTaskOpInfo(info, 65537) != 0);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE_MOCK(callback, without_a_capture_there_is_nothing_to_note, "own choice") {
    up();
    char info[16] = "info";
    void *memory = device(64);
    EXPECT(aclrtCacheLastTaskOpInfo(info, sizeof info), 107000);
    OK(aclrtMemsetAsync(memory, 64, 1, 64, NULL));
    EXPECT(aclrtCacheLastTaskExtendInfo(info, sizeof info), 107000);
}

/* ---- overflow ---- */

RULE(callback, the_overflow_status_has_64_bytes, "guide: aclrtGetOverflowStatus") {
    up();
    void *memory = device(64);
    aclrtStream stream = new_stream();
    EXPECT(aclrtGetOverflowStatus(NULL, 64, stream), 100000);
    TRUE(aclrtGetOverflowStatus(memory, 63, stream) != 0);
    TRUE(aclrtGetOverflowStatus(memory, 128, stream) != 0);
    EXPECT(aclrtResetOverflowStatus(stream), 0);
    EXPECT(aclrtGetOverflowStatus(memory, 64, stream), 0);
    finish(stream);
    TRUE(u64_at(memory) == 0);
}

RULE(callback, the_overflow_status_is_not_captured, "implementation: aclrtGetOverflowStatus") {
    up();
    void *memory = device(64);
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtGetOverflowStatus(memory, 64, stream), 107027);
    OK(aclmdlRIDestroy(end(stream)));
}

RULE(callback, the_overflow_mode_is_kept, "guide: aclrtSetDeviceSatMode") {
    up();
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    OK(aclrtGetDeviceSatMode(&mode));
    TRUE(mode == ACL_RT_OVERFLOW_MODE_SATURATION);
    OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    OK(aclrtGetDeviceSatMode(&mode));
    TRUE(mode == ACL_RT_OVERFLOW_MODE_INFNAN);
    TRUE(aclrtSetDeviceSatMode((aclrtFloatOverflowMode)7) != 0);
    EXPECT(aclrtGetDeviceSatMode(NULL), 100000);
}

RULE(callback, a_context_has_a_place_for_overflow, "header: aclrtCtxGetFloatOverflowAddr") {
    up();
    void *a = NULL, *b = NULL;
    OK(aclrtCtxGetFloatOverflowAddr(&a));
    OK(aclrtCtxGetFloatOverflowAddr(&b));
    TRUE(a != NULL && a == b);
    EXPECT(aclrtCtxGetFloatOverflowAddr(NULL), 100000);
}

/* ---- time-outs of operators ---- */

RULE(callback, an_operators_time_out_is_a_number_of_intervals, "guide: aclrtGetOpTimeoutInterval") {
    up();
    uint64_t interval = 0, actual = 0;
    OK(aclrtGetOpTimeOutInterval(&interval));
    NEED(interval > 0);
    OK(aclrtSetOpExecuteTimeOutV2(1, &actual));
    TRUE(actual == interval);
    OK(aclrtSetOpExecuteTimeOutV2(interval + 1, &actual));
    TRUE(actual == 2 * interval);
    OK(aclrtSetOpExecuteTimeOutV2(interval * 1000, &actual));
    TRUE(actual == 254 * interval);
    EXPECT(aclrtSetOpExecuteTimeOutV2(1, NULL), 100000);
    EXPECT(aclrtGetOpTimeOutInterval(NULL), 100000);
}

RULE(callback, the_time_out_of_operators_is_given_back, "guide: aclrtGetOpExecuteTimeout") {
    up();
    uint64_t actual = 0;
    uint32_t ms = 0;
    OK(aclrtSetOpExecuteTimeOutV2(10000000, &actual));
    OK(aclrtGetOpExecuteTimeout(&ms));
    TRUE(ms >= 10000 && ms == actual / 1000);
    EXPECT(aclrtGetOpExecuteTimeout(NULL), 100000);
}

/* ---- faults of a device ---- */

RULE_MOCK(callback, the_latest_fault_of_a_device_is_told, "guide: aclrtGetErrorVerbose") {
    static aclrtErrorInfo info;
    up();
    OK(aclrtGetErrorVerbose(0, &info));
    TRUE(info.errorType == ACL_RT_NO_ERROR && info.tryRepair == 0 && info.hasDetail == 0);
    EXPECT(aclrtRepairError(0, &info), 0);
    fail(NULL);
    EXPECT(aclrtSynchronizeStream(NULL), 507053);
    OK(aclrtGetErrorVerbose(0, &info));
    TRUE(info.errorType == ACL_RT_ERROR_MEMORY && info.tryRepair == 1);
    EXPECT(aclrtRepairError(0, &info), 0);
    OK(aclrtGetErrorVerbose(0, &info));
    TRUE(info.errorType == ACL_RT_NO_ERROR);
    info.errorType = ACL_RT_ERROR_AICORE;
    EXPECT(aclrtRepairError(0, &info), 207000);
    EXPECT(aclrtGetErrorVerbose(0, NULL), 100000);
    EXPECT(aclrtGetErrorVerbose(99, &info), 107001);
    EXPECT(aclrtRepairError(99, &info), 107001);
    EXPECT(aclrtRepairError(0, NULL), 100000);
}
