/* Streams: creation, destruction, waiting, queries (guide: stream management). The default stream does not
 * synchronise with others (implementation of the open runtime). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "graphs/graphs.h"
#include "memory/memory.h"
#include "streams/callback.h"
#include "streams/overflow.h"
#include "streams/stream.h"
#include "streams/streams.h"

#define NO_TASKS (ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)

_Static_assert(MOCK_MAX_DEVICES == MOCK_QUOTA_DEVICES, "the engine counts for as many devices as there can be");

static mock_stream *free_streams;
static uint64_t next_serial = 1;
static int32_t next_id = 1;
static uint32_t ids_used[(MOCK_STREAM_LIMIT + 32) / 32];

/* The next free id, in turn (own choice: the driver decides). */
static int32_t take_id(void) {
    for (uint32_t i = 0; i <= MOCK_STREAM_LIMIT; i++) {
        const uint32_t id = ((uint32_t)next_id + i) % (MOCK_STREAM_LIMIT + 1);
        if (ids_used[id / 32] & (1u << (id % 32))) continue;
        ids_used[id / 32] |= 1u << (id % 32);
        next_id = (int32_t)id + 1;
        return (int32_t)id;
    }
    return -1;
}

static mock_stream *stream_object(void) {
    mock_stream *s = free_streams;
    if (s != NULL) {
        free_streams = s->next_free;
        return s;
    }
    s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    mock_list_init(&s->in_context);
    mock_list_init(&s->in_queue);
    mock_list_init(&s->waiters);
    return s;
}

mock_stream *mock_stream_new(mock_ctx *ctx, uint32_t priority, uint32_t flags, bool is_default) {
    if (mock_streams_left(ctx->device) == 0 || mock_engine.streams > MOCK_STREAM_LIMIT) return NULL;
    mock_stream *s = stream_object();
    if (s == NULL) return NULL;
    s->handle = mock_handle_new(MOCK_STREAM, s);
    if (s->handle == NULL) {
        s->next_free = free_streams;
        free_streams = s;
        return NULL;
    }
    s->serial = next_serial++;
    s->ctx = ctx;
    s->id = take_id();
    s->priority = priority > 7 ? 7 : priority;
    s->flags = flags;
    s->is_default = is_default;
    s->stop_on_failure = false;
    atomic_store_explicit(&s->held, false, memory_order_relaxed);
    s->stopped = s->overflow_switch = s->cache_op_info = s->bound = s->host_funcs = false;
    s->group_left = false;
    s->again = false;
    s->dropping = 0;
    s->custom_tag = UINT32_MAX; /* (observed: attributes) */
    s->cube_limit = s->vector_limit = 0;
    s->error = s->stop_error = 0;
    s->time_ns = 0;
    s->timed_out = false;
    s->base = s->tail;
    s->saturation = mock_saturation();
    s->graph = NULL;
    s->update = NULL;
    s->report_thread = 0;
    s->report_host = false;
    mock_list_push(&ctx->streams, &s->in_context);
    mock_stream_taken(s);
    return s;
}

/* The queue must be empty. */
void mock_stream_free(mock_stream *s) {
    mock_handle_take(MOCK_STREAM, s->handle);
    mock_unsubscribe(s);
    mock_reports_leave(s);
    mock_update_leave(s);
    mock_graph_detach(s);
    mock_racing_leave(s);
    s->handle = NULL;
    s->serial = 0;
    ids_used[(uint32_t)s->id / 32] &= ~(1u << ((uint32_t)s->id % 32));
    mock_list_remove(&s->in_context);
    mock_stream_given(s);
    s->next_free = free_streams;
    free_streams = s;
}

void mock_stream_goes(const mock_stream *s) {
    void *handle = s->handle;
    if (!mock_streams_told()) return;
    mock_unlock();
    mock_tell_stream(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
    mock_lock();
}

/* No stream left: 207008 (header: ACL_ERROR_RT_NO_STREAM_RESOURCE). The priority is cut to 7
 * (implementation of the open runtime). */
aclError mock_stream_create(aclrtStream *out, uint32_t priority, uint32_t flags) {
    if (out == NULL) return mock_null("stream");
    mock_lock();
    mock_ctx *ctx = mock_current();
    mock_stream *s = ctx == NULL ? NULL : mock_stream_new(ctx, priority, flags, false);
    void *handle = s == NULL ? NULL : s->handle;
    mock_unlock();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    if (s == NULL) return mock_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "EE1023", "no stream is left");
    *out = handle;
    mock_gave(handle);
    mock_tell_stream(handle, ACL_RT_STREAM_STATE_CREATE_POST);
    return 0;
}

MOCK_EXPORT aclError aclrtCreateStream(aclrtStream *stream) {
    MOCK_ENTER(aclrtCreateStream);
    return mock_stream_create(stream, 0, 0);
}

/* Unknown bits are ignored (implementation of the open runtime); every known one can be created
 * (observed: capture_begin). */
MOCK_EXPORT aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag) {
    MOCK_ENTER(aclrtCreateStreamWithConfig);
    return mock_stream_create(stream, priority, flag & 0x3Fu);
}

