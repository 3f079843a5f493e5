/* Exception callbacks (guide: error handling, aclrtSetExceptionInfoCallback): called for every task that
 * failed on the device, before a wait can report the error, on the thread that executed the task (own
 * choice: the real runtime has threads of its own for it). What waits gives 207000 there, as in host
 * functions. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "streams/exception.h"
#include "streams/streams.h"

/* Own choice; more give 207012. */
#define CALLBACKS 64

struct rtExceptionInfo {
    uint32_t task, stream, thread, device, code;
    bool kernel;
    mock_launch_origin origin;
    struct rtExceptionInfo *next;
};

void (*mock_kernel_origin)(const mock_task_ops *ops, const void *arg, mock_launch_origin *out);
void (*mock_binary_exception)(void *binary, aclrtExceptionInfo *info);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static aclrtExceptionInfoCallback single, several[CALLBACKS];
static uint32_t count;
static aclrtExceptionInfo *live; /* of the calls that are going on */

void mock_exceptions_reset(void) {
    pthread_mutex_lock(&lock);
    single = NULL;
    count = 0;
    pthread_mutex_unlock(&lock);
}

static uint32_t copy_callbacks(aclrtExceptionInfoCallback *out) {
    uint32_t n = 0;
    pthread_mutex_lock(&lock);
    if (single != NULL) out[n++] = single;
    for (uint32_t i = 0; i < count; i++) out[n++] = several[i];
    pthread_mutex_unlock(&lock);
    return n;
}

static void add(aclrtExceptionInfo *info) {
    pthread_mutex_lock(&lock);
    info->next = live;
    live = info;
    pthread_mutex_unlock(&lock);
}

static void take_out(const aclrtExceptionInfo *info) {
    pthread_mutex_lock(&lock);
    aclrtExceptionInfo **at = &live;
    while (*at != info) at = &(*at)->next;
    *at = info->next;
    pthread_mutex_unlock(&lock);
}

/* Anything but the information of a call that is going on counts as null (own choice: the real one reads
 * it). */
static const aclrtExceptionInfo *known(const aclrtExceptionInfo *info) {
    pthread_mutex_lock(&lock);
    const aclrtExceptionInfo *at = live;
    while (at != NULL && at != info) at = at->next;
    pthread_mutex_unlock(&lock);
    return at;
}

/* The task id is its place in its stream, from 1 on (own choice); the thread is the one that queued it. */
void mock_exception_raise(const mock_stream *s, const mock_task *t, aclError code) {
    aclrtExceptionInfoCallback callbacks[CALLBACKS + 1];
    mock_device_fault(s->ctx->device, code);
    const uint32_t n = copy_callbacks(callbacks);
    if (n == 0 && mock_binary_exception == NULL) return;
    const uint64_t done = atomic_load_explicit(&s->done, memory_order_relaxed);
    aclrtExceptionInfo info = {.task = (uint32_t)(done + 1 - s->base),
        .stream = (uint32_t)s->id,
        .thread = mock_submitter(s),
        .device = (uint32_t)s->ctx->device,
        .code = (uint32_t)code,
        .kernel = t->kind == MOCK_TASK_KERNEL};
    if (info.kernel && mock_kernel_origin != NULL) mock_kernel_origin(t->ops, t->u.kernel.arg, &info.origin);
    mock_thread *self = mock_self();
    const mock_bound before = mock_bind_for(s->ctx);
    /* What its calls say is for a thread of the runtime. */
    char *const text = self->text;
    const aclError last_error = self->last_error;
    self->text = NULL;
    self->in_task++;
    add(&info);
    if (info.origin.binary != NULL && mock_binary_exception != NULL)
        mock_binary_exception(info.origin.binary, &info);
    for (uint32_t i = 0; i < n; i++) callbacks[i](&info);
    take_out(&info);
    self->in_task--;
    free(self->text);
    self->text = text;
    self->last_error = last_error;
    mock_bind_back(before);
}

void mock_exception_locked(const mock_stream *s, const mock_task *t, aclError code) {
    mock_unlock();
    mock_exception_raise(s, t, code);
    mock_lock();
}

/* ---- registration ---- */

