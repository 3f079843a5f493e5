/* The control interface: counting, failures, gates, the virtual clock, reset. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "channels/buffer.h"
#include "streams/callback.h"
#include "contexts/context.h"
#include "contexts/core_group.h"
#include "engine/deadline.h"
#include "engine/engine.h"
#include "streams/exception.h"
#include "graphs/graph.h"
#include "kernels/kernel.h"
#include "engine/launches.h"
#include "base/things.h"
#include "base/names.h"
#include "engine/quota.h"
#include "memory/space.h"
#include "devices/state_callback.h"
#include "exports/unsupported.h"

#define MOCK_VERSION "mock-acl 0.1.0"
/* Where mock_acl_advance_ns stops: 292 years, and as much is left for tasks and deadlines. */
#define CLOCK_END_NS ((uint64_t)INT64_MAX)

static _Atomic uint64_t calls[MOCK_API_COUNT];

/* A failure waits for the call or task whose number it has. */
typedef struct fault {
    struct fault *next;
    int api;
    uint64_t left;
    int code;
} fault;
static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static fault *call_faults, *task_faults;
static atomic_bool slow; /* a fault is armed, or this is the child of a fork */
static atomic_bool forked;
static atomic_bool used_before_reset;

/* ---- entry of every call ---- */

/* A process that has called nothing has no device that its child could not use. */
static bool used(void) {
    for (size_t i = 0; i < MOCK_API_COUNT; i++)
        if (atomic_load_explicit(&calls[i], memory_order_relaxed) != 0) return true;
    return atomic_load(&used_before_reset);
}

static void in_child(void) {
    if (!used()) return;
    atomic_store(&forked, true);
    atomic_store(&slow, true);
}

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(NULL, NULL, in_child); }

static int fire(fault **list, int api) {
    int code = 0;
    pthread_mutex_lock(&fault_lock);
    for (fault **f = list; *f != NULL;) {
        if ((*f)->api == api && --(*f)->left == 0 && code == 0) {
            fault *spent = *f;
            code = spent->code;
            *f = spent->next;
            free(spent);
        } else {
            f = &(*f)->next;
        }
    }
    pthread_mutex_unlock(&fault_lock);
    return code;
}

static int enter_slow(mock_api api) {
    if (atomic_load(&forked))
        return mock_fail(
            ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the device cannot be used in the child of a fork");
    const int code = fire(&call_faults, (int)api);
    if (code != 0) mock_fail(code, "EE9999", "%s: injected failure %d", mock_lookup_name((int)api), code);
    return code;
}

int mock_enter(mock_api api) {
    atomic_fetch_add_explicit(&calls[api], 1, memory_order_relaxed);
    return MOCK_UNLIKELY(atomic_load_explicit(&slow, memory_order_relaxed)) ? enter_slow(api) : 0;
}

int mock_unsupported(mock_api api, const char *name) {
    const int code = mock_enter(api);
    if (code != 0) return code;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "%s is not supported by mock-acl", name);
}

int32_t mock_task_fault(const char *name) {
    const int api = mock_lookup_index(name);
    return api < 0 ? 0 : fire(&task_faults, api);
}

/* ---- exported ---- */

MOCK_EXPORT const char *mock_acl_version(void) { return MOCK_VERSION; }

MOCK_EXPORT void *mock_acl_lookup(const char *name) {
    const int i = name == NULL ? -1 : mock_lookup_index(name);
    return i < 0 ? NULL : mock_lookup_address(i);
}

MOCK_EXPORT uint64_t mock_acl_calls(const char *name) {
    const int i = name == NULL ? -1 : mock_lookup_index(name);
    return i < 0 ? 0 : atomic_load_explicit(&calls[i], memory_order_relaxed);
}

static int arm(fault **list, const char *name, uint64_t nth, int code) {
    const int api = name == NULL ? -1 : mock_lookup_index(name);
    if (api < 0 || nth == 0 || code == 0) return MOCK_ACL_BAD_ARGUMENT;
    fault *f = malloc(sizeof *f);
    if (f == NULL) return MOCK_ACL_BUSY;
    pthread_mutex_lock(&fault_lock);
    *f = (fault){*list, api, nth, code};
    *list = f;
    pthread_mutex_unlock(&fault_lock);
    return 0;
}

