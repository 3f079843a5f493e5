// What there is once in a program does not end with it: codes are told of behind main() too.
#include <cstdio>

#include "racl.hpp"

static int registered;

// In place of what the compiler calls for each object that is to be destroyed behind main().
extern "C" int __cxa_atexit(void (*)(void *), void *, void *) {
    ++registered;
    return 0;
}

int main() {
    const int before = registered;
    const std::error_code code = racl::make_error_code(RACL_BUSY);
    racl::destructor_handler();
    std::printf("%s %s, %d to end\n", code.category().name(), code.message().c_str(), registered - before);
}
