/* Host functions, foreign operators, the log, errors of destructors, and the control of the mock. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "plans.h"

static racl_context *context;
static racl_stream *stream;

typedef struct {
    int runs, launches, simulated, released;
    racl_executable *busy;
    int32_t fails;
    const char *says;
    unsigned char attribute;
} Seen;

static int32_t count(void *user, const void *attributes, size_t size) {
    Seen *seen = user;
    ++seen->runs;
    CHECK((attributes == NULL) == (size == 0));
    seen->attribute = size == 1 ? *(const unsigned char *)attributes : 0;
    return seen->fails;
}

static int32_t full(void *user, const void *attributes, size_t size) {
    (void)attributes, (void)size;
    return racl_last_error_set(RACL_CALLBACK_PANICKED, user);
}

/* What it knows of a failure, with which it fails. */
static const racl_error known = {.size = sizeof known, .status = RACL_FILE, .code = 107002, .call = "aclrtMemcpy",
                                 .message = "no copy", .details = "no copy\n  of the third page"};

static int32_t knows(void *user, const void *attributes, size_t size) {
    (void)user, (void)attributes, (void)size;
    return racl_last_error_put(&known);
}

static int32_t launch_knows(void *user, const racl_launch *launch) {
    (void)launch;
    racl_error error = known;
    error.status = *(int32_t *)user;
    return racl_last_error_put(&error);
}

static int32_t simulate_knows(void *user, const racl_bytes *reads, size_t read_count, const racl_bytes *writes,
                              size_t write_count) {
    (void)reads, (void)read_count, (void)writes, (void)write_count;
    return knows(user, NULL, 0);
}

/* That the last failure of this thread is of this status, and is told with all that is known of it. */
static void is_known(int32_t status, const char *text) {
    CHECK(racl_last_error_status() == status && strstr(racl_last_error_message(), text));
    CHECK(racl_last_error_code() == 107002 && strcmp(racl_last_error_call(), "aclrtMemcpy") == 0);
    CHECK(strstr(racl_last_error_message(), "no copy") && strstr(racl_last_error_details(), "of the third page"));
}

static void release(void *user) { ++((Seen *)user)->released; }

/* Looks at what it is given; it puts nothing on the stream. */
static int32_t twice(void *user, const racl_launch *launch) {
    Seen *seen = user;
    ++seen->launches;
    CHECK(launch->size == sizeof *launch && launch->count == 2 && launch->attributes_size == 1);
    CHECK(launch->value_size == sizeof(racl_launch_value));
    const racl_launch_value *from = &launch->values[0], *to = &launch->values[1];
    CHECK(from->bytes == 16 && from->rank == 1 && from->shape[0] == 4 && from->strides[0] == 1 && from->dtype == FLOAT);
    if (seen->busy != NULL) {
        /* The run that called this has the executable. */
        racl_bindings *none;
        CHECK(racl_executable_clear_graphs(seen->busy) == RACL_BUSY);
        CHECK(racl_bindings_new(seen->busy, &none) == RACL_BUSY && none == NULL);
        CHECK(racl_executable_free(seen->busy) == RACL_BUSY);
    }
    if (seen->says != NULL) return racl_last_error_set(seen->fails, seen->says);
    if (seen->fails != 0) return seen->fails;
    racl_buffer *a, *b;
    racl_tensor *x, *y;
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = FLOAT, .rank = 1, .shape = from->shape, .format = ND};
    CHECK(launch->stream != NULL);
    DO(racl_buffer_ref(context, from->address, 16, &a));
    DO(racl_buffer_ref(context, to->address, 16, &b));
    DO(racl_tensor_new(a, &layout, &x));
    DO(racl_tensor_new(b, &layout, &y));
    DO(racl_tensor_free(x));
    DO(racl_tensor_free(y));
    DO(racl_buffer_free(a));
    DO(racl_buffer_free(b));
    return 0;
}

