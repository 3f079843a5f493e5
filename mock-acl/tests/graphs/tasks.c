/* Part of racl (mock-acl). Tasks of a graph one by one: enumeration, parameters, changes. */
#include "check.h"
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "memory/memory.h"
#include "streams/streams.h"

/* ---- kernels with a function handle, as a loader of kernels would offer them ---- */

typedef struct launch {
    uint64_t *at, amount;
    uint32_t blocks;
    int kind;
} launch;

static int dropped;

static aclError run_launch(void *arg) {
    const launch *k = arg;
    uint64_t *view = mock_device_view(k->at, 8);
    if (view == NULL) return 507015;
    *view += k->amount * k->blocks;
    return 0;
}

static void drop_launch(void *arg) {
    dropped++;
    free(arg);
}

static const mock_task_ops launch_ops = {"aclrtLaunchKernel", run_launch, drop_launch};
static char function;

static aclError submit(aclrtStream s, uint64_t *at, uint64_t amount, uint32_t blocks, int kind) {
    launch *k = malloc(sizeof *k);
    CHECK(k != NULL);
    *k = (launch){at, amount, blocks, kind};
    return mock_submit_kernel(s, &launch_ops, k);
}

static bool owns(const mock_task_ops *ops) { return ops == &launch_ops; }

static void params_of(const void *arg, aclmdlRIKernelTaskParams *out) {
    const launch *k = arg;
    out->funcHandle = &function;
    out->numBlocks = k->blocks;
    out->argsSize = sizeof k->amount;
    out->args = (void *)(uintptr_t)&k->amount;
}

static aclError change(
    const void *arg, const aclmdlRIKernelTaskParams *p, const mock_task_ops **ops, void **out) {
    if (p->funcHandle != &function) return mock_fail(107017, "EH0008", "no function");
    launch *k = malloc(sizeof *k);
    CHECK(k != NULL);
    *k = *(const launch *)arg;
    if (p->numBlocks != 0) k->blocks = p->numBlocks;
    *ops = &launch_ops;
    *out = k;
    return 0;
}

static aclError attribute(const void *arg, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue *out) {
    if (id == ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) out->timeout = (uint16_t)((const launch *)arg)->blocks;
    return 0;
}

static bool same_kind(const void *arg, const void *other) {
    return ((const launch *)arg)->kind == ((const launch *)other)->kind;
}

static const mock_kernel_tasks loader = {owns, params_of, change, attribute, same_kind};

/* ---- the graph ---- */

static aclrtStream s;
static uint64_t *cells;
static aclmdlRI graph;
static aclmdlRITask tasks[16];
static uint32_t count;
static aclrtEvent fork_event, gate;

static uint64_t word(const uint64_t *p) {
    uint64_t v = 0;
    read_back(&v, p, 8);
    return v;
}

static aclError add_one(void *at) {
    uint64_t *view = mock_device_view(at, 8);
    if (view == NULL) return 507015;
    ++*view;
    return 0;
}
static const mock_task_ops one = {"aclnnAdd", add_one, NULL};

static void begin(void) {
    up();
    mock_kernel_tasks_in_use = &loader;
    dropped = 0;
    s = new_stream();
    cells = device(64);
    OK(aclrtMemset(cells, 64, 0, 64));
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
}

static void end(void) {
    aclrtStream inner[4];
    uint32_t n = 4;
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIGetStreams(graph, inner, &n));
    CHECK(n == 1);
    count = 16;
    OK(aclmdlRIGetTasksByStream(inner[0], tasks, &count));
}

static void run(void) {
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
}

