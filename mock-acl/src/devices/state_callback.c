/* Callbacks for what happens to devices and streams (guide: callbacks, aclrtRegDeviceStateCallback,
 * aclrtRegStreamStateCallback, aclrtSetDeviceTaskAbortCallback). They run on the thread that calls,
 * without a lock, in the order of their registration (own choice). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "devices/devices.h"
#include "devices/profile.h"
#include "engine/engine.h"

/* Own choice; more give 207012. */
#define CALLBACKS 64
#define NAME_BYTES 128

typedef struct entry {
    char name[NAME_BYTES];
    void (*fn)(void);
    void *args;
} entry;

typedef struct registry {
    entry entries[CALLBACKS];
    _Atomic uint32_t count;
} registry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registry devices, streams, aborts;

void mock_state_callbacks_reset(void) {
    pthread_mutex_lock(&lock);
    atomic_store(&devices.count, 0);
    atomic_store(&streams.count, 0);
    atomic_store(&aborts.count, 0);
    pthread_mutex_unlock(&lock);
}

static uint32_t snapshot(registry *r, entry *out) {
    if (atomic_load_explicit(&r->count, memory_order_relaxed) == 0) return 0;
    pthread_mutex_lock(&lock);
    const uint32_t n = atomic_load(&r->count);
    memcpy(out, r->entries, n * sizeof *out);
    pthread_mutex_unlock(&lock);
    return n;
}

/* A name twice: 107000; null takes it away, an unknown name: 107000 (own choice of the codes: the guide
 * only says that a name is registered once). */
static aclError register_entry(registry *r, const char *name, void (*fn)(void), void *args) {
    if (name == NULL) return mock_null("regName");
    if (*name == '\0' || strlen(name) >= NAME_BYTES)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "regName is empty or too long");
    aclError code = 0;
    pthread_mutex_lock(&lock);
    const uint32_t n = atomic_load(&r->count);
    uint32_t i = 0;
    while (i < n && strcmp(r->entries[i].name, name) != 0) i++;
    if ((fn != NULL) == (i != n)) {
        code = ACL_ERROR_RT_PARAM_INVALID;
    } else if (fn == NULL) {
        memmove(&r->entries[i], &r->entries[i + 1], (n - i - 1) * sizeof(entry));
        atomic_store(&r->count, n - 1);
    } else if (n == CALLBACKS) {
        code = ACL_ERROR_RT_OVER_LIMIT;
    } else {
        memcpy(r->entries[n].name, name, strlen(name) + 1);
        r->entries[n].fn = fn;
        r->entries[n].args = args;
        atomic_store(&r->count, n + 1);
    }
    pthread_mutex_unlock(&lock);
    return code == 0 ? 0
                     : mock_fail(code, "EE1003", "%s is %s", name,
                           code == ACL_ERROR_RT_OVER_LIMIT ? "one callback too many"
                           : fn != NULL                    ? "registered already"
                                                           : "not registered");
}

MOCK_EXPORT aclError aclrtRegDeviceStateCallback(
    const char *regName, aclrtDeviceStateCallback callback, void *args) {
    MOCK_ENTER(aclrtRegDeviceStateCallback);
    return register_entry(&devices, regName, (void (*)(void))callback, args);
}

MOCK_EXPORT aclError aclrtRegStreamStateCallback(
    const char *regName, aclrtStreamStateCallback callback, void *args) {
    MOCK_ENTER(aclrtRegStreamStateCallback);
    return register_entry(&streams, regName, (void (*)(void))callback, args);
}

MOCK_EXPORT aclError aclrtSetDeviceTaskAbortCallback(
    const char *regName, aclrtDeviceTaskAbortCallback callback, void *args) {
    MOCK_ENTER(aclrtSetDeviceTaskAbortCallback);
    return register_entry(&aborts, regName, (void (*)(void))callback, args);
}

/* ---- telling ---- */

void mock_tell_device(int32_t device, aclrtDeviceState state) {
    entry all[CALLBACKS];
    const uint32_t n = snapshot(&devices, all);
    for (uint32_t i = 0; i < n; i++) ((aclrtDeviceStateCallback)all[i].fn)(device, state, all[i].args);
}

void mock_tell_stream(aclrtStream stream, aclrtStreamState state) {
    entry all[CALLBACKS];
    const uint32_t n = snapshot(&streams, all);
    for (uint32_t i = 0; i < n; i++) ((aclrtStreamStateCallback)all[i].fn)(stream, state, all[i].args);
}

int32_t mock_tell_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout) {
    entry all[CALLBACKS];
    const uint32_t n = snapshot(&aborts, all);
    int32_t first = 0;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t result =
            ((aclrtDeviceTaskAbortCallback)all[i].fn)(device, stage, timeout, all[i].args);
        if (first == 0) first = result;
    }
    return first;
}

bool mock_streams_told(void) { return atomic_load_explicit(&streams.count, memory_order_relaxed) != 0; }

/* ---- default streams, which come into being under the lock ---- */

static void *pending[MOCK_MAX_DEVICES + 2];
static uint32_t pending_count;

void mock_stream_made(const mock_stream *s) {
    if (mock_streams_told() && pending_count < sizeof pending / sizeof pending[0])
        pending[pending_count++] = s->handle;
}

void mock_tell_made_streams(void) {
    for (;;) {
        mock_lock();
        void *handle = pending_count == 0 ? NULL : pending[0];
        if (pending_count != 0) memmove(pending, pending + 1, --pending_count * sizeof *pending);
        mock_unlock();
        if (handle == NULL) return;
        mock_tell_stream(handle, ACL_RT_STREAM_STATE_CREATE_POST);
    }
}
