/* What a libracl with some of its features has, and what it says of the others. The arguments are the features. */
#include "plans.h"

static int given;
static char **names;

static int with(const char *feature) {
    for (int at = 0; at < given; ++at) {
        if (strcmp(names[at], feature) == 0) return 1;
    }
    return 0;
}

/* The status of what needs a feature, in a library that has it or says what it lacks. */
static int answers(const char *feature, int32_t status, int32_t expected, const char *lacks) {
    if (with(feature)) return status == expected;
    return status == RACL_NOT_SUPPORTED && strstr(racl_last_error_message(), lacks) != NULL;
}

/* Plans are recorded, checked, made better, shown and simulated by every libracl. */
static racl_plan *plan(void) {
    racl_builder *g;
    racl_plan *made, *better;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    DO(racl_builder_output(g, "y", muls(g, unary(g, "aclnnAbs", x), 2)));
    DO(racl_builder_build(g, &made));
    racl_passes all = {.size = sizeof all, .all = RACL_PASS_VERIFIED};
    DO(racl_plan_optimise(made, &all, &better));
    DO(racl_plan_free(better));
    char text[2048];
    DO(racl_plan_dump(made, RACL_DUMP_TEXT, NULL, 0, text, sizeof text, NULL));
    CHECK(strstr(text, "aclnnAbs") != NULL);
    const float data[4] = {1, -2, 3, -4};
    float got[4];
    size_t needed;
    racl_given given_x = {"x", data, sizeof data};
    racl_simulation *simulation;
    DO(racl_simulation_new(made, 1, &given_x, 1, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    CHECK(got[0] == 2 && got[1] == 4 && got[3] == 8);
    DO(racl_simulation_free(simulation));
    return made;
}

static void caches(racl_plan *of) {
    static const char *const lacks = "compile cache";
    racl_cache_options options = {.size = sizeof options, .name = "Model", .folder = "plans"};
    racl_cache *cache;
    racl_registry *registry;
    racl_plan *again;
    char bytes[4096];
    size_t needed = 0;
    CHECK(answers("cache", racl_cache_new(&options, &cache), RACL_OK, lacks));
    CHECK((cache != NULL) == with("cache"));
    CHECK(answers("cache", racl_registry_new(&registry), RACL_OK, lacks));
    CHECK(answers("cache", racl_plan_store(of, bytes, sizeof bytes, &needed), RACL_OK, lacks));
    CHECK((needed != 0) == with("cache"));
    CHECK(answers("cache", racl_plan_load(bytes, needed, NULL, &again), RACL_OK, lacks));
    DO(racl_plan_free(again));
    DO(racl_registry_free(registry));
    DO(racl_cache_free(cache));
}

static int ended;
static void end(void *managed) { ++ended, (void)managed; }

/* On the mock, which is there or not. */
static void libraries(void) {
    racl_library *library;
    int32_t former;
    CHECK(answers("mock", racl_library_open("mock", &library), RACL_OK, "mock"));
    CHECK(answers("mock", racl_mock_stand_still(0, &former), RACL_OK, "mock"));
    CHECK(answers("mock", racl_mock_clear_failures(), RACL_OK, "mock"));
    racl_library *none;
    int32_t status = racl_library_open("/no/such/libascendcl.so", &none);
    CHECK(answers("dlopen", status, RACL_LIBRARY_NOT_FOUND, "opening libraries") && none == NULL);
    /* What RACL_LIBRARY names: a file that is not there. */
    status = racl_library_open(NULL, &none);
    CHECK(status == (with("dlopen") ? RACL_LIBRARY_NOT_FOUND : RACL_NOT_SUPPORTED) && none == NULL);
    if (library == NULL) return;

    const float data[4] = {1, 2, 3, 4};
    const size_t four = 4;
    racl_context *context;
    void *managed;
    DO(racl_context_primary(library, 0, &context));
    racl_tensor *of = tensor(context, data, 1, &four), *shared;
    CHECK(answers("dlpack", racl_tensor_to_dlpack(of, 1, &managed), RACL_OK, "dlpack"));
    CHECK((managed != NULL) == with("dlpack"));
    if (managed != NULL) DO(racl_tensor_from_dlpack(context, managed, 1, &shared));
    /* One that is refused is ended, whatever the reason: of a version that nobody knows. */
    struct {
        uint32_t version[2];
        void *owner;
        void (*deleter)(void *);
        uint64_t rest[16];
    } later = {.version = {99, 0}, .deleter = end};
    racl_tensor *refused;
    CHECK(racl_tensor_from_dlpack(context, &later, 1, &refused) == RACL_NOT_SUPPORTED && ended == 1 && !refused);
    if (managed != NULL) DO(racl_tensor_free(shared));
    DO(racl_tensor_free(of));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
}

int main(int argc, char **argv) {
    static const char *const all[] = {"cache", "dlopen", "dlpack", "link", "mock"};
    given = argc - 1, names = argv + 1;
    for (size_t at = 0; at < sizeof all / sizeof *all; ++at) {
        int32_t has;
        DO(racl_has(all[at], &has));
        CHECK(has == with(all[at]));
    }
    racl_plan *made = plan();
    caches(made);
    DO(racl_plan_free(made));
    libraries();
    printf("%d checks\n", checks);
    return 0;
}
