/* Per-thread state, error texts and the last error (guide: error handling).
 *
 * Texts belong to the thread and start with a message id (observed: err_msg, thread_no_ctx; the wording
 * is our own choice). */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "base/entry.h"
#include "base/thread.h"

/* (own choice) */
#define TEXT_LIMIT 8192 /* of a thread that never reads: do not let it grow for ever */

_Atomic uint64_t mock_epoch = 1;
_Thread_local mock_thread mock_this_thread;
static _Atomic uint64_t next_thread = 1;
static _Thread_local bool is_worker;
static _Atomic uint32_t alive;
static _Atomic uint64_t alive_epoch = 1;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void free_thread(void *p) {
    mock_thread *t = p;
    if (!is_worker && t->epoch == atomic_load(&alive_epoch)) atomic_fetch_sub(&alive, 1);
    free(t->text);
    free(t->shown);
    t->text = t->shown = NULL;
    t->epoch = 0;
}

static void make_key(void) { pthread_key_create(&thread_end, free_thread); }

/* A reset forgets the threads: each counts again with its next call. */
static void count_thread(uint64_t epoch) {
    uint64_t counted = atomic_load(&alive_epoch);
    if (counted < epoch && atomic_compare_exchange_strong(&alive_epoch, &counted, epoch))
        atomic_store(&alive, 0);
    if (!is_worker) atomic_fetch_add(&alive, 1);
}

static void start_thread(mock_thread *t, uint64_t epoch) {
    pthread_once(&thread_end_once, make_key);
    pthread_setspecific(thread_end, t);
    free(t->text);
    free(t->shown);
    const uint32_t in_task = t->in_task;
    memset(t, 0, sizeof *t);
    t->in_task = in_task;
    t->epoch = epoch;
    t->id = atomic_fetch_add(&next_thread, 1);
    t->tid = (uint32_t)gettid();
    count_thread(epoch);
}

void mock_thread_is_worker(void) { is_worker = true; }

uint32_t mock_threads_alive(void) { return atomic_load(&alive); }

mock_thread *mock_begin_thread(uint64_t epoch) {
    start_thread(&mock_this_thread, epoch);
    return &mock_this_thread;
}

/* With err_msg_mode "1" texts belong to the process (guide: initialisation, aclInit). */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static char *shared_text;
static atomic_bool process_mode;

void mock_process_errors(bool on) {
    pthread_mutex_lock(&shared_lock);
    atomic_store(&process_mode, on);
    free(shared_text);
    shared_text = NULL;
    pthread_mutex_unlock(&shared_lock);
}

static bool is_shared(void) { return atomic_load_explicit(&process_mode, memory_order_relaxed); }

/* The oldest line stays in front (observed: sequences, texts that were not read at once); what follows it goes first
 * when there is too much. */
static size_t keep_length(const char *text, size_t length, size_t fresh, size_t *from) {
    *from = length;
    if (length + fresh + 2 <= TEXT_LIMIT) return length;
    const char *second = memchr(text, '\n', length);
    const size_t first = second == NULL ? length : (size_t)(second - text);
    size_t excess = length + fresh + 2 - TEXT_LIMIT;
    const char *rest = second == NULL || excess >= length - first ? NULL : strchr(second + excess, '\n');
    if (rest != NULL) *from = (size_t)(rest - text);
    return first;
}

/* What the runtime says of itself (EE9999 and its like) stays behind what it says of the call (observed: sequences, reads
 * without a context). */
static bool is_inner(const char *line) { return strncmp(line + 2, "9999", 4) == 0; }

static void put_before(char **text, const char *line) {
    const size_t fresh = strlen(line), old = strlen(*text);
    char *joined = malloc(fresh + old + 2);
    if (joined == NULL) return;
    memcpy(joined, line, fresh);
    joined[fresh] = '\n';
    memcpy(joined + fresh + 1, *text, old + 1);
    free(*text);
    *text = joined;
}

