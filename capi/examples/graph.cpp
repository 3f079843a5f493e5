// Records an operator on a stream and replays them. RACL_LIBRARY chooses the library; "mock" needs no card.
#include <cstdio>
#include <exception>

#include <racl.hpp>

int main() {
    try {
        auto library = racl::library::open();
        auto context = library.primary(0);
        auto stream = context.new_stream();
        auto from = context.upload(std::vector<float>{1, -2, 3, -4}), to = context.alloc(16);
        auto x = from.over<float>({4}), y = to.over<float>({4});
        auto capture = stream.begin_capture();
        stream.run("aclnnAbs", {x, y});
        auto graph = capture.end();
        graph.launch(stream);
        const auto got = to.read<float>(); // waits for what writes the buffer
        std::printf("%g %g %g %g\n", double(got[0]), double(got[1]), double(got[2]), double(got[3]));
    } catch (const racl::error &error) {
        std::fprintf(stderr, "%s (%s %d)\n", error.what(), error.call().c_str(), error.native_code());
        return 1;
    }
}
