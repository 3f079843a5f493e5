/* Marks and ranges of programs for tools (libms_tools_ext; guide: mstx): they go to the trace while a session records
 * marks, and are dropped otherwise. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "acl/acl.h"
#include "engine/engine.h"
#include "mock_acl.h"
#include "mstx/ms_tools_ext.h"
#include "profiling/profiling.h"
#include "profiling/trace.h"
#include "streams/streams.h"

/* (guide: mstx, the length of a message) */
#define LONGEST 255

struct mstxDomainRegistration_st {
    struct mstxDomainRegistration_st *next;
    char name[LONGEST + 1];
};

#define TEXT (2 * LONGEST + 3)

/* A range on a stream, which the tasks at its ends share, and the range of the host until it ends. */
typedef struct on_device {
    _Atomic int users;
    int32_t stream;
    uint64_t start;
    char text[TEXT];
} on_device;

typedef struct range {
    struct range *next;
    mstxRangeId id;
    mstxDomainHandle_t domain;
    uint64_t start;
    aclrtStream stream;
    on_device *device;
    char text[TEXT];
} range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mstxDomainHandle_t domains;
static range *ranges;
static mstxRangeId next_id = 1;

static void leave(void *shared) {
    on_device *d = shared;
    if (d != NULL && atomic_fetch_sub(&d->users, 1) == 1) free(d);
}

static aclError run_start(void *shared) {
    ((on_device *)shared)->start = mock_acl_now_ns();
    return 0;
}

static aclError run_end(void *shared) {
    const on_device *d = shared;
    const int64_t duration = (int64_t)(mock_acl_now_ns() - d->start);
    mock_trace_add(d->text, "range", 1, (uint64_t)(uint32_t)d->stream, d->start, duration);
    return 0;
}

static const mock_task_ops start_ops = {"mstxRangeStartA", run_start, leave};
static const mock_task_ops end_ops = {"mstxRangeEnd", run_end, leave};

/* Null where the stream does not take it. */
static on_device *start_on(aclrtStream stream, const char *text) {
    on_device *d = calloc(1, sizeof *d);
    mock_stream *s = NULL;
    if (d == NULL) return NULL;
    d->users = 2;
    strcpy(d->text, text);
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) d->stream = s->id;
    mock_unlock();
    if (code != 0) leave(d);
    if (code == 0) code = mock_submit_kernel(stream, &start_ops, d);
    if (code == 0) return d;
    leave(d);
    return NULL;
}

void mock_mstx_reset(void) {
    pthread_mutex_lock(&lock);
    while (domains != NULL) {
        mstxDomainHandle_t d = domains;
        domains = d->next;
        free(d);
    }
    while (ranges != NULL) {
        range *r = ranges;
        ranges = r->next;
        leave(r->device);
        free(r);
    }
    pthread_mutex_unlock(&lock);
}

/* With the lock; null is the domain of calls without one. */
static bool known(mstxDomainHandle_t domain) {
    mstxDomainHandle_t d = domains;
    while (d != NULL && d != domain) d = d->next;
    return domain == NULL || d != NULL;
}

/* "domain: message"; false for what is not recorded: no message, one that is too long, a domain that is gone. */
static bool describe(mstxDomainHandle_t domain, const char *message, char *out, size_t size) {
    if (message == NULL || strnlen(message, LONGEST + 1) > LONGEST || !mock_trace_marks()) return false;
    pthread_mutex_lock(&lock);
    const bool good = known(domain);
    if (good && domain == NULL) snprintf(out, size, "%s", message);
    if (good && domain != NULL) snprintf(out, size, "%s: %s", domain->name, message);
    pthread_mutex_unlock(&lock);
    return good;
}

static void mark(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
    char text[TEXT];
    if (!describe(domain, message, text, sizeof text)) return;
    /* That of a stream is the host's as well; one that the stream does not take is the host's alone. */
    if (stream != NULL && mock_mark_for_tools(text, stream)) return;
    mock_trace_add(text, "mark", 0, mock_self()->id, mock_acl_now_ns(), -1);
}