/* New text goes behind what was not read yet. */
static void append(char **text, const char *line) {
    if (*text != NULL && is_inner(*text) && !is_inner(line)) {
        put_before(text, line);
        return;
    }
    const size_t fresh = strlen(line), old = *text == NULL ? 0 : strlen(*text);
    size_t from = 0;
    const size_t kept = old == 0 ? 0 : keep_length(*text, old, fresh, &from);
    const size_t rest = old - from;
    char *joined = malloc(kept + rest + fresh + 2);
    if (joined == NULL) return;
    char *at = joined;
    if (old != 0) {
        memcpy(at, *text, kept);
        memcpy(at + kept, *text + from, rest);
        at += kept + rest;
        *at++ = '\n';
    }
    memcpy(at, line, fresh + 1);
    free(*text);
    *text = joined;
}

static void add_text(mock_thread *t, const char *id, const char *format, va_list args) {
    char line[1024];
    int n = snprintf(line, sizeof line, "%s: ", id);
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    if (!is_shared()) {
        append(&t->text, line);
        return;
    }
    pthread_mutex_lock(&shared_lock);
    append(&shared_text, line);
    pthread_mutex_unlock(&shared_lock);
}

void mock_error_text(const char *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(mock_self(), code, format, args);
    va_end(args);
}

aclError mock_fail(aclError code, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(mock_self(), id, format, args);
    va_end(args);
    return mock_fail_untold(code);
}

/* Errors of the ACL layer (1000xx) are not remembered (observed: last_error), nor those of the graph engine (own choice:
 * it is not the runtime). */
aclError mock_fail_untold(aclError code) {
    if (code % 100000 / 1000 == 7) mock_self()->last_error = code;
    return code;
}

aclError mock_fail_acl(aclError code, const char *id, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(mock_self(), id, format, args);
    va_end(args);
    return code;
}

/* Null pointers that the ACL layer looks at: 100000 with EH0008 (observed: stream_basic, ctx, event_query, cmo, execute,
 * taskgrp); sizes of 0: EH0007 (observed: with_context). */
aclError mock_null(const char *what) {
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "%s must not be null or zero", what);
}

aclError mock_zero(const char *what) {
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "%s must not be zero", what);
}

/* Destroyed or of another kind (observed: destroyed_stream, stream_as_graph). */
aclError mock_stale(const void *handle, const char *what) {
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "%p is not a live %s", handle, what);
}

/* Almost every call of a thread without a context (observed: thread_no_ctx). */
aclError mock_no_context(void) {
    return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "EE1018", "the calling thread has no current context");
}

static char *take_text(mock_thread *t) {
    char **from = is_shared() ? &shared_text : &t->text;
    if (from == &shared_text) pthread_mutex_lock(&shared_lock);
    char *text = *from;
    *from = NULL;
    if (from == &shared_text) pthread_mutex_unlock(&shared_lock);
    return text;
}

const char *mock_error_show(void) {
    mock_thread *t = mock_self();
    free(t->shown);
    t->shown = take_text(t);
    return t->shown;
}

/* (observed: last_error, before_init) */
static aclError check_level(aclrtLastErrLevel level) {
    if (level == ACL_RT_THREAD_LEVEL) return 0;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "level %d", (int)level);
}

/* A success does not clear it, reading it does; other levels are 100000 (observed: last_error). */
MOCK_EXPORT aclError aclrtGetLastError(aclrtLastErrLevel level) {
    MOCK_ENTER(aclrtGetLastError);
    const aclError bad = check_level(level);
    if (bad != 0) return bad;
    mock_thread *t = mock_self();
    const aclError code = t->last_error;
    t->last_error = 0;
    return code;
}

/* Does not clear it (observed: last_error). */
MOCK_EXPORT aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
    MOCK_ENTER(aclrtPeekAtLastError);
    const aclError bad = check_level(level);
    return bad != 0 ? bad : mock_self()->last_error;
}
