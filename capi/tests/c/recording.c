/* Builders: tags of events that are used anew, and sizes that are put together. */
#include "plans.h"

/* An event that is recorded again and gives its tag back, and a size that is put together. */
static void tags_and_sizes(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_dim n, more;
    DO(racl_builder_new(NULL, &g));
    DO(racl_builder_dim_plus(g, 2, 3, &more));
    CHECK(more == 5);
    DO(racl_builder_symbol(g, "n", 1, 8, &n));
    DO(racl_builder_dim_plus(g, n, 3, &more));
    CHECK(more < 0 && more != n);
    racl_value x = input(g, "x", n, 0, RACL_INPUT_COPIED), z = input(g, "z", more, 0, RACL_INPUT_COPIED);
    DO(racl_builder_event(g, "e"));
    CHECK(racl_builder_event(g, "e") == RACL_INVALID_PLAN);
    racl_value two = muls(g, x, 2);
    DO(racl_builder_record(g, "e"));
    CHECK(racl_builder_record(g, "e") == RACL_INVALID_PLAN);
    DO(racl_builder_scope_begin(g, "side", NULL));
    DO(racl_builder_wait(g, "e"));
    racl_value six = muls(g, two, 3);
    DO(racl_builder_scope_end(g));
    racl_value five = muls(g, x, 5);
    DO(racl_builder_rerecord(g, "e"));
    DO(racl_builder_scope_begin(g, "side", NULL));
    DO(racl_builder_wait(g, "e")); /* for the later point, without which the sum has no order with `five` */
    racl_value sum = add(g, six, five);
    DO(racl_builder_scope_end(g));
    DO(racl_builder_join(g, "side"));
    DO(racl_builder_event_end(g, "e"));
    CHECK(racl_builder_wait(g, "e") == RACL_INVALID_PLAN);
    CHECK(racl_builder_event_end(g, "e") == RACL_INVALID_PLAN);
    DO(racl_builder_event(g, "e")); /* another one */
    DO(racl_builder_record(g, "e"));
    DO(racl_builder_output(g, "y", sum));
    DO(racl_builder_output(g, "z", muls(g, z, 10)));
    DO(racl_builder_build(g, &plan));

    float given_x[2] = {1, -2}, given_z[5] = {1, 2, 3, 4, 5}, got[5];
    size_t shape[2] = {77, 77}, rank, needed;
    int32_t dtype;
    racl_given given[2] = {{"x", given_x, sizeof given_x}, {"z", given_z, sizeof given_z}};
    racl_symbol symbol[1] = {{"n", 2}};
    racl_simulation *simulation;
    for (uint64_t seed = 0; seed < 4; ++seed) {
        DO(racl_simulation_new(plan, seed, given, 2, symbol, 1, &simulation));
        DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
        CHECK(needed == 8 && got[0] == 11 && got[1] == -22);
        DO(racl_simulation_read(simulation, "z", got, sizeof got, &needed));
        CHECK(needed == 20 && got[0] == 10 && got[4] == 50);
        DO(racl_simulation_output_shape(simulation, "z", shape, 2, &rank, &dtype));
        CHECK(rank == 1 && shape[0] == 5 && shape[1] == 0 && dtype == FLOAT);
        DO(racl_simulation_output_shape(simulation, "y", NULL, 0, &rank, NULL));
        CHECK(rank == 1);
        CHECK(racl_simulation_output_shape(simulation, "x", shape, 2, &rank, &dtype) == RACL_INVALID_ARGUMENT);
        CHECK(rank == 0 && shape[0] == 0 && dtype == 0);
        DO(racl_simulation_free(simulation));
    }
    given[1].bytes = 16; /* of another size than n + 3 */
    CHECK(racl_simulation_new(plan, 0, given, 2, symbol, 1, &simulation) == RACL_INVALID_ARGUMENT);
    DO(racl_plan_free(plan));
}

int main(void) {
    tags_and_sizes();
    printf("%d checks\n", checks);
    return 0;
}
