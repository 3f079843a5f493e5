/* The control interface: counting, failures, gates, the virtual clock, reset. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "channels/channels.h"
#include "collectives/collectives.h"
#include "contexts/contexts.h"
#include "devices/devices.h"
#include "engine/engine.h"
#include "exports/exports.h"
#include "graphs/graphs.h"
#include "kernels/kernels.h"
#include "memory/memory.h"
#include "models/models.h"
#include "objects/objects.h"
#include "operators/own/own.h"
#include "profiling/profiling.h"
#include "streams/streams.h"

#define MOCK_VERSION "mock-acl 0.1.0"
/* ---- exported ---- */

MOCK_EXPORT const char *mock_acl_version(void) { return MOCK_VERSION; }

MOCK_EXPORT void *mock_acl_lookup(const char *name) {
    const int i = name == NULL ? -1 : mock_lookup_index(name);
    return i < 0 ? NULL : mock_lookup_address(i);
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

/* ---- running ---- */

MOCK_EXPORT uint64_t mock_acl_run_until_idle(void) {
    if (mock_forked() || mock_self()->in_task != 0) return 0;
    mock_lock();
    const uint64_t before = mock_engine.tasks_run;
    mock_run_all();
    const uint64_t ran = mock_engine.tasks_run - before;
    mock_unlock();
    return ran;
}

MOCK_EXPORT uint32_t mock_acl_waiting_for_room(void) {
    if (mock_forked()) return 0;
    mock_lock();
    const uint32_t roomless = mock_engine.roomless;
    mock_unlock();
    return roomless;
}

/* ---- objects ---- */

static uint64_t objects(mock_object_kind kind) {
    return mock_handle_count((mock_kind)((int)MOCK_OBJECT_FIRST + (int)kind));
}

MOCK_EXPORT int mock_acl_live_handles(mock_acl_live *live) {
    const mock_arena_use device = mock_device_usage(-1), pinned = mock_pinned_usage();
    mock_space_lock();
    const uint64_t spaces = mock_space_count();
    mock_space_unlock();
    mock_lock();
    const uint64_t contexts = mock_context_count(true);
    const uint64_t defaults = mock_context_count(false);
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
        .library_objects = mock_things_live() + mock_handle_count(MOCK_LABEL) + mock_handle_count(MOCK_LABEL_LIST),
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
    if (mock_forked() || mock_self()->in_task != 0) return MOCK_ACL_BUSY;
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
    mock_engine.clock_ns = mock_engine.furthest_ns = mock_engine.tasks_run = 0;
    mock_engine.cmo_tasks = mock_engine.cmo_bytes = 0;
    atomic_fetch_add(&mock_epoch, 1);
    mock_engine.paused = false;
    mock_unlock();
    mock_nn_reset();
    mock_own_reset();
    mock_things_reset();
    mock_collectives_reset();
    mock_models_reset();
    mock_bundles_reset();
    mock_queues_reset();
    mock_channels_reset();
    mock_profiling_reset();
    mock_dump_reset();
    mock_mstx_reset();
    mock_options_reset();
    mock_pools_reset();
    mock_kernels_reset();
    mock_buffers_reset();
    mock_core_groups_reset();
    mock_memory_reset();
    mock_races_reset();
    mock_init_reset();
    mock_device_limits_reset();
    mock_snapshot_reset();
    mock_acl_log_launches(0);
    mock_acl_log_calls(0);
    mock_acl_set_l2_bytes(0);
    mock_entries_reset();
    return 0;
}
