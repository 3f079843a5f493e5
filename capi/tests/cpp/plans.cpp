// racl_plan.hpp with exceptions, and with error codes where RACL_ERROR_CODES is defined.
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

#include "racl.h"

// What another thread does behind the next call, for the layer.
static std::function<void()> behind;
static int32_t read_found_and_more(const racl_executable *executable, uint32_t output, void *data, size_t size,
                                   size_t *needed) {
    int32_t status = racl_executable_read_found(executable, output, data, size, needed);
    if (auto next = std::exchange(behind, nullptr)) next();
    return status;
}
#define racl_executable_read_found read_found_and_more
#include "support.hpp"
#undef racl_executable_read_found

using floats = std::vector<float>;

// A call that reads elements of another type than they are.
#define OTHER_TYPE(call)                                                                                               \
    do {                                                                                                               \
        REFUSED(call, RACL_INVALID_ARGUMENT);                                                                          \
        CHECK(racl::failure().status == RACL_INVALID_ARGUMENT);                                                        \
        CHECK(racl::failure().message.find("aclDataType") != std::string::npos);                                       \
    } while (0)

static_assert(racl::detail::data_type<std::complex<float>>() == 16 &&
              racl::detail::data_type<std::complex<double>>() == 17);
static_assert(racl::detail::data_type<long long>() == 9 && racl::detail::data_type<unsigned long long>() == 10 &&
              racl::detail::data_type<int64_t>() == 9);

// y = relu(x * w + b), of rows that are not known yet; the rows are counted on the host.
static racl::plan record(const racl::host_function &counts) {
    auto g = take(racl::builder::make());
    DO(g.at("network.cpp", 7));
    racl::dim rows = take(g.symbol("rows", 1, 8));
    racl::value x = take(g.input<float>("x", {rows, 3}, RACL_INPUT_COPIED));
    racl::value w = take(g.input<float>("w", {3, 2}, RACL_INPUT_FROZEN));
    racl::value b = take(g.constant<float>({2}, {10, -100}));
    CHECK(take(g.dtype(x)) == 0);
    CHECK(take(g.shape(w)).size() == 2 && take(g.shape(w))[1].number == 2);
    CHECK(take(g.prefetch(w)) == 24);
    racl::value product = take(g.op("aclnnMatmul", {x, w, racl::new_value, 0}));
    racl::value sum = take(g.op("aclnnAdd", {product, b, racl::float_scalar{1}, racl::new_value}));
    racl::value y = take(g.op("aclnnRelu", {sum, racl::new_value}));
    CHECK(take(g.ops("aclnnInplaceRelu", {sum})).empty());
    DO(g.run(counts));
    DO(g.output("y", y));
    DO(g.output_to_host("z", sum));
    CHECK(take(g.operators()) >= 4);
    REFUSED(g.op("aclnnAdd", {product, x, racl::float_scalar{1}, racl::new_value}), RACL_INVALID_PLAN);
    CHECK(racl::failure().message.find("network.cpp:7") != std::string::npos);
    auto plan = take(g.build());
    CHECK(!g);
    return plan;
}

