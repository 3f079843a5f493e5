// A part of the program throws, and mixed_codes.cpp gives codes: neither calls functions of the other's.
#include <cstdio>

#include "racl.hpp"

int refused_by_code();

int main() {
    int thrown = 0;
    auto library = racl::library::open("mock");
    for (int round = 0; round < 2; ++round) {
        try {
            auto none = library.primary(99);
        } catch (const racl::error &error) {
            thrown += error.code() == racl::make_error_code(RACL_INVALID_DEVICE);
        }
        if (refused_by_code() != 1) return 1;
    }
    std::printf("%d thrown\n", thrown);
}
