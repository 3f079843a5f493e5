/* Part of racl (mock-acl). Several host threads: own streams, shared streams, waiting for each other. */
#include <pthread.h>
#include "aclnn/acl_meta.h"
#include "check.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "streams/streams.h"
#include "mock_acl.h"

enum { THREADS = 4, ROUNDS = 3000 };

static uint64_t *counters;

static aclError add_one(void *at) {
    uint64_t *view = mock_device_view(at, 8);
    if (view == NULL) return 507015;
    ++*view;
    return 0;
}
static const mock_task_ops one = {"aclnnAdd", add_one, NULL};

static uint64_t word(const void *p) {
    uint64_t v = 0;
    read_back(&v, p, 8);
    return v;
}

static void in_parallel(void *(*body)(void *)) {
    pthread_t t[THREADS];
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&t[i], NULL, body, (void *)(uintptr_t)i) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(t[i], NULL) == 0);
}

static void *own_stream(void *index) {
    OK(aclrtSetDevice(0));
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    uint64_t *mine = counters + (uintptr_t)index;
    for (int i = 0; i < ROUNDS; i++) {
        OK(mock_submit_kernel(s, &one, mine));
        if (i % 7 == 0) OK(aclrtRecordEvent(e, s));
        if (i % 50 == 0) OK(aclrtSynchronizeEvent(e));
        if (i % 91 == 0) OK(aclrtSynchronizeStream(s));
        if (i % 211 == 0) OK(aclrtFree(device(1 + (size_t)i)));
    }
    OK(aclrtDestroyStream(s));
    OK(aclrtDestroyEvent(e));
    return NULL;
}

static void own_streams(void) {
    up();
    counters = device(8 * THREADS);
    OK(aclrtMemset(counters, 8 * THREADS, 0, 8 * THREADS));
    in_parallel(own_stream);
    for (int i = 0; i < THREADS; i++) CHECK(word(counters + i) == ROUNDS);
}

static aclrtStream shared;

static void *same_stream(void *unused) {
    (void)unused;
    OK(aclrtSetDevice(0));
    for (int i = 0; i < ROUNDS; i++) OK(mock_submit_kernel(shared, &one, counters));
    OK(aclrtSynchronizeStream(shared));
    return NULL;
}

static void one_stream(void) {
    up();
    counters = device(8);
    OK(aclrtMemset(counters, 8, 0, 8));
    shared = new_stream();
    in_parallel(same_stream);
    CHECK(word(counters) == THREADS * ROUNDS);
}

/* A chain of streams: each thread waits for the event of the thread before it. */
static aclrtStream ring[THREADS];
static aclrtEvent passed[THREADS];

static void *follow(void *index) {
    const size_t i = (uintptr_t)index;
    OK(aclrtSetDevice(0));
    for (int r = 0; r < 500; r++) {
        OK(aclrtStreamWaitEvent(ring[i], passed[(i + THREADS - 1) % THREADS]));
        OK(mock_submit_kernel(ring[i], &one, counters + i));
        OK(aclrtRecordEvent(passed[i], ring[i]));
        if (r % 100 == 0) OK(aclrtSynchronizeDevice());
    }
    OK(aclrtSynchronizeStream(ring[i]));
    return NULL;
}

static void followers(void) {
    up();
    counters = device(8 * THREADS);
    OK(aclrtMemset(counters, 8 * THREADS, 0, 8 * THREADS));
    for (int i = 0; i < THREADS; i++) {
        ring[i] = new_stream();
        passed[i] = new_event(ACL_EVENT_SYNC);
    }
    in_parallel(follow);
    for (int i = 0; i < THREADS; i++) CHECK(word(counters + i) == 500);
}

static void *release_later(void *stream) {
    for (int i = 0; i < 1000; i++) mock_acl_now_ns();
    OK(mock_acl_release_stream(stream));
    return NULL;
}

/* An untimed wait on held work ends when another thread opens the gate. */
static void released_by_another(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *d = device(8);
    pthread_t t;
    OK(mock_acl_hold_stream(s));
    OK(aclrtMemsetAsync(d, 8, 3, 8, s));
    CHECK(pthread_create(&t, NULL, release_later, s) == 0);
    OK(aclrtSynchronizeStream(s));
    CHECK(pthread_join(t, NULL) == 0 && byte_at(d) == 3);
}

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int open_door, at_door;

static void wait_at_door(void *unused) {
    (void)unused;
    pthread_mutex_lock(&door);
    at_door = 1;
    pthread_cond_broadcast(&opened);
    while (!open_door) pthread_cond_wait(&opened, &door);
    pthread_mutex_unlock(&door);
}

static void *synchronize(void *stream) {
    OK(aclrtSetDevice(0));
    OK(aclrtSynchronizeStream(stream));
    return NULL;
}

/* What finished before a host function that blocks is visible to the thread that must unblock it. */
static void host_function_waits_for_host(void) {
    up();
    aclrtStream s = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    pthread_t t;
    open_door = 0;
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, s));
    OK(aclrtRecordEvent(e, s));
    OK(aclrtLaunchHostFunc(s, wait_at_door, NULL));
    CHECK(pthread_create(&t, NULL, synchronize, s) == 0);
    OK(aclrtSynchronizeEvent(e));
    pthread_mutex_lock(&door);
    open_door = 1;
    pthread_cond_signal(&opened);
    pthread_mutex_unlock(&door);
    CHECK(pthread_join(t, NULL) == 0);
}