/* With a stream on the device as well (guide: mstx, mstxRangeStartA), so in each launch of a graph that captures both
 * ends; one that the stream does not take is the host's alone. */
static mstxRangeId start(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
    range *r = calloc(1, sizeof *r);
    if (r == NULL || !describe(domain, message, r->text, sizeof r->text)) {
        free(r);
        return MSTX_INVALID_ID;
    }
    r->domain = domain;
    r->start = mock_acl_now_ns();
    r->stream = stream;
    if (stream != NULL) r->device = start_on(stream, r->text);
    pthread_mutex_lock(&lock);
    const mstxRangeId id = r->id = next_id++;
    r->next = ranges;
    ranges = r;
    pthread_mutex_unlock(&lock);
    return id;
}

/* Unknown ranges, and those of another domain, are let be. */
static void end(mstxDomainHandle_t domain, mstxRangeId id) {
    pthread_mutex_lock(&lock);
    range **at = &ranges;
    while (*at != NULL && ((*at)->id != id || (*at)->domain != domain)) at = &(*at)->next;
    range *r = *at;
    if (r != NULL) *at = r->next;
    pthread_mutex_unlock(&lock);
    if (r == NULL) return;
    if (r->device != NULL) (void)mock_submit_kernel(r->stream, &end_ops, r->device);
    if (mock_trace_marks())
        mock_trace_add(
            r->text, "range", 0, mock_self()->id, r->start, (int64_t)(mock_acl_now_ns() - r->start));
    free(r);
}

/* An injected failure: nothing is made, and nothing ends. */
#define ENTER(name) \
    if (mock_enter(MOCK_API_##name) != 0) return

MOCK_EXPORT void mstxMarkA(const char *message, aclrtStream stream) {
    ENTER(mstxMarkA);
    mark(NULL, message, stream);
}

MOCK_EXPORT mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) {
    ENTER(mstxRangeStartA) MSTX_INVALID_ID;
    return start(NULL, message, stream);
}

MOCK_EXPORT void mstxRangeEnd(mstxRangeId id) {
    ENTER(mstxRangeEnd);
    end(NULL, id);
}

/* The same domain for the same name (own choice). */
MOCK_EXPORT mstxDomainHandle_t mstxDomainCreateA(const char *name) {
    ENTER(mstxDomainCreateA) NULL;
    if (name == NULL || *name == '\0' || strnlen(name, LONGEST + 1) > LONGEST) return NULL;
    pthread_mutex_lock(&lock);
    mstxDomainHandle_t d = domains;
    while (d != NULL && strcmp(d->name, name) != 0) d = d->next;
    if (d == NULL && (d = calloc(1, sizeof *d)) != NULL) {
        strcpy(d->name, name);
        d->next = domains;
        domains = d;
    }
    pthread_mutex_unlock(&lock);
    return d;
}

MOCK_EXPORT void mstxDomainDestroy(mstxDomainHandle_t domain) {
    ENTER(mstxDomainDestroy);
    pthread_mutex_lock(&lock);
    mstxDomainHandle_t *at = &domains;
    while (*at != NULL && *at != domain) at = &(*at)->next;
    const bool found = *at != NULL;
    if (found) *at = domain->next;
    pthread_mutex_unlock(&lock);
    if (found) free(domain);
}

MOCK_EXPORT void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
    ENTER(mstxDomainMarkA);
    if (domain != NULL) mark(domain, message, stream);
}

MOCK_EXPORT mstxRangeId mstxDomainRangeStartA(
    mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
    ENTER(mstxDomainRangeStartA) MSTX_INVALID_ID;
    return domain == NULL ? MSTX_INVALID_ID : start(domain, message, stream);
}

MOCK_EXPORT void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
    ENTER(mstxDomainRangeEnd);
    if (domain != NULL) end(domain, id);
}

/* The mock's trace stands for msprof while it records (own choice). */
MOCK_EXPORT void mstxGetToolId(uint64_t *id) {
    ENTER(mstxGetToolId);
    if (id != NULL) *id = mock_trace_marks() ? MSTX_TOOL_MSPROF_ID : MSTX_TOOL_INVALID_ID;
}
