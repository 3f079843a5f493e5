/* Part of racl (mock-acl). What calls cost; prints, checks nothing. */
#include <time.h>
#include "check.h"
#include "engine/engine.h"
#include "streams/streams.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static aclError nothing(void *arg) {
    (void)arg;
    return 0;
}
static const mock_task_ops empty = {"aclnnAdd", nothing, NULL};

static void eager(aclrtStream s) {
    enum { N = 2000000 };
    double start = now();
    for (int i = 0; i < N; i++) OK(mock_submit_kernel(s, &empty, NULL));
    OK(aclrtSynchronizeStream(s));
    printf("empty task, queued and run   %8.1f ns\n", (now() - start) / N);
    double queued = 0;
    for (int r = 0; r < 1000; r++) {
        start = now();
        for (int i = 0; i < 2000; i++) OK(mock_submit_kernel(s, &empty, NULL));
        queued += now() - start;
        OK(aclrtSynchronizeStream(s));
    }
    printf("empty task, queued only      %8.1f ns\n", queued / 2e6);
    start = now();
    for (int i = 0; i < N; i++) {
        OK(mock_submit_kernel(s, &empty, NULL));
        OK(aclrtSynchronizeStream(s));
    }
    printf("queue one and wait           %8.1f ns\n", (now() - start) / N);
}

static void events(aclrtStream s, aclrtStream t) {
    enum { N = 500000 };
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    const double start = now();
    for (int i = 0; i < N; i++) {
        OK(aclrtRecordEvent(e, s));
        OK(aclrtStreamWaitEvent(t, e));
    }
    OK(aclrtSynchronizeDevice());
    printf("record and wait              %8.1f ns\n", (now() - start) / N);
}

static void replay(aclrtStream s, aclrtStream t, int nodes) {
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < nodes; i++) OK(mock_submit_kernel(s, &empty, NULL));
    OK(aclmdlRICaptureEnd(s, &graph));
    double launching = 0, running = 0;
    const int rounds = 20000000 / (nodes + 1000) + 1, batch = rounds < 1000 ? rounds : 1000;
    int launched = 0;
    for (; launched < rounds; launched += batch) {
        const double start = now();
        for (int i = 0; i < batch; i++) OK(aclmdlRIExecuteAsync(graph, t));
        const double middle = now();
        OK(aclrtSynchronizeStream(t));
        launching += middle - start;
        running += now() - middle;
    }
    printf("graph of %7d: launch %6.1f ns, replay %6.2f ns a node\n", nodes, launching / launched,
        running / launched / nodes);
    OK(aclmdlRIDestroy(graph));
}

static void allocation(void) {
    enum { N = 1000000 };
    const double start = now();
    for (int i = 0; i < N; i++) OK(aclrtFree(device(1024)));
    printf("allocate and free 1 KiB      %8.1f ns\n", (now() - start) / N);
}

int main(void) {
    up();
    mock_acl_stand_still(workers() == 0 && getenv("STILL") != NULL);
    aclrtStream s = new_stream(), t = new_stream();
    eager(s);
    events(s, t);
    replay(s, t, 10);
    replay(s, t, 1000);
    replay(s, t, 100000);
    allocation();
    return 0;
}
