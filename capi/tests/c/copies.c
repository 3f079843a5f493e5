/* Two copies of the library in a process: none takes handles of the other for its own. */
#include <dlfcn.h>

#include "check.h"

typedef struct {
    int32_t (*builder_new)(const racl_plan_options *, racl_builder **);
    int32_t (*builder_operators)(const racl_builder *, uint32_t *);
    int32_t (*builder_free)(racl_builder *);
} Copy;

static void find(void *file, const char *name, void *place) {
    void *function = dlsym(file, name);
    CHECK(function != NULL);
    memcpy(place, &function, sizeof function);
}

static Copy loaded(const char *path) {
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(file != NULL);
    Copy copy;
    find(file, "racl_builder_new", &copy.builder_new);
    find(file, "racl_builder_operators", &copy.builder_operators);
    find(file, "racl_builder_free", &copy.builder_free);
    return copy;
}

/* Which object of its place a handle is for; in the header it is only a number. */
static unsigned generation(const racl_builder *handle) { return (unsigned)((uintptr_t)handle >> 23) & 0xFFFFFF; }

int main(int count, char **paths) {
    CHECK(count == 3);
    Copy copies[2] = {loaded(paths[1]), loaded(paths[2])};
    CHECK(copies[0].builder_new != copies[1].builder_new);
    racl_builder *builders[2];
    uint32_t operators;
    for (int at = 0; at < 2; ++at) DO(copies[at].builder_new(NULL, &builders[at]));
    for (int at = 0; at < 2; ++at) {
        DO(copies[at].builder_operators(builders[at], &operators));
        int32_t foreign = copies[at].builder_operators(builders[1 - at], &operators);
        CHECK(foreign == RACL_FOREIGN_HANDLE || foreign == RACL_STALE_HANDLE);
        foreign = copies[at].builder_free(builders[1 - at]);
        CHECK(foreign == RACL_FOREIGN_HANDLE || foreign == RACL_STALE_HANDLE);
    }
    /* By more than the mark of a copy, of which there are few. */
    CHECK(generation(builders[0]) != generation(builders[1]));
    for (int at = 0; at < 2; ++at) DO(copies[at].builder_free(builders[at]));
    printf("%d checks\n", checks);
    return 0;
}
