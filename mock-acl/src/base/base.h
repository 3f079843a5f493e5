/* What everything stands on: handles, the threads of the program and their error texts, the entry of every exported
 * function with its injected failures, lists, numbers from the environment, JSON, and the objects of the libraries
 * around the runtime. Uses no other room; all use it.
 *
 * A rule of the mock carries its source in brackets:
 * (observed: group) - recorded steps of the real runtime, tests/observed/observed.tsv, by group name;
 * (observed, not recorded) - seen there too, but no step was kept;
 * (header: name) - the public headers; (guide: chapter, function) - the public documentation of CANN;
 * (implementation of the open runtime) - read in the sources of the open-source runtime 9.1.0;
 * (own choice: why) - none of them says it, or the mock differs on purpose.
 * Null and zero arguments are judged by mock_null and mock_zero, handles by mock_handle_get, the missing context by
 * mock_no_context; calls that only use these need no further source. */
#ifndef MOCK_BASE_BASE_H_
#define MOCK_BASE_BASE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "acl/acl.h"
#include "base/entry.h"
#include "base/half.h"
#include "base/handle.h"
#include "base/json.h"
#include "base/list.h"
#include "base/philox.h"
#include "base/things.h"
#include "base/thread.h"
#include "mock_acl.h"

/* Nothing for a mock that is a part of another library. */
#ifndef MOCK_EXPORT
#define MOCK_EXPORT __attribute__((visibility("default")))
#endif
#define MOCK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define MOCK_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- base/calls.c ---- */
/* Whether calls are logged. */
extern atomic_bool mock_calls_logged;
void mock_note_gave(const void *gave);
/* More that the call of this thread was given. */
void mock_note_given(const void *const *given, size_t n);
static inline bool mock_logs_calls(void) {
    return MOCK_UNLIKELY(atomic_load_explicit(&mock_calls_logged, memory_order_relaxed));
}
static inline void mock_given(const void *given) {
    if (mock_logs_calls()) mock_note_given(&given, 1);
}
/* What the call that this thread is in made. */
static inline void mock_gave(const void *gave) {
    if (mock_logs_calls()) mock_note_gave(gave);
}

/* ---- base/copy_out.c ---- */
/* Copies as much of `full` as the caller's structure holds. */
int mock_copy_out(void *out, const void *full, size_t size);

/* ---- base/entry.c ---- */
/* Whether failures of tasks are armed, and the code that the next one of this name has, or 0. */
extern atomic_bool mock_task_faults;
static inline bool mock_tasks_fail(void) {
    return MOCK_UNLIKELY(atomic_load_explicit(&mock_task_faults, memory_order_relaxed));
}
int32_t mock_task_fault(const char *name);
/* From here on a child of this process is refused. */
void mock_device_in_use(void);
/* Whether this process is the child of a fork and its parent had used a device. */
bool mock_forked(void);
void mock_entries_reset(void);

/* ---- base/environment.c ---- */
/* An environment variable; a bad value is reported once. `name` outlives the process. */
unsigned mock_config_number(const char *name, unsigned fallback, unsigned least, unsigned limit);

/* ---- base/errors.c ---- */
extern _Atomic uint64_t mock_epoch;
extern _Thread_local mock_thread mock_this_thread;
mock_thread *mock_begin_thread(uint64_t epoch);
/* The calling thread, whose state begins anew with each epoch. */
static inline mock_thread *mock_self(void) {
    mock_thread *self = &mock_this_thread;
    const uint64_t epoch = atomic_load_explicit(&mock_epoch, memory_order_relaxed);
    return MOCK_UNLIKELY(self->epoch != epoch) ? mock_begin_thread(epoch) : self;
}
/* Threads of the program that have used the library and live. */
uint32_t mock_threads_alive(void);
/* Calls of this thread are those of a worker of the mock itself. */
void mock_thread_is_worker(void);
/* Sets text and, for codes of the runtime layer, the thread's last error; returns `code`. */
aclError mock_fail(aclError code, const char *id, const char *format, ...) MOCK_PRINTF(3, 4);
/* A check of the ACL layer whose code is one of the runtime: text, but the last error stays (observed: with_context,
 * before_set_device; "last 0" there). */
