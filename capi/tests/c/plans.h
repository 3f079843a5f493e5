/* What tests of plans share. */
#ifndef PLANS_H
#define PLANS_H

#include "check.h"

enum { FLOAT = RACL_TYPE_FLOAT, INT64 = RACL_TYPE_INT64, ND = RACL_FORMAT_ND };

static inline racl_arg value(racl_value of) { return (racl_arg){.kind = RACL_ARG_VALUE, .integer = (int64_t)of}; }
static inline racl_arg result(racl_value *to) { return (racl_arg){.kind = RACL_ARG_RESULT, .data = to}; }
static inline racl_arg real(double number) { return (racl_arg){.kind = RACL_ARG_SCALAR_FLOAT, .real = number}; }
static inline racl_arg whole(int64_t number) { return (racl_arg){.kind = RACL_ARG_INT, .integer = number}; }

/* An input of floats. */
static inline racl_value input(racl_builder *g, const char *name, racl_dim rows, racl_dim columns, int32_t of_class) {
    racl_dim shape[2] = {rows, columns};
    racl_value made;
    DO(racl_builder_input(g, name, FLOAT, shape, columns == 0 ? 1 : 2, of_class, &made));
    return made;
}

static inline racl_value muls(racl_builder *g, racl_value x, double by) {
    racl_value y;
    racl_arg args[3] = {value(x), real(by), result(&y)};
    DO(racl_builder_operator(g, "aclnnMuls", args, 3));
    return y;
}

static inline racl_value add(racl_builder *g, racl_value a, racl_value b) {
    racl_value y;
    racl_arg args[4] = {value(a), value(b), real(1), result(&y)};
    DO(racl_builder_operator(g, "aclnnAdd", args, 4));
    return y;
}

static inline racl_value unary(racl_builder *g, const char *name, racl_value x) {
    racl_value y;
    racl_arg args[2] = {value(x), result(&y)};
    DO(racl_builder_operator(g, name, args, 2));
    return y;
}

static inline racl_value matmul(racl_builder *g, racl_value a, racl_value b) {
    racl_value y;
    racl_arg args[4] = {value(a), value(b), result(&y), whole(0)};
    DO(racl_builder_operator(g, "aclnnMatmul", args, 4));
    return y;
}

/* A tensor of floats on the device. */
static inline racl_tensor *tensor(racl_context *context, const float *data, size_t rank, const size_t *shape) {
    size_t count = 1;
    for (size_t at = 0; at < rank; ++at) count *= shape[at];
    racl_buffer *buffer;
    racl_tensor *made;
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = FLOAT, .rank = (uint32_t)rank, .shape = shape, .format = ND};
    DO(racl_buffer_new(context, count * sizeof *data, &buffer));
    DO(racl_buffer_write(buffer, 0, data, count * sizeof *data));
    DO(racl_tensor_new(buffer, &layout, &made));
    DO(racl_buffer_free(buffer));
    return made;
}

static inline uint32_t input_of(racl_executable *exe, const char *name) {
    uint32_t number;
    DO(racl_executable_input(exe, name, &number));
    return number;
}

static inline uint32_t output_of(racl_executable *exe, const char *name) {
    uint32_t number;
    DO(racl_executable_output(exe, name, &number));
    return number;
}

#endif
