/* Functions of own kernels: handles and what is known of them.
 *
 * (guide: kernel loading and launch; header: aclrtFuncAttribute, aclrtKernelType) Codes and the order of
 * checks: (implementation of the open runtime). Addresses and sizes of code lie in the binary's device
 * memory, without anything there to run (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "kernels/kernel.h"

aclError mock_function_handle(mock_function *f, aclrtFuncHandle *out) {
    if (f->handle == NULL) f->handle = mock_handle_new(MOCK_FUNCTION, f);
    *out = f->handle;
    return f->handle != NULL ? 0 : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no handle left");
}

bool mock_function_described(const mock_function *f) {
    return f->kernel.param_count != MOCK_ACL_KERNEL_NO_PARAMS;
}

aclError mock_function_find(const void *func, bool symbols, mock_function **out) {
    *out = mock_handle_get(MOCK_FUNCTION, func);
    if (*out == NULL && symbols) *out = mock_symbol_function(func);
    if (*out != NULL) return 0;
    return mock_stale(func, "function");
}

static bool on_cpu(const mock_function *f) { return f->kernel.kind == MOCK_ACL_KERNEL_AICPU; }

static aclError no_null(const char *what) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "%s must not be null", what);
}

static aclError not_for_cpu(const mock_function *f) {
    if (!on_cpu(f)) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "not for functions of the AICPU");
}

/* Mix kernels with cores of one kind only are kernels of that kind. */
static bool has_cube(const mock_function *f) {
    const mock_acl_kernel *k = &f->kernel;
    return k->kind == MOCK_ACL_KERNEL_MIX ? k->cube_ratio != 0 || k->vector_ratio == 0
                                          : k->kind != MOCK_ACL_KERNEL_VECTOR;
}

static bool has_vector(const mock_function *f) {
    const mock_acl_kernel *k = &f->kernel;
    return k->kind == MOCK_ACL_KERNEL_MIX ? k->vector_ratio != 0 || k->cube_ratio == 0
                                          : k->kind == MOCK_ACL_KERNEL_VECTOR;
}

/* ---- queries ---- */

/* Null name 100000, null function and a name that does not fit 107000. */
MOCK_EXPORT aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name) {
    MOCK_ENTER_OF(aclrtGetFunctionName, funcHandle);
    if (name == NULL) return mock_null("name");
    if (funcHandle == NULL) return no_null("funcHandle");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = mock_function_find(funcHandle, false, &f);
    const size_t need = code == 0 ? strlen(f->name) + 1 : 0;
    if (code == 0 && maxLen < need)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "maxLen %u, the name needs %zu", maxLen, need);
    if (code == 0) memcpy(name, f->name, need);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* The address of a kernel on one kind of core is null for the other. */
MOCK_EXPORT aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void **aicAddr, void **aivAddr) {
    MOCK_ENTER_OF(aclrtGetFunctionAddr, funcHandle);
    if (funcHandle == NULL || aicAddr == NULL || aivAddr == NULL)
        return mock_null("funcHandle, aicAddr and aivAddr");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) code = not_for_cpu(f);
    if (code == 0) {
        const uint64_t image = (f->binary->image_size + 511) / 512 * 512;
        char *entry = f->binary->device + image + f->index * MOCK_FUNCTION_BYTES;
        *aicAddr = has_cube(f) ? entry : NULL;
        *aivAddr = has_vector(f) ? entry + MOCK_FUNCTION_BYTES / 2 : NULL;
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

MOCK_EXPORT aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize) {
    MOCK_ENTER_OF(aclrtGetFunctionSize, funcHandle);
    if (funcHandle == NULL || aicSize == NULL || aivSize == NULL)
        return no_null("funcHandle, aicSize and aivSize");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) code = not_for_cpu(f);
    if (code == 0) {
        *aicSize = has_cube(f) ? MOCK_FUNCTION_BYTES / 2 : 0;
        *aivSize = has_vector(f) ? MOCK_FUNCTION_BYTES / 2 : 0;
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* The ratio is two numbers of 16 bits, vector cores in the lower half (implementation of the open runtime); a
 * kernel of one kind of core has 1 for it and 0 for the other (own choice). */
static int64_t ratio(const mock_function *f) {
    const mock_acl_kernel *k = &f->kernel;
    uint32_t cube = has_cube(f), vector = has_vector(f);
    if (k->kind == MOCK_ACL_KERNEL_MIX) {
        const bool given = k->cube_ratio != 0 || k->vector_ratio != 0;
        cube = given ? k->cube_ratio : 1;
        vector = given ? k->vector_ratio : 2;
    }
    return (int64_t)((cube << 16) | vector);
}

/* Attributes are 1 to 3, others 107000; a ratio of an AICPU function too. */
static aclError attribute(const mock_function *f, aclrtFuncAttribute type, int64_t *value) {
    switch ((int)type) {
    case ACL_FUNC_ATTR_KERNEL_TYPE:
        *value = f->kernel.kind;
        return 0;
    case ACL_FUNC_ATTR_KERNEL_RATIO:
        if (on_cpu(f)) return not_for_cpu(f);
        *value = ratio(f);
        return 0;
    case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
        *value = f->kernel.batch;
        return 0;
    default:
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "function attribute %d", (int)type);
    }
}

