/* Per-thread state, error texts and the last error (guide: error handling).
 *
 * Texts belong to the thread and start with a message id (observed: err_msg, thread_no_ctx; the wording
 * is our own choice). */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core.h"

/* (own choice) */
#define TEXT_LIMIT 8192 /* a thread without a context never loses text; do not let it grow for ever */

_Atomic uint64_t mock_epoch = 1;
static _Thread_local mock_thread self;
static _Atomic uint64_t next_thread = 1;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void free_thread(void *p) {
    mock_thread *t = p;
    free(t->text);
    free(t->shown);
    t->text = t->shown = NULL;
    t->epoch = 0;
}

static void make_key(void) { pthread_key_create(&thread_end, free_thread); }

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
}

mock_thread *mock_self(void) {
    const uint64_t epoch = atomic_load_explicit(&mock_epoch, memory_order_relaxed);
    if (MOCK_UNLIKELY(self.epoch != epoch)) start_thread(&self, epoch);
    return &self;
}

/* New text goes in front of what was not read yet (implementation of the open runtime). */
static void prepend(mock_thread *t, const char *id, const char *format, va_list args) {
    char line[1024];
    int n = snprintf(line, sizeof line, "%s: ", id);
    vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    const size_t fresh = strlen(line);
    size_t old = t->text == NULL ? 0 : strlen(t->text);
    if (old > TEXT_LIMIT - fresh - 2) old = TEXT_LIMIT - fresh - 2;
    char *text = malloc(fresh + old + 2);
    if (text == NULL) return;
    memcpy(text, line, fresh);
    if (old != 0) {
        text[fresh] = '\n';
        memcpy(text + fresh + 1, t->text, old);
        text[fresh + 1 + old] = '\0';
    } else {
        text[fresh] = '\0';
    }
    free(t->text);
    t->text = text;
}

void mock_error_text(const char *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    prepend(mock_self(), code, format, args);
    va_end(args);
}

aclError mock_fail(aclError code, const char *id, const char *format, ...) {
    mock_thread *t = mock_self();
    va_list args;
    va_start(args, format);
    prepend(t, id, format, args);
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

/* Each read takes the text away (observed: err_msg). The pointer is good until the next read of the
 * thread (guide: error handling, aclGetRecentErrMsg). */
MOCK_EXPORT const char *aclGetRecentErrMsg(void) {
    MOCK_ENTER_PTR(aclGetRecentErrMsg);
    mock_thread *t = mock_self();
    mock_lock();
    const bool bound = mock_current_quiet() != NULL;
    mock_unlock();
    free(t->shown);
    t->shown = NULL;
    if (!bound) {
        /* Nothing is cleared, and the read itself adds a text (observed, not recorded; the text of
         * another thread without a context is in err_msg). */
        mock_error_text("EE1018", "the calling thread has no current context");
        return t->text;
    }
    t->shown = t->text;
    t->text = NULL;
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
