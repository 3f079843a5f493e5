/* Lists of kernel arguments.
 *
 * (guide: kernel launch, arguments) Codes, the order of checks, and that every thread has one list only,
 * which aclrtKernelArgsInit empties and gives again: (implementation of the open runtime). The guide lets
 * each call make a list that lives as long as the function; MOCK_ACL_STRICT=doc does that. A list in memory
 * of the program is known by its address, nothing is kept there (own choice: any address can be asked
 * about). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "kernels/kernel.h"

#define MOST_PARAMS 128u
#define BUFFER_BYTES 65536u /* of a list that the runtime makes (own choice) */
#define BUCKETS 256u

typedef struct param {
    size_t offset, size, data;
    bool placeholder;
} param;

typedef struct args {
    const void *key; /* what the program holds: its own address, or that of the program's memory */
    mock_function *function;
    uint64_t thread; /* of a list of a thread; 0: another one */
    char *buffer;
    bool own_buffer;
    size_t room, used;
    uint32_t count, most;
    bool has_data, finished, changing;
    param params[MOST_PARAMS];
    struct args *next;
} args;
static args *buckets[BUCKETS];

static args **bucket(const void *key) {
    const uint64_t mixed = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
    return &buckets[mixed >> 56];
}

static args *known(const void *key) {
    for (args *a = *bucket(key); a != NULL; a = a->next)
        if (a->key == key) return a;
    return NULL;
}

static void release(args **link) {
    args *a = *link;
    *link = a->next;
    if (a->own_buffer) free(a->buffer);
    free(a);
}

/* NULL: all. */
static void drop(const mock_binary *b) {
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (args **link = &buckets[i]; *link != NULL;)
            if (b == NULL || (*link)->function->binary == b) release(link);
            else link = &(*link)->next;
}

void mock_args_forget(const mock_binary *b) { drop(b); }
void mock_args_reset(void) { drop(NULL); }

/* ---- lists of threads ---- */

static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

/* The list of a thread goes with it. */
static void end_of_thread(void *id) {
    const uint64_t thread = (uint64_t)(uintptr_t)id;
    pthread_mutex_lock(&mock_kernel_lock);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (args **link = &buckets[i]; *link != NULL;)
            if ((*link)->thread == thread) release(link);
            else link = &(*link)->next;
    pthread_mutex_unlock(&mock_kernel_lock);
}

static void make_key(void) { pthread_key_create(&thread_end, end_of_thread); }

static args *of_thread(uint64_t thread) {
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (args *a = buckets[i]; a != NULL; a = a->next)
            if (a->thread == thread) return a;
    return NULL;
}

static args *add(const void *key) {
    args *a = calloc(1, sizeof *a);
    if (a == NULL) return NULL;
    a->key = key == NULL ? a : key;
    args **head = bucket(a->key);
    a->next = *head;
    *head = a;
    return a;
}

static void restart(args *a, mock_function *f, char *buffer, size_t room, uint32_t most) {
    a->function = f;
    a->buffer = buffer;
    a->room = room;
    a->most = most;
    a->used = 0;
    a->count = 0;
    a->has_data = a->finished = a->changing = false;
}

static aclError no_memory(void) {
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
}

static aclError init(mock_function *f, aclrtArgsHandle *out) {
    const uint64_t thread = mock_strict_doc() ? 0 : mock_self()->id;
    args *a = thread == 0 ? NULL : of_thread(thread);
    if (a == NULL) {
        char *buffer = malloc(BUFFER_BYTES);
        a = buffer == NULL ? NULL : add(NULL);
        if (a == NULL) {
            free(buffer);
            return no_memory();
        }
        a->own_buffer = true;
        a->buffer = buffer;
        a->thread = thread;
        pthread_once(&thread_end_once, make_key);
        if (thread != 0) pthread_setspecific(thread_end, (void *)(uintptr_t)thread);
    }
    restart(a, f, a->buffer, BUFFER_BYTES, MOST_PARAMS);
    *out = (void *)(uintptr_t)a->key;
    return 0;
}

