/* What is said of host functions, foreign operators and caches: each field does what it says. */
#include <stdint.h>
#include <unistd.h>

#include "options.h"

static racl_context *context;

static int says(const char *text) { return strstr(racl_last_error_message(), text) != NULL; }

/* What functions were given. */
typedef struct {
    int runs, simulated, released, built;
    unsigned char attribute;
    size_t attributes;
    int32_t built_streams;
    racl_host_function *function;
    double factor;
} Seen;

static int32_t count(void *user, const void *attributes, size_t size) {
    Seen *seen = user;
    ++seen->runs;
    seen->attributes = size;
    seen->attribute = size == 0 ? 0 : *(const unsigned char *)attributes;
    return RACL_OK;
}

static int32_t launch(void *user, const racl_launch *what) {
    return count(user, what->attributes, what->attributes_size);
}

static int32_t simulate(void *user, const racl_bytes *reads, size_t read_count, const racl_bytes *writes, size_t count) {
    (void)read_count, (void)count;
    memcpy(writes[0].data, reads[0].data, writes[0].size);
    ++((Seen *)user)->simulated;
    return RACL_OK;
}

static void release(void *user) { ++((Seen *)user)->released; }

/* y = x, by what is asked for. */
static racl_plan *through(const racl_host_function *function, const racl_foreign *foreign) {
    racl_builder *g;
    racl_plan *plan;
    racl_value touched;
    racl_dim shape = 2;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED);
    if (foreign != NULL) {
        DO(racl_builder_empty(g, FLOAT, &shape, 1, &touched));
        DO(racl_builder_foreign(g, foreign, &x, 1, &touched, 1));
        x = touched;
    }
    if (function != NULL) DO(racl_builder_host_function(g, function));
    DO(racl_builder_output(g, "y", x));
    DO(racl_builder_build(g, &plan));
    return plan;
}

/* What a simulation gives, or refuses. */
static int32_t simulated(const racl_plan *plan) {
    const float x[2] = {1, 2};
    racl_given given = {"x", x, sizeof x};
    racl_simulation *simulation;
    int32_t status = racl_simulation_new(plan, 1, &given, 1, NULL, 0, &simulation);
    DO(racl_simulation_free(simulation));
    return status;
}

/* Whether a stored plan takes what a registry has. */
static int32_t loaded(const racl_plan *plan, const racl_host_function *function, const racl_foreign *foreign) {
    char bytes[4096];
    size_t needed;
    racl_registry *registry;
    racl_plan *again;
    DO(racl_plan_store(plan, bytes, sizeof bytes, &needed));
    DO(racl_registry_new(&registry));
    if (function != NULL) DO(racl_registry_add_host_function(registry, function));
    if (foreign != NULL) DO(racl_registry_add_foreign(registry, foreign));
    int32_t status = racl_plan_load(bytes, needed, registry, &again);
    DO(racl_plan_free(again));
    DO(racl_registry_free(registry));
    return status;
}

static void host_functions(void) {
    Seen seen = {0};
    const unsigned char attributes[2] = {42, 43};
    racl_host_function *function, *other;
    racl_host_function_info info = {.size = sizeof info, .name = "mine", .version = 3, .attributes = attributes,
                                    .attributes_size = 2, .run = count, .user = &seen, .release = release};
    const racl_host_function_info good = info;
    DO(racl_host_function_new(&info, &function));
    racl_plan *plan = through(function, NULL);
    DO(simulated(plan));
    GOOD(racl_host_function_info, run, seen.runs == 1);
    ANY(racl_host_function_info, user, seen.runs == 1);
    GOOD(racl_host_function_info, attributes, seen.attribute == 42);
    GOOD(racl_host_function_info, attributes_size, seen.attributes == 2);
    GOOD(racl_host_function_info, name, loaded(plan, function, NULL) == RACL_OK);
    info.name = "another";
    DO(racl_host_function_new(&info, &other));
    CHECK(loaded(plan, other, NULL) == RACL_INVALID_PLAN && says("mine"));
    DO(racl_host_function_free(other));
    info = good, info.version = 4;
    DO(racl_host_function_new(&info, &other));
    ANY(racl_host_function_info, version, loaded(plan, other, NULL) == RACL_INVALID_PLAN);
    DO(racl_host_function_free(other));
    CHECK(seen.released == 2);
    DO(racl_host_function_free(function));
    CHECK(seen.released == 2);
    DO(racl_plan_free(plan));
    ANY(racl_host_function_info, release, seen.released == 3);
#define REFUSED(field, value, status)                                                                                  \
    info = good, info.field = value;                                                                                   \
    BAD(racl_host_function_info, field, racl_host_function_new(&info, &other) == status && other == NULL)
    REFUSED(name, NULL, RACL_NULL_POINTER);
    REFUSED(name, "", RACL_INVALID_ARGUMENT);
    REFUSED(attributes, NULL, RACL_NULL_POINTER);
    REFUSED(attributes_size, SIZE_MAX, RACL_INVALID_ARGUMENT);
    REFUSED(run, NULL, RACL_NULL_POINTER);
#undef REFUSED
    CHECK(seen.released == 3);
}

