/* Control of what runs: aborts, gates, captures ahead, host outputs of single runs, pools, updates of captured graphs, what
 * a context is told, and the mock's limits, races and launches. */
#include "options.h"

static racl_library *library;
static racl_context *context;
static racl_stream *stream;

/* The texts of a list, which are counted and looked through. */
static size_t listed(racl_errors *list, const char *text) {
    size_t count, found = 0;
    DO(racl_errors_count(list, &count));
    for (size_t at = 0; at < count; ++at) {
        racl_error error = {.size = sizeof error};
        DO(racl_errors_get(list, at, &error));
        CHECK(error.status == RACL_OK);
        found += strstr(error.message, text) != NULL;
    }
    DO(racl_errors_free(list));
    CHECK(found == count);
    return count;
}

static void devices(void) {
    char name[64];
    size_t needed;
    DO(racl_library_soc_name(library, name, sizeof name, &needed));
    CHECK(strncmp(name, "Ascend", 6) == 0 && needed == strlen(name) + 1);
    racl_device_info info = {.size = sizeof info};
    DO(racl_context_device_info(context, &info));
    CHECK(info.cube_cores == 24 && info.vector_cores == 48 && info.l2_cache_bytes == 192u << 20);
    DO(racl_mock_set_l2_cache(1 << 20));
    DO(racl_context_device_info(context, &info));
    CHECK(info.l2_cache_bytes == 1 << 20);
    DO(racl_mock_set_l2_cache(0));
    DO(racl_mock_fail("aclrtGetDeviceInfo", 1, 507899));
    CHECK(racl_context_device_info(context, &info) != RACL_OK && info.cube_cores == 0);
    DO(racl_mock_clear_failures());
}

static void limits(void) {
    racl_context *own;
    racl_buffer *one, *other;
    DO(racl_context_new(context, &own));
    DO(racl_context_set_memory_limit(own, 64 << 20));
    DO(racl_buffer_new(own, 50 << 20, &one));
    CHECK(racl_buffer_new(own, 50 << 20, &other) == RACL_OUT_OF_MEMORY && other == NULL);
    DO(racl_context_set_memory_limit(own, 0));
    DO(racl_buffer_new(own, 50 << 20, &other));
    DO(racl_buffer_close(one));
    DO(racl_buffer_close(other));
    DO(racl_context_close(own));

    racl_mock_live live = {.size = sizeof live};
    racl_stream *more;
    DO(racl_mock_count(&live));
    DO(racl_mock_limit_streams((uint32_t)live.streams + 1)); /* and the default stream */
    CHECK(racl_stream_new(context, NULL, &more) == RACL_NO_STREAMS && more == NULL);
    DO(racl_mock_limit_streams(0));
    DO(racl_stream_new(context, NULL, &more));
    DO(racl_stream_close(more));
    CHECK(racl_mock_limit_streams(1 << 20) == RACL_INVALID_ARGUMENT);
    racl_event *event;
    DO(racl_mock_limit_events(1));
    DO(racl_event_new(context, 0, &event));
    for (int round = 0; round < 3; ++round) DO(racl_event_record(event, stream)); /* each waits for the one before */
    DO(racl_event_synchronize(event, -1));
    DO(racl_mock_limit_events(0));
    DO(racl_event_free(event));
}

/* Memory of a stream, which the stream's earlier work may still use, and of a graph. */
static void memory(void) {
    racl_buffer *one, *other;
    racl_capture *capture;
    racl_graph *graph;
    void *address, *again;
    DO(racl_mock_hold(stream));
    DO(racl_stream_alloc(stream, 1000, &one));
    DO(racl_buffer_address(one, &address));
    DO(racl_stream_fill(stream, one, 1));
    DO(racl_buffer_free(one));
    DO(racl_stream_alloc(stream, 1000, &other));
    DO(racl_buffer_address(other, &again));
    CHECK(again == address);
    DO(racl_buffer_free(other));
    DO(racl_mock_release(stream));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(racl_stream_alloc(stream, 0, &one) == RACL_INVALID_ARGUMENT && one == NULL);
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_alloc(stream, 1000, &one));
    DO(racl_stream_fill(stream, one, 7));
    DO(racl_buffer_free(one));
    DO(racl_capture_end(capture, &graph));
    DO(racl_graph_launch(graph, stream));
    DO(racl_graph_close(graph));
}

