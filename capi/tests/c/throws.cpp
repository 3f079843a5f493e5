// An exception that leaves a callback ends the process, with a text that says why; it never crosses racl.
#include <cstdio>
#include <cstdlib>

#include "racl.h"

static int32_t throws(void *, const void *, size_t) { throw 7; }

int main() {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    if (racl_library_open(nullptr, &library) != RACL_OK || racl_context_primary(library, 0, &context) != RACL_OK ||
        racl_stream_new(context, nullptr, &stream) != RACL_OK) {
        return 1;
    }
    if (racl_stream_host_function(stream, throws, nullptr, nullptr) != RACL_OK) return 2;
    racl_stream_synchronize(stream, -1);
    std::puts("it crossed");
    return 3;
}