static int passed_door;
static void pass_door(void *unused) {
    (void)unused;
    pthread_mutex_lock(&door);
    passed_door++;
    pthread_mutex_unlock(&door);
}

/* A wait behind another stream's host function ends; a function that no wait depends on is not run by a
 * thread that holds the lock it needs. */
static void host_functions_elsewhere(void) {
    up();
    aclrtStream a = new_stream(), b = new_stream(), c = new_stream();
    aclrtEvent e = new_event(ACL_EVENT_SYNC);
    passed_door = 0;
    OK(aclrtLaunchHostFunc(a, pass_door, NULL));
    OK(aclrtRecordEvent(e, a));
    OK(aclrtStreamWaitEvent(b, e));
    OK(aclrtSynchronizeStream(b));
    pthread_mutex_lock(&door);
    CHECK(passed_door == 1);
    OK(aclrtLaunchHostFunc(a, pass_door, NULL));
    OK(aclrtMemsetAsync(device(8), 8, 0, 8, c));
    OK(aclrtSynchronizeStream(c));
    pthread_mutex_unlock(&door);
    OK(aclrtSynchronizeDevice());
    CHECK(passed_door == 2);
}

static void *launch_graph(void *graph) {
    OK(aclrtSetDevice(0));
    aclrtStream s = new_stream();
    for (int i = 0; i < 500; i++) {
        OK(aclmdlRIExecuteAsync(graph, s));
        if (i % 40 == 0) OK(aclrtSynchronizeStream(s));
    }
    OK(aclrtDestroyStream(s));
    return NULL;
}

/* Launches of one graph from several streams and threads are serialised. */
static void one_graph(void) {
    up();
    counters = device(8);
    OK(aclrtMemset(counters, 8, 0, 8));
    aclrtStream s = new_stream();
    aclmdlRI graph = NULL;
    OK(aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < 10; i++) OK(mock_submit_kernel(s, &one, counters));
    OK(aclmdlRICaptureEnd(s, &graph));
    pthread_t t[THREADS];
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_create(&t[i], NULL, launch_graph, graph) == 0);
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(t[i], NULL) == 0);
    CHECK(word(counters) == THREADS * 500 * 10);
    OK(aclmdlRIDestroy(graph));
}

static void *poll(void *index) {
    OK(aclrtSetDevice(0));
    aclrtStream s = new_stream();
    for (int i = 0; i < 200; i++) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        OK(mock_submit_kernel(s, &one, counters + (uintptr_t)index));
        while (status != ACL_STREAM_STATUS_COMPLETE) OK(aclrtStreamQuery(s, &status));
    }
    OK(aclrtDestroyStream(s));
    return NULL;
}

static void pollers(void) {
    up();
    counters = device(8 * THREADS);
    OK(aclrtMemset(counters, 8 * THREADS, 0, 8 * THREADS));
    in_parallel(poll);
    for (int i = 0; i < THREADS; i++) CHECK(word(counters + i) == 200);
}

static void *open_later(void *unused) {
    for (int i = 0; i < 1000; i++) mock_acl_now_ns();
    pthread_mutex_lock(&door);
    open_door = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&door);
    return unused;
}

/* Nothing is idle while another thread has a task in hand. */
static void idle_is_idle(void) {
    up();
    aclrtStream s = new_stream();
    unsigned char *d = device(8);
    pthread_t waiter, opener;
    open_door = at_door = 0;
    OK(aclrtLaunchHostFunc(s, wait_at_door, NULL));
    OK(aclrtMemsetAsync(d, 8, 3, 8, s));
    CHECK(pthread_create(&waiter, NULL, synchronize, s) == 0);
    pthread_mutex_lock(&door);
    while (!at_door) pthread_cond_wait(&opened, &door);
    pthread_mutex_unlock(&door);
    CHECK(pthread_create(&opener, NULL, open_later, NULL) == 0);
    mock_acl_run_until_idle();
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    OK(aclrtStreamQuery(s, &status));
    CHECK(status == ACL_STREAM_STATUS_COMPLETE);
    CHECK(pthread_join(opener, NULL) == 0 && pthread_join(waiter, NULL) == 0 && byte_at(d) == 3);
}

/* Every object is given back once, by the thread or by the reset. */
static void *objects(void *unused) {
    enum { BATCH = 64 };
    const int64_t dims[] = {4};
    float one_half = 0.5f;
    (void)unused;
    for (int i = 0; i < ROUNDS / 10; i++) {
        aclTensor *tensors[BATCH];
        aclScalar *scalars[BATCH];
        for (int j = 0; j < BATCH; j++) {
            tensors[j] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, NULL);
            scalars[j] = aclCreateScalar(&one_half, ACL_FLOAT);
            CHECK(tensors[j] != NULL && scalars[j] != NULL);
        }
        for (int j = 0; j < BATCH; j++) {
            const aclnnStatus status[] = {aclDestroyTensor(tensors[j]), aclDestroyScalar(scalars[j])};
            for (int k = 0; k < 2; k++) CHECK(status[k] == 0 || status[k] == 161002);
        }
    }
    return NULL;
}

static void objects_beside_a_reset(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, objects, NULL) == 0);
    for (int i = 0; i < 500; i++) CHECK(mock_acl_reset() == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
    own_streams();
    one_stream();
    followers();
    released_by_another();
    host_function_waits_for_host();
    host_functions_elsewhere();
    one_graph();
    pollers();
    idle_is_idle();
    own_streams();
    objects_beside_a_reset();
    return 0;
}
