/* Records an operator on a stream and replays them. RACL_LIBRARY chooses the library; "mock" needs no card. */
#include <stdio.h>
#include <stdlib.h>

#include <racl.h>

static void check(int32_t status) {
    if (status != RACL_OK) {
        fprintf(stderr, "%s: %s\n", racl_status_name(status), racl_last_error_message());
        exit(1);
    }
}

int main(void) {
    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    check(racl_library_open(NULL, &library));
    check(racl_context_primary(library, 0, &context));
    check(racl_stream_new(context, NULL, &stream));

    float numbers[4] = {1, -2, 3, -4}, results[4];
    size_t shape[1] = {4};
    racl_tensor_layout layout = {
        .size = sizeof layout, .dtype = RACL_TYPE_FLOAT, .rank = 1, .shape = shape, .format = RACL_FORMAT_ND};
    racl_buffer *from, *to;
    racl_tensor *x, *y;
    check(racl_buffer_new(context, sizeof numbers, &from));
    check(racl_buffer_new(context, sizeof numbers, &to));
    check(racl_buffer_write(from, 0, numbers, sizeof numbers));
    check(racl_tensor_new(from, &layout, &x));
    check(racl_tensor_new(to, &layout, &y));

    racl_arg args[2] = {{.kind = RACL_ARG_TENSOR, .data = x}, {.kind = RACL_ARG_TENSOR, .data = y}};
    racl_capture *capture;
    racl_graph *graph;
    check(racl_capture_begin(stream, RACL_CAPTURE_THREAD_LOCAL, &capture));
    check(racl_operator(stream, "aclnnAbs", args, 2));
    check(racl_capture_end(capture, &graph));
    check(racl_graph_launch(graph, stream));
    check(racl_buffer_read(to, 0, results, sizeof results)); /* waits for what writes the buffer */
    printf("%g %g %g %g\n", (double)results[0], (double)results[1], (double)results[2], (double)results[3]);

    check(racl_graph_close(graph));
    check(racl_tensor_free(x));
    check(racl_tensor_free(y));
    check(racl_buffer_close(from));
    check(racl_buffer_close(to));
    check(racl_stream_close(stream));
    check(racl_context_close(context));
    check(racl_library_close(library));
    return 0;
}
