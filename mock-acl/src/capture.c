/* Capture of streams into a graph: begin, end, what is recorded and what is refused (runtime guide: capture).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include "capture.h"
#include "context.h"
#include "graph.h"

static mock_link active = {&active, &active};

static const mock_task_ops record_ops = {"aclrtRecordEvent", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtStreamWaitEvent", NULL, NULL};

bool mock_capturing(const mock_stream *s) { return s->graph != NULL && !s->bound; }

bool mock_event_captured(const mock_event *e) {
    return e->graph != NULL && e->graph->serial == e->graph_serial && e->graph->state == MOCK_GRAPH_CAPTURING;
}

aclError mock_captured_error(const char *call) {
    return mock_fail(
        ACL_ERROR_RT_STREAM_CAPTURED, "EE1016", "%s is not allowed while the stream captures", call);
}

/* ---- capture modes ---- */

/* The strictest mode among the captures of a context, or of a thread; RELAXED + 1 without any. */
static int strictest(const mock_ctx *ctx, uint64_t thread) {
    int mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED + 1;
    for (mock_link *l = active.next; l != &active; l = l->next) {
        const mock_graph *g = MOCK_OWNER(l, mock_graph, active);
        const bool counts = ctx != NULL ? g->ctx == ctx : g->owner == thread;
        if (counts && (int)g->mode < mode) mode = (int)g->mode;
    }
    return mode;
}

aclError mock_capture_forbids(mock_ctx *ctx, aclError code, const char *what) {
    if (MOCK_UNLIKELY(!mock_list_empty(&active))) {
        const mock_thread *self = mock_self();
        const int all = strictest(ctx, 0), own = strictest(NULL, self->id);
        const bool restricted = own <= ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
        bool denied = all < ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
        if (self->exchange == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) denied = false;
        else if (self->exchange == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) denied = denied && restricted;
        else if (all == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) denied = restricted;
        if (denied) return mock_fail(code, "EE1016", "%s is not allowed beside a capture of this mode", what);
    }
    return 0;
}

MOCK_EXPORT aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) {
    MOCK_ENTER(aclmdlRICaptureThreadExchangeMode);
    if (mode == NULL) return mock_null("mode");
    if ((int)*mode < 0 || *mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "capture mode %d", (int)*mode);
    mock_lock();
    const bool bound = mock_current() != NULL;
    mock_unlock();
    if (!bound) return ACL_ERROR_RT_CONTEXT_NULL;
    mock_thread *self = mock_self();
    const aclmdlRICaptureMode old = self->exchange;
    self->exchange = *mode;
    *mode = old;
    return 0;
}

/* ---- begin ---- */

static aclError check_stream(const mock_stream *s) {
    if (s->bound) return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1016", "the stream is bound to a model");
    if (s->is_default)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the default stream cannot be captured");
    return 0;
}

static aclError bad_flags(const mock_stream *s) {
    if ((s->flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) == 0) return 0;
    return mock_fail(
        ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "streams of flag 0x%x cannot be captured", s->flags);
}

static aclError begin(mock_stream *s, aclmdlRICaptureMode mode) {
    aclError code = bad_flags(s);
    if (code == 0) code = check_stream(s);
    if (code != 0) return code;
    if (mock_capturing(s)) return mock_captured_error("aclmdlRICaptureBegin");
    if (s->update != NULL)
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "EE1016", "the stream updates a task group");
    mock_graph *g = mock_graph_new(s->ctx, MOCK_GRAPH_CAPTURING);
    if (g != NULL && mock_graph_add_chain(g, s) < 0) {
        mock_graph_free(g);
        g = NULL;
    }
    if (g == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    g->captured = true;
    g->mode = mode;
    g->owner = mock_self()->id;
    mock_list_push(&active, &g->active);
    return 0;
}

