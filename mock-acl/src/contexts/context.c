/* Devices and contexts: reference counts, the default context of a device, the current context of a thread
 * (guide: device management, context management). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "contexts/config.h"
#include "contexts/context.h"
#include "contexts/contexts.h"
#include "contexts/init.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "streams/streams.h"

typedef struct device {
    uint64_t count; /* aclrtSetDevice minus aclrtResetDevice */
    mock_ctx *primary;
    /* The context that it had: the same object comes again, for threads and handles that still name it (observed:
     * sequences). */
    mock_ctx *kept;
    void *kept_handle;
    uint64_t kept_serial;
} device;

static device devices[MOCK_MAX_DEVICES];
static mock_ctx *free_contexts;
static uint64_t next_serial = 1;
static _Atomic int32_t default_device;

static void bind(mock_ctx *ctx) {
    mock_thread *t = mock_self();
    t->ctx = ctx;
    t->ctx_serial = ctx->serial;
}

static aclError ensure_primary(int32_t id);

/* A thread without a context gets that of the configured device, as by aclrtSetDevice (guide: initialisation,
 * aclInit). */
static mock_ctx *bind_default(void) {
    const int32_t id = atomic_load_explicit(&default_device, memory_order_relaxed);
    if (ensure_primary(id) != 0) return NULL;
    devices[id].count++;
    bind(devices[id].primary);
    mock_self()->device = id;
    return devices[id].primary;
}

void mock_default_device(int32_t id) {
    if (id >= 0) atomic_store(&default_device, id);
    atomic_store(&mock_bind_default, id < 0 ? NULL : bind_default);
}

static void recycle(mock_ctx *ctx) {
    ctx->next_free = free_contexts;
    free_contexts = ctx;
}

static mock_ctx *context_named(void) {
    mock_ctx *ctx = free_contexts;
    if (ctx != NULL) free_contexts = ctx->next_free;
    else ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL) return NULL;
    ctx->serial = next_serial++;
    ctx->handle = mock_handle_new(MOCK_CONTEXT, ctx);
    if (ctx->handle != NULL) return ctx;
    recycle(ctx);
    return NULL;
}

static mock_ctx *context_again(device *d) {
    mock_ctx *ctx = d->kept;
    ctx->serial = d->kept_serial;
    ctx->handle = d->kept_handle;
    d->kept = NULL;
    return ctx;
}

/* Its name as it goes. */
typedef struct name {
    void *handle;
    uint64_t serial;
} name;

static name context_unname(mock_ctx *ctx) {
    const name n = {ctx->handle, ctx->serial};
    if (!ctx->primary) mock_handle_take(MOCK_CONTEXT, ctx->handle);
    ctx->handle = NULL;
    ctx->serial = 0;
    return n;
}

/* Nothing is left of it. Another thread may have set the device meanwhile. */
static void context_gone(mock_ctx *ctx, name n) {
    device *d = &devices[ctx->device];
    if (ctx->primary && d->kept == NULL && d->primary == NULL) {
        d->kept = ctx;
        d->kept_handle = n.handle;
        d->kept_serial = n.serial;
        return;
    }
    if (ctx->primary) mock_handle_take(MOCK_CONTEXT, n.handle);
    recycle(ctx);
}

static mock_ctx *context_new(int32_t id, bool primary) {
    mock_ctx *ctx = primary && devices[id].kept != NULL ? context_again(&devices[id]) : context_named();
    if (ctx == NULL) return NULL;
    ctx->device = id;
    ctx->primary = primary;
    ctx->in_callback = false;
    for (int i = 0; i < 4; i++) ctx->option_set[i] = false;
    mock_list_init(&ctx->callback_waiters);
    mock_list_init(&ctx->streams);
    mock_list_init(&ctx->graphs);
    ctx->default_stream = mock_stream_new(ctx, 0, 0, true);
    if (ctx->default_stream == NULL) {
        context_gone(ctx, context_unname(ctx));
        return NULL;
    }
    mock_list_push(&mock_contexts, &ctx->all);
    mock_stream_made(ctx->default_stream);
    return ctx;
}

/* Ends the context: its handle and those of its streams and graphs become stale. Queued work runs as far as
 * it can (guide: device management, aclrtResetDevice; own choice for a context of the program), by force it
 * is dropped (guide: device management, aclrtResetDeviceForce). */
