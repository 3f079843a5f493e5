/* Memory, copies, graphs, and operators. */
#include "check.h"

enum { FLOAT = RACL_TYPE_FLOAT, INT64 = RACL_TYPE_INT64, BOOL = RACL_TYPE_BOOL, ND = RACL_FORMAT_ND };

static racl_tensor *tensor(racl_buffer *buffer, int32_t dtype, size_t rank, const size_t *shape) {
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = dtype, .rank = (uint32_t)rank, .shape = shape, .format = ND};
    racl_tensor *made;
    DO(racl_tensor_new(buffer, &layout, &made));
    return made;
}

/* `whole` is all of `buffer`, of 2 rows of 3 floats. */
static void memory_of_tensors(racl_stream *stream, racl_buffer *buffer, racl_tensor *whole, const size_t *shape) {
    size_t strides[2], rank, size;
    void *start, *address;
    DO(racl_tensor_strides(whole, strides, 2, &rank));
    CHECK(rank == 2 && strides[0] == 3 && strides[1] == 1);
    const size_t row[1] = {3}, across[2] = {1, 2};
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = FLOAT, .format = RACL_FORMAT_ND, .rank = 1, .shape = row, .offset = 3};
    racl_tensor *last, *columns;
    DO(racl_tensor_new(buffer, &layout, &last));
    racl_buffer *memory;
    DO(racl_tensor_buffer(last, &memory));
    DO(racl_buffer_size(memory, &size));
    DO(racl_buffer_address(memory, &address));
    DO(racl_buffer_address(buffer, &start));
    CHECK(size == 12 && (char *)address == (char *)start + 12);
    DO(racl_tensor_free(last));
    float before[3], after[3], seven[3] = {7, 7, 7};
    DO(racl_buffer_read(memory, 0, before, sizeof before));
    DO(racl_buffer_write(memory, 0, seven, sizeof seven));
    DO(racl_buffer_read(buffer, 12, after, sizeof after));
    CHECK(memcmp(after, seven, sizeof seven) == 0);
    DO(racl_buffer_write(memory, 0, before, sizeof before));
    DO(racl_stream_fill(stream, memory, 0));
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_buffer_read(buffer, 12, after, sizeof after));
    CHECK(after[0] == 0 && after[1] == 0 && after[2] == 0);
    DO(racl_buffer_write(memory, 0, before, sizeof before));
    DO(racl_buffer_free(memory));
    layout = (racl_tensor_layout){.size = sizeof layout, .dtype = FLOAT, .format = RACL_FORMAT_ND, .rank = 2, .shape = shape, .strides = across};
    DO(racl_tensor_new(buffer, &layout, &columns));
    DO(racl_tensor_strides(columns, strides, 2, &rank));
    CHECK(rank == 2 && strides[0] == 1 && strides[1] == 2);
    CHECK(racl_tensor_buffer(columns, &memory) == RACL_INVALID_ARGUMENT && memory == NULL);
    DO(racl_tensor_free(columns));
}

static void memory(racl_context *context, racl_stream *stream) {
    racl_buffer *one, *two, *part, *none;
    DO(racl_buffer_new(context, 256, &one));
    DO(racl_buffer_new(context, 256, &two));
    size_t size;
    DO(racl_buffer_size(one, &size));
    CHECK(size == 256);
    unsigned char data[256], back[256] = {0};
    for (int at = 0; at < 256; ++at) data[at] = (unsigned char)at;
    DO(racl_buffer_write(one, 0, data, 256));
    DO(racl_stream_copy(stream, two, one));
    DO(racl_buffer_read(two, 0, back, 256));
    CHECK(memcmp(data, back, 256) == 0);
    DO(racl_buffer_slice(two, 64, 64, &part));
    DO(racl_stream_fill(stream, part, 0xEE));
    DO(racl_buffer_read(two, 60, back, 8));
    CHECK(back[3] == 63 && back[4] == 0xEE && back[7] == 0xEE);
    DO(racl_buffer_write(part, 63, "z", 1));
    DO(racl_buffer_read(two, 127, back, 2));
    CHECK(back[0] == 'z' && back[1] == 128);
    CHECK(racl_buffer_slice(one, 200, 57, &none) == RACL_INVALID_ARGUMENT && none == NULL);
    CHECK(racl_buffer_write(one, SIZE_MAX, data, 2) == RACL_INVALID_ARGUMENT);
    CHECK(racl_buffer_read(one, 0, back, 257) == RACL_INVALID_ARGUMENT);
    CHECK(racl_buffer_write(one, 0, NULL, 4) == RACL_NULL_POINTER);
    CHECK(racl_buffer_close(two) == RACL_INVALID_ARGUMENT); /* its part is alive */
    void *address;
    racl_buffer *theirs;
    DO(racl_buffer_address(one, &address));
    DO(racl_buffer_ref(context, address, 256, &theirs));
    DO(racl_buffer_read(theirs, 5, back, 1));
    CHECK(back[0] == 5);
    CHECK(racl_buffer_ref(context, NULL, 1, &none) == RACL_NULL_POINTER);
    DO(racl_buffer_free(theirs));
    DO(racl_buffer_read(one, 5, back, 1));
    CHECK(back[0] == 5);
    DO(racl_buffer_close(one));
    DO(racl_buffer_free(two));
    DO(racl_buffer_close(part)); /* the last handle of it */
}

