/* Frozen parameters: weights whose addresses are fixed when the graph is captured.
 *
 * A run does not look at them, however many there are. New numbers are written in place. Other memory is not noticed,
 * or refused with RACL_RUN_CHECK_FROZEN. The plan comes from the compile cache, where there is one: a second start
 * finds it on disk. */
#include "plans.h"

enum { LAYERS = 16, WIDTH = 32 };

static void name(char text[16], int layer) { snprintf(text, 16, "w%d", layer); }

/* x = tanh(x * w) for each weight. */
static int32_t build(void *user, racl_builder *g) {
    (void)user;
    racl_value x = input(g, "x", 1, WIDTH, RACL_INPUT_STATIC);
    for (int layer = 0; layer < LAYERS; ++layer) {
        char text[16];
        racl_value product;
        name(text, layer);
        racl_value w = input(g, text, WIDTH, WIDTH, RACL_INPUT_FROZEN);
        OP(g, "aclnnMatmul", in(x), in(w), out(&product), integer(0));
        OP(g, "aclnnTanh", in(product), out(&x));
    }
    return racl_builder_output(g, "y", x);
}

static void in_order(const float *x, float (*weights)[WIDTH * WIDTH], float *y) {
    float product[WIDTH];
    memcpy(y, x, sizeof product);
    for (int layer = 0; layer < LAYERS; ++layer) {
        times(y, weights[layer], product, 1, WIDTH, WIDTH);
        for (int at = 0; at < WIDTH; ++at) y[at] = tanhf(product[at]);
    }
}

static racl_plan *compiled(racl_context *context) {
    racl_cache_options options = {.size = sizeof options, .name = "frozen", .folder = "plans"};
    racl_compile what = {.size = sizeof what, .function = "layers", .build = build};
    racl_cache *cache;
    racl_plan *plan;
    int32_t status;
    if (racl_cache_new(&options, &cache) == RACL_NOT_SUPPORTED) {
        racl_builder *g;
        CHECK(racl_builder_new(NULL, &g));
        CHECK(build(NULL, g));
        CHECK(racl_builder_build(g, &plan));
        return plan;
    }
    CHECK(racl_cache_compile(cache, context, &what, &plan));
    CHECK(racl_cache_status(cache, "layers", &status, NULL, 0, NULL));
    printf("the plan was %s\n", status == RACL_CACHE_HIT ? "found on disk" : "built");
    CHECK(racl_cache_free(cache));
    return plan;
}

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    CHECK(racl_library_open(NULL, &library));
    CHECK(racl_context_primary(library, 0, &context));
    CHECK(racl_stream_new(context, NULL, &stream));

    static float weights[LAYERS][WIDTH * WIDTH], x[WIDTH], got[WIDTH], expected[WIDTH];
    racl_tensor *tensors[LAYERS];
    racl_frozen frozen[LAYERS];
    static char names[LAYERS][16];
    fill(x, WIDTH, 8);
    for (int layer = 0; layer < LAYERS; ++layer) {
        fill(weights[layer], WIDTH * WIDTH, (unsigned)layer + 9);
        tensors[layer] = upload(context, weights[layer], WIDTH, WIDTH);
        name(names[layer], layer);
        frozen[layer] = (racl_frozen){names[layer], tensors[layer]};
    }
    racl_plan *plan = compiled(context);
    for (int32_t mode = RACL_RUN_EAGER; mode >= RACL_RUN_CAPTURED; --mode) {
        racl_run_options options = {.size = sizeof options, .mode = mode, .flags = RACL_RUN_CHECK_FROZEN};
        racl_executable *exe;
        racl_bindings *bindings;
        racl_tensor *memory;
        uint32_t of_x, of_y, of_w;
        CHECK(racl_executable_new(plan, context, &options, frozen, LAYERS, &exe));
        CHECK(racl_bindings_new(exe, &bindings));
        CHECK(racl_executable_input(exe, "x", &of_x));
        CHECK(racl_executable_input(exe, "w0", &of_w));
        CHECK(racl_executable_output(exe, "y", &of_y));
        CHECK(racl_executable_static_input(exe, of_x, &memory));
        CHECK(racl_tensor_write(memory, x, sizeof x));
        for (int halved = 0; halved < 2; ++halved) {
            if (halved) { /* new numbers, in place */
                for (int at = 0; at < WIDTH * WIDTH; ++at) weights[0][at] /= 2;
                CHECK(racl_tensor_write(tensors[0], weights[0], sizeof weights[0]));
            }
            CHECK(racl_executable_run(exe, stream, bindings));
            CHECK(racl_executable_read(exe, of_y, got, sizeof got));
            in_order(x, weights, expected);
            if (!same(got, expected, WIDTH)) return 1;
        }
        printf("%s: equals the operators in order, also with new numbers in place\n", how(mode));
        racl_tensor *other = upload(context, weights[0], WIDTH, WIDTH);
        CHECK(racl_bindings_tensor(bindings, of_w, other));
        if (racl_executable_run(exe, stream, bindings) != RACL_ADDRESS_CHANGED) return 1;
        printf("%s: refuses a weight in another place\n", how(mode));
        CHECK(racl_tensor_free(other));
        CHECK(racl_tensor_free(memory));
        CHECK(racl_bindings_free(bindings));
        CHECK(racl_executable_free(exe));
    }

    for (int layer = 0; layer < LAYERS; ++layer) CHECK(racl_tensor_free(tensors[layer]));
    CHECK(racl_plan_free(plan));
    CHECK(racl_stream_close(stream));
    CHECK(racl_context_close(context));
    CHECK(racl_library_close(library));
    return 0;
}
