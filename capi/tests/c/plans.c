/* Builders, plans, executables and runs: numbers, symbols, streams, and what is refused. */
#include "plans.h"

static racl_context *context;
static racl_stream *stream;

static racl_builder *builder(void) {
    racl_builder *g;
    DO(racl_builder_new(NULL, &g));
    return g;
}

static racl_plan *build(racl_builder *g) {
    racl_plan *plan;
    DO(racl_builder_build(g, &plan));
    return plan;
}

static racl_executable *executable(racl_plan *plan, int32_t mode) {
    racl_run_options options = {.size = sizeof options, .mode = mode};
    racl_executable *exe;
    DO(racl_executable_new(plan, context, &options, NULL, 0, &exe));
    return exe;
}

static racl_bindings *bindings(racl_executable *exe) {
    racl_bindings *made;
    DO(racl_bindings_new(exe, &made));
    return made;
}

static int says(const char *text) { return strstr(racl_last_error_message(), text) != NULL; }

/* y = w * |x| on two streams: by a simulation, eagerly and captured. */
static void streams_and_runs(void) {
    racl_builder *g = builder();
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), w = input(g, "w", 4, 0, RACL_INPUT_FROZEN), y;
    DO(racl_builder_event(g, "66"));
    racl_value positive = unary(g, "aclnnAbs", x);
    DO(racl_builder_record(g, "66"));
    DO(racl_builder_scope_begin(g, "side", NULL));
    DO(racl_builder_wait(g, "66"));
    racl_arg mul[3] = {value(positive), value(w), result(&y)};
    DO(racl_builder_operator(g, "aclnnMul", mul, 3));
    DO(racl_builder_scope_end(g));
    DO(racl_builder_record_stream(g, positive, "side"));
    DO(racl_builder_join(g, "side"));
    DO(racl_builder_output(g, "y", y));
    DO(racl_builder_output_to_host(g, "z", muls(g, y, 10)));
    uint32_t operators;
    DO(racl_builder_operators(g, &operators));
    CHECK(operators == 3);
    racl_plan *plan = build(g);
    racl_plan_info info = {.size = sizeof info};
    DO(racl_plan_describe(plan, &info));
    CHECK(info.operators == 4 && info.streams == 2 && info.events == 3 && info.is_dynamic == 0 && info.lints == 0);
    CHECK(racl_builder_operators(g, &operators) == RACL_STALE_HANDLE && operators == 0);

    float given_x[4] = {1, -2, 3, -4}, given_w[4] = {1, 10, 100, 1000}, expected[4] = {1, 20, 300, 4000}, got[4];
    racl_given given[2] = {{"x", given_x, sizeof given_x}, {"w", given_w, sizeof given_w}};
    racl_simulation *simulation;
    for (uint64_t seed = 0; seed < 4; ++seed) {
        size_t needed;
        DO(racl_simulation_new(plan, seed, given, 2, NULL, 0, &simulation));
        DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
        CHECK(needed == sizeof got && memcmp(got, expected, sizeof got) == 0);
        CHECK(racl_simulation_read(simulation, "?", got, sizeof got, &needed) == RACL_INVALID_ARGUMENT && needed == 0);
        DO(racl_simulation_free(simulation));
    }
    CHECK(racl_simulation_new(plan, 0, given, 1, NULL, 0, &simulation) == RACL_INVALID_ARGUMENT && says("\"w\""));

    size_t four[1] = {4}, shape[2], rank;
    int32_t dtype;
    racl_tensor *tx = tensor(context, given_x, 1, four), *tw = tensor(context, given_w, 1, four);
    racl_frozen frozen[1] = {{"w", tw}};
    racl_executable *exe;
    CHECK(racl_executable_new(plan, context, NULL, NULL, 0, &exe) == RACL_INVALID_ARGUMENT && exe == NULL);
    for (int32_t mode = RACL_RUN_CAPTURED; mode <= RACL_RUN_EAGER; ++mode) {
        racl_run_options options = {.size = sizeof options, .mode = mode};
        DO(racl_executable_new(plan, context, &options, frozen, 1, &exe));
        racl_bindings *bind = bindings(exe);
        CHECK(racl_executable_run(exe, stream, bind) == RACL_INVALID_ARGUMENT && says("\"x\""));
        DO(racl_bindings_tensor(bind, input_of(exe, "x"), tx));
        uint32_t out = output_of(exe, "y"), host = output_of(exe, "z"), none;
        CHECK(racl_executable_read(exe, out, got, sizeof got) == RACL_INVALID_ARGUMENT);
        for (int again = 0; again < 3; ++again) DO(racl_executable_run(exe, stream, bind));
        DO(racl_executable_output_shape(exe, out, shape, 2, &rank, &dtype));
        CHECK(rank == 1 && shape[0] == 4 && shape[1] == 0 && dtype == FLOAT);
        DO(racl_executable_read(exe, out, got, sizeof got));
        CHECK(memcmp(got, expected, sizeof got) == 0);
        DO(racl_executable_read_host(exe, host, got, sizeof got));
        CHECK(got[0] == 10 && got[3] == 40000);
        CHECK(racl_executable_read(exe, out, got, 12) == RACL_INVALID_ARGUMENT);
        CHECK(racl_executable_read_host(exe, host, got, 12) == RACL_INVALID_ARGUMENT);
        CHECK(racl_executable_read_host(exe, out, got, 16) == RACL_INVALID_ARGUMENT);
        CHECK(racl_executable_read(exe, 2, got, 16) == RACL_INVALID_ARGUMENT);
        CHECK(racl_executable_output(exe, "none", &none) == RACL_INVALID_ARGUMENT);
        racl_tensor *copy = tensor(context, given_x, 1, four);
        DO(racl_executable_copy_output(exe, out, stream, copy));
        DO(racl_stream_synchronize(stream, -1));
        racl_run_counters counters = {.size = sizeof counters};
        DO(racl_executable_counters(exe, &counters));
        CHECK(mode == RACL_RUN_EAGER ? counters.eager == 3 && counters.graphs == 0
                                     : counters.replays == 3 && counters.graphs == 1 && counters.captured_new == 1);
        DO(racl_executable_clear_graphs(exe));
        DO(racl_bindings_free(bind));
        DO(racl_executable_free(exe));
        /* The copy is the output: as an input of its own it gives the same again. */
        DO(racl_executable_new(plan, context, &options, frozen, 1, &exe));
        bind = bindings(exe);
        DO(racl_bindings_tensor(bind, input_of(exe, "x"), copy));
        DO(racl_executable_run(exe, stream, bind));
        DO(racl_executable_read(exe, output_of(exe, "y"), got, sizeof got));
        CHECK(got[1] == 200 && got[3] == 4000000);
        DO(racl_bindings_free(bind));
        DO(racl_executable_free(exe));
        DO(racl_tensor_free(copy));
    }
    DO(racl_tensor_free(tx));
    DO(racl_tensor_free(tw));
    DO(racl_plan_free(plan));
}