/* The last one counts, null takes it away (guide: error handling, aclrtSetExceptionInfoCallback). */
MOCK_EXPORT aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
    MOCK_ENTER(aclrtSetExceptionInfoCallback);
    pthread_mutex_lock(&lock);
    single = callback;
    pthread_mutex_unlock(&lock);
    return 0;
}

static aclError null_callback(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "callback must not be null");
}

static uint32_t place_of(aclrtExceptionInfoCallback callback) {
    uint32_t i = 0;
    while (i < count && several[i] != callback) i++;
    return i;
}

/* Null: 107000; a function twice counts once (guide: error handling, aclrtExceptionInfoCallbackRegister). */
MOCK_EXPORT aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
    MOCK_ENTER(aclrtExceptionInfoCallbackRegister);
    if (callback == NULL) return null_callback();
    pthread_mutex_lock(&lock);
    const bool known = place_of(callback) != count;
    const bool room = count < CALLBACKS;
    if (!known && room) several[count++] = callback;
    pthread_mutex_unlock(&lock);
    if (known || room) return 0;
    return mock_fail(ACL_ERROR_RT_OVER_LIMIT, "EE1023", "more than %d exception callbacks", CALLBACKS);
}

/* Null: 107000, an unknown one: 0; does not wait for one that runs (guide: error handling). */
MOCK_EXPORT aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
    MOCK_ENTER(aclrtExceptionInfoCallbackUnregister);
    if (callback == NULL) return null_callback();
    pthread_mutex_lock(&lock);
    const uint32_t i = place_of(callback);
    if (i != count) several[i] = several[--count];
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- what happened; good during the call only ---- */

/* The answer for a null pointer (implementation of the open runtime). */
#define NO_INFO 0xFFFFFFFFu

MOCK_EXPORT uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    mock_enter(MOCK_API_aclrtGetTaskIdFromExceptionInfo);
    return known(info) == NULL ? NO_INFO : info->task;
}

MOCK_EXPORT uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    mock_enter(MOCK_API_aclrtGetStreamIdFromExceptionInfo);
    return known(info) == NULL ? NO_INFO : info->stream;
}

MOCK_EXPORT uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    mock_enter(MOCK_API_aclrtGetThreadIdFromExceptionInfo);
    return known(info) == NULL ? NO_INFO : info->thread;
}

MOCK_EXPORT uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info) {
    mock_enter(MOCK_API_aclrtGetDeviceIdFromExceptionInfo);
    return known(info) == NULL ? NO_INFO : info->device;
}

MOCK_EXPORT uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info) {
    mock_enter(MOCK_API_aclrtGetErrorCodeFromExceptionInfo);
    return known(info) == NULL ? NO_INFO : info->code;
}

/* Null info, and a task that is no kernel: -1 (implementation of the open runtime). An operator of the
 * mock has no arguments in device memory: null and 0 (own choice). */
MOCK_EXPORT aclError aclrtGetArgsFromExceptionInfo(
    const aclrtExceptionInfo *info, void **devArgsPtr, uint32_t *devArgsLen) {
    MOCK_ENTER(aclrtGetArgsFromExceptionInfo);
    if (known(info) == NULL) return mock_fail((aclError)NO_INFO, "EH0008", "info is none of a failed task");
    if (devArgsPtr == NULL || devArgsLen == NULL) return mock_null("devArgsPtr and devArgsLen");
    if (!info->kernel) return mock_fail((aclError)NO_INFO, "EH0008", "the task is no kernel");
    *devArgsPtr = info->origin.device_args;
    *devArgsLen = info->origin.device_args_size;
    return 0;
}

/* Without a function, as for operators of the mock: 107000 (own choice). */
MOCK_EXPORT aclError aclrtGetFuncHandleFromExceptionInfo(
    const aclrtExceptionInfo *info, aclrtFuncHandle *func) {
    MOCK_ENTER(aclrtGetFuncHandleFromExceptionInfo);
    if (known(info) == NULL) return mock_fail((aclError)NO_INFO, "EH0008", "info is none of a failed task");
    if (func == NULL) return mock_null("func");
    if (info->origin.function == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the task has no function handle");
    *func = info->origin.function;
    return 0;
}
