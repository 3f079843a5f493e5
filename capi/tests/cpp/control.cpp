// Functions of the program that racl calls, whatever they throw, and the control of what runs; with exceptions, and with
// error codes where RACL_ERROR_CODES is defined.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "support.hpp"

using floats = std::vector<float>;

// What throws where something may, and says that it failed otherwise.
#if defined(__cpp_exceptions)
#define FAIL_WITH(text) throw std::runtime_error(text)
#else
#define FAIL_WITH(text) return racl_last_error_set(RACL_CALLBACK_PANICKED, text)
#endif

// A function that gives a result<void> in both.
#ifdef RACL_ERROR_CODES
using done = racl::result<void>;
#define RETURN(call) return call
#else
using done = void;
#define RETURN(call) call
#endif

static bool said(const char *text) { return racl::failure().message.find(text) != std::string::npos; }

// y = 2 * x, by an operator that racl does not know.
static racl::plan doubled(const racl::foreign &foreign) {
    auto g = take(racl::builder::make());
    auto x = take(g.input<float>("x", {4}, RACL_INPUT_COPIED));
    auto y = take(g.empty<float>({4}));
    DO(g.copy(y, x));
    DO(g.run(foreign, {x}, {y}));
    DO(g.output("y", y));
    return take(g.build());
}

static void foreign_operators(const racl::context &context, const racl::stream &stream) {
    enum { WORKS, THROWS, THROWS_ODDLY, GIVES, REFUSED_BY_RACL } how = WORKS;
    int launched = 0, simulated = 0;
    auto fails = [&](int32_t code) -> int32_t {
        if (how == THROWS) FAIL_WITH("no such kernel");
#if defined(__cpp_exceptions)
        if (how == THROWS_ODDLY) throw 7;
#endif
#ifndef RACL_ERROR_CODES
        if (how == REFUSED_BY_RACL) context.alloc_host(size_t(-1));
#endif
        return how == GIVES ? code : 0;
    };
    auto launch = [&](const racl_launch &of) -> int32_t {
        ++launched;
        CHECK(of.count == 2 && racl::value_of(of, 0).bytes == 16 && of.stream != nullptr);
        CHECK(&racl::value_of(of, 0) == of.values && &racl::value_of(of, 1) == of.values + 1);
        return fails(207001);
    };
    auto simulate = [&](const std::vector<racl_bytes> &reads, const std::vector<racl_bytes> &writes) -> int32_t {
        ++simulated;
        CHECK(reads.size() == 1 && writes.size() == 1 && writes[0].size == 16);
        const float *from = static_cast<const float *>(reads[0].data);
        for (int at = 0; at < 4; ++at) static_cast<float *>(writes[0].data)[at] = 2 * from[at];
        return fails(5);
    };
    auto foreign = take(racl::foreign::make("doubled", 1, launch, simulate));
    REFUSED(racl::foreign::make(nullptr, 1, launch), RACL_NULL_POINTER);
    REFUSED(racl::foreign::make("none", 1, nullptr), RACL_NULL_POINTER);
    auto plan = doubled(foreign);
    const floats x = {1, 2, 3, 4};
    auto run = [&] { return racl::simulation::run(plan, 1, {{"x", x.data(), x.size() * sizeof(float)}}); };
    CHECK(take(take(run()).read<float>("y")) == (floats{2, 4, 6, 8}));
    auto make = [&] { return racl::executable::make(plan, context); };
    how = THROWS;
    REFUSED(run(), RACL_CALLBACK_PANICKED);
    CHECK(said("no such kernel"));
    REFUSED(make(), RACL_CALLBACK_PANICKED);
    CHECK(said("no such kernel") && said("\"doubled\"") && !said("panicked"));
    how = GIVES;
    REFUSED(run(), RACL_CALLBACK_PANICKED);
    REFUSED(make(), RACL_OUT_OF_MEMORY);
#if defined(__cpp_exceptions)
    how = THROWS_ODDLY;
    REFUSED(run(), RACL_CALLBACK_PANICKED);
    REFUSED(make(), RACL_CALLBACK_PANICKED);
    CHECK(said("no std::exception"));
#endif
#ifndef RACL_ERROR_CODES
    how = REFUSED_BY_RACL;
    REFUSED(make(), RACL_CALLBACK_PANICKED);
    CHECK(said("\"doubled\"") && said("do not fit an address space"));
#endif
    // Everything is usable after that.
    how = WORKS;
    auto executable = take(make());
    auto memory = take(context.upload(x));
    auto bound = take(executable.new_bindings());
    DO(bound.set(take(executable.input("x")), take(memory.over<float>({4}))));
    DO(executable.run(stream, bound));
    CHECK(take(executable.read<float>(take(executable.output("y")))) == x);
    CHECK(launched >= 3 && simulated >= 3);
}