static void runs(const racl::context &context, const racl::stream &stream) {
    int counted = 0;
    auto counts = take(racl::host_function::make("counts", 1, [&] { ++counted; }));
    auto plan = record(counts);
    auto info = take(plan.describe());
    CHECK(info.is_dynamic == 1 && info.operators >= 5);
    CHECK(take(plan.lints()).size() == info.lints);
    CHECK(take(plan.changes()).empty());
    auto better = take(plan.optimise(RACL_PASS_ON, {{"dead_values", RACL_PASS_OFF}}));
    CHECK(take(better.describe()).operators <= info.operators);
    CHECK(take(better.changes()).empty() == (take(better.describe()).operators == info.operators));
    racl_passes there = {};
    there.all = RACL_PASS_ON, there.soc = "Ascend310P3";
    CHECK(take(take(plan.optimise_with(there)).describe()).operators <= info.operators);
    there.soc = "\xff";
    REFUSED(plan.optimise_with(there), RACL_INVALID_ARGUMENT);
    CHECK(take(plan.dump()).find("aclnnMatmul") != std::string::npos);
    CHECK(take(plan.dump(RACL_DUMP_JSON, {2})).front() == '{');

    const floats x = {1, 2, 3, 4, 5, 6}, w = {1, 0, 0, 1, 1, 1}, y = {14, 0, 20, 0};
    auto simulated = take(racl::simulation::run(
        plan, 1, {{"x", x.data(), x.size() * sizeof(float)}, {"w", w.data(), w.size() * sizeof(float)}}, {{"rows", 2}}));
    CHECK(take(simulated.read<float>("y")) == y);
    CHECK(take(simulated.shape("y")) == (std::vector<size_t>{2, 2}));
    // Elements of another type are none of these, and the failure is of that and of nothing before.
    CHECK(racl_simulation_free((racl_simulation *)&simulated) == RACL_FOREIGN_HANDLE);
    OTHER_TYPE(simulated.read<int32_t>("y"));
    CHECK(racl_simulation_free((racl_simulation *)&simulated) == RACL_FOREIGN_HANDLE);
    OTHER_TYPE(simulated.read<double>("y"));
    REFUSED(simulated.read<float>("none"), RACL_INVALID_ARGUMENT);

    auto memory = take(context.upload(w)), places = take(context.upload(x));
    auto weights = take(memory.over<float>({3, 2})), numbers = take(places.over<float>({2, 3}));
    // A plan that was stored finds its function in a registry.
    auto known = take(racl::registry::make());
    DO(known.add(counts));
    auto stored = take(plan.store());
    REFUSED(racl::plan::load(std::vector<uint8_t>(stored.begin(), stored.begin() + 9), &known), RACL_FILE);
    auto loaded = take(racl::plan::load(stored, &known));
    for (const racl::plan *of : {&plan, &loaded}) {
        auto executable = take(racl::executable::make(*of, context, {{"w", &weights}}));
        auto bound = take(executable.new_bindings());
        DO(bound.set(take(executable.input("x")), numbers));
        const int before = counted;
        for (int round = 0; round < 3; ++round) {
            DO(executable.run(stream, bound));
            const uint32_t to = take(executable.output("y"));
            CHECK(take(executable.read<float>(to)) == y);
            CHECK(take(executable.output_shape(to)) == (std::vector<size_t>{2, 2}));
            CHECK(take(executable.read_host<float>(take(executable.output("z")))).size() == 4);
        }
        CHECK(counted == before + 3);
        auto counters = take(executable.counters());
        CHECK(counters.captured_new == 1 && counters.graphs == 1 && counters.replays == 3);
        REFUSED(executable.input("nothing"), RACL_INVALID_ARGUMENT);
        OTHER_TYPE(executable.read<double>(take(executable.output("y"))));
        OTHER_TYPE(executable.read<int32_t>(take(executable.output("y"))));
        OTHER_TYPE(executable.read<uint16_t>(take(executable.output("y"))));
        OTHER_TYPE(executable.read_host<int32_t>(take(executable.output("z"))));
        DO(executable.clear_graphs());
        CHECK(take(executable.counters()).graphs == 0);
        REFUSED(executable.read<float>(take(executable.output("y"))), RACL_INVALID_ARGUMENT); // none is left
    }
    REFUSED(racl::executable::make(plan, context), RACL_INVALID_ARGUMENT); // without its frozen input
}

// What throws on the host fails the work, and everything stays usable.
static void callbacks(const racl::stream &stream) {
    int ran = 0;
    DO(stream.host_function([&] { ++ran; }));
    DO(stream.synchronize());
    CHECK(ran == 1);
#ifndef RACL_ERROR_CODES
    DO(stream.host_function([] { throw 7; }));
    REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
    DO(stream.host_function([] { throw std::runtime_error("the disk is full"); }));
    REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
    CHECK(racl::failure().message.find("the disk is full") != std::string::npos);
    DO(stream.host_function([&] { ++ran; }));
    DO(stream.synchronize());
    CHECK(ran == 2);
#endif
}

static void refused_plan() {
    auto g = take(racl::builder::make());
    auto x = take(g.input<float>("x", {4}, RACL_INPUT_STATIC));
    DO(g.begin_scope("side"));
    auto y = take(g.op("aclnnAbs", {x, racl::new_value}));
    DO(g.end_scope());
    DO(g.output("y", take(g.op("aclnnNeg", {y, racl::new_value})))); // unordered with the side
    REFUSED(g.build(), RACL_INVALID_PLAN);
    auto all = take(racl::last_failures());
    CHECK(!all.empty() && all[0].status == RACL_INVALID_PLAN && !all[0].message.empty());
}

