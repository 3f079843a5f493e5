/* What is said of libraries, streams, tensors, arguments of operators, and runs: each field does what it says. */
#include <stdint.h>

#include "options.h"

enum { BOOL = 12, FLOAT16 = 1, NZ = 29 };

static racl_context *context;
static racl_stream *stream;

static uint64_t calls(const char *function) {
    uint64_t count;
    DO(racl_mock_calls(function, &count));
    return count;
}

static void libraries(racl_library *library) {
    racl_library *again;
    racl_library_options options = {.size = sizeof options, .flags = 8};
    BAD(racl_library_options, flags, racl_library_open_with("mock", &options, &again) == RACL_INVALID_ARGUMENT);
    uint64_t before = calls("aclrtGetCurrentContext");
    DO(racl_context_synchronize(context));
    CHECK(calls("aclrtGetCurrentContext") == before);
    options.flags = RACL_LIBRARY_VERIFY_CONTEXT;
    DO(racl_library_open_with("mock", &options, &again));
    DO(racl_context_synchronize(context));
    GOOD(racl_library_options, flags, calls("aclrtGetCurrentContext") > before);
    CHECK(again != library);
    DO(racl_library_free(again));
}

/* Whether work behind a failure of the stream runs. */
static int goes_on(racl_stream *of) {
    racl_buffer *buffer;
    unsigned char byte;
    DO(racl_buffer_new(context, 64, &buffer));
    DO(racl_buffer_write(buffer, 0, "a", 1));
    DO(racl_mock_fail_task("aclrtMemsetAsync", 1, 507015));
    DO(racl_stream_fill(of, buffer, 'b'));
    int32_t status = racl_stream_fill(of, buffer, 'c');
    CHECK(status == RACL_OK || status == RACL_DEVICE_FAULT);
    CHECK(racl_stream_synchronize(of, -1) == RACL_DEVICE_FAULT);
    DO(racl_buffer_read(buffer, 0, &byte, 1));
    CHECK(byte == 'a' || byte == 'c');
    DO(racl_mock_clear_failures());
    DO(racl_buffer_free(buffer));
    return byte == 'c';
}

static void streams(void) {
    racl_stream *made;
    racl_stream_options options = {.size = sizeof options, .priority = 8};
    BAD(racl_stream_options, priority, racl_stream_new(context, &options, &made) == RACL_INVALID_ARGUMENT && !made);
    options.priority = 7;
    uint64_t with_priority = calls("aclrtCreateStreamWithConfig");
    DO(racl_stream_new(context, &options, &made));
    GOOD(racl_stream_options, priority, calls("aclrtCreateStreamWithConfig") == with_priority + 1);
    CHECK(goes_on(made));
    DO(racl_stream_close(made));
    options.flags = 16;
    BAD(racl_stream_options, flags, racl_stream_new(context, &options, &made) == RACL_INVALID_ARGUMENT && !made);
    options.flags = RACL_STREAM_STOP_ON_FAILURE;
    DO(racl_stream_new(context, &options, &made));
    GOOD(racl_stream_options, flags, !goes_on(made));
    DO(racl_stream_free(made));
    const uint32_t flags[] = {RACL_STREAM_FAST_LAUNCH, RACL_STREAM_FAST_SYNC, RACL_STREAM_LONG_QUEUE,
                              RACL_STREAM_FAST_LAUNCH | RACL_STREAM_FAST_SYNC};
    for (size_t at = 0; at < sizeof flags / sizeof *flags; ++at) {
        options.flags = flags[at];
        int32_t status = racl_stream_new(context, &options, &made);
        /* Chips without a longer queue say so. */
        CHECK(status == RACL_OK || (flags[at] == RACL_STREAM_LONG_QUEUE && status == RACL_NOT_SUPPORTED));
        if (status == RACL_OK) {
            CHECK(goes_on(made));
            DO(racl_stream_close(made));
        }
    }
}

