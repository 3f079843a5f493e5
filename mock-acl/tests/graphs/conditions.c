/* Part of racl (mock-acl). Conditional sub graphs: what they run, how they nest, how they end. */
#include <pthread.h>
#include <unistd.h>
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"

static aclrtStream origin, inner, deeper;
static uint64_t *cells; /* [0]: a counter, [1]..: marks */
static aclmdlRI root;
static aclmdlRICondHandle handle;
static uint64_t *value;

typedef struct step {
    uint64_t *at, *condition;
    uint64_t add, last; /* the condition is cleared when the counter reaches `last` */
} step;

static aclError run_step(void *arg) {
    const step *k = arg;
    uint64_t *view = mock_device_view(k->at, 8);
    if (view == NULL) return 507015;
    *view += k->add;
    if (k->condition == NULL || *view < k->last) return 0;
    uint64_t *condition = mock_device_view(k->condition, 8);
    if (condition == NULL) return 507015;
    *condition = 0;
    return 0;
}

static const mock_task_ops step_ops = {"aclnnAdd", run_step, free};

static void add(aclrtStream s, uint64_t *at, uint64_t amount, uint64_t *condition, uint64_t last) {
    step *k = malloc(sizeof *k);
    CHECK(k != NULL);
    *k = (step){at, condition, amount, last};
    OK(mock_submit_kernel(s, &step_ops, k));
}

static uint64_t word(const uint64_t *p) {
    uint64_t v = 0;
    read_back(&v, p, 8);
    return v;
}

