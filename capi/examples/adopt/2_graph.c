/* Step 2: memory from racl's allocator, and the two operators recorded once and replayed with one call a round. The
 * stream, the device and the initialisation are still the program's own. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "racl.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int ret_ = (call);                                                                                             \
        if (ret_ != 0) {                                                                                               \
            const char *text_ = aclGetRecentErrMsg();                                                                  \
            fprintf(stderr, "%s: %d: %s\n", #call, ret_, text_ != NULL ? text_ : "");                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int32_t status_ = (call);                                                                                      \
        if (status_ != RACL_OK) {                                                                                      \
            fprintf(stderr, "%s: %s: %s\n", #call, racl_status_name(status_), racl_last_error_message());              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { COUNT = 8, SIZE = COUNT * sizeof(float) };

static racl_tensor *tensor(const racl_buffer *buffer) {
    const size_t shape[1] = {COUNT};
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = ACL_FLOAT, .rank = 1, .shape = shape, .format = ACL_FORMAT_ND};
    racl_tensor *made;
    TRY(racl_tensor_new(buffer, &layout, &made));
    return made;
}

int main(void) {
    aclrtStream stream = NULL;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));

    racl_library *library;
    racl_context *context;
    racl_stream *on;
    racl_buffer *a, *b, *sum, *y;
    TRY(racl_library_open(NULL, &library));
    TRY(racl_context_primary(library, 0, &context));
    TRY(racl_stream_ref(context, stream, &on));
    TRY(racl_buffer_new(context, SIZE, &a));
    TRY(racl_buffer_new(context, SIZE, &b));
    TRY(racl_buffer_new(context, SIZE, &sum));
    TRY(racl_buffer_new(context, SIZE, &y));
    racl_tensor *ta = tensor(a), *tb = tensor(b), *tsum = tensor(sum), *ty = tensor(y);
    const racl_arg add[4] = {{.kind = RACL_ARG_TENSOR, .data = ta},
                             {.kind = RACL_ARG_TENSOR, .data = tb},
                             {.kind = RACL_ARG_SCALAR_FLOAT, .real = 1},
                             {.kind = RACL_ARG_TENSOR, .data = tsum}};
    const racl_arg mul[3] = {{.kind = RACL_ARG_TENSOR, .data = tsum},
                             {.kind = RACL_ARG_TENSOR, .data = tb},
                             {.kind = RACL_ARG_TENSOR, .data = ty}};
    racl_capture *capture;
    racl_graph *graph;
    TRY(racl_capture_begin(on, RACL_CAPTURE_THREAD_LOCAL, &capture));
    TRY(racl_operator(on, "aclnnAdd", add, 4));
    TRY(racl_operator(on, "aclnnMul", mul, 3));
    TRY(racl_capture_end(capture, &graph));

    float host_a[COUNT], host_b[COUNT], result[COUNT];
    for (int round = 0; round < 3; ++round) {
        for (int at = 0; at < COUNT; ++at) {
            host_a[at] = (float)(at + round);
            host_b[at] = 2;
        }
        TRY(racl_buffer_write(a, 0, host_a, SIZE));
        TRY(racl_buffer_write(b, 0, host_b, SIZE));
        TRY(racl_graph_launch(graph, on));
        TRY(racl_buffer_read(y, 0, result, SIZE)); /* waits for the launch */
        for (int at = 0; at < COUNT; ++at) printf("%g%c", (double)result[at], at + 1 < COUNT ? ' ' : '\n');
    }

    TRY(racl_graph_close(graph));
    TRY(racl_tensor_free(ta));
    TRY(racl_tensor_free(tb));
    TRY(racl_tensor_free(tsum));
    TRY(racl_tensor_free(ty));
    TRY(racl_buffer_close(a));
    TRY(racl_buffer_close(b));
    TRY(racl_buffer_close(sum));
    TRY(racl_buffer_close(y));
    TRY(racl_stream_free(on));
    TRY(racl_context_close(context));
    TRY(racl_library_close(library));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