static void races(void) {
    racl_context *own;
    racl_stream *left, *right;
    racl_buffer *buffer;
    racl_errors *list;
    int32_t former;
    uint64_t tasks;
    DO(racl_context_new(context, &own));
    DO(racl_stream_new(own, NULL, &left));
    DO(racl_stream_new(own, NULL, &right));
    DO(racl_buffer_new(own, 1024, &buffer));
    CHECK(racl_mock_check_races(7, &former) == RACL_INVALID_ARGUMENT && former == 0);
    DO(racl_mock_check_races(RACL_MOCK_RACES_FAIL, &former));
    CHECK(former == RACL_MOCK_RACES_OFF);
    DO(racl_stream_fill(left, buffer, 1));
    DO(racl_stream_fill(right, buffer, 2)); /* waits for the other stream */
    DO(racl_stream_synchronize(right, -1));
    DO(racl_mock_races(&list));
    CHECK(listed(list, "") == 0);
    CHECK(racl_context_set_tracking(own, 2) == RACL_INVALID_ARGUMENT);
    CHECK(racl_context_set_tracking(own, -1) == RACL_INVALID_ARGUMENT);
    DO(racl_context_set_tracking(own, 0));
    DO(racl_stream_fill(left, buffer, 1));
    DO(racl_stream_fill(right, buffer, 2));
    DO(racl_mock_run(&tasks));
    DO(racl_mock_races(&list));
    CHECK(listed(list, "nothing orders them") == 1);
    /* One of the two failed. */
    int32_t of_left = racl_stream_synchronize(left, -1), of_right = racl_stream_synchronize(right, -1);
    CHECK((of_left == RACL_OK) != (of_right == RACL_OK));
    DO(racl_context_set_tracking(own, 1));
    DO(racl_mock_check_races(RACL_MOCK_RACES_OFF, &former));
    CHECK(former == RACL_MOCK_RACES_FAIL);
    DO(racl_stream_close(left));
    DO(racl_stream_close(right));
    DO(racl_buffer_close(buffer));
    DO(racl_context_close(own));
}

