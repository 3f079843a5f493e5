// racl.hpp with exceptions, and with error codes where RACL_ERROR_CODES is defined.
#include <chrono>
#include <limits>
#include <thread>
#include <type_traits>

#include "support.hpp"

enum numbers { ONE = 1 };
template <class T>
constexpr bool is_argument = std::is_convertible_v<T, racl::arg>;
static_assert(is_argument<bool> && is_argument<int> && is_argument<size_t> && is_argument<float> &&
              is_argument<double> && is_argument<const char *> && is_argument<racl::tensor &>);
// What would be true, or a number by chance.
static_assert(!is_argument<bool *> && !is_argument<float *> && !is_argument<racl::tensor *> &&
              !is_argument<void (*)()> && !is_argument<numbers>);

static std::string told; // by the handler of destructors

static void hear(const char *function, const char *message) { told = std::string(function) + ": " + message; }

static void memory(const racl::context &context, const racl::stream &stream) {
    auto numbers = take(context.upload(std::vector<int32_t>{1, 2, 3, 4}));
    CHECK(take(numbers.size()) == 16);
    CHECK(take(numbers.read<int32_t>()) == (std::vector<int32_t>{1, 2, 3, 4}));
    CHECK(take(numbers.read<int32_t>(2, 4)) == (std::vector<int32_t>{2, 3}));
    CHECK(take(numbers.read<int32_t>(0)).empty());
    REFUSED(numbers.read<int32_t>(5), RACL_INVALID_ARGUMENT);
    REFUSED(numbers.read<int32_t>(1, 14), RACL_INVALID_ARGUMENT);
    REFUSED(numbers.read<int32_t>(static_cast<size_t>(1) << 62), RACL_INVALID_ARGUMENT); // times 4 it is 0
    REFUSED(numbers.write(std::vector<int32_t>(5)), RACL_INVALID_ARGUMENT);
    auto part = take(numbers.slice(4, 8));
    DO(stream.fill(part, 0));
    CHECK(take(numbers.read<int32_t>()) == (std::vector<int32_t>{1, 0, 0, 4}));
    auto other = take(context.alloc(16));
    DO(stream.copy(other, numbers));
    CHECK(take(other.read<int32_t>()) == (std::vector<int32_t>{1, 0, 0, 4}));
    auto theirs = take(context.buffer_of(take(other.address()), 16));
    CHECK(take(theirs.read<int32_t>(1)) == (std::vector<int32_t>{1}));
    REFUSED(numbers.close(), RACL_INVALID_ARGUMENT); // its part is alive
    CHECK(numbers);
    DO(part.reset());
    CHECK(!part);
    DO(numbers.close());
    CHECK(!numbers);
    REFUSED(numbers.size(), RACL_NULL_POINTER);

    auto host = take(context.alloc_host(16));
    CHECK(take(host.size()) == 16);
    static_cast<int32_t *>(take(host.data()))[3] = 9;
    DO(stream.upload(other, host));
    REFUSED(host.data(), RACL_BUSY);
    DO(host.wait());
    CHECK(take(other.read<int32_t>()) == (std::vector<int32_t>{0, 0, 0, 9}));
    DO(stream.download(host, other));
    DO(host.wait());
    CHECK(static_cast<int32_t *>(take(host.data()))[3] == 9);
    DO(host.close());
}

static void owners(const racl::context &context) {
    auto first = take(context.alloc(8)), second = take(context.alloc(8));
    racl_buffer *raw = first.get();
    racl::buffer moved = std::move(first);
    CHECK(!first && moved.get() == raw);
    second = std::move(moved); // what it had is given back
    CHECK(second.get() == raw && !moved);
    auto &itself = second;
    second = std::move(itself);
    CHECK(second.get() == raw);
    racl_buffer *given = second.release();
    CHECK(given == raw && !second);
    racl::buffer again(given);
    CHECK(take(again.size()) == 8);
    // A handle that is gone behind the owner's back is told to the handler.
    told.clear();
    {
        auto gone = take(context.alloc(8));
        CHECK(racl_buffer_free(gone.get()) == RACL_OK);
    }
    CHECK(told.find("racl_buffer_free: ") == 0);
    told.clear();
}