static void host_memory(racl_context *context, racl_stream *stream) {
    racl_host *host;
    racl_buffer *buffer;
    DO(racl_host_new(context, 8, &host));
    DO(racl_buffer_new(context, 8, &buffer));
    void *data, *again;
    size_t size;
    DO(racl_host_data(host, &data));
    DO(racl_host_size(host, &size));
    CHECK(size == 8 && memcmp(data, "\0\0\0\0\0\0\0\0", 8) == 0);
    memcpy(data, "uploaded", 8);
    DO(racl_host_wait(host));
    DO(racl_stream_upload(stream, buffer, host));
    CHECK(racl_host_data(host, &again) == RACL_BUSY && again == NULL);
    CHECK(racl_stream_upload(stream, buffer, host) == RACL_BUSY);
    DO(racl_host_wait(host));
    DO(racl_host_data(host, &again));
    CHECK(again == data);
    memset(data, 0, 8);
    DO(racl_stream_download(stream, host, buffer));
    DO(racl_host_wait(host));
    CHECK(memcmp(data, "uploaded", 8) == 0);
    racl_buffer *small;
    DO(racl_buffer_new(context, 4, &small));
    CHECK(racl_stream_upload(stream, small, host) == RACL_INVALID_ARGUMENT);
    DO(racl_host_data(host, &again));
    racl_capture *capture;
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_stream_upload(stream, buffer, host) == RACL_CAPTURE_FORBIDDEN);
    DO(racl_host_data(host, &again));
    racl_graph *none;
    CHECK(racl_capture_end(capture, &none) == RACL_CAPTURE_INVALIDATED && none == NULL); /* it lacks the copy */
    CHECK(strstr(racl_last_error_message(), "racl_stream_upload") != NULL);
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_stream_download(stream, host, buffer) == RACL_CAPTURE_FORBIDDEN);
    CHECK(racl_capture_end(capture, &none) == RACL_CAPTURE_INVALIDATED && none == NULL);
    DO(racl_stream_upload(stream, buffer, host));
    DO(racl_host_free(host)); /* with the copy */
    DO(racl_buffer_free(small));
    DO(racl_buffer_close(buffer));
}

/* A copy whose call failed behind work that is not over: nobody knows whether a part of it runs. */
static void lost_memory(racl_context *context, racl_stream *stream) {
    racl_host *host;
    racl_buffer *buffer, *other;
    void *data;
    DO(racl_host_new(context, 8, &host));
    DO(racl_buffer_new(context, 8, &buffer));
    DO(racl_buffer_new(context, 8, &other));
    DO(racl_free_limit_set(1000000));
    DO(racl_mock_hold(stream));
    DO(racl_stream_fill(stream, other, 0));
    DO(racl_mock_fail("aclrtMemcpyAsync", 1, 207001));
    CHECK(racl_stream_upload(stream, buffer, host) == RACL_OUT_OF_MEMORY);
    CHECK(strstr(racl_last_error_message(), "aclrtMemcpyAsync") != NULL);
    DO(racl_mock_release(stream));
    DO(racl_free_limit_set(10000000000));
    CHECK(racl_host_data(host, &data) == RACL_DEVICE_LOST && data == NULL);
    CHECK(racl_stream_upload(stream, buffer, host) == RACL_DEVICE_LOST);
    DO(racl_host_free(host));
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_buffer_close(other));
    DO(racl_buffer_close(buffer));
}