static void aborts(void) {
    racl_stream *doomed;
    racl_event *event;
    racl_buffer *buffer;
    racl_graph *graph;
    racl_capture *capture;
    unsigned char got;
    DO(racl_stream_new(context, NULL, &doomed));
    DO(racl_stream_set_name(doomed, "the doomed one"));
    DO(racl_event_new(context, 0, &event));
    DO(racl_buffer_new(context, 1, &buffer));
    DO(racl_buffer_write(buffer, 0, "\1", 1));
    DO(racl_mock_hold(doomed));
    DO(racl_stream_fill(doomed, buffer, 2));
    DO(racl_event_record(event, doomed));
    DO(racl_stream_abort(doomed));
    CHECK(racl_event_synchronize(event, -1) == RACL_ABORTED);
    DO(racl_mock_release(doomed));
    DO(racl_stream_synchronize(doomed, -1));
    DO(racl_buffer_read(buffer, 0, &got, 1));
    CHECK(got == 1);
    DO(racl_capture_begin(doomed, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_stream_abort(doomed) == RACL_CAPTURE_FORBIDDEN);
    CHECK(strstr(racl_last_error_message(), "the doomed one"));
    DO(racl_stream_fill(doomed, buffer, 3));
    DO(racl_capture_end(capture, &graph));
    CHECK(racl_graph_abort(graph) == RACL_NOT_SUPPORTED);
    DO(racl_graph_close(graph));

    DO(racl_mock_hold(doomed));
    DO(racl_stream_fill(doomed, buffer, 4));
    CHECK(racl_context_abort_device(context, 0) == RACL_INVALID_ARGUMENT);
    DO(racl_context_abort_device(context, 1000000000));
    DO(racl_mock_release(doomed));
    DO(racl_stream_synchronize(doomed, -1));
    DO(racl_buffer_read(buffer, 0, &got, 1));
    CHECK(got == 1);
    DO(racl_event_free(event));
    DO(racl_stream_close(doomed));
    DO(racl_buffer_close(buffer));
}

/* A stream that is freed while the mock holds it keeps its context open until all are let go on. */
static void freed_and_held(void) {
    racl_context *own;
    racl_stream *held;
    racl_buffer *buffer;
    DO(racl_context_new(context, &own));
    DO(racl_stream_new(own, NULL, &held));
    DO(racl_buffer_new(own, 1, &buffer));
    DO(racl_mock_hold(held));
    DO(racl_stream_fill(held, buffer, 1));
    DO(racl_free_limit_set(1000000));
    DO(racl_stream_free(held));
    DO(racl_buffer_free(buffer));
    CHECK(racl_context_close(own) != RACL_OK);
    DO(racl_mock_release_all());
    while (racl_context_close(own) != RACL_OK) {
        /* A thread of racl ends the stream. */
    }
    DO(racl_free_limit_set(10000000000));
}

/* y = |x|, of rows that each run says, on the host. */
static racl_plan *absolute(const char *gate) {
    racl_builder *g;
    racl_plan *plan;
    racl_dim rows;
    DO(racl_builder_new(NULL, &g));
    DO(racl_builder_symbol(g, "rows", 1, 8, &rows));
    racl_value x = input(g, "x", rows, 0, RACL_INPUT_HOST);
    if (gate != NULL) {
        DO(racl_builder_gate(g, gate));
        DO(racl_builder_gate_wait(g, gate));
    }
    DO(racl_builder_output_to_host(g, "y", unary(g, "aclnnAbs", x)));
    DO(racl_builder_build(g, &plan));
    return plan;
}

static void give(racl_executable *exe, racl_bindings *bind, const float *x, size_t rows) {
    DO(racl_bindings_host(bind, input_of(exe, "x"), FLOAT, &rows, 1, x, rows * sizeof *x));
}

static void host_outputs(void) {
    racl_plan *plan = absolute(NULL);
    const float x[3] = {-1, 2, -3};
    float got[3];
    for (int32_t mode = RACL_RUN_CAPTURED; mode <= RACL_RUN_EAGER; ++mode) {
        racl_run_options options = {.size = sizeof options, .mode = mode, .host_output_buffers = 2};
        racl_executable *exe;
        racl_bindings *bind;
        racl_host_outputs *first, *second, *none;
        size_t shape[2], rank;
        int32_t is, dtype;
        DO(racl_executable_new(plan, context, &options, NULL, 0, &exe));
        DO(racl_bindings_new(exe, &bind));
        uint32_t y = output_of(exe, "y"), count;
        char name[8];
        DO(racl_executable_input_count(exe, &count));
        CHECK(count == 1);
        DO(racl_executable_output_count(exe, &count));
        CHECK(count == 1);
        DO(racl_executable_input_name(exe, 0, name, sizeof name, NULL));
        CHECK(strcmp(name, "x") == 0);
        DO(racl_executable_output_name(exe, y, name, sizeof name, &rank));
        CHECK(strcmp(name, "y") == 0 && rank == 2);
        CHECK(racl_executable_input_name(exe, 1, name, sizeof name, NULL) == RACL_INVALID_ARGUMENT && name[0] == 0);
        CHECK(racl_executable_take_host_outputs(exe, &none) == RACL_INVALID_ARGUMENT && none == NULL);
        /* Each run is read while the next one is under way. */
        give(exe, bind, x, 2);
        DO(racl_executable_run(exe, stream, bind));
        DO(racl_executable_take_host_outputs(exe, &first));
        CHECK(racl_executable_take_host_outputs(exe, &none) == RACL_INVALID_ARGUMENT && none == NULL);
        DO(racl_stream_synchronize(stream, -1));
        DO(racl_mock_hold(stream));
        give(exe, bind, x + 1, 1);
        DO(racl_executable_run(exe, stream, bind));
        DO(racl_executable_take_host_outputs(exe, &second));
        DO(racl_host_outputs_is_ready(second, &is));
        CHECK(is == 0);
        DO(racl_host_outputs_is_ready(first, &is));
        CHECK(is == 1);
        DO(racl_host_outputs_shape(first, y, shape, 2, &rank, &dtype));
        CHECK(rank == 1 && shape[0] == 2 && dtype == FLOAT);
        CHECK(racl_host_outputs_shape(first, y + 1, shape, 2, &rank, NULL) == RACL_INVALID_ARGUMENT);
        DO(racl_host_outputs_read(first, y, got, 2 * sizeof *got));
        CHECK(got[0] == 1 && got[1] == 2);
        CHECK(racl_host_outputs_read(first, y, got, sizeof *got) == RACL_INVALID_ARGUMENT);
        DO(racl_mock_release(stream));
        DO(racl_bindings_free(bind));
        DO(racl_executable_free(exe));
        DO(racl_host_outputs_read(second, y, got, sizeof *got));
        CHECK(got[0] == 2);
        DO(racl_host_outputs_free(first));
        DO(racl_host_outputs_free(second));
    }
    DO(racl_plan_free(plan));
}

static void ahead_and_gates(void) {
    racl_plan *plan = absolute("ready");
    const float x[3] = {-1, 2, -3};
    float got[3];
    size_t room, left;
    racl_executable *exe;
    racl_bindings *bind;
    racl_stream *side;
    racl_errors *gates;
    racl_run_counters counters = {.size = sizeof counters};
    racl_run_options options = {.size = sizeof options, .graph_limit = 5, .signal_limit = 1000000};
    DO(racl_executable_new(plan, context, &options, NULL, 0, &exe));
    DO(racl_bindings_new(exe, &bind));
    DO(racl_executable_graph_room(exe, &room));
    CHECK(room == 5);
    for (size_t rows = 1; rows <= 3; ++rows) {
        give(exe, bind, x, rows);
        DO(racl_executable_capture(exe, bind));
        DO(racl_executable_capture(exe, bind));
    }
    DO(racl_executable_graph_room(exe, &left));
    DO(racl_executable_counters(exe, &counters));
    CHECK(left == 2 && counters.graphs == 3 && counters.replays == 0);
    DO(racl_executable_run(exe, stream, bind)); /* nobody signals it */
    /* What is wrong is told at once. */
    CHECK(racl_executable_read_host(exe, 99, got, sizeof got) == RACL_INVALID_ARGUMENT);
    CHECK(racl_executable_read_host(exe, output_of(exe, "y"), NULL, 4) == RACL_NULL_POINTER);
    CHECK(racl_executable_read(exe, 99, got, sizeof got) == RACL_INVALID_ARGUMENT);
    DO(racl_executable_release_gates(exe, &gates));
    CHECK(listed(gates, "ready") == 1);
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_executable_release_gates(exe, &gates));
    CHECK(listed(gates, "") == 0);
    DO(racl_executable_signal(exe, "ready", stream));
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_executable_read_host(exe, output_of(exe, "y"), got, sizeof got));
    CHECK(got[2] == 3);
    DO(racl_executable_counters(exe, &counters));
    CHECK(counters.graphs == 3 && counters.replays == 2);
    /* Runs ahead of signals: not so many that one would wait for what waits for a signal. */
    int runs = 0, status;
    while ((status = racl_executable_run(exe, stream, bind)) == RACL_OK && runs < 20) ++runs;
    CHECK(status == RACL_DEADLOCK && runs >= 4);
    DO(racl_stream_new(context, NULL, &side));
    DO(racl_executable_signal(exe, "ready", side));
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_executable_release_gates(exe, &gates));
    CHECK(listed(gates, "ready") == 1);
    DO(racl_stream_close(side));
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_plan_free(plan));
}