static void kinds() {
    CHECK(racl::arg(true).c().kind == RACL_ARG_BOOL && racl::arg(true).c().integer == 1);
    CHECK(racl::arg(7).c().kind == RACL_ARG_INT && racl::arg(uint8_t{7}).c().integer == 7);
    CHECK(racl::arg(1.5f).c().kind == RACL_ARG_FLOAT && racl::arg(1.5f).c().real == 1.5);
}

static void operators(const racl::context &context, const racl::stream &stream) {
    auto a = take(context.upload(std::vector<float>{1, -2, 3})), b = take(context.upload(std::vector<float>{10, 20, 30}));
    auto out = take(context.alloc(12)), wide = take(context.alloc(24));
    auto ta = take(a.over<float>({3})), tb = take(b.over<float>({3})), to = take(out.over<float>({3}));
    auto tw = take(wide.over<float>({6}));
    CHECK(take(tw.dtype()) == 0);
    CHECK(take(tw.shape()) == std::vector<size_t>{6} && take(tw.strides()) == std::vector<size_t>{1});
    CHECK(take(take(tw.memory()).size()) == 24);
    REFUSED(out.over<float>({4}), RACL_INVALID_ARGUMENT);
    DO(stream.run("aclnnAdd", {ta, tb, racl::float_scalar{2}, to}));
    CHECK(take(out.read<float>()) == (std::vector<float>{21, 38, 63}));
    DO(stream.run("aclnnCat", {std::vector<const racl::tensor *>{&ta, &tb}, 0, tw}));
    CHECK(take(wide.read<float>()) == (std::vector<float>{1, -2, 3, 10, 20, 30}));
    auto place = take(context.alloc(4));
    auto one = take(place.over<float>({1}));
    DO(stream.run("aclnnReduceSum", {ta, std::vector<int64_t>{0}, true, racl::type_number{0}, one}));
    CHECK(take(place.read<float>()) == std::vector<float>{2});
    REFUSED(stream.run("aclnnAdd", {ta, tb}), RACL_INVALID_ARGUMENT);
    REFUSED(stream.run("aclnnCat", {std::vector<const racl::tensor *>{&ta, nullptr}, 0, tw}), RACL_NULL_POINTER);
    REFUSED(stream.run("aclnnCat", {std::vector<const racl::tensor *>{&ta, &tb}, 7, tw}), RACL_OPERATOR_ARGUMENT);
    const racl::failure last;
    CHECK(last.status == RACL_OPERATOR_ARGUMENT && last.call.find("aclnnCat") == 0 && last.code != 0);

    // To another framework and back: the same memory.
    for (bool versioned : {true, false}) {
        auto back = take(context.from_dlpack(take(ta.to_dlpack(versioned)), versioned));
        CHECK(take(back.shape()) == std::vector<size_t>{3});
        DO(stream.run("aclnnNeg", {back, to}));
        CHECK(take(out.read<float>()) == (std::vector<float>{-1, 2, -3}));
    }
    REFUSED(context.from_dlpack(nullptr), RACL_NULL_POINTER);

    auto capture = take(stream.begin_capture());
    DO(stream.run("aclnnAbs", {ta, to}));
    bool other_thread = false;
    std::thread([&] {
#ifdef RACL_ERROR_CODES
        other_thread = capture.end().error() == racl::make_error_code(RACL_CAPTURE_WRONG_THREAD);
#else
        try {
            capture.end();
        } catch (const racl::error &error) {
            other_thread = error.code() == racl::make_error_code(RACL_CAPTURE_WRONG_THREAD);
        }
#endif
    }).join();
    CHECK(other_thread && capture);
    auto graph = take(capture.end());
    CHECK(!capture);
    DO(graph.launch(stream));
    DO(graph.wait());
    CHECK(take(graph.raw()) != nullptr);
    DO(graph.write_trace("trace.json"));
    CHECK(take(out.read<float>()) == (std::vector<float>{1, 2, 3}));
    DO(graph.close());
    { auto given_up = take(stream.begin_capture()); } // no graph
    DO(stream.run("aclnnAbs", {tb, to}));
    CHECK(take(out.read<float>()) == (std::vector<float>{10, 20, 30}));
}