MOCK_EXPORT aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle *argsHandle) {
    MOCK_ENTER_OF(aclrtKernelArgsInit, funcHandle);
    if (funcHandle == NULL || argsHandle == NULL) return mock_null("funcHandle and argsHandle");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) code = init(f, argsHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* ---- lists in memory of the program ---- */

static bool on_cpu(const mock_function *f) { return f->kernel.kind == MOCK_ACL_KERNEL_AICPU; }

/* As many parameters as the kernel has (implementation of the open runtime), or 128 when that is not
 * described. */
static uint32_t most_params(const mock_function *f) {
    const bool counted = mock_function_described(f) && !on_cpu(f) && f->kernel.param_count < MOST_PARAMS;
    return counted ? f->kernel.param_count : MOST_PARAMS;
}

/* The first call for an address makes the list, later ones empty it. */
MOCK_EXPORT aclError aclrtKernelArgsInitByUserMem(
    aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void *userHostMem, size_t actualArgsSize) {
    MOCK_ENTER_OF(aclrtKernelArgsInitByUserMem, funcHandle, argsHandle);
    if (funcHandle == NULL || argsHandle == NULL || userHostMem == NULL || actualArgsSize == 0)
        return mock_null("funcHandle, argsHandle, userHostMem and actualArgsSize");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = mock_function_find(funcHandle, false, &f);
    args *a = code == 0 ? known(argsHandle) : NULL;
    if (code == 0 && a != NULL && a->own_buffer)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is a list of the runtime", argsHandle);
    if (code == 0 && a == NULL) a = add(argsHandle);
    if (code == 0 && a == NULL) code = no_memory();
    if (code == 0) restart(a, f, userHostMem, actualArgsSize, most_params(f));
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* What the list takes in memory of the program; the mock uses none of it (own choice of the number). */
MOCK_EXPORT aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t *memSize) {
    MOCK_ENTER_OF(aclrtKernelArgsGetHandleMemSize, funcHandle);
    if (funcHandle == NULL || memSize == NULL) return mock_null("funcHandle and memSize");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) *memSize = 128 + (size_t)most_params(f) * 32;
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* Room for what aligning may add; AICPU arguments lie close together (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtKernelArgsGetMemSize(
    aclrtFuncHandle funcHandle, size_t userArgsSize, size_t *actualArgsSize) {
    MOCK_ENTER_OF(aclrtKernelArgsGetMemSize, funcHandle);
    if (funcHandle == NULL || actualArgsSize == NULL) return mock_null("funcHandle and actualArgsSize");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) *actualArgsSize = userArgsSize + (on_cpu(f) ? 0 : (size_t)most_params(f) * 8 + 32);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* ---- filling ---- */

static aclError find(const void *handle, args **out) {
    *out = known(handle);
    if (*out != NULL) return 0;
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "%p is not a list of arguments", handle);
}

/* A parameter is known by the address of its entry. */
static aclError find_param(args *a, const void *handle, param **out) {
    const uintptr_t first = (uintptr_t)a->params, at = (uintptr_t)handle;
    if (at >= first && (at - first) % sizeof(param) == 0 && (at - first) / sizeof(param) < a->count) {
        *out = &a->params[(at - first) / sizeof(param)];
        return 0;
    }
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "%p is not a parameter of the list", handle);
}

static size_t aligned(const args *a, size_t offset) {
    return on_cpu(a->function) ? offset : (offset + 7) / 8 * 8;
}

/* After the end 207000, too long 107000 (implementation of the open runtime). */
static aclError reserve(args *a, size_t size, size_t *offset) {
    if (a->finished)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1016", "the list of arguments is finished");
    *offset = aligned(a, a->used);
    if (*offset > a->room || size > a->room - *offset)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%zu bytes at %zu, the list has room for %zu",
            size, *offset, a->room);
    return 0;
}

/* Behind a placeholder's data 207000, too many 107000 (implementation of the open runtime). */
static aclError append(args *a, const void *value, size_t size, aclrtParamHandle *out) {
    if (a->has_data && !a->finished)
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1016", "no parameter after data of a placeholder");
    if (!a->finished && a->count >= a->most)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "more than %u parameters", a->most);
    size_t offset = 0;
    const aclError code = reserve(a, size, &offset);
    if (code != 0) return code;
    memset(a->buffer + a->used, 0, offset - a->used);
    if (value != NULL) memcpy(a->buffer + offset, value, size);
    else memset(a->buffer + offset, 0, size);
    a->params[a->count] = (param){offset, size, 0, value == NULL};
    *out = &a->params[a->count++];
    a->used = offset + size;
    return 0;
}