MOCK_EXPORT aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    MOCK_ENTER(aclmdlRICaptureBegin);
    if (stream == NULL) return mock_null("stream");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = 0;
    if ((int)mode < 0 || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "capture mode %d", (int)mode);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = begin(s, mode);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclmdlRICaptureGetInfo(
    aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI) {
    MOCK_ENTER(aclmdlRICaptureGetInfo);
    if (stream == NULL || (status == NULL && modelRI == NULL)) return mock_null("stream, status and modelRI");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) {
        const bool on = mock_capturing(s);
        /* Observed: a capture that is broken still reads as active; only a lost task shows. */
        if (status != NULL)
            *status = !on                     ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
                      : s->graph->invalidated ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                              : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
        if (modelRI != NULL) *modelRI = on ? s->graph->handle : NULL;
    }
    mock_unlock();
    return code;
}

/* ---- tasks, records and waits ---- */

aclError mock_capture_task(mock_stream *s, mock_task *t) {
    aclError code = mock_group_check(s->graph, s->chain, (mock_task_kind)t->kind);
    if (s->graph->state != MOCK_GRAPH_CAPTURING && s->graph->state != MOCK_GRAPH_BUILDING)
        code = mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1016", "the model of the stream is complete");
    if (code == 0) return mock_graph_append(s->graph, s->chain, t);
    mock_task_release(t);
    return code;
}

static aclError not_captured(void) {
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "events of this kind cannot be captured");
}

static aclError add_record(mock_stream *s, mock_event *e) {
    mock_graph *g = s->graph;
    aclError code = mock_group_check(g, s->chain, MOCK_TASK_RECORD);
    void *records = g->records;
    if (code == 0) code = mock_graph_grow(&records, &g->record_room, g->record_count, sizeof *g->records);
    g->records = records;
    if (code != 0) return code;
    mock_task t = {.ops = &record_ops, .kind = MOCK_TASK_RECORD, .type = ACL_MODEL_RI_TASK_EVENT_RECORD};
    t.u.wait.seq = g->record_count;
    code = mock_graph_append(g, s->chain, &t);
    if (code != 0) return code;
    g->records[g->record_count] = (mock_record){g->node_count - 1, s->chain, 0};
    e->graph = g;
    e->graph_serial = g->serial;
    e->graph_record = g->record_count++;
    return 0;
}

aclError mock_capture_record(mock_stream *s, mock_event *e) {
    if (e->family == MOCK_EVENT_OUTSIDE || (e->family == MOCK_EVENT_FLAGGED && s->bound)) {
        mock_task t = {
            .ops = &record_ops, .kind = MOCK_TASK_LATCH_SET, .type = ACL_MODEL_RI_TASK_EVENT_RECORD};
        t.u.wait.event = e;
        e->refs++;
        return mock_capture_task(s, &t);
    }
    if (s->bound || e->family != MOCK_EVENT_EX) return not_captured();
    /* Observed: a record that nothing can wait for is accepted and ignored. */
    if ((e->flags & ACL_EVENT_SYNC) == 0) return 0;
    return add_record(s, e);
}

static aclError add_wait(mock_stream *s, const mock_event *e) {
    const aclError code = mock_group_check(s->graph, s->chain, MOCK_TASK_WAIT);
    if (code != 0) return code;
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_WAIT, .type = ACL_MODEL_RI_TASK_EVENT_WAIT};
    t.u.wait.seq = e->graph_record;
    return mock_graph_append(s->graph, s->chain, &t);
}

/* A wait for a captured event draws an ordinary stream into the capture. */
static aclError fork_into(mock_stream *s, const mock_event *e) {
    if (s->is_default)
        return mock_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "EE1017", "the default stream cannot join a capture");
    const aclError code = bad_flags(s);
    if (code != 0) return code;
    if (mock_graph_add_chain(e->graph, s) < 0) {
        e->graph->invalidated = true;
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    }
    return add_wait(s, e);
}

static aclError wait_latch(mock_stream *s, mock_event *e) {
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_LATCH_WAIT, .type = ACL_MODEL_RI_TASK_EVENT_WAIT};
    t.u.latch.event = e;
    e->refs++;
    return mock_capture_task(s, &t);
}

