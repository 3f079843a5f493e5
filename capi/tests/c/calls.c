/* Plans that call plans, choose among them and repeat them, and results of which the device finds how much there is. */
#include "plans.h"

enum { INT32 = 3, BOOL = 12 };

static racl_context *context;
static racl_stream *stream;

/* An input of a run. */
typedef struct {
    const char *name;
    int32_t dtype;
    const void *data;
    size_t count, bytes;
} given_t;

static racl_tensor *on_device(const given_t *of) {
    racl_buffer *buffer;
    racl_tensor *made;
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = of->dtype, .rank = 1, .shape = &of->count, .format = ND};
    DO(racl_buffer_new(context, of->bytes, &buffer));
    DO(racl_buffer_write(buffer, 0, of->data, of->bytes));
    DO(racl_tensor_new(buffer, &layout, &made));
    DO(racl_buffer_free(buffer));
    return made;
}

static racl_simulation *simulated(const racl_plan *plan, const given_t *given, size_t count) {
    racl_given all[4];
    racl_simulation *simulation;
    for (size_t at = 0; at < count; ++at) all[at] = (racl_given){given[at].name, given[at].data, given[at].bytes};
    DO(racl_simulation_new(plan, 1, all, count, NULL, 0, &simulation));
    return simulation;
}

/* An executable that ran once. */
static racl_executable *ran(const racl_plan *plan, int32_t mode, const given_t *given, size_t count) {
    racl_run_options options = {.size = sizeof options, .mode = mode};
    racl_executable *exe;
    racl_bindings *bindings;
    DO(racl_executable_new(plan, context, &options, NULL, 0, &exe));
    DO(racl_bindings_new(exe, &bindings));
    for (size_t at = 0; at < count; ++at) {
        racl_tensor *made = on_device(&given[at]);
        DO(racl_bindings_tensor(bindings, input_of(exe, given[at].name), made));
        DO(racl_tensor_free(made));
    }
    DO(racl_executable_run(exe, stream, bindings));
    DO(racl_bindings_free(bindings));
    return exe;
}

/* Whether an output is so, simulated, captured and eagerly. */
static void gives(const racl_plan *plan, const given_t *given, size_t count, const char *name, const void *expected,
                  size_t bytes) {
    unsigned char got[64];
    size_t needed;
    racl_simulation *simulation = simulated(plan, given, count);
    DO(racl_simulation_read(simulation, name, got, sizeof got, &needed));
    CHECK(needed == bytes && memcmp(got, expected, bytes) == 0);
    DO(racl_simulation_free(simulation));
    for (int32_t mode = RACL_RUN_CAPTURED; mode <= RACL_RUN_EAGER; ++mode) {
        racl_executable *exe = ran(plan, mode, given, count);
        DO(racl_executable_read(exe, output_of(exe, name), got, bytes));
        CHECK(memcmp(got, expected, bytes) == 0);
        DO(racl_executable_free(exe));
    }
}

static racl_builder *begun(void) {
    racl_builder *g;
    DO(racl_builder_new(NULL, &g));
    return g;
}

static racl_plan *built(racl_builder *g) {
    racl_plan *plan;
    DO(racl_builder_build(g, &plan));
    return plan;
}

static racl_value typed(racl_builder *g, const char *name, int32_t dtype) {
    racl_dim one = 1;
    racl_value made;
    DO(racl_builder_input(g, name, dtype, &one, 1, RACL_INPUT_COPIED, &made));
    return made;
}

/* Two numbers times another one. */
static racl_plan *scaled(double by) {
    racl_builder *g = begun();
    DO(racl_builder_output(g, "y", muls(g, input(g, "x", 2, 0, RACL_INPUT_COPIED), by)));
    return built(g);
}

/* As many numbers as wanted and a weight for each: the sum of both, and twice that. */
static racl_plan *layer(void) {
    racl_builder *g = begun();
    racl_dim rows;
    DO(racl_builder_symbol(g, "rows", 1, 8, &rows));
    racl_value x = input(g, "x", rows, 0, RACL_INPUT_COPIED), w = input(g, "w", rows, 0, RACL_INPUT_COPIED);
    racl_value sum = add(g, x, w);
    DO(racl_builder_output(g, "sum", sum));
    DO(racl_builder_output(g, "twice", muls(g, sum, 2)));
    return built(g);
}

