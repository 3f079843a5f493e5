// Prefetching a weight in a plan, where it starts after what it depends on; prefetch.c tells more.
#include "plans.hpp"

// As many bytes as are asked for; y is smaller, so the request is clipped.
constexpr size_t N = 100, REQUEST = 10000000;

int main() {
    return on_a_device([](const racl::context &context, const racl::stream &stream) {
        auto g = racl::builder::make();
        auto x = g.input<float>("x", {N, N}, RACL_INPUT_COPIED), y = g.input<float>("y", {N, 1}, RACL_INPUT_COPIED);
        auto moved = g.op("aclnnAdds", {x, one, one, racl::new_value});
        racl_prefetch_options after = {};
        after.size = sizeof after;
        after.bytes = REQUEST;
        after.after_value = moved.number;
        const size_t asked = g.prefetch(y, &after);
        auto positive = g.op("aclnnAbs", {moved, racl::new_value});
        auto square = g.op("aclnnMatmul", {positive, positive, racl::new_value, 0});
        g.output("out", g.op("aclnnMatmul", {square, y, racl::new_value, 0}));
        const auto plan = g.build();
        describe(plan);
        std::printf("%zu of %zu bytes asked for\n", asked, REQUEST);

        const floats of_x = numbers(N * N, 5);
        floats of_y = numbers(N, 6), first = of_x;
        for (float &at : of_y) at = std::fabs(at); // sums of one sign, without much rounding
        for (float &at : first) at = std::fabs(at + 1);
        const floats expected = times(times(first, first, N, N, N), of_y, N, N, 1);
        const auto a = upload(context, of_x, N, N), b = upload(context, of_y, N, 1);
        run_both_ways(plan, context, stream, {{"x", &a}, {"y", &b}}, {{"out", expected}});
    });
}