static int32_t twice_on_the_host(void *user, const racl_bytes *reads, size_t read_count, const racl_bytes *writes,
                                 size_t write_count) {
    Seen *seen = user;
    ++seen->simulated;
    CHECK(read_count == 1 && write_count == 1 && reads[0].size == 16 && writes[0].size == 16);
    const float *from = reads[0].data;
    float *to = writes[0].data;
    for (int at = 0; at < 4; ++at) to[at] = 2 * from[at];
    return seen->says == NULL ? seen->fails : racl_last_error_set(seen->fails, seen->says);
}

static void host_functions(void) {
    Seen seen = {0};
    DO(racl_stream_host_function(stream, count, &seen, release));
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_stream_host_function(stream, count, &seen, NULL));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(seen.runs == 2 && seen.released == 1);
    CHECK(racl_stream_host_function(stream, NULL, &seen, release) == RACL_NULL_POINTER && seen.released == 1);
    /* One that says that it failed fails the work, and nothing else. */
    seen.fails = 7;
    DO(racl_stream_host_function(stream, count, &seen, release));
    CHECK(racl_stream_synchronize(stream, -1) == RACL_CALLBACK_PANICKED && strstr(racl_last_error_message(), "gave 7"));
    seen.fails = 0;
    DO(racl_stream_host_function(stream, count, &seen, release));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(seen.runs == 4 && seen.released == 3);
    /* One that says why. */
    DO(racl_stream_host_function(stream, full, "the disk is full", NULL));
    CHECK(racl_stream_synchronize(stream, -1) == RACL_CALLBACK_PANICKED);
    CHECK(strstr(racl_last_error_message(), "the disk is full"));
    /* One that knows more of it. */
    DO(racl_stream_host_function(stream, knows, NULL, NULL));
    CHECK(racl_stream_synchronize(stream, -1) != RACL_OK);
    is_known(RACL_CALLBACK_PANICKED, "gave");
    CHECK(racl_last_error_set(7, "mine") == 7 && racl_last_error_status() == 7);
    CHECK(strcmp(racl_last_error_message(), "mine") == 0 && strcmp(racl_last_error_details(), "mine") == 0);
    CHECK(racl_last_error_code() == 0 && racl_last_error_call()[0] == 0);
    CHECK(racl_last_error_set(RACL_OK, "none") == RACL_INVALID_ARGUMENT);
    CHECK(racl_last_error_set(7, NULL) == RACL_NULL_POINTER);
    /* A call that fails leaves the pair with the caller. */
    DO(racl_mock_fail("aclrtLaunchHostFunc", 1, 507000));
    CHECK(racl_stream_host_function(stream, count, &seen, release) != RACL_OK);
    CHECK(seen.released == 3);
    DO(racl_mock_clear_failures());

    /* In a captured graph it runs at each launch. */
    racl_capture *capture;
    racl_graph *graph;
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    DO(racl_stream_host_function(stream, count, &seen, release));
    DO(racl_capture_end(capture, &graph));
    DO(racl_graph_launch(graph, stream));
    DO(racl_graph_launch(graph, stream));
    DO(racl_graph_wait(graph));
    CHECK(seen.runs == 6 && seen.released == 3);
    DO(racl_graph_close(graph));
    CHECK(seen.released == 4);
}

static racl_plan *foreign_plan(racl_host_function *function, racl_foreign *foreign) {
    racl_builder *g;
    racl_plan *plan;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), y, h = muls(g, x, 1);
    racl_dim four = 4;
    DO(racl_builder_empty(g, FLOAT, &four, 1, &y));
    DO(racl_builder_copy(g, y, h));
    DO(racl_builder_foreign(g, foreign, &h, 1, &y, 1));
    DO(racl_builder_host_function(g, function));
    DO(racl_builder_output(g, "y", y));
    uint32_t operators;
    DO(racl_builder_operators(g, &operators));
    CHECK(operators == 4);
    DO(racl_builder_build(g, &plan));
    return plan;
}