static void builds(const racl::context &context, const racl::stream &stream) {
    auto cache = take(racl::cache::make("control", "cpp-control"));
    auto absolute = [](const racl::builder &g) -> done {
        auto x = take(g.input<float>("x", {4}, RACL_INPUT_STATIC));
        RETURN(g.output("y", take(g.op("aclnnAbs", {x, racl::new_value}))));
    };
    for (int32_t expected : {RACL_CACHE_MISS, RACL_CACHE_HIT}) {
        auto plan = take(cache.compile(context, "absolute", absolute));
        CHECK(take(cache.status("absolute")) == expected);
        auto executable = take(racl::executable::make(plan, context));
        auto input = take(executable.static_input(take(executable.input("x"))));
        DO(input.write(floats{-1, 2, -3, 4}));
        DO(executable.run(stream, take(executable.new_bindings())));
        CHECK(take(executable.read<float>(take(executable.output("y")))) == (floats{1, 2, 3, 4}));
    }
    // What racl refuses inside it is what the compilation gives, with all that is known of it.
    auto refused = [](const racl::builder &g) -> done { RETURN(g.output("y", racl::value{99})); };
    REFUSED(cache.compile(context, "refused", refused), RACL_INVALID_PLAN);
    CHECK(said("none of this builder"));
    CHECK(take(cache.status("refused")) == RACL_CACHE_FAILED);
    // The builder is lent: it is refused that it is built, and the compilation goes on where that is taken.
    auto built = [&](racl::builder &g) -> done {
        REFUSED(g.build(), RACL_BUSY);
        RETURN(absolute(g));
    };
    CHECK(take(take(cache.compile(context, "built", built)).describe()).operators == 1);
#ifndef RACL_ERROR_CODES
    auto throws = [](const racl::builder &) { throw std::runtime_error("the file of weights is short"); };
    REFUSED(cache.compile(context, "throws", throws), RACL_CALLBACK_PANICKED);
    CHECK(said("the file of weights is short"));
    REFUSED(cache.compile(context, "odd", [](const racl::builder &) { throw 7; }), RACL_CALLBACK_PANICKED);
#endif
    CHECK(take(take(cache.compile(context, "absolute", absolute)).describe()).operators == 1);
}

static const racl::tensor *scaled;

// A plain function, for what lambdas are for elsewhere.
static done tenfold(const racl::stream &on) {
    RETURN(on.run("aclnnInplaceMuls", {*scaled, racl::float_scalar{10}}));
}

static void plain_functions(const racl::context &context, const racl::stream &stream) {
    auto memory = take(context.upload(floats{1, 2}));
    auto x = take(memory.over<float>({2}));
    scaled = &x;
    auto capture = take(stream.begin_capture());
    auto group = take(stream.new_task_group(tenfold));
    auto graph = take(capture.end());
    DO(graph.launch(stream));
    DO(graph.update(group, tenfold));
    DO(graph.update(group, &tenfold));
    DO(graph.launch(stream));
    CHECK(take(memory.read<float>()) == (floats{100, 200}));
    CHECK(take(memory.read<double>()).size() == 1 && take(memory.read<float>(1, 4)) == floats{200});
    REFUSED(memory.read<double>(std::numeric_limits<size_t>::max(), 4), RACL_INVALID_ARGUMENT);
    // What another call has at this moment is tried again; the capture lacks nothing.
    auto aside = take(context.new_stream());
    auto second = take(aside.begin_capture(RACL_CAPTURE_RELAXED));
    DO(graph.update(group, [&](const racl::stream &on) -> done {
        CHECK(racl_graph_launch(graph.get(), aside.get()) == RACL_BUSY);
        RETURN(tenfold(on));
    }));
    auto whole = take(second.end());
    DO(whole.launch(stream));
    DO(stream.synchronize());
#ifdef RACL_ERROR_CODES
    DO(stream.host_function([]() -> racl::result<void> {
        return racl::detail::check(racl_last_error_set(RACL_FILE, "the disk is full"));
    }));
    REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
    CHECK(said("the disk is full"));
#endif
}

