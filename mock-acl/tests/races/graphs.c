/* Accesses inside of replays: the edges of a graph, what is around a launch, and how often a graph runs. */
#include "races/racy.h"

typedef struct fork {
    aclrtStream main, side;
    aclrtEvent out, back;
    char *p, *q;
    aclmdlRI graph;
} fork;

static fork new_fork(void) {
    start();
    return (fork){new_stream(), new_stream(), new_event(ACL_EVENT_SYNC), new_event(ACL_EVENT_SYNC), device(BYTES),
        device(BYTES), NULL};
}

static void begin(fork *f) { OK(aclmdlRICaptureBegin(f->main, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL)); }
static void end(fork *f) { OK(aclmdlRICaptureEnd(f->main, &f->graph)); }

static void go_out(fork *f) {
    OK(aclrtRecordEvent(f->out, f->main));
    OK(aclrtStreamWaitEvent(f->side, f->out));
}

static void come_back(fork *f) {
    OK(aclrtRecordEvent(f->back, f->side));
    OK(aclrtStreamWaitEvent(f->main, f->back));
}

/* In racy ones the side stream and the first one write the same bytes. */
static void capture(fork *f, int racy) {
    begin(f);
    fill(f->p, BYTES, f->main);
    go_out(f);
    copy(f->q, f->p, BYTES, f->side);
    if (racy) fill(f->q + 100, 16, f->main);
    fill(f->q + 8, 8, f->side);
    come_back(f);
    copy(f->p, f->q, BYTES, f->main);
    end(f);
}

static void edges_order(void) {
    fork f = new_fork();
    begin(&f);
    fill(f.p, BYTES, f.main);
    go_out(&f);
    copy(f.q, f.p, BYTES, f.side);
    come_back(&f);
    fill(f.p, BYTES, f.main);
    end(&f);
    fill(f.q, BYTES, f.main); /* before and behind every node */
    for (int i = 0; i < 3; i++) OK(aclmdlRIExecuteAsync(f.graph, f.main));
    fill(f.q, BYTES, f.main);
    wait_for(f.main);
    OK(aclrtMemset(f.q, BYTES, 0, BYTES));
    races(0);
}

/* Of each pair of nodes once, however often the graph runs; the other stream of the launch is ordered as well. */
static void a_missing_edge(void) {
    fork f = new_fork();
    capture(&f, 1);
    for (int i = 0; i < 4; i++) {
        OK(aclmdlRIExecuteAsync(f.graph, f.main));
        wait_for(f.main);
    }
    races(1);
    const mock_acl_race r = race_at(0);
    uint32_t id = 0;
    int32_t stream = 0;
    OK(aclmdlRIGetId(f.graph, &id));
    OK(aclrtStreamGetId(f.main, &stream));
    CHECK(r.first_graph == id && r.second_graph == id && r.times == 4);
    CHECK(r.first_task == 4 && r.second_task == 5); /* as captured: fill, record, wait, copy, fill */
    CHECK(r.first_stream == stream && r.second_stream == stream);
    CHECK(r.address == f.q + 100 && r.bytes == 16);
    CHECK(has(0, "task 5 of graph"));
}

static void count(void *n) { ++*(int *)n; }

/* The same where a node can block. */
static void a_graph_that_blocks(void) {
    fork f = new_fork();
    int ran = 0;
    begin(&f);
    fill(f.p, BYTES, f.main);
    go_out(&f);
    copy(f.q, f.p, BYTES, f.side);
    OK(aclrtLaunchHostFunc(f.side, count, &ran));
    come_back(&f);
    fill(f.p, BYTES, f.main);
    fill(f.q, BYTES, f.main);
    end(&f);
    for (int i = 0; i < 2; i++) OK(aclmdlRIExecuteAsync(f.graph, f.main));
    races(0);
    CHECK(ran == 2);
    begin(&f);
    go_out(&f);
    OK(aclrtLaunchHostFunc(f.side, count, &ran));
    fill(f.q, BYTES, f.side);
    fill(f.p, BYTES, f.side);
    fill(f.p, BYTES, f.main);
    come_back(&f);
    end(&f);
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    races(1);
}

/* Launches on two streams: nothing orders the replays, though the mock runs them one after the other. */
static void two_launches(void) {
    fork f = new_fork();
    capture(&f, 0);
    races(0);
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclrtRecordEvent(f.out, f.main));
    OK(aclrtStreamWaitEvent(f.side, f.out));
    OK(aclmdlRIExecuteAsync(f.graph, f.side));
    races(0);
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclmdlRIExecuteAsync(f.graph, f.side));
    mock_acl_run_until_idle();
    CHECK(mock_acl_race_count() > 0);
}

