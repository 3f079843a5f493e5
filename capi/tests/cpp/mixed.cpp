// A part of the program throws, and mixed_codes.cpp gives codes: neither calls functions of the other's with types of
// racl, and the codes are the same.
#include <cstdio>

#include "racl.hpp"

std::error_code refused_by_code();
racl::destructor_function &handler_there();

int main() {
    int thrown = 0;
    auto library = racl::library::open("mock");
    for (int round = 0; round < 2; ++round) {
        try {
            auto none = library.primary(99);
        } catch (const racl::error &error) {
            thrown += error.code() == racl::make_error_code(RACL_INVALID_DEVICE) && error.code() == refused_by_code();
        }
    }
    if (&handler_there() != &racl::destructor_handler()) return 1;
    std::printf("%d thrown\n", thrown);
}