aclError mock_capture_wait(mock_stream *s, mock_event *e) {
    const bool captured = mock_event_captured(e);
    if (s->graph == NULL) return fork_into(s, e);
    if (e->family == MOCK_EVENT_OUTSIDE || (e->family == MOCK_EVENT_FLAGGED && s->bound))
        return wait_latch(s, e);
    if (s->bound || e->family != MOCK_EVENT_EX) return not_captured();
    if (captured && e->graph == s->graph) return add_wait(s, e);
    if (captured) {
        e->graph->broken = s->graph->broken = true;
        return mock_fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT, "EE1016", "the event belongs to another capture");
    }
    if (e->stream == NULL) return 0;
    return mock_fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY, "EE1016", "the event was recorded outside the capture");
}

/* ---- end ---- */

/* Every side stream must end with a record that the origin waits for, directly or through other streams. */
static bool joined(const mock_graph *g) {
    bool *reached = calloc(g->chain_count, sizeof *reached);
    if (reached == NULL) return false;
    reached[0] = true;
    bool grew = true;
    while (grew) {
        grew = false;
        for (uint32_t i = g->node_count; i-- > 0;) {
            const mock_task *t = &g->nodes[i];
            if (t->kind != MOCK_TASK_WAIT || !reached[t->chain]) continue;
            const mock_record *r = &g->records[t->u.wait.seq];
            if (reached[r->chain] || g->chains[r->chain].last != r->node) continue;
            reached[r->chain] = grew = true;
        }
    }
    bool all = true;
    for (uint16_t c = 0; c < g->chain_count; c++) all = all && reached[c];
    free(reached);
    return all;
}

static void discard(mock_graph *g) {
    g->state = MOCK_GRAPH_FAULT;
    mock_graph_free(g);
}

/* After these checks the streams are free again, whatever the result. */
static aclError finish(mock_graph *g) {
    if (g->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && g->owner != mock_self()->id)
        return mock_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, "EE1016", "another thread began the capture");
    if (g->broken || g->invalidated)
        return mock_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "EE1016", "the capture was broken before");
    if (g->open_group != NULL)
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "EE1016", "a task group is still open");
    if (!joined(g))
        return mock_fail(ACL_ERROR_RT_STREAM_UNJOINED, "EH0008", "a stream of the capture is not joined");
    if (!mock_graph_freeze(g)) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    return 0;
}

static aclError end(mock_stream *s, aclmdlRI *out) {
    const aclError code = check_stream(s);
    if (code != 0) return code;
    mock_graph *g = s->graph;
    if (g == NULL)
        return mock_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EE1018", "the stream does not capture");
    if (s->chain != 0)
        return mock_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, "EE1016", "the capture began on another stream");
    const aclError result = finish(g);
    *out = NULL;
    if (result != 0) {
        discard(g);
        return result;
    }
    mock_graph_leave(g);
    g->state = MOCK_GRAPH_READY;
    *out = g->handle;
    return 0;
}

MOCK_EXPORT aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
    MOCK_ENTER(aclmdlRICaptureEnd);
    if (stream == NULL) return mock_null("stream");
    mock_stream *s = NULL;
    mock_lock();
    aclError code =
        modelRI == NULL ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "modelRI must not be null") : 0;
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = end(s, modelRI);
    mock_unlock();
    return code;
}

/* The context goes away: so does every capture that one of its streams takes part in. */
void mock_capture_abandon(mock_ctx *ctx) {
    for (mock_link *l = active.next; l != &active;) {
        mock_graph *g = MOCK_OWNER(l, mock_graph, active);
        l = l->next;
        bool involved = g->ctx == ctx;
        for (uint16_t c = 0; c < g->chain_count; c++)
            involved = involved || (g->chains[c].stream != NULL && g->chains[c].stream->ctx == ctx);
        if (involved) discard(g);
    }
}
