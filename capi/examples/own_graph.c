/* y = (a + b) * b, as in the steps of adopt, of a program that captures its graph itself, with calls of AscendCL: racl
 * launches the graph and orders it with its own work, and leaves it to the program. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"
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

static void *memory(size_t size) {
    void *made = NULL;
    if (size > 0) CHECK(aclrtMalloc(&made, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return made;
}

static aclTensor *tensor(void *of) {
    int64_t shape[1] = {COUNT}, strides[1] = {1};
    return aclCreateTensor(shape, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 1, of);
}

/* Two operators, whose workspaces the graph uses at each launch. */
static aclmdlRI captured(aclTensor *a, aclTensor *b, aclTensor *sum, aclTensor *y, void *workspaces[2]) {
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    uint64_t sizes[2] = {0, 0};
    aclOpExecutor *add = NULL, *mul = NULL;
    aclrtStream stream = NULL;
    aclmdlRI graph = NULL;
    CHECK(aclnnAddGetWorkspaceSize(a, b, alpha, sum, &sizes[0], &add));
    CHECK(aclnnMulGetWorkspaceSize(sum, b, y, &sizes[1], &mul));
    for (int at = 0; at < 2; ++at) workspaces[at] = memory(sizes[at]);
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(aclnnAdd(workspaces[0], sizes[0], add, stream));
    CHECK(aclnnMul(workspaces[1], sizes[1], mul, stream));
    CHECK(aclmdlRICaptureEnd(stream, &graph));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclDestroyScalar(alpha));
    return graph;
}

int main(void) {
    void *places[4], *workspaces[2];
    aclTensor *tensors[4];
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    for (int at = 0; at < 4; ++at) {
        places[at] = memory(SIZE);
        tensors[at] = tensor(places[at]);
    }
    aclmdlRI own = captured(tensors[0], tensors[1], tensors[2], tensors[3], workspaces);

    racl_library *library;
    racl_context *context;
    racl_stream *stream;
    racl_graph *graph;
    racl_buffer *buffers[4];
    TRY(racl_library_open(NULL, &library));
    TRY(racl_context_primary(library, 0, &context));
    TRY(racl_stream_new(context, NULL, &stream));
    TRY(racl_graph_ref(context, own, &graph));
    for (int at = 0; at < 4; ++at) TRY(racl_buffer_ref(context, places[at], SIZE, &buffers[at]));
    float a[COUNT], b[COUNT], y[COUNT];
    for (int round = 0; round < 3; ++round) {
        for (int at = 0; at < COUNT; ++at) {
            a[at] = (float)(at + round);
            b[at] = 2;
        }
        TRY(racl_buffer_write(buffers[0], 0, a, SIZE));
        TRY(racl_buffer_write(buffers[1], 0, b, SIZE));
        TRY(racl_graph_launch(graph, stream));
        TRY(racl_graph_wait(graph)); /* racl does not know what memory it uses */
        TRY(racl_buffer_read(buffers[3], 0, y, SIZE));
        for (int at = 0; at < COUNT; ++at) printf("%g%c", (double)y[at], at + 1 < COUNT ? ' ' : '\n');
    }
    for (int at = 0; at < 4; ++at) TRY(racl_buffer_free(buffers[at]));
    TRY(racl_graph_free(graph)); /* it is the program's still */
    TRY(racl_stream_close(stream));
    TRY(racl_context_close(context));
    TRY(racl_library_close(library));

    CHECK(aclmdlRIDestroy(own));
    for (int at = 0; at < 2; ++at)
        if (workspaces[at] != NULL) CHECK(aclrtFree(workspaces[at]));
    for (int at = 0; at < 4; ++at) {
        CHECK(aclDestroyTensor(tensors[at]));
        CHECK(aclrtFree(places[at]));
    }
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