static void foreign_operators(void) {
    Seen of_host = {0}, of_foreign = {0};
    unsigned char attribute = 42;
    racl_host_function_info host_info = {.size = sizeof host_info, .name = "mine.count", .version = 1, .run = count,
                                         .user = &of_host, .release = release, .attributes = &attribute,
                                         .attributes_size = 1};
    racl_foreign_info info = {.size = sizeof info, .name = "mine.twice", .version = 3, .launch = twice,
                              .simulate = twice_on_the_host, .user = &of_foreign, .release = release,
                              .attributes = &attribute, .attributes_size = 1};
    racl_host_function *function, *none;
    racl_foreign *foreign, *nothing;
    host_info.run = NULL;
    CHECK(racl_host_function_new(&host_info, &none) == RACL_NULL_POINTER && of_host.released == 0);
    host_info.run = count;
    info.launch = NULL;
    CHECK(racl_foreign_new(&info, &nothing) == RACL_NULL_POINTER && nothing == NULL);
    info.launch = twice, info.name = NULL;
    CHECK(racl_foreign_new(&info, &nothing) == RACL_NULL_POINTER && of_foreign.released == 0);
    info.name = "mine.twice";
    DO(racl_host_function_new(&host_info, &function));
    DO(racl_foreign_new(&info, &foreign));
    racl_plan *plan = foreign_plan(function, foreign), *loaded;

    /* Stored plans find both by name and version. */
    size_t needed;
    char bytes[8192];
    DO(racl_plan_store(plan, bytes, sizeof bytes, &needed));
    CHECK(needed < sizeof bytes);
    racl_registry *registry;
    DO(racl_registry_new(&registry));
    CHECK(racl_plan_load(bytes, needed, registry, &loaded) == RACL_INVALID_PLAN && loaded == NULL);
    DO(racl_registry_add_host_function(registry, function));
    CHECK(racl_registry_add_host_function(registry, function) == RACL_INVALID_ARGUMENT);
    DO(racl_registry_add_foreign(registry, foreign));
    DO(racl_plan_load(bytes, needed, registry, &loaded));
    DO(racl_registry_free(registry));
    DO(racl_host_function_free(function));
    DO(racl_foreign_free(foreign));
    DO(racl_plan_free(plan));
    CHECK(of_host.released == 0 && of_foreign.released == 0);

    float x[4] = {1, 2, 3, 4}, got[4];
    racl_given given[1] = {{"x", x, sizeof x}};
    racl_simulation *simulation;
    DO(racl_simulation_new(loaded, 0, given, 1, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    CHECK(got[0] == 2 && got[3] == 8 && of_foreign.simulated == 1 && of_host.runs == 1 && of_host.attribute == 42);
    DO(racl_simulation_free(simulation));
    of_foreign.fails = 5;
    CHECK(racl_simulation_new(loaded, 0, given, 1, NULL, 0, &simulation) == RACL_CALLBACK_PANICKED);
    CHECK(simulation == NULL);
    CHECK(strstr(racl_last_error_message(), "mine.twice") && strstr(racl_last_error_message(), "gave 5"));
    /* A number that an older failure has by chance says nothing of that. */
    of_foreign.fails = racl_last_error_set(5, "older");
    CHECK(racl_simulation_new(loaded, 0, given, 1, NULL, 0, &simulation) == RACL_CALLBACK_PANICKED);
    CHECK(strstr(racl_last_error_message(), "gave 5") && !strstr(racl_last_error_message(), "older"));
    of_foreign.says = "no such kernel";
    CHECK(racl_simulation_new(loaded, 0, given, 1, NULL, 0, &simulation) == RACL_CALLBACK_PANICKED);
    CHECK(strstr(racl_last_error_message(), "gave 5: no such kernel"));
    of_foreign.says = NULL;
    of_foreign.fails = 0, of_host.fails = 6;
    CHECK(racl_simulation_new(loaded, 0, given, 1, NULL, 0, &simulation) == RACL_CALLBACK_PANICKED);
    of_host.fails = 0;

    /* A launch that fails fails the capture, with its code; then it works. */
    racl_executable *exe;
    of_foreign.fails = 207001;
    CHECK(racl_executable_new(loaded, context, NULL, NULL, 0, &exe) == RACL_OUT_OF_MEMORY && exe == NULL);
    CHECK(racl_last_error_code() == 207001 && strcmp(racl_last_error_call(), "racl_launch_callback") == 0);
    /* One that says why. */
    of_foreign.fails = RACL_NOT_SUPPORTED, of_foreign.says = "no such kernel";
    CHECK(racl_executable_new(loaded, context, NULL, NULL, 0, &exe) == RACL_CALLBACK_PANICKED && exe == NULL);
    CHECK(strstr(racl_last_error_message(), "mine.twice") && strstr(racl_last_error_message(), "no such kernel"));
    of_foreign.fails = 207001, of_foreign.says = "no room for the tiles";
    CHECK(racl_executable_new(loaded, context, NULL, NULL, 0, &exe) == RACL_OUT_OF_MEMORY && exe == NULL);
    CHECK(racl_last_error_code() == 207001 && strcmp(racl_last_error_call(), "racl_launch_callback") == 0);
    CHECK(strstr(racl_last_error_message(), "mine.twice") && strstr(racl_last_error_message(), "no room for the tiles"));
    of_foreign.fails = 0, of_foreign.says = NULL;
    DO(racl_executable_new(loaded, context, NULL, NULL, 0, &exe));
    racl_bindings *bind;
    size_t four[1] = {4};
    racl_tensor *tx = tensor(context, x, 1, four);
    DO(racl_bindings_new(exe, &bind));
    DO(racl_bindings_tensor(bind, input_of(exe, "x"), tx));
    of_host.runs = 0;
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_executable_read(exe, output_of(exe, "y"), got, sizeof got));
    CHECK(got[0] == 1 && got[3] == 4 && of_host.runs == 1 && of_foreign.launches == 4);
    of_host.fails = 1;
    DO(racl_executable_run(exe, stream, bind));
    CHECK(racl_executable_read(exe, output_of(exe, "y"), got, sizeof got) == RACL_CALLBACK_PANICKED);
    of_host.fails = 0;
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_executable_read(exe, output_of(exe, "y"), got, sizeof got));
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    racl_run_options eager = {.size = sizeof eager, .mode = RACL_RUN_EAGER};
    DO(racl_executable_new(loaded, context, &eager, NULL, 0, &exe));
    DO(racl_bindings_new(exe, &bind));
    DO(racl_bindings_tensor(bind, input_of(exe, "x"), tx));
    of_foreign.busy = exe;
    int launches = of_foreign.launches;
    DO(racl_executable_run(exe, stream, bind));
    CHECK(of_foreign.launches == launches + 1);
    of_foreign.busy = NULL, of_foreign.fails = 507899;
    CHECK(racl_executable_run(exe, stream, bind) != RACL_OK && racl_last_error_code() == 507899);
    of_foreign.fails = 0;
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_tensor_free(tx));
    DO(racl_plan_free(loaded));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(of_host.released == 1 && of_foreign.released == 1);
}