static void calls(void) {
    racl_plan *body = layer();
    racl_builder *g = begun();
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED), w = input(g, "w", 2, 0, RACL_INPUT_COPIED);
    racl_value operands[3] = {x, w, x}, results[2] = {1, 1};
    uint32_t before, after;
    DO(racl_builder_operators(g, &before));
    CHECK(racl_builder_call(g, body, operands, 3, NULL, 0, results, 2) == RACL_INVALID_PLAN && results[0] == 0);
    results[0] = 1;
    CHECK(racl_builder_call(g, body, operands, 2, NULL, 0, results, 1) == RACL_INVALID_PLAN && results[0] == 0);
    CHECK(strstr(racl_last_error_message(), "1 results of a plan of 2 outputs") != NULL);
    CHECK(racl_builder_call(g, body, operands, 2, NULL, 0, NULL, 2) == RACL_NULL_POINTER);
    CHECK(racl_builder_call(g, body, NULL, 2, NULL, 0, results, 2) == RACL_NULL_POINTER);
    racl_told told = {"columns", 2};
    CHECK(racl_builder_call(g, body, operands, 2, &told, 1, results, 2) == RACL_INVALID_PLAN);
    CHECK(strstr(racl_last_error_message(), "columns") != NULL);
    told.name = NULL;
    CHECK(racl_builder_call(g, body, operands, 2, &told, 1, results, 2) == RACL_NULL_POINTER);
    DO(racl_builder_operators(g, &after));
    CHECK(after == before);
    DO(racl_builder_call(g, body, operands, 2, NULL, 0, results, 2));
    operands[0] = results[1];
    DO(racl_builder_call(g, body, operands, 2, NULL, 0, results, 2));
    DO(racl_builder_operators(g, &after));
    CHECK(after == before + 2);
    DO(racl_plan_free(body)); /* the builder keeps it */
    DO(racl_builder_output(g, "y", results[0]));
    racl_plan *plan = built(g);
    racl_plan_info info = {.size = sizeof info};
    DO(racl_plan_describe(plan, &info));
    CHECK(info.operators == 4);
    const float one[2] = {1, 2}, ten[2] = {10, 20}, expected[2] = {32, 64};
    const given_t given[2] = {{"x", FLOAT, one, 2, sizeof one}, {"w", FLOAT, ten, 2, sizeof ten}};
    gives(plan, given, 2, "y", expected, sizeof expected);
    DO(racl_plan_free(plan));
}

/* A symbol that no shape tells. */
static void symbols(void) {
    racl_builder *g = begun();
    racl_dim half, whole;
    DO(racl_builder_symbol(g, "half", 1, 8, &half));
    DO(racl_builder_dim_times(g, half, 2, &whole));
    racl_value x = input(g, "x", whole, 0, RACL_INPUT_COPIED), first, result;
    DO(racl_builder_narrow(g, x, 0, 0, half, &first));
    DO(racl_builder_output(g, "first", muls(g, first, 3)));
    racl_plan *body = built(g);
    g = begun();
    x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    CHECK(racl_builder_call(g, body, &x, 1, NULL, 0, &result, 1) == RACL_INVALID_PLAN && result == 0);
    CHECK(strstr(racl_last_error_message(), "half") != NULL);
    racl_told told = {"half", 2};
    DO(racl_builder_call(g, body, &x, 1, &told, 1, &result, 1));
    DO(racl_builder_output(g, "y", result));
    DO(racl_plan_free(body));
    racl_plan *plan = built(g);
    const float data[4] = {1, 2, 3, 4}, expected[2] = {3, 6};
    const given_t given = {"x", FLOAT, data, 4, sizeof data};
    gives(plan, &given, 1, "y", expected, sizeof expected);
    DO(racl_plan_free(plan));
}