static void foreign_operators(void) {
    Seen seen = {0};
    const unsigned char attributes[2] = {42, 43};
    racl_foreign *foreign, *other;
    racl_foreign_info info = {.size = sizeof info, .name = "mine", .version = 3, .cube_cores = 5, .vector_cores = 6,
                              .attributes = attributes, .attributes_size = 2, .launch = launch, .simulate = simulate,
                              .user = &seen, .release = release};
    const racl_foreign_info good = info;
    DO(racl_foreign_new(&info, &foreign));
    racl_plan *plan = through(NULL, foreign);
    DO(simulated(plan));
    GOOD(racl_foreign_info, simulate, seen.simulated == 1);
    char dump[4096];
    DO(racl_plan_dump(plan, RACL_DUMP_JSON, NULL, 0, dump, sizeof dump, NULL));
    ANY(racl_foreign_info, cube_cores, strstr(dump, "\"needs_cube\": 5") != NULL);
    ANY(racl_foreign_info, vector_cores, strstr(dump, "\"needs_vector\": 6") != NULL);
    racl_executable *exe;
    DO(racl_executable_new(plan, context, NULL, NULL, 0, &exe));
    GOOD(racl_foreign_info, launch, seen.runs >= 1);
    ANY(racl_foreign_info, user, seen.runs >= 1);
    GOOD(racl_foreign_info, attributes, seen.attribute == 42);
    GOOD(racl_foreign_info, attributes_size, seen.attributes == 2);
    DO(racl_executable_free(exe));
    GOOD(racl_foreign_info, name, loaded(plan, NULL, foreign) == RACL_OK);
    info.version = 4;
    DO(racl_foreign_new(&info, &other));
    ANY(racl_foreign_info, version, loaded(plan, NULL, other) == RACL_INVALID_PLAN);
    DO(racl_foreign_free(other));
    DO(racl_foreign_free(foreign));
    DO(racl_plan_free(plan));
    ANY(racl_foreign_info, release, seen.released == 2);
    info = good, info.simulate = NULL;
    DO(racl_foreign_new(&info, &other));
    plan = through(NULL, other);
    BAD(racl_foreign_info, simulate, simulated(plan) == RACL_NOT_SUPPORTED && says("mine"));
    DO(racl_foreign_free(other));
    DO(racl_plan_free(plan));
#define REFUSED(field, value, status)                                                                                  \
    info = good, info.field = value;                                                                                   \
    BAD(racl_foreign_info, field, racl_foreign_new(&info, &other) == status && other == NULL)
    REFUSED(name, NULL, RACL_NULL_POINTER);
    REFUSED(name, "", RACL_INVALID_ARGUMENT);
    REFUSED(attributes, NULL, RACL_NULL_POINTER);
    REFUSED(attributes_size, SIZE_MAX, RACL_INVALID_ARGUMENT);
    REFUSED(launch, NULL, RACL_NULL_POINTER);
#undef REFUSED
    CHECK(seen.released == 3);
}

/* y = factor x in a scope, with a host function where there is one. */
static int32_t build(void *user, racl_builder *g) {
    Seen *seen = user;
    ++seen->built;
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED);
    DO(racl_builder_scope_begin(g, "side", NULL));
    x = muls(g, x, seen->factor);
    if (seen->function != NULL) DO(racl_builder_host_function(g, seen->function));
    DO(racl_builder_scope_end(g));
    DO(racl_builder_output(g, "y", x));
    return RACL_OK;
}