/* Operators of no attributes and no operands, with a result of no elements and one of no dimensions. */
static int32_t launch_nothing(void *user, const racl_launch *launch) {
    ++*(int *)user;
    CHECK(launch->attributes == NULL && launch->attributes_size == 0 && launch->count == 2);
    CHECK(launch->values[0].rank == 1 && launch->values[0].shape[0] == 0 && launch->values[0].bytes == 0);
    CHECK(launch->values[1].rank == 0 && launch->values[1].shape == NULL && launch->values[1].strides == NULL);
    return 0;
}

static int32_t simulate_nothing(void *user, const racl_bytes *reads, size_t read_count, const racl_bytes *writes,
                                size_t write_count) {
    ++*(int *)user;
    CHECK(read_count == 0 && reads == NULL && write_count == 2);
    CHECK(writes[0].size == 0 && writes[0].data == NULL && writes[1].size == 4 && writes[1].data != NULL);
    memset(writes[1].data, 0, writes[1].size);
    return 0;
}

/* What a foreign operator knows of its failure is told whole, by a simulation and by what launches it. */
static void known_failures(void) {
    int32_t status = RACL_FILE;
    racl_foreign_info info = {.size = sizeof info, .name = "mine.knows", .version = 1, .launch = launch_knows,
                              .simulate = simulate_knows, .user = &status};
    racl_builder *g;
    racl_plan *plan;
    racl_foreign *foreign;
    racl_simulation *simulation;
    racl_executable *exe;
    racl_value written;
    DO(racl_foreign_new(&info, &foreign));
    DO(racl_builder_new(NULL, &g));
    DO(racl_builder_empty(g, FLOAT, NULL, 0, &written));
    DO(racl_builder_foreign(g, foreign, NULL, 0, &written, 1));
    DO(racl_builder_output(g, "y", written));
    DO(racl_builder_build(g, &plan));
    CHECK(racl_simulation_new(plan, 0, NULL, 0, NULL, 0, &simulation) != RACL_OK);
    is_known(RACL_CALLBACK_PANICKED, "mine.knows");
    CHECK(racl_executable_new(plan, context, NULL, NULL, 0, &exe) != RACL_OK);
    is_known(RACL_CALLBACK_PANICKED, "mine.knows");
    status = 207001;
    CHECK(racl_executable_new(plan, context, NULL, NULL, 0, &exe) != RACL_OK);
    is_known(RACL_OUT_OF_MEMORY, "mine.knows");
    DO(racl_plan_free(plan));
    DO(racl_foreign_free(foreign));
}