// Waits that are longer than anything counts, and those without time.
static void limits(const racl::stream &stream, const racl::event &event) {
    using std::chrono::nanoseconds;
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    CHECK(racl::detail::nanoseconds(std::chrono::hours::max()) == most);
    CHECK(racl::detail::nanoseconds(std::chrono::duration<double>(1e30)) == most);
    CHECK(racl::detail::nanoseconds(nanoseconds::max()) == most);
    CHECK(racl::detail::nanoseconds(std::chrono::duration<float>(0.5f)) == 500 * 1000 * 1000);
    CHECK(racl::detail::nanoseconds(std::chrono::hours(3)) == int64_t(3) * 3600 * 1000 * 1000 * 1000);
    CHECK(racl::detail::nanoseconds(std::chrono::hours::min()) == 0);
    DO(stream.synchronize(std::chrono::hours::max()));
    DO(event.synchronize(std::chrono::hours::max()));
    for (const nanoseconds none : {nanoseconds(-5), nanoseconds(0)}) {
        DO(stream.synchronize(none)); // its work is done
        DO(event.synchronize(none));
        DO(racl::mock::hold(stream));
        DO(stream.record(event));
        REFUSED(stream.synchronize(none), RACL_TIMEOUT);
        REFUSED(event.synchronize(none), RACL_TIMEOUT);
        DO(racl::mock::release(stream));
        DO(stream.synchronize());
    }
}

static void order(const racl::context &context, const racl::stream &stream) {
    auto side = take(context.new_stream(1, RACL_STREAM_FAST_SYNC));
    auto mark = take(context.new_event()), start = take(context.new_event(true)), end = take(context.new_event(true));
    DO(stream.record(mark));
    DO(side.wait(mark));
    DO(side.synchronize(std::chrono::seconds(20)));
    CHECK(take(mark.is_complete()));
    DO(mark.synchronize());
    CHECK(take(side.is_complete()));
    DO(stream.record(start));
    DO(stream.record(end));
    DO(end.synchronize(std::chrono::seconds(20)));
    CHECK(take(end.elapsed_since(start)).count() >= 0);
    REFUSED(end.elapsed_since(mark), RACL_INVALID_ARGUMENT);
    limits(stream, end);
    auto theirs = take(context.stream_of(take(side.raw())));
    DO(theirs.synchronize());
    DO(theirs.reset());
    // One whose work failed goes back too: its destructor has nothing to tell, and the context closes in the end.
    told.clear();
    {
        auto doomed = take(context.stream_of(take(side.raw())));
        auto fails = [](void *, const void *, size_t) -> int32_t { return 1; };
        CHECK(racl_stream_host_function(doomed.get(), fails, nullptr, nullptr) == RACL_OK);
    }
    CHECK(told.empty());
    CHECK(take(context.take_errors()).size() == 1);
    CHECK(take(mark.raw()) != nullptr);
    auto usual = take(context.default_stream());
    DO(usual.synchronize());
    DO(side.close());
}

int main() {
    racl::destructor_handler() = hear;
    CHECK(racl::version() == RACL_VERSION);
    CHECK(take(racl::has("mock")) && !take(racl::has("link")));
    REFUSED(racl::has("clock"), RACL_INVALID_ARGUMENT);
    DO(racl::set_free_limit(std::chrono::seconds(20)));
    CHECK(std::string(racl::category().name()) == "racl");
    CHECK(racl::make_error_code(RACL_BUSY).message() == "RACL_BUSY");
    CHECK(racl::make_error_code(99).message() == "status 99");
    kinds();
    auto library = take(racl::library::open("mock"));
    CHECK(take(library.is_mock()));
    CHECK(take(library.name()).size() > 3);
    CHECK(take(library.device_count()) >= 1);
    REFUSED(library.primary(99), RACL_INVALID_DEVICE);
    auto context = take(library.primary(0));
    CHECK(take(context.device()) == 0);
    CHECK(take(context.raw()) != nullptr);
    DO(context.bind());
    CHECK(take(context.memory_info()).total >= take(context.memory_info()).free);
    {
        auto stream = take(context.new_stream());
        memory(context, stream);
        owners(context);
        operators(context, stream);
        order(context, stream);
    }
    DO(context.synchronize());
    CHECK(take(context.memory_stats()).allocated == 0);
    DO(context.reset_peaks());
    CHECK(take(context.trim()) > 0);
    auto beside = take(context.another());
    DO(beside.close());
    DO(context.close());
    DO(library.close());
    CHECK(told.empty());
    std::printf("%d checks\n", checks);
}