static void steps(void) {
    racl_builder *g = begun();
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED), by = input(g, "by", 2, 0, RACL_INPUT_COPIED), y;
    DO(racl_builder_output(g, "x", add(g, x, by)));
    racl_plan *step = built(g);
    const float one[2] = {1, 2}, ten[2] = {10, 20};
    const given_t given[2] = {{"x", FLOAT, one, 2, sizeof one}, {"by", FLOAT, ten, 2, sizeof ten}};
    for (size_t times = 0; times < 4; ++times) {
        g = begun();
        x = input(g, "x", 2, 0, RACL_INPUT_COPIED), by = input(g, "by", 2, 0, RACL_INPUT_COPIED);
        CHECK(racl_builder_call_times(g, step, times, &x, 1, NULL, 0, &y) == RACL_INVALID_PLAN && y == 0);
        /* A loop gives what it carries to where it came from. */
        y = x;
        DO(racl_builder_call_times(g, step, times, &y, 1, &by, 1, &y));
        DO(racl_builder_output(g, "y", y));
        racl_plan *plan = built(g);
        const float expected[2] = {1 + 10 * (float)times, 2 + 20 * (float)times};
        gives(plan, given, 2, "y", expected, sizeof expected);
        DO(racl_plan_free(plan));
    }
    g = begun();
    x = input(g, "x", 2, 0, RACL_INPUT_COPIED);
    racl_value both[2] = {x, x}, results[2];
    CHECK(racl_builder_call_times(g, step, SIZE_MAX, both, 1, both, 1, results) == RACL_INVALID_PLAN);
    CHECK(racl_builder_call_times(g, step, 2, both, 2, NULL, 0, results) == RACL_INVALID_PLAN);
    DO(racl_builder_free(g));
    DO(racl_plan_free(step));
}

static void choices(void) {
    racl_plan *doubled = scaled(2), *negated = scaled(-1), *gone = scaled(0), *other = layer();
    DO(racl_plan_free(gone));
    const float data[2] = {3, 4};
    int32_t number = 0;
    const given_t given[2] = {{"x", FLOAT, data, 2, sizeof data}, {"c", INT32, &number, 1, sizeof number}};
    for (int32_t kind = 0; kind < 3; ++kind) {
        racl_builder *g = begun();
        racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED), c = typed(g, "c", INT32), y = 1;
        const racl_plan *cases[2] = {doubled, negated};
        if (kind == 2) {
            CHECK(racl_builder_switch(g, c, cases, 0, doubled, &x, 1, &y, 1) == RACL_INVALID_PLAN && y == 0);
            CHECK(racl_builder_switch(g, c, NULL, 2, doubled, &x, 1, &y, 1) == RACL_NULL_POINTER);
            cases[1] = gone;
            CHECK(racl_builder_switch(g, c, cases, 2, doubled, &x, 1, &y, 1) == RACL_STALE_HANDLE);
            cases[1] = other;
            CHECK(racl_builder_switch(g, c, cases, 2, doubled, &x, 1, &y, 1) == RACL_INVALID_PLAN);
            cases[1] = negated;
            racl_plan *zero = scaled(0);
            DO(racl_builder_switch(g, c, cases, 2, zero, &x, 1, &y, 1));
            DO(racl_plan_free(zero));
        } else {
            const racl_plan *otherwise = kind == 0 ? negated : NULL;
            CHECK(racl_builder_if(g, x, doubled, otherwise, &x, 1, &y, 1) == RACL_INVALID_PLAN && y == 0);
            CHECK(racl_builder_if(g, c, doubled, gone, &x, 1, &y, 1) == RACL_STALE_HANDLE);
            racl_value two[2];
            CHECK(racl_builder_if(g, c, doubled, otherwise, &x, 1, two, 2) == RACL_INVALID_PLAN && two[1] == 0);
            CHECK(racl_builder_if(g, 0, doubled, otherwise, &x, 1, &y, 1) == RACL_INVALID_ARGUMENT);
            DO(racl_builder_if(g, c, doubled, otherwise, &x, 1, &y, 1));
        }
        DO(racl_builder_output(g, "y", y));
        racl_plan *plan = built(g);
        static const float by[3][4] = {{2, -1, 2, 2}, {2, 1, 2, 2}, {0, 2, -1, 0}}; /* of -1, 0, 1 and 2 */
        for (number = -1; number < 3; ++number) {
            const float expected[2] = {3 * by[kind][number + 1], 4 * by[kind][number + 1]};
            gives(plan, given, 2, "y", expected, sizeof expected);
        }
        DO(racl_plan_free(plan));
    }
    DO(racl_plan_free(doubled));
    DO(racl_plan_free(negated));
    DO(racl_plan_free(other));
}

