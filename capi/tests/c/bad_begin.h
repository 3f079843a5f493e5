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
static racl_builder *good_builder, *stale_builder;
static racl_plan *good_plan, *stale_plan;
static racl_executable *good_executable, *stale_executable;
static racl_bindings *good_bindings, *stale_bindings;
static racl_simulation *good_simulation, *stale_simulation;
static racl_cache *good_cache, *stale_cache;
static racl_registry *good_registry, *stale_registry;
static racl_host_function *good_host_function, *stale_host_function;
static racl_foreign *good_foreign, *stale_foreign;
static racl_host_outputs *good_host_outputs, *stale_host_outputs;
static racl_pool *good_pool, *stale_pool;
static racl_task_group *good_task_group, *stale_task_group;
static racl_errors *good_errors, *stale_errors;

/* Eight bytes each, so that the address of one is even and aligned. */
static size_t bytes[64];
static size_t sizes[8];
static size_t none[512], short_one[512], long_one[512], one_byte_short[512];
static char text[64];
static int refused;
/* A list of far fewer elements than it is said to have. */
static size_t few[64];

static void soil(void *place, size_t size) { memset(place, 0xFF, size); }

static int is_zero(const void *place, size_t size) {
    static const char zeroes[16];
    return memcmp(place, zeroes, size) == 0;
}

static int is_soiled(const void *place, size_t size) {
    const unsigned char *byte = place;
    while (size > 0 && byte[size - 1] == 0xFF) --size;
    return size == 0;
}

/* A struct with another size, and no zeroes behind it. */
static size_t resized[64];
#define RESIZED(of, bytes_of)                                                                                          \
    (memset(resized, 0xFF, sizeof resized), memcpy(resized, &of, sizeof of), resized[0] = (bytes_of), (void *)resized)
static racl_stream_options options = {.size = sizeof options};
static racl_memory_stats stats = {.size = sizeof stats};
static size_t one[1] = {1};
static racl_tensor_layout layout = {.size = sizeof layout, .rank = 1, .shape = one, .format = 2};
static racl_arg args[1];
static racl_found found;

static int32_t nothing(void *user, const void *attributes, size_t size) {
    (void)user, (void)attributes, (void)size;
    return 0;
}

static int32_t no_launch(void *user, const racl_launch *launch) {
    (void)user, (void)launch;
    return 0;
}

static int32_t no_plan(void *user, racl_builder *builder) {
    (void)user, (void)builder;
    return 0;
}

static racl_library_options library_options = {.size = sizeof library_options};
static racl_plan_options plan_options = {.size = sizeof plan_options};
static racl_scope_options scope_options = {.size = sizeof scope_options};
static racl_prefetch_options prefetch_options = {.size = sizeof prefetch_options};
static racl_plan_info plan_info = {.size = sizeof plan_info};
static racl_run_options run_options = {.size = sizeof run_options, .host_output_buffers = 2};
static racl_run_counters run_counters = {.size = sizeof run_counters};
static racl_error an_error = {.size = sizeof an_error};
static racl_cache_stats cache_stats = {.size = sizeof cache_stats};
static racl_passes passes = {.size = sizeof passes};
static racl_device_info device_info = {.size = sizeof device_info};
static racl_mock_launch mock_launch = {.size = sizeof mock_launch};
static racl_mock_call mock_call = {.size = sizeof mock_call};
static racl_mock_live live = {.size = sizeof live};
static racl_cache_options cache_options = {.size = sizeof cache_options, .name = "bad", .folder = "cache"};
static racl_compile compilation = {.size = sizeof compilation, .function = "none", .build = no_plan};
static racl_frozen frozen = {.name = "none"};
static racl_host_function_info host_function_info = {.size = sizeof host_function_info, .name = "n", .run = nothing};
static racl_foreign_info foreign_info = {.size = sizeof foreign_info, .name = "n", .launch = no_launch};

/* The host outputs of a run. */
static int take(racl_executable *executable, racl_bindings *bindings, racl_host_outputs **outputs) {
    uint32_t x;
    return racl_executable_input(executable, "x", &x) == RACL_OK &&
           racl_bindings_tensor(bindings, x, good_tensor) == RACL_OK &&
           racl_executable_run(executable, good_stream, bindings) == RACL_OK &&
           racl_executable_take_host_outputs(executable, outputs) == RACL_OK;
}

/* An operator of a group. */
static int32_t record_abs(void *user, const racl_stream *stream) {
    (void)user;
    const racl_arg both[2] = {{.kind = RACL_ARG_TENSOR, .data = good_tensor}, {.kind = RACL_ARG_TENSOR, .data = good_tensor}};
    return racl_operator(stream, "aclnnAbs", both, 2);
}

