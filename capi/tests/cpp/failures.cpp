// How functions of the program say that they fail, by what they throw and by what they give, and what is refused before
// C has it; with exceptions, and with error codes where RACL_ERROR_CODES is defined.
#include <optional>
#include <stdexcept>
#include <thread>

#include "support.hpp"

static bool said(const char *text) { return racl::failure().message.find(text) != std::string::npos; }

#if defined(__cpp_exceptions)
// What a program makes itself, without a status of its own.
[[noreturn]] static void throw_own(const char *text) {
    racl::failure why;
    why.message = text;
    throw racl::error(why);
}

static void thrown(const racl::context &context, const racl::stream &stream, const racl::cache &cache) {
    auto short_file = [](const racl::builder &) { throw_own("short file"); };
    // Nothing failed on this thread before.
    std::thread([&] {
        REFUSED(cache.compile(context, "short", short_file), RACL_CALLBACK_PANICKED);
        CHECK(said("short file"));
    }).join();
    CHECK(take(cache.status("short")) == RACL_CACHE_FAILED);
    // What failed before is not what fails now.
    REFUSED(context.alloc_host(size_t(-1)), RACL_INVALID_ARGUMENT);
    REFUSED(cache.compile(context, "short", short_file), RACL_INVALID_ARGUMENT);
    CHECK(said("short file"));
    DO(stream.host_function([] { throw_own("short file"); }));
    REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
    CHECK(said("short file"));
}
#else
static void thrown(const racl::context &, const racl::stream &, const racl::cache &) {}
#endif

static void given_by_host_functions(const racl::stream &stream) {
    auto fails = [&](racl::detail::host_code function, const char *text) {
        DO(stream.host_function(std::move(function)));
        REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
        CHECK(said(text));
    };
    fails([] { return racl_last_error_set(RACL_FILE, "the disk is full"); }, "the disk is full");
    fails([] { return 7; }, "gave 7");
    fails([] { return std::make_error_code(std::errc::no_space_on_device); }, "o space");
    // The second time the thread's last failure has that status already.
    for (int again = 0; again < 2; again++)
        fails([] { return racl::make_error_code(RACL_BUSY); }, "RACL_BUSY");
    DO(stream.host_function([] { return RACL_OK; }));
    DO(stream.host_function([] { return std::error_code(); }));
    DO(stream.synchronize());
    auto counts = take(racl::host_function::make("counts", 1, [] { return racl_last_error_set(9, "no counter"); }));
    auto g = take(racl::builder::make());
    auto x = take(g.input<float>("x", {4}, RACL_INPUT_STATIC));
    DO(g.run(counts));
    DO(g.output("y", take(g.op("aclnnAbs", {x, racl::new_value}))));
    auto plan = take(g.build());
    const std::vector<float> zeros(4);
    REFUSED(racl::simulation::run(plan, 1, {{"x", zeros.data(), 16}}), RACL_CALLBACK_PANICKED);
    CHECK(said("no counter"));
}

static void given_by_builds(const racl::context &context, const racl::cache &cache) {
    REFUSED(cache.compile(context, "no_value",
                          [](const racl::builder &g) { return racl_builder_output(g.get(), "y", 99); }),
            RACL_INVALID_PLAN);
    CHECK(said("none of this builder"));
    REFUSED(cache.compile(context, "no_file",
                          [](const racl::builder &) { return std::make_error_code(std::errc::io_error); }),
            RACL_CALLBACK_PANICKED);
    // The second time the thread's last failure is this one already.
    for (int again = 0; again < 2; again++) {
        REFUSED(cache.compile(context, "no_disk", [](const racl::builder &) { return racl::make_error_code(RACL_FILE); }),
                RACL_FILE);
        CHECK(said("RACL_FILE"));
    }
#ifdef RACL_ERROR_CODES
    // A result with a value is one too.
    REFUSED(cache.compile(context, "no_operator",
                          [](const racl::builder &g) { return g.op("aclnnNothing", {racl::new_value}); }),
            RACL_INVALID_PLAN);
#endif
    // Another builder in the place of the one that is lent ends with the call, which fails.
    racl_builder *put = nullptr;
    auto puts = [&](racl::builder &g) {
        g = take(racl::builder::make());
        put = g.get();
    };
    racl_compile replaced = {};
    replaced.function = "replaced";
    bool refused = false;
#ifdef RACL_ERROR_CODES
    refused = !cache.compile(context, replaced, puts);
#else
    try {
        cache.compile(context, replaced, puts);
    } catch (const racl::error &) {
        refused = true;
    }
#endif
    CHECK(refused && put && racl_builder_free(put) == RACL_STALE_HANDLE);
    auto plan = take(cache.compile(context, "works", [](const racl::builder &g) {
        auto x = take(g.input<float>("x", {4}, RACL_INPUT_STATIC));
        return racl_builder_output(g.get(), "y", take(g.op("aclnnAbs", {x, racl::new_value})).number);
    }));
    CHECK(take(plan.describe()).operators == 1);
}

