#include "check.h"

static racl_library *good_library, *stale_library;
static racl_context *good_context, *stale_context;
static racl_stream *good_stream, *stale_stream, *recording;
static racl_event *good_event, *stale_event;
static racl_buffer *good_buffer, *stale_buffer;
static racl_host *good_host, *stale_host;
static racl_capture *good_capture, *stale_capture;
static racl_graph *good_graph, *stale_graph;
static racl_tensor *good_tensor, *stale_tensor;

/* Eight bytes each, so that the address of one is even and aligned. */
static size_t bytes[64];
static size_t sizes[8];
static size_t none[512], short_one[512], long_one[512];
static char text[64];
static racl_stream_options options = {.size = sizeof options};
static racl_memory_stats stats = {.size = sizeof stats};
static size_t one[1] = {1};
static racl_tensor_layout layout = {.size = sizeof layout, .rank = 1, .shape = one, .format = 2};
static racl_arg args[1];

static void begin(void) {
    short_one[0] = 8;
    long_one[0] = 4000;
    long_one[300] = 1;
    int ok = racl_library_open("mock", &good_library) == RACL_OK && racl_library_open("mock", &stale_library) == RACL_OK &&
             racl_context_primary(good_library, 0, &good_context) == RACL_OK &&
             racl_context_new(good_context, &stale_context) == RACL_OK &&
             racl_stream_new(good_context, NULL, &good_stream) == RACL_OK &&
             racl_stream_new(good_context, NULL, &recording) == RACL_OK &&
             racl_stream_new(good_context, NULL, &stale_stream) == RACL_OK &&
             racl_event_new(good_context, 0, &good_event) == RACL_OK &&
             racl_event_new(good_context, 0, &stale_event) == RACL_OK &&
             racl_buffer_new(good_context, 64, &good_buffer) == RACL_OK &&
             racl_buffer_new(good_context, 64, &stale_buffer) == RACL_OK &&
             racl_host_new(good_context, 64, &good_host) == RACL_OK &&
             racl_host_new(good_context, 64, &stale_host) == RACL_OK &&
             racl_tensor_new(good_buffer, &layout, &good_tensor) == RACL_OK &&
             racl_tensor_new(good_buffer, &layout, &stale_tensor) == RACL_OK;
    for (int at = 0; ok && at < 2; ++at) {
        racl_capture *capture;
        racl_graph **graph = at == 0 ? &good_graph : &stale_graph;
        ok = racl_capture_begin(recording, RACL_CAPTURE_RELAXED, &capture) == RACL_OK &&
             racl_stream_fill(recording, good_buffer, 1) == RACL_OK && racl_capture_end(capture, graph) == RACL_OK;
        stale_capture = capture;
    }
    ok = ok && racl_capture_begin(recording, RACL_CAPTURE_RELAXED, &good_capture) == RACL_OK &&
         racl_library_free(stale_library) == RACL_OK && racl_context_free(stale_context) == RACL_OK &&
         racl_stream_free(stale_stream) == RACL_OK && racl_event_free(stale_event) == RACL_OK &&
         racl_buffer_free(stale_buffer) == RACL_OK && racl_host_free(stale_host) == RACL_OK &&
         racl_graph_free(stale_graph) == RACL_OK && racl_tensor_free(stale_tensor) == RACL_OK;
    if (!ok) {
        fprintf(stderr, "begin: %s\n", racl_last_error_message());
        exit(1);
    }
}

/* Everything is still usable after all that. */
static void end(void) {
    int before = checks;
    DO(racl_capture_free(good_capture));
    DO(racl_graph_launch(good_graph, good_stream));
    DO(racl_stream_synchronize(good_stream, -1));
    DO(racl_tensor_free(good_tensor));
    DO(racl_graph_close(good_graph));
    DO(racl_host_close(good_host));
    DO(racl_buffer_close(good_buffer));
    DO(racl_event_free(good_event));
    DO(racl_stream_close(recording));
    DO(racl_stream_close(good_stream));
    DO(racl_context_close(good_context));
    DO(racl_library_close(good_library));
    checks = before;
}

