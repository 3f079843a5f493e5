// An exception that leaves a callback ends the process; it never crosses racl. The argument says which callback throws.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "racl.h"

static void must(int32_t status) {
    if (status == RACL_OK) return;
    std::fprintf(stderr, "refused: %s\n", racl_last_error_message());
    std::exit(1);
}

static int32_t runs(void *, const void *, size_t) { return 0; }
static int32_t run(void *, const void *, size_t) { throw 7; }
static void release(void *) { throw 7; }
static int32_t launch(void *, const racl_launch *) { throw 7; }
static int32_t simulate(void *, const racl_bytes *, size_t, const racl_bytes *, size_t) { throw 7; }
static int32_t build(void *, racl_builder *) { throw 7; }
static void log(void *, int32_t, const char *, const char *) { throw 7; }

// The head of a DLManagedTensorVersioned, of a version that nobody knows.
struct Shared {
    uint32_t major = 99, minor = 0;
    void *owner = nullptr;
    void (*deleter)(Shared *) = [](Shared *) { throw 7; };
    unsigned char rest[256] = {};
};

// A plan whose only work is a foreign operator.
static racl_plan *plan() {
    racl_foreign_info info = {};
    info.size = sizeof info;
    info.name = "throws";
    info.launch = launch;
    info.simulate = simulate;
    racl_foreign *foreign;
    racl_builder *g;
    racl_value y;
    racl_plan *made;
    must(racl_foreign_new(&info, &foreign));
    must(racl_builder_new(nullptr, &g));
    must(racl_builder_empty(g, 0, nullptr, 0, &y));
    must(racl_builder_foreign(g, foreign, nullptr, 0, &y, 1));
    must(racl_builder_output(g, "y", y));
    must(racl_builder_build(g, &made));
    return made;
}

static void compile(racl_context *context) {
    racl_cache_options options = {};
    options.size = sizeof options;
    options.name = "Throws";
    options.folder = "plans";
    racl_compile what = {};
    what.size = sizeof what;
    what.function = "throws";
    what.build = build;
    racl_cache *cache;
    racl_plan *none;
    must(racl_cache_new(&options, &cache));
    racl_cache_compile(cache, context, &what, &none);
}

int main(int, char **arguments) {
    const auto throws = [&](const char *one) { return std::strcmp(arguments[1], one) == 0; };
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    racl_executable *executable;
    racl_simulation *simulation;
    racl_tensor *tensor;
    Shared shared;
    must(racl_library_open(nullptr, &library));
    must(racl_context_primary(library, 0, &context));
    must(racl_stream_new(context, nullptr, &stream));
    if (throws("log")) must(racl_log_set(RACL_LOG_TRACE, log, nullptr));
    if (throws("run")) must(racl_stream_host_function(stream, run, nullptr, nullptr));
    if (throws("release")) must(racl_stream_host_function(stream, runs, nullptr, release));
    if (throws("launch")) racl_executable_new(plan(), context, nullptr, nullptr, 0, &executable);
    if (throws("simulate")) racl_simulation_new(plan(), 0, nullptr, 0, nullptr, 0, &simulation);
    if (throws("build")) compile(context);
    if (throws("deleter")) racl_tensor_from_dlpack(context, &shared, 1, &tensor);
    if (throws("log")) racl_stream_host_function(stream, [](void *, const void *, size_t) { return 1; }, nullptr, nullptr);
    racl_stream_synchronize(stream, -1);
    std::puts("it crossed");
    return 3;
}