/* Sizes and numbers that runs give. */
static void symbols(void) {
    racl_builder *g = builder();
    racl_dim n, twice, shape[2], dims[2];
    racl_value x, flat, left;
    DO(racl_builder_symbol(g, "n", 1, 8, &n));
    CHECK(n < 0);
    DO(racl_builder_dim_times(g, n, 2, &twice));
    shape[0] = twice, shape[1] = 3;
    DO(racl_builder_input(g, "x", FLOAT, shape, 2, RACL_INPUT_HOST, &x));
    size_t rank;
    int32_t dtype;
    DO(racl_builder_value_shape(g, x, dims, 2, &rank));
    DO(racl_builder_value_dtype(g, x, &dtype));
    CHECK(rank == 2 && dims[0] == twice && dims[1] == 3 && dtype == FLOAT);
    racl_dim six;
    DO(racl_builder_dim_times(g, n, 6, &six));
    DO(racl_builder_reshape(g, x, &six, 1, &flat));
    DO(racl_builder_narrow(g, flat, 0, 0, n, &left));
    racl_value doubled = muls(g, left, 2);
    DO(racl_builder_output_to_host(g, "y", doubled));
    racl_plan *plan = build(g);
    racl_executable *exe = executable(plan, RACL_RUN_CAPTURED);
    racl_bindings *bind = bindings(exe);
    float data[48], got[8];
    for (int at = 0; at < 48; ++at) data[at] = (float)at + 1;
    for (size_t size = 1; size <= 8; size += 3) {
        size_t of_x[2] = {2 * size, 3};
        DO(racl_bindings_host(bind, input_of(exe, "x"), FLOAT, of_x, 2, data, 6 * size * sizeof *data));
        DO(racl_executable_run(exe, stream, bind));
        DO(racl_executable_read_host(exe, output_of(exe, "y"), got, size * sizeof *got));
        CHECK(got[0] == 2 && got[size - 1] == 2 * (float)size);
    }
    racl_run_counters counters = {.size = sizeof counters};
    DO(racl_executable_counters(exe, &counters));
    CHECK(counters.graphs == 3);
    size_t odd[2] = {3, 3}, large[2] = {18, 3};
    DO(racl_bindings_host(bind, input_of(exe, "x"), FLOAT, odd, 2, data, 36));
    CHECK(racl_executable_run(exe, stream, bind) == RACL_INVALID_ARGUMENT);
    CHECK(racl_bindings_host(bind, input_of(exe, "x"), FLOAT, large, 2, data, 48) == RACL_INVALID_ARGUMENT);
    CHECK(racl_bindings_host(bind, input_of(exe, "x"), INT64, odd, 2, data, 72) == RACL_INVALID_ARGUMENT);
    CHECK(racl_bindings_host(bind, 1, FLOAT, odd, 2, data, 36) == RACL_INVALID_ARGUMENT);
    CHECK(racl_bindings_symbol(bind, "m", 1) == RACL_INVALID_ARGUMENT && says("\"n\""));
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_plan_free(plan));

    /* A number that an operator is told, in one graph. */
    g = builder();
    racl_dim shift, three = 3;
    racl_value rolled;
    DO(racl_builder_number(g, "shift", 0, 8, &shift));
    DO(racl_builder_input(g, "x", FLOAT, &three, 1, RACL_INPUT_COPIED, &x));
    DO(racl_builder_empty(g, FLOAT, &three, 1, &rolled));
    int64_t axis[1] = {0};
    racl_arg roll[4] = {value(x),
                        {.kind = RACL_ARG_DIMS, .count = 1, .data = &shift},
                        {.kind = RACL_ARG_INTS, .count = 1, .data = axis},
                        value(rolled)};
    DO(racl_builder_operator(g, "aclnnRoll", roll, 4));
    DO(racl_builder_output(g, "y", rolled));
    plan = build(g);
    exe = executable(plan, RACL_RUN_CAPTURED);
    bind = bindings(exe);
    size_t of_three[1] = {3};
    racl_tensor *tx = tensor(context, data, 1, of_three);
    DO(racl_bindings_tensor(bind, input_of(exe, "x"), tx));
    float expected[3][3] = {{1, 2, 3}, {3, 1, 2}, {2, 3, 1}};
    for (size_t by = 0; by < 3; ++by) {
        DO(racl_bindings_symbol(bind, "shift", by));
        DO(racl_executable_run(exe, stream, bind));
        DO(racl_executable_read(exe, output_of(exe, "y"), got, sizeof expected[by]));
        CHECK(memcmp(got, expected[by], sizeof expected[by]) == 0);
    }
    DO(racl_executable_counters(exe, &counters));
    CHECK(counters.graphs == 1 && counters.updates == 2);
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_plan_free(plan));
    DO(racl_tensor_free(tx));
}