static void no_bytes(void) {
    int calls = 0;
    racl_foreign_info info = {.size = sizeof info, .name = "mine.nothing", .version = 1, .launch = launch_nothing,
                              .simulate = simulate_nothing, .user = &calls};
    racl_builder *g;
    racl_plan *plan;
    racl_foreign *foreign;
    racl_simulation *simulation;
    racl_executable *exe;
    racl_value written[2];
    racl_dim none = 0;
    DO(racl_foreign_new(&info, &foreign));
    DO(racl_builder_new(NULL, &g));
    DO(racl_builder_empty(g, FLOAT, &none, 1, &written[0]));
    DO(racl_builder_empty(g, FLOAT, NULL, 0, &written[1]));
    DO(racl_builder_foreign(g, foreign, NULL, 0, written, 2));
    DO(racl_builder_output(g, "y", written[1]));
    DO(racl_builder_build(g, &plan));
    DO(racl_simulation_new(plan, 0, NULL, 0, NULL, 0, &simulation));
    CHECK(calls == 1);
    DO(racl_executable_new(plan, context, NULL, NULL, 0, &exe));
    CHECK(calls == 2);
    DO(racl_executable_free(exe));
    DO(racl_simulation_free(simulation));
    DO(racl_foreign_free(foreign));
    DO(racl_plan_free(plan));
}

typedef struct {
    int lines;
    int32_t level;
    char text[256];
} Log;

static void line(void *user, int32_t level, const char *target, const char *message) {
    Log *log = user;
    ++log->lines;
    log->level = level;
    snprintf(log->text, sizeof log->text, "%s: %s", target, message);
}

static void log_and_errors(void) {
    Log log = {0};
    CHECK(racl_log_set(9, line, &log) == RACL_INVALID_ARGUMENT);
    DO(racl_log_set(RACL_LOG_WARN, line, &log));
    Seen seen = {.fails = 3};
    DO(racl_stream_host_function(stream, count, &seen, NULL));
    CHECK(racl_stream_synchronize(stream, -1) == RACL_CALLBACK_PANICKED);
    CHECK(log.lines >= 1 && log.level == RACL_LOG_ERROR);
    CHECK(strncmp(log.text, "racl::", 6) == 0 && strstr(log.text, "gave 3"));
    DO(racl_log_set(RACL_LOG_OFF, NULL, NULL));
    int lines = log.lines;
    DO(racl_stream_host_function(stream, count, &seen, NULL));
    CHECK(racl_stream_synchronize(stream, -1) == RACL_CALLBACK_PANICKED && log.lines == lines);

    /* What a free met. */
    racl_stream *doomed;
    racl_errors *errors;
    racl_error error = {.size = sizeof error};
    size_t number;
    DO(racl_stream_new(context, NULL, &doomed));
    DO(racl_mock_fail("aclrtDestroyStream", 1, 507000));
    DO(racl_stream_free(doomed));
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_count(errors, &number));
    CHECK(number == 1);
    DO(racl_errors_get(errors, 0, &error));
    CHECK(error.code == 507000 && strcmp(error.call, "aclrtDestroyStream") == 0 && strstr(error.message, "507000"));
    CHECK(error.status != RACL_OK);
    DO(racl_errors_free(errors));
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_count(errors, &number));
    CHECK(number == 0);
    DO(racl_errors_free(errors));
    DO(racl_mock_clear_failures());
}

