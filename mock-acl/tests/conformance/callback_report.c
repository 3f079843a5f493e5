/* Part of racl (mock-acl). Callbacks that a thread of the program runs, and host functions. */
#include <pthread.h>
#include "conform.h"

static int order[16];
static int count;

static void note(void *argument) { order[__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST) % 16] = *(int *)argument; }

static int noted(void) { return __atomic_load_n(&count, __ATOMIC_SEQ_CST); }

static uint64_t me(void) { return (uint64_t)pthread_self(); }

RULE(callback, time_outs_of_reports_are_minus_one_or_above_zero, "observed: callbacks") {
    up();
    EXPECT(aclrtProcessReport(0), 100000);
    EXPECT(aclrtProcessReport(-2), 100000);
}

RULE(callback, an_unknown_thread_has_no_reports, "observed: callbacks") {
    up();
    EXPECT(aclrtProcessReport(10), 107012);
}

RULE(callback, without_a_report_the_time_passes, "observed: callbacks") {
    up();
    OK(aclrtSubscribeReport(me(), new_stream()));
    EXPECT(aclrtProcessReport(10), 507012);
}

RULE(callback, a_callback_needs_a_thread_and_a_function, "observed: callbacks") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    EXPECT(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream), 107015);
    EXPECT(aclrtLaunchCallback(NULL, &one, ACL_CALLBACK_NO_BLOCK, stream), 107000);
    EXPECT(aclrtLaunchCallback(note, &one, (aclrtCallbackBlockType)7, stream), 100000);
}

RULE(callback, reports_run_on_the_thread_that_asks, "guide: aclrtProcessReport") {
    up();
    aclrtStream stream = new_stream();
    int values[2] = {1, 2};
    OK(aclrtSubscribeReport(me(), stream));
    for (int i = 0; i < 2; i++) OK(aclrtLaunchCallback(note, &values[i], ACL_CALLBACK_NO_BLOCK, stream));
    while (noted() < 2) OK(aclrtProcessReport(10000));
    TRUE(order[0] == 1 && order[1] == 2);
    OK(aclrtUnSubscribeReport(me(), stream));
}

RULE(callback, a_blocking_callback_stops_the_stream, "guide: aclrtLaunchCallback") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    int one = 1;
    fill(memory, 0, 64);
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    TRUE(byte_at(memory) == 0);
    while (noted() < 1) OK(aclrtProcessReport(10000));
    finish(stream);
    TRUE(byte_at(memory) == 1);
}

static int stop;

/* Asks for callbacks until it is told to stop. */
static void *serve(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) (void)aclrtProcessReport(100);
    return NULL;
}

static void tell(void *argument) {
    (void)argument;
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
}

RULE(callback, a_wait_with_a_limit_waits_for_the_thread_that_serves, "guide: aclrtSubscribeReport") {
    up();
    aclrtStream stream = new_stream();
    pthread_t thread;
    int values[2] = {1, 2};
    stop = 0;
    TRUE(pthread_create(&thread, NULL, serve, NULL) == 0);
    OK(aclrtSubscribeReport((uint64_t)thread, stream));
    OK(aclrtLaunchCallback(note, &values[0], ACL_CALLBACK_BLOCK, stream));
    finish(stream);
    OK(aclrtLaunchCallback(note, &values[1], ACL_CALLBACK_BLOCK, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 10000), 0);
    TRUE(noted() == 2 && order[0] == 1 && order[1] == 2);
    OK(aclrtLaunchCallback(tell, NULL, ACL_CALLBACK_BLOCK, stream));
    finish(stream);
    TRUE(pthread_join(thread, NULL) == 0);
    OK(aclrtUnSubscribeReport((uint64_t)thread, stream));
}

RULE(callback, a_callback_that_does_not_block_lets_the_stream_go_on, "guide: aclrtLaunchCallback") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 10000), 0);
    TRUE(noted() == 0);
    while (noted() < 1) OK(aclrtProcessReport(10000));
}

RULE(callback, one_thread_serves_several_streams, "guide: aclrtSubscribeReport") {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), a));
    OK(aclrtSubscribeReport(me(), b));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_BLOCK, a));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_BLOCK, b));
    while (noted() < 2) OK(aclrtProcessReport(10000));
    finish(a);
    finish(b);
}

RULE(callback, the_default_stream_can_be_subscribed, "guide: aclrtSubscribeReport") {
    up();
    int one = 1;
    OK(aclrtSubscribeReport(me(), NULL));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_BLOCK, NULL));
    while (noted() < 1) OK(aclrtProcessReport(10000));
    OK(aclrtUnSubscribeReport(me(), NULL));
}

