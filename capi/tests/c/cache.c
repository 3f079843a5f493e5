/* The compile cache: plans of one start are loaded in the next. */
#include "plans.h"

#include <sys/mman.h>
#include <unistd.h>

static racl_context *context;

typedef struct {
    int built;
    double factor;
    int32_t fails;
} Model;

static int32_t build(void *user, racl_builder *g) {
    Model *model = user;
    ++model->built;
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    if (model->fails == RACL_INVALID_PLAN) return racl_builder_operator(g, "aclnnNone", NULL, 0);
    if (model->fails != 0) return model->fails;
    DO(racl_builder_output(g, "y", muls(g, x, model->factor)));
    return RACL_OK;
}

/* One that takes the builder for its own. */
static int32_t takes(void *user, racl_builder *g) {
    return racl_builder_build(g, user);
}

/* One that tries to end what it was lent, which stays. */
static int32_t ends_lent(void *user, racl_builder *g) {
    (void)user;
    racl_plan *none;
    CHECK(racl_builder_free(g) == RACL_BUSY && strstr(racl_last_error_message(), "is lent to a function"));
    CHECK(racl_builder_build(g, &none) == RACL_BUSY && none == NULL);
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    return racl_builder_output(g, "y", muls(g, x, 3));
}

/* One that says what is wrong. */
static int32_t fails(void *user, racl_builder *g) {
    (void)user, (void)g;
    return racl_last_error_set(1234, "the disk is full");
}

/* One whose number is that of an older failure. */
static int32_t gives_an_old_number(void *user, racl_builder *g) {
    (void)g;
    return *(int32_t *)user;
}

/* One that makes a plan with two mistakes, and gives what is said of it. */
static int32_t finds_two(void *user, racl_builder *unused) {
    (void)user, (void)unused;
    racl_builder *g;
    racl_plan *none;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    DO(racl_builder_scope_begin(g, "1", NULL));
    racl_value h = muls(g, x, 2);
    DO(racl_builder_scope_end(g));
    DO(racl_builder_output(g, "sum", add(g, h, x)));
    DO(racl_builder_output(g, "more", add(g, h, h)));
    return racl_builder_build(g, &none);
}