/* What a tensor has, by a copy to a dense one. */
static int has(racl_tensor *given, size_t count, const float *expected) {
    float zeros[8] = {0}, got[8];
    racl_tensor *dense = tensor(context, zeros, 1, &count);
    racl_arg copy[2] = {{.kind = RACL_ARG_TENSOR, .data = dense}, {.kind = RACL_ARG_TENSOR, .data = given}};
    DO(racl_operator(stream, "aclnnInplaceCopy", copy, 2));
    DO(racl_tensor_read(dense, got, count * sizeof *got));
    DO(racl_tensor_free(dense));
    return memcmp(got, expected, count * sizeof *got) == 0;
}

static void layouts(void) {
    racl_buffer *buffer;
    racl_tensor *made;
    const float data[6] = {1, 2, 3, 4, 5, 6};
    const size_t sizes[2] = {2, 3}, two[1] = {2}, step[1] = {3}, far[1] = {9};
    int32_t dtype;
    size_t shape[2], rank;
    DO(racl_buffer_new(context, sizeof data, &buffer));
    DO(racl_buffer_write(buffer, 0, data, sizeof data));
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = FLOAT, .rank = 2, .shape = sizes, .format = ND};
    DO(racl_tensor_new(buffer, &layout, &made));
    DO(racl_tensor_dtype(made, &dtype));
    GOOD(racl_tensor_layout, dtype, dtype == FLOAT);
    DO(racl_tensor_shape(made, shape, 2, &rank));
    GOOD(racl_tensor_layout, rank, rank == 2);
    GOOD(racl_tensor_layout, shape, shape[0] == 2 && shape[1] == 3);
    DO(racl_tensor_free(made));
    layout = (racl_tensor_layout){.size = sizeof layout, .rank = 1, .shape = two, .strides = step, .format = ND};
    DO(racl_tensor_new(buffer, &layout, &made));
    GOOD(racl_tensor_layout, strides, has(made, 2, (const float[]){1, 4}));
    DO(racl_tensor_free(made));
    layout.offset = 2;
    DO(racl_tensor_new(buffer, &layout, &made));
    GOOD(racl_tensor_layout, offset, has(made, 2, (const float[]){3, 6}));
    DO(racl_tensor_free(made));
    const racl_tensor_layout good = layout;
#define REFUSED(field, value, status)                                                                                  \
    layout = good, layout.field = value;                                                                               \
    BAD(racl_tensor_layout, field, racl_tensor_new(buffer, &layout, &made) == status && made == NULL)
    REFUSED(dtype, -5, RACL_INVALID_ARGUMENT);
    REFUSED(rank, 1000, RACL_INVALID_ARGUMENT);
    REFUSED(shape, NULL, RACL_NULL_POINTER);
    REFUSED(strides, far, RACL_INVALID_ARGUMENT);
    REFUSED(offset, 3, RACL_INVALID_ARGUMENT);
    REFUSED(offset, SIZE_MAX, RACL_INVALID_ARGUMENT);
    REFUSED(format, -7, RACL_INVALID_ARGUMENT);
