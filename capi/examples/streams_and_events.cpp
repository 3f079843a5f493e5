// Streams and events by tags: the order between streams is the caller's, and checked; streams_and_events.c tells more.
#include "plans.hpp"

constexpr size_t N = 32;

// A scope whose stream starts with the plan.
static racl_scope_options at_start() {
    racl_scope_options options = {};
    options.size = sizeof options;
    options.at_start = 1;
    return options;
}

static racl::plan in_streams() {
    auto g = racl::builder::make();
    auto matrix = [&](const char *name) { return g.input<float>(name, {N, N}, RACL_INPUT_COPIED); };
    auto a = matrix("a"), b = matrix("b"), c = matrix("c"), d = matrix("d");
    const auto from_the_start = at_start();
    g.event("added");
    g.event("multiplied");

    auto sum = g.op("aclnnAdd", {a, b, one, racl::new_value});
    g.record("added");
    g.begin_scope("1", &from_the_start);
    g.wait("added");
    auto product_1 = g.op("aclnnMm", {c, d, racl::new_value, 0});
    g.end_scope();
    auto product = g.op("aclnnMm", {a, b, racl::new_value, 0});
    g.record("multiplied");
    g.begin_scope("2", &from_the_start);
    g.wait("multiplied");
    auto sum_2 = g.op("aclnnAdd", {c, d, one, racl::new_value});
    g.end_scope();

    // A copy that nothing but stream "1" reads: it could go as soon as the main stream has written it.
    auto temporary = g.op("aclnnAdds", {sum, racl::float_scalar{0}, one, racl::new_value});
    g.begin_scope("1");
    auto more = g.op("aclnnAdds", {temporary, one, one, racl::new_value});
    g.end_scope();
    g.record_stream(temporary, "1");

    g.output("a + b", sum);
    g.output("c * d", product_1);
    g.output("a * b", product);
    g.output("c + d", sum_2);
    g.output("(a + b) + 1", more);
    return g.build(); // joins both streams
}

// The mistake: stream "2" reads what the main stream writes, and waits for nothing but the start.
static void without_a_wait() {
    auto g = racl::builder::make();
    auto a = g.input<float>("a", {N, N}, RACL_INPUT_COPIED), b = g.input<float>("b", {N, N}, RACL_INPUT_COPIED);
    const auto from_the_start = at_start();
    auto sum = g.op("aclnnAdd", {a, b, one, racl::new_value});
    g.begin_scope("2", &from_the_start);
    auto twice = g.op("aclnnMuls", {sum, racl::float_scalar{2}, racl::new_value});
    g.end_scope();
    g.output("twice", twice);
    try {
        g.build();
    } catch (const racl::error &error) {
        if (std::string(error.what()).find("no order") == std::string::npos) throw;
        std::printf("without a wait: refused\n");
    }
}

int main() {
    return on_a_device([](const racl::context &context, const racl::stream &stream) {
        const floats a = numbers(N * N, 6), b = numbers(N * N, 7), c = numbers(N * N, 8), d = numbers(N * N, 9);
        const racl::tensor given[] = {upload(context, a, N, N), upload(context, b, N, N), upload(context, c, N, N),
                                      upload(context, d, N, N)};
        const auto plan = in_streams();
        describe(plan);
        run_both_ways(plan, context, stream,
                      {{"a", &given[0]}, {"b", &given[1]}, {"c", &given[2]}, {"d", &given[3]}},
                      {{"a + b", plus(a, b)},
                       {"c * d", times(c, d, N, N, N)},
                       {"a * b", times(a, b, N, N, N)},
                       {"c + d", plus(c, d)},
                       {"(a + b) + 1", plus(plus(a, b), floats(N * N, 1))}});
        without_a_wait();
    });
}
