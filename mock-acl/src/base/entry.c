/* The entry of every exported function: calls are counted and logged, failures are injected (by call and by task), and the
 * child of a fork is refused. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "base/calls.h"
#include "base/entry.h"
#include "base/names.h"

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
static atomic_bool slow; /* a fault is armed, calls are logged, or this is the child of a fork */
static atomic_bool forked;
static atomic_bool device_used;
atomic_bool mock_task_faults;

/* ---- entry of every call ---- */

void mock_device_in_use(void) { atomic_store(&device_used, true); }

/* A process that has used no device has none that its child could not use. */
static void in_child(void) {
    if (!atomic_load(&device_used)) return;
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

int mock_enter_slowly(mock_api api, const void *const *given, size_t n) {
    if (atomic_load(&forked))
        return mock_fail(
            ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the device cannot be used in the child of a fork");
    const int code = fire(&call_faults, (int)api);
    if (mock_logs_calls()) mock_note_call((int)api, code, given, n);
    if (code != 0) mock_fail(code, "EE9999", "%s: injected failure %d", mock_lookup_name((int)api), code);
    return code;
}

int mock_enter_is_slow(mock_api api) {
    atomic_fetch_add_explicit(&calls[api], 1, memory_order_relaxed);
    return atomic_load_explicit(&slow, memory_order_relaxed);
}

int mock_enter(mock_api api) {
    return MOCK_UNLIKELY(mock_enter_is_slow(api)) ? mock_enter_slowly(api, NULL, 0) : 0;
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
    if (list == &call_faults) atomic_store(&slow, true);
    pthread_mutex_unlock(&fault_lock);
    return 0;
}

MOCK_EXPORT int mock_acl_fail(const char *name, uint64_t nth, int code) {
    return arm(&call_faults, name, nth, code);
}

MOCK_EXPORT int mock_acl_fail_task(const char *name, uint64_t nth, int code) {
    const int result = arm(&task_faults, name, nth, code);
    if (result == 0) atomic_store(&mock_task_faults, true);
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
    atomic_store(&mock_task_faults, false);
    mock_entries_settle();
}

void mock_entries_settle(void) {
    pthread_mutex_lock(&fault_lock);
    atomic_store(&slow, atomic_load(&forked) || call_faults != NULL || atomic_load(&mock_calls_logged));
    pthread_mutex_unlock(&fault_lock);
}

bool mock_forked(void) { return atomic_load(&forked); }

void mock_entries_reset(void) {
    for (int i = 0; i < MOCK_API_COUNT; i++) atomic_store_explicit(&calls[i], 0, memory_order_relaxed);
}
