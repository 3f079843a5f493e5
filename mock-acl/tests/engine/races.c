/* Part of racl (mock-acl). Threads that end what others still use. What a thread would meet by chance is put
 * in place under the engine lock, so that each test meets it every time. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include "check.h"
#include "base/base.h"
#include "engine/engine.h"
#include "engine/inner.h"
#include "graphs/graphs.h"
#include "streams/streams.h"

static aclrtContext context;
static aclrtStream stream;

static void begin(void) {
    up();
    OK(aclrtGetCurrentContext(&context));
    stream = new_stream();
}

static mock_stream *object(aclrtStream s) { return mock_handle_get(MOCK_STREAM, s); }

static void wait_for_waiters(uint32_t count) {
    for (uint32_t waiting = 0; waiting < count; sched_yield()) {
        mock_lock();
        waiting = mock_engine.waiting;
        mock_unlock();
    }
}

/* ---- a stream that is gone when its thread wakes up, with another one in its place ---- */

static int ran;

static aclError run(void *arg) {
    (void)arg;
    ran++;
    return 0;
}

static const mock_task_ops counted = {"aclrtMemsetAsync", run, NULL};

static aclError destroy(void) { return aclrtDestroyStream(stream); }
static aclError destroy_by_force(void) { return aclrtDestroyStreamForce(stream); }
static aclError abort_it(void) { return aclrtStreamAbort(stream); }
static aclError abort_all(void) { return aclrtDeviceTaskAbort(0, 0); }
static aclError wait_for_it(void) { return aclrtSynchronizeStream(stream); }

static void *call(void *what) {
    aclError (*const *function)(void) = what;
    OK(aclrtSetCurrentContext(context));
    OK((*function)());
    return NULL;
}

/* The second stream, held, has a task; whatever the late thread does, it runs once the stream may. */
static void late(aclError (*function)(void)) {
    begin();
    ran = 0;
    const mock_task task = {.ops = &counted, .kind = MOCK_TASK_WORK};
    mock_stream *s = object(stream);
    mock_lock();
    s->running = true; /* as if a worker had a task of it in hand */
    mock_engine.executing++;
    if (s->ring == NULL) s->ring = mock_ring_new();
    mock_push(s, &task);
    mock_unlock();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call, &function) == 0);
    wait_for_waiters(1);
    mock_lock();
    mock_ctx *ctx = s->ctx;
    s->running = false;
    mock_engine.executing--;
    mock_drop_queue(s);
    mock_stream_free(s);
    mock_stream *next = mock_stream_new(ctx, 0, 0, false);
    CHECK(next == s);
    atomic_store(&next->held, true);
    mock_push(next, &task);
    next->error = ACL_ERROR_RT_AICORE_EXCEPTION; /* for whoever asks the new stream, and for nobody else */
    mock_unlock();
    CHECK(pthread_join(thread, NULL) == 0);
    stream = next->handle;
    OK(mock_acl_release_stream(stream));
    CODE(aclrtSynchronizeStream(stream), 507015);
    CHECK(ran == 1);
    OK(aclrtDestroyStream(stream));
}

/* An event outlives the stream that recorded it, and has nothing to do with the next one there. */
static void event_of_a_stream_that_is_gone(void) {
    begin();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    OK(aclrtRecordEvent(e, stream));
    mock_stream *before = object(stream);
    OK(aclrtDestroyStream(stream));
    stream = new_stream();
    CHECK(object(stream) == before);
    CHECK(mock_acl_fail_task("aclrtMemsetAsync", 1, 507015) == 0);
    OK(aclrtMemsetAsync(device(64), 64, 0, 64, stream));
    const uint64_t tasks = mock_acl_run_until_idle();
    CHECK(tasks == 1 || workers());
    OK(aclrtSynchronizeEvent(e));
    CODE(aclrtSynchronizeStream(stream), 507015);
}

/* ---- a graph likewise ---- */

static aclmdlRI graph;

static aclError destroy_graph(void) {
    const aclError code = aclmdlRIDestroy(graph);
    return code == ACL_ERROR_RT_INVALID_HANDLE ? 0 : code;
}