MOCK_EXPORT int mock_acl_fail(const char *name, uint64_t nth, int code) {
    const int result = arm(&call_faults, name, nth, code);
    if (result == 0) atomic_store(&slow, true);
    return result;
}

MOCK_EXPORT int mock_acl_fail_task(const char *name, uint64_t nth, int code) {
    const int result = arm(&task_faults, name, nth, code);
    mock_lock();
    if (result == 0) mock_engine.task_faults = true;
    mock_unlock();
    return result;
}

static void free_faults(fault **list) {
    while (*list != NULL) {
        fault *f = *list;
        *list = f->next;
        free(f);
    }
}

MOCK_EXPORT void mock_acl_clear_failures(void) {
    pthread_mutex_lock(&fault_lock);
    free_faults(&call_faults);
    free_faults(&task_faults);
    pthread_mutex_unlock(&fault_lock);
    atomic_store(&slow, atomic_load(&forked));
    mock_lock();
    mock_engine.task_faults = false;
    mock_unlock();
}

/* ---- gates ---- */

static void hold(mock_stream *s) {
    atomic_store_explicit(&s->held, true, memory_order_relaxed);
    /* A blocked stream stays in its waiter list; a runnable one must not be picked. */
    if (!s->blocked && !mock_list_empty(&s->in_queue)) mock_list_remove(&s->in_queue);
}

static void release(mock_stream *s) {
    atomic_store_explicit(&s->held, false, memory_order_relaxed);
    mock_make_runnable(s);
    mock_changed();
}

static int gate(aclrtStream handle, void (*action)(mock_stream *)) {
    mock_lock();
    const mock_ctx *ctx = mock_current_quiet();
    mock_stream *s = handle != NULL ? mock_handle_get(MOCK_STREAM, handle)
                     : ctx != NULL  ? ctx->default_stream
                                    : NULL;
    if (s != NULL) action(s);
    mock_unlock();
    return s == NULL ? MOCK_ACL_BAD_ARGUMENT : 0;
}

MOCK_EXPORT int mock_acl_hold_stream(aclrtStream stream) { return gate(stream, hold); }
MOCK_EXPORT int mock_acl_release_stream(aclrtStream stream) { return gate(stream, release); }

static int gate_id(int32_t id, void (*action)(mock_stream *)) {
    mock_lock();
    mock_stream *s = mock_stream_by_id(id);
    if (s != NULL) action(s);
    mock_unlock();
    return s == NULL ? MOCK_ACL_BAD_ARGUMENT : 0;
}

MOCK_EXPORT int mock_acl_hold_stream_id(int32_t id) { return gate_id(id, hold); }

MOCK_EXPORT int mock_acl_release_stream_id(int32_t id) {
    if (id != -1) return gate_id(id, release);
    mock_lock();
    mock_each_stream(release);
    mock_unlock();
    return 0;
}

/* ---- running and the clock ---- */

MOCK_EXPORT uint64_t mock_acl_run_until_idle(void) {
    if (mock_self()->in_task != 0) return 0;
    mock_lock();
    const uint64_t before = mock_engine.tasks_run;
    mock_run_all();
    const uint64_t ran = mock_engine.tasks_run - before;
    mock_unlock();
    return ran;
}

MOCK_EXPORT uint64_t mock_acl_now_ns(void) {
    mock_lock();
    const uint64_t now = mock_engine.clock_ns;
    mock_unlock();
    return now;
}

MOCK_EXPORT void mock_acl_advance_ns(uint64_t ns) {
    mock_lock();
    const uint64_t left = CLOCK_END_NS > mock_engine.clock_ns ? CLOCK_END_NS - mock_engine.clock_ns : 0;
    mock_engine.clock_ns += ns < left ? ns : left;
    while (mock_deadlines_pass(0)) {
    }
    mock_changed();
    mock_unlock();
}

/* ---- objects ---- */

int mock_copy_out(void *out, const void *full, size_t size) {
    size_t room = 0;
    if (out == NULL) return MOCK_ACL_BAD_ARGUMENT;
    memcpy(&room, out, sizeof room);
    if (room < sizeof room) return MOCK_ACL_BAD_ARGUMENT;
    if (room < size) size = room;
    memcpy((char *)out + sizeof room, (const char *)full + sizeof room, size - sizeof room);
    return 0;
}

static uint64_t objects(mock_object_kind kind) {
    return mock_handle_count((mock_kind)((int)MOCK_OBJECT_FIRST + (int)kind));
}

