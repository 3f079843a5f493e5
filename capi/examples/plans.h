/* What the examples of plans share: checks of statuses, and short forms for the operators that they record. */
#ifndef PLANS_H
#define PLANS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <racl.h>

#define CHECK(call) check((call), #call, __LINE__)

static inline void check(int32_t status, const char *call, int line) {
    if (status != RACL_OK) {
        fprintf(stderr, "line %d: %s: %s: %s\n", line, call, racl_status_name(status), racl_last_error_message());
        exit(1);
    }
}

/* Work that is recorded is named by its line in errors and dumps. */
#define OP(g, name, ...)                                                                                              \
    do {                                                                                                               \
        racl_arg args_[] = {__VA_ARGS__};                                                                              \
        CHECK(racl_builder_at(g, __FILE__, __LINE__));                                                                 \
        CHECK(racl_builder_operator(g, name, args_, sizeof args_ / sizeof *args_));                                    \
    } while (0)

static inline racl_arg in(racl_value value) { return (racl_arg){.kind = RACL_ARG_VALUE, .integer = (int64_t)value}; }
static inline racl_arg out(racl_value *value) { return (racl_arg){.kind = RACL_ARG_RESULT, .data = value}; }
static inline racl_arg number(double value) { return (racl_arg){.kind = RACL_ARG_SCALAR_FLOAT, .real = value}; }
static inline racl_arg integer(int64_t value) { return (racl_arg){.kind = RACL_ARG_INT, .integer = value}; }

static inline racl_value input(racl_builder *g, const char *name, racl_dim rows, racl_dim columns, int32_t input_class) {
    racl_dim shape[2] = {rows, columns};
    racl_value value;
    CHECK(racl_builder_input(g, name, RACL_TYPE_FLOAT, shape, 2, input_class, &value));
    return value;
}

/* A matrix on the device with these numbers. */
static inline racl_tensor *upload(racl_context *context, const float *data, size_t rows, size_t columns) {
    size_t shape[2] = {rows, columns};
    racl_tensor_layout layout = {
        .size = sizeof layout, .dtype = RACL_TYPE_FLOAT, .rank = 2, .shape = shape, .format = RACL_FORMAT_ND};
    racl_buffer *buffer;
    racl_tensor *tensor;
    CHECK(racl_buffer_new(context, rows * columns * sizeof *data, &buffer));
    CHECK(racl_buffer_write(buffer, 0, data, rows * columns * sizeof *data));
    CHECK(racl_tensor_new(buffer, &layout, &tensor));
    CHECK(racl_buffer_free(buffer)); /* the tensor keeps the memory */
    return tensor;
}

/* Numbers between -1 and 1, the same in every run. */
static inline void fill(float *data, size_t count, unsigned seed) {
    for (size_t at = 0; at < count; ++at) {
        seed = seed * 1664525u + 1013904223u;
        data[at] = (float)(seed >> 8) / (float)(1 << 23) - 1;
    }
}

static inline void times(const float *a, const float *b, float *c, size_t rows, size_t inner, size_t columns) {
    for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column) {
            float sum = 0;
            for (size_t at = 0; at < inner; ++at) sum += a[row * inner + at] * b[at * columns + column];
            c[row * columns + column] = sum;
        }
}

/* Whether both are the same but for the rounding of sums in another order. */
static inline int same(const float *a, const float *b, size_t count) {
    for (size_t at = 0; at < count; ++at)
        if (fabsf(a[at] - b[at]) > 1e-4f * (1 + fabsf(b[at]))) return 0;
    return 1;
}

/* The name of a way to run. */
static inline const char *how(int32_t mode) { return mode == RACL_RUN_EAGER ? "eager " : "replay"; }

/* Runs a plan whose inputs are all bound, and says whether the outputs are what is expected. */
typedef struct {
    const char *name;
    const float *expected;
    size_t count;
} Expected;

static inline void run_both_ways(racl_plan *plan, racl_context *context, racl_stream *stream, const char *const *names,
                                 racl_tensor *const *given, size_t inputs, const Expected *outputs, size_t count) {
    for (int32_t mode = RACL_RUN_EAGER; mode >= RACL_RUN_CAPTURED; --mode) {
        racl_run_options options = {.size = sizeof options, .mode = mode};
        racl_executable *exe;
        racl_bindings *bindings;
        CHECK(racl_executable_new(plan, context, &options, NULL, 0, &exe));
        CHECK(racl_bindings_new(exe, &bindings));
        for (size_t at = 0; at < inputs; ++at) {
            uint32_t which;
            CHECK(racl_executable_input(exe, names[at], &which));
            CHECK(racl_bindings_tensor(bindings, which, given[at]));
        }
        for (int again = 0; again < 3; ++again) CHECK(racl_executable_run(exe, stream, bindings));
        for (size_t at = 0; at < count; ++at) {
            uint32_t which;
            float *got = malloc(outputs[at].count * sizeof *got);
            CHECK(racl_executable_output(exe, outputs[at].name, &which));
            CHECK(racl_executable_read(exe, which, got, outputs[at].count * sizeof *got)); /* waits for the run */
            if (!same(got, outputs[at].expected, outputs[at].count)) {
                fprintf(stderr, "%s: %s differs\n", how(mode), outputs[at].name);
                exit(1);
            }
            free(got);
        }
        printf("%s: all as expected\n", how(mode));
        CHECK(racl_bindings_free(bindings));
        CHECK(racl_executable_free(exe));
    }
}

static inline void describe(racl_plan *plan) {
    racl_plan_info info = {.size = sizeof info};
    CHECK(racl_plan_describe(plan, &info));
    printf("%zu operators on %zu streams with %zu events, %zu lints\n", info.operators, info.streams, info.events,
           info.lints);
}

#endif
