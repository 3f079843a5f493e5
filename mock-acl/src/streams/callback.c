/* Host functions, and callbacks that a subscribed thread runs (guide: callbacks). In a capture they are
 * recorded and run in every replay (implementation of the open runtime). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "streams/callback.h"
#include "streams/streams.h"

/* One execution of a callback task: waits in its thread's list until aclrtProcessReport runs it. */
typedef struct mock_report {
    mock_link link;
    uint64_t thread, stream; /* the stream's serial */
    bool host; /* for aclrtProcessHostFunc */
    void (*fn)(void *);
    void *user;
    bool finished, blocking;
    bool owned_by_task; /* a blocking task waits for the end and frees it */
    mock_mark *mark;    /* of its stream, which got there */
    mock_link waiters;
} report;

static mock_link reports = {&reports, &reports};
static const mock_task_ops host_ops = {"aclrtLaunchHostFunc", NULL, NULL};
static const mock_task_ops report_ops = {"aclrtLaunchCallback", NULL, NULL};

static void forget(report *r) {
    mock_mark_drop(r->mark);
    free(r);
}

mock_outcome mock_report_step(mock_stream *s, mock_task *t) {
    report *r = t->u.host.report;
    if (r == NULL) {
        r = calloc(1, sizeof *r);
        if (r == NULL) return MOCK_DONE;
        *r = (report){.thread = s->report_thread, .stream = s->serial, .fn = t->u.host.fn, .user = t->u.host.user};
        if (mock_races()) r->mark = mock_mark_of(mock_racing_now(s));
        if (t->u.host.thread != 0) r->thread = t->u.host.thread;
        r->host = t->u.host.of_host;
        mock_list_init(&r->waiters);
        mock_list_push(&reports, &r->link);
        mock_changed();
        r->blocking = t->u.host.blocking;
        if (!r->blocking) return MOCK_DONE;
        r->owned_by_task = true;
        t->u.host.report = r;
    }
    if (!r->finished) {
        mock_block_on(s, &r->waiters);
        return MOCK_BLOCKED;
    }
    t->u.host.report = NULL;
    if (mock_races()) mock_racing_called(mock_racing_now(s));
    forget(r);
    return MOCK_DONE;
}

/* The task goes away before the thread ran its callback. */
void mock_report_forget(mock_task *t) {
    report *r = t->u.host.report;
    if (r == NULL) return;
    t->u.host.report = NULL;
    r->owned_by_task = false;
    if (r->finished) forget(r);
}

/* What a stream that goes left for its thread is dropped, but what blocked it (observed: sequences). */
void mock_reports_leave(const mock_stream *s) {
    mock_link *next = NULL;
    for (mock_link *l = reports.next; l != &reports; l = next) {
        report *r = MOCK_OWNER(l, report, link);
        next = l->next;
        if (r->stream != s->serial || r->blocking) continue;
        mock_list_remove(&r->link);
        forget(r);
    }
}

void mock_reports_clear(void) {
    while (!mock_list_empty(&reports)) {
        report *r = MOCK_OWNER(reports.next, report, link);
        mock_list_remove(&r->link);
        forget(r);
    }
}

static aclError mixed(void) {
    return mock_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "EE1016", "the stream has the other kind of callbacks");
}

/* What the stream itself refuses, before its context (observed: other_context_stream, sequences): a null function is
 * 107000; a stream of host functions takes no callbacks and the other way round: 107011, but for the default stream
 * (observed: subscribe_hostfunc, sequences). */
static aclError check_callback(const mock_stream *s, bool fn, bool other_kind) {
    if (!fn) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "fn must not be null");
    if (!other_kind || s == NULL) return 0;
    return mixed();
}

static aclError look_at(aclrtStream stream, mock_stream **s) {
    return stream == NULL ? 0 : mock_stream_to_look_at(stream, s);
}

/* fn null: 107000; a subscribed stream: 107011 (observed: callbacks). The stream waits for fn (guide:
 * callbacks, aclrtLaunchHostFunc). */
MOCK_EXPORT aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) {
    MOCK_ENTER_OF(aclrtLaunchHostFunc, stream);
    mock_stream *s = NULL;
    mock_lock();
    aclError code = look_at(stream, &s);
    if (code == 0)
        code = check_callback(s, fn != NULL, s != NULL && s->report_thread != 0 && !s->report_host);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) {
        mock_task t = {
            .ops = &host_ops, .kind = MOCK_TASK_HOST, .u.host = {.fn = fn, .user = args, .blocking = true}};
        s->host_funcs = s->host_funcs || !mock_capturing(s);
        if (s->report_host) {
            t.kind = MOCK_TASK_REPORT;
            t.u.host.thread = s->report_thread;
            t.u.host.of_host = true;
        }
        code = mock_submit(s, &t);
    }
    mock_unlock();
    return code;
}

