// Functions of the program that are none are refused when they are given, and nothing of what they are given to fails.
#include "support.hpp"

using nothing = std::function<void()>;
using gives_nothing = std::function<int32_t(const racl::stream &)>;
using records_nothing = std::function<void(const racl::builder &)>;

// Of a program's own, as later versions of C++ have some.
struct owner_of_none {
    explicit operator bool() const { return false; }
    friend bool operator==(const owner_of_none &, std::nullptr_t) { return true; }
    void operator()() const { std::abort(); }
};

static void on_streams(const racl::stream &stream, const racl::tensor &x) {
    REFUSED(stream.host_function(nothing()), RACL_NULL_POINTER);
    REFUSED(stream.host_function(owner_of_none()), RACL_NULL_POINTER);
    REFUSED(stream.host_function(static_cast<int32_t (*)()>(nullptr)), RACL_NULL_POINTER);
    REFUSED(racl::host_function::make("none", 1, nothing()), RACL_NULL_POINTER);
    auto twice = [&](const racl::stream &on) { return on.run("aclnnInplaceMuls", {x, racl::float_scalar{2}}); };
    {
        // As any call that fails ends a capture.
        auto refused = take(stream.begin_capture());
        REFUSED(stream.new_task_group(gives_nothing()), RACL_NULL_POINTER);
        REFUSED(refused.end(), RACL_CAPTURE_INVALIDATED);
    }
    auto capture = take(stream.begin_capture());
    auto group = take(stream.new_task_group(twice));
    auto graph = take(capture.end());
    REFUSED(graph.update(group, gives_nothing()), RACL_NULL_POINTER);
    DO(graph.update(group, std::function<int32_t(const racl::stream &)>([&](const racl::stream &on) {
        DO(twice(on));
        return RACL_OK;
    })));
    DO(graph.launch(stream));
    int ran = 0;
    DO(stream.host_function(nothing([&] { ++ran; })));
    DO(stream.synchronize());
    CHECK(ran == 1);
}

static void in_plans(const racl::context &context) {
    auto cache = take(racl::cache::make("nothing", "cpp-nothing"));
    REFUSED(cache.compile(context, "none", records_nothing()), RACL_NULL_POINTER);
    CHECK(take(cache.status("none")) == RACL_CACHE_NONE);
    REFUSED(racl::foreign::make("none", 1, racl::launch_function()), RACL_NULL_POINTER);
    auto foreign = take(racl::foreign::make("some", 1, [](const racl_launch &) { return RACL_OK; },
                                            racl::simulate_function()));
    auto g = take(racl::builder::make());
    auto y = take(g.empty<float>({2}));
    DO(g.run(foreign, {}, {y}));
    DO(g.output("y", y));
    auto plan = take(g.build());
    REFUSED(racl::simulation::run(plan, 1, {}), RACL_NOT_SUPPORTED);
}

int main() {
    auto library = take(racl::library::open("mock"));
    auto context = take(library.primary(0));
    {
        auto stream = take(context.new_stream());
        auto memory = take(context.upload(std::vector<float>{1, 2}));
        auto x = take(memory.over<float>({2}));
        on_streams(stream, x);
        in_plans(context);
        CHECK(take(memory.read<float>()) == (std::vector<float>{2, 4}));
        DO(context.buffer_of(take(memory.address()), 8, nothing()));
        DO(racl::set_log(RACL_LOG_ERROR, racl::log_function()));
    }
    DO(context.close());
    DO(library.close());
    std::printf("%d checks\n", checks);
}