#undef REFUSED
    DO(racl_buffer_close(buffer));

    /* 16 by 32 numbers of 2 bytes in two blocks of 16 by 16. */
    const size_t matrix[2] = {16, 32}, blocks[4] = {2, 1, 16, 16}, small[4] = {1, 1, 16, 16};
    DO(racl_buffer_new(context, 1024, &buffer));
    racl_tensor_layout in_blocks = {.size = sizeof layout, .dtype = FLOAT16, .rank = 2, .shape = matrix, .format = NZ,
                                    .storage_rank = 4, .storage = blocks};
    DO(racl_tensor_new(buffer, &in_blocks, &made));
    /* Memory that is not dense in its shape is no list of bytes in that order. */
    char bytes[1024];
    GOOD(racl_tensor_layout, format, racl_tensor_read(made, bytes, sizeof bytes) == RACL_INVALID_ARGUMENT);
    GOOD(racl_tensor_layout, storage_rank, strstr(racl_last_error_message(), "29") != NULL);
    GOOD(racl_tensor_layout, storage, made != NULL);
    DO(racl_tensor_free(made));
    const size_t one = 1;
    layout = (racl_tensor_layout){.size = sizeof layout, .dtype = FLOAT16, .rank = 1, .shape = &one};
    BAD(racl_tensor_layout, storage_rank, racl_tensor_new(buffer, &layout, &made) == RACL_INVALID_ARGUMENT && !made);
    CHECK(strstr(racl_last_error_message(), "format 0") != NULL);
    layout = in_blocks, layout.format = -1; /* ACL_FORMAT_UNDEFINED */
    BAD(racl_tensor_layout, format, racl_tensor_new(buffer, &layout, &made) == RACL_INVALID_ARGUMENT && !made);
    layout = in_blocks, layout.storage = NULL;
    BAD(racl_tensor_layout, storage, racl_tensor_new(buffer, &layout, &made) == RACL_NULL_POINTER && !made);
    layout.storage = small;
    BAD(racl_tensor_layout, storage, racl_tensor_new(buffer, &layout, &made) == RACL_INVALID_ARGUMENT);
    layout = in_blocks, layout.storage_rank = 1000;
    BAD(racl_tensor_layout, storage_rank, racl_tensor_new(buffer, &layout, &made) == RACL_INVALID_ARGUMENT);
    DO(racl_buffer_close(buffer));
}

/* Arguments of operators: those of racl_operator(), and the fields of each that its kind names. */
static void arguments(void) {
    const float data[4] = {1, -2, 3, -4};
    const size_t four = 4, two = 2;
    float got[4];
    racl_tensor *x = tensor(context, data, 1, &four), *y = tensor(context, data, 1, &four);
    racl_tensor *rows = tensor(context, data, 2, (size_t[]){2, 2}), *sums = tensor(context, data, 1, &two);
    racl_arg times[3] = {{.kind = RACL_ARG_TENSOR, .data = x},
                         {.kind = RACL_ARG_SCALAR_FLOAT, .real = 0.5, .integer = 77, .count = 77},
                         {.kind = RACL_ARG_TENSOR, .data = y}};
    DO(racl_operator(stream, "aclnnMuls", times, 3));
    DO(racl_tensor_read(y, got, sizeof got));
    ANY(racl_arg, real, got[0] == 0.5f && got[3] == -2);
    times[1] = (racl_arg){.kind = RACL_ARG_INT, .integer = 3, .real = 77};
    DO(racl_operator(stream, "aclnnMuls", times, 3));
    DO(racl_tensor_read(y, got, sizeof got));
    GOOD(racl_arg, kind, got[0] == 3);
    GOOD(racl_arg, integer, got[3] == -12);
    GOOD(racl_arg, reserved, times[1].reserved == 0);
    times[1].reserved = 1;
    BAD(racl_arg, reserved, racl_operator(stream, "aclnnMuls", times, 3) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "reserved") != NULL);
    times[1] = (racl_arg){.kind = RACL_ARG_SCALAR_INT32, .integer = -1};
    DO(racl_operator(stream, "aclnnMuls", times, 3));
    DO(racl_tensor_read(y, got, sizeof got));
    CHECK(got[0] == -1 && got[3] == 4);
    times[1].integer = (int64_t)1 << 40;
    BAD(racl_arg, integer, racl_operator(stream, "aclnnMuls", times, 3) == RACL_INVALID_ARGUMENT);
    times[1] = (racl_arg){.kind = RACL_ARG_BOOL, .integer = 2};
    BAD(racl_arg, integer, racl_operator(stream, "aclnnMuls", times, 3) == RACL_INVALID_ARGUMENT);
    times[1].kind = 99;
    BAD(racl_arg, kind, racl_operator(stream, "aclnnMuls", times, 3) == RACL_INVALID_ARGUMENT);
    int64_t dims[2] = {1, 0};
    racl_arg sum[5] = {{.kind = RACL_ARG_TENSOR, .data = rows},
                       {.kind = RACL_ARG_INTS, .data = dims, .count = 1},
                       {.kind = RACL_ARG_BOOL},
                       {.kind = RACL_ARG_TYPE, .integer = FLOAT},
                       {.kind = RACL_ARG_TENSOR, .data = sums}};
    DO(racl_operator(stream, "aclnnReduceSum", sum, 5));
    DO(racl_tensor_read(sums, got, 2 * sizeof *got));
    GOOD(racl_arg, data, got[0] == -1);
    GOOD(racl_arg, count, got[1] == -1);
    sum[1].count = SIZE_MAX;
    BAD(racl_arg, count, racl_operator(stream, "aclnnReduceSum", sum, 5) == RACL_INVALID_ARGUMENT);
    sum[1].count = 1, sum[1].data = NULL;
    BAD(racl_arg, data, racl_operator(stream, "aclnnReduceSum", sum, 5) == RACL_NULL_POINTER);
    sum[1].data = (const char *)dims + 1;
    BAD(racl_arg, data, racl_operator(stream, "aclnnReduceSum", sum, 5) == RACL_INVALID_ARGUMENT);
    DO(racl_tensor_free(x));
    DO(racl_tensor_free(y));
    DO(racl_tensor_free(rows));
    DO(racl_tensor_free(sums));
}