static int32_t builds_nothing(void *user, racl_builder *g) {
    (void)user, (void)g;
    return 4711;
}

/* Compiles once with a cache of its own, and says what that was. */
static int32_t compiled(racl_cache_options options, racl_compile what, size_t *streams) {
    racl_cache *cache;
    racl_plan *plan;
    int32_t status;
    options.size = sizeof options, what.size = sizeof what;
    DO(racl_cache_new(&options, &cache));
    DO(racl_cache_compile(cache, context, &what, &plan));
    DO(racl_cache_status(cache, what.function, &status, NULL, 0, NULL));
    racl_plan_info info = {.size = sizeof info};
    DO(racl_plan_describe(plan, &info));
    if (streams != NULL) *streams = info.streams;
    DO(racl_plan_free(plan));
    DO(racl_cache_free(cache));
    return status;
}

static int32_t cache_refused(racl_cache_options options) {
    racl_cache *cache;
    options.size = sizeof options;
    int32_t status = racl_cache_new(&options, &cache);
    CHECK(status != RACL_OK && cache == NULL);
    return status;
}

static int is_there(const char *folder) { return access(folder, R_OK) == 0; }

static void caches(void) {
    Seen seen = {.factor = 3};
    racl_part part = {"factor", "3"};
    racl_cache_options good = {.name = "Model", .folder = "plans"}, options;
    const racl_compile what = {.function = "decode", .build = build, .user = &seen, .parts = &part, .part_count = 1};
    size_t streams;
    CHECK(compiled(good, what, &streams) == RACL_CACHE_MISS && streams == 2 && seen.built == 1);
    CHECK(compiled(good, what, NULL) == RACL_CACHE_HIT && seen.built == 1);
    GOOD(racl_cache_options, folder, is_there("plans"));
    options = good, options.name = "Other";
    GOOD(racl_cache_options, name, compiled(options, what, NULL) == RACL_CACHE_MISS);
    options = good, options.folder = "others";
    GOOD(racl_cache_options, folder, compiled(options, what, NULL) == RACL_CACHE_MISS && is_there("others"));
    options = good, options.salt = "another version of the code";
    GOOD(racl_cache_options, salt, compiled(options, what, NULL) == RACL_CACHE_MISS);
    CHECK(compiled(options, what, NULL) == RACL_CACHE_HIT);
    racl_plan_options collapsed = {.size = sizeof collapsed, .streams = RACL_STREAMS_COLLAPSED};
    options = good, options.plans = &collapsed;
    GOOD(racl_cache_options, plans, compiled(options, what, &streams) == RACL_CACHE_MISS && streams == 1);
    options = good, options.flags = RACL_CACHE_STATIC;
    GOOD(racl_cache_options, flags, compiled(options, what, NULL) == RACL_CACHE_MISS);
    options.flags = RACL_CACHE_VERIFY;
    seen.built = 0;
    GOOD(racl_cache_options, flags, compiled(options, what, NULL) == RACL_CACHE_HIT && seen.built == 1);
    /* Another plan under one key. */
    seen.factor = 4;
    GOOD(racl_cache_options, flags, compiled(options, what, NULL) == RACL_CACHE_REBUILT);
    /* And in one process, after which the function is not cached any more. */
    racl_cache *cache;
    racl_plan *plan;
    int32_t status;
    racl_compile again = what;
    options.size = sizeof options, again.size = sizeof again;
    DO(racl_cache_new(&options, &cache));
    for (int turn = 0; turn < 2; ++turn) {
        seen.factor = 4 + turn;
        DO(racl_cache_compile(cache, context, &again, &plan));
        DO(racl_cache_status(cache, "decode", &status, NULL, 0, NULL));
        CHECK(status == (turn == 0 ? RACL_CACHE_HIT : RACL_CACHE_ABANDONED));
        DO(racl_plan_free(plan));
    }
    DO(racl_cache_free(cache));
    seen.factor = 3;
    options = good, options.world_size = 8, options.global_rank = 5;
    GOOD(racl_cache_options, world_size, compiled(options, what, NULL) == RACL_CACHE_MISS);
    CHECK(compiled(options, what, NULL) == RACL_CACHE_HIT);
    options.global_rank = 6;
    GOOD(racl_cache_options, global_rank, compiled(options, what, NULL) == RACL_CACHE_MISS);
    options = good, options.folder = "waits", options.lock_timeout = 1000000000;
    ANY(racl_cache_options, lock_timeout, compiled(options, what, NULL) == RACL_CACHE_MISS);

#define REFUSED(field, value, status)                                                                                  \
    options = good, options.field = value;                                                                             \
    BAD(racl_cache_options, field, cache_refused(options) == status)
    racl_plan_options none = {.size = sizeof none, .streams = 9}, small = {.size = 8};
    REFUSED(name, NULL, RACL_NULL_POINTER);
    REFUSED(name, "a/b", RACL_INVALID_ARGUMENT);
    REFUSED(folder, "", RACL_INVALID_ARGUMENT);
    REFUSED(salt, "\xff", RACL_INVALID_ARGUMENT);
    REFUSED(plans, &none, RACL_INVALID_ARGUMENT);
    REFUSED(plans, &small, RACL_STRUCT_SIZE);
    REFUSED(flags, 8, RACL_INVALID_ARGUMENT);
    good.global_rank = 5;
    REFUSED(world_size, 5, RACL_INVALID_ARGUMENT);
    good.world_size = 5;
    REFUSED(global_rank, 7, RACL_INVALID_ARGUMENT);
#undef REFUSED
}

