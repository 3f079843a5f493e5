/* Speeds of operators as ratios to what the same core does in the same run: products to OpenBLAS, the rest to
 * memcpy. Lines of tab-separated name, value, unit, target, met or missed. Each figure is the best of several
 * repetitions, which alternate with those of what it is compared with, in time of the processor: other programs
 * may use the machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_softmax.h"
#include "objects/objects.h"
#include "operators/support.h"

#define ROUNDS 12
#define SIDE 1024
#define WIDE 4096
#define ADDED (16 << 20)

typedef void (*sgemm)(
    int order, int turn_a, int turn_b, int m, int n, int k, float alpha, const float *a, int lda,
    const float *b, int ldb, float beta, float *c, int ldc);

static int missed;

/* All of it runs on this thread. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void figure(const char *name, double value, const char *unit, double target) {
    const bool met = value >= target;
    if (!met) missed = 1;
    printf("%s\t%.3f\t%s\t", name, value, unit);
    if (target > 0) printf("at least %g\t%s\n", target, met ? "met" : "missed");
    else printf("none\tmet\n");
    fflush(stdout);
}

/* The least seconds that STATEMENT took so far. */
#define BEST(LEAST, STATEMENT)                  \
    {                                           \
        const double start = now();             \
        STATEMENT;                              \
        const double took = now() - start;      \
        if (took < (LEAST)) (LEAST) = took;     \
    }

typedef struct product {
    sample x, y, out;
} product;

static product make_product(aclDataType dtype, const char *layout, int64_t m, int64_t n, int64_t k) {
    product p = {sample_new(dtype, "", DIMS(m, k)), sample_new(dtype, layout, DIMS(k, n)),
        sample_new(dtype, "", DIMS(m, n))};
    sample_fill(&p.x, -1, 1);
    sample_fill(&p.y, -1, 1);
    return p;
}

static void free_product(product *p) {
    sample_free(&p->x);
    sample_free(&p->y);
    sample_free(&p->out);
}

static double product_seconds(aclDataType dtype, const char *layout, int rounds) {
    product p = make_product(dtype, layout, SIDE, SIDE, SIDE);
    double best = 1e9;
    for (int i = 0; i < rounds; i++) BEST(best, LAUNCH(aclnnMm, p.x.handle, p.y.handle, p.out.handle, 0))
    free_product(&p);
    return best;
}

static double gigaflops(double seconds) {
    return 2e-9 * SIDE * SIDE * SIDE / seconds;
}

/* A process chooses its instructions once, hence one for each kind. */
static void products_of(mock_isa isa) {
    char name[64];
    int ends[2];
    double seconds = 0;
    if (!mock_isa_available(isa) || pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
        setenv("MOCK_ACL_ISA", mock_isa_name(isa), 1);
        seconds = product_seconds(ACL_FLOAT, "", ROUNDS / 2);
        _exit(write(ends[1], &seconds, sizeof seconds) != sizeof seconds);
    }
    close(ends[1]);
    const bool read_it = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (!read_it) return;
    snprintf(name, sizeof name, "matmul f32 1024^3, %s", mock_isa_name(isa));
    figure(name, gigaflops(seconds), "GFLOP/s", 0);
}

static void against_openblas(void) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    sgemm other = NULL;
    if (library != NULL) *(void **)&other = dlsym(library, "cblas_sgemm");
    if (other == NULL) {
        puts("# no OpenBLAS to compare products with: apt-get install libopenblas0-pthread");
        return;
    }
    product p = make_product(ACL_FLOAT, "", SIDE, SIDE, SIDE);
    float *theirs = malloc(sizeof(float) * SIDE * SIDE);
    double mine = 1e9, its = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        BEST(mine, LAUNCH(aclnnMm, p.x.handle, p.y.handle, p.out.handle, 0))
        BEST(its, other(101, 111, 111, SIDE, SIDE, SIDE, 1, (const float *)p.x.memory, SIDE,
                 (const float *)p.y.memory, SIDE, 0, theirs, SIDE))
    }
    for (int64_t i = 0; i < p.out.count; i += 997) CHECK(fabs(sample_get(&p.out, i) - theirs[i]) < 1e-2);
    figure("matmul f32 1024^3, OpenBLAS on one core", gigaflops(its), "GFLOP/s", 0);
    figure("matmul f32 1024^3 / OpenBLAS on one core", its / mine, "times", 0.35);
    free(theirs);
    free_product(&p);
}

