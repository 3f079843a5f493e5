/* A task gives the same bits on every run, on every thread, beside any other task. */
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_softmax.h"
#include "operators/support.h"

#define COPIES 4

static sample filled(aclDataType dtype, const char *layout, int rank, const int64_t *dims) {
    sample s = sample_new(dtype, layout, rank, dims);
    sample_fill(&s, -2, 2);
    return s;
}

/* Queues an operator once and leaves its workspace in `workspace`. */
#define QUEUE(WORKSPACE, NAME, ...)                                                            \
    do {                                                                                       \
        uint64_t size;                                                                         \
        aclOpExecutor *executor;                                                               \
        CHECK(NAME##GetWorkspaceSize(__VA_ARGS__, &size, &executor) == 0);                     \
        (WORKSPACE) = device_alloc(size + 1);                                                  \
        CHECK(NAME(WORKSPACE, size, executor, NULL) == 0);                                     \
    } while (0)

/* One operator each on shared inputs, with outputs and workspaces of their own. */
typedef struct work {
    sample product, normed, gates, chances, sums, total;
    void *workspaces[6];
} work;

static void queue_work(work *w, const sample *x, const sample *y, aclIntArray *last, aclIntArray *first,
    aclScalar *one) {
    w->product = sample_new(ACL_FLOAT16, "", DIMS(50, 70));
    w->normed = sample_new(ACL_FLOAT16, "", DIMS(50, 300));
    w->gates = sample_new(ACL_FLOAT16, "", DIMS(50, 300));
    w->chances = sample_new(ACL_FLOAT16, "", DIMS(50, 300));
    w->sums = sample_new(ACL_FLOAT16, "", DIMS(300));
    w->total = sample_new(ACL_FLOAT16, "10", DIMS(50, 300));
    QUEUE(w->workspaces[0], aclnnMatmul, x->handle, y->handle, w->product.handle, 0);
    QUEUE(w->workspaces[1], aclnnLayerNorm, x->handle, last, NULL, NULL, 1e-5, w->normed.handle, NULL, NULL);
    QUEUE(w->workspaces[2], aclnnGelu, x->handle, w->gates.handle);
    QUEUE(w->workspaces[3], aclnnSoftmax, x->handle, 0, w->chances.handle);
    QUEUE(w->workspaces[4], aclnnReduceSum, x->handle, first, false, ACL_FLOAT16, w->sums.handle);
    QUEUE(w->workspaces[5], aclnnAdd, x->handle, x->handle, one, w->total.handle);
}

static void check_same(const sample *a, const sample *b) {
    CHECK(memcmp(a->memory, b->memory, (size_t)a->count * 2) == 0);
}

static void release(work *w) {
    sample *all[] = {&w->product, &w->normed, &w->gates, &w->chances, &w->sums, &w->total};
    for (int i = 0; i < 6; i++) {
        sample_free(all[i]);
        device_free(w->workspaces[i]);
    }
}

int main(void) {
    sample x = filled(ACL_FLOAT16, "", DIMS(50, 300));
    sample y = filled(ACL_FLOAT16, "10", DIMS(300, 70));
    aclIntArray *last = aclCreateIntArray((int64_t[]){300}, 1), *first = aclCreateIntArray((int64_t[]){0}, 1);
    aclScalar *one = scalar_int(1);
    work serial, parallel[COPIES];
    queue_work(&serial, &x, &y, last, first, one);
    CHECK(stub_drain() == 0);
    for (int i = 0; i < COPIES; i++) queue_work(&parallel[i], &x, &y, last, first, one);
    CHECK(stub_drain_threads(5) == 0);
    for (int i = 0; i < COPIES; i++) {
        check_same(&serial.product, &parallel[i].product);
        check_same(&serial.normed, &parallel[i].normed);
        check_same(&serial.gates, &parallel[i].gates);
        check_same(&serial.chances, &parallel[i].chances);
        check_same(&serial.sums, &parallel[i].sums);
        check_same(&serial.total, &parallel[i].total);
        release(&parallel[i]);
    }
    release(&serial);
    sample_free(&x);
    sample_free(&y);
    aclDestroyIntArray(last);
    aclDestroyIntArray(first);
    aclDestroyScalar(one);
    for (int kind = 0; kind < MOCK_OBJECT_KINDS; kind++) CHECK(stub_live((mock_object_kind)kind) == 0);
    puts("op_threads: ok");
    return 0;
}
