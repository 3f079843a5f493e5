// Streams by tags and waits by values: no event has a name; wait_value.c tells more.
#include "plans.hpp"

constexpr size_t N = 32;

static racl::plan in_streams() {
    auto g = racl::builder::make();
    auto matrix = [&](const char *name) { return g.input<float>(name, {N, N}, RACL_INPUT_COPIED); };
    auto a = matrix("a"), b = matrix("b"), c = matrix("c"), d = matrix("d");
    racl_scope_options at_start = {};
    at_start.size = sizeof at_start;
    at_start.at_start = 1;

    auto sum = g.op("aclnnAdd", {a, b, one, racl::new_value});
    c = g.wait_value(c, sum);
    g.begin_scope("1", &at_start);
    auto product_1 = g.op("aclnnMm", {c, d, racl::new_value, 0});
    g.end_scope();
    auto product = g.op("aclnnMm", {a, b, racl::new_value, 0});
    c = g.wait_value(c, product);
    g.begin_scope("2", &at_start);
    auto sum_2 = g.op("aclnnAdd", {c, d, one, racl::new_value});
    g.end_scope();

    g.output("a + b", sum);
    g.output("c * d", product_1);
    g.output("a * b", product);
    g.output("c + d", sum_2);
    return g.build();
}

int main() {
    return on_a_device([](const racl::context &context, const racl::stream &stream) {
        const floats a = numbers(N * N, 7), b = numbers(N * N, 8), c = numbers(N * N, 9), d = numbers(N * N, 10);
        const racl::tensor given[] = {upload(context, a, N, N), upload(context, b, N, N), upload(context, c, N, N),
                                      upload(context, d, N, N)};
        const auto plan = in_streams();
        describe(plan);
        run_both_ways(plan, context, stream,
                      {{"a", &given[0]}, {"b", &given[1]}, {"c", &given[2]}, {"d", &given[3]}},
                      {{"a + b", plus(a, b)},
                       {"c * d", times(c, d, N, N, N)},
                       {"a * b", times(a, b, N, N, N)},
                       {"c + d", plus(c, d)}});
    });
}