/* Lists of numbers, and what may be left out. */
static void lists(void) {
    const float data[4] = {1, -2, 3, -4};
    const size_t two[2] = {2, 2}, column[2] = {2, 1}, four = 4, image[4] = {1, 1, 2, 1}, large[4] = {1, 1, 4, 1};
    float got[4];
    racl_tensor *x = tensor(context, data, 1, &four), *y = tensor(context, data, 1, &four);
    const racl_tensor *from[2] = {x, x}, *to[2] = {y, y};
    racl_arg numbers[2] = {{.kind = RACL_ARG_SCALAR_FLOAT, .real = 10}, {.kind = RACL_ARG_SCALAR_FLOAT, .real = 0.5}};
    racl_arg each[3] = {{.kind = RACL_ARG_TENSORS, .count = 2, .data = from},
                        {.kind = RACL_ARG_SCALARS, .count = 2, .data = numbers},
                        {.kind = RACL_ARG_TENSORS, .count = 2, .data = to}};
    DO(racl_operator(stream, "aclnnForeachAddScalarList", each, 3));
    DO(racl_tensor_read(y, got, sizeof got));
    CHECK(got[0] == 1.5f && got[3] == -3.5f);
    numbers[1].reserved = 1u << 31;
    BAD(racl_arg, reserved, racl_operator(stream, "aclnnForeachAddScalarList", each, 3) == RACL_INVALID_ARGUMENT);
    numbers[1] = (racl_arg){.kind = RACL_ARG_TENSOR, .data = x};
    CHECK(racl_operator(stream, "aclnnForeachAddScalarList", each, 3) == RACL_INVALID_ARGUMENT);
    each[1].data = NULL;
    CHECK(racl_operator(stream, "aclnnForeachAddScalarList", each, 3) == RACL_NULL_POINTER);
    DO(racl_tensor_free(x));
    DO(racl_tensor_free(y));

    /* The sums of gradients alone, of three results. */
    unsigned char wanted[3] = {0, 0, 1};
    int64_t last = 2;
    racl_tensor *gradient = tensor(context, data, 2, two), *mean = tensor(context, data, 2, column);
    racl_tensor *sums = tensor(context, data, 1, (const size_t[]){2});
    racl_arg back[11] = {{.kind = RACL_ARG_TENSOR, .data = gradient}, {.kind = RACL_ARG_TENSOR, .data = gradient},
                         {.kind = RACL_ARG_INTS, .count = 1, .data = &last}, {.kind = RACL_ARG_TENSOR, .data = mean},
                         {.kind = RACL_ARG_TENSOR, .data = mean}, {.kind = RACL_ARG_NONE}, {.kind = RACL_ARG_NONE},
                         {.kind = RACL_ARG_BOOLS, .count = 3, .data = wanted}, {.kind = RACL_ARG_NONE},
                         {.kind = RACL_ARG_NONE}, {.kind = RACL_ARG_TENSOR, .data = sums}};
    DO(racl_operator(stream, "aclnnLayerNormBackward", back, 11));
    DO(racl_tensor_read(sums, got, 2 * sizeof *got));
    CHECK(got[0] == 4 && got[1] == -6);
    wanted[1] = 2;
    CHECK(racl_operator(stream, "aclnnLayerNormBackward", back, 11) == RACL_INVALID_ARGUMENT);
    wanted[1] = 0, back[3].kind = RACL_ARG_NONE;
    CHECK(racl_operator(stream, "aclnnLayerNormBackward", back, 11) != RACL_OK);
    DO(racl_tensor_free(gradient));
    DO(racl_tensor_free(mean));
    DO(racl_tensor_free(sums));

    float scales[4] = {1, 1, 2, 1};
    racl_tensor *small = tensor(context, data, 4, image), *wide = tensor(context, data, 4, large);
    racl_arg resize[4] = {{.kind = RACL_ARG_TENSOR, .data = small},
                          {.kind = RACL_ARG_FLOATS, .count = 4, .data = scales},
                          {.kind = RACL_ARG_TEXT, .data = "nearest"},
                          {.kind = RACL_ARG_TENSOR, .data = wide}};
    /* The mock has no operator that it computes with such a list: it is the one that refuses. */
    CHECK(racl_operator(stream, "aclnnResize", resize, 4) == RACL_NOT_SUPPORTED);
    CHECK(strcmp(racl_last_error_call(), "aclnnResizeGetWorkspaceSize") == 0);
    resize[1].kind = RACL_ARG_INTS;
    CHECK(racl_operator(stream, "aclnnResize", resize, 4) == RACL_INVALID_ARGUMENT);
    resize[1].kind = RACL_ARG_FLOATS, resize[2].data = "\xff";
    CHECK(racl_operator(stream, "aclnnResize", resize, 4) == RACL_INVALID_ARGUMENT);
    DO(racl_tensor_free(small));
    DO(racl_tensor_free(wide));
}

