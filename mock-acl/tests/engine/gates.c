/* Part of racl (mock-acl). Graphs that wait in the middle of a replay, and whose kernels are replaced meanwhile. */
#include <pthread.h>
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"

#define ROUNDS 100

/* ---- a kernel that stores one number ---- */

typedef struct store {
    uint64_t *at, value;
} store;

static aclError run_store(void *arg) {
    const store *k = arg;
    uint64_t *view = mock_device_view(k->at, 8);
    if (view == NULL) return 507015;
    *view = k->value;
    return 0;
}

static const mock_task_ops store_ops = {"aclnnAdd", run_store, free};

static aclError launch(aclrtStream s, uint64_t *at, uint64_t value) {
    store *k = malloc(sizeof *k);
    CHECK(k != NULL);
    *k = (store){at, value};
    return mock_submit_kernel(s, &store_ops, k);
}

static uint64_t word(const uint64_t *p) {
    uint64_t v = 0;
    read_back(&v, p, 8);
    return v;
}

static uint64_t *zeroed(size_t words) {
    uint64_t *p = device(words * 8);
    OK(aclrtMemset(p, words * 8, 0, words * 8));
    return p;
}

/* ---- gates: a value in memory, or an external event ---- */

typedef struct gate {
    uint64_t *flag; /* NULL: the event */
    aclrtEvent event;
} gate;

static void capture_gate(const gate *g, aclrtStream s) {
    if (g->flag != NULL) {
        OK(aclrtValueWait(g->flag, 1, ACL_STREAM_WAIT_VALUE_EQ, s));
        OK(aclrtValueWrite(g->flag, 0, 0, s));
    } else {
        OK(aclrtStreamWaitEvent(s, g->event));
        OK(aclrtResetEvent(g->event, s));
    }
}

static void open_gate(const gate *g, aclrtStream s) {
    if (g->flag != NULL) OK(aclrtValueWrite(g->flag, 1, 0, s));
    else OK(aclrtRecordEvent(g->event, s));
}

static gate new_gate(int kind) {
    gate g = {0};
    if (kind == 0) g.flag = zeroed(1);
    else OK(aclrtCreateEventWithFlag(&g.event, ACL_EVENT_EXTERNAL));
    return g;
}

/* Two sections of two kernels on each of three streams, every section behind a gate of its own. */
#define CHAINS 3
#define SECTIONS 6

typedef struct section {
    gate gate;
    aclrtTaskGrp group;
    uint64_t *out;
} section;

typedef struct model {
    aclrtStream main, update, side[CHAINS - 1];
    section at[SECTIONS];
    aclmdlRI graph;
} model;

static void capture_section(section *c, aclrtStream s, int kind) {
    c->gate = new_gate(kind);
    c->out = zeroed(2);
    capture_gate(&c->gate, s);
    OK(aclmdlRICaptureTaskGrpBegin(s));
    OK(launch(s, c->out, 7));
    OK(launch(s, c->out + 1, 8));
    OK(aclmdlRICaptureTaskGrpEnd(s, &c->group));
}

/* `kind` 0: values, 1: events, 2: in turn. */
static void capture(model *m, int kind) {
    aclrtEvent fork_event = new_event(ACL_EVENT_SYNC), join[CHAINS - 1];
    m->main = new_stream();
    m->update = new_stream();
    OK(aclmdlRICaptureBegin(m->main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtRecordEvent(fork_event, m->main));
    for (int i = 0; i < CHAINS - 1; i++) {
        m->side[i] = new_stream();
        join[i] = new_event(ACL_EVENT_SYNC);
        OK(aclrtStreamWaitEvent(m->side[i], fork_event));
    }
    for (int i = 0; i < SECTIONS; i++)
        capture_section(
            &m->at[i], i % CHAINS == 0 ? m->main : m->side[i % CHAINS - 1], kind == 2 ? i % 2 : kind);
    for (int i = 0; i < CHAINS - 1; i++) {
        OK(aclrtRecordEvent(join[i], m->side[i]));
        OK(aclrtStreamWaitEvent(m->main, join[i]));
    }
    OK(aclmdlRICaptureEnd(m->main, &m->graph));
}

static void update_section(const section *c, aclrtStream s, uint64_t value) {
    OK(aclmdlRICaptureTaskUpdateBegin(s, c->group));
    OK(launch(s, c->out, value));
    OK(launch(s, c->out + 1, value + 1));
    OK(aclmdlRICaptureTaskUpdateEnd(s));
}

static void check_section(const section *c, uint64_t value) {
    CHECK(word(c->out) == value && word(c->out + 1) == value + 1);
}

/* The launch comes first; each section is then updated, or not, and its gate opened. Sections of one chain stand
 * behind one another, so any order of opening has to do. */
static void updated_while_it_waits(int kind) {
    up();
    model m;
    capture(&m, kind);
    uint64_t expected[SECTIONS];
    for (int i = 0; i < SECTIONS; i++) expected[i] = 7;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        OK(aclmdlRIExecuteAsync(m.graph, m.main));
        if (round % 3 == 0) CODE(aclrtSynchronizeStreamWithTimeout(m.main, 1), 507046); /* it waits already */
        for (int k = 0; k < SECTIONS; k++) {
            const int i = round % 2 == 0 ? k : SECTIONS - 1 - k;
            if ((round + (uint64_t)i) % 4 != 0) {
                expected[i] = round * 100 + (uint64_t)i * 10;
                update_section(&m.at[i], m.update, expected[i]);
            }
            open_gate(&m.at[i].gate, m.update);
        }
        OK(aclrtSynchronizeStream(m.main));
        for (int i = 0; i < SECTIONS; i++) check_section(&m.at[i], expected[i]);
    }
    OK(aclrtSynchronizeStream(m.update));
    OK(aclmdlRIDestroy(m.graph));
}

