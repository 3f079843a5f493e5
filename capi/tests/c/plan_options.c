/* What is said of plans, scopes, prefetches, passes, functions and caches: each field does what it says. */
#include <stdint.h>

#include "options.h"

static racl_builder *begun(void) {
    racl_builder *g;
    DO(racl_builder_new(NULL, &g));
    return g;
}

static racl_plan *built(racl_builder *g) {
    racl_plan *plan;
    DO(racl_builder_build(g, &plan));
    return plan;
}

static racl_plan_info described(racl_plan *plan) {
    racl_plan_info info = {.size = sizeof info};
    DO(racl_plan_describe(plan, &info));
    return info;
}

static int says(const char *text) { return strstr(racl_last_error_message(), text) != NULL; }

/* Whether a dump has a text. */
static int dumps(const racl_plan *plan, int32_t format, const char *text) {
    char dump[8192];
    size_t needed;
    DO(racl_plan_dump(plan, format, NULL, 0, dump, sizeof dump, &needed));
    CHECK(needed <= sizeof dump);
    return strstr(dump, text) != NULL;
}

/* Two chains of work that have nothing to do with each other, one of them in a scope, with two prefetches of one weight. */
static racl_plan *chains(racl_plan_options options) {
    racl_builder *g;
    options.size = sizeof options;
    DO(racl_builder_new(&options, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), w = input(g, "w", 4, 0, RACL_INPUT_FROZEN);
    /* One stream alone refuses what needs another. */
    int32_t expected = options.streams == RACL_STREAMS_SINGLE ? RACL_INVALID_PLAN : RACL_OK;
    CHECK(racl_builder_prefetch(g, w, NULL, NULL) == expected);
    CHECK(racl_builder_prefetch(g, w, NULL, NULL) == expected);
    int32_t status = racl_builder_scope_begin(g, "side", NULL);
    CHECK(status == expected);
    DO(racl_builder_output(g, "a", muls(g, muls(g, x, 2), 3)));
    if (status == RACL_OK) DO(racl_builder_scope_end(g));
    DO(racl_builder_output(g, "b", add(g, muls(g, x, 4), w)));
    return built(g);
}

static int32_t builder_refuses(racl_plan_options options) {
    racl_builder *g;
    options.size = sizeof options;
    int32_t status = racl_builder_new(&options, &g);
    CHECK(g == NULL);
    return status;
}

static void plans(void) {
    racl_plan *plan = chains((racl_plan_options){.streams = RACL_STREAMS_AS_RECORDED});
    racl_plan_info usual = described(plan);
    CHECK(usual.streams == 3); /* that of prefetches is the third */
    CHECK(dumps(plan, RACL_DUMP_JSON, "\"prefetch_cap\": null"));
    DO(racl_plan_free(plan));
    plan = chains((racl_plan_options){.streams = RACL_STREAMS_COLLAPSED});
    GOOD(racl_plan_options, streams, described(plan).streams == 1);
    DO(racl_plan_free(plan));
    plan = chains((racl_plan_options){.streams = RACL_STREAMS_SINGLE});
    GOOD(racl_plan_options, streams, described(plan).streams < usual.streams);
    DO(racl_plan_free(plan));
    BAD(racl_plan_options, streams, builder_refuses((racl_plan_options){.streams = 3}) == RACL_INVALID_ARGUMENT);
    plan = chains((racl_plan_options){.drop_repeated_prefetches = 1});
    GOOD(racl_plan_options, drop_repeated_prefetches, described(plan).operators == usual.operators - 1);
    DO(racl_plan_free(plan));
    racl_plan_options odd = {.drop_repeated_prefetches = 2};
    BAD(racl_plan_options, drop_repeated_prefetches, builder_refuses(odd) == RACL_INVALID_ARGUMENT);
    plan = chains((racl_plan_options){.prefetch_cap = 0.25});
    GOOD(racl_plan_options, prefetch_cap, dumps(plan, RACL_DUMP_JSON, "\"prefetch_cap\": 0.25"));
    DO(racl_plan_free(plan));
    const double caps[] = {1.5, -0.5, 0.0 / 0.0 * -1};
    for (int at = 0; at < 3; ++at) {
        odd = (racl_plan_options){.prefetch_cap = caps[at]};
        BAD(racl_plan_options, prefetch_cap, builder_refuses(odd) == RACL_INVALID_ARGUMENT);
    }
    racl_builder *g;
    racl_plan_options spread = {.size = sizeof spread, .auto_streams = 3};
    DO(racl_builder_new(&spread, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    for (int at = 0; at < 3; ++at) {
        const char *const names[] = {"a", "b", "c"};
        DO(racl_builder_output(g, names[at], muls(g, muls(g, x, at + 1), 2)));
    }
    plan = built(g);
    GOOD(racl_plan_options, auto_streams, described(plan).streams == 3);
    DO(racl_plan_free(plan));
    odd = (racl_plan_options){.auto_streams = 1025};
    BAD(racl_plan_options, auto_streams, builder_refuses(odd) == RACL_INVALID_ARGUMENT);
}

/* A plan with work in a scope that needs none of the work before it. */
static racl_plan *scoped(racl_scope_options options) {
    racl_builder *g = begun();
    options.size = sizeof options;
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_COPIED), before = muls(g, x, 2);
    DO(racl_builder_scope_begin(g, "side", &options));
    racl_value side = muls(g, x, 3);
    DO(racl_builder_scope_end(g));
    if (options.has_priority) {
        racl_scope_options other = {.size = sizeof other, .has_priority = 1, .priority = 1};
        CHECK(racl_builder_scope_begin(g, "side", &other) == RACL_INVALID_PLAN && says("priority"));
    }
    DO(racl_builder_join(g, "side"));
    DO(racl_builder_output(g, "y", add(g, before, side)));
    return built(g);
}

static int32_t scope_refused(racl_scope_options options) {
    racl_builder *g = begun();
    options.size = sizeof options;
    int32_t status = racl_builder_scope_begin(g, "side", &options);
    DO(racl_builder_free(g));
    return status;
}

static void scopes(void) {
    racl_plan *plain = scoped((racl_scope_options){0}), *plan = scoped((racl_scope_options){.at_start = 1});
    char one[4096], other[4096];
    DO(racl_plan_dump(plain, RACL_DUMP_TEXT, NULL, 0, one, sizeof one, NULL));
    DO(racl_plan_dump(plan, RACL_DUMP_TEXT, NULL, 0, other, sizeof other, NULL));
    /* The record that the side waits for comes before the work, instead of behind it. */
    const char *fork = strstr(one, "record"), *at_start = strstr(other, "record");
    CHECK(fork && at_start && fork > strstr(one, "aclnnMuls"));
    GOOD(racl_scope_options, at_start, at_start < strstr(other, "aclnnMuls"));
    DO(racl_plan_free(plan));
    DO(racl_plan_free(plain));
    BAD(racl_scope_options, at_start, scope_refused((racl_scope_options){.at_start = 2}) == RACL_INVALID_ARGUMENT);
    plan = scoped((racl_scope_options){.priority = 5});
    GOOD(racl_scope_options, has_priority, dumps(plan, RACL_DUMP_TEXT, "stream side priority 0"));
    DO(racl_plan_free(plan));
    plan = scoped((racl_scope_options){.has_priority = 1, .priority = 5});
    GOOD(racl_scope_options, priority, dumps(plan, RACL_DUMP_TEXT, "stream side priority 5"));
    DO(racl_plan_free(plan));
    racl_scope_options odd = {.has_priority = -1};
    BAD(racl_scope_options, has_priority, scope_refused(odd) == RACL_INVALID_ARGUMENT);
    odd = (racl_scope_options){.has_priority = 1, .priority = 8};
    BAD(racl_scope_options, priority, scope_refused(odd) == RACL_INVALID_PLAN);
    plan = scoped((racl_scope_options){.cube_cores = 3, .vector_cores = 7});
    ANY(racl_scope_options, cube_cores, dumps(plan, RACL_DUMP_TEXT, "limit_cube=3"));
    ANY(racl_scope_options, vector_cores, dumps(plan, RACL_DUMP_TEXT, "limit_vector=7"));
    DO(racl_plan_free(plan));
}

static void prefetches(void) {
    racl_builder *g = begun(), *others = begun();
    racl_value w = input(g, "w", 4, 0, RACL_INPUT_FROZEN), h = muls(g, input(g, "x", 4, 0, RACL_INPUT_COPIED), 2);
    racl_value theirs = input(others, "x", 4, 0, RACL_INPUT_COPIED);
    size_t fetched;
    racl_prefetch_options from = {.size = sizeof from, .offset = 4};
    GOOD(racl_prefetch_options, offset, racl_builder_prefetch(g, w, &from, &fetched) == RACL_OK && fetched == 12);
    from.bytes = 8;
    ANY(racl_prefetch_options, bytes, racl_builder_prefetch(g, w, &from, &fetched) == RACL_OK && fetched == 8);
    from.offset = 16;
    BAD(racl_prefetch_options, offset, racl_builder_prefetch(g, w, &from, &fetched) == RACL_INVALID_PLAN && !fetched);
    from.offset = SIZE_MAX;
    BAD(racl_prefetch_options, offset, racl_builder_prefetch(g, w, &from, &fetched) == RACL_INVALID_PLAN);
    from.offset = 0, from.after_value = h;
    GOOD(racl_prefetch_options, after_value, racl_builder_prefetch(g, w, &from, &fetched) == RACL_OK);
    from.after_value = theirs;
    BAD(racl_prefetch_options, after_value, racl_builder_prefetch(g, w, &from, &fetched) == RACL_INVALID_PLAN);
    from.after_value = h | 0xFFFF;
    BAD(racl_prefetch_options, after_value, racl_builder_prefetch(g, w, &from, &fetched) == RACL_INVALID_ARGUMENT);
    DO(racl_builder_event(g, "here"));
    DO(racl_builder_record(g, "here"));
    from.after_value = 0, from.after_event = "here";
    GOOD(racl_prefetch_options, after_event, racl_builder_prefetch(g, w, &from, &fetched) == RACL_OK);
    from.after_event = "nowhere";
    BAD(racl_prefetch_options, after_event, racl_builder_prefetch(g, w, &from, &fetched) == RACL_INVALID_PLAN);
    from.after_event = "\xff";
    BAD(racl_prefetch_options, after_event, racl_builder_prefetch(g, w, &from, &fetched) == RACL_INVALID_ARGUMENT);
    DO(racl_builder_free(others));
    DO(racl_builder_output(g, "y", add(g, h, w)));
    racl_plan *plan = built(g);
    CHECK(described(plan).operators == 6);
    DO(racl_plan_free(plan));
}

/* y = |x| + |x| + (2 * 3), where what two operators compute is one, and the product is a number. */
static racl_plan *wasteful(void) {
    const float two[2] = {2, 2};
    racl_dim shape = 2;
    racl_value constant;
    racl_builder *g = begun();
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED);
    DO(racl_builder_constant(g, FLOAT, &shape, 1, two, sizeof two, &constant));
    racl_value sum = add(g, unary(g, "aclnnAbs", x), unary(g, "aclnnAbs", x));
    DO(racl_builder_output(g, "y", add(g, sum, muls(g, constant, 3))));
    return built(g);
}

/* How much work a plan has behind passes. */
static size_t left(const racl_plan *plan, racl_passes passes) {
    racl_plan *better;
    passes.size = sizeof passes;
    DO(racl_plan_optimise(plan, &passes, &better));
    size_t operators = described(better).operators;
    DO(racl_plan_free(better));
    return operators;
}

static int32_t passes_refused(const racl_plan *plan, racl_passes passes) {
    racl_plan *better;
    passes.size = sizeof passes;
    int32_t status = racl_plan_optimise(plan, &passes, &better);
    CHECK(status != RACL_OK && better == NULL);
    return status;
}

static int32_t launch(void *user, const racl_launch *what) {
    (void)user, (void)what;
    return RACL_OK;
}

/* |x|, and a foreign operator whose result nobody reads. */
static racl_plan *with_a_foreign_operator(void) {
    racl_foreign_info info = {.size = sizeof info, .name = "mine", .launch = launch};
    racl_foreign *foreign;
    racl_builder *g = begun();
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_COPIED), before = unary(g, "aclnnAbs", x), touched;
    racl_dim shape = 2;
    DO(racl_foreign_new(&info, &foreign));
    DO(racl_builder_empty(g, FLOAT, &shape, 1, &touched));
    DO(racl_builder_foreign(g, foreign, &before, 1, &touched, 1));
    DO(racl_builder_output(g, "y", before));
    DO(racl_foreign_free(foreign));
    return built(g);
}