static void pools(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_pool *pool;
    racl_executable *both[2];
    size_t bytes, again;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 256, 0, RACL_INPUT_STATIC);
    DO(racl_builder_output(g, "y", unary(g, "aclnnAbs", unary(g, "aclnnTanh", x))));
    DO(racl_builder_build(g, &plan));
    DO(racl_pool_new(context, &pool));
    DO(racl_pool_size(pool, &bytes));
    CHECK(bytes == 0);
    racl_run_options options = {.size = sizeof options, .pool = pool};
    DO(racl_executable_new(plan, context, &options, NULL, 0, &both[0]));
    DO(racl_pool_size(pool, &bytes));
    CHECK(bytes >= 1024);
    DO(racl_executable_new(plan, context, &options, NULL, 0, &both[1]));
    DO(racl_pool_size(pool, &again));
    GOOD(racl_run_options, pool, again == bytes);
    DO(racl_pool_free(pool));
    racl_executable *none;
    BAD(racl_run_options, pool, racl_executable_new(plan, context, &options, NULL, 0, &none) == RACL_STALE_HANDLE);
    CHECK(none == NULL);
    for (int at = 0; at < 2; ++at) DO(racl_executable_free(both[at]));
    DO(racl_plan_free(plan));
}

/* ---- Updates of captured graphs ---- */