/* (own choice: the guide forbids such calls in callbacks; the real runtime may hang) */
static aclError refuse_in_task(const char *call) {
    if (mock_self()->in_task == 0) return 0;
    return mock_fail(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "%s must not be called by a host function", call);
}

/* Capturing: 107027 (observed: capturing_calls, destroy_side), before the context (observed: other_context_stream). The
 * default stream: 107000 (own choice: the real runtime gives 0 and crashes later; observed, not recorded). Waits for
 * queued work; by force for none of it (guide: stream management, aclrtDestroyStreamForce): what a card would be done
 * with runs, what waits for something is dropped. A graph launched before lives on
 * (observed: execute). */
static aclError destroy(aclrtStream handle, bool force, const char *call) {
    mock_stream *s = NULL;
    if (handle == NULL) return mock_null("stream");
    aclError code = refuse_in_task(call);
    if (code != 0) return code;
    mock_lock();
    code = mock_stream_to_look_at(handle, &s);
    if (code == 0 && mock_capturing(s)) code = mock_captured_illegal(s, call);
    if (code == 0) code = mock_stream_to_submit(handle, &s);
    if (code == 0 && s->is_default)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1016", "the default stream cannot be destroyed");
    if (code == 0) {
        const uint64_t serial = s->serial;
        mock_stream_goes(s);
        if (s->serial != serial) force = true; /* the callback destroyed it */
        else if (force) mock_end_by_force(s);
        else mock_drain(s);
        /* Another thread may have destroyed it while this one waited. */
        if (s->serial == serial) mock_stream_free(s);
    }
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtDestroyStream(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtDestroyStream, stream);
    return destroy(stream, false, "aclrtDestroyStream");
}

MOCK_EXPORT aclError aclrtDestroyStreamForce(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtDestroyStreamForce, stream);
    return destroy(stream, true, "aclrtDestroyStreamForce");
}

/* ---- waiting ---- */

/* The stream's unreported error, which a report clears; of a stream that stopped, every time (own choice:
 * nothing says which reports clear it). */
aclError mock_stream_take_error(mock_stream *s) {
    const aclError code = s->stopped ? s->stop_error : s->error;
    s->error = 0;
    if (code != 0) mock_fail(code, "EE9999", "a task of stream %d failed with %d", s->id, code);
    return code;
}

aclError mock_aborted(const mock_stream *s) {
    return mock_fail(s->abort_code, "EE9999", "stream %d was aborted", s->id);
}

/* Capturing: 107027 (observed: capturing_calls), before the context (observed: sequences). */
static aclError find_waited(aclrtStream handle, mock_stream **s, const char *call) {
    const aclError code = mock_stream_to_look_at(handle, s);
    if (code == 0 && mock_capturing(*s)) return mock_captured_illegal(*s, call);
    return code == 0 && mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : code;
}

/* Streams that run no tasks: 0 at once (guide: stream
 * management, aclrtSynchronizeStream). Time-out: 507046 (observed: syncev_timeout). */
static aclError synchronize(aclrtStream handle, int64_t timeout_ns, const char *call) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = find_waited(handle, &s, call);
    if (code == 0 && (s->flags & NO_TASKS) == 0) {
        mock_target t = mock_target_of(s, s->tail);
        code = mock_wait_target(&t, timeout_ns);
        if (s->aborts != t.aborts) code = mock_aborted(s);
        else if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
            mock_fail(code, "EE1002", "stream %d did not finish in time", s->id);
        if (code == 0 && mock_target_lives(&t)) code = mock_stream_take_error(s);
    }
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtSynchronizeStream(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtSynchronizeStream, stream);
    return synchronize(stream, MOCK_FOREVER, "aclrtSynchronizeStream");
}

/* 0 and below -1: 107000 (observed: stream_basic); below -1 says the ACL layer (observed: live_stream). */
static aclError bad_timeout(int32_t ms) {
    if (ms == -1 || ms > 0) return 0;
    if (ms == 0) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the time-out must not be 0");
    return mock_fail_acl(ACL_ERROR_RT_PARAM_INVALID, "EH0007", "the time-out %d is below -1", ms);
}

/* Whether the handle lives, or is null: what it says comes before a time-out of 0 (observed: sequences). */
static bool lives(aclrtStream handle) { return handle == NULL || mock_handle_get(MOCK_STREAM, handle) != NULL; }

static int64_t timeout_ns(int32_t ms) { return ms < 0 ? MOCK_FOREVER : (int64_t)ms * 1000000; }

MOCK_EXPORT aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    MOCK_ENTER_OF(aclrtSynchronizeStreamWithTimeout, stream);
    const aclError code = timeout != 0 || lives(stream) ? bad_timeout(timeout) : 0;
    if (code != 0) return code;
    return synchronize(stream, timeout_ns(timeout), "aclrtSynchronizeStreamWithTimeout");
}

typedef struct all_targets {
    mock_target *at;
    size_t count;
} all_targets;

static bool pending(const mock_target *t) {
    return atomic_load_explicit(&t->stream->done, memory_order_acquire) < t->seq;
}