MOCK_EXPORT aclError aclrtGetFunctionAttribute(
    aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t *attrValue) {
    MOCK_ENTER_OF(aclrtGetFunctionAttribute, funcHandle);
    if (funcHandle == NULL || attrValue == NULL) return mock_null("funcHandle and attrValue");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) code = attribute(f, attrType, attrValue);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

MOCK_EXPORT aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle) {
    MOCK_ENTER_OF(aclrtFunctionGetBinary, funcHandle);
    if (funcHandle == NULL || binHandle == NULL) return no_null("funcHandle and binHandle");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = mock_function_find(funcHandle, false, &f);
    if (code == 0) *binHandle = f->binary->handle;
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* ---- parameters ---- */

/* Not described: 107000; on the AICPU: 207000. */
static aclError parameters(const void *func, mock_function **f) {
    const aclError code = mock_function_find(func, true, f);
    if (code != 0) return code;
    if (on_cpu(*f))
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "functions of the AICPU have no parameters");
    if (mock_function_described(*f)) return 0;
    return mock_fail(
        ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the parameters of %s are not described", (*f)->name);
}

MOCK_EXPORT aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount) {
    MOCK_ENTER(aclrtFunctionGetParamCount);
    if (func == NULL || paramCount == NULL) return mock_null("func and paramCount");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = parameters(func, &f);
    if (code == 0) *paramCount = f->kernel.param_count;
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* Either output may be null. Parameters start at multiples of 8 bytes, in their order (guide: kernel launch,
 * arguments). */
MOCK_EXPORT aclError aclrtFunctionGetParamInfo(
    const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
    MOCK_ENTER(aclrtFunctionGetParamInfo);
    if (func == NULL) return mock_null("func");
    if (paramOffset == NULL && paramSize == NULL) return mock_null("one of paramOffset and paramSize");
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = parameters(func, &f);
    if (code == 0 && paramIndex >= f->kernel.param_count)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "parameter %zu of %u", paramIndex,
            f->kernel.param_count);
    if (code == 0) {
        size_t offset = 0;
        for (size_t i = 0; i < paramIndex; i++) offset += ((size_t)f->kernel.params[i] + 7) / 8 * 8;
        if (paramOffset != NULL) *paramOffset = offset;
        if (paramSize != NULL) *paramSize = f->kernel.params[paramIndex];
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* Only SIMT kernels have such memory, and this device has none: 0. */
MOCK_EXPORT aclError aclrtFunctionGetAvailDynUbufPerBlock(
    void *func, uint32_t flags, size_t *dynamicUbufSize) {
    MOCK_ENTER(aclrtFunctionGetAvailDynUbufPerBlock);
    if (func == NULL || dynamicUbufSize == NULL) return mock_null("func and dynamicUbufSize");
    if (flags != 0) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "flags must be 0, not %u", flags);
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = mock_function_find(func, true, &f);
    if (code == 0) *dynamicUbufSize = 0;
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}

/* ---- AICPU ---- */

/* `funcName` is the function in the file, `kernelName` what the kernel is called from now on. A second one of
 * that name is the first again (own choice). */
static aclError add_cpu(mock_binary *b, const char *code_name, const char *name, mock_function **out) {
    for (*out = b->registered; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->name, name) == 0) return 0;
    const mock_function *code = NULL;
    for (size_t i = 0; i < b->function_count && code == NULL; i++)
        if (strcmp(b->functions[i].name, code_name) == 0) code = &b->functions[i];
    if (code == NULL || !on_cpu(code))
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the binary has no AICPU function %s", code_name);
    mock_function *f = malloc(sizeof *f);
    char *copy = strdup(name);
    if (f == NULL || copy == NULL) {
        free(f);
        free(copy);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    }
    *f = *code;
    f->name = copy;
    f->handle = NULL;
    f->next = b->registered;
    b->registered = f;
    *out = f;
    return 0;
}

/* Only binaries that were loaded as those of the AICPU; others 107000. */
MOCK_EXPORT aclError aclrtRegisterCpuFunc(
    const aclrtBinHandle handle, const char *funcName, const char *kernelName, aclrtFuncHandle *funcHandle) {
    MOCK_ENTER_OF(aclrtRegisterCpuFunc, handle);
    if (handle == NULL || funcName == NULL || kernelName == NULL || funcHandle == NULL)
        return mock_null("handle, funcName, kernelName and funcHandle");
    mock_function *f = NULL;
    aclError code = 0;
    pthread_mutex_lock(&mock_kernel_lock);
    mock_binary *b = mock_binary_get(handle);
    if (b == NULL)
        code = mock_stale(handle, "binary");
    else if (!b->cpu)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the binary was not loaded for the AICPU");
    if (code == 0) code = add_cpu(b, funcName, kernelName, &f);
    if (code == 0) code = mock_function_handle(f, funcHandle);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code;
}