static void compilations(void) {
    Seen seen = {.factor = 3}, of_function = {0};
    racl_part parts[2] = {{"factor", "3"}, {"of", "this"}};
    racl_cache_options options = {.size = sizeof options, .name = "Compiled", .folder = "compiled"};
    racl_compile good = {.size = sizeof good, .function = "decode", .build = build, .user = &seen, .parts = parts,
                         .part_count = 1}, what = good;
    CHECK(compiled(options, what, NULL) == RACL_CACHE_MISS);
    GOOD(racl_compile, build, seen.built == 1);
    ANY(racl_compile, user, seen.built == 1);
    what.function = "encode";
    GOOD(racl_compile, function, compiled(options, what, NULL) == RACL_CACHE_MISS);
    what = good, what.part_count = 2;
    GOOD(racl_compile, part_count, compiled(options, what, NULL) == RACL_CACHE_MISS);
    what.parts = &parts[1], what.part_count = 1;
    GOOD(racl_compile, parts, compiled(options, what, NULL) == RACL_CACHE_MISS);
    parts[1].value = "that";
    GOOD(racl_part, value, compiled(options, what, NULL) == RACL_CACHE_MISS);
    parts[1].name = "from";
    GOOD(racl_part, name, compiled(options, what, NULL) == RACL_CACHE_MISS);
    CHECK(compiled(options, what, NULL) == RACL_CACHE_HIT);
    /* What `user` may say of the plan is told by parts, or by this. */
    what = good, what.function = "untold", what.parts = NULL, what.part_count = 0;
    CHECK(compiled(options, what, NULL) == RACL_CACHE_UNCACHED);
    what.flags = RACL_COMPILE_IGNORE_USER;
    CHECK(compiled(options, what, NULL) == RACL_CACHE_MISS);
    GOOD(racl_compile, flags, compiled(options, what, NULL) == RACL_CACHE_HIT);
    /* A plan with a function finds it in the registry. */
    racl_host_function_info info = {.size = sizeof info, .name = "mine", .run = count, .user = &of_function};
    racl_registry *registry;
    DO(racl_host_function_new(&info, &seen.function));
    DO(racl_registry_new(&registry));
    DO(racl_registry_add_host_function(registry, seen.function));
    what = good, what.function = "functions", what.registry = registry;
    CHECK(compiled(options, what, NULL) == RACL_CACHE_MISS);
    GOOD(racl_compile, registry, compiled(options, what, NULL) == RACL_CACHE_HIT);
    DO(racl_registry_free(registry));

    racl_cache *cache;
    racl_plan *plan;
    DO(racl_cache_new(&options, &cache));
#define REFUSED(field, value, status)                                                                                  \
    what = good, what.field = value;                                                                                   \
    BAD(racl_compile, field, racl_cache_compile(cache, context, &what, &plan) == status && plan == NULL)
    REFUSED(function, NULL, RACL_NULL_POINTER);
    REFUSED(function, "a/b", RACL_INVALID_ARGUMENT);
    REFUSED(build, NULL, RACL_NULL_POINTER);
    REFUSED(registry, registry, RACL_STALE_HANDLE);
    REFUSED(parts, NULL, RACL_NULL_POINTER);
    REFUSED(part_count, SIZE_MAX, RACL_INVALID_ARGUMENT);
    REFUSED(part_count, 0xffffffff, RACL_INVALID_ARGUMENT);
    REFUSED(flags, 2, RACL_INVALID_ARGUMENT);
    good.function = "nothing";
    REFUSED(build, builds_nothing, 4711);
    good.function = "decode";
#undef REFUSED
#define REFUSED(field, value, status)                                                                                  \
    parts[0] = (racl_part){"factor", "3"}, parts[0].field = value;                                                     \
    BAD(racl_part, field, racl_cache_compile(cache, context, &good, &plan) == status && plan == NULL)
    REFUSED(name, NULL, RACL_NULL_POINTER);
    REFUSED(value, NULL, RACL_NULL_POINTER);
    REFUSED(value, "\xff", RACL_INVALID_ARGUMENT);
#undef REFUSED
    DO(racl_cache_free(cache));
    DO(racl_host_function_free(seen.function));
}

