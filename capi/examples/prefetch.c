/* Prefetching a weight in a plan, where it starts after what it depends on.
 *
 * out = (|x + 1| * |x + 1|) * y. While the first product runs, y moves into the L2 cache; the second product finds it
 * there. The prefetch names the value that it starts after; its stream, event and join follow from that. */
#include "plans.h"

/* As many bytes as are asked for; y is smaller, so the request is clipped. */
enum { N = 100, REQUEST = 10000000 };

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    CHECK(racl_library_open(NULL, &library));
    CHECK(racl_context_primary(library, 0, &context));
    CHECK(racl_stream_new(context, NULL, &stream));

    racl_builder *g;
    racl_plan *plan;
    racl_value moved, positive, square, result;
    size_t asked;
    CHECK(racl_builder_new(NULL, &g));
    racl_value of_x = input(g, "x", N, N, RACL_INPUT_COPIED), of_y = input(g, "y", N, 1, RACL_INPUT_COPIED);
    OP(g, "aclnnAdds", in(of_x), number(1), number(1), out(&moved));
    racl_prefetch_options after = {.size = sizeof after, .bytes = REQUEST, .after_value = moved};
    CHECK(racl_builder_prefetch(g, of_y, &after, &asked));
    OP(g, "aclnnAbs", in(moved), out(&positive));
    OP(g, "aclnnMatmul", in(positive), in(positive), out(&square), integer(0));
    OP(g, "aclnnMatmul", in(square), in(of_y), out(&result), integer(0));
    CHECK(racl_builder_output(g, "out", result));
    CHECK(racl_builder_build(g, &plan));
    describe(plan);
    printf("%zu of %d bytes asked for\n", asked, REQUEST);

    static float x[N * N], y[N], first[N * N], second[N * N], expected[N];
    fill(x, N * N, 5);
    fill(y, N, 6);
    for (size_t at = 0; at < N; ++at) y[at] = fabsf(y[at]); /* sums of one sign, without much rounding */
    for (size_t at = 0; at < N * N; ++at) first[at] = fabsf(x[at] + 1);
    times(first, first, second, N, N, N);
    times(second, y, expected, N, N, 1);
    const char *names[2] = {"x", "y"};
    racl_tensor *given[2] = {upload(context, x, N, N), upload(context, y, N, 1)};
    Expected of_out = {"out", expected, N};
    run_both_ways(plan, context, stream, names, given, 2, &of_out, 1);

    for (size_t at = 0; at < 2; ++at) CHECK(racl_tensor_free(given[at]));
    CHECK(racl_plan_free(plan));
    CHECK(racl_stream_close(stream));
    CHECK(racl_context_close(context));
    CHECK(racl_library_close(library));
    return 0;
}