/* The launch waits for other streams as any task does; the graph's end is waited for like one. */
static void beside_a_launch(void) {
    fork f = new_fork();
    capture(&f, 0);
    fill(f.p, BYTES, f.side);
    OK(aclmdlRIExecuteAsync(f.graph, f.main)); /* no wait for the side stream */
    races(1);
    CHECK(has(0, "of graph"));
    fill(f.p, BYTES, f.side);
    OK(aclrtRecordEvent(f.out, f.side));
    OK(aclrtStreamWaitEvent(f.main, f.out));
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclrtRecordEvent(f.back, f.main));
    OK(aclrtStreamWaitEvent(f.side, f.back));
    fill(f.q, BYTES, f.side);
    OK(aclrtSynchronizeEvent(f.back));
    races(1);
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclmdlRIDestroy(f.graph)); /* waits */
    OK(aclrtFree(f.p));
    OK(aclrtFree(f.q));
    races(1);
}

/* A call of the host after the launch, and before the node runs. */
static void the_host_beside_a_launch(void) {
    fork f = new_fork();
    begin(&f);
    fill(f.p, BYTES, f.main);
    end(&f);
    mock_acl_hold_stream(f.main);
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclrtMemset(f.p, BYTES, 0, 8));
    mock_acl_release_stream(f.main);
    races(1);
    CHECK(race_at(0).bytes == 8 && has(0, "aclrtMemset of the host"));
    CHECK(has(0, "launch graph") && has(0, "behind the call of the host"));
}

/* Records and waits across the edge of the graph. */
static void across_the_edge(void) {
    fork f = new_fork();
    aclrtEvent in = new_event(ACL_EVENT_SYNC), on = new_event(ACL_EVENT_SYNC);
    begin(&f);
    OK(aclrtStreamWaitEventWithFlag(f.main, in, 0, ACL_EVENT_WAIT_EXTERNAL));
    fill(f.p, BYTES, f.main);
    OK(aclrtRecordEventWithFlag(on, f.main, ACL_EVENT_RECORD_EXTERNAL));
    fill(f.q, BYTES, f.main);
    end(&f);
    fill(f.p, BYTES, f.side);
    OK(aclrtRecordEvent(in, f.side));
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclrtStreamWaitEvent(f.side, on));
    fill(f.p, BYTES, f.side);
    races(0);
    OK(aclrtRecordEvent(in, f.side));
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    OK(aclrtStreamWaitEvent(f.side, on));
    fill(f.q, BYTES, f.side); /* behind the record comes a fill of it */
    races(1);
}

typedef struct meanwhile {
    aclrtStream behind;
    void *p;
    int ran;
} meanwhile;

/* The checks end and begin, and what comes next is queued. */
static void off_and_on(void *what) {
    meanwhile *m = what;
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_OFF) == MOCK_ACL_RACES_REPORT);
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_REPORT) == MOCK_ACL_RACES_OFF);
    fill(m->p, BYTES, m->behind);
    m->ran++;
}

/* A replay during which the checks begin again: nobody looked at the record behind it when it was queued, so none of
 * its nodes counts, on the first stream or on another. */
static void begun_during_a_replay(int on_the_side) {
    fork f = new_fork();
    meanwhile m = {new_stream(), f.p, 0};
    begin(&f);
    OK(aclrtLaunchHostFunc(f.main, off_and_on, &m));
    go_out(&f);
    fill(f.p, BYTES, on_the_side ? f.side : f.main);
    come_back(&f);
    end(&f);
    OK(aclmdlRIExecuteAsync(f.graph, f.main));
    aclrtEvent behind = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(behind, f.main));
    OK(aclrtStreamWaitEvent(m.behind, behind));
    races(0);
    CHECK(m.ran == 1);
    /* The next one counts. */
    OK(aclrtLaunchHostFunc(f.main, count, &m.ran));
    fill(f.p, BYTES, f.main);
    fill(f.p, BYTES, m.behind);
    races(1);
}

int main(void) {
    begun_during_a_replay(0);
    begun_during_a_replay(1);
    edges_order();
    a_missing_edge();
    a_graph_that_blocks();
    two_launches();
    beside_a_launch();
    the_host_beside_a_launch();
    across_the_edge();
    return 0;
}