// Plans that call others, choose among them and repeat them, and what the device finds.
static void calls(const racl::context &context, const racl::stream &stream) {
    auto scaled = [](float by) {
        auto g = take(racl::builder::make());
        auto x = take(g.input<float>("x", {2}, RACL_INPUT_COPIED));
        DO(g.output("y", take(g.op("aclnnMuls", {x, racl::float_scalar{by}, racl::new_value}))));
        return take(g.build());
    };
    auto doubled = scaled(2), negated = scaled(-1), nothing = scaled(0);
    auto g = take(racl::builder::make());
    auto x = take(g.input<float>("x", {2}, RACL_INPUT_COPIED));
    auto one = take(g.constant<int32_t>({1}, {1})), zero = take(g.constant<int32_t>({1}, {0}));
    auto called = take(g.call(doubled, {x}))[0];                                    // 2
    auto times = take(g.call_times(3, doubled, {called}))[0];                       // 16
    auto chosen = take(g.if_else(zero, doubled, negated, {times}))[0];              // -16
    auto skipped = take(g.if_then(zero, nothing, {chosen}))[0];                     // -16
    auto third = take(g.switch_to(one, {&doubled, &negated}, nothing, {skipped}))[0]; // 16
    DO(g.output("y", third));
    REFUSED(g.call(doubled, {x, x}), RACL_INVALID_PLAN);
    REFUSED(g.switch_to(one, {nullptr}, nothing, {x}), RACL_NULL_POINTER);

    auto b = take(racl::builder::make());
    auto carried = take(b.input<float>("x", {2}, RACL_INPUT_COPIED));
    auto added = take(b.input<float>("added", {2}, RACL_INPUT_COPIED));
    DO(b.output("more", take(b.constant<int32_t>({1}, {1}))));
    DO(b.output("x", take(b.op("aclnnAdd", {carried, added, racl::float_scalar{1}, racl::new_value}))));
    auto body = take(b.build());
    racl::value more;
    DO(g.output("z", take(g.repeat(one, body, {x}, {x}, 4, &more))[0])); // 5
    DO(g.output("more", more));

    auto positive = take(g.op("aclnnGtScalar", {x, racl::float_scalar{0}, racl::new_value}));
    auto found = take(g.masked_select(x, positive));
    DO(g.output_found("found", found));
    DO(g.output_found("places", take(g.nonzero(x))));
    auto once = take(g.unique(x));
    DO(g.output_found("once", once.found));
    DO(g.output_found("counts", once.counts));
    DO(g.output("of_each", once.places));
    DO(g.output("came", take(g.found_mask(found))));
    REFUSED(g.unique(x, 17), RACL_INVALID_ARGUMENT);

    auto executable = take(racl::executable::make(take(g.build()), context));
    auto memory = take(context.upload(floats{-3, 4}));
    auto bound = take(executable.new_bindings());
    DO(bound.set(take(executable.input("x")), take(memory.over<float>({2}))));
    DO(executable.run(stream, bound));
    auto output = [&](const char *name) { return take(executable.output(name)); };
    CHECK(take(executable.read<float>(output("y"))) == (floats{-48, 64}));
    CHECK(take(executable.read<float>(output("z"))) == (floats{-15, 20}));
    CHECK(take(executable.read<int32_t>(output("more"))) == std::vector<int32_t>{1});
    CHECK(take(executable.found_count(output("found"))) == 1);
    CHECK(take(executable.read_found<float>(output("found"))) == floats{4});
    CHECK(take(executable.read_found<int64_t>(output("places"))) == (std::vector<int64_t>{0, 1}));
    CHECK(take(executable.read_found<float>(output("once"))) == (floats{-3, 4}));
    CHECK(take(executable.read_found<int64_t>(output("counts"))) == (std::vector<int64_t>{1, 1}));
    CHECK(take(executable.read<int64_t>(output("of_each"))) == (std::vector<int64_t>{0, 1}));
    CHECK(take(executable.read<uint8_t>(output("came"))) == (std::vector<uint8_t>{1, 0}));
    REFUSED(executable.found_count(output("y")), RACL_INVALID_ARGUMENT);
    REFUSED(executable.read_found<float>(output("y")), RACL_INVALID_ARGUMENT);
    CHECK(racl_stream_free((racl_stream *)&found) == RACL_FOREIGN_HANDLE);
    OTHER_TYPE(executable.read_found<int32_t>(output("found")));
    CHECK(racl_stream_free((racl_stream *)&found) == RACL_FOREIGN_HANDLE);
    OTHER_TYPE(executable.read_found<double>(output("places")));
    OTHER_TYPE(executable.read<int8_t>(output("came")));

    // A run between the questions how much there is and what finds less, or more.
    auto runs_with = [&](const floats &numbers) {
        DO(memory.write(numbers));
        DO(executable.run(stream, bound));
    };
    behind = [&] { runs_with({0, 5}); };
    CHECK(take(executable.read_found<int64_t>(output("places"))) == std::vector<int64_t>{1});
    behind = [&] { runs_with({-3, 4}); };
    CHECK(take(executable.read_found<int64_t>(output("places"))) == (std::vector<int64_t>{0, 1}));
    CHECK(!behind);
}