static float first(racl_plan *plan) {
    float x[4] = {1, 2, 3, 4}, got[4];
    racl_given given[1] = {{"x", x, sizeof x}};
    racl_simulation *simulation;
    size_t needed;
    DO(racl_simulation_new(plan, 0, given, 1, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    DO(racl_simulation_free(simulation));
    return got[0];
}

static int32_t status_of(racl_cache *cache, const char *function, char *why, size_t room) {
    int32_t status;
    DO(racl_cache_status(cache, function, &status, why, room, NULL));
    return status;
}

/* The same function by way of code that is made now, as bindings of scripts make it. */
static racl_build_callback made_now(racl_build_callback of) {
#if defined(__x86_64__)
    unsigned char code[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov rax, of; jmp rax */
    memcpy(code + 2, &of, sizeof of);
#elif defined(__aarch64__)
    unsigned char code[] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6, 0, 0, 0, 0, 0, 0, 0, 0}; /* ldr x16, of; br x16 */
    memcpy(code + 8, &of, sizeof of);
#endif
    racl_build_callback made;
    void *page = mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    memcpy(page, code, sizeof code);
    CHECK(mprotect(page, sizeof code, PROT_READ | PROT_EXEC) == 0);
    __builtin___clear_cache((char *)page, (char *)page + sizeof code);
    memcpy(&made, &page, sizeof made);
    return made;
}

/* Compiles in a cache of its own, as another start does, and gives the status. */
static int32_t started(racl_cache_options *options, racl_compile *what, float expected, char *why, size_t room) {
    racl_cache *cache;
    racl_plan *plan;
    DO(racl_cache_new(options, &cache));
    int32_t refused = racl_cache_compile(cache, context, what, &plan);
    CHECK(refused == (options->flags & RACL_CACHE_STRICT ? RACL_FILE : RACL_OK) && (plan == NULL) == (refused != 0));
    if (plan != NULL) CHECK(first(plan) == expected);
    int32_t status = status_of(cache, what->function, why, room);
    DO(racl_plan_free(plan));
    DO(racl_cache_free(cache));
    return status;
}

/* Plans that nothing tells from others are not stored. */
static void unknown(void) {
    Model model = {.factor = 3};
    char why[512];
    racl_cache_options options = {.size = sizeof options, .name = "Script", .folder = "plans"};
    racl_compile what = {.size = sizeof what, .function = "scripted", .build = made_now(build), .user = &model,
                         .flags = RACL_COMPILE_IGNORE_USER};
    CHECK(started(&options, &what, 3, why, sizeof why) == RACL_CACHE_UNCACHED && strstr(why, "salt"));
    model.factor = 5; /* the script was edited */
    CHECK(started(&options, &what, 5, why, sizeof why) == RACL_CACHE_UNCACHED && strstr(why, "salt"));
    options.flags = RACL_CACHE_STRICT;
    CHECK(started(&options, &what, 5, why, sizeof why) == RACL_CACHE_UNCACHED && strstr(why, "salt"));
    options.flags = 0, options.salt = "script 5";
    CHECK(started(&options, &what, 5, why, sizeof why) == RACL_CACHE_MISS);
    CHECK(started(&options, &what, 5, why, sizeof why) == RACL_CACHE_HIT);
    options.salt = NULL, what.build = build, what.flags = 0;
    CHECK(started(&options, &what, 5, why, sizeof why) == RACL_CACHE_UNCACHED && strstr(why, "IGNORE_USER"));
    model.factor = 7;
    CHECK(started(&options, &what, 7, why, sizeof why) == RACL_CACHE_UNCACHED);
    options.flags = RACL_CACHE_STRICT;
    CHECK(started(&options, &what, 7, why, sizeof why) == RACL_CACHE_UNCACHED && strstr(why, "IGNORE_USER"));
}

int main(void) {
    racl_library *library;
    DO(racl_library_open(NULL, &library));
    DO(racl_context_primary(library, 0, &context));
    Model model = {.factor = 3};
    racl_part part = {"factor", "3"};
    char why[512], folder[512];
    racl_cache_options options = {.size = sizeof options, .name = "Model", .folder = "plans"};
    racl_compile what = {.size = sizeof what, .function = "decode", .build = build, .user = &model, .parts = &part,
                         .part_count = 1};
    racl_cache *cache;
    racl_plan *plan;
    for (int start = 0; start < 2; ++start) {
        DO(racl_cache_new(&options, &cache));
        CHECK(status_of(cache, "decode", why, sizeof why) == RACL_CACHE_NONE && why[0] == 0);
        DO(racl_cache_compile(cache, context, &what, &plan));
        CHECK(model.built == 1 && first(plan) == 3);
        CHECK(status_of(cache, "decode", why, sizeof why) == (start == 0 ? RACL_CACHE_MISS : RACL_CACHE_HIT));
        racl_cache_stats stats = {.size = sizeof stats};
        DO(racl_cache_count(cache, &stats));
        CHECK(stats.misses == (start == 0 ? 1 : 0) && stats.hits == (start == 0 ? 0 : 1) && stats.failed == 0);
        DO(racl_plan_free(plan));
        if (start == 0) DO(racl_cache_free(cache));
    }
    DO(racl_cache_folder(cache, folder, sizeof folder, NULL));
    CHECK(folder[0] == '/' && strcmp(folder + strlen(folder) - 6, "/plans") == 0 && access(folder, R_OK) == 0);

    /* Another part is another plan. */
    part.value = "5", model.factor = 5;
    DO(racl_cache_compile(cache, context, &what, &plan));
    CHECK(model.built == 2 && first(plan) == 5);
    DO(racl_plan_free(plan));

    /* What is refused at once is no hit, nor what came before once more. */
    racl_part twice[2] = {{"factor", "5"}, {"factor", "5"}};
    what.parts = twice, what.part_count = 2;
    CHECK(racl_cache_compile(cache, context, &what, &plan) != RACL_OK && plan == NULL);
    what.parts = &part, what.part_count = 1;
    racl_cache_stats now = {.size = sizeof now};
    DO(racl_cache_count(cache, &now));
    CHECK(now.hits == 1 && now.misses == 1 && now.failed == 1);

    /* A call that fails leaves nothing in its results. */
    int32_t last = 77;
    size_t needed = 77;
    strcpy(why, "old");
    CHECK(racl_cache_status(cache, NULL, &last, why, sizeof why, &needed) == RACL_NULL_POINTER);
    CHECK(last == RACL_CACHE_NONE && why[0] == 0 && needed == 0);
    strcpy(why, "old"), needed = 77;
    CHECK(racl_cache_status(cache, "decode", NULL, why, sizeof why, &needed) == RACL_NULL_POINTER);
    CHECK(why[0] == 0 && needed == 0);

    /* What the function says ends the compilation; nothing of it is stored. */
    part.value = "7", model.fails = 77;
    CHECK(racl_cache_compile(cache, context, &what, &plan) == 77 && plan == NULL);
    CHECK(status_of(cache, "decode", why, sizeof why) == RACL_CACHE_FAILED && strstr(why, "gave 77"));
    model.fails = RACL_INVALID_PLAN;
    CHECK(racl_cache_compile(cache, context, &what, &plan) == RACL_INVALID_PLAN);
    CHECK(strstr(racl_last_error_message(), "aclnnNone"));
    CHECK(status_of(cache, "decode", why, sizeof why) == RACL_CACHE_FAILED && strstr(why, "aclnnNone"));
    racl_plan *theirs = NULL;
    racl_compile other = {.size = sizeof other, .function = "other", .build = takes, .user = &theirs};
    CHECK(racl_cache_compile(cache, context, &other, &plan) == RACL_BUSY && plan == NULL && theirs == NULL);
    other.build = ends_lent;
    DO(racl_cache_compile(cache, context, &other, &plan));
    CHECK(first(plan) == 3);
    DO(racl_plan_free(plan));
    other.build = fails;
    CHECK(racl_cache_compile(cache, context, &other, &plan) == 1234 && plan == NULL);
    CHECK(strcmp(racl_last_error_message(), "the disk is full") == 0);
    CHECK(status_of(cache, "other", why, sizeof why) == RACL_CACHE_FAILED && strstr(why, "the disk is full"));
    int32_t number = 1234;
    other.build = gives_an_old_number, other.user = &number;
    CHECK(racl_cache_compile(cache, context, &other, &plan) == 1234 && !strstr(racl_last_error_message(), "disk"));
    other.build = finds_two;
    CHECK(racl_cache_compile(cache, context, &other, &plan) == RACL_INVALID_PLAN && plan == NULL);
    racl_errors *errors;
    size_t count;
    DO(racl_last_errors(&errors));
    DO(racl_errors_count(errors, &count));
    CHECK(count == 2);
    DO(racl_errors_free(errors));
    other.build = takes, other.user = &theirs;
    other.function = "a/b";
    CHECK(racl_cache_compile(cache, context, &other, &plan) == RACL_INVALID_ARGUMENT);
    other.function = "other", other.build = NULL;
    CHECK(racl_cache_compile(cache, context, &other, &plan) == RACL_NULL_POINTER);
    other.flags = 4, other.build = takes;
    CHECK(racl_cache_compile(cache, context, &other, &plan) == RACL_INVALID_ARGUMENT);
    racl_cache_stats stats = {.size = sizeof stats};
    DO(racl_cache_count(cache, &stats));
    CHECK(stats.hits == 1 && stats.misses == 1 && stats.failed >= 2);
    /* One that was refused at once changes nothing of that. */
    what.parts = twice, what.part_count = 2;
    CHECK(racl_cache_compile(cache, context, &what, &plan) != RACL_OK);
    what.parts = &part, what.part_count = 1;
    CHECK(status_of(cache, "decode", why, sizeof why) == RACL_CACHE_FAILED && strstr(why, "aclnnNone"));
    DO(racl_cache_free(cache));

    /* What a strict cache cannot store is refused, and counts as what it is. */
    FILE *file = fopen("no-folder", "w");
    CHECK(file != NULL && fclose(file) == 0);
    for (uint32_t flags = 0; flags <= RACL_CACHE_STRICT; flags += RACL_CACHE_STRICT) {
        options.folder = "no-folder/cache", options.flags = flags, model.fails = 0;
        DO(racl_cache_new(&options, &cache));
        CHECK(racl_cache_compile(cache, context, &what, &plan) == (flags == 0 ? RACL_OK : RACL_FILE));
        CHECK((plan == NULL) == (flags != 0));
        DO(racl_plan_free(plan));
        CHECK(status_of(cache, "decode", why, sizeof why) == RACL_CACHE_UNCACHED && why[0] != 0);
        stats = (racl_cache_stats){.size = sizeof stats};
        DO(racl_cache_count(cache, &stats));
        CHECK(stats.uncached == 1 && stats.failed == 0);
        DO(racl_cache_free(cache));
    }

    unknown();
    options = (racl_cache_options){.size = sizeof options, .name = "Model", .folder = "no\xffutf8"};
    DO(racl_cache_new(&options, &cache));
    DO(racl_cache_folder(cache, folder, sizeof folder, NULL));
    CHECK(strcmp(folder + strlen(folder) - 8, "/no\xffutf8") == 0);
    DO(racl_cache_free(cache));
    options.flags = 64;
    CHECK(racl_cache_new(&options, &cache) == RACL_INVALID_ARGUMENT && cache == NULL);
    options.flags = 0, options.name = "no/name";
    CHECK(racl_cache_new(&options, &cache) == RACL_INVALID_ARGUMENT);
    options.name = NULL;
    CHECK(racl_cache_new(&options, &cache) == RACL_NULL_POINTER);
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
