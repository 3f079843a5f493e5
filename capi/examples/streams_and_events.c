/* Streams and events by tags: the order between streams is the caller's, and checked.
 *
 * The streams "1" and "2" start with the plan. "1" waits by an event for the addition on the main stream, "2" for the
 * product there. At the end a temporary of the main stream is read on "1". Leaving out a wait that is needed is an error
 * when the plan is built, which the program shows. */
#include "plans.h"

enum { N = 32 };

static racl_plan *in_streams(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_scope_options at_start = {.size = sizeof at_start, .at_start = 1};
    racl_value sum, product_1, product, sum_2, temporary, more;
    CHECK(racl_builder_new(NULL, &g));
    racl_value a = input(g, "a", N, N, RACL_INPUT_COPIED), b = input(g, "b", N, N, RACL_INPUT_COPIED);
    racl_value c = input(g, "c", N, N, RACL_INPUT_COPIED), d = input(g, "d", N, N, RACL_INPUT_COPIED);
    CHECK(racl_builder_event(g, "added"));
    CHECK(racl_builder_event(g, "multiplied"));

    OP(g, "aclnnAdd", in(a), in(b), number(1), out(&sum));
    CHECK(racl_builder_record(g, "added"));
    CHECK(racl_builder_scope_begin(g, "1", &at_start));
    CHECK(racl_builder_wait(g, "added"));
    OP(g, "aclnnMm", in(c), in(d), out(&product_1), integer(0));
    CHECK(racl_builder_scope_end(g));
    OP(g, "aclnnMm", in(a), in(b), out(&product), integer(0));
    CHECK(racl_builder_record(g, "multiplied"));
    CHECK(racl_builder_scope_begin(g, "2", &at_start));
    CHECK(racl_builder_wait(g, "multiplied"));
    OP(g, "aclnnAdd", in(c), in(d), number(1), out(&sum_2));
    CHECK(racl_builder_scope_end(g));

    /* A copy that nothing but stream "1" reads: it could go as soon as the main stream has written it. */
    OP(g, "aclnnAdds", in(sum), number(0), number(1), out(&temporary));
    CHECK(racl_builder_scope_begin(g, "1", NULL));
    OP(g, "aclnnAdds", in(temporary), number(1), number(1), out(&more));
    CHECK(racl_builder_scope_end(g));
    CHECK(racl_builder_record_stream(g, temporary, "1"));

    CHECK(racl_builder_output(g, "a + b", sum));
    CHECK(racl_builder_output(g, "c * d", product_1));
    CHECK(racl_builder_output(g, "a * b", product));
    CHECK(racl_builder_output(g, "c + d", sum_2));
    CHECK(racl_builder_output(g, "(a + b) + 1", more));
    CHECK(racl_builder_build(g, &plan)); /* joins both streams */
    return plan;
}

/* The mistake: stream "2" reads what the main stream writes, and waits for nothing but the start. */
static void without_a_wait(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_scope_options at_start = {.size = sizeof at_start, .at_start = 1};
    racl_value sum, twice;
    CHECK(racl_builder_new(NULL, &g));
    racl_value a = input(g, "a", N, N, RACL_INPUT_COPIED), b = input(g, "b", N, N, RACL_INPUT_COPIED);
    OP(g, "aclnnAdd", in(a), in(b), number(1), out(&sum));
    CHECK(racl_builder_scope_begin(g, "2", &at_start));
    OP(g, "aclnnMuls", in(sum), number(2), out(&twice));
    CHECK(racl_builder_scope_end(g));
    CHECK(racl_builder_output(g, "twice", twice));
    if (racl_builder_build(g, &plan) != RACL_INVALID_PLAN || strstr(racl_last_error_message(), "no order") == NULL) exit(1);
    printf("without a wait: refused\n");
}

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    CHECK(racl_library_open(NULL, &library));
    CHECK(racl_context_primary(library, 0, &context));
    CHECK(racl_stream_new(context, NULL, &stream));

    static float data[4][N * N], results[5][N * N];
    const char *names[4] = {"a", "b", "c", "d"};
    racl_tensor *given[4];
    for (unsigned at = 0; at < 4; ++at) {
        fill(data[at], N * N, at + 6);
        given[at] = upload(context, data[at], N, N);
    }
    times(data[2], data[3], results[1], N, N, N);
    times(data[0], data[1], results[2], N, N, N);
    for (size_t at = 0; at < N * N; ++at) {
        results[0][at] = data[0][at] + data[1][at];
        results[3][at] = data[2][at] + data[3][at];
        results[4][at] = results[0][at] + 1;
    }
    Expected expected[5] = {{"a + b", results[0], N * N},
                            {"c * d", results[1], N * N},
                            {"a * b", results[2], N * N},
                            {"c + d", results[3], N * N},
                            {"(a + b) + 1", results[4], N * N}};
    racl_plan *plan = in_streams();
    describe(plan);
    run_both_ways(plan, context, stream, names, given, 4, expected, 5);
    without_a_wait();

    for (size_t at = 0; at < 4; ++at) CHECK(racl_tensor_free(given[at]));
    CHECK(racl_plan_free(plan));
    CHECK(racl_stream_close(stream));
    CHECK(racl_context_close(context));
    CHECK(racl_library_close(library));
    return 0;
}
