/* Streams by tags and waits by values: no event has a name.
 *
 * racl_builder_wait_value() gives a later version of a value: what is given it starts after another value is there. The
 * product on stream "1" takes part in nothing that the main stream computes, and yet comes after the addition there,
 * because it is given `c` as of that; so does the addition on stream "2" with the product of the main stream. */
#include "plans.h"

enum { N = 32 };

static racl_plan *in_streams(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_scope_options at_start = {.size = sizeof at_start, .at_start = 1};
    racl_value sum, product_1, product, sum_2;
    CHECK(racl_builder_new(NULL, &g));
    racl_value a = input(g, "a", N, N, RACL_INPUT_COPIED), b = input(g, "b", N, N, RACL_INPUT_COPIED);
    racl_value c = input(g, "c", N, N, RACL_INPUT_COPIED), d = input(g, "d", N, N, RACL_INPUT_COPIED);

    OP(g, "aclnnAdd", in(a), in(b), number(1), out(&sum));
    CHECK(racl_builder_wait_value(g, c, sum, &c));
    CHECK(racl_builder_scope_begin(g, "1", &at_start));
    OP(g, "aclnnMm", in(c), in(d), out(&product_1), integer(0));
    CHECK(racl_builder_scope_end(g));
    OP(g, "aclnnMm", in(a), in(b), out(&product), integer(0));
    CHECK(racl_builder_wait_value(g, c, product, &c));
    CHECK(racl_builder_scope_begin(g, "2", &at_start));
    OP(g, "aclnnAdd", in(c), in(d), number(1), out(&sum_2));
    CHECK(racl_builder_scope_end(g));

    CHECK(racl_builder_output(g, "a + b", sum));
    CHECK(racl_builder_output(g, "c * d", product_1));
    CHECK(racl_builder_output(g, "a * b", product));
    CHECK(racl_builder_output(g, "c + d", sum_2));
    CHECK(racl_builder_build(g, &plan));
    return plan;
}

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    CHECK(racl_library_open(NULL, &library));
    CHECK(racl_context_primary(library, 0, &context));
    CHECK(racl_stream_new(context, NULL, &stream));

    static float data[4][N * N], results[4][N * N];
    const char *names[4] = {"a", "b", "c", "d"};
    racl_tensor *given[4];
    for (unsigned at = 0; at < 4; ++at) {
        fill(data[at], N * N, at + 7);
        given[at] = upload(context, data[at], N, N);
    }
    times(data[2], data[3], results[1], N, N, N);
    times(data[0], data[1], results[2], N, N, N);
    for (size_t at = 0; at < N * N; ++at) {
        results[0][at] = data[0][at] + data[1][at];
        results[3][at] = data[2][at] + data[3][at];
    }
    Expected expected[4] = {{"a + b", results[0], N * N},
                            {"c * d", results[1], N * N},
                            {"a * b", results[2], N * N},
                            {"c + d", results[3], N * N}};
    racl_plan *plan = in_streams();
    describe(plan);
    run_both_ways(plan, context, stream, names, given, 4, expected, 4);

    for (size_t at = 0; at < 4; ++at) CHECK(racl_tensor_free(given[at]));
    CHECK(racl_plan_free(plan));
    CHECK(racl_stream_close(stream));
    CHECK(racl_context_close(context));
    CHECK(racl_library_close(library));
    return 0;
}