RULE(callback, a_thread_that_left_has_no_reports, "guide: aclrtUnSubscribeReport") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclrtUnSubscribeReport(me(), stream));
    EXPECT(aclrtProcessReport(10), 107012);
    EXPECT(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream), 107015);
}

RULE(callback, only_a_subscribed_thread_leaves, "observed: subscribe") {
    up();
    aclrtStream stream = new_stream();
    EXPECT(aclrtUnSubscribeReport(me(), stream), 107011);
    OK(aclrtSubscribeReport(me(), stream));
    EXPECT(aclrtUnSubscribeReport(me() + 1, stream), 107012);
    EXPECT(aclrtSubscribeReport(me(), stream), 107011);
    EXPECT(aclrtSubscribeReport(me() + 1, stream), 107011);
    EXPECT(aclrtSubscribeReport(0, new_stream()), 107011);
}

RULE(callback, reports_of_a_stream_that_is_gone_do_not_come, "observed: sequences") {
    up();
    aclrtStream stream = new_stream(), other = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclrtSubscribeReport(me(), other));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream));
    finish(stream);
    OK(aclrtDestroyStream(stream));
    EXPECT(aclrtProcessReport(10), 507012);
    TRUE(noted() == 0);
}

RULE(callback, a_stream_that_the_cpu_schedules_has_no_reports, "observed: sequences") {
    up();
    aclrtStream stream = NULL;
    int one = 1;
    OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_CPU_SCHEDULE));
    OK(aclrtSubscribeReport(me(), stream));
    EXPECT(aclrtLaunchCallback(note, &one, ACL_CALLBACK_BLOCK, stream), 0);
    EXPECT(aclrtProcessReport(10), 507012);
    TRUE(noted() == 0);
}

/* ---- host functions ---- */

RULE(callback, the_null_stream_with_host_functions_takes_callbacks, "observed: sequences") {
    up();
    int values[2] = {1, 2};
    OK(aclrtLaunchHostFunc(NULL, note, &values[0]));
    EXPECT(aclrtSubscribeReport(me(), NULL), 107011);
    EXPECT(aclrtLaunchCallback(note, &values[1], ACL_CALLBACK_BLOCK, NULL), 0);
    finish(NULL);
    TRUE(noted() == 2 && order[0] == 1 && order[1] == 2);
}

RULE(callback, a_subscribed_thread_runs_host_functions, "guide: aclrtSubscribeHostFunc") {
    up();
    aclrtStream stream = new_stream(), other = new_stream();
    int values[3] = {1, 2, 3};
    OK(aclrtSubscribeHostFunc(me(), stream));
    for (int i = 0; i < 2; i++) OK(aclrtLaunchHostFunc(stream, note, &values[i]));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    TRUE(noted() == 0);
    EXPECT(aclrtProcessReport(10), 107012); /* has another list */
    while (noted() < 2) OK(aclrtProcessHostFunc(10000));
    finish(stream);
    TRUE(order[0] == 1 && order[1] == 2);
    OK(aclrtLaunchHostFunc(other, note, &values[2])); /* of nobody: runs by itself */
    finish(other);
    TRUE(noted() == 3);
    EXPECT(aclrtProcessHostFunc(10), 507012);
}

RULE(callback, a_thread_that_left_runs_no_host_functions, "guide: aclrtUnSubscribeHostFunc") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    EXPECT(aclrtUnSubscribeHostFunc(me(), stream), 107011);
    OK(aclrtSubscribeHostFunc(me(), stream));
    EXPECT(aclrtSubscribeHostFunc(me(), stream), 107011);
    EXPECT(aclrtUnSubscribeHostFunc(me() + 1, stream), 107012);
    OK(aclrtUnSubscribeHostFunc(me(), stream));
    EXPECT(aclrtProcessHostFunc(10), 107012);
    OK(aclrtLaunchHostFunc(stream, note, &one));
    finish(stream);
    TRUE(noted() == 1);
    EXPECT(aclrtProcessHostFunc(0), 100000);
    EXPECT(aclrtProcessHostFunc(-2), 100000);
}

RULE(callback, a_host_function_needs_a_function, "observed: callbacks") {
    up();
    EXPECT(aclrtLaunchHostFunc(new_stream(), NULL, NULL), 107000);
}

RULE(callback, a_host_function_runs_in_order, "guide: aclrtLaunchHostFunc") {
    up();
    aclrtStream stream = new_stream();
    int values[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) OK(aclrtLaunchHostFunc(stream, note, &values[i]));
    finish(stream);
    TRUE(noted() == 4);
    for (int i = 0; i < 4; i++) TRUE(order[i] == i + 1);
}

