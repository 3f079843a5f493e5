/* Binaries of own kernels: description, loading, unloading, what is in them.
 *
 * (guide: kernel loading and launch; header: aclrtBinaryLoadOptionType) Loading needs a context; a handle is
 * good in every context and on every device (own choice: the real one copies the code to a further device
 * when a function is asked for). Unloading leaves code alone that a queue or a graph still needs (own choice:
 * the guide forbids it and names no code). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "engine/engine.h"
#include "kernels/kernel.h"
#include "kernels/kernels.h"
#include "memory/memory.h"

pthread_mutex_t mock_kernel_lock = PTHREAD_MUTEX_INITIALIZER;
static mock_binary *binaries;
static uint64_t count;

/* Here, where a linker that takes what is needed out of an archive finds it. */
__attribute__((constructor)) static void offer(void) {
    mock_kernel_tasks_on();
    mock_kernel_exceptions_on();
}

/* What aclrtCreateBinary makes: it does not copy the data (guide: kernel loading, aclrtCreateBinary). */
typedef struct description {
    void *handle;
    const void *data;
    uint64_t size;
} description;

mock_binary *mock_binary_get(const void *handle) { return mock_handle_get(MOCK_KERNEL_BINARY, handle); }

uint64_t mock_live_binaries(void) {
    pthread_mutex_lock(&mock_kernel_lock);
    const uint64_t n = count;
    pthread_mutex_unlock(&mock_kernel_lock);
    return n;
}

static pthread_mutex_t ended_lock = PTHREAD_MUTEX_INITIALIZER;
static mock_binary *ended; /* their code is still mapped */

/* Destructors in the code may call the library: without any lock. */
static void close_ended(void) {
    pthread_mutex_lock(&ended_lock);
    mock_binary *b = ended;
    ended = NULL;
    pthread_mutex_unlock(&ended_lock);
    while (b != NULL) {
        mock_binary *next = b->next;
        mock_image_close(b);
        free(b);
        b = next;
    }
}

/* The last reference may go while the engine lock is held: the code waits for the next load, unload or
 * reset. */
void mock_binary_unref(mock_binary *b) {
    if (atomic_fetch_sub(&b->refs, 1) != 1) return;
    while (b->registered != NULL) {
        mock_function *f = b->registered;
        b->registered = f->next;
        free((char *)(uintptr_t)f->name);
        free(f);
    }
    if (b->device != NULL) mock_device_free(b->device);
    pthread_mutex_lock(&ended_lock);
    b->next = ended;
    ended = b;
    pthread_mutex_unlock(&ended_lock);
}

/* ---- descriptions ---- */

/* Null data: null (implementation of the open runtime). */
MOCK_EXPORT aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen) {
    MOCK_ENTER_PTR(aclrtCreateBinary);
    description *d = data == NULL ? NULL : malloc(sizeof *d);
    if (data == NULL) mock_null("data");
    else if (d == NULL) mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    if (d == NULL) return NULL;
    *d = (description){mock_handle_new(MOCK_BINARY_TEXT, d), data, dataLen};
    void *handle = d->handle;
    if (handle == NULL) free(d);
    mock_gave(handle);
    return handle;
}

MOCK_EXPORT aclError aclrtDestroyBinary(aclrtBinary binary) {
    MOCK_ENTER_OF(aclrtDestroyBinary, binary);
    if (binary == NULL) return mock_null("binary");
    pthread_mutex_lock(&mock_kernel_lock);
    description *d = mock_handle_take(MOCK_BINARY_TEXT, binary);
    pthread_mutex_unlock(&mock_kernel_lock);
    if (d == NULL)
        return mock_stale(binary, "aclrtBinary");
    free(d);
    return 0;
}

/* ---- options ---- */

typedef struct load_options {
    bool lazy, cpu;
    int32_t cpu_mode;
} load_options;

static aclError bad_option(const char *what, long long value) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s %lld", what, value);
}

/* The magic only with data, the mode of AICPU kernels 0 and 1 with a file and 2 with data, everything else
 * 107000 (implementation of the open runtime). The magic has no effect: kernels of the mock have their kind
 * in their table (own choice). */