static void context_teardown(mock_ctx *ctx, bool force) {
    mock_overflow_leave(ctx);
    const name n = context_unname(ctx);
    mock_capture_abandon(ctx);
    while (!mock_list_empty(&ctx->streams)) {
        mock_stream *s = MOCK_OWNER(ctx->streams.next, mock_stream, in_context);
        const uint64_t serial = s->serial;
        mock_stream_goes(s);
        if (s->serial != serial) continue;
        if (force) mock_drop_queue(s);
        else mock_drain(s);
        if (s->serial == serial) mock_stream_free(s);
    }
    mock_graph_destroy_all(ctx);
    mock_list_remove(&ctx->all);
    context_gone(ctx, n);
}

/* The live context of a handle. */
static mock_ctx *context_of(aclrtContext handle) {
    mock_ctx *ctx = mock_handle_get(MOCK_CONTEXT, handle);
    return ctx != NULL && ctx->handle != NULL ? ctx : NULL;
}

static void forget_device(device *d) {
    if (d->kept != NULL) {
        mock_handle_take(MOCK_CONTEXT, d->kept_handle);
        recycle(d->kept);
    }
    *d = (device){0};
}

void mock_contexts_reset(void) {
    while (!mock_list_empty(&mock_contexts)) {
        mock_ctx *ctx = MOCK_OWNER(mock_contexts.next, mock_ctx, all);
        mock_capture_abandon(ctx);
        for (mock_link *l = ctx->streams.next; l != &ctx->streams; l = l->next)
            mock_drop_queue(MOCK_OWNER(l, mock_stream, in_context));
        context_teardown(ctx, false);
    }
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) forget_device(&devices[i]);
}

/* ---- devices ---- */

/* No stream left for it: 507033 (header: ACL_ERROR_RT_DEV_SETUP_ERROR; implementation of the open
 * runtime). */
static aclError ensure_primary(int32_t id) {
    device *d = &devices[id];
    if (d->primary != NULL) return 0;
    const aclError code = mock_device_limits_check();
    if (code != 0) return code;
    d->primary = context_new(id, true);
    mock_device_in_use();
    mock_workers_again();
    if (d->primary != NULL) return 0;
    return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "EE9999", "device %d has no stream left", id);
}

bool mock_device_open(int32_t id) {
    mock_lock();
    const bool open = devices[id].primary != NULL;
    mock_unlock();
    return open;
}

/* Counts, and makes the default context current (guide: device management, aclrtSetDevice); aclInit is
 * not needed (observed: no_init). */
MOCK_EXPORT aclError aclrtSetDevice(int32_t deviceId) {
    MOCK_ENTER(aclrtSetDevice);
    aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    mock_tell_device(deviceId, ACL_RT_DEVICE_STATE_SET_PRE);
    mock_lock();
    code = ensure_primary(deviceId);
    if (code == 0) {
        devices[deviceId].count++;
        bind(devices[deviceId].primary);
        mock_self()->device = deviceId;
    }
    mock_unlock();
    mock_tell_made_streams();
    if (code == 0) mock_tell_device(deviceId, ACL_RT_DEVICE_STATE_SET_POST);
    return code;
}

/* Leaves the last error as it is (observed: with_context). */
static aclError check_for_force(int32_t id) {
    if (id >= 0 && (uint32_t)id < mock_device_count()) return 0;
    return mock_fail_acl(ACL_ERROR_RT_INVALID_DEVICEID, "EE1003", "device %d does not exist", id);
}

/* The thread that ends a device loses the context of any device, but none of the program (observed: sequences,
 * primary_state). */
static void unbind_primary(void) {
    mock_thread *t = mock_self();
    const mock_ctx *ctx = mock_current_quiet();
    if (ctx != NULL && ctx->primary) t->ctx = NULL;
    for (int i = 0; i < MOCK_MAX_DEVICES; i++)
        if (devices[i].kept != NULL && devices[i].kept == t->ctx && devices[i].kept_serial == t->ctx_serial)
            t->ctx = NULL;
}

/* At 0 the default context goes; by force at once; below 0: 507007 (observed: device_force,
 * device_force2). In a host function 207000 (own choice: it waits). */
static aclError reset(int32_t id, bool force, const char *call) {
    aclError code = force ? check_for_force(id) : mock_device_check(id);
    if (code != 0) return code;
    if (mock_self()->in_task != 0)
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "%s must not be called by a host function", call);
    mock_tell_device(id, ACL_RT_DEVICE_STATE_RESET_PRE);
    mock_lock();
    device *d = &devices[id];
    if (d->count == 0) {
        if (mock_current_quiet() == NULL) unbind_primary();
        code = (force ? mock_fail_acl : mock_fail)(
            ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, force ? "EE9999" : "EE1018", "device %d is not set", id);
    } else {
        d->count = force ? 0 : d->count - 1;
        mock_ctx *ctx = d->primary;
        if (d->count == 0 && ctx != NULL) {
            d->primary = NULL;
            context_teardown(ctx, force);
            mock_graph_streams_forgotten(id);
            unbind_primary();
        }
    }
    mock_unlock();
    if (code == 0) mock_tell_device(id, ACL_RT_DEVICE_STATE_RESET_POST);
    return code;
}