/* A failure that the caller makes the last one of the thread, with all that it knows. */
static void failures(void) {
    const uint64_t before = racl_last_error_count();
    racl_error error = {.size = sizeof error, .status = RACL_FILE, .code = 107000, .call = "aclrtMalloc",
                        .message = "the disk is full", .details = "the disk is full\n  while it was written"};
    CHECK(racl_last_error_put(&error) == RACL_FILE && racl_last_error_count() == before + 1);
    GOOD(racl_error, status, racl_last_error_status() == RACL_FILE);
    ANY(racl_error, code, racl_last_error_code() == 107000);
    ANY(racl_error, call, strcmp(racl_last_error_call(), "aclrtMalloc") == 0);
    GOOD(racl_error, message, strcmp(racl_last_error_message(), "the disk is full") == 0);
    ANY(racl_error, details, strcmp(racl_last_error_details(), "the disk is full\n  while it was written") == 0);
    error.status = RACL_OK;
    BAD(racl_error, status, racl_last_error_put(&error) == RACL_INVALID_ARGUMENT && racl_last_error_code() == 0);
    error.status = 4711, error.message = NULL;
    BAD(racl_error, message, racl_last_error_put(&error) == RACL_NULL_POINTER && racl_last_error_call()[0] == 0);
    CHECK(racl_last_error_count() == before + 3);
    /* A number of the caller's own, and what racl itself says; of an older version, without details. */
    error.call = error.details = NULL, error.message = racl_last_error_message();
    CHECK(racl_last_error_put(&error) == 4711 && strstr(racl_last_error_message(), "NULL for"));
    CHECK(strcmp(racl_last_error_details(), racl_last_error_message()) == 0 && racl_last_error_call()[0] == 0);
    CHECK(racl_last_error_code() == 0);
    error.size = offsetof(racl_error, details), error.message = "mine";
    CHECK(racl_last_error_put(&error) == 4711 && strcmp(racl_last_error_details(), "mine") == 0);
    /* Between two versions a field would be there in part. */
    racl_errors *errors;
    DO(racl_last_errors(&errors));
    for (size_t size = 0; size <= sizeof error; ++size) {
        if (size == offsetof(racl_error, details) || size == sizeof error) continue;
        error.size = size;
        CHECK(racl_last_error_put(&error) == RACL_STRUCT_SIZE);
        CHECK(racl_errors_get(errors, 0, &error) == RACL_STRUCT_SIZE);
    }
    DO(racl_errors_free(errors));
}

int main(void) {
    racl_library *library;
    DO(racl_library_open("mock", &library));
    DO(racl_context_primary(library, 0, &context));
    host_functions();
    foreign_operators();
    caches();
    compilations();
    failures();
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