/* Other block types: 100000, fn null: 107000, not subscribed: 107015 (observed: callbacks); used with host functions:
 * 107011 (implementation of the open runtime), but the null stream, where it is one more of them; those of streams
 * that the CPU schedules never come (observed: sequences). */
MOCK_EXPORT aclError aclrtLaunchCallback(
    aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtLaunchCallback, stream);
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "block type %d", (int)blockType);
    mock_stream *s = NULL;
    mock_lock();
    aclError code = look_at(stream, &s);
    if (code == 0) code = check_callback(s, fn != NULL, s != NULL && (s->host_funcs || s->report_host));
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    const bool stored = code == 0 && (s->flags & ACL_STREAM_CPU_SCHEDULE) != 0 && !mock_capturing(s);
    const bool hosts = code == 0 && stream == NULL && s->host_funcs;
    if (code == 0 && s->report_thread == 0 && !hosts)
        code = mock_fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "EE1018", "no thread is subscribed to the stream");
    if (code == 0 && !stored) {
        mock_task t = {.ops = &report_ops, .kind = MOCK_TASK_REPORT};
        if (hosts) t = (mock_task){.ops = &host_ops, .kind = MOCK_TASK_HOST};
        t.u.host.fn = fn;
        t.u.host.user = userData;
        t.u.host.blocking = blockType == ACL_CALLBACK_BLOCK;
        t.u.host.thread = s->report_thread;
        code = mock_submit(s, &t);
    }
    mock_unlock();
    return code;
}

/* ---- subscriptions ---- */

typedef struct subscriber {
    uint64_t thread;
    bool host;
    bool serves; /* it asked for callbacks since it subscribed */
    int32_t device; /* one for all its streams (observed: sequences, 107012) */
    uint32_t streams;
} subscriber;

/* (guide: callbacks, aclrtSubscribeReport: 1,024 threads a process) */
static subscriber subscribers[1024];

static subscriber *subscriber_of(uint64_t thread, bool host) {
    for (size_t i = 0; i < sizeof subscribers / sizeof subscribers[0]; i++)
        if (subscribers[i].streams != 0 && subscribers[i].thread == thread && subscribers[i].host == host)
            return &subscribers[i];
    return NULL;
}

static subscriber *subscriber_new(uint64_t thread, bool host) {
    subscriber *known = subscriber_of(thread, host);
    for (size_t i = 0; known == NULL && i < sizeof subscribers / sizeof subscribers[0]; i++)
        if (subscribers[i].streams == 0) known = &subscribers[i];
    if (known != NULL && known->streams == 0) known->serves = false;
    if (known != NULL) {
        known->thread = thread;
        known->host = host;
    }
    return known;
}

/* A thread that serves takes the next one soon: whoever waits meanwhile does so in real time. */
bool mock_reports_coming(void) {
    for (mock_link *l = reports.next; l != &reports; l = l->next) {
        const report *r = MOCK_OWNER(l, report, link);
        const subscriber *who = subscriber_of(r->thread, r->host);
        if (who != NULL && who->serves && r->thread != (uint64_t)pthread_self()) return true;
    }
    return false;
}

void mock_unsubscribe(mock_stream *s) {
    subscriber *who = s->report_thread == 0 ? NULL : subscriber_of(s->report_thread, s->report_host);
    if (who != NULL) who->streams--;
    mock_changed();
    s->report_thread = 0;
    s->report_host = false;
}

/* Used with host functions: 107011 (guide: callbacks, aclrtSubscribeReport), before the context, which need not be that
 * of the stream (observed: other_context_stream, sequences). A second thread or thread 0: the same; no place left:
 * 207012 (own choice). */
