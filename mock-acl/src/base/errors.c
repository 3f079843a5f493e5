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
#define TEXT_LIMIT 8192 /* a thread without a context never loses text; do not let it grow for ever */

_Atomic uint64_t mock_epoch = 1;
static _Thread_local mock_thread self;
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

mock_thread *mock_self(void) {
    const uint64_t epoch = atomic_load_explicit(&mock_epoch, memory_order_relaxed);
    if (MOCK_UNLIKELY(self.epoch != epoch)) start_thread(&self, epoch);
    return &self;
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

/* New text goes in front of what was not read yet (implementation of the open runtime). */
static void prepend(char **text, const char *line) {
    const size_t fresh = strlen(line);
    size_t old = *text == NULL ? 0 : strlen(*text);
    if (old > TEXT_LIMIT - fresh - 2) old = TEXT_LIMIT - fresh - 2;
    char *joined = malloc(fresh + old + 2);
    if (joined == NULL) return;
    memcpy(joined, line, fresh);
    joined[fresh] = '\0';
    if (old != 0) {
        joined[fresh] = '\n';
        memcpy(joined + fresh + 1, *text, old);
        joined[fresh + 1 + old] = '\0';
    }
    free(*text);
    *text = joined;
}

static void add_text(mock_thread *t, const char *id, const char *format, va_list args) {
    char line[1024];
    int n = snprintf(line, sizeof line, "%s: ", id);
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    if (!is_shared()) {
        prepend(&t->text, line);
        return;
    }
    pthread_mutex_lock(&shared_lock);
    prepend(&shared_text, line);
    pthread_mutex_unlock(&shared_lock);
}

void mock_error_text(const char *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add_text(mock_self(), code, format, args);
    va_end(args);
}

aclError mock_fail(aclError code, const char *id, const char *format, ...) {
    mock_thread *t = mock_self();
    va_list args;
    va_start(args, format);
    add_text(t, id, format, args);
    va_end(args);
    /* Errors of the ACL layer (1000xx) are not remembered (observed: last_error), nor those of the graph engine
     * (own choice: it is not the runtime). */
    if (code % 100000 / 1000 == 7) t->last_error = code;
    return code;
}

/* Null pointers and zero sizes that the ACL layer looks at: 100000 with EH0008 (observed: stream_basic,
 * ctx, event_query, cmo, execute, taskgrp). */
aclError mock_null(const char *what) {
    return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "%s must not be null or zero", what);
}

/* Almost every call of a thread without a context (observed: thread_no_ctx). */
aclError mock_no_context(void) {
    return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "EE1018", "the calling thread has no current context");
}

/* What there is to show; `take` leaves nothing behind. */
static char *read_text(mock_thread *t, bool take) {
    char *text = NULL;
    char **from = is_shared() ? &shared_text : &t->text;
    if (from == &shared_text) pthread_mutex_lock(&shared_lock);
    if (take) {
        text = *from;
        *from = NULL;
    } else if (*from != NULL) {
        text = strdup(*from);
    }
    if (from == &shared_text) pthread_mutex_unlock(&shared_lock);
    return text;
}

const char *mock_error_show(bool take) {
    mock_thread *t = mock_self();
    free(t->shown);
    t->shown = read_text(t, take);
    return t->shown;
}

/* A success does not clear it, reading it does; other levels are 100000 (observed: last_error). */
MOCK_EXPORT aclError aclrtGetLastError(aclrtLastErrLevel level) {
    MOCK_ENTER(aclrtGetLastError);
    if (level != ACL_RT_THREAD_LEVEL)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "level %d", (int)level);
    mock_thread *t = mock_self();
    const aclError code = t->last_error;
    t->last_error = 0;
    return code;
}

/* Does not clear it (observed: last_error). */
MOCK_EXPORT aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
    MOCK_ENTER(aclrtPeekAtLastError);
    if (level != ACL_RT_THREAD_LEVEL)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "level %d", (int)level);
    return mock_self()->last_error;
}
