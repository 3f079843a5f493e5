/* Part of racl (mock-acl). Replay: order, repetition, blocking graphs, destruction. */
#include <unistd.h>
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"

static int called;
static void count_call(void *unused) {
    (void)unused;
    called++;
}

static aclmdlRI graph_of(aclrtStream s, void (*fill)(aclrtStream, void *), void *user) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    fill(s, user);
    OK(aclmdlRICaptureEnd(s, &graph));
    return graph;
}

static aclError add_one(void *at) {
    uint64_t *view = mock_device_view(at, 8);
    if (view == NULL) return 507015;
    ++*view;
    return 0;
}
static const mock_task_ops one = {"aclnnAdd", add_one, NULL};

static void three_adds(aclrtStream s, void *at) {
    for (int i = 0; i < 3; i++) OK(mock_submit_kernel(s, &one, at));
}

static uint64_t word(const void *p) {
    uint64_t v = 0;
    read_back(&v, p, 8);
    return v;
}

static void repeated(void) {
    up();
    aclrtStream s = new_stream();
    uint64_t *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    aclmdlRI graph = graph_of(s, three_adds, d);
    for (int i = 0; i < 5000; i++) OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(word(d) == 15000);
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclmdlRIDestroy(graph)); /* waits for the launch */
    CHECK(word(d) == 15003);
    CODE(aclmdlRIExecuteAsync(graph, s), 107017);
}

static void reads_pinned_memory_at_replay(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *h = pinned(8), *d = device(8);
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtMemcpyAsync(d, 8, h, 8, ACL_MEMCPY_HOST_TO_DEVICE, s));
    OK(aclrtLaunchHostFunc(s, count_call, NULL));
    OK(aclmdlRICaptureEnd(s, &graph));
    called = 0;
    for (int i = 1; i < 4; i++) {
        memset(h, i, 8);
        OK(aclmdlRIExecuteAsync(graph, s));
        OK(aclrtSynchronizeStream(s));
        CHECK(byte_at(d) == i && called == i);
    }
    OK(aclmdlRIDestroy(graph));
}

/* The gate of an external event: every replay needs one record. */
static void gated(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent gate = NULL;
    uint64_t *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    OK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_EXTERNAL));
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(mock_submit_kernel(s, &one, d));
    OK(aclrtStreamWaitEvent(s, gate));
    OK(aclrtResetEvent(gate, s));
    OK(mock_submit_kernel(s, &one, d));
    OK(aclmdlRICaptureEnd(s, &graph));
    for (uint64_t i = 0; i < 3; i++) {
        OK(aclmdlRIExecuteAsync(graph, s));
        CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
        CHECK(word(d) == 2 * i + 1);
        CODE(aclmdlRIDestroy(graph), 107037);
        OK(aclrtRecordEvent(gate, other));
        OK(aclrtSynchronizeStream(s));
        CHECK(word(d) == 2 * i + 2);
    }
    /* A replay dropped amid its way leaves the graph usable. */
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    OK(aclrtDestroyStreamForce(s));
    OK(aclrtRecordEvent(gate, other));
    OK(aclmdlRIExecuteAsync(graph, other));
    OK(aclrtSynchronizeStream(other));
    CHECK(word(d) == 9);
    OK(aclmdlRIDestroy(graph));
}

/* One chain waits for what a later one in call order does. */
static void chains_advance_on_their_own(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join_event = new_event(ACL_EVENT_SYNC);
    aclrtNotify n = NULL;
    OK(aclrtCreateNotify(&n, 0));
    uint64_t *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(a, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtRecordEvent(fork_event, a));
    OK(aclrtStreamWaitEvent(b, fork_event));
    OK(aclrtWaitAndResetNotify(n, a, 0));
    OK(mock_submit_kernel(a, &one, d));
    OK(mock_submit_kernel(b, &one, d));
    OK(aclrtRecordNotify(n, b));
    OK(aclrtRecordEvent(join_event, b));
    OK(aclrtStreamWaitEvent(a, join_event));
    OK(aclmdlRICaptureEnd(a, &graph));
    for (int i = 0; i < 10; i++) OK(aclmdlRIExecuteAsync(graph, a));
    OK(aclrtSynchronizeStream(a));
    CHECK(word(d) == 20);
    OK(aclmdlRIDestroy(graph));
}