static void passes(void) {
    racl_plan *plan = wasteful();
    CHECK(described(plan).operators == 5 && left(plan, (racl_passes){0}) == 5);
    GOOD(racl_passes, all, left(plan, (racl_passes){.all = RACL_PASS_ON}) == 3);
    BAD(racl_passes, all, passes_refused(plan, (racl_passes){.all = 3}) == RACL_INVALID_ARGUMENT);
    racl_pass pass[2] = {{"common_values", RACL_PASS_ON}, {"folded_constants", RACL_PASS_ON}};
    GOOD(racl_passes, passes, left(plan, (racl_passes){.passes = pass, .pass_count = 1}) == 4);
    GOOD(racl_passes, pass_count, left(plan, (racl_passes){.passes = pass, .pass_count = 2}) == 3);
    racl_passes odd = {.passes = NULL, .pass_count = 1};
    BAD(racl_passes, passes, passes_refused(plan, odd) == RACL_NULL_POINTER);
    odd = (racl_passes){.passes = pass, .pass_count = SIZE_MAX};
    BAD(racl_passes, pass_count, passes_refused(plan, odd) == RACL_INVALID_ARGUMENT);
    odd.pass_count = 0xffffffff;
    BAD(racl_passes, pass_count, passes_refused(plan, odd) == RACL_INVALID_ARGUMENT);
    pass[0].mode = RACL_PASS_OFF;
    GOOD(racl_pass, mode, left(plan, (racl_passes){.all = RACL_PASS_ON, .passes = pass, .pass_count = 1}) == 4);
    GOOD(racl_pass, name, left(plan, (racl_passes){.passes = pass, .pass_count = 2}) == 4);
    racl_passes one = {.passes = pass, .pass_count = 1};
    pass[0].mode = -1;
    BAD(racl_pass, mode, passes_refused(plan, one) == RACL_INVALID_ARGUMENT);
    pass[0] = (racl_pass){"common", RACL_PASS_ON};
    BAD(racl_pass, name, passes_refused(plan, one) == RACL_INVALID_ARGUMENT && says("\"common\""));
    pass[0].name = NULL;
    BAD(racl_pass, name, passes_refused(plan, one) == RACL_NULL_POINTER);
    /* The product is of eight bytes. */
    racl_passes folding = {.passes = &pass[1], .pass_count = 1, .most_folded = 8};
    ANY(racl_passes, most_folded, left(plan, folding) == 4);
    folding.most_folded = 7;
    ANY(racl_passes, most_folded, left(plan, folding) == 5);
    DO(racl_plan_free(plan));

    plan = with_a_foreign_operator();
    racl_passes all = {.all = RACL_PASS_ON};
    size_t usual = left(plan, all);
    all.flags = RACL_PASSES_FOREIGN_ONLY_COMPUTES;
    GOOD(racl_passes, flags, usual == 2 && left(plan, all) == 1);
    BAD(racl_passes, flags, passes_refused(plan, (racl_passes){.flags = 2}) == RACL_INVALID_ARGUMENT);
    DO(racl_plan_free(plan));
}