aclError mock_fail_acl(aclError code, const char *id, const char *format, ...) MOCK_PRINTF(3, 4);
/* The last error without a text. */
aclError mock_fail_untold(aclError code);
/* What the runtime finds its device unable to do: neither text nor last error (observed: event_ex_unrecorded,
 * memcpy_async_kinds, event_ex_flags). */
static inline aclError mock_unable(void) { return ACL_ERROR_RT_FEATURE_NOT_SUPPORT; }
aclError mock_null(const char *what);
aclError mock_zero(const char *what);
/* Takes the thread's text, good until its next call of this. */
const char *mock_error_show(void);
/* Whether texts belong to the process. */
void mock_process_errors(bool on);
aclError mock_no_context(void);
/* 107017: destroyed, or of another kind. */
aclError mock_stale(const void *handle, const char *what);
/* Sets the calling thread's error text as aclGetRecentErrMsg returns it: "CODE: text". */
void mock_error_text(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- base/handles.c ---- */
/* Handles of host-side objects: a value that looks like a pointer, carries kind and generation and faults when it is
 * dereferenced. `mock_object_get` gives NULL for null, stale, foreign and wrong-kind handles. */
void *mock_object_new(mock_object_kind kind, void *object);
void *mock_object_get(mock_object_kind kind, const void *handle);
/* Takes the object out and makes the handle stale; NULL as above. */
void *mock_object_take(mock_object_kind kind, const void *handle);
/* Takes every object of the kind out and calls `release` for it. One that another thread takes meanwhile is left to
 * that thread. */
void mock_object_take_all(mock_object_kind kind, void (*release)(void *object));
void *mock_handle_new(mock_kind kind, void *object);
void *mock_handle_get(mock_kind kind, const void *handle);
void *mock_handle_take(mock_kind kind, const void *handle);
uint64_t mock_handle_count(mock_kind kind);
/* Visits live objects of a kind; `visit` may take handles. Only while nothing else runs. */
void mock_handle_each(mock_kind kind, void (*visit)(void *));

/* ---- base/json.c ---- */
/* The one value that the text is, or none where it is not JSON (RFC 8259, in UTF-8) or nested too deeply. */
mock_json mock_json_parse(const char *text, size_t length);
/* '{', '[', '"', '0' for numbers, 't', 'f', 'n'; 0 for none. */
char mock_json_kind(mock_json value);
/* Of members of one name the last counts. */
mock_json mock_json_member(mock_json object, const char *name);
/* The first element of an array. */
mock_json mock_json_first(mock_json array);
/* The element of the array after this one. */
mock_json mock_json_after(mock_json array, mock_json element);
/* Whether the value is this string. */
bool mock_json_is(mock_json value, const char *text);
/* The characters of a string that has no escapes in it, or of a number; none for anything else. */
mock_json mock_json_characters(mock_json value);

/* ---- base/names.c ---- */
/* The position of an exported name in exports.def, which is also its mock_api value; -1 for an unknown name.
 */
int mock_lookup_index(const char *name);

/* ---- base/strict.c ---- */
/* Whether MOCK_ACL_STRICT has `doc`: then rules follow the documentation where the implementation differs. */
int mock_strict_doc(void);

/* ---- base/things.c ---- */
/* A zeroed object of `size` bytes; NULL and a text without memory or handles. */
void *mock_thing_new(const mock_thing_type *type, size_t size);
/* NULL for null, stale, foreign and wrong handles. */
void *mock_thing_get(const mock_thing_type *type, const void *handle);
/* The same with a text and the code 100000 (implementation of the open graph engine for null; own choice
 * for the others, which crash there). */
aclError mock_thing_find(const mock_thing_type *type, const void *handle, const char *param, void **thing);
aclError mock_thing_destroy(const mock_thing_type *type, const void *handle, const char *param);
uint64_t mock_things_live(void);
void mock_things_reset(void);
bool mock_ids_add(mock_ids *ids, void *value, uint32_t *id);
void *mock_ids_get(mock_ids *ids, uint32_t id);
void *mock_ids_take(mock_ids *ids, uint32_t id);
void mock_ids_reset(mock_ids *ids);
/* 100000 with a text. */
aclError mock_invalid(const char *format, ...) MOCK_PRINTF(1, 2);

#endif