static aclError read_option(const aclrtBinaryLoadOption *o, bool file, load_options *out) {
    const uint32_t magic = o->value.magic;
    const int32_t mode = o->value.cpuKernelMode;
    switch ((int)o->type) {
    case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:
        out->lazy = o->value.isLazyLoad == 1;
        return o->value.isLazyLoad > 1 ? bad_option("lazy load must be 0 or 1, not", o->value.isLazyLoad) : 0;
    case ACL_RT_BINARY_LOAD_OPT_MAGIC:
        if (file) return bad_option("a file takes no magic, not even", magic);
        if (magic == ACL_RT_BINARY_MAGIC_ELF_AICORE || magic == ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE ||
            magic == ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE)
            return 0;
        return bad_option("unknown magic", magic);
    case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
        out->cpu = true;
        out->cpu_mode = mode;
        return (file ? mode == 0 || mode == 1 : mode == 2) ? 0 : bad_option("AICPU kernel mode", mode);
    default:
        return bad_option("unknown option of a load,", (int)o->type);
    }
}

static aclError read_options(const aclrtBinaryLoadOptions *options, bool file, load_options *out) {
    *out = (load_options){false, false, 0};
    if (options == NULL) return 0;
    if (options->options == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "options must not be null");
    for (size_t i = 0; i < options->numOpt; i++) {
        const aclError code = read_option(&options->options[i], file, out);
        if (code != 0) return code;
    }
    return 0;
}

/* ---- loading ---- */

