/* Part of racl (mock-acl). Random sequences of calls, right and wrong ones, from one and from several
 * threads: nothing crashes, hangs or leaks. The seed is the first argument. */
#include <pthread.h>
#include "check.h"
#include "engine/engine.h"
#include "streams/streams.h"

enum { STREAMS = 5, EVENTS = 5, GRAPHS = 3, STEPS = 4000, THREADS = 3 };

static unsigned char *memory;

typedef struct state {
    uint64_t random;
    aclrtStream stream[STREAMS];
    aclrtEvent event[EVENTS];
    aclmdlRI graph[GRAPHS];
    aclrtTaskGrp group;
} state;

static unsigned roll(state *s, unsigned sides) {
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(s->random >> 33) % sides;
}

static void nothing(void *unused) { (void)unused; }

static aclError add_one(void *unused) {
    (void)unused;
    return 0;
}
static _Atomic int64_t arguments;
static void note_drop(void *arg) {
    free(arg);
    arguments--;
}
static const mock_task_ops one = {"aclnnAdd", add_one, note_drop};

static void kernel(aclrtStream stream) {
    arguments++;
    mock_submit_kernel(stream, &one, malloc(16));
}

static void contexts(state *s) {
    aclrtContext context = NULL;
    aclrtStream stream = NULL;
    if (aclrtCreateContext(&context, 0) != 0) return;
    aclrtCreateStream(&stream);
    kernel(stream);
    aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
    kernel(stream);
    aclrtStreamWaitEvent(stream, s->event[0]);
    aclrtDestroyContext(context);
    aclrtSetDevice(0);
}

static void objects(state *s, aclrtStream *stream, aclrtEvent *event) {
    switch (roll(s, 8)) {
    case 6:
        if (roll(s, 40) == 0) aclrtResetDeviceForce(0);
        aclrtSetDevice(0);
        break;
    case 7:
        contexts(s);
        break;
    case 0:
        aclrtDestroyStream(*stream);
        aclrtCreateStream(stream);
        break;
    case 1:
        aclrtDestroyStreamForce(*stream);
        aclrtCreateStreamWithConfig(stream, roll(s, 9), roll(s, 64));
        break;
    case 2:
        aclrtDestroyEvent(*event);
        aclrtCreateEventExWithFlag(event, 1 + roll(s, 15));
        break;
    case 3:
        aclrtFree(memory + 1);
        break;
    case 4:
        aclrtStreamAbort(*stream);
        break;
    default:
        mock_acl_hold_stream(*stream);
    }
}

static void work(state *s, aclrtStream stream, aclrtEvent event) {
    switch (roll(s, 9)) {
    case 0:
        aclrtMemsetAsync(memory, 80, 1, 65 + roll(s, 10), stream); /* fails on the device */
        break;
    case 1:
    case 2:
        kernel(stream);
        break;
    case 3:
        aclrtRecordEvent(event, stream);
        break;
    case 4:
        aclrtStreamWaitEvent(stream, event);
        break;
    case 5:
        aclrtLaunchHostFunc(stream, nothing, NULL);
        break;
    case 6:
        aclrtCmoAsync(memory, 64, (aclrtCmoType)roll(s, 5), stream);
        break;
    case 7:
        aclrtMemcpyAsync(memory, 32, memory + 64, roll(s, 40), ACL_MEMCPY_DEFAULT, stream);
        break;
    default:
        aclrtValueWrite(memory, roll(s, 5), 0, stream);
    }
}

static void graphs(state *s, aclrtStream stream) {
    aclmdlRI *graph = &s->graph[roll(s, GRAPHS)];
    aclmdlRICaptureStatus status;
    aclmdlRI live_graph = NULL;
    switch (roll(s, 9)) {
    case 0:
        aclmdlRICaptureBegin(stream, (aclmdlRICaptureMode)roll(s, 4));
        break;
    case 1:
        if (*graph == NULL) aclmdlRICaptureEnd(stream, graph);
        break;
    case 2:
    case 3:
        aclmdlRIExecuteAsync(*graph, stream);
        break;
    case 4:
        if (aclmdlRIDestroy(*graph) == 0) *graph = NULL;
        break;
    case 5:
        aclmdlRICaptureTaskGrpBegin(stream);
        kernel(stream);
        break;
    case 6:
        aclmdlRICaptureTaskGrpEnd(stream, &s->group);
        break;
    case 7:
        aclmdlRICaptureTaskUpdateBegin(stream, s->group);
        kernel(stream);
        aclmdlRICaptureTaskUpdateEnd(stream);
        break;
    default:
        aclmdlRICaptureGetInfo(stream, &status, &live_graph);
    }
}

static void wait_for(state *s, aclrtStream stream, aclrtEvent event) {
    aclrtStreamStatus status;
    aclrtEventRecordedStatus recorded;
    switch (roll(s, 8)) {
    case 0:
        aclrtSynchronizeStreamWithTimeout(stream, 1);
        break;
    case 1:
        aclrtSynchronizeEventWithTimeout(event, 1);
        break;
    case 2:
        aclrtSynchronizeDeviceWithTimeout(1);
        break;
    case 3:
        aclrtStreamQuery(stream, &status);
        break;
    case 4:
        aclrtQueryEventStatus(event, &recorded);
        break;
    case 5:
        mock_acl_run_until_idle();
        break;
    default:
        mock_acl_release_stream_id(-1);
    }
}

static void run(state *s, int steps) {
    for (int i = 0; i < steps; i++) {
        aclrtStream *stream = &s->stream[roll(s, STREAMS)];
        aclrtEvent *event = &s->event[roll(s, EVENTS)];
        switch (roll(s, 10)) {
        case 0:
            objects(s, stream, event);
            break;
        case 1:
        case 2:
            graphs(s, *stream);
            break;
        case 3:
            wait_for(s, *stream, *event);
            break;
        default:
            work(s, *stream, *event);
        }
        aclGetRecentErrMsg();
    }
}

static void *thread_main(void *seed) {
    state s = {.random = (uint64_t)(uintptr_t)seed};
    OK(aclrtSetDevice(0));
    for (int i = 0; i < STREAMS; i++) aclrtCreateStream(&s.stream[i]);
    for (int i = 0; i < EVENTS; i++) aclrtCreateEventExWithFlag(&s.event[i], ACL_EVENT_SYNC);
    run(&s, STEPS);
    return NULL;
}

int main(int argc, char **argv) {
    const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (uint64_t round = 0; round < 20; round++) {
        up();
        memory = device(64);
        if (round % 2 == 0) {
            thread_main((void *)(uintptr_t)(seed * 1000 + round));
        } else {
            pthread_t t[THREADS];
            for (uint64_t i = 0; i < THREADS; i++)
                CHECK(pthread_create(
                          &t[i], NULL, thread_main, (void *)(uintptr_t)(seed * 7919 + round * 31 + i)) == 0);
            for (int i = 0; i < THREADS; i++) CHECK(pthread_join(t[i], NULL) == 0);
        }
        mock_acl_release_stream_id(-1);
        CHECK(mock_acl_reset() == 0);
        CHECK(arguments == 0);
    }
    return 0;
}
