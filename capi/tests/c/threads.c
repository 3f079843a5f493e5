/* Handles on several threads. */
#include <pthread.h>
#include <sched.h>

#include "plans.h"

static int part = 1; /* of the rounds */
static racl_context *context;
static racl_capture *capture;
static racl_graph *graph;

static void *end_elsewhere(void *unused) {
    (void)unused;
    racl_graph *none;
    CHECK(racl_last_error_status() == RACL_OK); /* each thread has its own */
    CHECK(racl_capture_end(capture, &none) == RACL_CAPTURE_WRONG_THREAD && none == NULL);
    return NULL;
}

/* Launches as often as it can; another thread may have the graph. */
static void *launch(void *stream) {
    for (int round = 0; round < 500 / part; ++round) {
        int32_t status = racl_graph_launch(graph, stream);
        if (status != RACL_OK && status != RACL_BUSY) {
            fprintf(stderr, "%s\n", racl_last_error_message());
            exit(1);
        }
    }
    return NULL;
}

/* Makes and frees, so that slots are used again and again. */
static racl_event *gone;

/* Uses the handle of what is gone, which disturbs nobody. */
static void *disturb(void *unused) {
    (void)unused;
    for (int round = 0; round < 5000 / part; ++round) {
        int32_t done;
        if (racl_event_is_complete(gone, &done) != RACL_STALE_HANDLE) {
            fprintf(stderr, "a handle of what is gone is live\n");
            exit(1);
        }
    }
    return NULL;
}

static void *churn(void *unused) {
    (void)unused;
    for (int round = 0; round < 500 / part; ++round) {
        racl_event *event;
        racl_buffer *buffer;
        if (racl_event_new(context, 0, &event) != RACL_OK || racl_buffer_new(context, 64, &buffer) != RACL_OK ||
            racl_event_free(event) != RACL_OK || racl_event_free(event) != RACL_STALE_HANDLE ||
            racl_buffer_free((racl_buffer *)event) == RACL_OK || racl_buffer_free(buffer) != RACL_OK) {
            fprintf(stderr, "%s\n", racl_last_error_message());
            exit(1);
        }
    }
    return NULL;
}

/* What waits for a run. */
enum { READ, READ_HOST, FOUND_COUNT, READ_FOUND, READS };

typedef struct {
    racl_executable *exe;
    int what;
    uint32_t output;
    float got[2];
    int64_t place;
    size_t rows, needed;
    int32_t status;
} Reader;

static void *read_behind(void *of) {
    Reader *one = of;
    switch (one->what) {
    case READ: one->status = racl_executable_read(one->exe, one->output, one->got, sizeof one->got); break;
    case READ_HOST: one->status = racl_executable_read_host(one->exe, one->output, one->got, sizeof one->got); break;
    case FOUND_COUNT: one->status = racl_executable_found_count(one->exe, one->output, &one->rows); break;
    default:
        one->status =
            racl_executable_read_found(one->exe, one->output, &one->place, sizeof one->place, &one->needed);
    }
    return NULL;
}

/* Calls of AscendCL that wait. */
static uint64_t waits(void) {
    const char *names[4] = {"aclrtSynchronizeEvent", "aclrtSynchronizeEventWithTimeout", "aclrtSynchronizeStream",
                            "aclrtSynchronizeStreamWithTimeout"};
    uint64_t all = 0, calls;
    for (int at = 0; at < 4; ++at) {
        DO(racl_mock_calls(names[at], &calls));
        all += calls;
    }
    return all;
}

static racl_plan *gated(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_found places;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_STATIC);
    DO(racl_builder_gate(g, "ready"));
    DO(racl_builder_gate_wait(g, "ready"));
    racl_value y = muls(g, x, 2);
    DO(racl_builder_nonzero(g, x, &places));
    DO(racl_builder_output(g, "y", y));
    DO(racl_builder_output_to_host(g, "h", muls(g, y, 2)));
    DO(racl_builder_output_found(g, "places", &places));
    DO(racl_builder_build(g, &plan));
    return plan;
}

/* A thread waits for a run, which waits for the signal of another thread. */
static void signals(racl_stream *stream, racl_stream *giver, int32_t mode) {
    const char *outputs[READS] = {"y", "h", "places", "places"};
    const float numbers[2] = {0, 3};
    racl_run_options options = {.size = sizeof options, .mode = mode};
    racl_plan *plan = gated();
    racl_executable *exe;
    racl_bindings *bind;
    racl_tensor *x;
    DO(racl_executable_new(plan, context, &options, NULL, 0, &exe));
    DO(racl_bindings_new(exe, &bind));
    DO(racl_executable_static_input(exe, input_of(exe, "x"), &x));
    DO(racl_tensor_write(x, numbers, sizeof numbers));
    for (int what = 0; what < READS; ++what) {
        Reader reader = {.exe = exe, .what = what, .output = output_of(exe, outputs[what])};
        pthread_t thread;
        DO(racl_executable_run(exe, stream, bind));
        uint64_t before = waits();
        pthread_create(&thread, NULL, read_behind, &reader);
        while (waits() == before) sched_yield();
        DO(racl_executable_signal(exe, "ready", giver));
        pthread_join(thread, NULL);
        CHECK(reader.status == RACL_OK);
        CHECK(what != READ || (reader.got[0] == 0 && reader.got[1] == 6));
        CHECK(what != READ_HOST || (reader.got[0] == 0 && reader.got[1] == 12));
        CHECK(what != FOUND_COUNT || reader.rows == 1);
        CHECK(what != READ_FOUND || (reader.needed == 8 && reader.place == 1));
    }
    DO(racl_tensor_free(x));
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_plan_free(plan));
}

int main(int argc, char **argv) {
    if (argc > 1) part = atoi(argv[1]);
    racl_library *library;
    racl_stream *streams[3];
    racl_buffer *buffer;
    pthread_t threads[7];
    DO(racl_library_open("mock", &library));
    DO(racl_context_primary(library, 0, &context));
    for (int at = 0; at < 3; ++at) DO(racl_stream_new(context, NULL, &streams[at]));
    DO(racl_buffer_new(context, 64, &buffer));
    CHECK(racl_event_free((racl_event *)buffer) == RACL_WRONG_KIND);
    DO(racl_capture_begin(streams[0], RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_fill(streams[0], buffer, 3));
    pthread_create(&threads[0], NULL, end_elsewhere, NULL);
    pthread_join(threads[0], NULL);
    DO(racl_capture_end(capture, &graph));
    DO(racl_event_new(context, 0, &gone));
    DO(racl_event_free(gone));
    for (int at = 0; at < 6; ++at) {
        pthread_create(&threads[at], NULL, at < 3 ? launch : churn, at < 3 ? streams[at] : NULL);
    }
    pthread_create(&threads[6], NULL, disturb, NULL);
    for (int at = 0; at < 7; ++at) pthread_join(threads[at], NULL);
    DO(racl_graph_wait(graph));
    unsigned char back[64];
    DO(racl_buffer_read(buffer, 0, back, 64));
    for (int at = 0; at < 64; ++at) CHECK(back[at] == 3);
    DO(racl_graph_close(graph));
    DO(racl_buffer_close(buffer));
    signals(streams[0], streams[1], RACL_RUN_CAPTURED);
    signals(streams[0], streams[1], RACL_RUN_EAGER);
    for (int at = 0; at < 3; ++at) DO(racl_stream_close(streams[at]));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