/* Inputs by class. */
static void classes(void) {
    size_t two[1] = {2};
    float a[2] = {1, 2}, b[2] = {5, 6}, got[2];
    racl_tensor *ta = tensor(context, a, 1, two), *tb = tensor(context, b, 1, two), *memory;
    for (int32_t of_class = RACL_INPUT_STATIC; of_class <= RACL_INPUT_UPDATABLE; ++of_class) {
        racl_builder *g = builder();
        racl_value x = input(g, "x", 2, 0, of_class);
        DO(racl_builder_output(g, "y", muls(g, x, 3)));
        racl_plan *plan = build(g);
        racl_executable *exe = executable(plan, RACL_RUN_CAPTURED);
        racl_bindings *bind = bindings(exe);
        uint32_t in = input_of(exe, "x"), out = output_of(exe, "y");
        racl_tensor *of_runs[2] = {ta, tb};
        for (int run = 0; run < 2; ++run) {
            float factor = run == 0 ? 1 : 5;
            if (of_class == RACL_INPUT_STATIC) {
                DO(racl_executable_static_input(exe, in, &memory));
                CHECK(racl_bindings_tensor(bind, in, ta) == RACL_INVALID_ARGUMENT && says("static"));
                DO(racl_tensor_write(memory, run == 0 ? a : b, sizeof a));
                DO(racl_tensor_read(memory, got, sizeof got));
                CHECK(got[1] == (run == 0 ? 2 : 6));
                CHECK(racl_tensor_write(memory, a, 4) == RACL_INVALID_ARGUMENT);
                CHECK(racl_tensor_read(memory, got, 4) == RACL_INVALID_ARGUMENT);
                DO(racl_tensor_free(memory));
            } else {
                DO(racl_bindings_tensor(bind, in, of_runs[run]));
            }
            int32_t status = racl_executable_run(exe, stream, bind);
            if (of_class == RACL_INPUT_TRACKED_FAIL && run == 1) {
                CHECK(status == RACL_ADDRESS_CHANGED);
                continue;
            }
            CHECK(status == RACL_OK);
            DO(racl_executable_read(exe, out, got, sizeof got));
            CHECK(got[0] == 3 * factor && got[1] == (run == 0 ? 6 : 18));
        }
        racl_run_counters counters = {.size = sizeof counters};
        DO(racl_executable_counters(exe, &counters));
        CHECK(counters.graphs == (of_class == RACL_INPUT_TRACKED ? 2 : 1));
        CHECK(counters.updates == (of_class == RACL_INPUT_UPDATABLE ? 1 : 0));
        if (of_class == RACL_INPUT_COPIED) {
            DO(racl_executable_copied_input(exe, in, &memory));
            racl_arg copy[2] = {{.kind = RACL_ARG_TENSOR, .data = memory}, {.kind = RACL_ARG_TENSOR, .data = ta}};
            DO(racl_operator(stream, "aclnnInplaceCopy", copy, 2));
            DO(racl_bindings_tensor(bind, in, memory));
            DO(racl_executable_run(exe, stream, bind));
            DO(racl_executable_read(exe, out, got, sizeof got));
            CHECK(got[0] == 3 && got[1] == 6);
            DO(racl_tensor_free(memory));
        } else {
            CHECK(racl_executable_copied_input(exe, in, &memory) == RACL_INVALID_ARGUMENT && memory == NULL);
        }
        DO(racl_bindings_free(bind));
        DO(racl_executable_free(exe));
        DO(racl_plan_free(plan));
    }
    DO(racl_tensor_free(ta));
    DO(racl_tensor_free(tb));
}

