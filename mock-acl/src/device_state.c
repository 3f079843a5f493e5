/* Callbacks that devices open and close, and around aclrtDeviceTaskAbort; and that call itself. */
#define _GNU_SOURCE
#include "device_state.h"
#include <stdlib.h>
#include <string.h>
#include "context.h"

#define NAMES 64      /* own choice; more give 107000 */
#define NAME_SIZE 128 /* own choice */

/* One of the two callbacks, under a name. */
typedef struct entry {
    char name[NAME_SIZE];
    aclrtDeviceStateCallback state;
    aclrtDeviceTaskAbortCallback abort;
    void *args;
} entry;

typedef struct registry {
    entry entries[NAMES];
    size_t count;
} registry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registry states, aborts;

void mock_device_state_reset(void) {
    pthread_mutex_lock(&lock);
    states.count = aborts.count = 0;
    pthread_mutex_unlock(&lock);
}

static aclError refuse(const char *name, const char *why) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "\"%.100s\": %s", name, why);
}

static size_t find(const registry *r, const char *name) {
    size_t i = 0;
    while (i < r->count && strcmp(r->entries[i].name, name) != 0) i++;
    return i;
}

/* A name is there once, and no callback takes it away (guide: device management,
 * aclrtRegDeviceStateCallback; own choice of the codes: 107000). */
static aclError change(registry *r, const entry *e, bool add) {
    aclError code = 0;
    pthread_mutex_lock(&lock);
    const size_t i = find(r, e->name);
    if (add && i < r->count) code = refuse(e->name, "registered before");
    else if (add && r->count == NAMES) code = refuse(e->name, "too many callbacks");
    else if (!add && i == r->count) code = refuse(e->name, "not registered");
    else if (add) r->entries[r->count++] = *e;
    else memmove(&r->entries[i], &r->entries[i + 1], (--r->count - i) * sizeof r->entries[0]);
    pthread_mutex_unlock(&lock);
    return code;
}

/* Null 100000 (implementation of the open runtime); empty or too long 107000 (own choice). */
static aclError take_name(const char *name, entry *e) {
    if (name == NULL) return mock_null("regName");
    const size_t n = strnlen(name, NAME_SIZE);
    if (n == 0 || n == NAME_SIZE) return refuse(name, "not a name of 1 to 127 bytes");
    memcpy(e->name, name, n + 1);
    return 0;
}

MOCK_EXPORT aclError aclrtRegDeviceStateCallback(
    const char *regName, aclrtDeviceStateCallback callback, void *args) {
    MOCK_ENTER(aclrtRegDeviceStateCallback);
    entry e = {"", callback, NULL, args};
    const aclError code = take_name(regName, &e);
    return code != 0 ? code : change(&states, &e, callback != NULL);
}

MOCK_EXPORT aclError aclrtSetDeviceTaskAbortCallback(
    const char *regName, aclrtDeviceTaskAbortCallback callback, void *args) {
    MOCK_ENTER(aclrtSetDeviceTaskAbortCallback);
    entry e = {"", NULL, callback, args};
    const aclError code = take_name(regName, &e);
    return code != 0 ? code : change(&aborts, &e, callback != NULL);
}

/* A callback may change the list. */
static registry *copy_of(const registry *r) {
    registry *copy = malloc(sizeof *copy);
    pthread_mutex_lock(&lock);
    if (copy != NULL) *copy = *r;
    pthread_mutex_unlock(&lock);
    return copy;
}

/* When a device opens and closes, not at every call that only counts (own choice: the guide says when its
 * state changes). */
void mock_device_state(int32_t device, aclrtDeviceState state) {
    registry *r = copy_of(&states);
    for (size_t i = 0; r != NULL && i < r->count; i++)
        r->entries[i].state(device, state, r->entries[i].args);
    free(r);
}

/* ---- aclrtDeviceTaskAbort ---- */

static aclError abort_stage(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout) {
    registry *r = copy_of(&aborts);
    int32_t failed = 0;
    for (size_t i = 0; r != NULL && i < r->count && failed == 0; i++)
        failed = r->entries[i].abort(device, stage, timeout, r->entries[i].args);
    free(r);
    if (failed == 0) return 0;
    return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "a callback gave %d", failed);
}

static struct {
    int32_t device;
    mock_stream *busy;
} search;

static void find_busy(mock_stream *s) {
    if (s->ctx->device != search.device || s->bound || mock_capturing(s)) return;
    if (s->running || s->tail != atomic_load_explicit(&s->done, memory_order_acquire)) search.busy = s;
}

/* With the lock, which mock_drop_queue may let go: so the search starts anew each time. */
static void abort_streams(int32_t device) {
    for (;;) {
        search.device = device;
        search.busy = NULL;
        mock_each_stream(find_busy);
        mock_stream *s = search.busy;
        if (s == NULL) return;
        const uint64_t serial = s->serial;
        mock_drop_queue(s);
        if (s->serial == serial) s->error = ACL_ERROR_RT_DEVICE_TASK_ABORT;
    }
}

/* Drops what is queued on the device (guide: exceptions, aclrtDeviceTaskAbort); the next wait for a
 * stream that lost work says 107022 (header: ACL_ERROR_RT_DEVICE_TASK_ABORT). A task that runs ends, so
 * the time-out never passes; a callback that fails ends the call with 507000 (own choice). */
MOCK_EXPORT aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
    MOCK_ENTER(aclrtDeviceTaskAbort);
    aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    if (mock_self()->in_task != 0)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "not from a host function");
    if (!mock_device_open(deviceId))
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "EE1018", "device %d is not set", deviceId);
    code = abort_stage(deviceId, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout);
    if (code != 0) return code;
    mock_lock();
    abort_streams(deviceId);
    mock_unlock();
    return abort_stage(deviceId, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
}