/* Bytes that were read and written in a second by memcpy of blocks that do not fit into caches; a fresh
 * best. */
static double copy_rate(char *to, const char *from, size_t size, double *best) {
    BEST(*best, memcpy(to, from, size))
    return 2 * (double)size / *best;
}

static void one_row(aclDataType dtype, const char *layout, const char *name) {
    const size_t block = sizeof(float) * ADDED;
    product p = make_product(dtype, layout, 1, WIDE, WIDE);
    char *from = malloc(block), *to = malloc(block);
    memset(from, 1, block);
    memset(to, 1, block);
    double best = 1e9, copied = 1e9, rate = 0;
    for (int i = 0; i < ROUNDS; i++) {
        BEST(best, LAUNCH(aclnnMm, p.x.handle, p.y.handle, p.out.handle, 0))
        rate = copy_rate(to, from, block, &copied);
    }
    const double size = dtype == ACL_FLOAT ? 4 : 2;
    figure(name, size * WIDE * WIDE / best / rate, "times", 0);
    free(from);
    free(to);
    free_product(&p);
}

static void added(void) {
    const size_t block = sizeof(float) * ADDED;
    sample x = sample_new(ACL_FLOAT, "", DIMS(ADDED)), y = sample_new(ACL_FLOAT, "", DIMS(ADDED));
    sample out = sample_new(ACL_FLOAT, "", DIMS(ADDED));
    aclScalar *one = scalar_int(1);
    for (int64_t i = 0; i < ADDED; i++) ((float *)(void *)x.memory)[i] = ((float *)(void *)y.memory)[i] = 1;
    double best = 1e9, copied = 1e9, rate = 0;
    for (int i = 0; i < ROUNDS; i++) {
        BEST(best, LAUNCH(aclnnAdd, x.handle, y.handle, one, out.handle))
        rate = copy_rate(out.memory, x.memory, block, &copied);
    }
    figure("memcpy of 64 MiB, read and written", rate * 1e-9, "GB/s", 0);
    figure("add of 16 Mi f32 / memcpy", 3 * (double)block / best / rate, "times", 0.6);
    aclDestroyScalar(one);
    sample_free(&x);
    sample_free(&y);
    sample_free(&out);
}

static void lines(void) {
    sample x = sample_new(ACL_FLOAT, "", DIMS(SIDE, WIDE)), out = sample_new(ACL_FLOAT, "", DIMS(SIDE, WIDE));
    aclIntArray *last = aclCreateIntArray((int64_t[]){WIDE}, 1);
    sample_fill(&x, -4, 4);
    double soft = 1e9, norm = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        BEST(soft, LAUNCH(aclnnSoftmax, x.handle, -1, out.handle))
        BEST(norm, LAUNCH(aclnnLayerNorm, x.handle, last, NULL, NULL, 1e-5, out.handle, NULL, NULL))
    }
    const double bytes = 2.0 * sizeof(float) * SIDE * WIDE;
    figure("softmax of 1024 lines of 4096 f32, read and written", bytes / soft * 1e-9, "GB/s", 0);
    figure("layer norm of 1024 lines of 4096 f32, read and written", bytes / norm * 1e-9, "GB/s", 0);
    aclDestroyIntArray(last);
    sample_free(&x);
    sample_free(&out);
}

int main(void) {
    for (mock_isa isa = 0; isa < MOCK_ISAS; isa++) products_of(isa);
    against_openblas();
    figure("matmul f32 1024^3, right side transposed",
        gigaflops(product_seconds(ACL_FLOAT, "10", ROUNDS / 2)), "GFLOP/s", 0);
    figure("matmul f16 1024^3", gigaflops(product_seconds(ACL_FLOAT16, "", ROUNDS / 2)), "GFLOP/s", 0);
    figure("matmul bf16 1024^3", gigaflops(product_seconds(ACL_BF16, "", ROUNDS / 2)), "GFLOP/s", 0);
    one_row(ACL_FLOAT, "", "one row by 4096 x 4096 f32, bytes of the matrix / memcpy");
    one_row(ACL_FLOAT, "10", "one row by 4096 x 4096 f32 transposed, bytes of the matrix / memcpy");
    one_row(ACL_FLOAT16, "", "one row by 4096 x 4096 f16, bytes of the matrix / memcpy");
    one_row(ACL_FLOAT16, "10", "one row by 4096 x 4096 f16 transposed, bytes of the matrix / memcpy");
    added();
    lines();
    return missed;
}
