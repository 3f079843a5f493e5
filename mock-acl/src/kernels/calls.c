/* The calls that launch own kernels. Each looks at null pointers, at handles, at the number of blocks, at the
 * arguments and at the attributes, in this order (implementation of the open runtime). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "kernels/kernel.h"

/* With the kernel lock. The stream is looked at again when the task is queued. */
static aclError find(const void *func, bool symbols, aclrtStream stream, mock_function **out) {
    const aclError code = mock_function_find(func, symbols, out);
    if (code != 0 || stream == NULL || mock_handle_get(MOCK_STREAM, stream) != NULL) return code;
    return mock_stale(stream, "stream");
}

/* Takes the launch over. */
static aclError queue(mock_launch *l, const char *call, aclrtStream stream) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = mock_launch_limit(l, s->ctx);
    if (code == 0) {
        mock_task t;
        mock_launch_task(l, call, &t);
        code = mock_submit(s, &t);
        l = NULL;
    }
    mock_unlock();
    if (l != NULL) mock_launch_free(l);
    return code;
}

static aclError no_args(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the size of the arguments must not be 0");
}

/* The size is cut to 32 bits (implementation of the open runtime). The arguments are read when the kernel
 * runs. */
static aclError from_device(const char *call, aclrtFuncHandle func, uint32_t blocks, const void *args,
    size_t size, const aclrtLaunchKernelCfg *cfg, aclrtStream stream) {
    if (func == NULL || args == NULL) return mock_null("funcHandle and argsData");
    mock_launch_request r = {.call = call, .blocks = blocks, .config = cfg, .on_device = true, .args = args};
    mock_launch *l = NULL;
    r.size = (uint32_t)size;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(func, false, stream, &r.function);
    if (code == 0 && r.size == 0 && blocks != 0) code = no_args();
    if (code == 0) code = mock_launch_new(&r, &l);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code != 0 ? code : queue(l, call, stream);
}

MOCK_EXPORT aclError aclrtLaunchKernel(
    aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
    aclrtStream stream) {
    MOCK_ENTER_OF(aclrtLaunchKernel, funcHandle, stream);
    return from_device("aclrtLaunchKernel", funcHandle, numBlocks, argsData, argsSize, NULL, stream);
}

MOCK_EXPORT aclError aclrtLaunchKernelV2(
    aclrtFuncHandle funcHandle, uint32_t numBlocks, const void *argsData, size_t argsSize,
    aclrtLaunchKernelCfg *cfg, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtLaunchKernelV2, funcHandle, stream);
    return from_device("aclrtLaunchKernelV2", funcHandle, numBlocks, argsData, argsSize, cfg, stream);
}

MOCK_EXPORT aclError aclrtLaunchKernelWithConfig(
    aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
    aclrtArgsHandle argsHandle, void *reserve) {
    MOCK_ENTER_OF(aclrtLaunchKernelWithConfig, funcHandle, stream, argsHandle);
    if (funcHandle == NULL || numBlocks == 0 || argsHandle == NULL)
        return mock_null("funcHandle, numBlocks and argsHandle");
    if (reserve != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "reserve must be null");
    mock_launch_request r = {.call = "aclrtLaunchKernelWithConfig", .blocks = numBlocks, .config = cfg};
    mock_placeholder places[128];
    mock_args_view v = {0};
    mock_launch *l = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(funcHandle, false, stream, &r.function);
    if (code == 0) code = mock_args_view_of(argsHandle, places, &v);
    if (code == 0) {
        r.args = v.data;
        r.size = v.size;
        r.places = v.places;
        r.place_count = v.place_count;
        code = mock_launch_new(&r, &l);
    }
    pthread_mutex_unlock(&mock_kernel_lock);
    return code != 0 ? code : queue(l, r.call, stream);
}

static aclError from_host(const aclrtPlaceHolderInfo *places, mock_launch_request *r, mock_launch **l) {
    if (r->size == 0 && r->blocks != 0) return no_args();
    if (places == NULL && r->place_count != 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "placeHolderArray must not be null");
    if (r->place_count > r->size)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%zu placeholders in %llu bytes",
            r->place_count, (unsigned long long)r->size);
    mock_placeholder *copy = malloc((r->place_count + 1) * sizeof *copy);
    if (copy == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    for (size_t i = 0; i < r->place_count; i++)
        copy[i] = (mock_placeholder){places[i].addrOffset, places[i].dataOffset};
    r->places = copy;
    const aclError code = mock_launch_new(r, l);
    free(copy);
    r->places = NULL;
    return code;
}

