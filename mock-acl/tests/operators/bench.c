/* Costs of objects and operators alone, on a stand-in for the runtime: descriptors, phases and the heavier kernels. */
#include <time.h>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_permute.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_tanh.h"
#include "operators/support.h"

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best of several runs of STATEMENT, in seconds. */
#define TIME(RESULT, ROUNDS, STATEMENT)              \
    double RESULT = 1e9;                             \
    for (int round = 0; round < (ROUNDS); round++) { \
        const double start = now();                  \
        STATEMENT;                                   \
        const double took = now() - start;           \
        if (took < RESULT) RESULT = took;            \
    }

static sample random_sample(aclDataType dtype, const char *layout, int rank, const int64_t *dims) {
    sample s = sample_new(dtype, layout, rank, dims);
    sample_fill(&s, -2, 2);
    return s;
}

static void products(aclDataType dtype, const char *layout, int64_t m, int64_t n, int64_t k) {
    sample x = random_sample(dtype, "", DIMS(m, k));
    sample y = random_sample(dtype, layout, DIMS(k, n));
    sample out = sample_new(dtype, "", DIMS(m, n));
    TIME(t, 10, LAUNCH(aclnnMm, x.handle, y.handle, out.handle, 0))
    printf("mm %s%s %lldx%lldx%lld: %.1f GFLOP/s\n", dtype == ACL_FLOAT ? "f32" : "f16",
        layout[0] == 0 ? "" : " transposed", (long long)m, (long long)n, (long long)k,
        2e-9 * (double)(m * n * k) / t);
    sample_free(&x);
    sample_free(&y);
    sample_free(&out);
}

static void kernels(aclDataType dtype) {
    const char *name = dtype == ACL_FLOAT ? "f32" : "f16";
    aclScalar *one = scalar_int(1);
    aclIntArray *last = aclCreateIntArray((int64_t[]){384}, 1), *order = aclCreateIntArray((int64_t[]){1, 0,
        2}, 3);
    aclIntArray *first = aclCreateIntArray((int64_t[]){0}, 1);
    sample scores = random_sample(dtype, "", DIMS(12, 256, 256)), wide = random_sample(dtype, "", DIMS(256,
        1536));
    sample rows = random_sample(dtype, "", DIMS(256, 384)), row = random_sample(dtype, "", DIMS(384));
    sample heads = random_sample(dtype, "", DIMS(256, 12, 32)), turned = random_sample(dtype, "", DIMS(12,
        256, 32));
    sample bias = random_sample(dtype, "", DIMS(1536));
    TIME(softmax, 10, LAUNCH(aclnnSoftmax, scores.handle, -1, scores.handle))
    TIME(inner, 3, LAUNCH(aclnnSoftmax, scores.handle, 1, scores.handle))
    TIME(gelu, 10, LAUNCH(aclnnGelu, wide.handle, wide.handle))
    TIME(tanh, 10, LAUNCH(aclnnTanh, wide.handle, wide.handle))
    TIME(add, 10, LAUNCH(aclnnAdd, wide.handle, bias.handle, one, wide.handle))
    TIME(norm, 10,
        LAUNCH(aclnnLayerNorm, rows.handle, last, row.handle, row.handle, 1e-5, rows.handle, NULL, NULL))
    TIME(permute, 10, LAUNCH(aclnnPermute, heads.handle, order, turned.handle))
    TIME(sum, 10, LAUNCH(aclnnReduceSum, wide.handle, first, false, dtype, bias.handle))
    printf("%s us: softmax 12x256x256 %.0f (dim 1 %.0f), gelu 256x1536 %.0f, tanh %.0f, add bias %.0f, "
           "layer norm 256x384 %.0f, permute 256x12x32 %.0f, sum 256x1536 over rows %.0f\n",
        name, softmax * 1e6, inner * 1e6, gelu * 1e6, tanh * 1e6, add * 1e6, norm * 1e6, permute * 1e6,
        sum * 1e6);
    aclDestroyScalar(one);
    aclDestroyIntArray(last);
    aclDestroyIntArray(order);
    aclDestroyIntArray(first);
    sample *all[] = {&scores, &wide, &rows, &row, &heads, &turned, &bias};
    for (int i = 0; i < 7; i++) sample_free(all[i]);
}

static void tensor_round_trips(const int64_t *dims, void *memory) {
    for (int i = 0; i < 1000; i++) {
        aclDestroyTensor(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, memory));
    }
}

static void phases(const sample *s, aclScalar *one, bool launch) {
    for (int i = 0; i < 1000; i++) {
        uint64_t size;
        aclOpExecutor *executor;
        aclnnAddGetWorkspaceSize(s->handle, s->handle, one, s->handle, &size, &executor);
        if (launch) aclnnAdd(NULL, 0, executor, NULL);
        else aclDestroyAclOpExecutor(executor);
    }
}

static void descriptors(void) {
    aclScalar *one = scalar_int(1);
    sample s = random_sample(ACL_FLOAT, "", DIMS(2, 4));
    TIME(tensor, 20, tensor_round_trips(s.dims, s.memory))
    TIME(build, 20, phases(&s, one, false))
    double launch = 1e9, run = 1e9;
    for (int round = 0; round < 20; round++) {
        const double start = now();
        phases(&s, one, true);
        const double queued = now();
        stub_drain();
        launch = fmin(launch, queued - start);
        run = fmin(run, now() - queued);
    }
    printf("ns with the stand-in engine: tensor create + destroy %.0f, add phase 1 + drop %.0f, "
           "phase 1 + 2 %.0f, run of 8 elements %.0f\n", tensor * 1e6, build * 1e6, launch * 1e6, run * 1e6);
    sample_free(&s);
    aclDestroyScalar(one);
}

int main(void) {
    descriptors();
    products(ACL_FLOAT, "", 1000, 1000, 1000);
    products(ACL_FLOAT, "10", 1000, 1000, 1000);
    products(ACL_FLOAT16, "", 1000, 1000, 1000);
    products(ACL_FLOAT, "", 256, 1536, 384);
    products(ACL_FLOAT, "10", 256, 256, 32);
    products(ACL_FLOAT, "", 1, 384, 384);
    kernels(ACL_FLOAT);
    kernels(ACL_FLOAT16);
    return 0;
}
