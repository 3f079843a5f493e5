/* y = (a + b) * b for 8 numbers, three times with other numbers, in AscendCL alone: the program that the steps 1 to 3
 * move to libracl. */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mul.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int ret_ = (call);                                                                                             \
        if (ret_ != 0) {                                                                                               \
            const char *text_ = aclGetRecentErrMsg();                                                                  \
            fprintf(stderr, "%s: %d: %s\n", #call, ret_, text_ != NULL ? text_ : "");                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { COUNT = 8, SIZE = COUNT * sizeof(float) };

static aclTensor *tensor(void *memory) {
    int64_t shape[1] = {COUNT}, strides[1] = {1};
    return aclCreateTensor(shape, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 1, memory);
}

static void add(aclTensor *a, aclTensor *b, aclTensor *sum, aclrtStream stream) {
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    void *workspace = NULL;
    CHECK(aclnnAddGetWorkspaceSize(a, b, alpha, sum, &size, &executor));
    if (size > 0) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnAdd(workspace, size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream)); /* the workspace must outlive the operator */
    if (workspace != NULL) CHECK(aclrtFree(workspace));
    CHECK(aclDestroyScalar(alpha));
}

static void mul(aclTensor *a, aclTensor *b, aclTensor *product, aclrtStream stream) {
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    void *workspace = NULL;
    CHECK(aclnnMulGetWorkspaceSize(a, b, product, &size, &executor));
    if (size > 0) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnMul(workspace, size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    if (workspace != NULL) CHECK(aclrtFree(workspace));
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
    aclTensor *ta = tensor(a), *tb = tensor(b), *tsum = tensor(sum), *ty = tensor(y);

    float host_a[COUNT], host_b[COUNT], result[COUNT];
    for (int round = 0; round < 3; ++round) {
        for (int at = 0; at < COUNT; ++at) {
            host_a[at] = (float)(at + round);
            host_b[at] = 2;
        }
        CHECK(aclrtMemcpy(a, SIZE, host_a, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclrtMemcpy(b, SIZE, host_b, SIZE, ACL_MEMCPY_HOST_TO_DEVICE));
        add(ta, tb, tsum, stream);
        mul(tsum, tb, ty, stream);
        CHECK(aclrtMemcpy(result, SIZE, y, SIZE, ACL_MEMCPY_DEVICE_TO_HOST));
        for (int at = 0; at < COUNT; ++at) printf("%g%c", (double)result[at], at + 1 < COUNT ? ' ' : '\n');
    }

    CHECK(aclDestroyTensor(ta));
    CHECK(aclDestroyTensor(tb));
    CHECK(aclDestroyTensor(tsum));
    CHECK(aclDestroyTensor(ty));
    CHECK(aclrtFree(a));
    CHECK(aclrtFree(b));
    CHECK(aclrtFree(sum));
    CHECK(aclrtFree(y));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
