// Is compiled without exceptions.
#define RACL_ERROR_CODES
#include "support.hpp"

int ran_without_exceptions();

int ran_without_exceptions() {
    auto library = take(racl::library::open("mock"));
    auto context = take(library.primary(0));
    auto stream = take(context.new_stream());
    int ran = 0;
    DO(stream.host_function([&] { ++ran; }));
    DO(stream.synchronize());
    return ran;
}