/* y = 2 x, of as many rows as there are, and from the host to the host. */
static racl_plan *doubled(int32_t of_class) {
    racl_builder *g;
    racl_plan *plan;
    racl_dim n;
    DO(racl_builder_new(NULL, &g));
    DO(racl_builder_symbol(g, "n", 1, 4, &n));
    DO(racl_builder_output_to_host(g, "y", muls(g, input(g, "x", n, 0, of_class), 2)));
    DO(racl_builder_build(g, &plan));
    return plan;
}

typedef struct {
    racl_executable *exe;
    racl_bindings *bind;
} Ready;

static Ready ready(const racl_plan *plan, racl_run_options options, const racl_frozen *frozen, size_t count) {
    Ready made;
    options.size = sizeof options;
    DO(racl_executable_new(plan, context, &options, frozen, count, &made.exe));
    DO(racl_bindings_new(made.exe, &made.bind));
    return made;
}

static void finish(Ready of) {
    DO(racl_bindings_free(of.bind));
    DO(racl_executable_free(of.exe));
}

static int32_t run(Ready of, size_t rows) {
    const float data[4] = {1, 2, 3, 4};
    DO(racl_bindings_host(of.bind, 0, FLOAT, &rows, 1, data, rows * sizeof *data));
    return racl_executable_run(of.exe, stream, of.bind);
}

static racl_run_counters counted(Ready of) {
    racl_run_counters counters = {.size = sizeof counters};
    DO(racl_executable_counters(of.exe, &counters));
    return counters;
}

static uint64_t pinned(void) {
    racl_mock_live live = {.size = sizeof live};
    DO(racl_mock_count(&live));
    return live.pinned_bytes;
}

static int32_t refused(const racl_plan *plan, racl_run_options options) {
    racl_executable *exe;
    options.size = sizeof options;
    int32_t status = racl_executable_new(plan, context, &options, NULL, 0, &exe);
    CHECK(status != RACL_OK && exe == NULL);
    return status;
}

