/* Contexts, events and graphs that other code made and keeps. Here other handles of libracl stand for that code. */
#include "check.h"

static racl_library *library;
static racl_context *theirs, *context;
static racl_stream *other, *stream;
static racl_buffer *buffer;

static int first(void) {
    unsigned char byte = 0;
    DO(racl_buffer_read(buffer, 0, &byte, 1));
    return byte;
}

static void a_context(void) {
    void *raw, *again;
    DO(racl_context_raw(theirs, &raw));
    DO(racl_context_ref(library, raw, &context));
    CHECK(context != theirs);
    DO(racl_context_raw(context, &again));
    CHECK(raw == again);
    int32_t device = -1;
    DO(racl_context_device(context, &device));
    CHECK(device == 0);
    racl_context *none = context;
    CHECK(racl_context_ref(library, NULL, &none) == RACL_NULL_POINTER && none == NULL);
}

/* Each side records what the other one waits for. */
static void an_event(void) {
    racl_event *event, *shared, *none;
    racl_capture *capture;
    void *raw, *again;
    int32_t done;
    DO(racl_event_new(theirs, 0, &event));
    DO(racl_event_raw(event, &raw));
    CHECK(racl_event_ref(context, NULL, &none) == RACL_NULL_POINTER && none == NULL);
    DO(racl_event_ref(context, raw, &shared));
    DO(racl_event_raw(shared, &again));
    CHECK(raw == again && shared != event);
    DO(racl_mock_hold(other));
    DO(racl_stream_fill(other, buffer, 5));
    DO(racl_event_record(event, other));
    DO(racl_event_is_complete(shared, &done));
    CHECK(done == 0);
    CHECK(racl_event_synchronize(shared, 1000000) == RACL_TIMEOUT);
    DO(racl_stream_wait(stream, shared));
    DO(racl_stream_is_complete(stream, &done));
    CHECK(done == 0);
    DO(racl_mock_release(other));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(first() == 5);
    /* The other way round, and the record before does not count any more. */
    DO(racl_mock_hold(stream));
    DO(racl_event_record(shared, stream));
    DO(racl_stream_wait(other, event));
    DO(racl_event_is_complete(shared, &done));
    CHECK(done == 0);
    DO(racl_stream_is_complete(other, &done));
    CHECK(done == 0);
    DO(racl_mock_release(stream));
    DO(racl_event_synchronize(shared, -1));
    DO(racl_stream_synchronize(other, -1));
    /* Not in captures, of whomever. */
    uint64_t time = 1;
    CHECK(racl_event_elapsed(shared, shared, &time) == RACL_INVALID_ARGUMENT && time == 0);
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_event_record(shared, stream) == RACL_CAPTURE_FORBIDDEN);
    DO(racl_capture_free(capture));
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_stream_wait(stream, shared) == RACL_CAPTURE_FORBIDDEN);
    DO(racl_capture_free(capture));
    DO(racl_capture_begin(other, RACL_CAPTURE_RELAXED, &capture));
    DO(racl_event_record(event, other));
    CHECK(racl_stream_wait(stream, shared) == RACL_CAPTURE_FORBIDDEN);
    DO(racl_stream_is_complete(stream, &done)); /* it has not joined */
    DO(racl_capture_free(capture));
    /* It is its owner's still. */
    DO(racl_event_free(shared));
    CHECK(racl_event_free(shared) == RACL_STALE_HANDLE);
    DO(racl_event_record(event, other));
    DO(racl_event_synchronize(event, -1));
    DO(racl_event_free(event));
}

static racl_graph *recorded(void) {
    racl_capture *capture;
    racl_graph *graph;
    DO(racl_capture_begin(other, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_fill(other, buffer, 9));
    DO(racl_capture_end(capture, &graph));
    return graph;
}

static void a_graph(void) {
    racl_graph *graph = recorded(), *shared, *none;
    void *raw, *again;
    DO(racl_graph_raw(graph, &raw));
    CHECK(racl_graph_ref(context, NULL, &none) == RACL_NULL_POINTER && none == NULL);
    DO(racl_graph_ref(context, raw, &shared));
    DO(racl_graph_raw(shared, &again));
    CHECK(raw == again && shared != graph);
    DO(racl_stream_fill(stream, buffer, 1));
    DO(racl_graph_launch(shared, stream));
    DO(racl_graph_wait(shared));
    CHECK(first() == 9);
    CHECK(racl_graph_close(shared) == RACL_INVALID_ARGUMENT);
    /* One that does not end keeps its handle. */
    DO(racl_free_limit_set(20 * 1000 * 1000));
    DO(racl_mock_hold(stream));
    DO(racl_graph_launch(shared, stream));
    CHECK(racl_graph_free(shared) == RACL_TIMEOUT && strstr(racl_last_error_message(), "not done"));
    DO(racl_mock_release(stream));
    DO(racl_graph_free(shared));
    DO(racl_free_limit_set((uint64_t)10 * 1000 * 1000 * 1000));
    CHECK(racl_graph_launch(shared, stream) == RACL_STALE_HANDLE);
    /* It is its owner's still. */
    DO(racl_graph_launch(graph, other));
    DO(racl_graph_close(graph));
    /* It goes back whatever became of the work. */
    graph = recorded();
    DO(racl_graph_raw(graph, &raw));
    DO(racl_graph_ref(context, raw, &shared));
    DO(racl_mock_fail_task("aclrtMemsetAsync", 1, 507015));
    DO(racl_stream_fill(stream, buffer, 2));
    DO(racl_graph_launch(shared, stream));
    DO(racl_graph_free(shared));
    racl_errors *errors;
    size_t number = 0;
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_count(errors, &number));
    CHECK(number == 1);
    DO(racl_errors_free(errors));
    DO(racl_graph_free(graph));
}

int main(void) {
    DO(racl_library_open("mock", &library));
    racl_context *primary;
    DO(racl_context_primary(library, 0, &primary));
    DO(racl_context_new(primary, &theirs));
    a_context();
    DO(racl_stream_new(theirs, NULL, &other));
    DO(racl_stream_new(context, NULL, &stream));
    DO(racl_buffer_new(theirs, 64, &buffer));
    an_event();
    a_graph();
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    /* The context is there still. */
    DO(racl_stream_fill(other, buffer, 7));
    DO(racl_stream_synchronize(other, -1));
    CHECK(first() == 7);
    DO(racl_buffer_close(buffer));
    DO(racl_stream_close(other));
    DO(racl_context_close(theirs));
    DO(racl_context_free(primary));
    DO(racl_library_free(library));
    printf("%d checks\n", checks);
    return 0;
}
