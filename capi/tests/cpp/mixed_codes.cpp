#define RACL_ERROR_CODES
#include "racl.hpp"

#define VISIBLE __attribute__((visibility("default"))) // also in a library that hides the rest
VISIBLE std::error_code refused_by_code();
VISIBLE racl::destructor_function &handler_there();

std::error_code refused_by_code() {
    auto library = racl::library::open("mock");
    auto context = library ? (*library).primary(99) : racl::result<racl::context>(RACL_OK, racl::context());
    return context.error();
}

racl::destructor_function &handler_there() { return racl::destructor_handler(); }