/* What plans need, twice: the second time it goes stale. */
static int make_plans(int first) {
    racl_builder *builder;
    racl_value x = 0, y;
    racl_dim shape[1] = {1};
    float zero = 0;
    racl_given given[1] = {{"x", &zero, sizeof zero}};
    int ok = racl_builder_new(NULL, &builder) == RACL_OK &&
             racl_builder_input(builder, "x", 0, shape, 1, RACL_INPUT_COPIED, &x) == RACL_OK;
    racl_arg abs[2] = {{.kind = RACL_ARG_VALUE, .integer = (int64_t)x}, {.kind = RACL_ARG_RESULT, .data = &y}};
    ok = ok && racl_builder_operator(builder, "aclnnAbs", abs, 2) == RACL_OK && racl_builder_output_to_host(builder, "y", y) == RACL_OK;
    racl_plan **plan = first ? &good_plan : &stale_plan;
    racl_executable **executable = first ? &good_executable : &stale_executable;
    stale_builder = builder;
    return ok && racl_builder_build(builder, plan) == RACL_OK &&
           racl_builder_new(NULL, &good_builder) == RACL_OK &&
           racl_executable_new(*plan, good_context, &run_options, NULL, 0, executable) == RACL_OK &&
           racl_bindings_new(*executable, first ? &good_bindings : &stale_bindings) == RACL_OK &&
           take(*executable, first ? good_bindings : stale_bindings, first ? &good_host_outputs : &stale_host_outputs) &&
           racl_pool_new(good_context, first ? &good_pool : &stale_pool) == RACL_OK &&
           racl_simulation_new(*plan, 1, given, 1, NULL, 0, first ? &good_simulation : &stale_simulation) == RACL_OK &&
           racl_cache_new(&cache_options, first ? &good_cache : &stale_cache) == RACL_OK &&
           racl_registry_new(first ? &good_registry : &stale_registry) == RACL_OK &&
           racl_host_function_new(&host_function_info, first ? &good_host_function : &stale_host_function) == RACL_OK &&
           racl_foreign_new(&foreign_info, first ? &good_foreign : &stale_foreign) == RACL_OK &&
           racl_plan_lints(*plan, first ? &good_errors : &stale_errors) == RACL_OK;
}

static int free_stale_plans(void) {
    return racl_host_outputs_free(stale_host_outputs) == RACL_OK && racl_pool_free(stale_pool) == RACL_OK &&
           racl_task_group_free(stale_task_group) == RACL_OK && racl_bindings_free(stale_bindings) == RACL_OK && racl_executable_free(stale_executable) == RACL_OK &&
           racl_plan_free(stale_plan) == RACL_OK && racl_simulation_free(stale_simulation) == RACL_OK &&
           racl_cache_free(stale_cache) == RACL_OK && racl_registry_free(stale_registry) == RACL_OK &&
           racl_host_function_free(stale_host_function) == RACL_OK && racl_foreign_free(stale_foreign) == RACL_OK &&
           racl_errors_free(stale_errors) == RACL_OK;
}

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
        racl_task_group **group = at == 0 ? &good_task_group : &stale_task_group;
        ok = racl_capture_begin(recording, RACL_CAPTURE_RELAXED, &capture) == RACL_OK &&
             racl_stream_fill(recording, good_buffer, 1) == RACL_OK &&
             racl_stream_task_group(recording, record_abs, NULL, group) == RACL_OK && racl_capture_end(capture, graph) == RACL_OK;
        stale_capture = capture;
    }
    ok = ok && racl_capture_begin(recording, RACL_CAPTURE_RELAXED, &good_capture) == RACL_OK &&
         racl_library_free(stale_library) == RACL_OK && racl_context_free(stale_context) == RACL_OK &&
         racl_stream_free(stale_stream) == RACL_OK && racl_event_free(stale_event) == RACL_OK &&
         racl_buffer_free(stale_buffer) == RACL_OK && racl_host_free(stale_host) == RACL_OK &&
         racl_graph_free(stale_graph) == RACL_OK && racl_tensor_free(stale_tensor) == RACL_OK;
    ok = ok && make_plans(1);
    racl_builder *kept = good_builder;
    ok = ok && make_plans(0) && racl_builder_free(good_builder) == RACL_OK && free_stale_plans();
    good_builder = kept;
    if (!ok) {
        fprintf(stderr, "begin: %s\n", racl_last_error_message());
        exit(1);
    }
}

/* Everything is still usable after all that. */
static void end(void) {
    int before = checks;
    DO(racl_capture_free(good_capture));
    DO(racl_host_outputs_free(good_host_outputs));
    DO(racl_pool_free(good_pool));
    DO(racl_task_group_free(good_task_group));
    DO(racl_graph_launch(good_graph, good_stream));
    DO(racl_stream_synchronize(good_stream, -1));
    DO(racl_builder_free(good_builder));
    DO(racl_bindings_free(good_bindings));
    DO(racl_executable_free(good_executable));
    DO(racl_plan_free(good_plan));
    DO(racl_simulation_free(good_simulation));
    DO(racl_cache_free(good_cache));
    DO(racl_registry_free(good_registry));
    DO(racl_host_function_free(good_host_function));
    DO(racl_foreign_free(good_foreign));
    DO(racl_errors_free(good_errors));
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