RULE(callback, the_default_stream_takes_host_functions, "guide: aclrtLaunchHostFunc") {
    up();
    int one = 1;
    OK(aclrtLaunchHostFunc(NULL, note, &one));
    finish(NULL);
    TRUE(noted() == 1);
}

typedef struct gate {
    int open;
} gate;

static void wait_at(void *argument) {
    gate *g = (gate *)argument;
    while (!__atomic_load_n(&g->open, __ATOMIC_SEQ_CST)) usleep(1000);
}

static void open_gate(void *argument) {
    usleep(50000);
    __atomic_store_n(&((gate *)argument)->open, 1, __ATOMIC_SEQ_CST);
}

RULE(callback, the_stream_waits_for_its_host_function, "guide: aclrtLaunchHostFunc") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    gate g = {0};
    fill(memory, 0, 64);
    OK(aclrtLaunchHostFunc(stream, wait_at, &g));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    void *thread = start_thread(open_gate, &g);
    finish(stream);
    TRUE(g.open == 1);
    TRUE(byte_at(memory) == 1);
    join_thread(thread);
}

static int running, most;

static void overlap(void *argument) {
    (void)argument;
    const int now = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
    if (now > most) most = now;
    usleep(2000);
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
}

static void finish_elsewhere(void *stream) {
    OK(aclrtSetDevice(0));
    finish(stream);
}

RULE(callback, host_functions_of_a_context_run_one_at_a_time, "implementation: one callback thread a context") {
    up();
    void *threads[3];
    for (int i = 0; i < 3; i++) {
        aclrtStream stream = new_stream();
        for (int k = 0; k < 5; k++) OK(aclrtLaunchHostFunc(stream, overlap, NULL));
        threads[i] = start_thread(finish_elsewhere, stream);
    }
    for (int i = 0; i < 3; i++) join_thread(threads[i]);
    TRUE(most == 1);
}

RULE(callback, a_subscribed_stream_takes_no_host_functions, "observed: callbacks") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), stream));
    EXPECT(aclrtLaunchHostFunc(stream, note, &one), 107011);
}

RULE(callback, a_stream_with_host_functions_is_not_subscribed, "guide: aclrtSubscribeReport") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    OK(aclrtLaunchHostFunc(stream, note, &one));
    EXPECT(aclrtSubscribeReport(me(), stream), 107011);
    EXPECT(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream), 107011);
    finish(stream);
}

RULE(callback, a_captured_host_function_runs_in_each_replay, "implementation: capture of callbacks") {
    up();
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    int one = 1;
    OK(aclrtLaunchHostFunc(stream, note, &one));
    aclmdlRI graph = end(stream);
    TRUE(noted() == 0);
    for (int i = 1; i <= 3; i++) {
        replay(graph, stream);
        TRUE(noted() == i);
    }
    OK(aclmdlRIDestroy(graph));
}

RULE(callback, a_captured_callback_runs_in_each_replay, "implementation: capture of callbacks") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream));
    aclmdlRI graph = end(stream);
    for (int i = 1; i <= 3; i++) {
        OK(aclmdlRIExecuteAsync(graph, stream));
        while (noted() < i) OK(aclrtProcessReport(10000));
        finish(stream);
    }
    OK(aclmdlRIDestroy(graph));
}

RULE(callback, values_of_block_types, "header: aclrtCallbackBlockType") {
    TRUE(ACL_CALLBACK_NO_BLOCK == 0 && ACL_CALLBACK_BLOCK == 1);
}

RULE(callback, a_report_without_a_limit_comes, "guide: aclrtProcessReport") {
    up();
    aclrtStream stream = new_stream();
    int one = 1;
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclrtLaunchCallback(note, &one, ACL_CALLBACK_BLOCK, stream));
    EXPECT(aclrtProcessReport(-1), 0);
    TRUE(noted() == 1);
    finish(stream);
}

RULE(callback, each_call_runs_one_that_is_ready, "observed, not recorded: random sequences") {
    up();
    aclrtStream stream = new_stream();
    int values[3] = {1, 2, 3};
    OK(aclrtSubscribeReport(me(), stream));
    for (int i = 0; i < 3; i++) OK(aclrtLaunchCallback(note, &values[i], ACL_CALLBACK_NO_BLOCK, stream));
    finish(stream); /* it does not wait for them */
    for (int i = 0; i < 3; i++) {
        EXPECT(aclrtProcessReport(10000), 0);
        TRUE(noted() == i + 1);
    }
    EXPECT(aclrtProcessReport(10), 507012);
}

static void *seen_pointer;
static void see(void *argument) { seen_pointer = argument; }