/* What stands in front of the gate runs at once, what stands behind keeps its kernels until the gate opens. */
static void nothing_passes_early(int kind) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    const gate g = new_gate(kind);
    uint64_t *d = zeroed(2);
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(launch(s, d, 1));
    capture_gate(&g, s);
    OK(launch(s, d + 1, 1));
    OK(aclmdlRICaptureEnd(s, &graph));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclmdlRIExecuteAsync(graph, s));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046);
    CHECK(word(d) == 1 && word(d + 1) == 0);
    CODE(aclmdlRIDestroy(graph), 107037);
    open_gate(&g, other);
    OK(aclrtSynchronizeStream(other));
    CODE(aclrtSynchronizeStreamWithTimeout(s, 10), 507046); /* one signal, one replay */
    CHECK(word(d + 1) == 1);
    open_gate(&g, other);
    OK(aclrtSynchronizeStream(s));
    open_gate(&g, other); /* ahead of the launch: it is kept */
    OK(aclrtSynchronizeStream(other));
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(s));
    OK(aclmdlRIDestroy(graph));
}

/* ---- two threads ---- */

static model shared;

static void *opens(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < SECTIONS; i++) {
            update_section(&shared.at[i], shared.update, round * 100);
            open_gate(&shared.at[i].gate, shared.update);
        }
        OK(aclrtSynchronizeStream(shared.update));
        /* One round at a time: a gate that is open must not be opened again. */
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        while (status != ACL_STREAM_STATUS_COMPLETE) OK(aclrtStreamQuery(shared.main, &status));
        for (int i = 0; i < SECTIONS; i++) check_section(&shared.at[i], round * 100);
        if (round < ROUNDS) OK(aclmdlRIExecuteAsync(shared.graph, shared.main));
    }
    return NULL;
}

/* One thread sleeps in a wait for the replay, another updates and signals without waiting for it. */
static void from_another_thread(void) {
    up();
    pthread_t thread;
    capture(&shared, 2);
    OK(aclmdlRIExecuteAsync(shared.graph, shared.main));
    CHECK(pthread_create(&thread, NULL, opens, NULL) == 0);
    OK(aclrtSynchronizeStream(shared.main));
    CHECK(pthread_join(thread, NULL) == 0);
    OK(aclrtSynchronizeDevice());
    OK(aclmdlRIDestroy(shared.graph));
}

/* ---- external events ---- */

/* No state for the host, and no fork: a wait for one stays on its stream. */
static void external_event_is_no_fork(void) {
    up();
    aclrtStream s = new_stream(), other = new_stream();
    aclrtEvent e = NULL;
    OK(aclrtCreateEventWithFlag(&e, ACL_EVENT_EXTERNAL));
    aclmdlRI graph = NULL;
    aclmdlRICaptureStatus status;
    uint64_t *d = zeroed(1);
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclrtRecordEvent(e, s));
    OK(aclrtStreamWaitEvent(other, e));
    OK(aclmdlRICaptureGetInfo(other, &status, NULL));
    CHECK(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    OK(aclrtResetEvent(e, other));
    OK(launch(other, d, 5)); /* eager, behind the gate that the graph opens */
    OK(aclmdlRICaptureEnd(s, &graph));
    CODE(aclrtSynchronizeStreamWithTimeout(other, 10), 507046);
    CHECK(word(d) == 0);
    OK(aclmdlRIExecuteAsync(graph, s));
    OK(aclrtSynchronizeStream(other));
    CHECK(word(d) == 5);
    aclrtEventRecordedStatus recorded;
    aclrtEventWaitStatus waited;
    aclrtEventStatus old;
    float ms = 0;
    uint64_t us = 0;
    CODE(aclrtQueryEventStatus(e, &recorded), 207000);
    CODE(aclrtQueryEventWaitStatus(e, &waited), 207000);
    CODE(aclrtQueryEvent(e, &old), 207000);
    CODE(aclrtSynchronizeEvent(e), 207000);
    CODE(aclrtSynchronizeEventWithTimeout(e, 1), 207000);
    CODE(aclrtEventElapsedTime(&ms, e, e), 207000);
    CODE(aclrtEventGetTimestamp(e, &us), 207000);
    OK(aclmdlRIDestroy(graph));
}

int main(void) {
    for (int kind = 0; kind < 3; kind++) updated_while_it_waits(kind);
    for (int kind = 0; kind < 2; kind++) nothing_passes_early(kind);
    from_another_thread();
    external_event_is_no_fork();
    return 0;
}
