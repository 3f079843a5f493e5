/* Handles on several threads. */
#include <pthread.h>

#include "check.h"

static int part = 1; /* of the rounds */
static racl_context *context;
static racl_capture *capture;
static racl_graph *graph;

static void *end_elsewhere(void *unused) {
    (void)unused;
    racl_graph *none;
    CHECK(racl_last_error_status() == RACL_OK); /* each thread has its own */
    CHECK(racl_capture_end(capture, &none) == RACL_CAPTURE_WRONG_THREAD && none == NULL);
    CHECK(racl_capture_free(capture) == RACL_CAPTURE_WRONG_THREAD);
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
    for (int at = 0; at < 3; ++at) DO(racl_stream_close(streams[at]));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