RULE(callback, pointers_pass_as_they_are, "guide: aclrtLaunchCallback, aclrtLaunchHostFunc") {
    up();
    aclrtStream own = new_stream(), stream = new_stream();
    OK(aclrtSubscribeReport(me(), own));
    OK(aclrtLaunchCallback(see, (void *)(uintptr_t)0x1234567, ACL_CALLBACK_BLOCK, own));
    OK(aclrtProcessReport(10000));
    TRUE(seen_pointer == (void *)(uintptr_t)0x1234567);
    OK(aclrtLaunchHostFunc(stream, see, NULL));
    finish(stream);
    TRUE(seen_pointer == NULL);
}

RULE_MOCK(callback, at_most_1024_threads, "guide: aclrtSubscribeReport; own choice of the code") {
    up();
    for (uint64_t i = 1; i <= 1024; i++) OK(aclrtSubscribeReport(i, new_stream()));
    EXPECT(aclrtSubscribeReport(1025, new_stream()), 207012);
    EXPECT(aclrtSubscribeReport(1024, new_stream()), 0); /* a thread that is known */
}

RULE(callback, a_captured_blocking_callback_stops_its_replay, "implementation: capture of callbacks") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    OK(aclrtSubscribeReport(me(), stream));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtLaunchCallback(see, memory, ACL_CALLBACK_BLOCK, stream));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    aclmdlRI graph = end(stream);
    for (int i = 0; i < 2; i++) {
        seen_pointer = NULL;
        fill(memory, 0, 64);
        OK(aclmdlRIExecuteAsync(graph, stream));
        EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
        TRUE(byte_at(memory) == 0);
        OK(aclrtProcessReport(10000));
        finish(stream);
        TRUE(byte_at(memory) == 1 && seen_pointer == memory); /* the same pointer each time */
    }
}

RULE(callback, a_capture_checks_subscriptions_too, "implementation: aclrtLaunchCallback") {
    up();
    int one = 1;
    aclrtStream stream = begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    EXPECT(aclrtLaunchCallback(note, &one, ACL_CALLBACK_NO_BLOCK, stream), 107015);
    EXPECT(aclrtLaunchHostFunc(stream, NULL, NULL), 107000);
    end(stream);
}

static int inside;

static void call_library(void *argument) { inside = aclrtSynchronizeStream((aclrtStream)argument); }

RULE_MOCK(callback, waiting_inside_a_host_function_is_refused, "own choice: the real runtime may hang") {
    up();
    aclrtStream stream = new_stream(), other = new_stream();
    hold(other);
    OK(aclrtLaunchHostFunc(stream, call_library, other));
    finish(stream);
    EXPECT(inside, 207000);
}

static void abort_inside(void *argument) { inside = aclrtStreamAbort((aclrtStream)argument); }

RULE_MOCK(callback, aborting_inside_a_host_function_is_refused, "own choice: the guide forbids it") {
    up();
    aclrtStream stream = new_stream();
    OK(aclrtLaunchHostFunc(stream, abort_inside, new_stream()));
    finish(stream);
    EXPECT(inside, 207000);
}

/* ---- host functions on a thread of the program ---- */

RULE(callback, a_thread_of_the_program_may_run_host_functions, "header: aclrtSubscribeHostFunc") {
    up();
    aclrtStream stream = new_stream();
    unsigned char *memory = (unsigned char *)device(64);
    int one = 1;
    fill(memory, 0, 64);
    OK(aclrtSubscribeHostFunc(me(), stream));
    OK(aclrtLaunchHostFunc(stream, note, &one));
    OK(aclrtMemsetAsync(memory, 64, 1, 64, stream));
    EXPECT(aclrtSynchronizeStreamWithTimeout(stream, 20), 507046);
    while (noted() < 1) OK(aclrtProcessHostFunc(10000));
    finish(stream);
    TRUE(byte_at(memory) == 1);
    OK(aclrtUnSubscribeHostFunc(me(), stream));
}

RULE_MOCK(callback, processing_host_functions_is_checked_like_reports, "own choice: as aclrtProcessReport") {
    up();
    EXPECT(aclrtProcessHostFunc(0), 100000);
    EXPECT(aclrtProcessHostFunc(-2), 100000);
    EXPECT(aclrtProcessHostFunc(10), 107012);
    aclrtStream stream = new_stream();
    OK(aclrtSubscribeHostFunc(me(), stream));
    EXPECT(aclrtProcessHostFunc(10), 507012);
    EXPECT(aclrtProcessReport(10), 107012);
    EXPECT(aclrtSubscribeReport(me(), stream), 107011);
    EXPECT(aclrtSubscribeHostFunc(me(), stream), 107011);
    OK(aclrtUnSubscribeHostFunc(me(), stream));
    EXPECT(aclrtUnSubscribeHostFunc(me(), stream), 107011);
    EXPECT(aclrtProcessHostFunc(10), 107012);
}