typedef struct {
    racl_tensor *x;
    double by;
    int32_t fails;
    const racl_stream *lent;
    racl_capture *ends;
} Scale;

static int32_t scale(void *user, const racl_stream *on) {
    Scale *how = user;
    how->lent = on;
    const racl_arg args[2] = {{.kind = RACL_ARG_TENSOR, .data = how->x},
                              {.kind = RACL_ARG_SCALAR_FLOAT, .real = how->by}};
    int32_t status = racl_operator(on, "aclnnInplaceMuls", args, 2);
    return status == RACL_OK && how->fails != 0 ? racl_last_error_set(how->fails, "no such factor") : status;
}

static int32_t another(void *user, const racl_stream *on) {
    const racl_arg args[1] = {{.kind = RACL_ARG_TENSOR, .data = ((Scale *)user)->x}};
    int32_t status = racl_operator(on, "aclnnInplaceRelu", args, 1);
    return status == RACL_OK ? racl_operator(on, "aclnnInplaceRelu", args, 1) : status;
}

static int32_t gives_back(void *user, const racl_stream *on) {
    CHECK(racl_stream_free((racl_stream *)on) == RACL_BUSY && racl_stream_close((racl_stream *)on) == RACL_BUSY);
    return scale(user, on);
}

static int32_t ends_capture(void *user, const racl_stream *on) {
    Scale *how = user;
    racl_graph *graph;
    DO(scale(user, on));
    CHECK(racl_capture_end(how->ends, &graph) == RACL_CAPTURE_INVALIDATED && graph == NULL);
    return RACL_OK;
}