static void runs(void) {
    racl_plan *plan = doubled(RACL_INPUT_HOST);
    Ready it = ready(plan, (racl_run_options){.mode = RACL_RUN_EAGER}, NULL, 0);
    DO(run(it, 1));
    GOOD(racl_run_options, mode, counted(it).eager == 1 && counted(it).graphs == 0);
    finish(it);
    BAD(racl_run_options, mode, refused(plan, (racl_run_options){.mode = 2}) == RACL_INVALID_ARGUMENT);
    BAD(racl_run_options, on_full, refused(plan, (racl_run_options){.on_full = 3}) == RACL_INVALID_ARGUMENT);
    BAD(racl_run_options, flags, refused(plan, (racl_run_options){.flags = 8}) == RACL_INVALID_ARGUMENT);

    /* Sizes one after the other, with room for two graphs or one. */
    it = ready(plan, (racl_run_options){.graph_limit = 2}, NULL, 0);
    for (size_t rows = 1; rows <= 3; ++rows) DO(run(it, rows));
    ANY(racl_run_options, graph_limit, counted(it).graphs == 2 && counted(it).evicted == 1);
    finish(it);
    it = ready(plan, (racl_run_options){.graph_limit = 1, .on_full = RACL_FULL_EVICT}, NULL, 0);
    DO(run(it, 1));
    DO(run(it, 2));
    GOOD(racl_run_options, on_full, counted(it).evicted == 1 && counted(it).graphs == 1);
    finish(it);
    it = ready(plan, (racl_run_options){.graph_limit = 1, .on_full = RACL_FULL_EAGER}, NULL, 0);
    DO(run(it, 1));
    DO(run(it, 2));
    GOOD(racl_run_options, on_full, counted(it).eager == 1 && counted(it).evicted == 0);
    finish(it);
    it = ready(plan, (racl_run_options){.graph_limit = 1, .on_full = RACL_FULL_FAIL}, NULL, 0);
    DO(run(it, 1));
    GOOD(racl_run_options, on_full, run(it, 2) == RACL_GRAPH_LIMIT && counted(it).graphs == 1);
    DO(run(it, 1));
    finish(it);

    it = ready(plan, (racl_run_options){.flags = RACL_RUN_FORCE_RECAPTURE}, NULL, 0);
    DO(run(it, 1));
    uint64_t captures = calls("aclmdlRICaptureEnd");
    DO(run(it, 1));
    GOOD(racl_run_options, flags, calls("aclmdlRICaptureEnd") == captures + 1);
    finish(it);

    /* Memory of the host for the outputs of runs that are under way: once, and three times. */
    uint64_t before, once = 0, thrice = 0;
    for (size_t buffers = 1; buffers <= 3; buffers += 2) {
        before = pinned();
        it = ready(plan, (racl_run_options){.host_output_buffers = buffers}, NULL, 0);
        DO(run(it, 4));
        DO(racl_stream_synchronize(stream, -1));
        DO(racl_mock_hold(stream));
        for (int again = 0; again < 3; ++again) DO(run(it, 4));
        *(buffers == 1 ? &once : &thrice) = pinned() - before;
        DO(racl_mock_release(stream));
        float got[4];
        DO(racl_executable_read_host(it.exe, 0, got, sizeof got));
        CHECK(got[0] == 2 && got[3] == 8);
        finish(it);
    }
    ANY(racl_run_options, host_output_buffers, thrice > once);
    DO(racl_plan_free(plan));
}