MOCK_EXPORT aclError aclrtResetDevice(int32_t deviceId) {
    MOCK_ENTER(aclrtResetDevice);
    return reset(deviceId, false, "aclrtResetDevice");
}

MOCK_EXPORT aclError aclrtResetDeviceForce(int32_t deviceId) {
    MOCK_ENTER(aclrtResetDeviceForce);
    return reset(deviceId, true, "aclrtResetDeviceForce");
}

/* Without a context neither this nor aclrtGetCurrentContext has a text or sets the last error (observed:
 * before_set_device). */
MOCK_EXPORT aclError aclrtGetDevice(int32_t *deviceId) {
    MOCK_ENTER(aclrtGetDevice);
    if (deviceId == NULL) return mock_null("deviceId");
    mock_lock();
    const mock_ctx *ctx = mock_current_or_none();
    if (ctx != NULL) *deviceId = ctx->device;
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

/* flags must be null; a device without a context by aclrtSetDevice is not active (observed: with_context,
 * primary_state). */
MOCK_EXPORT aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags, int32_t *active) {
    MOCK_ENTER(aclrtGetPrimaryCtxState);
    if (flags != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0012", "flags must be null");
    if (active == NULL) return mock_null("active");
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    mock_lock();
    *active = devices[deviceId].count != 0;
    mock_unlock();
    return 0;
}

/* ---- contexts ---- */

/* Becomes current; the device gets its default context too (guide: context management,
 * aclrtCreateContext). Other devices: 107001 (observed: ctx). */
MOCK_EXPORT aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
    MOCK_ENTER(aclrtCreateContext);
    if (context == NULL) return mock_null("context");
    aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    mock_lock();
    code = ensure_primary(deviceId);
    mock_ctx *ctx = code == 0 ? context_new(deviceId, false) : NULL;
    if (ctx != NULL) {
        *context = ctx->handle;
        mock_gave(*context);
        bind(ctx);
    }
    mock_unlock();
    mock_tell_made_streams();
    if (code == 0 && ctx == NULL)
        code = mock_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "EE1023", "no stream is left");
    return code;
}

/* The default context, a destroyed or unknown one: 107002 (observed: ctx). In a host function 207000 (own
 * choice). */
MOCK_EXPORT aclError aclrtDestroyContext(aclrtContext context) {
    MOCK_ENTER_OF(aclrtDestroyContext, context);
    if (context == NULL) return mock_null("context");
    if (mock_self()->in_task != 0)
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "a host function must not destroy a context");
    aclError code = 0;
    mock_lock();
    mock_ctx *ctx = context_of(context);
    if (ctx == NULL || ctx->primary)
        code = mock_fail(
            ACL_ERROR_RT_CONTEXT_NULL, "EE1017", "%p is not a context that can be destroyed", context);
    else context_teardown(ctx, false);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtSetCurrentContext(aclrtContext context) {
    MOCK_ENTER_OF(aclrtSetCurrentContext, context);
    if (context == NULL) return mock_null("context");
    mock_lock();
    mock_ctx *ctx = context_of(context);
    if (ctx != NULL) bind(ctx);
    mock_unlock();
    /* 107000 here, 107002 from aclrtDestroyContext (observed: ctx). */
    return ctx != NULL ? 0
                       : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1018", "%p is not a live context", context);
}

/* None: 107002 (observed: thread_no_ctx). */
MOCK_EXPORT aclError aclrtGetCurrentContext(aclrtContext *context) {
    MOCK_ENTER(aclrtGetCurrentContext);
    if (context == NULL) return mock_null("context");
    mock_lock();
    const mock_ctx *ctx = mock_current_or_none();
    if (ctx != NULL) *context = ctx->handle;
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

/* The real handle (observed: stream_basic, execute_default_real). */
MOCK_EXPORT aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) {
    MOCK_ENTER(aclrtCtxGetCurrentDefaultStream);
    if (stream == NULL) return mock_null("stream");
    mock_lock();
    const mock_ctx *ctx = mock_current();
    if (ctx != NULL) *stream = ctx->default_stream->handle;
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}