/* What goes wrong names the work: by its number, or by the caller's line. */
static void mistakes(void) {
    racl_builder *g = builder(), *other = builder();
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), y = 7, theirs = input(other, "x", 4, 0, RACL_INPUT_COPIED);
    muls(g, x, 1);
    racl_value two = input(g, "two", 3, 3, RACL_INPUT_COPIED);
    racl_arg args[4] = {value(x), value(two), real(1), result(&y)};
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_INVALID_PLAN && y == 0);
    CHECK(says("operator:1") && says("[4]") && says("[3, 3]"));
    CHECK(racl_builder_operator(g, "aclnnNone", args, 4) == RACL_INVALID_PLAN);
    CHECK(says("\"aclnnNone\"") && says("operator:1"));
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 3) == RACL_INVALID_PLAN && says("takes 4"));
    args[1] = value(theirs);
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_INVALID_PLAN && says("none of this builder"));
    args[1] = value(0), y = 7;
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_INVALID_ARGUMENT && y == 0);
    y = 7;
    CHECK(racl_builder_operator(NULL, "aclnnAdd", args, 4) == RACL_NULL_POINTER && y == 0);
    args[1] = value(x | 0xFFFF);
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_INVALID_ARGUMENT);
    args[1] = value(x), args[3].data = NULL;
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_NULL_POINTER);
    args[3] = (racl_arg){.kind = 99};
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_INVALID_ARGUMENT);
    DO(racl_builder_at(g, "net.c", 57));
    args[1] = value(two), args[3] = result(&y);
    CHECK(racl_builder_operator(g, "aclnnAdd", args, 4) == RACL_INVALID_PLAN && says("net.c:57"));
    CHECK(racl_builder_scope_end(g) == RACL_INVALID_PLAN);
    CHECK(racl_builder_record(g, "none") == RACL_INVALID_PLAN && says("\"none\""));
    CHECK(racl_builder_join(g, "none") == RACL_INVALID_PLAN);
    racl_dim dim = -5, foreign;
    DO(racl_builder_symbol(other, "n", 1, 2, &foreign));
    CHECK(racl_builder_empty(g, FLOAT, &dim, 1, &y) == RACL_INVALID_ARGUMENT);
    CHECK(racl_builder_empty(g, FLOAT, &foreign, 1, &y) == RACL_INVALID_ARGUMENT && y == 0);
    dim = INT64_MIN;
    CHECK(racl_builder_empty(g, FLOAT, &dim, 1, &y) == RACL_INVALID_ARGUMENT);
    dim = INT64_MAX;
    CHECK(racl_builder_empty(g, FLOAT, &dim, 1, &y) == RACL_INVALID_PLAN);
    CHECK(racl_builder_empty(g, 77, &dim, 1, &y) == RACL_INVALID_ARGUMENT);
    CHECK(racl_builder_empty(g, FLOAT, &dim, 100, &y) == RACL_INVALID_ARGUMENT);
    dim = 2;
    CHECK(racl_builder_constant(g, FLOAT, &dim, 1, "1234567", 7, &y) == RACL_INVALID_PLAN && says("7 bytes"));
    CHECK(racl_builder_input(g, "x", FLOAT, &dim, 1, RACL_INPUT_COPIED, &y) == RACL_INVALID_PLAN);
    CHECK(racl_builder_input(g, "z", FLOAT, &dim, 1, 9, &y) == RACL_INVALID_ARGUMENT);
    racl_errors *errors;
    DO(racl_builder_free(other));

    /* All of what a check finds. */
    DO(racl_builder_at(g, "net.c", 60));
    DO(racl_builder_scope_begin(g, "1", NULL));
    racl_value h = muls(g, x, 2);
    DO(racl_builder_scope_end(g));
    DO(racl_builder_at(g, "net.c", 61));
    racl_value sum = add(g, h, x), more = add(g, h, h);
    DO(racl_builder_output(g, "sum", sum));
    DO(racl_builder_output(g, "more", more));
    racl_plan *plan;
    CHECK(racl_builder_build(g, &plan) == RACL_INVALID_PLAN && plan == NULL && says("net.c:60") && says("net.c:61"));
    DO(racl_last_errors(&errors));
    size_t count;
    DO(racl_errors_count(errors, &count));
    CHECK(count == 2);
    racl_error error = {.size = sizeof error};
    for (size_t at = 0; at < 2; ++at) {
        DO(racl_errors_get(errors, at, &error));
        CHECK(error.status == RACL_INVALID_PLAN && strstr(error.message, "in no order") && error.code == 0);
        CHECK(strcmp(error.details, error.message) == 0);
    }
    /* A program that was compiled before there were details has a shorter struct. */
    racl_error old = {.size = offsetof(racl_error, details), .details = "untouched"};
    DO(racl_errors_get(errors, 0, &old));
    CHECK(strstr(old.message, "in no order") && strcmp(old.details, "untouched") == 0);
    CHECK(racl_errors_get(errors, 2, &error) == RACL_INVALID_ARGUMENT && error.message == NULL);
    DO(racl_errors_free(errors));
    CHECK(racl_builder_free(g) == RACL_STALE_HANDLE);

    g = builder();
    DO(racl_builder_scope_begin(g, "open", NULL));
    CHECK(racl_builder_build(g, &plan) == RACL_INVALID_PLAN && says("\"open\""));

    racl_plan_options single = {.size = sizeof single, .streams = RACL_STREAMS_SINGLE};
    DO(racl_builder_new(&single, &g));
    CHECK(racl_builder_scope_begin(g, "1", NULL) == RACL_INVALID_PLAN);
    DO(racl_builder_free(g));
    single.streams = 9;
    CHECK(racl_builder_new(&single, &g) == RACL_INVALID_ARGUMENT && g == NULL);
    single.streams = 0, single.prefetch_cap = 2;
    CHECK(racl_builder_new(&single, &g) == RACL_INVALID_ARGUMENT);
}