/* Halves until nothing is left of it as an integer. */
static void loops(void) {
    racl_builder *g = begun();
    racl_value x = muls(g, input(g, "x", 1, 0, RACL_INPUT_COPIED), 0.5), whole_part;
    racl_arg cast[3] = {value(x), {.kind = RACL_ARG_TYPE, .integer = INT32}, result(&whole_part)};
    DO(racl_builder_operator(g, "aclnnCast", cast, 3));
    DO(racl_builder_output(g, "more", whole_part));
    DO(racl_builder_output(g, "x", x));
    racl_plan *body = built(g);
    float number = 0;
    const given_t given = {"x", FLOAT, &number, 1, sizeof number};
    for (uint32_t most = 0; most < 5; most += 4) {
        g = begun();
        const int32_t one = 1;
        const racl_dim shape = 1;
        racl_value first, more, y;
        DO(racl_builder_constant(g, INT32, &shape, 1, &one, sizeof one, &first));
        x = input(g, "x", 1, 0, RACL_INPUT_COPIED);
        CHECK(racl_builder_repeat(g, most, first, body, &x, 1, &x, 1, &y, &more) == RACL_INVALID_PLAN);
        CHECK(y == 0 && more == 0);
        racl_value two[2] = {x, x}, both[2] = {1, 1};
        CHECK(racl_builder_repeat(g, most, first, body, two, 2, NULL, 0, both, NULL) == RACL_INVALID_PLAN);
        CHECK(both[0] == 0 && both[1] == 0);
        CHECK(racl_builder_repeat(g, UINT32_MAX, first, body, &x, 1, NULL, 0, &y, NULL) == RACL_INVALID_PLAN);
        /* The condition comes to where the first value was. */
        more = x;
        DO(racl_builder_repeat(g, most, first, body, &more, 1, NULL, 0, &y, most == 0 ? NULL : &more));
        DO(racl_builder_output(g, "y", y));
        if (most != 0) DO(racl_builder_output(g, "more", more));
        racl_plan *plan = built(g);
        static const float from[3] = {6, 16, 64}, left[2][3] = {{0.75F, 0.5F, 0.5F}, {0.75F, 1, 4}};
        static const int32_t rest[3] = {0, 1, 4};
        for (int at = 0; at < 3; ++at) {
            number = from[at];
            gives(plan, &given, 1, "y", &left[most != 0][at], sizeof number);
            if (most != 0) gives(plan, &given, 1, "more", &rest[at], sizeof rest[at]);
        }
        DO(racl_plan_free(plan));
    }
    DO(racl_plan_free(body));
}

/* Checks what an output found, simulated, captured and eagerly. */
static void finds(const racl_plan *plan, const given_t *given, const char *name, const void *expected, size_t rows,
                  size_t bytes) {
    unsigned char got[64];
    size_t needed, count;
    racl_simulation *simulation = simulated(plan, given, 1);
    char number[32];
    int64_t came;
    snprintf(number, sizeof number, "%s.count", name);
    DO(racl_simulation_read(simulation, number, &came, sizeof came, &needed));
    CHECK(came == (int64_t)rows && needed == sizeof came);
    DO(racl_simulation_free(simulation));
    for (int32_t mode = RACL_RUN_CAPTURED; mode <= RACL_RUN_EAGER; ++mode) {
        racl_executable *exe = ran(plan, mode, given, 1);
        uint32_t output = output_of(exe, name);
        DO(racl_executable_found_count(exe, output, &count));
        CHECK(count == rows);
        memset(got, 0x55, sizeof got);
        DO(racl_executable_read_found(exe, output, got, sizeof got, &needed));
        CHECK(needed == bytes && memcmp(got, expected, bytes) == 0 && got[bytes] == 0x55);
        if (bytes > 0) {
            memset(got, 0x55, sizeof got);
            CHECK(racl_executable_read_found(exe, output, got, bytes - 1, &needed) == RACL_INVALID_ARGUMENT);
            CHECK(needed == bytes && got[0] == 0x55 && strstr(racl_last_error_message(), "room for"));
            DO(racl_executable_read_found(exe, output, NULL, 0, &needed));
            CHECK(needed == bytes);
        }
        CHECK(racl_executable_read_found(exe, output, got, sizeof got, NULL) == RACL_NULL_POINTER);
        if (bytes > 0) { /* nothing is said where the copy fails */
            DO(racl_mock_fail("aclrtMemcpy", 1, 507015));
            CHECK(racl_executable_read_found(exe, output, got, sizeof got, &needed) != RACL_OK && needed == 0);
            DO(racl_mock_clear_failures());
        }
        CHECK(racl_executable_found_count(exe, output_of(exe, "all"), &count) == RACL_INVALID_ARGUMENT && count == 0);
        CHECK(racl_executable_found_count(exe, 99, &count) == RACL_INVALID_ARGUMENT);
        DO(racl_executable_free(exe));
    }
}