/* One of each type. */
static void every_type(void) {
    begin();
    aclrtTaskGrp group = NULL;
    fork_event = new_event(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    OK(aclrtCreateEventWithFlag(&gate, ACL_EVENT_EXTERNAL));
    OK(submit(s, cells, 1, 3, 0));
    OK(aclmdlRICaptureTaskGrpBegin(s));
    OK(mock_submit_kernel(s, &one, cells + 1));
    OK(aclmdlRICaptureTaskGrpEnd(s, &group));
    OK(aclrtRecordEvent(fork_event, s));
    OK(aclrtStreamWaitEvent(s, fork_event));
    OK(aclrtRecordEvent(gate, s));
    OK(aclrtStreamWaitEvent(s, gate));
    OK(aclrtResetEvent(gate, s));
    OK(aclrtValueWrite(cells + 2, 5, 0, s));
    OK(aclrtValueWait(cells + 2, 4, ACL_STREAM_WAIT_VALUE_GEQ, s));
    OK(aclrtMemsetAsync(cells + 3, 8, 1, 8, s));
    end();
    /* The last one is what the end of the capture adds for the record (observed: graph_tasks). */
    const int types[] = {1, 1, 2, 3, 2, 3, 4, 5, 6, 0, 4};
    CHECK(count == 11);
    aclmdlRITaskParams p;
    aclrtLaunchKernelAttrValue v;
    for (uint32_t i = 0; i < count; i++) {
        aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
        OK(aclmdlRITaskGetType(tasks[i], &type));
        CHECK((int)type == types[i]);
        CODE(aclmdlRITaskGetParams(tasks[i], &p), types[i] == 0 ? 107000 : 0);
        if (types[i] != 0) CHECK((int)p.type == types[i] && (p.taskGrp != NULL) == (i == 1));
        CODE(aclmdlRIKernelTaskGetAttribute(tasks[i], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &v),
            types[i] == 1 ? 0 : 107000);
    }
    OK(aclmdlRITaskGetParams(tasks[0], &p));
    CHECK(p.kernelTaskParams.funcHandle == &function && p.kernelTaskParams.numBlocks == 3);
    OK(aclmdlRITaskGetParams(tasks[1], &p));
    CHECK(p.taskGrp == group && p.kernelTaskParams.funcHandle == NULL);
    OK(aclmdlRITaskGetParams(tasks[2], &p));
    CHECK(p.eventRecordTaskParams.event == fork_event && p.eventRecordTaskParams.eventFlag == 9);
    OK(aclmdlRITaskGetParams(tasks[3], &p));
    CHECK(p.eventWaitTaskParams.event == fork_event && p.eventWaitTaskParams.waitFlag == 0);
    OK(aclmdlRITaskGetParams(tasks[4], &p));
    CHECK(p.eventRecordTaskParams.event == gate && p.eventRecordTaskParams.eventFlag == ACL_EVENT_EXTERNAL);
    OK(aclmdlRITaskGetParams(tasks[5], &p));
    CHECK(p.eventWaitTaskParams.event == gate);
    OK(aclmdlRITaskGetParams(tasks[6], &p));
    CHECK(p.eventResetTaskParams.event == gate);
    OK(aclmdlRITaskGetParams(tasks[10], &p));
    CHECK(p.eventResetTaskParams.event == fork_event);
    OK(aclmdlRITaskGetParams(tasks[7], &p));
    CHECK(p.valueWriteTaskParams.devAddr == cells + 2 && p.valueWriteTaskParams.value == 5);
    OK(aclmdlRITaskGetParams(tasks[8], &p));
    CHECK(p.valueWaitTaskParams.value == 4 && p.valueWaitTaskParams.flag == ACL_STREAM_WAIT_VALUE_GEQ);
    OK(aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &v));
    CHECK(v.timeout == 3);
    OK(aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &v));
    CHECK(v.schemMode == 0);
    CODE(aclmdlRIKernelTaskGetAttribute(tasks[0], (aclrtLaunchKernelAttrId)0, &v), 107000);
    CODE(aclmdlRIKernelTaskGetAttribute(tasks[0], (aclrtLaunchKernelAttrId)10, &v), 107000);
    CODE(aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, NULL), 100000);
    OK(aclmdlRIDestroy(graph));
    CHECK(dropped == 1);
    CODE(aclmdlRITaskGetParams(tasks[0], &p), 107017);
}

static void kernels_change(void) {
    begin();
    OK(submit(s, cells, 1, 1, 0));
    OK(mock_submit_kernel(s, &one, cells + 1));
    end();
    run();
    CHECK(word(cells) == 1);
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(tasks[0], &p));
    p.kernelTaskParams.numBlocks = 10;
    OK(aclmdlRITaskSetParams(tasks[0], &p));
    p.kernelTaskParams.numBlocks = 20; /* the last one counts */
    OK(aclmdlRITaskSetParams(tasks[0], &p));
    CHECK(dropped == 1);
    CODE(aclmdlRIExecuteAsync(graph, s), 507011); /* not before the update */
    OK(aclmdlRIUpdate(graph));
    CHECK(dropped == 2);
    run();
    CHECK(word(cells) == 21);
    OK(aclmdlRITaskSetParams(tasks[0], &p));
    OK(aclmdlRITaskDisable(tasks[0])); /* wins */
    OK(aclmdlRIUpdate(graph));
    CHECK(dropped == 4);
    run();
    CHECK(word(cells) == 21 && word(cells + 1) == 3);
    /* A kernel without a handle cannot be set: the model is spoilt. */
    OK(aclmdlRITaskGetParams(tasks[1], &p));
    CODE(aclmdlRITaskSetParams(tasks[1], &p), 107000);
    CODE(aclmdlRIUpdate(graph), 107040);
    CODE(aclmdlRIExecuteAsync(graph, s), 507011);
    OK(aclmdlRIDestroy(graph));
}

static void bad_changes(void) {
    begin();
    OK(submit(s, cells, 1, 1, 0));
    end();
    aclmdlRITaskParams p;
    OK(aclmdlRITaskGetParams(tasks[0], &p));
    OK(mock_acl_hold_stream(s));
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclmdlRITaskSetParams(tasks[0], &p), 107040); /* running */
    CODE(aclmdlRITaskDisable(tasks[0]), 107040);
    CODE(aclmdlRIUpdate(graph), 107040);
    OK(mock_acl_release_stream(s));
    OK(aclrtSynchronizeStream(s));
    OK(aclmdlRITaskSetParams(tasks[0], &p));
    p.kernelTaskParams.funcHandle = NULL;
    CODE(aclmdlRITaskSetParams(tasks[0], &p), 107017);
    CODE(aclmdlRIUpdate(graph), 107040);
    OK(aclmdlRIDestroy(graph));
    CHECK(dropped == 2); /* the change that was never applied, too */
}

/* A kernel of another kind uses up its place in the update. */
static void kinds_in_groups(void) {
    begin();
    aclrtTaskGrp group = NULL;
    OK(aclmdlRICaptureTaskGrpBegin(s));
    OK(submit(s, cells, 1, 1, 0));
    OK(submit(s, cells + 1, 1, 1, 0));
    OK(aclmdlRICaptureTaskGrpEnd(s, &group));
    end();
    OK(aclmdlRICaptureTaskUpdateBegin(s, group));
    CODE(submit(s, cells, 1, 5, 1), 507000);
    OK(submit(s, cells + 1, 1, 5, 0));
    OK(aclmdlRICaptureTaskUpdateEnd(s));
    run();
    CHECK(word(cells) == 1 && word(cells + 1) == 5);
}

int main(void) {
    every_type();
    kernels_change();
    bad_changes();
    kinds_in_groups();
    return 0;
}
