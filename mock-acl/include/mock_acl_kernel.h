/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Kernels for the mock: what a shared object has to hold so that aclrtBinaryLoadFromFile and its neighbours take it.
 *
 * A card runs code that a compiler made for it. The mock cannot; it runs C functions instead, from a shared
 * object for the host that exports one table, `mock_acl_kernels`. Everything else of a program stays as it is
 * for a card: it loads the file, asks for a function by name, builds arguments and launches. docs/kernels.md, "Own
 * kernels", has the rules in words.
 *
 *     #include "mock_acl_kernel.h"
 *
 *     struct scale_args { uint64_t x; float factor; uint32_t count; };
 *
 *     static int scale(mock_acl_block *b) {
 *         const struct scale_args *a = b->args;
 *         float *x = b->to_host(b, a->x, a->count * sizeof *x);
 *         if (x == NULL) return 1;
 *         for (uint32_t i = b->block; i < a->count; i += b->blocks) x[i] *= a->factor;
 *         return 0;
 *     }
 *
 *     static const uint32_t scale_params[] = {8, 4, 4};
 *     static const mock_acl_kernel kernels[] = {
 *         {.name = "scale", .run = scale, .kind = MOCK_ACL_KERNEL_VECTOR, .params = scale_params, .param_count = 3}};
 *     MOCK_ACL_KERNELS(kernels, 1, NULL, 0);
 *
 *     cc -shared -fPIC -Iinclude scale.c -o scale.so
 *
 * Parameters that are appended one by one, or given as an array, start at multiples of 8 bytes: for them the
 * structure above would need `factor` and `count` at 8 and 16. */
#ifndef MOCK_ACL_KERNEL_H_
#define MOCK_ACL_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. The mock refuses a table of another one. */
#define MOCK_ACL_KERNEL_ABI 1u

/* What a kernel runs on; the numbers of aclrtKernelType. */
#define MOCK_ACL_KERNEL_AICORE 0u
#define MOCK_ACL_KERNEL_CUBE 1u
#define MOCK_ACL_KERNEL_VECTOR 2u
#define MOCK_ACL_KERNEL_MIX 3u
#define MOCK_ACL_KERNEL_AICPU 100u

/* param_count of a kernel whose parameters are not described. */
#define MOCK_ACL_KERNEL_NO_PARAMS UINT32_MAX

/* One block of a launch. All blocks run, one after the other, in their order, on one thread: a kernel must not
 * wait for another block. What it points to is valid until the function returns. */
typedef struct mock_acl_block mock_acl_block;
struct mock_acl_block {
    size_t struct_size;
    uint32_t block;        /* this one, from 0 */
    uint32_t blocks;       /* how many the launch has */
    const void *args;      /* the argument block for the host to read; 8-byte aligned if it came from the host */
    size_t args_size;      /* its bytes, data behind placeholders included */
    uint32_t cube_cores;   /* core limits of the launch or capture */
    uint32_t vector_cores;
    uint32_t batch;        /* 1: launched with schedule mode 1 */
    uint32_t engine;       /* of the launch attribute, or UINT32_MAX */
    uint32_t offset;       /* BLOCKDIM_OFFSET of the launch attributes */
    uint32_t dynamic_ubuf; /* DYN_UBUF_SIZE of the launch attributes */
    /* The host's view of [address, address + bytes) of device memory, to read and write. NULL when that range is
     * neither inside one live allocation nor inside the launch's own arguments: then the launch fails with
     * 507015 (507035 on vector cores, 507018 on the AICPU) whatever the function returns. 0 bytes give a pointer for
     * any address. */
    void *(*to_host)(mock_acl_block *block, uint64_t address, uint64_t bytes);
    /* The device address of a variable of the table by name, 0 for an unknown one. Pass it to `to_host`. */
    uint64_t (*variable)(mock_acl_block *block, const char *name);
    /* Says that the block took this much time. The blocks of a launch run side by side on a card: the longest
     * one moves the virtual clock, and a launch that takes longer than its time-out fails with 507014. */
    void (*spend)(mock_acl_block *block, uint64_t nanoseconds);
};

/* 0, or an error: a code from 507000 to 507999 is what the stream then carries, anything else is 507015 (507035 on
 * vector cores alone, 507018 for AICPU kernels). The blocks behind a failed one do not run. The function must not call
 * AscendCL, and may run on any thread, also on several at once for launches that nothing orders. */
typedef int (*mock_acl_kernel_function)(mock_acl_block *block);

typedef struct mock_acl_kernel {
    const char *name;
    mock_acl_kernel_function run;
    uint64_t entry;         /* for aclrtBinaryGetFunctionByEntry (a tiling key) */
    uint32_t kind;
    uint16_t cube_ratio;    /* MIX: cube and vector cores of one block, 1 and 2 when both are 0 */
    uint16_t vector_ratio;
    uint32_t batch;         /* 1: its schedule mode is batch unless the launch says otherwise */
    const uint32_t *params; /* sizes of the parameters, in their order */
    uint32_t param_count;   /* 0: takes none; MOCK_ACL_KERNEL_NO_PARAMS: not described */
} mock_acl_kernel;

/* A variable in device memory, for aclrtBinaryGetGlobal. Each load has its own. */
typedef struct mock_acl_variable {
    const char *name;
    size_t size;
    const void *initial; /* NULL: zeroes */
} mock_acl_variable;

typedef struct mock_acl_kernel_table {
    uint32_t abi;
    uint32_t kernel_size; /* of one mock_acl_kernel; so that the structures can grow */
    const mock_acl_kernel *kernels;
    size_t kernel_count;
    const mock_acl_variable *variables;
    size_t variable_count;
} mock_acl_kernel_table;

#if defined(__GNUC__)
#define MOCK_ACL_KERNEL_EXPORT __attribute__((visibility("default")))
#else
#define MOCK_ACL_KERNEL_EXPORT
#endif

/* The one name that the mock looks for. */
MOCK_ACL_KERNEL_EXPORT extern const mock_acl_kernel_table mock_acl_kernels;

/* Defines the table. */
#define MOCK_ACL_KERNELS(kernels_, kernel_count_, variables_, variable_count_)                              \
    const mock_acl_kernel_table mock_acl_kernels = {MOCK_ACL_KERNEL_ABI,                                     \
        (uint32_t)sizeof(mock_acl_kernel), (kernels_), (kernel_count_), (variables_), (variable_count_)}

#ifdef __cplusplus
}
#endif

#endif
