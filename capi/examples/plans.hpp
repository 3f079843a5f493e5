// What the examples of plans in C++ share.
#ifndef PLANS_HPP
#define PLANS_HPP

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <racl_plan.hpp>

using floats = std::vector<float>;

constexpr racl::float_scalar one{1};

// Numbers between -1 and 1, the same in every run.
inline floats numbers(size_t count, unsigned seed) {
    floats data(count);
    for (float &at : data) {
        seed = seed * 1664525u + 1013904223u;
        at = float(seed >> 8) / float(1 << 23) - 1;
    }
    return data;
}

inline floats times(const floats &a, const floats &b, size_t rows, size_t inner, size_t columns) {
    floats c(rows * columns);
    for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column)
            for (size_t at = 0; at < inner; ++at)
                c[row * columns + column] += a[row * inner + at] * b[at * columns + column];
    return c;
}

inline floats plus(const floats &a, const floats &b) {
    floats c(a);
    for (size_t at = 0; at < c.size(); ++at) c[at] += b[at];
    return c;
}

// Whether both are the same but for the rounding of sums in another order.
inline bool same(const floats &a, const floats &b) {
    bool is = a.size() == b.size();
    for (size_t at = 0; is && at < a.size(); ++at) is = std::fabs(a[at] - b[at]) <= 1e-4f * (1 + std::fabs(b[at]));
    return is;
}

// A matrix on the device with these numbers, whose memory it keeps.
inline racl::tensor upload(const racl::context &context, const floats &data, size_t rows, size_t columns) {
    return context.upload(data).over<float>({rows, columns});
}

// The name of a way to run.
inline const char *how(int32_t mode) { return mode == RACL_RUN_EAGER ? "eager " : "replay"; }

inline racl_run_options options(int32_t mode) {
    racl_run_options options = {};
    options.size = sizeof options;
    options.mode = mode;
    return options;
}

// Runs a plan whose inputs are all bound, and says whether the outputs are what is expected.
inline void run_both_ways(const racl::plan &plan, const racl::context &context, const racl::stream &stream,
                          const std::vector<std::pair<const char *, const racl::tensor *>> &given,
                          const std::vector<std::pair<const char *, floats>> &expected) {
    for (int32_t mode : {RACL_RUN_EAGER, RACL_RUN_CAPTURED}) {
        const auto how_to_run = options(mode);
        auto exe = racl::executable::make(plan, context, {}, &how_to_run);
        auto bindings = exe.new_bindings();
        for (const auto &[name, memory] : given) bindings.set(exe.input(name), *memory);
        for (int again = 0; again < 3; ++again) exe.run(stream, bindings);
        for (const auto &[name, numbers] : expected)
            if (!same(exe.read<float>(exe.output(name)), numbers)) // waits for the run
                throw std::runtime_error(std::string(how(mode)) + ": " + name + " differs");
        std::printf("%s: all as expected\n", how(mode));
    }
}

inline void describe(const racl::plan &plan) {
    const auto info = plan.describe();
    std::printf("%zu operators on %zu streams with %zu events, %zu lints\n", info.operators, info.streams, info.events,
                info.lints);
}

// Runs an example on a device of the library that RACL_LIBRARY names, and says what went wrong.
template <class Example>
int on_a_device(Example &&example) {
    try {
        auto library = racl::library::open();
        auto context = library.primary(0);
        auto stream = context.new_stream();
        example(context, stream);
        return 0;
    } catch (const racl::error &error) {
        std::fprintf(stderr, "%s\n", error.details().c_str());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}

#endif