static void graphs(racl_context *context, racl_stream *stream) {
    racl_buffer *buffer;
    racl_stream *side;
    racl_event *fork, *join;
    racl_capture *capture;
    racl_graph *graph, *none;
    unsigned char back[64];
    DO(racl_buffer_new(context, 64, &buffer));
    DO(racl_stream_new(context, NULL, &side));
    DO(racl_event_new(context, 0, &fork));
    DO(racl_event_new(context, 0, &join));
    DO(racl_buffer_write(buffer, 0, (unsigned char[64]){7}, 64));
    CHECK(racl_capture_begin(stream, 3, &capture) == RACL_INVALID_ARGUMENT && capture == NULL);
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    racl_capture *twice;
    CHECK(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &twice) == RACL_CAPTURE_FORBIDDEN);
    DO(racl_event_record(fork, stream));
    DO(racl_stream_wait(side, fork));
    DO(racl_stream_fill(side, buffer, 9));
    DO(racl_event_record(join, side));
    DO(racl_stream_wait(stream, join));
    DO(racl_capture_end(capture, &graph));
    CHECK(racl_capture_end(capture, &none) == RACL_STALE_HANDLE && none == NULL);
    DO(racl_graph_launch(graph, stream));
    DO(racl_graph_wait(graph));
    DO(racl_buffer_read(buffer, 0, back, 64));
    CHECK(back[0] == 9 && back[63] == 9); /* the side led back */
    DO(racl_graph_close(graph));
    DO(racl_buffer_write(buffer, 0, (unsigned char[64]){7}, 64));

    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_stream_fill(stream, buffer, 9));
    DO(racl_capture_end(capture, &graph));
    void *raw;
    DO(racl_graph_raw(graph, &raw));
    CHECK(raw != NULL);
    DO(racl_buffer_read(buffer, 0, back, 64));
    CHECK(back[0] == 7 && back[1] == 0); /* recorded, not executed */
    DO(racl_graph_launch(graph, stream));
    DO(racl_graph_wait(graph));
    DO(racl_buffer_read(buffer, 0, back, 64));
    CHECK(back[0] == 9 && back[63] == 9);
    DO(racl_graph_launch(graph, side)); /* on another stream */
    DO(racl_graph_write_trace(graph, "trace.json"));
    FILE *trace = fopen("trace.json", "r");
    CHECK(trace != NULL && fgetc(trace) != EOF);
    fclose(trace);
    DO(racl_buffer_free(buffer)); /* the graph keeps it */
    DO(racl_graph_launch(graph, stream));
    DO(racl_graph_close(graph));

    /* A side that does not lead back. */
    DO(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    DO(racl_event_record(fork, stream));
    DO(racl_stream_wait(side, fork));
    CHECK(racl_capture_end(capture, &graph) == RACL_CAPTURE_UNJOINED && graph == NULL);
    CHECK(racl_capture_free(capture) == RACL_STALE_HANDLE);
    DO(racl_stream_synchronize(stream, -1));
    DO(racl_event_free(fork));
    DO(racl_event_free(join));
    DO(racl_stream_free(side));
}

