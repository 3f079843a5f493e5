/* Settings that are kept and given back: core limits, system parameters, time-outs.
 *
 * (guide: device management, resource limits; initialisation, system parameters) */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"
#include "devices/profile.h"
#include "engine/engine.h"

static uint32_t device_limit[MOCK_MAX_DEVICES][2]; /* 0: all of them */
static int64_t system_option[4];
static _Thread_local struct {
    uint64_t epoch;
    uint32_t limit[2];
} in_use;

void mock_limits_reset(void) {
    for (int i = 0; i < MOCK_MAX_DEVICES; i++) device_limit[i][0] = device_limit[i][1] = 0;
    for (int i = 0; i < 4; i++) system_option[i] = 0;
}

static int kind(aclrtDevResLimitType type) { return type == ACL_RT_DEV_RES_VECTOR_CORE; }

static uint32_t cores(aclrtDevResLimitType type) {
    const mock_profile *p = mock_profile_get();
    return type == ACL_RT_DEV_RES_CUBE_CORE ? p->ai_cores : p->vector_cores;
}

static aclError check_type(aclrtDevResLimitType type) {
    if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "resource type %d", (int)type);
}

/* Above what the device has: 107000 (implementation of the open runtime); 0 likewise (own choice). */
static aclError check_limit(aclrtDevResLimitType type, uint32_t value) {
    const aclError code = check_type(type);
    if (code != 0 || (value > 0 && value <= cores(type))) return code;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%u cores of %u", value, cores(type));
}

/* ---- devices ---- */

MOCK_EXPORT aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value) {
    MOCK_ENTER(aclrtGetDeviceResLimit);
    if (value == NULL) return mock_null("value");
    aclError code = mock_device_check(deviceId);
    if (code == 0) code = check_type(type);
    if (code != 0) return code;
    mock_lock();
    const uint32_t set = device_limit[deviceId][kind(type)];
    mock_unlock();
    *value = set == 0 ? cores(type) : set;
    return 0;
}

MOCK_EXPORT aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
    MOCK_ENTER(aclrtSetDeviceResLimit);
    aclError code = mock_device_check(deviceId);
    if (code == 0) code = check_limit(type, value);
    if (code != 0) return code;
    mock_lock();
    device_limit[deviceId][kind(type)] = value;
    mock_unlock();
    return 0;
}

MOCK_EXPORT aclError aclrtResetDeviceResLimit(int32_t deviceId) {
    MOCK_ENTER(aclrtResetDeviceResLimit);
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    mock_lock();
    device_limit[deviceId][0] = device_limit[deviceId][1] = 0;
    mock_unlock();
    return 0;
}

/* ---- streams ---- */

static uint32_t *stream_limit(mock_stream *s, aclrtDevResLimitType type) {
    return type == ACL_RT_DEV_RES_CUBE_CORE ? &s->cube_limit : &s->vector_limit;
}

/* The stream's own limit, else the device's (guide: device management, aclrtGetStreamResLimit). */
static uint32_t effective(mock_stream *s, aclrtDevResLimitType type) {
    if (*stream_limit(s, type) != 0) return *stream_limit(s, type);
    const uint32_t set = device_limit[s->ctx->device][kind(type)];
    return set == 0 ? cores(type) : set;
}

MOCK_EXPORT aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t *value) {
    MOCK_ENTER_OF(aclrtGetStreamResLimit, stream);
    if (value == NULL) return mock_null("value");
    aclError code = check_type(type);
    if (code != 0) return code;
    mock_stream *s = NULL;
    mock_lock();
    code = mock_stream_to_submit(stream, &s);
    if (code == 0) *value = effective(s, type);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
    MOCK_ENTER_OF(aclrtSetStreamResLimit, stream);
    aclError code = check_limit(type, value);
    if (code != 0) return code;
    mock_stream *s = NULL;
    mock_lock();
    code = mock_stream_to_submit(stream, &s);
    if (code == 0) *stream_limit(s, type) = value;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtResetStreamResLimit(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtResetStreamResLimit, stream);
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) s->cube_limit = s->vector_limit = 0;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtUseStreamResInCurrentThread, stream);
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) {
        in_use.epoch = atomic_load(&mock_epoch);
        in_use.limit[0] = effective(s, ACL_RT_DEV_RES_CUBE_CORE);
        in_use.limit[1] = effective(s, ACL_RT_DEV_RES_VECTOR_CORE);
    }
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtUnuseStreamResInCurrentThread, stream);
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) in_use.epoch = 0;
    mock_unlock();
    return code;
}

