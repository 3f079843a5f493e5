// Frozen parameters: weights whose addresses are fixed when the graph is captured; frozen.c tells more.
#include "plans.hpp"

constexpr size_t LAYERS = 16, WIDTH = 32;

static std::string weight(size_t layer) { return "w" + std::to_string(layer); }

// x = tanh(x * w) for each weight.
static void record(const racl::builder &g) {
    auto x = g.input<float>("x", {1, WIDTH}, RACL_INPUT_STATIC);
    for (size_t layer = 0; layer < LAYERS; ++layer) {
        auto w = g.input<float>(weight(layer).c_str(), {WIDTH, WIDTH}, RACL_INPUT_FROZEN);
        auto product = g.op("aclnnMatmul", {x, w, racl::new_value, 0});
        x = g.op("aclnnTanh", {product, racl::new_value});
    }
    g.output("y", x);
}

static floats in_order(floats x, const std::vector<floats> &weights) {
    for (const floats &w : weights) {
        x = times(x, w, 1, WIDTH, WIDTH);
        for (float &at : x) at = std::tanh(at);
    }
    return x;
}

static racl::plan compiled(const racl::context &context) {
    if (!racl::has("cache")) {
        auto g = racl::builder::make();
        record(g);
        return g.build();
    }
    auto cache = racl::cache::make("frozen", "plans");
    auto plan = cache.compile(context, "layers", [](const racl::builder &g) { record(g); });
    std::printf("the plan was %s\n", cache.status("layers") == RACL_CACHE_HIT ? "found on disk" : "built");
    return plan;
}

static void run(const racl::context &context, const racl::stream &stream) {
    const floats x = numbers(WIDTH, 8);
    std::vector<floats> weights;
    std::vector<racl::tensor> tensors;
    std::vector<std::string> names;
    std::vector<std::pair<const char *, const racl::tensor *>> frozen;
    for (size_t layer = 0; layer < LAYERS; ++layer) {
        weights.push_back(numbers(WIDTH * WIDTH, unsigned(layer) + 9));
        tensors.push_back(upload(context, weights.back(), WIDTH, WIDTH));
        names.push_back(weight(layer));
    }
    for (size_t layer = 0; layer < LAYERS; ++layer) frozen.push_back({names[layer].c_str(), &tensors[layer]});
    const auto plan = compiled(context);
    for (int32_t mode : {RACL_RUN_EAGER, RACL_RUN_CAPTURED}) {
        auto checked = options(mode);
        checked.flags = RACL_RUN_CHECK_FROZEN;
        auto exe = racl::executable::make(plan, context, frozen, &checked);
        auto bindings = exe.new_bindings();
        const auto y = exe.output("y");
        exe.static_input(exe.input("x")).write(x);
        for (bool halved : {false, true}) {
            if (halved) { // new numbers, in place
                for (float &at : weights[0]) at /= 2;
                tensors[0].write(weights[0]);
            }
            exe.run(stream, bindings);
            if (!same(exe.read<float>(y), in_order(x, weights))) throw std::runtime_error("y differs");
        }
        std::printf("%s: equals the operators in order, also with new numbers in place\n", how(mode));
        const auto other = upload(context, weights[0], WIDTH, WIDTH);
        bindings.set(exe.input("w0"), other);
        try {
            exe.run(stream, bindings);
        } catch (const racl::error &error) {
            if (error.code() != racl::make_error_code(RACL_ADDRESS_CHANGED)) throw;
            std::printf("%s: refuses a weight in another place\n", how(mode));
        }
    }
}

int main() { return on_a_device(run); }