static void operators(racl_context *context, racl_stream *stream) {
    float one[6] = {1, -2, 3, -4, 5, -6}, two[6] = {10, 20, 30, 40, 50, 60}, sum[6];
    size_t shape[2] = {2, 3};
    racl_buffer *buffers[3];
    racl_tensor *tensors[3];
    for (int at = 0; at < 3; ++at) {
        DO(racl_buffer_new(context, sizeof one, &buffers[at]));
        tensors[at] = tensor(buffers[at], FLOAT, 2, shape);
    }
    DO(racl_buffer_write(buffers[0], 0, one, sizeof one));
    DO(racl_buffer_write(buffers[1], 0, two, sizeof two));
    int32_t dtype;
    size_t sizes[2], rank;
    DO(racl_tensor_dtype(tensors[0], &dtype));
    DO(racl_tensor_shape(tensors[0], sizes, 2, &rank));
    CHECK(dtype == FLOAT && rank == 2 && sizes[0] == 2 && sizes[1] == 3);
    DO(racl_tensor_shape(tensors[0], NULL, 0, &rank));
    CHECK(rank == 2);
    CHECK(racl_tensor_shape(NULL, sizes, 2, &rank) == RACL_NULL_POINTER && rank == 0 && sizes[0] == 0 && sizes[1] == 0);
    memory_of_tensors(stream, buffers[0], tensors[0], shape);
    CHECK(racl_operator(stream, "aclnnNoSuchOperator", NULL, 0) == RACL_INVALID_ARGUMENT);
    CHECK(racl_buffer_read(buffers[0], sizeof one - 4, sizes, 8) == RACL_INVALID_ARGUMENT);

    racl_arg add[4] = {{.kind = RACL_ARG_TENSOR, .data = tensors[0]},
                       {.kind = RACL_ARG_TENSOR, .data = tensors[1]},
                       {.kind = RACL_ARG_SCALAR_FLOAT, .real = 2},
                       {.kind = RACL_ARG_TENSOR, .data = tensors[2]}};
    DO(racl_operator(stream, "aclnnAdd", add, 4));
    DO(racl_buffer_read(buffers[2], 0, sum, sizeof sum));
    for (int at = 0; at < 6; ++at) CHECK(sum[at] == one[at] + 2 * two[at]);

    /* What does not fit names the parameter. */
    CHECK(racl_operator(stream, "aclnnAdd", add, 3) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "takes 4 arguments") != NULL);
    CHECK(racl_operator(stream, "aclnnNoSuch", add, 4) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "aclnnNoSuch") != NULL);
    add[2].kind = RACL_ARG_TEXT;
    add[2].data = "2";
    CHECK(racl_operator(stream, "aclnnAdd", add, 4) == RACL_INVALID_ARGUMENT);
    CHECK(strstr(racl_last_error_message(), "alpha") != NULL);
    add[2].kind = 99;
    CHECK(racl_operator(stream, "aclnnAdd", add, 4) == RACL_INVALID_ARGUMENT);
    CHECK(racl_operator(stream, "aclnnAdd", NULL, 4) == RACL_NULL_POINTER);
    add[2].kind = RACL_ARG_INT;
    add[2].integer = 1;
    add[1].data = NULL;
    CHECK(racl_operator(stream, "aclnnAdd", add, 4) == RACL_NULL_POINTER);
    add[1].data = buffers[1];
    CHECK(racl_operator(stream, "aclnnAdd", add, 4) == RACL_WRONG_KIND);
    racl_capture *capture;
    racl_graph *none;
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_operator(stream, "aclnnAdd", add, 4) == RACL_WRONG_KIND);
    add[1].data = tensors[1];
    DO(racl_operator(stream, "aclnnAdd", add, 4));
    CHECK(racl_capture_end(capture, &none) == RACL_CAPTURE_INVALIDATED && none == NULL); /* it lacks an operator */
    CHECK(strstr(racl_last_error_message(), "racl_operator") != NULL);
    DO(racl_operator(stream, "aclnnAdd", add, 4));

    /* The columns of a matrix by strides, in a graph. */
    racl_tensor *column, *most;
    racl_buffer *place;
    size_t two_rows[1] = {2}, step[1] = {3}, alone[1] = {1};
    racl_tensor_layout layout = {
        .size = sizeof layout, .dtype = FLOAT, .rank = 1, .shape = two_rows, .strides = step, .offset = 1, .format = ND};
    DO(racl_tensor_new(buffers[0], &layout, &column));
    layout.offset = 3;
    racl_tensor *beyond;
    CHECK(racl_tensor_new(buffers[0], &layout, &beyond) == RACL_INVALID_ARGUMENT && beyond == NULL);
    layout.dtype = -5;
    CHECK(racl_tensor_new(buffers[0], &layout, &beyond) == RACL_INVALID_ARGUMENT);
    layout.rank = 1000;
    CHECK(racl_tensor_new(buffers[0], &layout, &beyond) == RACL_INVALID_ARGUMENT);
    DO(racl_buffer_new(context, 4, &place));
    most = tensor(place, FLOAT, 1, alone);
    int64_t dim = 0;
    racl_arg reduce[5] = {{.kind = RACL_ARG_TENSOR, .data = column},
                          {.kind = RACL_ARG_INTS, .data = &dim, .count = 1},
                          {.kind = RACL_ARG_BOOL, .integer = 1},
                          {.kind = RACL_ARG_TYPE, .integer = FLOAT},
                          {.kind = RACL_ARG_TENSOR, .data = most}};
    racl_graph *graph;
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    DO(racl_operator(stream, "aclnnReduceSum", reduce, 5));
    DO(racl_capture_end(capture, &graph));
    DO(racl_graph_launch(graph, stream));
    float result;
    DO(racl_buffer_read(place, 0, &result, sizeof result));
    CHECK(result == one[1] + one[4]);
    reduce[2].integer = 2;
    CHECK(racl_operator(stream, "aclnnReduceSum", reduce, 5) == RACL_INVALID_ARGUMENT);

    /* A list of tensors, and an operator that refuses its arguments. */
    racl_buffer *both;
    size_t four_rows[2] = {4, 3};
    DO(racl_buffer_new(context, 48, &both));
    racl_tensor *wide = tensor(both, FLOAT, 2, four_rows);
    racl_arg cat[3] = {{.kind = RACL_ARG_TENSORS, .data = tensors, .count = 2},
                       {.kind = RACL_ARG_INT, .integer = 0},
                       {.kind = RACL_ARG_TENSOR, .data = wide}};
    DO(racl_operator(stream, "aclnnCat", cat, 3));
    float rows[12];
    DO(racl_buffer_read(both, 0, rows, sizeof rows));
    CHECK(memcmp(rows, one, sizeof one) == 0 && memcmp(rows + 6, two, sizeof two) == 0);
    /* A count that is none is no room for as many. */
    for (int shift = 0; shift <= 32; shift += 32) {
        const size_t lie = (size_t)-1 >> shift;
        CHECK(racl_operator(stream, "aclnnCat", cat, lie) == RACL_INVALID_ARGUMENT);
        CHECK(racl_operator(stream, "aclnnNothing", cat, lie) == RACL_INVALID_ARGUMENT);
    }
    cat[1].integer = 7;
    CHECK(racl_operator(stream, "aclnnCat", cat, 3) == RACL_OPERATOR_ARGUMENT);
    CHECK(strstr(racl_last_error_call(), "aclnnCat") != NULL && racl_last_error_code() != 0);

    DO(racl_graph_free(graph));
    DO(racl_tensor_free(wide));
    DO(racl_tensor_free(most));
    DO(racl_tensor_free(column));
    DO(racl_buffer_free(both));
    DO(racl_buffer_free(place));
    for (int at = 0; at < 3; ++at) {
        DO(racl_buffer_free(buffers[at])); /* its tensor keeps the memory */
        DO(racl_tensor_free(tensors[at]));
    }
}