typedef struct {
    sem_t inside;
    atomic_int entered, left;
} Slow;

/* Stays inside for a while. */
static void slow_line(void *user, int32_t level, const char *target, const char *message) {
    (void)level, (void)target, (void)message;
    Slow *slow = user;
    ++slow->entered;
    sem_post(&slow->inside);
    for (int at = 0; at < 100; ++at) sched_yield();
    ++slow->left;
}

static void last_line(void *user, int32_t level, const char *target, const char *message) {
    (void)level, (void)target, (void)message;
    if (racl_log_set(RACL_LOG_OFF, NULL, NULL) == RACL_OK) sem_post((sem_t *)user);
}

static atomic_bool is_over;

/* Logs one line after the other. */
static void *fail(void *of) {
    Seen seen = {.fails = 3};
    while (!is_over) {
        if (racl_stream_host_function(of, count, &seen, NULL) != RACL_OK ||
            racl_stream_synchronize(of, -1) != RACL_CALLBACK_PANICKED) {
            fprintf(stderr, "%s\n", racl_last_error_message());
            exit(1);
        }
    }
    return NULL;
}

/* Who takes a log away may free what it was given. */
static void log_of_another_thread(void) {
    racl_stream *other;
    pthread_t thread;
    DO(racl_stream_new(context, NULL, &other));
    pthread_create(&thread, NULL, fail, other);
    for (int round = 0; round < 20; ++round) {
        Slow *slow = calloc(1, sizeof *slow);
        sem_init(&slow->inside, 0, 0);
        DO(racl_log_set(RACL_LOG_ERROR, slow_line, slow));
        sem_wait(&slow->inside);
        DO(racl_log_set(RACL_LOG_OFF, NULL, NULL));
        CHECK(slow->entered == slow->left);
        sem_destroy(&slow->inside);
        free(slow);
    }
    /* From inside it waits for nobody. */
    static sem_t told;
    sem_init(&told, 0, 0);
    DO(racl_log_set(RACL_LOG_ERROR, last_line, &told));
    sem_wait(&told);
    is_over = true;
    pthread_join(thread, NULL);
    DO(racl_stream_close(other));
}

