/* Passes over plans, which need no library but where one is named. */
#include <stddef.h>

#include "plans.h"

static racl_plan_info described(const racl_plan *plan) {
    racl_plan_info info = {.size = sizeof info};
    DO(racl_plan_describe(plan, &info));
    return info;
}

static int changes_say(const racl_plan *plan, size_t count, const char *text) {
    racl_errors *changes;
    size_t found;
    racl_error change = {.size = sizeof change};
    DO(racl_plan_changes(plan, &changes));
    DO(racl_errors_count(changes, &found));
    int says = count == 0;
    for (size_t at = 0; at < found; ++at) {
        DO(racl_errors_get(changes, at, &change));
        CHECK(change.status == RACL_OK);
        says = says || strstr(change.message, text) != NULL;
    }
    DO(racl_errors_free(changes));
    return found == count && says;
}

enum { FLOAT16 = 1 };

/* A product whose weight is brought into blocks where the card and the library have such products. */
static void for_a_card(void) {
    racl_builder *g;
    racl_plan *plan, *better;
    DO(racl_builder_new(NULL, &g));
    racl_value x, w;
    DO(racl_builder_input(g, "x", FLOAT16, (racl_dim[]){16, 32}, 2, RACL_INPUT_COPIED, &x));
    DO(racl_builder_input(g, "w", FLOAT16, (racl_dim[]){32, 64}, 2, RACL_INPUT_FROZEN, &w));
    DO(racl_builder_output(g, "y", matmul(g, x, w)));
    DO(racl_builder_build(g, &plan));
    racl_pass blocks = {"blocked_weights", RACL_PASS_ON};
    racl_passes passes = {.size = sizeof passes, .passes = &blocks, .pass_count = 1};
    const struct {
        const char *soc;
        size_t changes;
    } cards[] = {{NULL, 1}, {"Ascend910B3", 1}, {"Ascend910_9382", 1}, {"Ascend310P3", 0}, {"", 0}};
    for (size_t at = 0; at < sizeof cards / sizeof *cards; ++at) {
        passes.soc = cards[at].soc;
        DO(racl_plan_optimise(plan, &passes, &better));
        CHECK(changes_say(better, cards[at].changes, "blocked_weights: "));
        DO(racl_plan_free(better));
    }
    passes.soc = "\xff";
    CHECK(racl_plan_optimise(plan, &passes, &better) == RACL_INVALID_ARGUMENT && better == NULL);
    passes.soc = NULL;
    racl_library *library;
    DO(racl_library_open("mock", &library));
    passes.library = library;
    DO(racl_plan_optimise(plan, &passes, &better));
    CHECK(changes_say(better, 1, "blocked_weights: "));
    DO(racl_plan_free(better));
    DO(racl_library_free(library));
    CHECK(racl_plan_optimise(plan, &passes, &better) == RACL_STALE_HANDLE);
    passes.library = (const racl_library *)plan;
    CHECK(racl_plan_optimise(plan, &passes, &better) == RACL_WRONG_KIND);
    /* Of a program from before these two. */
    passes.size = offsetof(racl_passes, soc);
    DO(racl_plan_optimise(plan, &passes, &better));
    CHECK(changes_say(better, 1, "blocked_weights: "));
    DO(racl_plan_free(better));
    DO(racl_plan_free(plan));
}

int main(void) {
    racl_builder *g;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    racl_value once = unary(g, "aclnnAbs", x), twice = unary(g, "aclnnAbs", x);
    unary(g, "aclnnTanh", twice); /* for nobody */
    DO(racl_builder_output(g, "y", add(g, once, twice)));
    racl_plan *plan, *better;
    DO(racl_builder_build(g, &plan));
    CHECK(described(plan).operators == 4 && changes_say(plan, 0, ""));

    racl_passes all = {.size = sizeof all, .all = RACL_PASS_VERIFIED};
    DO(racl_plan_optimise(plan, &all, &better));
    CHECK(described(better).operators == 2 && described(plan).operators == 4);
    CHECK(changes_say(better, 2, "dead_values: ") && changes_say(better, 2, "common_values: "));
    const float data[4] = {-1, 2, -3, 4};
    racl_given given = {"x", data, sizeof data};
    racl_simulation *simulation;
    float y[4];
    size_t needed;
    DO(racl_simulation_new(better, 1, &given, 1, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", y, sizeof y, &needed));
    CHECK(y[0] == 2 && y[1] == 4 && y[2] == 6 && y[3] == 8 && needed == sizeof y);
    y[0] = 77, needed = 0; /* nothing is copied without room for all of it */
    CHECK(racl_simulation_read(simulation, "y", y, sizeof y - 1, &needed) == RACL_INVALID_ARGUMENT);
    CHECK(y[0] == 77 && needed == sizeof y);
    CHECK(strstr(racl_last_error_message(), "16 bytes") && strstr(racl_last_error_message(), "room for 15"));
    DO(racl_simulation_read(simulation, "y", NULL, 0, &needed));
    CHECK(needed == sizeof y);
    CHECK(racl_simulation_read(simulation, "z", y, sizeof y, &needed) == RACL_INVALID_ARGUMENT && needed == 0);
    CHECK(racl_simulation_read(simulation, "y", NULL, sizeof y, &needed) == RACL_NULL_POINTER);
    CHECK(racl_simulation_read(simulation, "y", y, sizeof y, NULL) == RACL_NULL_POINTER && y[0] == 77);
    DO(racl_simulation_free(simulation));
    DO(racl_plan_free(better));

    racl_pass one = {"dead_values", RACL_PASS_ON};
    racl_passes some = {.size = sizeof some, .passes = &one, .pass_count = 1};
    DO(racl_plan_optimise(plan, &some, &better));
    CHECK(described(better).operators == 3 && changes_say(better, 1, "dead_values: "));
    DO(racl_plan_free(better));
    some.all = RACL_PASS_ON, one.mode = RACL_PASS_OFF;
    DO(racl_plan_optimise(plan, &some, &better));
    CHECK(changes_say(better, 1, "common_values: "));
    DO(racl_plan_free(better));

    one.name = "no_such_pass";
    CHECK(racl_plan_optimise(plan, &some, &better) == RACL_INVALID_ARGUMENT && better == NULL);
    CHECK(strstr(racl_last_error_message(), "no_such_pass") != NULL);
    one.name = "dead_values", one.mode = 3;
    CHECK(racl_plan_optimise(plan, &some, &better) == RACL_INVALID_ARGUMENT);
    one.mode = RACL_PASS_ON, some.all = -1;
    CHECK(racl_plan_optimise(plan, &some, &better) == RACL_INVALID_ARGUMENT);
    some.all = RACL_PASS_ON, some.flags = 2;
    CHECK(racl_plan_optimise(plan, &some, &better) == RACL_INVALID_ARGUMENT && strstr(racl_last_error_message(), "0x2"));
    some.flags = 0, some.passes = NULL;
    CHECK(racl_plan_optimise(plan, &some, &better) == RACL_NULL_POINTER);
    DO(racl_plan_free(plan));
    for_a_card();
    printf("%d checks\n", checks);
    return 0;
}
