/* Part of racl (mock-acl). Models built by hand: started streams, switches, labels, tasks queued anew. */
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"

#define HEAD ACL_MODEL_STREAM_FLAG_HEAD
#define LATER ACL_MODEL_STREAM_FLAG_DEFAULT

static aclrtStream launch;
static aclmdlRI model;
static uint64_t *cells;

static aclError add_one(void *at) {
    uint64_t *view = mock_device_view(at, 8);
    if (view == NULL) return 507015;
    ++*view;
    return 0;
}

static const mock_task_ops one = {"aclnnAdd", add_one, NULL};

static void add(aclrtStream s, uint64_t *at) { OK(mock_submit_kernel(s, &one, at)); }

static uint64_t word(const uint64_t *p) {
    uint64_t v = 0;
    read_back(&v, p, 8);
    return v;
}

static void put(uint64_t *p, uint64_t v) { OK(aclrtMemcpy(p, 8, &v, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }

static aclrtStream bound(uint32_t flag) {
    aclrtStream s = NULL;
    OK(aclrtCreateStreamWithConfig(&s, 0, ACL_STREAM_PERSISTENT));
    OK(aclmdlRIBindStream(model, s, flag));
    return s;
}

static void begin(void) {
    up();
    launch = new_stream();
    cells = device(128);
    OK(aclrtMemset(cells, 128, 0, 128));
    OK(aclmdlRIBuildBegin(&model, 0));
}

static void finish(aclrtStream s) {
    OK(aclmdlRIEndTask(model, s));
    OK(aclmdlRIBuildEnd(model, NULL));
}

static void run(void) {
    OK(aclmdlRIExecuteAsync(model, launch));
    OK(aclrtSynchronizeStream(launch));
}

static void heads_start_and_others_wait(void) {
    begin();
    aclrtStream head = bound(HEAD), started = bound(LATER), idle = bound(LATER), second = bound(HEAD);
    add(head, cells);
    OK(aclrtActiveStream(started, head));
    add(head, cells);
    add(started, cells + 1);
    add(idle, cells + 2);
    add(second, cells + 3);
    finish(head);
    run();
    run();
    CHECK(word(cells) == 4 && word(cells + 1) == 2 && word(cells + 2) == 0 && word(cells + 3) == 2);
    OK(aclmdlRIExecute(model, -1));
    CHECK(word(cells) == 6 && word(cells + 1) == 3);
    OK(aclmdlRIDestroy(model));
}

/* The stream that switches stops, unless the condition is false. */
static void switches(void) {
    const int64_t values[][2] = {{1, 1}, {1, 2}, {2, 1}, {-1, 1}};
    const bool holds[][4] = {{true, false, false, false}, {false, true, true, true},
        {false, false, true, false}, {true, false, true, false}, {false, true, false, true},
        {true, true, false, true}};
    for (int condition = 0; condition < 6; condition++) {
        for (int wide = 0; wide < 2; wide++) {
            begin();
            aclrtStream head = bound(HEAD), target = bound(LATER);
            OK(aclrtSwitchStream(cells, (aclrtCondition)condition, cells + 1, (aclrtCompareDataType)wide,
                target, NULL, head));
            add(head, cells + 2);
            add(target, cells + 3);
            finish(head);
            for (int i = 0; i < 4; i++) {
                OK(aclrtMemset(cells + 2, 16, 0, 16));
                /* 32 bits are compared: what lies above does not count. */
                const uint64_t noise = wide ? 0 : UINT64_C(5) << 32;
                put(cells, wide ? (uint64_t)values[i][0] : noise | (uint32_t)values[i][0]);
                put(cells + 1, wide ? (uint64_t)values[i][1] : (uint32_t)values[i][1]);
                run();
                CHECK(word(cells + 2) == !holds[condition][i] && word(cells + 3) == holds[condition][i]);
            }
        }
    }
}

static aclError count_down(void *at) {
    int64_t *view = mock_device_view(at, 8);
    if (view == NULL) return 507015;
    --*view;
    return 0;
}

static const mock_task_ops down = {"aclnnAdd", count_down, NULL};

/* head starts `test`; while *counter > 0 `test` gives way to `body`, which starts `test` again. */
static void loop_of_streams(void) {
    begin();
    aclrtStream head = bound(HEAD), test = bound(LATER), body = bound(LATER);
    OK(aclrtActiveStream(test, head));
    OK(aclrtSwitchStream(cells, ACL_RT_GREATER, cells + 1, ACL_RT_SWITCH_INT64, body, NULL, test));
    add(test, cells + 3);
    OK(mock_submit_kernel(body, &down, cells));
    add(body, cells + 2);
    OK(aclrtActiveStream(test, body));
    finish(head);
    put(cells, 500);
    run();
    CHECK(word(cells) == 0 && word(cells + 2) == 500 && word(cells + 3) == 1);
    run();
    CHECK(word(cells + 2) == 500 && word(cells + 3) == 2);
}

static uint32_t *index_cell(void) { return (uint32_t *)(void *)(cells + 8); }

static void put_index(uint32_t v) { OK(aclrtMemcpy(index_cell(), 4, &v, 4, ACL_MEMCPY_HOST_TO_DEVICE)); }

/* Two labels on the stream itself, one on another; the list is made before they have places. */
static void labels(void) {
    begin();
    aclrtStream head = bound(HEAD), other = bound(LATER);
    aclrtLabel label[3];
    aclrtLabelList list = NULL;
    for (int i = 0; i < 3; i++) OK(aclrtCreateLabel(&label[i]));
    OK(aclrtCreateLabelList(label, 3, &list));
    OK(aclrtSwitchLabelByIndex(index_cell(), 3, list, head));
    add(head, cells); /* never runs */
    OK(aclrtSetLabel(label[0], head));
    add(head, cells + 1);
    OK(aclrtSetLabel(label[1], head));
    add(head, cells + 2);
    add(other, cells + 3); /* before its label: not run */
    OK(aclrtSetLabel(label[2], other));
    add(other, cells + 4);
    CODE(aclrtSetLabel(label[2], other), 107000);
    finish(head);
    const uint32_t indices[] = {0, 1, 2, 7};
    const uint64_t expected[][5] = {{0, 1, 1, 0, 0}, {0, 1, 2, 0, 0}, {0, 1, 2, 0, 1}, {0, 1, 2, 0, 2}};
    for (int i = 0; i < 4; i++) {
        put_index(indices[i]);
        run();
        for (int c = 0; c < 5; c++) CHECK(word(cells + c) == expected[i][c]);
    }
    /* Handles that go do not take the places away. */
    CHECK(live().library_objects == 4); /* three labels and their list */
    for (int i = 0; i < 3; i++) OK(aclrtDestroyLabel(label[i]));
    CHECK(live().library_objects == 1);
    OK(aclrtDestroyLabelList(list));
    CHECK(live().library_objects == 0);
    run();
    CHECK(word(cells + 4) == 3);
    CODE(aclrtDestroyLabel(label[0]), 107017);
    CODE(aclrtDestroyLabelList(list), 107017);
    OK(aclmdlRIDestroy(model));
}

/* A jump back: cut off when it does not end, and a label that was never set. */
static void bad_jumps(void) {
    begin();
    aclrtStream head = bound(HEAD);
    aclrtLabel back = NULL;
    aclrtLabelList list = NULL;
    OK(aclrtCreateLabel(&back));
    OK(aclrtCreateLabelList(&back, 1, &list));
    OK(aclrtSetLabel(back, head));
    add(head, cells);
    OK(aclrtSwitchLabelByIndex(index_cell(), 1, list, head));
    finish(head);
    OK(aclmdlRIExecuteAsync(model, launch));
    CODE(aclrtSynchronizeStreamWithTimeout(launch, 1), 507046);
    CODE(aclrtSynchronizeStream(launch), 507011);
    CHECK(word(cells) == 1000000);
    begin();
    head = bound(HEAD);
    OK(aclrtCreateLabel(&back));
    OK(aclrtCreateLabelList(&back, 1, &list));
    OK(aclrtSwitchLabelByIndex(index_cell(), 1, list, head));
    add(head, cells);
    finish(head);
    OK(aclmdlRIExecuteAsync(model, launch));
    CODE(aclrtSynchronizeStream(launch), 507011);
    CHECK(word(cells) == 0);
}

static void refused(void) {
    begin();
    aclrtStream head = bound(HEAD), plain = new_stream(), foreign = NULL;
    aclmdlRI mine = model;
    OK(aclmdlRIBuildBegin(&model, 0));
    foreign = bound(HEAD);
    model = mine;
    CODE(aclrtActiveStream(plain, head), 107005);
    CODE(aclrtActiveStream(head, plain), 107005);
    CODE(aclrtActiveStream(foreign, head), 107000);
    CODE(aclrtSwitchStream(cells, ACL_RT_EQUAL, cells, ACL_RT_SWITCH_INT64, plain, NULL, head), 107005);
    CODE(aclrtSwitchStream(cells, ACL_RT_EQUAL, cells, ACL_RT_SWITCH_INT64, head, head, head), 100000);
    CODE(aclrtSwitchStream(NULL, ACL_RT_EQUAL, cells, ACL_RT_SWITCH_INT64, head, NULL, head), 100000);
    CODE(aclrtSwitchStream(cells, (aclrtCondition)6, cells, ACL_RT_SWITCH_INT64, head, NULL, head), 107000);
    CODE(aclrtSwitchStream(cells, ACL_RT_EQUAL, cells, (aclrtCompareDataType)2, head, NULL, head), 107000);
    aclrtLabel label = NULL, bad = (aclrtLabel)(uintptr_t)8;
    aclrtLabelList list = NULL;
    OK(aclrtCreateLabel(&label));
    CODE(aclrtSetLabel(label, plain), 107005);
    CODE(aclrtSetLabel(bad, head), 107017);
    CODE(aclrtCreateLabelList(&label, 0, &list), 107000);
    CODE(aclrtCreateLabelList(&label, 65536, &list), 107000);
    CODE(aclrtCreateLabelList(&bad, 1, &list), 107017);
    OK(aclrtCreateLabelList(&label, 1, &list));
    CODE(aclrtSwitchLabelByIndex(cells, 0, list, head), 107000);
    CODE(aclrtSwitchLabelByIndex(cells, 2, list, head), 107000);
    CODE(aclrtSwitchLabelByIndex(cells, 1, list, plain), 107005);
    CODE(aclrtSwitchLabelByIndex(cells, 1, label, head), 107017);
    CODE(aclrtStreamStop(head), 207000);
    CODE(aclrtStreamAbort(head), 207000);
    CODE(aclrtPersistentTaskClean(NULL), 107000);
    CODE(aclrtPersistentTaskClean(plain), 507000);
    CODE(aclrtPersistentTaskClean(head), 507000); /* not complete */
    aclrtStream unusual = NULL;
    OK(aclrtCreateStreamWithConfig(&unusual, 0, ACL_STREAM_PERSISTENT | ACL_STREAM_DEVICE_USE_ONLY));
    CODE(aclmdlRIBindStream(model, unusual, HEAD), 507000);
}

static void too_many_labels(void) {
    up();
    aclrtLabel last = NULL;
    for (int i = 0; i < 65535; i++) OK(aclrtCreateLabel(&last));
    aclrtLabel more = NULL;
    CODE(aclrtCreateLabel(&more), 507000);
    OK(aclrtDestroyLabel(last));
    OK(aclrtCreateLabel(&more));
}

static void cleaned_and_filled_again(void) {
    begin();
    aclrtStream head = bound(HEAD), other = bound(HEAD);
    add(head, cells);
    add(other, cells + 1);
    add(head, cells);
    finish(head);
    run();
    CHECK(word(cells) == 2 && word(cells + 1) == 1);
    CODE(mock_submit_kernel(head, &one, cells), 107005); /* complete */
    OK(aclrtPersistentTaskClean(head));
    run(); /* nothing there */
    CHECK(word(cells) == 2 && word(cells + 1) == 2);
    add(head, cells + 2);
    add(head, cells + 2);
    CODE(mock_submit_kernel(other, &one, cells), 107005);
    run();
    CHECK(word(cells) == 2 && word(cells + 1) == 3 && word(cells + 2) == 2);
    OK(mock_acl_hold_stream(launch));
    OK(aclmdlRIExecuteAsync(model, launch));
    CODE(aclrtPersistentTaskClean(head), 107037);
    CODE(mock_submit_kernel(head, &one, cells), 107037);
    OK(mock_acl_release_stream(launch));
    OK(aclmdlRIDestroy(model));
}

/* An abort ends the replay that waits, or the one that comes. */
static void model_abort(void) {
    begin();
    aclrtStream head = bound(HEAD);
    aclrtNotify n = NULL;
    OK(aclrtCreateNotify(&n, 0));
    add(head, cells);
    OK(aclrtWaitAndResetNotify(n, head, 0));
    add(head, cells + 1);
    finish(head);
    OK(aclmdlRIAbort(model)); /* nothing runs */
    OK(aclmdlRIExecuteAsync(model, launch));
    CODE(aclrtSynchronizeStreamWithTimeout(launch, 1), 507046);
    CHECK(word(cells) == 1 && word(cells + 1) == 0);
    OK(aclmdlRIAbort(model));
    CODE(aclrtSynchronizeStream(launch), 507023);
    CHECK(word(cells + 1) == 0);
    CODE(aclmdlRIExecute(model, 5), 507046); /* which aborts it too */
    OK(aclrtRecordNotify(n, launch));
    run();
    CHECK(word(cells) == 3 && word(cells + 1) == 1);
    OK(aclmdlRIDestroy(model));
}

int main(void) {
    heads_start_and_others_wait();
    switches();
    loop_of_streams();
    labels();
    bad_jumps();
    refused();
    too_many_labels();
    cleaned_and_filled_again();
    model_abort();
    OK(mock_acl_reset());
    return 0;
}
