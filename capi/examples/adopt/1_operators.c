/* Step 1: operators through libracl, on the stream and in the memory of the program. No workspace, no executor, no
 * wait after each operator; everything else is as it was. RACL_LIBRARY names the library that the program is bound to. */
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

static racl_tensor *tensor(racl_context *context, void *memory) {
    const size_t shape[1] = {COUNT};
    racl_tensor_layout layout = {.size = sizeof layout, .dtype = ACL_FLOAT, .rank = 1, .shape = shape, .format = ACL_FORMAT_ND};
    racl_buffer *buffer;
    racl_tensor *made;
    TRY(racl_buffer_ref(context, memory, SIZE, &buffer));
    TRY(racl_tensor_new(buffer, &layout, &made));
    TRY(racl_buffer_free(buffer)); /* the tensor keeps it */
    return made;
}

int main(void) {
    aclrtStream stream = NULL;
    void *a = NULL, *b = NULL, *sum = NULL, *y = NULL;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&a, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&b, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&sum, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&y, SIZE, ACL_MEM_MALLOC_HUGE_FIRST));

    racl_library *library;
    racl_context *context;
    racl_stream *on;
    TRY(racl_library_open(NULL, &library));
    TRY(racl_context_primary(library, 0, &context));
    TRY(racl_stream_ref(context, stream, &on));
    racl_tensor *ta = tensor(context, a), *tb = tensor(context, b);
    racl_tensor *tsum = tensor(context, sum), *ty = tensor(context, y);
    const racl_arg add[4] = {{.kind = RACL_ARG_TENSOR, .data = ta},
                             {.kind = RACL_ARG_TENSOR, .data = tb},
                             {.kind = RACL_ARG_SCALAR_FLOAT, .real = 1},
                             {.kind = RACL_ARG_TENSOR, .data = tsum}};
    const racl_arg mul[3] = {{.kind = RACL_ARG_TENSOR, .data = tsum},
                             {.kind = RACL_ARG_TENSOR, .data = tb},
                             {.kind = RACL_ARG_TENSOR, .data = ty}};

    float host_a[COUNT], host_b[COUNT], result[COUNT];
    for (int round = 0; round < 3; ++round) {
        for (int at = 0; at < COUNT; ++at) {
            host_a[at] = (float)(at + round);
            host_b[at] = 2;
        }
        CHECK(aclrtMemcpy(a, SIZE, host_a, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclrtMemcpy(b, SIZE, host_b, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
        TRY(racl_operator(on, "aclnnAdd", add, 4));
        TRY(racl_operator(on, "aclnnMul", mul, 3));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtMemcpy(result, SIZE, y, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
        for (int at = 0; at < COUNT; ++at) printf("%g%c", (double)result[at], at + 1 < COUNT ? ' ' : '\n');
    }

    TRY(racl_tensor_free(ta));
    TRY(racl_tensor_free(tb));
    TRY(racl_tensor_free(tsum));
    TRY(racl_tensor_free(ty));
    TRY(racl_stream_free(on));
    TRY(racl_context_close(context));
    TRY(racl_library_close(library));
    CHECK(aclrtFree(a));
    CHECK(aclrtFree(b));
    CHECK(aclrtFree(sum));
    CHECK(aclrtFree(y));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