static void updates(void) {
    const float numbers[2] = {1, 2};
    float got[2];
    size_t two = 2;
    Scale how = {.x = tensor(context, numbers, 1, &two), .by = 2};
    racl_capture *capture;
    racl_graph *graph, *other;
    racl_task_group *group, *none;
    CHECK(racl_stream_task_group(stream, scale, &how, &none) == RACL_NOT_CAPTURING && none == NULL);
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_task_group(stream, scale, &how, &group));
    DO(racl_capture_end(capture, &graph));
    DO(racl_graph_launch(graph, stream));
    how.by = 10;
    DO(racl_graph_update(graph, group, scale, &how));
    int32_t is;
    CHECK(how.lent != stream && racl_stream_is_complete(how.lent, &is) == RACL_STALE_HANDLE);
    DO(racl_graph_launch(graph, stream));
    DO(racl_tensor_read(how.x, got, sizeof got));
    CHECK(got[0] == 20 && got[1] == 40);

    /* What fails in it fails the update, with what it said, and the graph is not launched in part. */
    how.fails = RACL_NOT_SUPPORTED, how.by = 3;
    CHECK(racl_graph_update(graph, group, scale, &how) == RACL_NOT_SUPPORTED);
    CHECK(strcmp(racl_last_error_message(), "no such factor") == 0);
    CHECK(racl_graph_launch(graph, stream) == RACL_GRAPH_RUNNING);
    how.fails = 0;
    DO(racl_graph_update(graph, group, scale, &how));
    DO(racl_graph_launch(graph, stream));
    DO(racl_tensor_read(how.x, got, sizeof got));
    CHECK(got[0] == 60);
    CHECK(racl_graph_update(graph, group, another, &how) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "in the place of inplace_muls"));
    DO(racl_graph_update(graph, group, scale, &how));
    CHECK(racl_graph_update(graph, group, NULL, &how) == RACL_NULL_POINTER);
    /* What is lent is not the function's to give back: it is refused that, and the update goes on. */
    how.by = 2;
    DO(racl_graph_update(graph, group, gives_back, &how));
    CHECK(racl_stream_is_complete(how.lent, &is) == RACL_STALE_HANDLE);
    DO(racl_graph_launch(graph, stream));
    DO(racl_tensor_read(how.x, got, sizeof got));
    CHECK(got[0] == 120);

    /* One that fails in a capture leaves it without a graph. */
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    how.fails = 77;
    CHECK(racl_stream_task_group(stream, scale, &how, &none) == 77 && none == NULL);
    CHECK(racl_capture_end(capture, &other) == RACL_CAPTURE_INVALIDATED && other == NULL);
    CHECK(strstr(racl_last_error_message(), "no such factor"));
    how.fails = 0;
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_task_group(stream, scale, &how, &none));
    DO(racl_capture_end(capture, &other));
    CHECK(racl_graph_update(graph, none, scale, &how) == RACL_INVALID_ARGUMENT);
    DO(racl_task_group_free(none));

    /* The capture may end inside it: there is neither a group nor a graph then, and the stream has groups again. */
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &how.ends));
    CHECK(racl_stream_task_group(stream, ends_capture, &how, &none) == RACL_CAPTURE_INVALIDATED && none == NULL);
    CHECK(strstr(racl_last_error_message(), "the capture ended inside the task group"));
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_task_group(stream, scale, &how, &none));
    DO(racl_task_group_free(none));
    DO(racl_capture_free(capture));
    DO(racl_graph_close(other));
    DO(racl_task_group_free(group));
    DO(racl_graph_close(graph));
    DO(racl_tensor_free(how.x));
}

static void launches(void) {
    const float numbers[2] = {1, 2};
    size_t two = 2;
    Scale how = {.x = tensor(context, numbers, 1, &two), .by = 2};
    racl_mock_launch launch = {.size = sizeof launch};
    uint64_t count;
    DO(racl_mock_log_launches(1));
    DO(scale(&how, stream));
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_mock_launch_count(&count));
    DO(racl_mock_launch_get(0, &launch));
    CHECK(count == 1 && strcmp(launch.function, "aclnnInplaceMuls") == 0 && launch.graph == 0);
    CHECK(launch.cube_cores == 24 && launch.vector_cores == 48 && launch.stream >= 0);
    CHECK(racl_mock_launch_get(1, &launch) == RACL_INVALID_ARGUMENT && launch.function == NULL);
    DO(racl_mock_log_launches(0));
    DO(racl_mock_launch_count(&count));
    CHECK(count == 0);
    DO(racl_tensor_free(how.x));
}