/* The arguments are copied here. Above 1 MiB: 107000 (own choice: no program has as many). */
#define MOST_HOST_ARGS ((size_t)1 << 20)

MOCK_EXPORT aclError aclrtLaunchKernelWithHostArgs(
    aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg,
    void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum) {
    MOCK_ENTER_OF(aclrtLaunchKernelWithHostArgs, funcHandle, stream);
    if (funcHandle == NULL || hostArgs == NULL) return mock_null("funcHandle and hostArgs");
    if (argsSize > MOST_HOST_ARGS)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%zu bytes of arguments", argsSize);
    mock_launch_request r = {.call = "aclrtLaunchKernelWithHostArgs",
        .blocks = numBlocks,
        .config = cfg,
        .args = hostArgs,
        .size = (uint32_t)argsSize,
        .place_count = placeHolderNum};
    mock_launch *l = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(funcHandle, false, stream, &r.function);
    if (code == 0) code = from_host(placeHolderArray, &r, &l);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code != 0 ? code : queue(l, r.call, stream);
}

/* On the AICPU 207000, parameters not described 107000 (implementation of the open runtime). */
static aclError from_array(void *const *args, mock_launch_request *r, mock_launch **l) {
    const mock_acl_kernel *k = &r->function->kernel;
    if (k->kind == MOCK_ACL_KERNEL_AICPU)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "not for functions of the AICPU");
    if (!mock_function_described(r->function))
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the parameters of %s are not described", k->name);
    if (args == NULL && k->param_count != 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "args must not be null");
    uint64_t size = 0;
    for (uint32_t i = 0; i < k->param_count; i++) {
        if (args[i] == NULL) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "argument %u is null", i);
        size = (size + 7) / 8 * 8 + k->params[i];
    }
    char *block = calloc(1, size + 1);
    if (block == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    uint64_t offset = 0;
    for (uint32_t i = 0; i < k->param_count; i++) {
        memcpy(block + offset, args[i], k->params[i]);
        offset = (offset + k->params[i] + 7) / 8 * 8;
    }
    r->args = block;
    r->size = size;
    const aclError code = mock_launch_new(r, l);
    free(block);
    return code;
}

/* A null argument: 107000 (own choice). */
MOCK_EXPORT aclError aclrtLaunchKernelWithArgsArray(
    void *func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args) {
    MOCK_ENTER_OF(aclrtLaunchKernelWithArgsArray, stream);
    if (func == NULL || numBlocks == 0) return mock_null("func and numBlocks");
    mock_launch_request r = {.call = "aclrtLaunchKernelWithArgsArray", .blocks = numBlocks, .config = cfg};
    mock_launch *l = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    aclError code = find(func, true, stream, &r.function);
    if (code == 0) code = from_array(args, &r, &l);
    pthread_mutex_unlock(&mock_kernel_lock);
    return code != 0 ? code : queue(l, r.call, stream);
}

/* ---- SIMT ---- */

/* The Ascend910B2 has no such cores: 207000 (guide: kernel launch, supported products). */
static aclError no_simt(void *func, aclrtStream stream) {
    mock_function *f = NULL;
    pthread_mutex_lock(&mock_kernel_lock);
    const aclError code = find(func, true, stream, &f);
    pthread_mutex_unlock(&mock_kernel_lock);
    if (code != 0) return code;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "this device has no cores for SIMT kernels");
}

MOCK_EXPORT aclError aclrtLaunchSIMTKernelWithArgsArray(
    void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, void **args) {
    MOCK_ENTER_OF(aclrtLaunchSIMTKernelWithArgsArray, stream);
    (void)gridDim;
    (void)blockDim;
    (void)dynUbufSize;
    (void)cfg;
    (void)args;
    return func == NULL ? mock_null("func") : no_simt(func, stream);
}

MOCK_EXPORT aclError aclrtLaunchSIMTKernelWithHostArgs(
    void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
    aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray,
    size_t placeHolderNum) {
    MOCK_ENTER_OF(aclrtLaunchSIMTKernelWithHostArgs, stream);
    (void)gridDim;
    (void)blockDim;
    (void)dynUbufSize;
    (void)cfg;
    (void)placeHolderArray;
    (void)placeHolderNum;
    if (func == NULL || hostArgs == NULL || argsSize == 0) return mock_null("func, hostArgs and argsSize");
    return no_simt(func, stream);
}