/* y = w + x: with inputs that move, though they must not, or are looked at. */
static void moved(void) {
    const float data[4] = {1, 2, 3, 4};
    const size_t four = 4;
    racl_builder *g;
    racl_plan *plan;
    DO(racl_builder_new(NULL, &g));
    racl_value x = input(g, "x", 4, 0, RACL_INPUT_UPDATABLE), w = input(g, "w", 4, 0, RACL_INPUT_FROZEN);
    DO(racl_builder_output(g, "y", add(g, x, w)));
    DO(racl_builder_build(g, &plan));
    racl_tensor *one = tensor(context, data, 1, &four), *two = tensor(context, data, 1, &four), *gone;
    racl_frozen frozen = {"w", one};
    const uint32_t flags[] = {0, RACL_RUN_CHECK_FROZEN, RACL_RUN_NO_ADDRESS_UPDATES};
    uint64_t planned[3];
    for (int at = 0; at < 3; ++at) {
        Ready it = ready(plan, (racl_run_options){.flags = flags[at]}, &frozen, 1);
        uint32_t in = input_of(it.exe, "x");
        DO(racl_bindings_tensor(it.bind, in, one));
        DO(racl_executable_run(it.exe, stream, it.bind));
        planned[at] = calls("aclnnAddGetWorkspaceSize");
        for (int turn = 0; turn < 4; ++turn) {
            DO(racl_bindings_tensor(it.bind, in, turn % 2 == 0 ? two : one));
            DO(racl_executable_run(it.exe, stream, it.bind));
        }
        planned[at] = calls("aclnnAddGetWorkspaceSize") - planned[at];
        float got[4];
        DO(racl_executable_read(it.exe, 0, got, sizeof got));
        GOOD(racl_frozen, name, got[0] == 2);
        GOOD(racl_frozen, tensor, got[3] == 8);
        CHECK(counted(it).updates == 4);
        DO(racl_bindings_tensor(it.bind, input_of(it.exe, "w"), two));
        int32_t status = racl_executable_run(it.exe, stream, it.bind);
        GOOD(racl_run_options, flags,
             status == (flags[at] == RACL_RUN_CHECK_FROZEN ? RACL_ADDRESS_CHANGED : RACL_OK));
        finish(it);
    }
    /* Who gets other addresses alone has an executor of its own for that. */
    GOOD(racl_run_options, flags, planned[1] == 1 && planned[2] == 0);
    racl_executable *none;
    frozen.name = "v";
    BAD(racl_frozen, name, racl_executable_new(plan, context, NULL, &frozen, 1, &none) == RACL_INVALID_ARGUMENT);
    frozen.name = NULL;
    BAD(racl_frozen, name, racl_executable_new(plan, context, NULL, &frozen, 1, &none) == RACL_NULL_POINTER);
    gone = tensor(context, data, 1, &(size_t){2});
    frozen.name = "w", frozen.tensor = gone;
    BAD(racl_frozen, tensor, racl_executable_new(plan, context, NULL, &frozen, 1, &none) == RACL_INVALID_ARGUMENT);
    DO(racl_tensor_free(gone));
    BAD(racl_frozen, tensor, racl_executable_new(plan, context, NULL, &frozen, 1, &none) == RACL_STALE_HANDLE);
    DO(racl_tensor_free(one));
    DO(racl_tensor_free(two));
    DO(racl_plan_free(plan));
}

/* An executable that ends while work waits for a signal which nobody gives: not for a minute. */
static void signals(void) {
    racl_builder *g;
    racl_plan *plan;
    racl_stream *side;
    DO(racl_builder_new(NULL, &g));
    DO(racl_builder_gate(g, "ready"));
    racl_value x = input(g, "x", 2, 0, RACL_INPUT_STATIC);
    DO(racl_builder_gate_wait(g, "ready"));
    DO(racl_builder_output(g, "y", muls(g, x, 2)));
    DO(racl_builder_build(g, &plan));
    DO(racl_stream_new(context, NULL, &side));
    Ready it = ready(plan, (racl_run_options){.signal_limit = 1000 * 1000}, NULL, 0);
    DO(racl_executable_run(it.exe, side, it.bind));
    finish(it);
    ANY(racl_run_options, signal_limit, racl_stream_synchronize(side, -1) == RACL_OK);
    racl_errors *errors;
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_free(errors));
    DO(racl_stream_close(side));
    DO(racl_plan_free(plan));
}

int main(void) {
    racl_library *library;
    DO(racl_library_open("mock", &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    libraries(library);
    streams();
    layouts();
    arguments();
    lists();
    runs();
    moved();
    signals();
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
