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

/* Results go where the operands were told, in place of them. */
static void results_over_operands(void) {
    racl_builder *g;
    racl_plan *plan;
    DO(racl_builder_new(NULL, &g));
    racl_value v[2] = {input(g, "a", 2, 0, RACL_INPUT_COPIED), input(g, "b", 2, 0, RACL_INPUT_COPIED)};
    racl_value old[2] = {v[0], v[1]};
    racl_arg list = {.kind = RACL_ARG_VALUES, .count = 2, .data = v};
    racl_arg abs[2] = {list, {.kind = RACL_ARG_RESULTS, .count = 2, .data = v}};
    DO(racl_builder_operator(g, "aclnnForeachAbs", abs, 2));
    CHECK(v[0] != 0 && v[1] != 0 && v[0] != v[1] && v[0] != old[0] && v[1] != old[1]);
    racl_arg cat[3] = {list, whole(0), result(&v[1])};
    DO(racl_builder_operator(g, "aclnnCat", cat, 3));
    DO(racl_builder_output(g, "y", v[1]));
    racl_value both[2] = {old[0], old[1]};
    racl_arg split[4] = {value(v[1]), whole(2), whole(0), {.kind = RACL_ARG_RESULTS, .count = 2, .data = both}};
    DO(racl_builder_operator(g, "aclnnSplitTensor", split, 4));
    DO(racl_builder_output(g, "z", both[1]));
    racl_value last; /* of two results with one place */
    racl_arg most[5] = {value(v[1]), whole(0), {.kind = RACL_ARG_BOOL, .integer = 1}, result(&last), result(&last)};
    int32_t dtype;
    DO(racl_builder_operator(g, "aclnnMaxDim", most, 5));
    DO(racl_builder_value_dtype(g, last, &dtype));
    CHECK(dtype == INT64);
    CHECK(racl_builder_operator(g, "aclnnCat", cat, 0xffffffff) == RACL_INVALID_ARGUMENT);
    /* One that fails leaves no value, also where that of an operand was. */
    cat[0].count = 1, cat[1].integer = 7, cat[2].data = v;
    CHECK(racl_builder_operator(g, "aclnnCat", cat, 3) != RACL_OK && v[0] == 0);
    v[0] = old[0];
    CHECK(racl_builder_operator(NULL, "aclnnCat", cat, 3) == RACL_NULL_POINTER && v[0] == 0);
    CHECK(racl_builder_build(g, NULL) == RACL_NULL_POINTER); /* it stays */
    DO(racl_builder_build(g, &plan));
    float a[2] = {-1, 2}, b[2] = {-3, 4}, got[4];
    racl_given given[2] = {{"a", a, sizeof a}, {"b", b, sizeof b}};
    racl_simulation *simulation;
    size_t needed;
    DO(racl_simulation_new(plan, 0, given, 2, NULL, 0, &simulation));
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    CHECK(needed == 16 && got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 4);
    DO(racl_simulation_read(simulation, "z", got, sizeof got, &needed));
    CHECK(needed == 8 && got[0] == 3 && got[1] == 4);
    DO(racl_simulation_free(simulation));
    DO(racl_plan_free(plan));
}

/* A count of a list among arguments that is none: refused before anything is read or made room for, and the places of
 * results stay as they were. */
static void counts_that_are_none(void) {
    static const int32_t kinds[] = {RACL_ARG_VALUES, RACL_ARG_RESULTS, RACL_ARG_DIMS, RACL_ARG_TENSORS, RACL_ARG_INTS,
                                    RACL_ARG_FLOATS, RACL_ARG_BOOLS,   RACL_ARG_SCALARS};
    racl_builder *g;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED), y;
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; ++at)
        for (int shift = 0; shift <= 32; shift += 32) {
            uint64_t few[8] = {7, 7, 7, 7, 7, 7, 7, 7};
            racl_arg args[2] = {{.kind = kinds[at], .count = (size_t)-1 >> shift, .data = few}, result(&y)};
            y = 1;
            CHECK(racl_builder_operator(g, "aclnnAbs", args, 2) == RACL_INVALID_ARGUMENT && y == 0);
            CHECK(strstr(racl_last_error_message(), shift == 0 ? "18446744073709551615 elements" : "4294967295 elements"));
            args[1] = args[0], args[0] = value(x);
            CHECK(racl_builder_operator(g, "aclnnAbs", args, 2) == RACL_INVALID_ARGUMENT);
            for (int one = 0; one < 8; ++one) CHECK(few[one] == 7);
        }
    /* Of a later version. */
    racl_arg later[2] = {value(x), result(&y)};
    for (int at = 0; at < 2; ++at) {
        y = 1, later[at].reserved = 1;
        CHECK(racl_builder_operator(g, "aclnnAbs", later, 2) == RACL_INVALID_ARGUMENT && y == 0);
        later[at].reserved = 0;
    }
    DO(racl_builder_operator(g, "aclnnAbs", later, 2));
    racl_value results[3] = {7, 7, 7};
    racl_plan *body;
    DO(racl_builder_output(g, "y", unary(g, "aclnnAbs", x)));
    DO(racl_builder_build(g, &body));
    DO(racl_builder_new(NULL, &g));
    x = input(g, "x", 2, 0, RACL_INPUT_COPIED);
    CHECK(racl_builder_call(g, body, &x, 1, NULL, 0, results, 0xffffffff) == RACL_INVALID_ARGUMENT);
    CHECK(results[0] == 7 && results[1] == 7 && results[2] == 7);
    DO(racl_builder_free(g));
    DO(racl_plan_free(body));
}

int main(void) {
    counts_that_are_none();
    tags_and_sizes();
    results_over_operands();
    printf("%d checks\n", checks);
    return 0;
}