/* As text and as bytes, and what is worth a look. */
static void dumps(void) {
    racl_builder *g = builder();
    racl_value x = input(g, "x", 2, 2, RACL_INPUT_COPIED), turned, column, part;
    racl_dim two = 2;
    float numbers[2] = {0.5f, 4};
    racl_value constant;
    DO(racl_builder_constant(g, FLOAT, &two, 1, numbers, sizeof numbers, &constant));
    DO(racl_builder_transpose(g, x, 0, 1, &turned));
    DO(racl_builder_narrow(g, turned, 0, 1, 2, &column));
    racl_value y = add(g, column, constant);
    racl_value kept;
    racl_dim shape[2] = {1, 2};
    DO(racl_builder_empty(g, FLOAT, shape, 2, &kept));
    DO(racl_builder_copy(g, kept, y));
    DO(racl_builder_bytes(g, kept, 0, 4, &part));
    DO(racl_builder_fill(g, part, 0));
    DO(racl_builder_output(g, "y", kept));
    DO(racl_builder_event(g, "unused"));
    DO(racl_builder_record(g, "unused"));
    racl_plan *plan = build(g), *again;
    racl_errors *lints;
    racl_error lint = {.size = sizeof lint};
    DO(racl_plan_lints(plan, &lints));
    DO(racl_errors_get(lints, 0, &lint));
    CHECK(lint.status == RACL_OK && strstr(lint.message, "\"unused\""));
    DO(racl_errors_free(lints));
    char text[4096], other[4096];
    size_t needed, bytes;
    DO(racl_plan_dump(plan, RACL_DUMP_TEXT, NULL, 0, NULL, 0, &needed));
    CHECK(needed > 100 && needed < sizeof text);
    DO(racl_plan_dump(plan, RACL_DUMP_TEXT, NULL, 0, text, sizeof text, &bytes));
    CHECK(bytes == needed && strlen(text) + 1 == needed);
    CHECK(strncmp(text, "racl plan 1\n", 12) == 0 && strstr(text, "aclnnAdd.0"));
    DO(racl_plan_dump(plan, RACL_DUMP_TEXT_WITH_LINES, NULL, 0, other, sizeof other, NULL));
    CHECK(strstr(other, "// operator:0") && strstr(other, "// operator:2"));
    DO(racl_plan_dump(plan, RACL_DUMP_DOT, NULL, 0, other, sizeof other, NULL));
    CHECK(strncmp(other, "digraph", 7) == 0);
    DO(racl_plan_dump(plan, RACL_DUMP_JSON, NULL, 0, other, sizeof other, NULL));
    CHECK(other[0] == '{');
    CHECK(racl_plan_dump(plan, 9, NULL, 0, other, sizeof other, NULL) == RACL_INVALID_ARGUMENT && other[0] == 0);

    DO(racl_plan_store(plan, NULL, 0, &needed));
    char *stored = malloc(needed);
    CHECK(racl_plan_store(plan, stored, needed - 1, &bytes) == RACL_INVALID_ARGUMENT && bytes == needed);
    DO(racl_plan_store(plan, stored, needed, &bytes));
    CHECK(bytes == needed);
    DO(racl_plan_load(stored, bytes, NULL, &again));
    DO(racl_plan_dump(again, RACL_DUMP_TEXT, NULL, 0, other, sizeof other, NULL));
    CHECK(strcmp(text, other) == 0);
    stored[bytes / 2] ^= 1;
    racl_plan *broken;
    CHECK(racl_plan_load(stored, bytes, NULL, &broken) == RACL_FILE && broken == NULL);
    CHECK(racl_plan_load(stored, 3, NULL, &broken) == RACL_FILE);
    free(stored);
    float given_x[4] = {1, 2, 3, 4}, got[2];
    racl_given given[1] = {{"x", given_x, sizeof given_x}};
    racl_simulation *simulation;
    DO(racl_simulation_new(again, 0, given, 1, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    CHECK(got[0] == 0 && got[1] == 8); /* its second column, 2 and 4, and 0.5 and 4; then a fill */
    DO(racl_simulation_free(simulation));
    DO(racl_plan_free(plan));
    DO(racl_plan_free(again));
}

/* Results in lists, prefetches, and waits for values. */
static void more(void) {
    racl_builder *g = builder();
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), w = input(g, "w", 4, 0, RACL_INPUT_FROZEN);
    size_t fetched;
    racl_value h = muls(g, x, 2);
    racl_prefetch_options after = {.size = sizeof after, .bytes = 1000, .offset = 4, .after_value = h};
    DO(racl_builder_prefetch(g, w, &after, &fetched));
    CHECK(fetched == 12);
    after.offset = 16;
    CHECK(racl_builder_prefetch(g, w, &after, &fetched) == RACL_INVALID_PLAN && fetched == 0);
    after.after_event = "66";
    CHECK(racl_builder_prefetch(g, w, &after, &fetched) == RACL_INVALID_ARGUMENT);
    racl_scope_options at_start = {.size = sizeof at_start, .at_start = 1, .has_priority = 1, .priority = 2};
    DO(racl_builder_scope_begin(g, "1", &at_start));
    racl_value side = muls(g, w, 3), later;
    DO(racl_builder_scope_end(g));
    DO(racl_builder_wait_value(g, h, side, &later));
    racl_value sum = add(g, later, side);
    racl_value both[2] = {sum, side};
    DO(racl_builder_wait_all(g, both, 2));
    racl_value parts[2] = {9, 9};
    racl_arg split[4] = {value(sum), {.kind = RACL_ARG_INT, .integer = 2}, {.kind = RACL_ARG_INT, .integer = 0},
                         {.kind = RACL_ARG_RESULTS, .count = 2, .data = parts}};
    DO(racl_builder_operator(g, "aclnnSplitTensor", split, 4));
    CHECK(parts[0] != parts[1] && parts[0] != 9);
    racl_value joined;
    racl_arg cat[3] = {{.kind = RACL_ARG_VALUES, .count = 2, .data = (racl_value[2]){parts[1], parts[0]}},
                       {.kind = RACL_ARG_INT, .integer = 0}, result(&joined)};
    DO(racl_builder_operator(g, "aclnnCat", cat, 3));
    DO(racl_builder_output(g, "y", joined));
    racl_plan *plan = build(g);
    float a[4] = {1, 2, 3, 4}, b[4] = {10, 20, 30, 40}, got[4], expected[4] = {96, 128, 32, 64};
    racl_given given[2] = {{"x", a, sizeof a}, {"w", b, sizeof b}};
    racl_simulation *simulation;
    size_t needed;
    DO(racl_simulation_new(plan, 3, given, 2, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    CHECK(memcmp(got, expected, sizeof got) == 0);
    DO(racl_simulation_free(simulation));
    size_t four[1] = {4};
    racl_tensor *ta = tensor(context, a, 1, four), *tb = tensor(context, b, 1, four);
    racl_frozen frozen[1] = {{"w", tb}};
    racl_executable *exe;
    uint64_t tasks, bytes, before;
    DO(racl_mock_prefetched(&before, &bytes));
    DO(racl_executable_new(plan, context, NULL, frozen, 1, &exe));
    racl_bindings *bind = bindings(exe);
    DO(racl_bindings_tensor(bind, input_of(exe, "x"), ta));
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_executable_read(exe, output_of(exe, "y"), got, sizeof got));
    CHECK(memcmp(got, expected, sizeof got) == 0);
    DO(racl_mock_prefetched(&tasks, &bytes));
    CHECK(tasks == before + 1 && bytes >= 12);
    CHECK(racl_executable_limit_cores(exe, 1, 1) == RACL_OK);
    DO(racl_executable_run(exe, stream, bind));
    DO(racl_executable_limit_cores(exe, 0, 0));
    DO(racl_bindings_key(bind, 9));
    DO(racl_executable_run(exe, stream, bind));
    racl_run_counters counters = {.size = sizeof counters};
    DO(racl_executable_counters(exe, &counters));
    CHECK(counters.graphs == 3);
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_plan_free(plan));
    DO(racl_tensor_free(ta));
    DO(racl_tensor_free(tb));
}

/* A plan that waits at a gate for work beside it, and lets other work wait. */
static void gates(void) {
    racl_builder *g = builder();
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_STATIC);
    DO(racl_builder_gate(g, "ready"));
    DO(racl_builder_gate(g, "done"));
    CHECK(racl_builder_gate_wait(g, "other") == RACL_INVALID_PLAN);
    DO(racl_builder_gate_wait(g, "ready"));
    DO(racl_builder_output(g, "y", muls(g, x, 2)));
    DO(racl_builder_gate_record(g, "done"));
    racl_plan *plan = build(g);
    racl_executable *exe = executable(plan, RACL_RUN_CAPTURED);
    racl_bindings *bind = bindings(exe);
    racl_stream *side;
    DO(racl_stream_new(context, NULL, &side));
    DO(racl_executable_run(exe, stream, bind));
    int32_t is_complete;
    DO(racl_stream_is_complete(stream, &is_complete));
    CHECK(is_complete == 0);
    DO(racl_executable_wait_signal(exe, "done", side));
    CHECK(racl_executable_signal(exe, "none", side) == RACL_INVALID_ARGUMENT);
    racl_stream *giver;
    DO(racl_stream_new(context, NULL, &giver));
    DO(racl_executable_signal(exe, "ready", giver));
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_stream_synchronize(giver, -1));
    DO(racl_stream_synchronize(side, -1));
    DO(racl_bindings_free(bind));
    DO(racl_executable_free(exe));
    DO(racl_plan_free(plan));
    DO(racl_stream_close(side));
    DO(racl_stream_close(giver));
}

int main(void) {
    racl_library *library;
    racl_library_options options = {.size = sizeof options, .flags = RACL_LIBRARY_VERIFY_CONTEXT};
    DO(racl_library_open_with(NULL, &options, &library));
    options.flags = 8;
    racl_library *none;
    CHECK(racl_library_open_with(NULL, &options, &none) == RACL_INVALID_ARGUMENT && none == NULL);
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    streams_and_runs();
    symbols();
    classes();
    mistakes();
    dumps();
    more();
    gates();
    racl_errors *errors;
    size_t count;
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_count(errors, &count));
    CHECK(count == 0);
    DO(racl_errors_free(errors));
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