MOCK_EXPORT int mock_acl_live_handles(mock_acl_live *live) {
    const mock_arena_use device = mock_device_usage(-1), pinned = mock_pinned_usage();
    mock_space_lock();
    const uint64_t spaces = mock_space_count();
    mock_space_unlock();
    mock_lock();
    const uint64_t contexts = mock_own_contexts();
    const uint64_t defaults = mock_handle_count(MOCK_CONTEXT);
    mock_acl_live l = {
        .contexts = contexts,
        .streams = mock_engine.streams - defaults,
        .events = mock_handle_count(MOCK_EVENT),
        .graphs = mock_handle_count(MOCK_GRAPH),
        .device_allocations = device.blocks + spaces,
        .device_bytes = device.bytes,
        .pinned_allocations = pinned.blocks,
        .pinned_bytes = pinned.bytes,
        .tensors = objects(MOCK_OBJECT_TENSOR),
        .scalars = objects(MOCK_OBJECT_SCALAR),
        .arrays = objects(MOCK_OBJECT_ARRAY),
        .lists = objects(MOCK_OBJECT_LIST),
        .executors = objects(MOCK_OBJECT_EXECUTOR),
        .binaries = mock_live_binaries(),
        .buffers = mock_handle_count(MOCK_BUFFER),
        .library_objects = mock_things_live(),
        .stream_configs = mock_stream_configs_live(),
    };
    mock_unlock();
    return mock_copy_out(live, &l, sizeof l);
}

MOCK_EXPORT int mock_acl_cmo(mock_acl_cmo_totals *totals) {
    mock_lock();
    const mock_acl_cmo_totals t = {.tasks = mock_engine.cmo_tasks, .bytes = mock_engine.cmo_bytes};
    mock_unlock();
    return mock_copy_out(totals, &t, sizeof t);
}

/* ---- reset ---- */

static bool workers_still(void *unused) {
    (void)unused;
    return mock_engine.executing_workers == 0;
}

MOCK_EXPORT int mock_acl_reset(void) {
    if (atomic_load(&forked) || mock_self()->in_task != 0) return MOCK_ACL_BUSY;
    mock_acl_clear_failures();
    mock_lock();
    if (mock_engine.waiting != 0 || mock_engine.executing != mock_engine.executing_workers ||
        mock_engine.paused) {
        mock_unlock();
        return MOCK_ACL_BUSY;
    }
    mock_engine.paused = true;
    while (!workers_still(NULL)) {
        atomic_fetch_add_explicit(&mock_engine.sleeping, 1, memory_order_relaxed);
        pthread_cond_wait(&mock_engine.changed, &mock_engine.lock);
        atomic_fetch_sub_explicit(&mock_engine.sleeping, 1, memory_order_relaxed);
    }
    mock_state_callbacks_reset();
    mock_contexts_reset();
    mock_stream_configs_reset();
    mock_labels_reset();
    mock_reports_clear();
    mock_events_reset();
    mock_notifies_reset();
    mock_counts_reset();
    mock_limits_reset();
    mock_peers_reset();
    mock_timeouts_reset();
    mock_overflow_reset();
    mock_device_faults_reset();
    mock_exceptions_reset();
    mock_quota_reset();
    mock_engine.clock_ns = mock_engine.tasks_run = 0;
    mock_engine.cmo_tasks = mock_engine.cmo_bytes = 0;
    atomic_fetch_add(&mock_epoch, 1);
    mock_engine.paused = false;
    mock_unlock();
#ifndef MOCK_WITHOUT_OPERATORS
    mock_nn_reset();
    mock_own_reset();
#endif
    mock_things_reset();
    mock_models_reset();
    mock_bundles_reset();
    mock_queues_reset();
    mock_channels_reset();
    mock_profiling_reset();
    mock_dump_reset();
    mock_options_reset();
    mock_pools_reset();
    mock_kernels_reset();
    mock_buffers_reset();
    mock_core_groups_reset();
    mock_memory_reset();
    mock_init_reset();
    mock_device_limits_reset();
    mock_snapshot_reset();
    mock_acl_log_launches(0);
    mock_acl_set_l2_bytes(0);
    if (used()) atomic_store(&used_before_reset, true);
    for (int i = 0; i < MOCK_API_COUNT; i++) atomic_store_explicit(&calls[i], 0, memory_order_relaxed);
    return 0;
}