static bool all_reached(void *what) {
    const all_targets *all = what;
    for (size_t i = 0; i < all->count; i++)
        if (pending(&all->at[i])) return false;
    return true;
}

static uint64_t last_end(void *what) {
    const all_targets *all = what;
    uint64_t last = 0;
    for (size_t i = 0; i < all->count; i++) {
        const mock_target *t = &all->at[i];
        if (mock_target_lives(t) && t->stream->time_ns > last) last = t->stream->time_ns;
    }
    return last;
}

static bool one_needs(void *what, const mock_stream *s) {
    const all_targets *all = what;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].stream == s) return pending(&all->at[i]);
    return false;
}

static bool finished(const mock_stream *s) {
    return s->tail == atomic_load_explicit(&s->done, memory_order_acquire) && s->error == 0 && !s->stopped;
}

static void add(all_targets *all, mock_stream *s) {
    if ((s->flags & NO_TASKS) != 0) return;
    if (finished(s) && s->time_ns <= mock_engine.clock_ns) return;
    all->at[all->count++] = mock_target_of(s, s->tail);
}

/* What is collected, with the lock. */
static const mock_ctx *collected_for;
static all_targets *collected;

static void collect_of_device(mock_stream *s) {
    if (s->ctx == collected_for || s->ctx->device != collected_for->device) return;
    if (!mock_capturing(s)) add(collected, s);
}

static aclError device_captured(mock_stream *s, const char *call) {
    mock_capture_spoil(&s->graph->capture);
    return mock_fail(
        ACL_ERROR_RT_STREAM_CAPTURED, "EE9999", "%s is not allowed while a stream captures", call);
}

/* One capturing stream of the context: 107027 (observed: capturing_calls); of another context: 0
 * (observed: sync_device_other_ctx_capture). The documentation waits for the streams of the other
 * contexts of the device as well (guide: device management, aclrtSynchronizeDevice). */
static aclError collect(mock_ctx *ctx, all_targets *all, const char *call) {
    for (mock_link *l = ctx->streams.next; l != &ctx->streams; l = l->next) {
        mock_stream *s = MOCK_OWNER(l, mock_stream, in_context);
        if (mock_capturing(s)) return device_captured(s, call);
        add(all, s);
    }
    collected_for = ctx;
    collected = all;
    if (mock_strict_doc()) mock_each_stream(collect_of_device);
    return 0;
}

/* Waits for the streams of the current context, not for the whole device (implementation of the open
 * runtime), unless MOCK_ACL_STRICT has doc. Time-out: 507046 (observed: syncev_timeout). The first error
 * of the streams is reported (own choice). */
static aclError synchronize_device(int64_t timeout, const char *call) {
    all_targets all = {malloc(sizeof(mock_target) * MOCK_STREAM_LIMIT), 0};
    if (all.at == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    mock_lock();
    mock_ctx *ctx = mock_current();
    aclError code = ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL : collect(ctx, &all, call);
    if (code == 0) {
        code = mock_wait(&(mock_wait_for){all_reached, one_needs, &all, NULL, last_end, false}, timeout);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
            mock_fail(code, "EE1002", "the device did not finish in time");
        for (size_t i = 0; i < all.count && code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT; i++) {
            mock_stream *s = all.at[i].stream;
            aclError one = s->aborts != all.at[i].aborts ? mock_aborted(s) : 0;
            if (one == 0 && mock_target_lives(&all.at[i])) one = mock_stream_take_error(s);
            if (code == 0) code = one;
        }
        if (mock_races() && code != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) mock_racing_idle();
        mock_pools_trim();
    }
    mock_unlock();
    free(all.at);
    return code;
}

MOCK_EXPORT aclError aclrtSynchronizeDevice(void) {
    MOCK_ENTER(aclrtSynchronizeDevice);
    return synchronize_device(MOCK_FOREVER, "aclrtSynchronizeDevice");
}

MOCK_EXPORT aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    MOCK_ENTER(aclrtSynchronizeDeviceWithTimeout);
    const aclError code = bad_timeout(timeout);
    if (code != 0) return code;
    return synchronize_device(timeout_ns(timeout), "aclrtSynchronizeDeviceWithTimeout");
}

/* Unfinished is a status, no error; status null 100000 (observed: stream_basic). Capturing: 107027
 * (observed: capturing_calls). */
MOCK_EXPORT aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) {
    MOCK_ENTER_OF(aclrtStreamQuery, stream);
    mock_stream *s = NULL;
    if (status == NULL) return mock_null("status");
    mock_lock();
    aclError code = find_waited(stream, &s, "aclrtStreamQuery");
    if (code == 0) {
        const bool idle =
            (s->flags & NO_TASKS) != 0 || atomic_load_explicit(&s->done, memory_order_acquire) == s->tail;
        *status = idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
        if (idle) mock_clock_follows(s->time_ns);
        if (idle && mock_races()) mock_racing_over(s);
        if (!idle) mock_poll_wakes_worker();
    }
    mock_unlock();
    return code;
}

aclError mock_synchronize_current(void) { return synchronize_device(MOCK_FOREVER, "aclrtSynchronizeDevice"); }