static aclError subscribe(uint64_t threadId, aclrtStream stream, bool host) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0 && s->host_funcs && stream != NULL) code = mixed();
    if (code == 0 && mock_current() == NULL) code = ACL_ERROR_RT_CONTEXT_NULL;
    if (code == 0 && (s->host_funcs || s->report_thread != 0 || threadId == 0))
        code = mock_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "EE9999", "the stream has a callback thread already");
    if (code == 0) {
        subscriber *who = subscriber_new(threadId, host);
        if (who == NULL) {
            code = mock_fail(ACL_ERROR_RT_OVER_LIMIT, "EE1023", "more than 1024 threads are subscribed");
        } else if (who->streams != 0 && who->device != s->ctx->device) {
            code = mock_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE9999", "the thread serves another device");
        } else {
            who->streams++;
            who->device = s->ctx->device;
            s->report_thread = threadId;
            s->report_host = host;
        }
    }
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtSubscribeReport, stream);
    return subscribe(threadId, stream, false);
}

/* The thread runs what aclrtLaunchHostFunc queues on the stream from now on (header:
 * aclrtSubscribeHostFunc; own choice: it behaves like aclrtSubscribeReport in all the rest). */
MOCK_EXPORT aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
    MOCK_ENTER_OF(aclrtSubscribeHostFunc, exeStream);
    return subscribe(hostFuncThreadId, exeStream, true);
}

/* Nobody's stream: 107011, another thread's: 107012 (observed: subscribe). No context is needed (observed:
 * thread_without_context_stream). */
static aclError leave(uint64_t threadId, aclrtStream stream, bool host) {
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0 && s->report_thread == 0)
        code = mock_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, s->host_funcs ? "EE1016" : "EE9999",
            "no thread is subscribed to the stream");
    if (code == 0 && (s->report_thread != threadId || s->report_host != host))
        code =
            mock_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "EE9999", "the thread is not subscribed to the stream");
    if (code == 0) mock_unsubscribe(s);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtUnSubscribeReport, stream);
    return leave(threadId, stream, false);
}

MOCK_EXPORT aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
    MOCK_ENTER_OF(aclrtUnSubscribeHostFunc, exeStream);
    return leave(hostFuncThreadId, exeStream, true);
}

/* ---- the subscribed thread ---- */

typedef struct listener {
    uint64_t thread;
    bool host;
} listener;

static report *next_report(const listener *who) {
    for (mock_link *l = reports.next; l != &reports; l = l->next) {
        report *r = MOCK_OWNER(l, report, link);
        if (r->thread == who->thread && r->host == who->host) return r;
    }
    return NULL;
}

/* Or there will be none any more: another thread ended the subscription. */
static bool report_ready(void *who) {
    const listener *l = who;
    return next_report(l) != NULL || subscriber_of(l->thread, l->host) == NULL;
}

static void run_report(report *r) {
    mock_thread *self = mock_self();
    mock_list_remove(&r->link);
    mock_racer_join(mock_host_racer, r->mark);
    mock_engine.executing++;
    mock_unlock();
    self->in_task++;
    r->fn(r->user);
    self->in_task--;
    mock_lock();
    mock_engine.executing--;
    r->finished = true;
    mock_wake_all(&r->waiters);
    mock_wake_all(&mock_engine.value_waiters); /* a graph waits there */
    if (!r->owned_by_task) forget(r);
}

/* 0: 100000, not subscribed, or not any more: 107012, nothing in time: 507012 (observed: callbacks), the last two
 * without a text (observed: subscribe). Runs one of what is ready (observed: sequences), where the guide names no
 * number. The time is real where the program has other threads (own choice: who serves asks again and again, which
 * must neither keep a core busy nor move the clock). */
static aclError process(int32_t timeout, bool host) {
    if (timeout != -1 && timeout <= 0)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0009", "time-out %d", timeout);
    listener self = {(uint64_t)pthread_self(), host};
    mock_lock();
    aclError code = 0;
    subscriber *who = subscriber_of(self.thread, host);
    if (who == NULL) code = ACL_ERROR_RT_THREAD_SUBSCRIBE;
    if (who != NULL) who->serves = true;
    if (code == 0)
        code = mock_wait(&(mock_wait_for){report_ready, NULL, &self, NULL, NULL, true},
            timeout < 0 ? MOCK_FOREVER : (int64_t)timeout * 1000000);
    if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) code = ACL_ERROR_RT_REPORT_TIMEOUT;
    if (code == 0 && next_report(&self) == NULL) code = ACL_ERROR_RT_THREAD_SUBSCRIBE;
    mock_fail_untold(code);
    if (code == 0) run_report(next_report(&self));
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtProcessReport(int32_t timeout) {
    MOCK_ENTER(aclrtProcessReport);
    return process(timeout, false);
}

MOCK_EXPORT aclError aclrtProcessHostFunc(int32_t timeout) {
    MOCK_ENTER(aclrtProcessHostFunc);
    return process(timeout, true);
}