static int32_t build(void *user, racl_builder *lent) {
    ++*static_cast<int *>(user);
    racl::builder g(lent);
    auto x = take(g.input<float>("x", {4}, RACL_INPUT_STATIC));
    DO(g.output("y", take(g.op("aclnnAbs", {x, racl::new_value}))));
    g.release(); // it is the caller's
    return RACL_OK;
}

static void cached(const racl::context &context, const racl::stream &stream) {
    int built = 0;
    racl_compile what = {};
    what.size = sizeof what;
    what.function = "absolute";
    what.build = build;
    what.user = &built;
    what.flags = RACL_COMPILE_IGNORE_USER;
    for (int32_t expected : {RACL_CACHE_MISS, RACL_CACHE_HIT}) {
        auto cache = take(racl::cache::make("layer", "cpp-cache"));
        CHECK(take(cache.folder()).find("cpp-cache") != std::string::npos);
        auto plan = take(cache.compile(context, what));
        CHECK(take(cache.status("absolute")) == expected);
        auto stats = take(cache.count());
        CHECK(stats.hits + stats.misses == 1);
        auto executable = take(racl::executable::make(plan, context));
        auto input = take(executable.static_input(take(executable.input("x"))));
        DO(input.write(floats{-1, 2, -3, 4}));
        DO(executable.run(stream, take(executable.new_bindings())));
        CHECK(take(executable.read<float>(take(executable.output("y")))) == (floats{1, 2, 3, 4}));
    }
    CHECK(built == 1);
}

static void control(const racl::context &context, const racl::stream &stream) {
    auto buffer = take(context.alloc(16));
    DO(racl::mock::hold(stream));
    DO(stream.fill(buffer, 1));
    CHECK(!take(stream.is_complete()));
    DO(racl::mock::release(stream));
    DO(stream.synchronize());
    const auto before = take(racl::mock::now());
    DO(racl::mock::advance(std::chrono::milliseconds(5)));
    CHECK(take(racl::mock::now()) >= before + std::chrono::milliseconds(5));
    CHECK(take(racl::mock::count()).streams >= 1);
    CHECK(take(racl::mock::calls("aclrtMalloc")) + take(racl::mock::calls("aclrtMallocAlign32")) >= 1);
    CHECK(take(stream.prefetch(buffer, 0, 16)) == 16);
    DO(stream.synchronize());
    CHECK(take(racl::mock::prefetched()).first >= 1);
    DO(racl::mock::fail("aclrtCreateStreamWithConfig", 1, 207001));
    REFUSED(context.new_stream(), RACL_OUT_OF_MEMORY);
    DO(racl::mock::clear_failures());
    auto again = take(context.new_stream());
    CHECK(take(context.take_errors()).empty());
}

static int lines;

int main() {
    DO(racl::set_log(RACL_LOG_TRACE, [](void *, int32_t, const char *, const char *) { ++lines; }));
    auto library = take(racl::library::open_with("mock", RACL_LIBRARY_VERIFY_CONTEXT));
    auto context = take(library.primary(0));
    {
        auto stream = take(context.new_stream());
        runs(context, stream);
        callbacks(stream);
        refused_plan();
        calls(context, stream);
        cached(context, stream);
        control(context, stream);
    }
    CHECK(lines > 0);
    DO(racl::set_log(RACL_LOG_OFF, nullptr));
    DO(context.close());
    DO(library.close());
    std::printf("%d checks\n", checks);
}