/* What of passes says where a plan runs: 4 KiB of a weight in blocks, for cards that have them. */
static void cards(void) {
    racl_builder *g = begun();
    racl_plan *plan;
    racl_value x, w;
    DO(racl_builder_input(g, "x", 1, (racl_dim[]){16, 32}, 2, RACL_INPUT_COPIED, &x));
    DO(racl_builder_input(g, "w", 1, (racl_dim[]){32, 64}, 2, RACL_INPUT_FROZEN, &w));
    DO(racl_builder_output(g, "y", matmul(g, x, w)));
    plan = built(g);
    racl_pass blocks = {"blocked_weights", RACL_PASS_ON};
    racl_passes given = {.size = sizeof given, .passes = &blocks, .pass_count = 1, .most_relaid = 4096};
    racl_plan *better, *same;
    racl_errors *changes;
    size_t more, none;
    const uint64_t room[] = {4096, 4095};
    for (int at = 0; at < 2; ++at) {
        given.most_relaid = room[at];
        DO(racl_plan_optimise(plan, &given, &better));
        DO(racl_plan_changes(better, &changes));
        DO(racl_errors_count(changes, &more));
        ANY(racl_passes, most_relaid, more == (at == 0 ? 1 : 0));
        DO(racl_errors_free(changes));
        DO(racl_plan_free(better));
    }
    given.most_relaid = 0, given.soc = "Ascend310P3";
    DO(racl_plan_optimise(plan, &given, &same));
    DO(racl_plan_changes(same, &changes));
    DO(racl_errors_count(changes, &none));
    GOOD(racl_passes, soc, none == 0);
    DO(racl_errors_free(changes));
    DO(racl_plan_free(same));
    given.soc = "\xff";
    BAD(racl_passes, soc, racl_plan_optimise(plan, &given, &same) == RACL_INVALID_ARGUMENT && same == NULL);
    racl_library *library;
    DO(racl_library_open("mock", &library));
    given.soc = NULL, given.library = library;
    GOOD(racl_passes, library, racl_plan_optimise(plan, &given, &same) == RACL_OK);
    DO(racl_plan_free(same));
    DO(racl_library_free(library));
    BAD(racl_passes, library, racl_plan_optimise(plan, &given, &same) == RACL_STALE_HANDLE && same == NULL);
    DO(racl_plan_free(plan));
}
/* What runs and simulations are told by name: y = 3 x, of n of 2 n rows. */
static void lists(void) {
    const float data[4] = {1, 2, 3, 4};
    float got[2];
    size_t needed;
    racl_dim half, whole;
    racl_value first, y;
    racl_builder *g = begun();
    DO(racl_builder_symbol(g, "half", 1, 4, &half));
    DO(racl_builder_dim_times(g, half, 2, &whole));
    racl_value x = input(g, "x", whole, 0, RACL_INPUT_COPIED);
    DO(racl_builder_narrow(g, x, 0, 0, half, &first));
    DO(racl_builder_output(g, "y", muls(g, first, 3)));
    racl_plan *body = built(g);

    g = begun();
    x = input(g, "x", 4, 0, RACL_INPUT_COPIED);
    racl_told told = {"half", 2};
#define CALL racl_builder_call(g, body, &x, 1, &told, 1, &y, 1)
    GOOD(racl_told, name, CALL == RACL_OK);
    racl_dim size;
    DO(racl_builder_value_shape(g, y, &size, 1, &needed));
    GOOD(racl_told, dim, size == 2);
    told.dim = 3;
    BAD(racl_told, dim, CALL == RACL_INVALID_PLAN && y == 0);
    told.dim = -77;
    BAD(racl_told, dim, CALL == RACL_INVALID_ARGUMENT);
    told = (racl_told){"third", 2};
    BAD(racl_told, name, CALL == RACL_INVALID_PLAN && says("third"));
    told.name = NULL;
    BAD(racl_told, name, CALL == RACL_NULL_POINTER);
#undef CALL
    DO(racl_builder_free(g));

    racl_given given = {"x", data, sizeof data};
    racl_symbol symbol = {"half", 2};
    racl_simulation *simulation;
#define SIMULATE racl_simulation_new(body, 1, &given, 1, &symbol, 1, &simulation)
    DO(SIMULATE);
    DO(racl_simulation_read(simulation, "y", got, sizeof got, &needed));
    GOOD(racl_given, name, got[0] == 3);
    GOOD(racl_given, data, got[1] == 6);
    GOOD(racl_given, bytes, needed == sizeof got);
    GOOD(racl_symbol, name, needed == sizeof got);
    GOOD(racl_symbol, value, needed == sizeof got);
    DO(racl_simulation_free(simulation));
    symbol.value = 5;
    BAD(racl_symbol, value, SIMULATE == RACL_INVALID_ARGUMENT && simulation == NULL);
    symbol = (racl_symbol){"third", 2};
    BAD(racl_symbol, name, SIMULATE == RACL_INVALID_ARGUMENT);
    symbol.name = NULL;
    BAD(racl_symbol, name, SIMULATE == RACL_NULL_POINTER);
    symbol.name = "half", given.bytes = 12;
    BAD(racl_given, bytes, SIMULATE == RACL_INVALID_ARGUMENT);
    given.bytes = sizeof data, given.data = NULL;
    BAD(racl_given, data, SIMULATE == RACL_NULL_POINTER);
    given = (racl_given){"z", data, sizeof data};
    BAD(racl_given, name, SIMULATE == RACL_INVALID_ARGUMENT);
    given.name = "\xff";
    BAD(racl_given, name, SIMULATE == RACL_INVALID_ARGUMENT);
#undef SIMULATE
    DO(racl_plan_free(body));

    g = begun();
    racl_found found;
    racl_value mask;
    DO(racl_builder_nonzero(g, input(g, "x", 4, 0, RACL_INPUT_COPIED), &found));
    DO(racl_builder_found_mask(g, &found, &mask));
    DO(racl_builder_value_shape(g, mask, &size, 1, &needed));
    GOOD(racl_found, values, size == 4);
    GOOD(racl_found, count, needed == 2);
    racl_found odd = {0, found.count};
    BAD(racl_found, values, racl_builder_found_mask(g, &odd, &mask) == RACL_INVALID_ARGUMENT && mask == 0);
    odd = (racl_found){found.values, 0};
    BAD(racl_found, count, racl_builder_found_mask(g, &odd, &mask) == RACL_INVALID_ARGUMENT && mask == 0);
    DO(racl_builder_free(g));
}

int main(void) {
    plans();
    scopes();
    prefetches();
    passes();
    cards();
    lists();
    printf("%d checks\n", checks);
    return 0;
}