static void given_to_streams(const racl::context &context, const racl::stream &stream) {
    auto memory = take(context.upload(std::vector<float>{1, 2}));
    auto x = take(memory.over<float>({2}));
    auto scale = [&](float by) {
        return [&x, by](const racl::stream &on) {
            racl_arg args[2] = {racl::arg(x).c(), racl::arg(racl::float_scalar{by}).c()};
            return racl_operator(on.get(), "aclnnInplaceMuls", args, 2);
        };
    };
    auto refused = [](const racl::stream &on) { return racl_operator(on.get(), "aclnnNothing", nullptr, 0); };
    {
        auto capture = take(stream.begin_capture());
        REFUSED(stream.new_task_group(refused), racl_last_error_status());
        CHECK(said("aclnnNothing"));
        REFUSED(capture.end(), RACL_CAPTURE_INVALIDATED);
    }
    auto capture = take(stream.begin_capture());
    auto group = take(stream.new_task_group(scale(2)));
    auto graph = take(capture.end());
    REFUSED(graph.update(group, refused), racl_last_error_status());
    DO(graph.update(group, scale(3)));
    DO(graph.launch(stream));
    CHECK(take(memory.read<float>()) == (std::vector<float>{3, 6}));
}

static racl::plan scaled(float by) {
    auto g = take(racl::builder::make());
    auto x = take(g.input<float>("x", {4}, RACL_INPUT_COPIED));
    DO(g.output("y", take(g.op("aclnnMuls", {x, racl::float_scalar{by}, racl::new_value}))));
    return take(g.build());
}

// An owner of nothing is not what C takes NULL for.
static void empty_owners() {
    auto doubled = scaled(2), negated = scaled(-1);
    auto g = take(racl::builder::make());
    auto x = take(g.input<float>("x", {4}, RACL_INPUT_COPIED));
    auto one = take(g.constant<int32_t>({1}, {1}));
    auto moved = std::move(negated);
    REFUSED(g.if_else(one, doubled, negated, {x}), RACL_NULL_POINTER);
    REFUSED(g.if_else(one, negated, doubled, {x}), RACL_NULL_POINTER);
    REFUSED(g.if_then(one, racl::plan(), {x}), RACL_NULL_POINTER);
    CHECK(take(g.if_else(one, doubled, moved, {x})).size() == 1);
    auto stored = take(doubled.store());
    const racl::registry none;
    REFUSED(racl::plan::load(stored, &none), RACL_NULL_POINTER);
    CHECK(take(racl::plan::load(stored)));
}

// What fails while it ends, as an owner may that a function has.
struct ends_badly {
    ~ends_badly() { (void)racl_last_error_set(77, "another failure"); }
};

// What a call is told of, with the text.
template <class Call>
static bool tells(Call &&call, int32_t status, const char *text) {
#ifdef RACL_ERROR_CODES
    return call().error() == racl::make_error_code(status) && said(text);
#else
    try {
        (void)call();
    } catch (const racl::error &error) {
        return error.code() == racl::make_error_code(status) && error.message().find(text) != std::string::npos;
    }
    return false;
#endif
}

static void failures_of_what_ends(const racl::context &context) {
    auto own = [] { return [kept = std::make_shared<ends_badly>()](auto &&...) { return kept ? 0 : 1; }; };
    auto ended = [kept = std::make_shared<ends_badly>()] { (void)kept; };
    auto log = [kept = std::make_shared<ends_badly>()](int32_t, const char *, const char *) { (void)kept; };
    const racl::stream none;
    CHECK(tells([&] { return none.host_function(own()); }, RACL_NULL_POINTER, "NULL for"));
    CHECK(tells([&] { return context.buffer_of(nullptr, 16, std::move(ended)); }, RACL_NULL_POINTER, "an address"));
    CHECK(tells([&] { return racl::set_log(99, std::move(log)); }, RACL_INVALID_ARGUMENT, "99"));
    CHECK(tells([&] { return racl::host_function::make("", 1, own()); }, RACL_INVALID_ARGUMENT, "an empty name"));
    CHECK(tells([&] { return racl::foreign::make("", 1, own()); }, RACL_INVALID_ARGUMENT, "an empty name"));
}