static int32_t nothing(void *user, const racl_stream *on) {
    (void)user, (void)on;
    return RACL_OK;
}

/* A graph lacks what has no place for its result. */
static void without_places(racl_context *context, racl_stream *stream) {
    racl_buffer *buffer;
    racl_graph *none = (racl_graph *)&none;
    racl_capture *capture;
    size_t sizes[2];
    DO(racl_buffer_new(context, 64, &buffer));
    for (int which = 0; which < 3; ++which) {
        DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
        DO(racl_stream_fill(stream, buffer, 1));
        if (which == 0) CHECK(racl_stream_task_group(stream, nothing, NULL, NULL) == RACL_NULL_POINTER);
        if (which == 1) CHECK(racl_stream_alloc(stream, 64, NULL) == RACL_NULL_POINTER);
        size_t *askew = (size_t *)(void *)((char *)sizes + 1);
        if (which == 2) CHECK(racl_stream_prefetch(stream, buffer, 0, 0, askew) == RACL_INVALID_ARGUMENT);
        CHECK(racl_capture_end(capture, &none) == RACL_CAPTURE_INVALIDATED && none == NULL);
    }
    /* What no stream has is wrong first, and results are cleared all the same. */
    racl_buffer *made = buffer;
    sizes[0] = 7;
    CHECK(racl_stream_alloc(NULL, 64, NULL) == RACL_NULL_POINTER);
    CHECK(racl_stream_alloc(NULL, 64, &made) == RACL_NULL_POINTER && made == NULL);
    CHECK(racl_stream_prefetch(NULL, buffer, 0, 0, &sizes[0]) == RACL_NULL_POINTER && sizes[0] == 0);
    DO(racl_stream_prefetch(stream, buffer, 0, 0, &sizes[0]));
    CHECK(sizes[0] == 64);
    /* A capture stays where its graph has no place. */
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    CHECK(racl_capture_end(capture, NULL) == RACL_NULL_POINTER);
    DO(racl_capture_end(capture, &none));
    DO(racl_graph_free(none));
    DO(racl_buffer_free(buffer));
}

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    DO(racl_library_open("mock", &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    memory(context, stream);
    host_memory(context, stream);
    lost_memory(context, stream);
    graphs(context, stream);
    operators(context, stream);
    without_places(context, stream);
    DO(racl_stream_close(stream));
    racl_memory_stats stats = {.size = sizeof stats};
    DO(racl_context_synchronize(context));
    DO(racl_context_memory_stats(context, &stats));
    CHECK(stats.allocated == 0);
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