static void put(uint64_t *p, uint64_t v) { OK(aclrtMemcpy(p, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }

static void begin(void) {
    up();
    origin = new_stream();
    inner = new_stream();
    deeper = new_stream();
    cells = device(64);
    OK(aclrtMemset(cells, 64, 0, 64));
    OK(aclmdlRICaptureBegin(origin, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    aclmdlRICaptureStatus status;
    OK(aclmdlRICaptureGetInfo(origin, &status, &root));
}

static aclmdlRICondHandle condition(aclmdlRI of, uint32_t initial, int flag, uint64_t **at) {
    aclmdlRICondHandle h = NULL;
    OK(aclmdlRICondHandleCreate(of, initial, (aclmdlRICondHandleFlag)flag, &h));
    OK(aclmdlRICondHandleGetCondPtr(h, at));
    return h;
}

static void task(
    aclrtStream s, aclmdlRICondHandle h, aclmdlRICondTaskType type, uint32_t size, aclmdlRI *subs) {
    const aclmdlRICondTaskParams p = {h, type, size, subs};
    OK(aclmdlRIAddCondTask(p, s, 0));
}

static void sub_begin(aclrtStream s, aclmdlRI sub) {
    OK(aclmdlRICaptureToModelRIBegin(s, sub, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
}

static void mark(aclmdlRI sub, uint64_t *at) {
    sub_begin(inner, sub);
    add(inner, at, 1, NULL, 0);
    OK(aclmdlRICaptureEnd(inner, NULL));
}

static void end(void) { OK(aclmdlRICaptureEnd(origin, &root)); }

static void replay(void) {
    OK(aclmdlRIExecuteAsync(root, origin));
    OK(aclrtSynchronizeStream(origin));
}

static void if_then_else(void) {
    begin();
    aclmdlRI subs[2] = {NULL, NULL};
    handle = condition(root, 0, 0, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 2, subs);
    CHECK(subs[0] != NULL && subs[1] != NULL && subs[0] != subs[1]);
    mark(subs[0], cells + 1);
    mark(subs[1], cells + 2);
    add(origin, cells, 1, NULL, 0);
    end();
    CHECK(live().graphs == 3);
    replay(); /* the cell starts at 0 */
    CHECK(word(cells) == 1 && word(cells + 1) == 0 && word(cells + 2) == 1);
    put(value, 7); /* and keeps what is written */
    replay();
    replay();
    CHECK(word(cells) == 3 && word(cells + 1) == 2 && word(cells + 2) == 1);
    OK(aclmdlRIDestroy(root));
    CHECK(live().graphs == 0);
    CODE(aclmdlRICondHandleGetCondPtr(handle, &value), 107017);
    CODE(aclmdlRIDestroy(subs[0]), 107017);
}

static void if_alone(void) {
    begin();
    aclmdlRI sub = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub);
    mark(sub, cells + 1);
    /* What comes behind sees the value that holds when the next replay starts. */
    OK(aclrtValueWrite(value, 0, 0, origin));
    end();
    for (uint64_t i = 1; i < 4; i++) {
        replay();
        CHECK(word(cells + 1) == i && word(value) == 0);
    }
    OK(aclmdlRIDestroy(root));
}

/* The value is read when the task is reached. */
static void written_by_the_graph(void) {
    begin();
    aclmdlRI sub = NULL;
    handle = condition(root, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    OK(aclrtValueWrite(value, 1, 0, origin));
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub);
    mark(sub, cells + 1);
    end();
    replay();
    CHECK(word(cells + 1) == 1);
}

static void loop(void) {
    begin();
    aclmdlRI body = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    sub_begin(inner, body);
    add(inner, cells, 1, value, 1000);
    OK(aclmdlRICaptureEnd(inner, NULL));
    add(origin, cells + 1, 1, NULL, 0);
    end();
    replay();
    CHECK(word(cells) == 1000 && word(cells + 1) == 1);
    put(cells, 0);
    replay();
    CHECK(word(cells) == 1000 && word(cells + 1) == 2);
}

static void switches(void) {
    begin();
    aclmdlRI subs[3];
    handle = condition(root, 0, 0, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 3, subs);
    for (int i = 0; i < 3; i++) mark(subs[i], cells + i);
    end();
    const uint64_t values[] = {2, 0, 1, 3, UINT64_MAX, 2};
    for (int i = 0; i < 6; i++) {
        put(value, values[i]);
        replay();
    }
    CHECK(word(cells) == 1 && word(cells + 1) == 1 && word(cells + 2) == 2);
}

/* A loop with an IF inside, whose sub graph has a SWITCH; forks inside a sub graph. */
static void nested(void) {
    begin();
    aclmdlRI body = NULL, then = NULL, cases[2];
    uint64_t *inner_value = NULL, *deep_value = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    sub_begin(inner, body);
    add(inner, cells, 1, value, 10);
    aclmdlRICondHandle h = condition(body, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &inner_value);
    task(inner, h, ACL_MODEL_RI_COND_TYPE_IF, 1, &then);
    sub_begin(deeper, then);
    aclmdlRI seen = NULL;
    OK(aclmdlRICaptureGetInfo(deeper, NULL, &seen));
    CHECK(seen == then);
    aclmdlRICondHandle d = condition(then, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &deep_value);
    task(deeper, d, ACL_MODEL_RI_COND_TYPE_SWITCH, 2, cases);
    aclrtStream third = new_stream(), fourth = new_stream();
    for (int i = 0; i < 2; i++) {
        aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join_event = new_event(ACL_EVENT_SYNC);
        sub_begin(third, cases[i]);
        OK(aclrtRecordEvent(fork_event, third));
        OK(aclrtStreamWaitEvent(fourth, fork_event));
        add(fourth, cells + 2 + i, 1, NULL, 0);
        OK(aclrtRecordEvent(join_event, fourth));
        OK(aclrtStreamWaitEvent(third, join_event));
        OK(aclmdlRICaptureEnd(third, &seen));
        CHECK(seen == cases[i]);
    }
    CODE(aclmdlRICaptureEnd(inner, NULL), 107045);
    /* That was the end of the loop's capture, and so of the root's. */
    CODE(aclmdlRICaptureEnd(origin, &root), 507903);
    CHECK(root == NULL && live().graphs == 0);
    OK(aclrtSynchronizeDevice());
}

static void nested_and_complete(void) {
    begin();
    aclmdlRI body = NULL, then[2];
    uint64_t *inner_value = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    sub_begin(inner, body);
    add(inner, cells, 1, value, 10);
    aclmdlRICondHandle h = condition(body, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &inner_value);
    task(inner, h, ACL_MODEL_RI_COND_TYPE_IF, 2, then);
    sub_begin(deeper, then[0]);
    add(deeper, cells + 1, 1, NULL, 0);
    OK(aclrtValueWrite(inner_value, 0, 0, deeper));
    OK(aclmdlRICaptureEnd(deeper, NULL));
    sub_begin(deeper, then[1]);
    add(deeper, cells + 2, 1, NULL, 0);
    OK(aclmdlRICaptureEnd(deeper, NULL));
    OK(aclmdlRICaptureEnd(inner, NULL));
    end();
    replay(); /* default values hold from the start of a replay, not of each round */
    CHECK(word(cells) == 10 && word(cells + 1) == 1 && word(cells + 2) == 9);
    put(cells, 0);
    replay();
    CHECK(word(cells) == 10 && word(cells + 1) == 2 && word(cells + 2) == 18);
    OK(aclmdlRIDestroy(root));
    CHECK(live().graphs == 0);
}

/* What a sub graph waits for comes from another stream of the root. */
static void chains_go_on(void) {
    begin();
    aclrtStream side = new_stream();
    aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join_event = new_event(ACL_EVENT_SYNC);
    aclrtNotify there = NULL, back = NULL;
    OK(aclrtCreateNotify(&there, 0));
    OK(aclrtCreateNotify(&back, 0));
    aclmdlRI sub = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    OK(aclrtRecordEvent(fork_event, origin));
    OK(aclrtStreamWaitEvent(side, fork_event));
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub);
    sub_begin(inner, sub);
    OK(aclrtRecordNotify(there, inner));
    OK(aclrtWaitAndResetNotify(back, inner, 0));
    add(inner, cells, 1, NULL, 0);
    OK(aclmdlRICaptureEnd(inner, NULL));
    OK(aclrtWaitAndResetNotify(there, side, 0));
    add(side, cells + 1, 1, NULL, 0);
    OK(aclrtRecordNotify(back, side));
    OK(aclrtRecordEvent(join_event, side));
    OK(aclrtStreamWaitEvent(origin, join_event));
    end();
    for (int i = 0; i < 5; i++) replay();
    CHECK(word(cells) == 5 && word(cells + 1) == 5);
}

static void endless_begin(void) {
    begin();
    aclmdlRI body = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body);
    sub_begin(inner, body);
    add(inner, cells, 1, NULL, 0);
    OK(aclmdlRICaptureEnd(inner, NULL));
    end();
}

/* A loop that does not end is cut off; until then waits with a time-out end, and other streams run. */
static void endless(void) {
    endless_begin();
    OK(aclmdlRIExecuteAsync(root, origin));
    CODE(aclrtSynchronizeStreamWithTimeout(origin, 5), 507046);
    const uint64_t so_far = word(cells);
    CHECK(workers() || (so_far >= 2500 && so_far < 20000));
    OK(aclrtMemsetAsync(cells + 1, 8, 1, 8, deeper));
    OK(aclrtSynchronizeStream(deeper));
    CODE(aclrtSynchronizeStream(origin), 507011);
    CHECK(word(cells) == 1000000);
    put(cells, 0);
    OK(aclmdlRIExecuteAsync(root, origin)); /* the model is ready as before */
    CODE(aclrtSynchronizeStreamWithTimeout(origin, 1), 507046);
    OK(aclrtStreamAbort(origin));
    OK(aclrtSynchronizeStream(origin));
    CHECK(word(cells) < 1000000);
    OK(aclmdlRIDestroy(root));
}

static pthread_barrier_t started;

static void *waits_for_ever(void *stream) {
    OK(aclrtSetDevice(0));
    pthread_barrier_wait(&started);
    const aclError code = aclrtSynchronizeStream(stream);
    CHECK(code == 107023 || code == 0); /* 0: it was aborted before the wait began */
    OK(aclrtResetDevice(0));
    return NULL;
}

static void aborted_from_another_thread(void) {
    endless_begin();
    pthread_t thread;
    CHECK(pthread_barrier_init(&started, NULL, 2) == 0);
    OK(aclmdlRIExecuteAsync(root, origin));
    CHECK(pthread_create(&thread, NULL, waits_for_ever, origin) == 0);
    pthread_barrier_wait(&started);
    OK(aclrtStreamAbort(origin));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclmdlRIDestroy(root));
    pthread_barrier_destroy(&started);
}

/* Groups inside a sub graph can be updated; a failure of an inner task is one of the launch stream. */
static void groups_and_failures(void) {
    begin();
    aclmdlRI sub = NULL;
    aclrtTaskGrp group = NULL;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub);
    sub_begin(inner, sub);
    OK(aclmdlRICaptureTaskGrpBegin(inner));
    add(inner, cells, 1, NULL, 0);
    OK(aclmdlRICaptureTaskGrpEnd(inner, &group));
    OK(aclmdlRICaptureEnd(inner, NULL));
    end();
    replay();
    OK(aclmdlRICaptureTaskUpdateBegin(inner, group));
    add(inner, cells, 10, NULL, 0);
    OK(aclmdlRICaptureTaskUpdateEnd(inner));
    OK(aclrtSynchronizeStream(inner));
    replay();
    CHECK(word(cells) == 11);
    OK(mock_acl_fail_task("aclnnAdd", 1, 507015));
    OK(aclmdlRICaptureTaskUpdateBegin(inner, group));
    add(inner, cells, 10, NULL, 0);
    OK(aclmdlRICaptureTaskUpdateEnd(inner));
    OK(aclrtSynchronizeStream(inner));
    OK(aclmdlRIExecuteAsync(root, origin));
    CODE(aclrtSynchronizeStream(origin), 507015);
    CHECK(word(cells) == 11);
    OK(aclmdlRIDestroy(root));
}

static void refused(void) {
    begin();
    aclmdlRI subs[2] = {NULL, NULL}, other = NULL;
    aclrtEvent event = new_event(ACL_EVENT_SYNC);
    uint32_t n = 0;
    handle = condition(root, 0, 0, &value);
    CODE(aclmdlRICaptureToModelRIBegin(inner, root, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 107000);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 2, subs);
    const aclmdlRICondTaskParams again = {handle, ACL_MODEL_RI_COND_TYPE_IF, 2, subs};
    CODE(aclmdlRIAddCondTask(again, origin, 0), 107000);
    CODE(aclmdlRICaptureToModelRIBegin(origin, subs[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 107027);
    sub_begin(inner, subs[0]);
    CODE(aclmdlRICaptureToModelRIBegin(deeper, subs[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 107026);
    CODE(aclrtRecordEventWithFlag(event, inner, ACL_EVENT_RECORD_EXTERNAL), 207000);
    CODE(aclmdlRIDestroy(subs[0]), 207000);
    CODE(aclmdlRIExecuteAsync(subs[0], deeper), 207000);
    CODE(aclmdlRIUpdate(subs[0]), 207000);
    CODE(aclmdlRIGetStreams(subs[0], NULL, &n), 207000);
    CODE(aclmdlRIDestroyRegisterCallback(subs[0], free, NULL), 207000);
    CODE(aclmdlRIDestroyUnregisterCallback(subs[0], free), 207000);
    OK(aclmdlRICaptureEnd(inner, NULL));
    CODE(aclmdlRICaptureToModelRIBegin(inner, subs[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED), 107026);
    CODE(aclmdlRICaptureEnd(origin, NULL), 107000);
    CODE(aclmdlRICaptureEnd(origin, &other), 107045); /* one was never captured */
    CHECK(other == NULL && live().graphs == 0);
}

/* A dump has the tasks of the sub graphs too. */
static void dumps(void) {
    begin();
    aclmdlRI sub = NULL;
    uint32_t id = 0;
    char text[4096], wanted[128], path[64];
    handle = condition(root, 1, 0, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &sub);
    mark(sub, cells + 1);
    end();
    OK(aclmdlRIGetId(sub, &id));
    snprintf(path, sizeof path, "/tmp/mock-acl-conditions-%d.json", (int)getpid());
    OK(aclmdlRIDebugJsonPrint(root, path, 0));
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    CHECK(fclose(file) == 0 && remove(path) == 0);
    snprintf(wanted, sizeof wanted,
        "\"modelId\": %u, \"streamId\": 0, \"taskId\": 0, \"taskType\": \"KERNEL\"", id);
    CHECK(strstr(text, "aclmdlRIAddCondTask") != NULL && strstr(text, wanted) != NULL);
}

/* The cell belongs to the graph. */
static void freed_cell(void) {
    begin();
    const uint64_t before = live().device_allocations;
    handle = condition(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &value);
    CODE(aclrtFree(value), 107000);
    end();
    CHECK(live().device_allocations == before + 1);
    OK(aclmdlRIDestroy(root));
    CHECK(live().device_allocations == before);
}

/* The context goes while a sub graph is being captured. */
static void context_goes_away(void) {
    begin();
    aclmdlRI sub = NULL;
    handle = condition(root, 0, 0, &value);
    task(origin, handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &sub);
    sub_begin(inner, sub);
    add(inner, cells, 1, NULL, 0);
    OK(aclrtResetDevice(0));
    CHECK(live().graphs == 0);
    CODE(aclmdlRIDestroy(sub), 107017);
}

int main(void) {
    if_then_else();
    if_alone();
    written_by_the_graph();
    loop();
    switches();
    nested();
    nested_and_complete();
    chains_go_on();
    endless();
    aborted_from_another_thread();
    groups_and_failures();
    refused();
    dumps();
    freed_cell();
    context_goes_away();
    OK(mock_acl_reset());
    CHECK(live().device_allocations == 0);
    return 0;
}
