/* y = a * x + y as a kernel for the mock. Blocks have ranges of elements, as in axpy.ascend.cpp beside it.
 *
 *     cc -std=c11 -shared -fPIC -O2 -Imock-acl/include examples/kernels/axpy.c -o axpy.o
 *
 * Arguments that are given one by one start at multiples of 8 bytes. */
#include "mock_acl_kernel.h"

#define EVEN 8u /* elements of 32 bytes, which cores move at once */

struct axpy_args {
    uint64_t x, y;
    _Alignas(8) float a;
    _Alignas(8) uint32_t count;
};

static int axpy(mock_acl_block *b) {
    const struct axpy_args *p = b->args;
    const uint64_t part = ((p->count + b->blocks - 1) / b->blocks + EVEN - 1) / EVEN * EVEN;
    const uint64_t begin = part * b->block;
    if (begin >= p->count) return 0;
    const uint64_t left = p->count - begin, count = left < part ? left : part, bytes = count * sizeof(float);
    const float *x = b->to_host(b, p->x + begin * sizeof *x, bytes);
    float *y = b->to_host(b, p->y + begin * sizeof *y, bytes);
    if (x == NULL || y == NULL) return 1;
    for (uint64_t i = 0; i < count; i++) y[i] += p->a * x[i];
    return 0;
}

static const uint32_t axpy_params[] = {8, 8, 4, 4};
static const mock_acl_kernel kernels[] = {
    {.name = "axpy", .run = axpy, .kind = MOCK_ACL_KERNEL_VECTOR, .params = axpy_params, .param_count = 4}};
MOCK_ACL_KERNELS(kernels, 1, NULL, 0);
