// Gives codes and has exceptions; mixed_without.cpp has none.
#define RACL_ERROR_CODES
#include <stdexcept>

#include "support.hpp"

int ran_without_exceptions();

int main() {
    CHECK(ran_without_exceptions() == 1);
    auto library = take(racl::library::open("mock"));
    auto context = take(library.primary(0));
    auto stream = take(context.new_stream());
    DO(stream.host_function([] { throw std::runtime_error("the disk is full"); }));
    REFUSED(stream.synchronize(), RACL_CALLBACK_PANICKED);
    CHECK(racl::failure().message.find("the disk is full") != std::string::npos);
    std::printf("%d checks\n", checks);
}