static aclError context_device(int32_t *device) {
    mock_lock();
    const mock_ctx *ctx = mock_current();
    if (ctx != NULL) *device = ctx->device;
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

aclError mock_binary_to_device(mock_binary *b) {
    if (b->device != NULL) return 0;
    char *device = mock_device_alloc(b->device_id, b->device_size);
    if (device == NULL)
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no device memory for the binary");
    char *view = mock_device_view(device, b->device_size);
    memset(view, 0, b->device_size);
    memcpy(view, b->image, b->image_size);
    for (size_t i = 0; i < b->variable_count; i++) {
        const void *initial = b->table->variables[i].initial;
        if (initial != NULL) memcpy(view + b->variables[i].offset, initial, b->variables[i].size);
    }
    b->device = device;
    return 0;
}

static aclError publish(mock_binary *b, bool lazy, aclrtBinHandle *out) {
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = lazy ? 0 : mock_binary_to_device(b);
    if (code == 0) {
        b->handle = mock_handle_new(MOCK_KERNEL_BINARY, b);
        b->next = binaries;
        binaries = b;
        count++;
        *out = b->handle;
        mock_gave(*out);
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

static aclError load(
    const void *data, uint64_t size, const char *what, const load_options *o, aclrtBinHandle *out) {
    int32_t device = 0;
    close_ended();
    aclError code = context_device(&device);
    if (code != 0) return code;
    mock_binary *b = calloc(1, sizeof *b);
    if (b == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    b->refs = 1;
    b->cpu = o->cpu;
    b->device_id = device;
    code = mock_image_open(b, data, size, what);
    if (code != 0) {
        free(b);
        return code;
    }
    code = publish(b, o->lazy, out);
    if (code != 0) mock_binary_unref(b);
    close_ended();
    return code;
}

/* No data, or none left: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle) {
    MOCK_ENTER_OF(aclrtBinaryLoad, binary);
    if (binary == NULL || binHandle == NULL) return mock_null("binary and binHandle");
    /* Another thread may destroy it. */
    pthread_mutex_lock(&mock_kernel_lock);
    const description *d = mock_handle_get(MOCK_BINARY_TEXT, binary);
    const description copy = d == NULL ? (description){NULL, NULL, 0} : *d;
    pthread_mutex_unlock(&mock_kernel_lock);
    if (d == NULL)
        return mock_stale(binary, "aclrtBinary");
    if (copy.size == 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the binary has no bytes");
    return load(copy.data, copy.size, "the data of the aclrtBinary", &(load_options){false, false, 0}, binHandle);
}

MOCK_EXPORT aclError aclrtBinaryLoadFromData(
    const void *data, size_t length, const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle) {
    MOCK_ENTER_OF(aclrtBinaryLoadFromData, data);
    if (data == NULL || binHandle == NULL) return mock_null("data and binHandle");
    if (length == 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "length must not be 0");
    load_options o;
    const aclError code = read_options(options, false, &o);
    return code != 0 ? code : load(data, length, "the data", &o, binHandle);
}

static aclError no_file(const char *path) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1012", "cannot read %s", path);
}

/* Reads a file as it is now. */
static aclError load_file(const char *path, const load_options *o, aclrtBinHandle *out) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
    struct stat s;
    if (file < 0 || fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) {
        if (file >= 0) close(file);
        return no_file(path);
    }
    const uint64_t size = (uint64_t)s.st_size;
    char *data = malloc(size == 0 ? 1 : size);
    uint64_t have = 0;
    ssize_t n = 1;
    while (data != NULL && have < size && n > 0) {
        n = read(file, data + have, size - have);
        if (n > 0) have += (uint64_t)n;
    }
    close(file);
    const aclError code = data == NULL || have < size ? no_file(path) : load(data, size, path, o, out);
    free(data);
    return code;
}

/* Kernels of the AICPU are named by the file that describes them; their code lies beside it, with the ending
 * .so (implementation of the open runtime). Without code, mode 0, they are part of the firmware: the mock has
 * none, so 207000 (own choice). */
static aclError load_cpu_file(const char *path, const load_options *o, aclrtBinHandle *out) {
    if (o->cpu_mode == 0)
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "mock-acl has no AICPU kernels of its own");
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const int stem = dot != NULL && (slash == NULL || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    char *name = NULL;
    if (asprintf(&name, "%.*s.so", stem, path) < 0)
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    const aclError code = load_file(name, o, out);
    free(name);
    return code;
}

/* A missing file: 107000 with EE1012 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtBinaryLoadFromFile(
    const char *binPath, aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle) {
    MOCK_ENTER(aclrtBinaryLoadFromFile);
    if (binPath == NULL || binHandle == NULL) return mock_null("binPath and binHandle");
    load_options o;
    const aclError code = read_options(options, true, &o);
    if (code != 0) return code;
    return o.cpu ? load_cpu_file(binPath, &o, binHandle) : load_file(binPath, &o, binHandle);
}

/* ---- unloading ---- */

/* With the kernel lock: the handles of the binary and of its functions die here, the rest with the last
 * task. */
static void forget(mock_binary *b) {
    mock_handle_take(MOCK_KERNEL_BINARY, b->handle);
    b->handle = NULL;
    for (size_t i = 0; i < b->function_count; i++)
        if (b->functions[i].handle != NULL) mock_handle_take(MOCK_FUNCTION, b->functions[i].handle);
    for (mock_function *f = b->registered; f != NULL; f = f->next)
        if (f->handle != NULL) mock_handle_take(MOCK_FUNCTION, f->handle);
    mock_symbols_forget(b);
    mock_args_forget(b);
    mock_binary **link = &binaries;
    while (*link != b) link = &(*link)->next;
    *link = b->next;
    count--;
}

MOCK_EXPORT aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
    MOCK_ENTER_OF(aclrtBinaryUnLoad, binHandle);
    if (binHandle == NULL) return mock_null("binHandle");
    pthread_mutex_lock(&mock_kernel_lock);
    mock_binary *b = mock_binary_get(binHandle);
    if (b != NULL) forget(b);
    pthread_mutex_unlock(&mock_kernel_lock);
    if (b == NULL)
        return mock_stale(binHandle, "binary");
    mock_binary_unref(b);
    close_ended();
    return 0;
}

static void free_description(void *d) {
    mock_handle_take(MOCK_BINARY_TEXT, ((description *)d)->handle);
    free(d);
}

void mock_kernels_reset(void) {
    while (binaries != NULL) {
        mock_binary *b = binaries;
        forget(b);
        mock_binary_unref(b);
    }
    close_ended();
    mock_args_reset();
    mock_handle_each(MOCK_BINARY_TEXT, free_description);
}

/* ---- what is in it ---- */

mock_function *mock_binary_function(const mock_binary *b, const char *name) {
    for (mock_function *f = b->registered; f != NULL; f = f->next)
        if (strcmp(f->name, name) == 0) return f;
    for (size_t i = 0; i < b->function_count; i++)
        if (strcmp(b->functions[i].name, name) == 0) return &b->functions[i];
    return NULL;
}

const mock_variable *mock_binary_variable(const mock_binary *b, const char *name) {
    for (size_t i = 0; i < b->variable_count; i++)
        if (strcmp(b->variables[i].name, name) == 0) return &b->variables[i];
    return NULL;
}

/* Finds the binary and, when it was loaded lazily, loads it. With the kernel lock. */
static aclError used(const void *handle, mock_binary **out) {
    *out = mock_binary_get(handle);
    if (*out == NULL)
        return mock_stale(handle, "binary");
    return mock_binary_to_device(*out);
}

/* An unknown name: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtBinaryGetFunction(
    const aclrtBinHandle binHandle, const char *kernelName, aclrtFuncHandle *funcHandle) {
    MOCK_ENTER_OF(aclrtBinaryGetFunction, binHandle);
    if (binHandle == NULL || kernelName == NULL || funcHandle == NULL)
        return mock_null("binHandle, kernelName and funcHandle");
    mock_binary *b = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = used(binHandle, &b);
    mock_function *f = code == 0 ? mock_binary_function(b, kernelName) : NULL;
    if (code == 0 && f == NULL)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the binary has no kernel %s", kernelName);
    if (code == 0) code = mock_function_handle(f, funcHandle);
    if (code == 0) mock_gave(*funcHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* By tiling key; an unknown one: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtBinaryGetFunctionByEntry(
    aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle *funcHandle) {
    MOCK_ENTER_OF(aclrtBinaryGetFunctionByEntry, binHandle);
    if (binHandle == NULL || funcHandle == NULL) return mock_null("binHandle and funcHandle");
    mock_binary *b = NULL;
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = used(binHandle, &b);
    for (size_t i = 0; code == 0 && f == NULL && i < b->function_count; i++)
        if (b->functions[i].kernel.entry == funcEntry) f = &b->functions[i];
    if (code == 0 && f == NULL)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the binary has no kernel of entry %llu",
            (unsigned long long)funcEntry);
    if (code == 0) code = mock_function_handle(f, funcHandle);
    if (code == 0) mock_gave(*funcHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* Null outputs: 107000 (own choice: the real call writes to them). */
MOCK_EXPORT aclError aclrtBinaryGetDevAddress(
    const aclrtBinHandle binHandle, void **binAddr, size_t *binSize) {
    MOCK_ENTER_OF(aclrtBinaryGetDevAddress, binHandle);
    if (binHandle == NULL) return mock_null("binHandle");
    if (binAddr == NULL || binSize == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "binAddr and binSize must not be null");
    mock_binary *b = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = used(binHandle, &b);
    if (code == 0) {
        *binAddr = b->device;
        *binSize = b->image_size;
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* One of the outputs may be null; an unknown name: 107042 (implementation of the open runtime; header:
 * ACL_ERROR_RT_SYMBOL_NOT_FOUND). */
MOCK_EXPORT aclError aclrtBinaryGetGlobal(
    aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size) {
    MOCK_ENTER_OF(aclrtBinaryGetGlobal, binHandle);
    if (binHandle == NULL || name == NULL) return mock_null("binHandle and name");
    if (dptr == NULL && size == NULL) return mock_null("one of dptr and size");
    mock_binary *b = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = used(binHandle, &b);
    const mock_variable *v = code == 0 ? mock_binary_variable(b, name) : NULL;
    if (code == 0 && v == NULL)
        code = mock_fail(ACL_ERROR_RT_SYMBOL_NOT_FOUND, "EE1003", "the binary has no variable %s", name);
    if (v != NULL && dptr != NULL) *dptr = b->device + v->offset;
    if (v != NULL && size != NULL) *size = v->size;
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* The last one counts (guide: kernel loading, aclrtBinarySetExceptionCallback); null takes it away (own
 * choice). */
MOCK_EXPORT aclError aclrtBinarySetExceptionCallback(
    aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void *userData) {
    MOCK_ENTER_OF(aclrtBinarySetExceptionCallback, binHandle);
    if (binHandle == NULL) return mock_null("binHandle");
    pthread_mutex_lock(&mock_kernel_lock);
    mock_binary *b = mock_binary_get(binHandle);
    if (b != NULL) {
        b->callback = callback;
        b->callback_data = userData;
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    if (b != NULL) return 0;
    return mock_stale(binHandle, "binary");
}