static void late_for_a_graph(void) {
    begin();
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclmdlRICaptureEnd(stream, &graph));
    mock_graph *g = mock_handle_get(MOCK_GRAPH, graph);
    aclError (*function)(void) = destroy_graph;
    mock_lock();
    g->inflight = 1; /* as if it were launched */
    mock_engine.executing++;
    mock_unlock();
    OK(mock_acl_hold_stream(stream));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call, &function) == 0);
    wait_for_waiters(1);
    mock_lock();
    mock_ctx *ctx = g->ctx;
    g->inflight = 0;
    mock_engine.executing--;
    mock_graph_free(g);
    mock_graph *next = mock_graph_new(ctx, MOCK_GRAPH_READY);
    CHECK(next == g);
    next->inflight = 1;
    mock_changed();
    mock_unlock();
    CHECK(pthread_join(thread, NULL) == 0);
    mock_lock();
    next->inflight = 0;
    mock_unlock();
    OK(aclmdlRIDestroy(next->handle));
}

/* ---- a thread that waits for callbacks when its subscription ends ---- */

static _Atomic uint64_t listener;

static void *listen_for_ever(void *unused) {
    (void)unused;
    OK(aclrtSetCurrentContext(context));
    listener = (uint64_t)pthread_self();
    int code = 107012; /* until the subscription is there */
    while (code == 107012 && listener != 0) code = aclrtProcessReport(-1);
    CHECK(code == 107012);
    return NULL;
}

static void subscription_that_ends(void) {
    begin();
    pthread_t thread;
    listener = 0;
    CHECK(pthread_create(&thread, NULL, listen_for_ever, NULL) == 0);
    while (listener == 0) sched_yield();
    const uint64_t id = listener;
    OK(aclrtSubscribeReport(id, stream));
    wait_for_waiters(1);
    listener = 0;
    OK(aclrtUnSubscribeReport(id, stream));
    CHECK(pthread_join(thread, NULL) == 0);
}

/* ---- memory that is unmapped amid a copy ---- */

#define PIECE ((size_t)2 << 20)
#define PAGE 4096
static char *from;
static void *range;
static _Atomic int halfway, unmapped;

/* The copy got to the second page of its source. */
static void at_the_second_page(int number, siginfo_t *info, void *unused) {
    (void)number;
    (void)unused;
    if ((char *)info->si_addr - from < PAGE || (char *)info->si_addr - from >= 2 * PAGE) _Exit(2);
    halfway = 1;
    while (!unmapped) sched_yield();
    if (mprotect(from, 2 * PAGE, PROT_READ | PROT_WRITE) != 0) _Exit(3);
}

static aclError copy(void) { return aclrtMemcpy(range, PIECE, from, 2 * PAGE, ACL_MEMCPY_HOST_TO_DEVICE); }

static void unmapped_amid_a_copy(void) {
    begin();
    const aclrtPhysicalMemProp prop = {
        .memAttr = ACL_HBM_MEM_HUGE, .location = {0, ACL_MEM_LOCATION_TYPE_DEVICE}};
    aclrtDrvMemHandle memory = NULL;
    OK(aclrtMallocPhysical(&memory, PIECE, &prop, 0));
    OK(aclrtReserveMemAddress(&range, PIECE, 0, NULL, 0));
    OK(aclrtMapMem(range, PIECE, 0, memory, 0));
    from = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(from != MAP_FAILED);
    memset(from, 7, 2 * PAGE);
    CHECK(mprotect(from + PAGE, PAGE, PROT_NONE) == 0);
    struct sigaction before, meet = {.sa_flags = SA_SIGINFO};
    meet.sa_sigaction = at_the_second_page;
    CHECK(sigaction(SIGSEGV, &meet, &before) == 0);
    aclError (*function)(void) = copy;
    halfway = unmapped = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, call, &function) == 0);
    while (!halfway) sched_yield();
    OK(aclrtUnmapMem(range));
    OK(aclrtReleaseMemAddress(range));
    OK(aclrtFreePhysical(memory));
    unmapped = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sigaction(SIGSEGV, &before, NULL) == 0 && munmap(from, 2 * PAGE) == 0);
}

int main(void) {
    late(destroy);
    late(destroy_by_force);
    late(abort_it);
    late(abort_all);
    late(wait_for_it);
    event_of_a_stream_that_is_gone();
    late_for_a_graph();
    subscription_that_ends();
    unmapped_amid_a_copy();
    CHECK(mock_acl_reset() == 0);
    return 0;
}
