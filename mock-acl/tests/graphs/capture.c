/* Part of racl (mock-acl). Capture: what it records, refuses and checks. */
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"

static aclrtStream origin, side;
static aclrtEvent fork_event, join_event;
static unsigned char *memory;

static void begin(aclmdlRICaptureMode mode) {
    up();
    origin = new_stream();
    side = new_stream();
    fork_event = new_event(ACL_EVENT_SYNC);
    join_event = new_event(ACL_EVENT_SYNC);
    memory = device(64);
    OK(aclrtMemset(memory, 64, 0, 64));
    OK(aclmdlRICaptureBegin(origin, mode));
}

static aclmdlRI end(void) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureEnd(origin, &graph));
    CHECK(graph != NULL);
    return graph;
}

static void executes_nothing(void) {
    begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtMemsetAsync(memory, 64, 1, 64, origin));
    CHECK(mock_acl_run_until_idle() == 0);
    aclmdlRI graph = end();
    OK(aclrtSynchronizeStream(origin));
    CHECK(byte_at(memory) == 0);
    OK(mock_acl_hold_stream(side));
    OK(aclmdlRIExecuteAsync(graph, side));
    CHECK(byte_at(memory) == 0);
    OK(mock_acl_release_stream(side));
    OK(aclrtSynchronizeStream(side));
    CHECK(byte_at(memory) == 1);
    CHECK(live().graphs == 1);
    OK(aclmdlRIDestroy(graph));
    CHECK(live().graphs == 0);
}

static void forks_and_joins(void) {
    begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    aclrtStream third = new_stream();
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    OK(aclrtMemsetAsync(memory, 64, 1, 1, side));
    OK(aclrtRecordEvent(fork_event, side)); /* the same event again: waits bind to the latest record */
    OK(aclrtStreamWaitEvent(third, fork_event));
    OK(aclrtMemsetAsync(memory + 1, 63, 2, 1, third));
    OK(aclrtRecordEvent(join_event, third));
    OK(aclrtStreamWaitEvent(side, join_event));
    aclrtEvent last = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(last, side));
    OK(aclrtStreamWaitEvent(origin, last));
    CODE(aclrtSynchronizeStream(third), 107027);
    aclmdlRI graph = end();
    OK(aclrtSynchronizeStream(third));
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtSynchronizeStream(origin));
    CHECK(byte_at(memory) == 1 && byte_at(memory + 1) == 2);
}

static void unjoined(void) {
    begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    OK(aclrtRecordEvent(join_event, side));
    OK(aclrtStreamWaitEvent(origin, join_event));
    OK(aclrtMemsetAsync(memory, 64, 1, 1, side)); /* behind its last record */
    aclmdlRI graph = &graph;
    CODE(aclmdlRICaptureEnd(origin, &graph), 107025);
    CHECK(graph == NULL && live().graphs == 0);
    OK(aclrtMemsetAsync(memory, 64, 3, 1, side));
    OK(aclrtSynchronizeStream(side));
    CHECK(byte_at(memory) == 3);
}

static aclError add_one(void *at) {
    unsigned char *view = mock_device_view(at, 1);
    if (view == NULL) return 507015;
    ++*view;
    return 0;
}

static aclError add_ten(void *at) {
    unsigned char *view = mock_device_view(at, 1);
    if (view == NULL) return 507015;
    *view = (unsigned char)(*view + 10);
    return 0;
}

static int dropped;
static void note_drop(void *at) {
    (void)at;
    dropped++;
}

static const mock_task_ops one = {"aclnnAdd", add_one, note_drop};
static const mock_task_ops ten = {"aclnnMul", add_ten, note_drop};

/* Replacements take effect when the update stream reaches them. */
static void task_groups(void) {
    begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    dropped = 0;
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    OK(mock_submit_kernel(origin, &one, memory));
    OK(mock_submit_kernel(origin, &one, memory + 1));
    OK(aclmdlRICaptureTaskGrpEnd(origin, &group));
    aclmdlRI graph = end();
    CHECK(dropped == 0);
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtSynchronizeStream(origin));
    CHECK(byte_at(memory) == 1 && byte_at(memory + 1) == 1);
    OK(mock_acl_hold_stream(side));
    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    CODE(aclmdlRICaptureTaskUpdateBegin(origin, group), 107033);
    OK(mock_submit_kernel(side, &ten, memory));
    CODE(aclrtMemsetAsync(memory, 8, 0, 8, side), 507009);
    OK(mock_submit_kernel(side, &one, memory + 2));
    CODE(mock_submit_kernel(side, &one, memory + 3), 507000);
    CHECK(dropped == 1);
    OK(aclmdlRICaptureTaskUpdateEnd(side));
    OK(aclmdlRIExecuteAsync(graph, origin)); /* the update has not run */
    OK(aclrtSynchronizeStream(origin));
    CHECK(byte_at(memory) == 2 && byte_at(memory + 1) == 2);
    OK(mock_acl_release_stream(side));
    OK(aclrtSynchronizeStream(side));
    CHECK(dropped == 3);
    OK(aclmdlRIExecuteAsync(graph, origin));
    OK(aclrtSynchronizeStream(origin));
    CHECK(byte_at(memory) == 12 && byte_at(memory + 1) == 2 && byte_at(memory + 2) == 1);
    OK(aclmdlRICaptureTaskUpdateBegin(side, group));
    OK(mock_submit_kernel(side, &ten, memory));
    CODE(aclmdlRICaptureTaskUpdateEnd(side), 507000); /* too few */
    OK(aclrtSynchronizeStream(side));
    OK(aclmdlRIDestroy(graph));
    CHECK(dropped == 6);
    CODE(aclmdlRICaptureTaskUpdateBegin(side, group), 107017);
}

static void group_interrupted(void) {
    begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    OK(aclmdlRICaptureTaskGrpBegin(origin));
    dropped = 0;
    CODE(mock_submit_kernel(side, &one, memory), 107034);
    CHECK(dropped == 1);
    aclmdlRI graph = NULL;
    CODE(aclmdlRICaptureEnd(origin, &graph), 507903);
}

static void context_goes_away(void) {
    begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    OK(mock_submit_kernel(origin, &one, memory));
    dropped = 0;
    OK(aclrtResetDevice(0));
    CHECK(dropped == 1 && live().graphs == 0);
    CODE(aclrtSynchronizeStream(origin), 107017);
}

int main(void) {
    executes_nothing();
    forks_and_joins();
    unjoined();
    task_groups();
    group_interrupted();
    context_goes_away();
    return 0;
}
