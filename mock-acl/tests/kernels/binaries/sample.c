/* Part of racl (mock-acl). The kernels of the tests, as a program for the mock would have them. */
#include <string.h>
#include "mock_acl_kernel.h"

typedef struct add_args {
    uint64_t a, b, out, count;
} add_args;

/* out = a + b of floats; every block has each blocks-th element. */
static int add(mock_acl_block *b) {
    const add_args *p = b->args;
    const uint64_t bytes = p->count * sizeof(float);
    const float *x = b->to_host(b, p->a, bytes), *y = b->to_host(b, p->b, bytes);
    float *out = b->to_host(b, p->out, bytes);
    if (x == NULL || y == NULL || out == NULL) return 1;
    for (uint64_t i = b->block; i < p->count; i += b->blocks) out[i] = x[i] + y[i];
    return 0;
}

typedef struct scale_args {
    uint64_t x;
    float factor;
    uint32_t count;
} scale_args;

static int scale(mock_acl_block *b) {
    const scale_args *p = b->args;
    float *x = b->to_host(b, p->x, p->count * sizeof *x);
    if (x == NULL) return 1;
    for (uint32_t i = b->block; i < p->count; i += b->blocks) x[i] *= p->factor;
    return 0;
}

typedef struct matrix_shape {
    uint32_t rows, inner, columns;
} matrix_shape;

typedef struct matrix_args {
    uint64_t a, b, out, shape; /* the shape lies behind a placeholder */
} matrix_args;

static int matrix(mock_acl_block *b) {
    const matrix_args *p = b->args;
    const matrix_shape *s = b->to_host(b, p->shape, sizeof *s);
    if (s == NULL) return 1;
    const float *x = b->to_host(b, p->a, (uint64_t)s->rows * s->inner * sizeof *x);
    const float *y = b->to_host(b, p->b, (uint64_t)s->inner * s->columns * sizeof *y);
    float *out = b->to_host(b, p->out, (uint64_t)s->rows * s->columns * sizeof *out);
    if (x == NULL || y == NULL || out == NULL) return 1;
    for (uint32_t r = b->block; r < s->rows; r += b->blocks)
        for (uint32_t c = 0; c < s->columns; c++) {
            float sum = 0;
            for (uint32_t i = 0; i < s->inner; i++) sum += x[r * s->inner + i] * y[i * s->columns + c];
            out[r * s->columns + c] = sum;
        }
    return 0;
}

#define LATE 600000

/* Returns what the first parameter says; LATE: it takes two seconds. */
static int fail(mock_acl_block *b) {
    int32_t code = 0;
    memcpy(&code, b->args, sizeof code);
    if (code != LATE) return code;
    b->spend(b, 2000000000);
    return 0;
}

/* Writes one byte, wherever it is told, and does not look at the answer of to_host. */
static int poke(mock_acl_block *b) {
    uint64_t address = 0;
    memcpy(&address, b->args, sizeof address);
    char *p = b->to_host(b, address, 1);
    if (p != NULL) *p = 7;
    return 0;
}

/* Writes what the launch was like. */
static int report(mock_acl_block *b) {
    uint64_t address = 0;
    memcpy(&address, b->args, sizeof address);
    uint64_t *out = b->to_host(b, address, 8 * sizeof *out);
    if (out == NULL) return 1;
    const uint64_t values[8] = {b->block, b->blocks, b->args_size, b->cube_cores, b->vector_cores, b->batch,
        b->offset, b->dynamic_ubuf};
    memcpy(out, values, sizeof values);
    return 0;
}

/* Takes as many nanoseconds as the parameter says. */
static int slow(mock_acl_block *b) {
    uint64_t ns = 0;
    memcpy(&ns, b->args, sizeof ns);
    b->spend(b, ns);
    return 0;
}

/* So that the file needs a version of another library. */
size_t (*volatile const mock_needs_another)(const char *text) = strlen;

