#define RACL_ERROR_CODES
#include "racl.hpp"

int refused_by_code();

int refused_by_code() {
    auto library = racl::library::open("mock");
    auto context = library ? (*library).primary(99) : racl::result<racl::context>(RACL_OK, racl::context());
    return !context && context.error() == racl::make_error_code(RACL_INVALID_DEVICE);
}
