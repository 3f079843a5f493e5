/* Own kernels: binaries, functions, argument lists and launches. `mock_kernel_lock` guards binaries, argument
 * lists and symbols; it may be taken while the engine lock is held, never the other way round. A launch owns
 * a reference of its binary, so that code stays mapped until the last task that runs it is gone. */
#ifndef MOCK_KERNELS_KERNEL_H_
#define MOCK_KERNELS_KERNEL_H_

#include "engine/engine.h"
#include "mock_acl_kernel.h"

struct mock_binary;

typedef struct mock_function {
    struct mock_binary *binary;
    void *handle; /* from the first request for it */
    const char *name;
    mock_acl_kernel kernel;
    uint32_t index;
    struct mock_function *next; /* registered ones (aclrtRegisterCpuFunc) */
} mock_function;

typedef struct mock_variable {
    const char *name;
    uint64_t offset, size; /* in the device block */
} mock_variable;

typedef struct mock_binary {
    void *handle; /* NULL after the unload */
    _Atomic uint32_t refs;
    bool cpu;
    int file;      /* the anonymous file that holds it while it is loaded */
    void *library; /* of dlopen */
    const mock_acl_kernel_table *table;
    const void *image;
    uint64_t image_size;
    char *device; /* the image, then the code of the functions, then the variables */
    uint64_t device_size;
    int32_t device_id;
    mock_function *functions, *registered;
    size_t function_count;
    mock_variable *variables;
    size_t variable_count;
    aclrtOpExceptionCallback callback;
    void *callback_data;
    struct mock_binary *next; /* all that are loaded */
} mock_binary;

/* What the mock reserves in device memory for the code of a function, of each kind of core (own choice). */
#define MOCK_FUNCTION_BYTES 64u

typedef struct mock_placeholder {
    uint32_t address, data; /* offsets */
} mock_placeholder;
/* What a launch takes from a finished list. With the kernel lock. */
typedef struct mock_args_view {
    const void *data;
    size_t size;
    const mock_placeholder *places;
    size_t place_count;
} mock_args_view;

typedef struct mock_launch {
    mock_function *function;
    uint32_t blocks;
    uint32_t cube, vector;
    bool on_device; /* `device_args`, read when it runs, instead of `args` */
    const void *device_args;
    uint64_t size;
    char *args; /* a copy */
    char *shown; /* the same in device memory, once an exception callback asked for it */
    aclrtLaunchKernelAttr *attributes;
    size_t attribute_count;
    aclrtLaunchKernelCfg config; /* what aclmdlRITaskGetParams shows */
    uint64_t timeout_ns;         /* 0 for none */
    uint32_t batch, engine, offset, dynamic_ubuf;
} mock_launch;

/* What a launch needs, before it owns anything. `places` are copied in. */
typedef struct mock_launch_request {
    const char *call; /* a name from exports.def */
    mock_function *function;
    uint32_t blocks;
    const aclrtLaunchKernelCfg *config;
    bool on_device;
    const void *args;
    uint64_t size;
    const mock_placeholder *places;
    size_t place_count;
} mock_launch_request;

/* ---- kernels/arguments.c ---- */
void mock_args_forget(const mock_binary *b);
void mock_args_reset(void);
/* 107017 no list, 107000 not finished or empty. `places` has room for 128. */
aclError mock_args_view_of(const void *handle, mock_placeholder *places, mock_args_view *out);

/* ---- kernels/binary.c ---- */
extern pthread_mutex_t mock_kernel_lock;
mock_binary *mock_binary_get(const void *handle);
void mock_binary_unref(mock_binary *b);
/* Puts image and variables into device memory, once. With the kernel lock. */
aclError mock_binary_to_device(mock_binary *b);
const mock_variable *mock_binary_variable(const mock_binary *b, const char *name);
mock_function *mock_binary_function(const mock_binary *b, const char *name);

/* ---- kernels/elf.c ---- */
/* Whether the loader can follow what stands in a shared object for this machine. */
bool mock_elf_whole(const void *data, uint64_t size);

/* ---- kernels/function.c ---- */
aclError mock_function_handle(mock_function *f, aclrtFuncHandle *out);
/* A function by its handle; the calls that take `void *func` also know the symbols of the host. With the
 * kernel lock. */
aclError mock_function_find(const void *func, bool symbols, mock_function **out);
bool mock_function_described(const mock_function *f);

/* ---- kernels/image.c ---- */
/* Maps a shared object and finds its table: 0, or 107000 with a text that says what it is instead. `data` is
 * only read; `what` names it in texts. */
aclError mock_image_open(mock_binary *b, const void *data, uint64_t size, const char *what);
void mock_image_close(mock_binary *b);

/* ---- kernels/launch.c ---- */
/* A task of an own kernel: MOCK_TASK_KERNEL, or MOCK_TASK_WORK for the AICPU. */
mock_launch *mock_launch_of(const mock_task *t);
aclError mock_launch_new(const mock_launch_request *r, mock_launch **out);
void mock_launch_free(void *launch);
void mock_launch_task(mock_launch *l, const char *call, mock_task *out);
/* With the engine lock: the core limits in use. 107000 for a batch that needs more. */
aclError mock_launch_limit(mock_launch *l, const mock_ctx *ctx);

/* ---- kernels/symbols.c ---- */
mock_function *mock_symbol_function(const void *symbol);
void mock_symbols_forget(const mock_binary *b);

/* ---- kernels/task.c ---- */
/* Offer launches to task handles of graphs and to exception callbacks. Before main. */
void mock_kernel_tasks_on(void);
void mock_kernel_exceptions_on(void);

#endif