// All that is known of why a call failed.
template <class Call>
static racl::failure why(Call &&call) {
#ifdef RACL_ERROR_CODES
    auto result = call();
    racl::failure last;
    CHECK(!result && result.error().value() == last.status);
    return last;
#else
    try {
        (void)call();
    } catch (const racl::error &error) {
        return {error.code().value(), error.message(), error.call(), error.native_code(), error.details()};
    }
    std::exit(1);
#endif
}

static bool is_same(const racl::failure &one, const racl::failure &other) {
    return one.status == other.status && one.message == other.message && one.call == other.call &&
           one.code == other.code && one.details == other.details;
}

// What fails behind a failure takes nothing of it away: neither the function of AscendCL and its code, nor the details.
static void failures_behind_failures(const racl::context &context, const racl::stream &stream,
                                     const racl::cache &cache) {
    auto refused = [&](racl::detail::host_code function) {
        DO(racl::mock::fail("aclrtLaunchHostFunc", 1, 507000));
        return why([&] { return stream.host_function(std::move(function)); });
    };
    const racl::failure plain = refused([] {});
    CHECK(plain.call == "aclrtLaunchHostFunc" && plain.code == 507000 && plain.details != plain.message);
    CHECK(is_same(refused([kept = std::make_shared<ends_badly>()] { (void)kept; }), plain));
#ifndef RACL_ERROR_CODES
    // What is destroyed while an exception is on its way.
    for (bool badly : {false, true}) {
        auto build = [&](const racl::builder &) {
            std::optional<ends_badly> kept;
            if (badly) kept.emplace();
            DO(racl::mock::fail("aclrtLaunchHostFunc", 1, 507000));
            stream.host_function([] {});
        };
        CHECK(is_same(why([&] { return cache.compile(context, badly ? "badly" : "plainly", build); }), plain));
        CHECK(is_same(racl::failure(), plain));
    }
#else
    (void)context, (void)cache;
#endif
    DO(racl::mock::clear_failures());
    // Texts of one length may lie where an older one was.
    for (int round = 0; round < 100; ++round) {
        (void)racl_last_error_set(7, "the prior text");
        const racl::detail::since begun;
        CHECK(!begun.failed_with(7));
        (void)racl_last_error_set(7, "the first text");
        (void)racl_last_error_set(7, "the other text");
        CHECK(begun.failed_with(7) && !begun.failed_with(8));
    }
}

// Numbers that int64_t does not hold are not those that it would have in their place.
static void numbers_beyond(const racl::context &context, const racl::stream &stream) {
    const size_t last = size_t(-1), first = size_t(1) << 63;
    CHECK(racl::arg(first - 1).c().integer == std::numeric_limits<int64_t>::max() && racl::dim(first - 1).number > 0);
    CHECK(racl::arg(-1).c().integer == -1 && racl::arg(uint32_t(-1)).c().integer == 0xffffffff);
    auto from = take(context.upload(std::vector<float>{1, 2})), to = take(context.alloc(16));
    auto x = take(from.over<float>({1, 2})), y = take(to.over<float>({1, 4}));
    for (size_t axis : {last, first}) {
        REFUSED(stream.run("aclnnCat", {std::vector<const racl::tensor *>{&x, &x}, axis, y}), RACL_INVALID_ARGUMENT);
        CHECK(said("above INT64_MAX"));
        auto g = take(racl::builder::make());
        REFUSED(g.input<float>("x", {axis}, RACL_INPUT_COPIED), RACL_INVALID_ARGUMENT);
        CHECK(said("above INT64_MAX"));
        auto of = take(g.input<float>("x", {2, 2}, RACL_INPUT_COPIED));
        REFUSED(g.op("aclnnCat", {std::vector<racl::value>{of, of}, axis, racl::new_value}), RACL_INVALID_ARGUMENT);
        CHECK(said("above INT64_MAX"));
        REFUSED(g.op("aclnnCat", {std::vector<racl::value>{of, of}, racl::dim(axis), racl::new_value}),
                RACL_INVALID_ARGUMENT);
        take(g.op("aclnnCat", {std::vector<racl::value>{of, of}, -1, racl::new_value}));
    }
}

int main() {
    auto library = take(racl::library::open("mock"));
    auto context = take(library.primary(0));
    {
        auto stream = take(context.new_stream());
        auto cache = take(racl::cache::make("failures", "cpp-failures"));
        thrown(context, stream, cache);
        given_by_host_functions(stream);
        given_by_builds(context, cache);
        given_to_streams(context, stream);
        empty_owners();
        failures_of_what_ends(context);
        failures_behind_failures(context, stream, cache);
        numbers_beyond(context, stream);
    }
    DO(context.close());
    DO(library.close());
    std::printf("%d checks\n", checks);
}
