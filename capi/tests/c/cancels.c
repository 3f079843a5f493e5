/* Threads that are cancelled (pthread_cancel) inside racl: they end behind the function that they are in, and leave
 * everything usable. */
#include <pthread.h>
#include <semaphore.h>

#include "plans.h"

static racl_context *context;
static racl_stream *stream;
static racl_buffer *buffer;
static sem_t begins;

/* Lets the stream run once the other thread says that it waits. */
static void *let_run(void *unused) {
    (void)unused;
    while (sem_wait(&begins) != 0) {}
    DO(racl_mock_release(stream));
    return NULL;
}

/* A callback, on the thread that is cancelled, with a place in it where that would end. */
static int32_t give(void *user, const racl_stream *to) {
    pthread_testcancel();
    racl_tensor *of = user;
    racl_arg args[2] = {{.kind = RACL_ARG_TENSOR, .data = of}, {.kind = RACL_ARG_TENSOR, .data = of}};
    return racl_operator(to, "aclnnAbs", args, 2);
}

static int32_t record(void *user, racl_builder *g) {
    (void)user;
    pthread_testcancel();
    DO(racl_builder_output(g, "y", unary(g, "aclnnAbs", input(g, "x", 4, 0, RACL_INPUT_COPIED))));
    return RACL_OK;
}

/* Gives an operator whose index the host looks at, once the work that writes it is done. */
static void check_index(void) {
    static const float data[4] = {1, 2, 3, 4};
    size_t one = 1;
    racl_stream *other;
    racl_tensor *x = tensor(context, data, 2, (size_t[]){2, 2}), *out = tensor(context, data, 2, (size_t[]){1, 2}), *index;
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = INT64, .rank = 1, .shape = &one, .format = ND};
    DO(racl_tensor_new(buffer, &layout, &index));
    DO(racl_stream_new(context, NULL, &other));
    racl_arg args[4] = {{.kind = RACL_ARG_TENSOR, .data = x}, whole(0), {.kind = RACL_ARG_TENSOR, .data = index},
                        {.kind = RACL_ARG_TENSOR, .data = out}};
    DO(racl_context_set_index_checks(context, 1));
    DO(racl_mock_hold(stream));
    DO(racl_stream_fill(stream, buffer, 0));
    CHECK(pthread_cancel(pthread_self()) == 0);
    CHECK(sem_post(&begins) == 0);
    DO(racl_operator(other, "aclnnIndexSelect", args, 4));
    DO(racl_context_set_index_checks(context, 0));
    DO(racl_stream_free(other));
    DO(racl_tensor_free(index));
    DO(racl_tensor_free(out));
    DO(racl_tensor_free(x));
}

enum { STREAM, STREAM_WITHIN, EVENT, CONTEXT, READ, END, INDEX, WAITS };

/* Waits in one of several ways for work that is held. */
static void wait_for(int how, const racl_event *event, racl_host *host) {
    unsigned char got[4];
    switch (how) {
    case STREAM: DO(racl_stream_synchronize(stream, -1)); break;
    case STREAM_WITHIN: CHECK(racl_stream_synchronize(stream, 1000 * 1000) == RACL_TIMEOUT); break;
    case EVENT: DO(racl_event_synchronize(event, -1)); break;
    case CONTEXT: DO(racl_context_synchronize(context)); break;
    case READ: DO(racl_buffer_read(buffer, 0, got, sizeof got)); break;
    case END: DO(racl_host_close(host)); break;
    }
}

static void waits(int how) {
    if (how == INDEX) {
        check_index();
        return;
    }
    racl_event *event;
    racl_host *host;
    DO(racl_event_new(context, 0, &event));
    DO(racl_host_new(context, 64, &host));
    DO(racl_mock_hold(stream));
    DO(racl_stream_fill(stream, buffer, 1));
    DO(racl_stream_upload(stream, buffer, host));
    DO(racl_event_record(event, stream));
    CHECK(pthread_cancel(pthread_self()) == 0);
    if (how != STREAM_WITHIN) CHECK(sem_post(&begins) == 0);
    wait_for(how, event, host);
    if (how == STREAM_WITHIN) CHECK(sem_post(&begins) == 0);
    DO(racl_event_free(event));
    CHECK(racl_host_free(host) == (how == END ? RACL_STALE_HANDLE : RACL_OK));
}

static void calls_back(int unused) {
    (void)unused;
    racl_capture *capture;
    racl_task_group *group;
    racl_graph *graph;
    racl_tensor *of = tensor(context, (float[]){1, -2, 3, -4}, 1, (size_t[]){4});
    racl_cache *cache;
    racl_plan *plan;
    racl_cache_options options = {.size = sizeof options, .name = "cancels", .folder = "cancels"};
    racl_compile what = {.size = sizeof what, .function = "abs", .build = record};
    DO(racl_cache_new(&options, &cache));
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    CHECK(pthread_cancel(pthread_self()) == 0);
    DO(racl_stream_task_group(stream, give, of, &group));
    DO(racl_capture_end(capture, &graph));
    DO(racl_graph_update(graph, group, give, of));
    DO(racl_cache_compile(cache, context, &what, &plan)); /* which writes files */
    DO(racl_plan_free(plan));
    DO(racl_cache_free(cache));
    DO(racl_task_group_free(group));
    DO(racl_graph_close(graph));
    DO(racl_tensor_free(of));
}

static struct {
    void (*what)(int);
    int how;
    int is_done;
} task;

/* Ends behind what it does, in a function that AddressSanitizer knows no variables of: it takes the end for a fault else. */
static void *do_task(void *unused) {
    (void)unused;
    task.what(task.how);
    task.is_done = 1;
    pthread_testcancel();
    return NULL;
}

/* Whether a thread was ended by its cancellation, and behind what it did. */
static int is_cancelled_behind(void (*what)(int), int how) {
    pthread_t thread;
    void *gave;
    task.what = what;
    task.how = how;
    task.is_done = 0;
    CHECK(pthread_create(&thread, NULL, do_task, NULL) == 0);
    CHECK(pthread_join(thread, &gave) == 0);
    return task.is_done && gave == PTHREAD_CANCELED;
}

int main(void) {
    racl_library *library;
    DO(racl_library_open(NULL, &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    DO(racl_buffer_new(context, 64, &buffer));
    CHECK(sem_init(&begins, 0, 0) == 0);
    for (int how = 0; how < WAITS; ++how) {
        pthread_t other;
        CHECK(pthread_create(&other, NULL, let_run, NULL) == 0);
        CHECK(is_cancelled_behind(waits, how));
        CHECK(pthread_join(other, NULL) == 0);
        DO(racl_stream_synchronize(stream, -1));
    }
    CHECK(is_cancelled_behind(calls_back, 0));
    /* Who was not to be cancelled is not from then on. */
    int former;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
    DO(racl_stream_synchronize(stream, -1));
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &former) == 0 && former == PTHREAD_CANCEL_DISABLE);
    DO(racl_buffer_close(buffer));
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