static void mock(void) {
    int32_t former, is_complete;
    uint64_t before, now, tasks, calls, after;
    racl_buffer *buffer;
    DO(racl_buffer_new(context, 1024, &buffer));
    DO(racl_mock_stand_still(1, &former));
    DO(racl_mock_hold(stream));
    DO(racl_mock_calls("aclrtCmoAsync", &calls));
    size_t fetched;
    DO(racl_stream_prefetch(stream, buffer, 24, 0, &fetched));
    CHECK(fetched == 1000);
    CHECK(racl_stream_prefetch(stream, buffer, 1024, 0, &fetched) == RACL_INVALID_ARGUMENT && fetched == 0);
    DO(racl_mock_calls("aclrtCmoAsync", &after));
    CHECK(after == calls + 1);
    DO(racl_stream_is_complete(stream, &is_complete));
    CHECK(is_complete == 0);
    DO(racl_mock_run(&tasks));
    CHECK(tasks == 0);
    CHECK(racl_stream_synchronize(stream, 1000) == RACL_TIMEOUT);
    DO(racl_mock_release(stream));
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_mock_stand_still(former, &former));
    CHECK(former == 1);
    DO(racl_mock_now(&before));
    DO(racl_mock_advance(5000));
    DO(racl_mock_now(&now));
    CHECK(now >= before + 5000);
    DO(racl_mock_fail_task("aclrtMemsetAsync", 1, 507015));
    DO(racl_stream_fill(stream, buffer, 0));
    CHECK(racl_stream_synchronize(stream, -1) == RACL_DEVICE_FAULT && racl_last_error_code() == 507015);
    CHECK(racl_mock_fail("", 1, 507000) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "\"\" is no function of AscendCL"));
    CHECK(racl_mock_fail("aclrtMalloc", 0, 507000) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "number 0 of aclrtMalloc"));
    CHECK(racl_mock_fail_task("aclnnAbs", 1, 0) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "aclnnAbs fails with code 0"));
    racl_mock_live live = {.size = sizeof live};
    DO(racl_mock_count(&live));
    CHECK(live.streams >= 1 && live.device_bytes >= 1024);
    DO(racl_buffer_free(buffer));
}

/* One error that an end met. */
static int left(int32_t status, const char *text) {
    racl_errors *errors;
    racl_error error = {.size = sizeof error};
    size_t number;
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_count(errors, &number));
    int is_it = number == 1 && racl_errors_get(errors, 0, &error) == RACL_OK && error.status == status &&
                strstr(error.message, text) != NULL;
    DO(racl_errors_free(errors));
    return is_it;
}

/* A stream of other code goes back to it, whatever became of the work; once that is over. */
static void borrowed(void) {
    racl_stream *theirs;
    racl_buffer *buffer;
    void *raw;
    DO(racl_stream_raw(stream, &raw));
    DO(racl_buffer_new(context, 64, &buffer));
    DO(racl_stream_ref(context, raw, &theirs));
    DO(racl_stream_host_function(theirs, full, "the disk is full", NULL));
    DO(racl_stream_free(theirs));
    CHECK(racl_stream_free(theirs) == RACL_STALE_HANDLE);
    CHECK(left(RACL_CALLBACK_PANICKED, "the disk is full"));
    DO(racl_stream_ref(context, raw, &theirs));
    DO(racl_mock_fail_task("aclrtMemsetAsync", 1, 507015));
    DO(racl_stream_fill(theirs, buffer, 0));
    DO(racl_stream_free(theirs));
    CHECK(left(RACL_DEVICE_FAULT, "507015"));
    /* What was told is not told again. */
    DO(racl_stream_ref(context, raw, &theirs));
    DO(racl_mock_fail_task("aclrtMemsetAsync", 1, 507015));
    DO(racl_stream_fill(theirs, buffer, 0));
    CHECK(racl_stream_synchronize(theirs, -1) == RACL_DEVICE_FAULT);
    DO(racl_stream_free(theirs));
    CHECK(!left(RACL_DEVICE_FAULT, ""));
    /* One that does not end keeps its handle. */
    DO(racl_free_limit_set(20 * 1000 * 1000));
    DO(racl_stream_ref(context, raw, &theirs));
    DO(racl_mock_hold(stream));
    DO(racl_stream_fill(theirs, buffer, 0));
    CHECK(racl_stream_free(theirs) == RACL_TIMEOUT && strstr(racl_last_error_message(), "not done"));
    DO(racl_mock_release(stream));
    DO(racl_stream_free(theirs));
    DO(racl_free_limit_set((uint64_t)10 * 1000 * 1000 * 1000));
    DO(racl_buffer_close(buffer));
    DO(racl_stream_synchronize(stream, -1));
}

int main(void) {
    racl_library *library;
    DO(racl_library_open(NULL, &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    host_functions();
    foreign_operators();
    known_failures();
    no_bytes();
    log_and_errors();
    log_of_another_thread();
    mock();
    borrowed();
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    DO(racl_mock_reset());
    printf("%d checks\n", checks);
    return 0;
}
