// Step 3: no call of AscendCL is left, and in C++ neither are the lines that give things back. The program is not bound
// to AscendCL any more: racl finds the library when it starts, or takes what RACL_LIBRARY names.
#include <cstdio>
#include <exception>
#include <vector>

#include "racl.hpp"

static void run() {
    constexpr size_t count = 8;
    auto library = racl::library::open();
    auto context = library.primary(0);
    auto stream = context.new_stream();
    auto a = context.alloc(count * sizeof(float)), b = context.alloc(count * sizeof(float));
    auto sum = context.alloc(count * sizeof(float)), y = context.alloc(count * sizeof(float));
    auto ta = a.over<float>({count}), tb = b.over<float>({count});
    auto tsum = sum.over<float>({count}), ty = y.over<float>({count});

    auto capture = stream.begin_capture();
    stream.run("aclnnAdd", {ta, tb, racl::float_scalar{1}, tsum});
    stream.run("aclnnMul", {tsum, tb, ty});
    auto graph = capture.end();

    for (int round = 0; round < 3; ++round) {
        std::vector<float> numbers(count);
        for (size_t at = 0; at < count; ++at) numbers[at] = static_cast<float>(at) + static_cast<float>(round);
        a.write(numbers);
        b.write(std::vector<float>(count, 2));
        graph.launch(stream);
        const std::vector<float> result = y.read<float>();
        for (size_t at = 0; at < count; ++at) std::printf("%g%c", double(result[at]), at + 1 < count ? ' ' : '\n');
    }
}

int main() {
    try {
        run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