static void updates(const racl::context &context, const racl::stream &stream) {
    auto memory = take(context.upload(floats{1, 2}));
    auto x = take(memory.over<float>({2}));
    float by = 2;
    auto scale = [&](const racl::stream &on) -> done {
        RETURN(on.run("aclnnInplaceMuls", {x, racl::float_scalar{by}}));
    };
    auto capture = take(stream.begin_capture());
    auto group = take(stream.new_task_group(scale));
    auto graph = take(capture.end());
    DO(graph.launch(stream));
    by = 10;
    DO(graph.update(group, scale));
    DO(graph.launch(stream));
    CHECK(take(memory.read<float>()) == (floats{20, 40}));
    auto refused = [&](const racl::stream &on) -> done { RETURN(on.run("aclnnNothing", {x})); };
#ifdef RACL_ERROR_CODES
    CHECK(!graph.update(group, refused));
#else
    bool thrown = false;
    try {
        graph.update(group, refused);
    } catch (const racl::error &error) {
        thrown = std::string(error.what()).find("aclnnNothing") != std::string::npos;
    }
    CHECK(thrown);
    REFUSED(graph.update(group, [](const racl::stream &) { throw std::runtime_error("no such factor"); }),
            RACL_CALLBACK_PANICKED);
    CHECK(said("no such factor"));
    auto other = take(stream.begin_capture());
    REFUSED(stream.new_task_group([](const racl::stream &) { throw 7; }), RACL_CALLBACK_PANICKED);
    REFUSED(other.end(), RACL_CAPTURE_INVALIDATED);
#endif
    DO(graph.update(group, scale));
    REFUSED(graph.abort(), RACL_NOT_SUPPORTED);
    DO(group.reset());
    DO(graph.launch(stream));
    CHECK(take(memory.read<float>()) == (floats{200, 400}));
}

static void ends(const racl::context &context, const racl::stream &stream) {
    int released = 0;
    auto own = take(stream.alloc(16));
    void *address = take(own.address());
    {
        auto theirs = take(context.buffer_of(address, 16, [&] { ++released; }));
        DO(racl::mock::hold(stream));
        DO(stream.fill(theirs, 1));
    }
    CHECK(released == 0);
    DO(racl::mock::release(stream));
    DO(stream.synchronize());
    CHECK(released == 1);
    REFUSED(context.buffer_of(nullptr, 16, [&] { ++released; }), RACL_NULL_POINTER);
    CHECK(released == 1);
#if defined(__cpp_exceptions)
    { auto theirs = take(context.buffer_of(address, 16, [] { throw 7; })); }
#endif

    // A relaxed capture ends on any thread, and others are given up there.
    for (int32_t mode : {RACL_CAPTURE_RELAXED, RACL_CAPTURE_GLOBAL}) {
        racl::capture begun;
        std::thread([&] { begun = take(stream.begin_capture(mode)); }).join();
        CHECK(take(stream.is_capturing()));
        if (mode == RACL_CAPTURE_RELAXED) CHECK(take(begun.end()));
        begun = racl::capture();
        CHECK(!take(stream.is_capturing()));
    }
    CHECK(take(context.take_errors()).empty());
}

static void logs(const racl::stream &stream) {
    std::atomic<int> lines{0};
    auto fail = [&] {
        auto fails = [](void *, const void *, size_t) -> int32_t { return 1; };
        CHECK(racl_stream_host_function(stream.get(), fails, nullptr, nullptr) == RACL_OK);
        REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
    };
    auto kept = std::make_shared<int>(0);
    DO(racl::set_log(RACL_LOG_ERROR, [&lines, kept](int32_t, const char *, const char *) { ++lines; }));
    fail();
    CHECK(lines >= 1 && kept.use_count() == 2);
#if defined(__cpp_exceptions)
    DO(racl::set_log(RACL_LOG_ERROR, [&](int32_t level, const char *target, const char *message) {
        CHECK(level == RACL_LOG_ERROR && std::string(target).find("racl") == 0 && *message);
        ++lines;
        throw std::runtime_error("the line is lost");
    }));
    const int before = lines;
    fail();
    CHECK(lines > before);
#endif
    DO(racl::set_log(RACL_LOG_OFF, nullptr));
    CHECK(kept.use_count() == 1);
    REFUSED(racl::set_log(99, [kept](int32_t, const char *, const char *) {}), RACL_INVALID_ARGUMENT);
    CHECK(kept.use_count() == 1);
}