static void call_log(void) {
    racl_stream *own;
    void *raw;
    racl_mock_call call = {.size = sizeof call};
    uint64_t count;
    DO(racl_mock_log_calls(1));
    CHECK(racl_mock_log_calls(2) == RACL_INVALID_ARGUMENT && racl_mock_log_launches(-1) == RACL_INVALID_ARGUMENT);
    int32_t former = 7;
    CHECK(racl_mock_stand_still(2, &former) == RACL_INVALID_ARGUMENT && former == 0);
    count = 7;
    CHECK(racl_mock_calls("aclrtCreateStreams", &count) == RACL_INVALID_ARGUMENT && count == 0);
    CHECK(strstr(racl_last_error_message(), "aclrtCreateStreams"));
    DO(racl_stream_new(context, NULL, &own));
    DO(racl_stream_raw(own, &raw));
    DO(racl_stream_close(own));
    DO(racl_mock_call_count(&count));
    uint64_t made = 0;
    do DO(racl_mock_call_get(made++, &call)); while (call.gave != raw);
    CHECK(strcmp(call.function, "aclrtCreateStreamWithConfig") == 0 && call.thread != 0 && call.injected == 0);
    const uint64_t thread = call.thread;
    do DO(racl_mock_call_get(--count, &call)); while (call.given_count == 0 || call.given[0] != raw);
    CHECK(strcmp(call.function, "aclrtDestroyStream") == 0 && call.given_count == 1 && call.gave == NULL);
    CHECK(call.thread == thread && count >= made);
    DO(racl_mock_fail("aclrtMalloc", 1, 507000));
    DO(racl_mock_log_calls(1));
    CHECK(racl_mock_call_get(0, &call) == RACL_INVALID_ARGUMENT && call.function == NULL);
    DO(racl_mock_clear_failures());
    DO(racl_mock_log_calls(0));
    DO(racl_mock_call_count(&count));
    CHECK(count == 0);
}

/* Rows of a table that an index chooses. */
static void indices(void) {
    const float numbers[6] = {1, 2, 3, 4, 5, 6};
    const size_t table_shape[2] = {3, 2}, out_shape[2] = {1, 2}, one = 1;
    int64_t rows[2] = {3, 2};
    float got[2];
    racl_context *own;
    racl_stream *on;
    racl_buffer *memory;
    racl_tensor *index;
    DO(racl_context_new(context, &own));
    DO(racl_stream_new(own, NULL, &on));
    racl_tensor *table = tensor(own, numbers, 2, table_shape), *out = tensor(own, numbers, 2, out_shape);
    DO(racl_buffer_new(own, sizeof rows, &memory));
    DO(racl_buffer_write(memory, 0, rows, sizeof rows));
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = INT64, .rank = 1, .shape = &one, .format = ND};
    CHECK(racl_context_set_index_checks(own, 2) == RACL_INVALID_ARGUMENT);
    DO(racl_context_set_index_checks(own, 1));
    for (size_t at = 0; at < 2; ++at) {
        layout.offset = at;
        DO(racl_tensor_new(memory, &layout, &index));
        const racl_arg args[4] = {{.kind = RACL_ARG_TENSOR, .data = table},
                                  {.kind = RACL_ARG_INT},
                                  {.kind = RACL_ARG_TENSOR, .data = index},
                                  {.kind = RACL_ARG_TENSOR, .data = out}};
        int32_t status = racl_operator(on, "aclnnIndexSelect", args, 4);
        CHECK(status == (at == 0 ? RACL_INVALID_ARGUMENT : RACL_OK));
        CHECK(at == 1 || strstr(racl_last_error_message(), "index is 3 at [0]") != NULL);
        DO(racl_tensor_free(index));
    }
    DO(racl_tensor_read(out, got, sizeof got));
    CHECK(got[0] == 5 && got[1] == 6);
    DO(racl_tensor_free(table));
    DO(racl_tensor_free(out));
    DO(racl_buffer_close(memory));
    DO(racl_stream_close(on));
    DO(racl_context_close(own));
}

int main(void) {
    DO(racl_library_open(NULL, &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    devices();
    limits();
    memory();
    races();
    indices();
    aborts();
    freed_and_held();
    host_outputs();
    ahead_and_gates();
    pools();
    updates();
    launches();
    call_log();
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