/* Counts in a variable of the binary. */
static int count(mock_acl_block *b) {
    int32_t *n = b->to_host(b, b->variable(b, "counter"), sizeof *n);
    if (n == NULL || b->variable(b, "nothing") != 0) return 1;
    ++*n;
    return 0;
}

/* Its parameter is called when the code is unloaded. */
static void (*last_call)(void);
static int at_end(mock_acl_block *b) {
    memcpy(&last_call, b->args, sizeof last_call);
    return 0;
}
__attribute__((destructor)) static void end(void) {
    if (last_call != NULL) last_call();
}

static const uint32_t three_and_count[] = {8, 8, 8, 8};
static const uint32_t scale_sizes[] = {8, 4, 4};
static const uint32_t one_address[] = {8};
static const uint32_t one_int[] = {4};
static const mock_acl_kernel kernels[] = {
    {.name = "add", .run = add, .entry = 11, .kind = MOCK_ACL_KERNEL_VECTOR, .params = three_and_count,
        .param_count = 4},
    {.name = "scale", .run = scale, .entry = 12, .kind = MOCK_ACL_KERNEL_VECTOR,
        .param_count = MOCK_ACL_KERNEL_NO_PARAMS},
    {.name = "scale_described", .run = scale, .entry = 13, .kind = MOCK_ACL_KERNEL_VECTOR,
        .params = scale_sizes, .param_count = 3},
    {.name = "matrix", .run = matrix, .entry = 14, .kind = MOCK_ACL_KERNEL_CUBE, .params = three_and_count,
        .param_count = 4},
    {.name = "fail", .run = fail, .kind = MOCK_ACL_KERNEL_VECTOR, .params = one_int, .param_count = 1},
    {.name = "fail_any", .run = fail, .kind = MOCK_ACL_KERNEL_AICORE, .params = one_int, .param_count = 1},
    {.name = "fail_cube", .run = fail, .kind = MOCK_ACL_KERNEL_CUBE, .params = one_int, .param_count = 1},
    {.name = "fail_mix", .run = fail, .kind = MOCK_ACL_KERNEL_MIX, .params = one_int, .param_count = 1},
    {.name = "fail_mix_0_1", .run = fail, .kind = MOCK_ACL_KERNEL_MIX, .vector_ratio = 1, .params = one_int,
        .param_count = 1},
    {.name = "poke", .run = poke, .kind = MOCK_ACL_KERNEL_VECTOR, .params = one_address, .param_count = 1},
    {.name = "report", .run = report, .kind = MOCK_ACL_KERNEL_MIX, .params = one_address, .param_count = 1},
    {.name = "report_1_1", .run = report, .kind = MOCK_ACL_KERNEL_MIX, .cube_ratio = 1, .vector_ratio = 1,
        .batch = 1, .params = one_address, .param_count = 1},
    {.name = "slow", .run = slow, .kind = MOCK_ACL_KERNEL_AICORE, .params = one_address, .param_count = 1},
    {.name = "at_end", .run = at_end, .kind = MOCK_ACL_KERNEL_VECTOR, .params = one_address,
        .param_count = 1},
    {.name = "count", .run = count, .kind = MOCK_ACL_KERNEL_VECTOR, .param_count = 0},
    {.name = "cpu_poke", .run = poke, .kind = MOCK_ACL_KERNEL_AICPU,
        .param_count = MOCK_ACL_KERNEL_NO_PARAMS},
    {.name = "cpu_fail", .run = fail, .kind = MOCK_ACL_KERNEL_AICPU,
        .param_count = MOCK_ACL_KERNEL_NO_PARAMS},
    {.name = "cpu_slow", .run = slow, .kind = MOCK_ACL_KERNEL_AICPU,
        .param_count = MOCK_ACL_KERNEL_NO_PARAMS},
};
static const int32_t counter_start = 40;
static const mock_acl_variable variables[] = {
    {.name = "counter", .size = sizeof counter_start, .initial = &counter_start},
    {.name = "table", .size = 1000, .initial = NULL},
};
MOCK_ACL_KERNELS(kernels, sizeof kernels / sizeof kernels[0], variables, 2);