// Host outputs of single runs, captures ahead, gates and pools.
static void runs(const racl::context &context, const racl::stream &stream) {
    auto g = take(racl::builder::make());
    auto rows = take(g.symbol("rows", 1, 8));
    auto x = take(g.input<float>("x", {rows}, RACL_INPUT_HOST));
    DO(g.gate("ready"));
    DO(g.wait_gate("ready"));
    DO(g.output_to_host("y", take(g.op("aclnnAbs", {x, racl::new_value}))));
    auto plan = take(g.build());
    auto pool = take(racl::pool::make(context));
    racl_run_options options = {};
    options.size = sizeof options;
    options.host_output_buffers = 2;
    options.signal_limit = 1000000;
    options.pool = pool.get();
    auto executable = take(racl::executable::make(plan, context, {}, &options));
    auto bound = take(executable.new_bindings());
    const auto from = take(executable.input("x")), y = take(executable.output("y"));
    DO(bound.set_host(from, {2}, floats{-1, 2}));
    CHECK(take(executable.inputs()) == std::vector<std::string>{"x"});
    CHECK(take(executable.outputs()) == std::vector<std::string>{"y"});
    const size_t room = take(executable.graph_room());
    DO(executable.capture(bound));
    CHECK(take(executable.graph_room()) + 1 == room && take(executable.counters()).replays == 0);
    DO(executable.signal("ready", stream));
    DO(executable.run(stream, bound));
    auto first = take(executable.take_host_outputs());
    DO(bound.set_host(from, {1}, floats{-7}));
    DO(executable.run(stream, bound)); // nobody signals it
    auto second = take(executable.take_host_outputs());
    REFUSED(executable.take_host_outputs(), RACL_INVALID_ARGUMENT);
    CHECK(take(first.read<float>(y)) == (floats{1, 2}) && take(first.shape(y)) == std::vector<size_t>{2});
    REFUSED(first.read<int32_t>(y), RACL_INVALID_ARGUMENT);
    REFUSED(first.shape(y + 1), RACL_INVALID_ARGUMENT);
    CHECK(take(executable.release_gates()) == std::vector<std::string>{"ready"});
    CHECK(take(second.is_ready()));
    DO(second.reset());
    CHECK(take(executable.release_gates()).empty());
    DO(first.reset());
    CHECK(take(pool.size()) < 1 << 20);
}

static void control(const racl::library &library, const racl::context &context) {
    CHECK(take(library.soc_name()).find("Ascend") == 0);
    CHECK(take(context.device_info()).cube_cores == 24);
    DO(racl::mock::set_l2_cache(1 << 20));
    CHECK(take(context.device_info()).l2_cache_bytes == 1 << 20);
    DO(racl::mock::set_l2_cache(0));
    auto own = take(context.another());
    auto left = take(own.new_stream()), right = take(own.new_stream());
    auto memory = take(own.alloc(16));
    DO(own.set_memory_limit(1));
    REFUSED(own.alloc(64 << 20), RACL_OUT_OF_MEMORY);
    DO(own.set_memory_limit(0));
    DO(own.set_index_checks(true));
    DO(own.set_index_checks(false));
    DO(own.set_tracking(false));
    CHECK(take(racl::mock::check_races(RACL_MOCK_RACES_REPORT)) == RACL_MOCK_RACES_OFF);
    DO(left.fill(memory, 1));
    DO(right.fill(memory, 2));
    CHECK(take(racl::mock::run()) >= 1);
    CHECK(take(racl::mock::races()).size() == 1);
    CHECK(take(racl::mock::check_races(RACL_MOCK_RACES_OFF)) == RACL_MOCK_RACES_REPORT);
    DO(racl::mock::limit_events(100));
    DO(racl::mock::limit_events(0));
    DO(racl::mock::limit_streams(3));
    REFUSED(own.new_stream(), RACL_NO_STREAMS);
    DO(racl::mock::limit_streams(0));

    DO(left.set_name("left"));
    DO(racl::mock::hold(left));
    auto mark = take(own.new_event());
    DO(left.fill(memory, 3));
    DO(left.record(mark));
    DO(left.abort());
    REFUSED(mark.synchronize(), RACL_ABORTED);
    DO(racl::mock::release_all());
    DO(own.abort_device(std::chrono::seconds(1)));
    REFUSED(own.abort_device(std::chrono::seconds(0)), RACL_INVALID_ARGUMENT);

    DO(racl::mock::log_launches(true));
    auto x = take(memory.over<float>({4}));
    DO(right.run("aclnnInplaceRelu", {x}));
    DO(right.synchronize());
    auto ran = take(racl::mock::launches());
    CHECK(ran.size() == 1 && std::string(ran[0].function) == "aclnnInplaceRelu");
    DO(racl::mock::log_launches(false));
    DO(racl::mock::log_calls(true));
    DO(right.synchronize());
    auto calls = take(racl::mock::logged_calls());
    CHECK(!calls.empty() && std::string(calls.back().function).rfind("aclrtSynchronizeStream", 0) == 0);
    CHECK(calls.back().given_count == 1 && calls.back().given[0] == take(right.raw()));
    DO(racl::mock::log_calls(false));
}

int main() {
    auto library = take(racl::library::open("mock"));
    auto context = take(library.primary(0));
    {
        auto stream = take(context.new_stream());
        foreign_operators(context, stream);
        builds(context, stream);
        updates(context, stream);
    plain_functions(context, stream);
        ends(context, stream);
        logs(stream);
        runs(context, stream);
        control(library, context);
    }
    DO(context.close());
    DO(library.close());
    std::printf("%d checks\n", checks);
}
