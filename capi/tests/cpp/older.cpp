// A library that knows less of errors than the header, as one from before there were details.
#include <cstdio>

#include "racl.hpp"

extern "C" {
int32_t racl_errors_count(const racl_errors *, size_t *count) {
    *count = 1;
    return RACL_OK;
}
int32_t racl_errors_get(const racl_errors *, size_t, racl_error *error) {
    error->status = RACL_FILE;
    error->call = "";
    error->message = "the disk is full";
    return RACL_OK;
}
int32_t racl_errors_free(racl_errors *) { return RACL_OK; }
}

int main() {
    for (const racl::failure &one : racl::detail::failures(nullptr))
        std::printf("%s, %s\n", one.message.c_str(), one.details.c_str());
}