MOCK_EXPORT aclError aclrtKernelArgsAppend(
    aclrtArgsHandle argsHandle, void *param, size_t paramSize, aclrtParamHandle *paramHandle) {
    MOCK_ENTER_OF(aclrtKernelArgsAppend, argsHandle);
    if (argsHandle == NULL || param == NULL || paramSize == 0 || paramHandle == NULL)
        return mock_null("argsHandle, param, paramSize and paramHandle");
    args *a = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(argsHandle, &a);
    if (code == 0) code = append(a, param, paramSize, paramHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

MOCK_EXPORT aclError aclrtKernelArgsAppendPlaceHolder(
    aclrtArgsHandle argsHandle, aclrtParamHandle *paramHandle) {
    MOCK_ENTER_OF(aclrtKernelArgsAppendPlaceHolder, argsHandle);
    if (argsHandle == NULL || paramHandle == NULL) return mock_null("argsHandle and paramHandle");
    args *a = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(argsHandle, &a);
    if (code == 0) code = append(a, NULL, sizeof(uint64_t), paramHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* No placeholder: 107000 (implementation of the open runtime). */
static aclError data_of(args *a, const void *handle, size_t size, void **out) {
    param *p = NULL;
    size_t offset = 0;
    aclError code = find_param(a, handle, &p);
    if (code == 0 && !p->placeholder)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the parameter is no placeholder");
    if (code == 0) code = reserve(a, size, &offset);
    if (code != 0) return code;
    memset(a->buffer + a->used, 0, offset + size - a->used);
    a->has_data = true;
    p->data = offset;
    a->used = offset + size;
    *out = a->buffer + offset;
    return 0;
}

MOCK_EXPORT aclError aclrtKernelArgsGetPlaceHolderBuffer(
    aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize, void **bufferAddr) {
    MOCK_ENTER_OF(aclrtKernelArgsGetPlaceHolderBuffer, argsHandle);
    if (argsHandle == NULL || paramHandle == NULL || dataSize == 0 || bufferAddr == NULL)
        return mock_null("argsHandle, paramHandle, dataSize and bufferAddr");
    args *a = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(argsHandle, &a);
    if (code == 0) code = data_of(a, paramHandle, dataSize, bufferAddr);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* A placeholder, or another size: 107000. The list has to be finished again (implementation of the open
 * runtime). */
static aclError update(args *a, const void *handle, const void *value, size_t size) {
    param *p = NULL;
    const aclError code = find_param(a, handle, &p);
    if (code != 0) return code;
    if (p->placeholder || p->size != size)
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the parameter is a placeholder or has %zu bytes", p->size);
    memcpy(a->buffer + p->offset, value, size);
    a->changing = true;
    return 0;
}

MOCK_EXPORT aclError aclrtKernelArgsParaUpdate(
    aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void *param, size_t paramSize) {
    MOCK_ENTER_OF(aclrtKernelArgsParaUpdate, argsHandle);
    if (argsHandle == NULL || paramHandle == NULL || param == NULL || paramSize == 0)
        return mock_null("argsHandle, paramHandle, param and paramSize");
    args *a = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(argsHandle, &a);
    if (code == 0) code = update(a, paramHandle, param, paramSize);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* Again is no error. */
MOCK_EXPORT aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
    MOCK_ENTER_OF(aclrtKernelArgsFinalize, argsHandle);
    if (argsHandle == NULL) return mock_null("argsHandle");
    args *a = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = find(argsHandle, &a);
    if (code == 0) {
        a->finished = true;
        a->changing = false;
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* ---- launching ---- */

/* Not finished, changed since, or without any parameter: 107000 (implementation of the open runtime). A
 * placeholder without data points to the first argument there, and here. */
aclError mock_args_view_of(const void *handle, mock_placeholder *places, mock_args_view *out) {
    args *a = NULL;
    const aclError code = find(handle, &a);
    if (code != 0) return code;
    if (!a->finished || a->changing)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the list of arguments is not finished");
    if (a->used == 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the list of arguments is empty");
    *out = (mock_args_view){a->buffer, a->used, places, 0};
    for (uint32_t i = 0; i < a->count; i++)
        if (a->params[i].placeholder)
            places[out->place_count++] =
                (mock_placeholder){(uint32_t)a->params[i].offset, (uint32_t)a->params[i].data};
    return 0;
}