/* Of the stream the thread chose, else of the device. With the lock. */
static uint32_t in_use_of(const mock_ctx *ctx, aclrtDevResLimitType type) {
    if (in_use.epoch == atomic_load_explicit(&mock_epoch, memory_order_relaxed)) return in_use.limit[kind(type)];
    const uint32_t set = device_limit[ctx->device][kind(type)];
    return set == 0 ? cores(type) : set;
}

/* What later launches have (guide: device management, aclrtUseStreamResInCurrentThread): of the thread that
 * launches, at the second phase (own choice: the guide does not name the phase). */
void mock_limits_in_use(const mock_ctx *ctx, mock_kernel *kernel) {
    kernel->cube = (uint16_t)in_use_of(ctx, ACL_RT_DEV_RES_CUBE_CORE);
    kernel->vector = (uint16_t)in_use_of(ctx, ACL_RT_DEV_RES_VECTOR_CORE);
}

MOCK_EXPORT aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value) {
    MOCK_ENTER(aclrtGetResInCurrentThread);
    if (value == NULL) return mock_null("value");
    const aclError code = check_type(type);
    if (code != 0) return code;
    mock_lock();
    const mock_ctx *ctx = mock_current();
    if (ctx != NULL) *value = in_use_of(ctx, type);
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

/* ---- system parameters ---- */

/* A context has no early start (implementation of the open runtime); others 107000 (own choice). */
static aclError check_option(aclSysParamOpt opt, bool context) {
    const int last = context ? ACL_OPT_STRONG_CONSISTENCY : ACL_OPT_ENABLE_KERNEL_EARLY_START;
    if ((int)opt >= 0 && (int)opt <= last) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "system parameter %d", (int)opt);
}

MOCK_EXPORT aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    MOCK_ENTER(aclrtCtxSetSysParamOpt);
    const aclError code = check_option(opt, true);
    if (code != 0) return code;
    mock_lock();
    mock_ctx *ctx = mock_current();
    if (ctx != NULL) {
        ctx->options[opt] = value;
        ctx->option_set[opt] = true;
    }
    mock_unlock();
    return ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

/* Never set: 107021 (header: ACL_ERROR_RT_SYSPARAMOPT_NOT_SET; implementation of the open runtime). */
MOCK_EXPORT aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
    MOCK_ENTER(aclrtCtxGetSysParamOpt);
    if (value == NULL) return mock_null("value");
    aclError code = check_option(opt, true);
    if (code != 0) return code;
    mock_lock();
    const mock_ctx *ctx = mock_current();
    if (ctx == NULL) code = ACL_ERROR_RT_CONTEXT_NULL;
    else if (!ctx->option_set[opt])
        code =
            mock_fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "EE1018", "system parameter %d is not set", (int)opt);
    else *value = ctx->options[opt];
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    MOCK_ENTER(aclrtSetSysParamOpt);
    const aclError code = check_option(opt, false);
    if (code != 0) return code;
    mock_lock();
    system_option[opt] = value;
    mock_unlock();
    return 0;
}

/* Never set: 0 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value) {
    MOCK_ENTER(aclrtGetSysParamOpt);
    if (value == NULL) return mock_null("value");
    const aclError code = check_option(opt, false);
    if (code != 0) return code;
    mock_lock();
    *value = system_option[opt];
    mock_unlock();
    return 0;
}