static void two_launch_streams(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    uint64_t *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    aclmdlRI graph = graph_of(a, three_adds, d);
    for (int i = 0; i < 100; i++) {
        OK(aclmdlRIExecuteAsync(graph, a));
        OK(aclmdlRIExecuteAsync(graph, b));
    }
    OK(aclrtSynchronizeDevice());
    CHECK(word(d) == 600);
}

static void failing_node(void) {
    up();
    aclrtStream s = new_stream();
    uint64_t *d = device(8);
    OK(aclrtMemset(d, 8, 0, 8));
    OK(mock_acl_fail_task("aclnnAdd", 2, 507015));
    aclmdlRI graph = graph_of(s, three_adds, d);
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStream(s), 507015);
    CHECK(word(d) == 2);
    OK(mock_acl_fail_task("aclmdlRIExecuteAsync", 1, 507011));
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStream(s), 507011);
    CHECK(word(d) == 2);
    OK(aclmdlRIDestroy(graph));
}

static void names_and_dumps(void) {
    up();
    aclrtStream s = new_stream();
    aclmdlRI graph = graph_of(s, three_adds, device(8));
    char name[16] = "x";
    uint32_t id = 0;
    OK(aclmdlRIGetName(graph, sizeof name, name));
    CHECK(name[0] == '\0');
    OK(aclmdlRISetName(graph, "decode"));
    CODE(aclmdlRIGetName(graph, 6, name), 507000); /* (observed: graph_name) */
    CHECK(name[0] == '\0');
    OK(aclmdlRIGetName(graph, 7, name));
    CHECK(strcmp(name, "decode") == 0);
    OK(aclmdlRIGetId(graph, &id));
    OK(aclmdlRIDebugPrint(graph));
    char path[] = "/tmp/mock-acl-dump-XXXXXX";
    close(mkstemp(path));
    OK(aclmdlRIDebugJsonPrint(graph, path, 1));
    FILE *f = fopen(path, "r");
    char text[4096] = "";
    CHECK(f != NULL && fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    unlink(path);
    CHECK(text[0] == '[' && strstr(text, "aclnnAdd") != NULL);
    CODE(aclmdlRIDebugJsonPrint(graph, "/nowhere/dump", 0), 107000);
    called = 0;
    OK(aclmdlRIDestroyRegisterCallback(graph, count_call, NULL));
    OK(aclmdlRIDestroy(graph));
    CHECK(called == 1);
}

static void value_update(void) {
    up();
    aclrtStream s = new_stream(), inner = NULL;
    uint64_t *d = device(8);
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtValueWrite(d, 5, 0, s));
    OK(aclmdlRICaptureEnd(s, &graph));
    uint32_t n = 1;
    aclmdlRITask task = NULL;
    aclmdlRITaskParams params;
    OK(aclmdlRIGetStreams(graph, &inner, &n));
    OK(aclmdlRIGetTasksByStream(inner, &task, &n));
    OK(aclmdlRITaskGetParams(task, &params));
    CHECK(params.type == ACL_MODEL_RI_TASK_VALUE_WRITE && params.valueWriteTaskParams.value == 5);
    params.valueWriteTaskParams.value = 6;
    OK(aclmdlRITaskSetParams(task, &params));
    CODE(aclmdlRIExecuteAsync(graph, s), 507011);
    OK(aclmdlRIUpdate(graph));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    CHECK(word(d) == 6);
    OK(aclmdlRIDestroy(graph));
    CODE(aclmdlRITaskGetType(task, &(aclmdlRITaskType){0}), 107017);
}

int main(void) {
    repeated();
    reads_pinned_memory_at_replay();
    gated();
    chains_advance_on_their_own();
    two_launch_streams();
    failing_node();
    names_and_dumps();
    value_update();
    return 0;
}
