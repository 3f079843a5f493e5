/* Threads that give back what they had when they end, in destructors of values of their own (pthread_key_create), of which
 * some come behind those of racl and of the AscendCL library. */
#include <pthread.h>

#include "plans.h"

enum { KEYS = 2, ROUNDS = 3 };

static pthread_key_t keys[KEYS]; /* made before and behind those of the library */
static racl_library *library;
static racl_context *context;
static racl_cache *cache;

typedef struct {
    int key, in_round; /* in which round of destructors it ends, from 1 on */
    int round;         /* how many are left */
    int is_over;
    racl_context *own;
    racl_stream *stream, *of_own;
    racl_buffer *buffer;
    racl_event *event;
    racl_graph *graph;
} mine;

static int32_t nothing(void *user, const void *attributes, size_t size) {
    (void)user, (void)attributes, (void)size;
    return 0;
}

/* All that a thread may do elsewhere. */
static void work(mine *of, unsigned char with) {
    unsigned char got[64];
    racl_buffer *more;
    DO(racl_stream_fill(of->stream, of->buffer, with));
    DO(racl_stream_host_function(of->stream, nothing, NULL, NULL));
    DO(racl_event_record(of->event, of->stream));
    DO(racl_stream_synchronize(of->stream, -1));
    DO(racl_event_synchronize(of->event, -1));
    DO(racl_buffer_read(of->buffer, 0, got, sizeof got));
    CHECK(got[63] == with);
    DO(racl_graph_launch(of->graph, of->stream));
    DO(racl_graph_wait(of->graph));
    DO(racl_buffer_new(context, 1 << 22, &more));
    DO(racl_buffer_free(more));
    CHECK(racl_stream_free((racl_stream *)of->buffer) == RACL_WRONG_KIND);
}

/* A context of its own, whose functions a thread runs in older releases. */
static void begin_own(mine *of) {
    DO(racl_context_new(context, &of->own));
    DO(racl_stream_new(of->own, NULL, &of->of_own));
    DO(racl_stream_host_function(of->of_own, nothing, NULL, NULL));
}

static void end_own(mine *of) {
    DO(racl_stream_free(of->of_own));
    DO(racl_context_close(of->own));
}

static int32_t record(void *user, racl_builder *g) {
    (void)user;
    DO(racl_builder_output(g, "y", unary(g, "aclnnAbs", input(g, "x", 4, 0, RACL_INPUT_COPIED))));
    return RACL_OK;
}

/* Builds a plan, with a lock on its place in the cache. */
static void compile(const mine *of, char with) {
    char name[] = "abs00-";
    racl_compile what = {.size = sizeof what, .function = name, .build = record};
    racl_plan *plan;
    name[3] += (char)of->key;
    name[4] += (char)of->in_round;
    name[5] = with;
    DO(racl_cache_compile(cache, context, &what, &plan));
    DO(racl_plan_free(plan));
}

static void begin(mine *of) {
    racl_capture *capture;
    /* What a thread has for itself from the first time on is gone the next time. */
    begin_own(of);
    end_own(of);
    compile(of, 'a');
    begin_own(of);
    DO(racl_stream_new(context, NULL, &of->stream));
    DO(racl_buffer_new(context, 64, &of->buffer));
    DO(racl_event_new(context, 0, &of->event));
    DO(racl_capture_begin(of->stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_fill(of->stream, of->buffer, 9));
    DO(racl_capture_end(capture, &of->graph));
    work(of, 1);
}

static void end(void *value) {
    mine *of = value;
    if (--of->round > 0) {
        CHECK(pthread_setspecific(keys[of->key], of) == 0);
        return;
    }
    work(of, 2);
    compile(of, 'b');
    DO(racl_stream_fill(of->stream, of->buffer, 3));
    DO(racl_buffer_free(of->buffer));
    DO(racl_graph_free(of->graph));
    DO(racl_stream_free(of->stream));
    DO(racl_event_free(of->event));
    end_own(of);
    of->is_over = 1;
}

static void *live(void *value) {
    mine *of = value;
    begin(of);
    CHECK(pthread_setspecific(keys[of->key], of) == 0);
    return NULL;
}

int main(void) {
    racl_mock_live alive = {.size = sizeof alive};
    racl_cache_options options = {.size = sizeof options, .name = "exits", .folder = "exits"};
    CHECK(pthread_key_create(&keys[0], end) == 0);
    DO(racl_library_open(NULL, &library));
    DO(racl_context_primary(library, 0, &context));
    CHECK(pthread_key_create(&keys[1], end) == 0);
    DO(racl_cache_new(&options, &cache));
    for (int key = 0; key < KEYS; ++key) {
        for (int round = 1; round <= ROUNDS; ++round) {
            mine of = {.key = key, .in_round = round, .round = round};
            racl_errors *errors;
            size_t count;
            pthread_t thread;
            CHECK(pthread_create(&thread, NULL, live, &of) == 0);
            CHECK(pthread_join(thread, NULL) == 0);
            CHECK(of.is_over);
            DO(racl_context_take_errors(context, &errors));
            DO(racl_errors_count(errors, &count));
            CHECK(count == 0);
            DO(racl_errors_free(errors));
        }
    }
    DO(racl_cache_free(cache));
    DO(racl_context_close(context));
    DO(racl_mock_count(&alive));
    CHECK(alive.streams == 0 && alive.events == 0 && alive.graphs == 0 && alive.device_bytes == 0);
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