static void found(void) {
    racl_builder *g = begun();
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), mask, places, came;
    racl_arg args[3] = {value(x), real(2), result(&mask)};
    DO(racl_builder_operator(g, "aclnnGtScalar", args, 3));
    racl_found rows, large, once, counts, none = {1, 1};
    CHECK(racl_builder_nonzero(g, 0, &none) == RACL_INVALID_ARGUMENT && none.values == 0 && none.count == 0);
    CHECK(racl_builder_nonzero(g, x, NULL) == RACL_NULL_POINTER);
    CHECK(racl_builder_masked_select(g, x, x, &none) == RACL_INVALID_PLAN);
    CHECK(racl_builder_unique(g, x, 4, 0, &once, &places, &counts) == RACL_INVALID_ARGUMENT && places == 0);
    CHECK(racl_builder_unique(g, x, RACL_UNIQUE_SLICES, 1, &once, &places, &counts) == RACL_INVALID_PLAN);
    DO(racl_builder_nonzero(g, x, &rows));
    DO(racl_builder_masked_select(g, x, mask, &large));
    DO(racl_builder_unique(g, x, RACL_UNIQUE_ELEMENTS, 0, &once, &places, &counts));
    racl_found torn = {rows.values, large.count};
    CHECK(racl_builder_output_found(g, "torn", &torn) == RACL_INVALID_ARGUMENT);
    CHECK(racl_builder_output_found(g, "torn", NULL) == RACL_NULL_POINTER);
    CHECK(racl_builder_found_mask(g, &torn, &came) == RACL_INVALID_ARGUMENT && came == 0);
    DO(racl_builder_found_mask(g, &large, &came));
    DO(racl_builder_output_found(g, "rows", &rows));
    DO(racl_builder_output_found(g, "large", &large));
    DO(racl_builder_output_found(g, "once", &once));
    DO(racl_builder_output_found(g, "counts", &counts));
    DO(racl_builder_output(g, "places", places));
    DO(racl_builder_output(g, "came", came));
    DO(racl_builder_output(g, "all", x));
    racl_plan *plan = built(g);
    float data[4] = {0, 5, 3, 5};
    const given_t given = {"x", FLOAT, data, 4, sizeof data};
    const int64_t at[3] = {1, 2, 3}, many[3] = {1, 1, 2}, place[4] = {0, 2, 1, 2};
    const float most[3] = {5, 3, 5}, each[3] = {0, 3, 5};
    const unsigned char three[4] = {1, 1, 1, 0};
    finds(plan, &given, "rows", at, 3, sizeof at);
    finds(plan, &given, "large", most, 3, sizeof most);
    finds(plan, &given, "once", each, 3, sizeof each);
    finds(plan, &given, "counts", many, 3, sizeof many);
    gives(plan, &given, 1, "places", place, sizeof place);
    gives(plan, &given, 1, "came", three, sizeof three);
    memset(data, 0, sizeof data);
    finds(plan, &given, "large", most, 0, 0);
    DO(racl_plan_free(plan));

    /* Of rows that follow each other. */
    static const float pairs[6] = {1, 2, 1, 2, 3, 4}, left[4] = {1, 2, 3, 4}, line[5] = {1, 2, 1, 3, 4};
    for (int32_t how = RACL_UNIQUE_SLICES; how <= RACL_UNIQUE_CONSECUTIVE_SLICES; ++how) {
        racl_value flat, reshaped;
        const racl_dim shape[2] = {3, 2};
        g = begun();
        flat = input(g, "x", 6, 0, RACL_INPUT_COPIED);
        DO(racl_builder_reshape(g, flat, shape, 2, &reshaped));
        const int of_rows = how != RACL_UNIQUE_CONSECUTIVE;
        DO(racl_builder_unique(g, of_rows ? reshaped : flat, how, of_rows ? -2 : 0, &once, &places, &counts));
        DO(racl_builder_output_found(g, "once", &once));
        DO(racl_builder_output(g, "all", flat));
        plan = built(g);
        static const float row[6] = {1, 1, 2, 1, 3, 4};
        const given_t six = {"x", FLOAT, of_rows ? pairs : row, 6, sizeof pairs};
        if (of_rows) finds(plan, &six, "once", left, 2, sizeof left);
        else finds(plan, &six, "once", line, 5, sizeof line);
        DO(racl_plan_free(plan));
    }
}

int main(void) {
    racl_library *library;
    DO(racl_library_open("mock", &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    calls();
    symbols();
    steps();
    choices();
    loops();
    found();
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
