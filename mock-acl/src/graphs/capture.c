/* Capture of streams into a graph: begin, end, what is recorded and what is refused (guide: capture). A
 * refused call leaves the capture as it is (observed: capturing_calls), where the guide says it fails. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

/* Of an event whose record a task group refused. */
#define NO_RECORD UINT32_MAX

static const mock_task_ops record_ops = {"aclrtRecordEvent", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtStreamWaitEvent", NULL, NULL};

bool mock_event_captured(const mock_event *e) {
    return e->graph != NULL && e->graph->serial == e->graph_serial && e->graph->state == MOCK_GRAPH_CAPTURING;
}

aclError mock_captured_illegal(mock_stream *s, const char *call) {
    if (mock_capturing(s)) mock_capture_spoil(&s->graph->capture);
    return mock_captured_error(call);
}

/* ---- capture modes ---- */

/* Gives the old mode; null 100000, other modes 107000 (observed: sync_copy_modes); no context 107002
 * (observed: thread_no_ctx). */
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

/* Bound: 107005 (observed: build_ri). The real handle of the default stream: 207000 (observed:
 * capture_begin). */
static aclError check_stream(const mock_stream *s) {
    if (s->bound) return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1017", "the stream is bound to a model");
    if (s->is_default)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the default stream cannot be captured");
    return 0;
}

/* 0x10 and 0x20: 507000; the others may capture (observed: capture_begin, capture_end_out). */
static aclError bad_flags(const mock_stream *s) {
    if ((s->flags & (ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY)) == 0) return 0;
    return mock_fail(
        ACL_ERROR_RT_INTERNAL_ERROR, "EE1011", "streams of flag 0x%x cannot be captured", s->flags);
}

/* Twice: 107027 (observed: capture_begin). A stream that updates a group may capture (observed:
 * group_after_update). */
static aclError check_begin(mock_stream *s, const char *call) {
    aclError code = bad_flags(s);
    if (code == 0) code = check_stream(s);
    if (code != 0) return code;
    return mock_capturing(s) ? mock_captured_illegal(s, call) : 0;
}

/* The graph's first stream: 207008 without one (guide: stream management; header:
 * ACL_ERROR_RT_NO_STREAM_RESOURCE). */
static aclError begin_into(mock_graph *g, mock_stream *s, aclmdlRICaptureMode mode) {
    const aclError code = mock_graph_add_chain(g, s);
    if (code != 0) return code;
    g->state = MOCK_GRAPH_CAPTURING;
    g->capture.mode = mode;
    g->capture.owner = mock_self()->id;
    g->capture.ctx = g->ctx;
    mock_list_push(&mock_captures, &g->capture.active);
    return 0;
}

static aclError begin(mock_stream *s, aclmdlRICaptureMode mode) {
    aclError code = check_begin(s, "aclmdlRICaptureBegin");
    if (code != 0) return code;
    mock_graph *g = mock_graph_new(s->ctx, MOCK_GRAPH_CAPTURING);
    if (g == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    g->captured = true;
    code = begin_into(g, s, mode);
    if (code != 0) mock_graph_free(g);
    return code;
}

static aclError check_mode(aclmdlRICaptureMode mode) {
    if ((int)mode >= 0 && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "capture mode %d", (int)mode);
}

/* Flags come before the context of the stream (implementation of the open runtime). */
static aclError check_flags(aclrtStream stream) {
    const mock_stream *s = mock_current_or_none() == NULL ? NULL : mock_handle_get(MOCK_STREAM, stream);
    return s == NULL ? 0 : bad_flags(s);
}

/* Null stream 100000, mode 3 107000 (observed: capture_begin), after the handle (observed: sequences). */
MOCK_EXPORT aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    MOCK_ENTER_OF(aclmdlRICaptureBegin, stream);
    if (stream == NULL) return mock_null("stream");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0) code = check_mode(mode);
    if (code == 0) code = check_flags(stream);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = begin(s, mode);
    mock_unlock();
    return code;
}

/* No sub graph: 107000; captured before: 107026 (implementation of the open runtime); of another context:
 * 107004 (own choice, as for other uses of a model). */
static aclError begin_sub(mock_graph *g, mock_stream *s, aclmdlRICaptureMode mode) {
    if (g->state != MOCK_GRAPH_EMPTY)
        return mock_fail(ACL_ERROR_RT_MODEL_CAPTURED, "EE1016", "the sub graph was captured before");
    if (g->ctx != s->ctx)
        return mock_fail(ACL_ERROR_RT_MODEL_CONTEXT, "EE1010", "the model belongs to another context");
    const aclError code = check_begin(s, "aclmdlRICaptureToModelRIBegin");
    return code != 0 ? code : begin_into(g, s, mode);
}

/* What the stream is told goes into a sub graph of a conditional task. */
MOCK_EXPORT aclError aclmdlRICaptureToModelRIBegin(
    aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
    MOCK_ENTER_OF(aclmdlRICaptureToModelRIBegin, stream, modelRI);
    if (stream == NULL || modelRI == NULL) return mock_null("stream and modelRI");
    mock_stream *s = NULL;
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0 && stream != NULL) code = mock_stream_to_look_at(stream, &s);
    if (code == 0) code = check_mode(mode);
    if (code == 0) code = check_flags(stream);
    if (code == 0 && g->parent == NULL)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the model is not a sub graph");
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = begin_sub(g, s, mode);
    mock_unlock();
    return code;
}

/* Null stream or nothing to write: 100000 (observed: getinfo). Side streams too (observed: capture_end). */
MOCK_EXPORT aclError aclmdlRICaptureGetInfo(
    aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI) {
    MOCK_ENTER_OF(aclmdlRICaptureGetInfo, stream);
    if (stream == NULL || (status == NULL && modelRI == NULL)) return mock_null("stream, status and modelRI");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0) {
        const bool on = mock_capturing(s);
        /* A capture that is broken still reads as active (observed: cross_graph, invalid_107034_status);
         * only a lost task shows (implementation of the open runtime). */
        if (status != NULL)
            *status = !on                     ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
                      : s->graph->capture.invalidated ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                              : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
        if (modelRI != NULL) *modelRI = on ? s->graph->handle : NULL;
    }
    mock_unlock();
    return code;
}

/* ---- tasks, records and waits ---- */

/* After aclmdlRIBuildEnd: 107005 (own choice: the guide forbids it), but for streams that were cleaned,
 * while the model does not run. */
static aclError check_open(const mock_graph *g, const mock_chain *c) {
    const bool running = !g->captured && g->inflight != 0;
    if (g->state == MOCK_GRAPH_CAPTURING || (g->state == MOCK_GRAPH_BUILDING && !running)) return 0;
    if (g->state != MOCK_GRAPH_BUILDING && !c->refill)
        return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1016", "the model of the stream is complete");
    if (g->inflight == 0) return 0;
    return mock_fail(ACL_ERROR_RT_MODEL_RUNNING, "EE9999", "the model is running");
}

/* A broken capture goes on taking tasks (observed: cross_graph, invalid_107034_status). */
aclError mock_capture_task(mock_stream *s, mock_task *t) {
    aclError code = mock_group_check(s->graph, s->chain, (mock_task_kind)t->kind);
    if (code == 0) code = check_open(s->graph, &s->graph->chains[s->chain]);
    if (code == 0) return mock_graph_append(s->graph, s->chain, t);
    mock_task_release(t);
    return code;
}

/* (observed: event_kinds, build_ri) */
static aclError not_captured(void) { return mock_unable(); }

/* The event is one of the capture, but nothing can wait for it (observed: group_record_fails, sequences). */
static void refused_record(const mock_graph *g, mock_event *e) {
    e->graph = (mock_graph *)g;
    e->graph_serial = g->serial;
    e->graph_record = NO_RECORD;
}

/* Only a text: the call that comes upon such an event succeeds (observed: group_record_fails). */
static void tell_refused(void) { mock_error_text("EE9999", "the record of the event was refused"); }

static aclError other_capture(void) {
    return mock_fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT, "EE1016", "the event belongs to another capture");
}

/* One whose record another capture refused stays with that (observed: sequences). */
static aclError add_record(mock_stream *s, mock_event *e) {
    mock_graph *g = s->graph;
    if (mock_event_captured(e) && e->graph != g && e->graph_record == NO_RECORD) return other_capture();
    aclError code = mock_group_check(g, s->chain, MOCK_TASK_RECORD);
    if (code != 0 && g->open_group != NULL) refused_record(g, e);
    void *records = g->records;
    if (code == 0) code = mock_graph_grow(&records, &g->record_room, g->record_count, sizeof *g->records);
    g->records = records;
    if (code != 0) return code;
    mock_task t = {.ops = &record_ops, .kind = MOCK_TASK_RECORD, .type = ACL_MODEL_RI_TASK_EVENT_RECORD};
    t.u.wait.seq = g->record_count;
    code = mock_graph_append(g, s->chain, &t);
    if (code != 0) return code;
    if (e->graph == g && e->graph_serial == g->serial && e->graph_record == NO_RECORD) tell_refused();
    g->records[g->record_count] =
        (mock_record){.event = e->handle, .flags = e->flags, .node = g->node_count - 1, .chain = s->chain};
    e->graph = g;
    e->graph_serial = g->serial;
    e->graph_record = g->record_count++;
    return 0;
}

/* External events pass, events of the older calls do not: 207000 (observed: event_kinds). */
aclError mock_capture_record(mock_stream *s, mock_event *e) {
    if (e->family == MOCK_EVENT_OUTSIDE || (e->family == MOCK_EVENT_FLAGGED && s->bound)) {
        mock_task t = {
            .ops = &record_ops, .kind = MOCK_TASK_LATCH_SET, .type = ACL_MODEL_RI_TASK_EVENT_RECORD};
        t.u.wait.event = e;
        e->refs++;
        const aclError code = mock_capture_task(s, &t);
        if (code == 0 && s->bound) {
            e->graph = s->graph;
            e->graph_serial = s->graph->serial;
        }
        return code;
    }
    if (s->bound || e->family != MOCK_EVENT_EX) return not_captured();
    /* A record that nothing can wait for is accepted and ignored (observed: event_kinds). */
    if (!mock_event_waitable(e)) return 0;
    return add_record(s, e);
}

static aclError add_wait(mock_stream *s, const mock_event *e) {
    const aclError code = mock_group_check(s->graph, s->chain, MOCK_TASK_WAIT);
    if (code != 0) return code;
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_WAIT, .type = ACL_MODEL_RI_TASK_EVENT_WAIT};
    t.u.wait.seq = e->graph_record;
    return mock_graph_append(s->graph, s->chain, &t);
}

/* A wait for a captured event draws an ordinary stream into the capture (observed: capture_end, join_ok),
 * also one of another context that is current (observed: fork_foreign_ctx). The default stream: 107031
 * (observed: fork_default). */
static aclError fork_into(mock_stream *s, const mock_event *e) {
    if (s->is_default)
        return mock_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "EE1017", "the default stream cannot join a capture");
    aclError code = bad_flags(s);
    if (code == 0) code = mock_capture_lost(e->graph);
    if (code == 0 && e->graph->broken)
        code = mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the capture of the event is broken");
    if (code != 0) return code;
    code = mock_graph_add_chain(e->graph, s);
    if (code == 0) return add_wait(s, e);
    e->graph->capture.invalidated = true; /* (observed, not recorded) */
    return code;
}

static aclError wait_latch(mock_stream *s, mock_event *e) {
    mock_task t = {.ops = &wait_ops, .kind = MOCK_TASK_LATCH_WAIT, .type = ACL_MODEL_RI_TASK_EVENT_WAIT};
    t.u.latch.event = e;
    e->refs++;
    return mock_capture_task(s, &t);
}

/* Of another capture: 107032, and both are broken (observed: cross_graph). Never recorded: 0; recorded
 * outside: 107024 (observed: event_outside, event_outside_pending). Bound stream: 207000 (observed, not
 * recorded). */
aclError mock_capture_wait(mock_stream *s, mock_event *e) {
    const bool captured = mock_event_captured(e);
    const bool refused = captured && e->graph_record == NO_RECORD;
    if (s->graph == NULL) return fork_into(s, e);
    if (e->family == MOCK_EVENT_OUTSIDE || (e->family == MOCK_EVENT_FLAGGED && s->bound))
        return wait_latch(s, e);
    if (s->bound || e->family != MOCK_EVENT_EX) return not_captured();
    if (refused && e->graph == s->graph) {
        const aclError code = mock_group_check(s->graph, s->chain, MOCK_TASK_WAIT);
        if (code == 0) tell_refused();
        return code;
    }
    if (captured && e->graph == s->graph) return add_wait(s, e);
    if (captured) {
        e->graph->broken = s->graph->broken = true;
        return other_capture();
    }
    if (!mock_has_record(e) && !e->stored) return 0;
    return mock_fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY, "EE1016", "the event was recorded outside the capture");
}

/* ---- end ---- */

/* Every side stream must end with a record that the origin waits for, directly or through other streams
 * (observed: join_ok, join_trailing, join_nowork). */
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

/* Each stream that joins takes a notify for as long as the model lives: 207009 without one (header:
 * ACL_ERROR_RT_NO_NOTIFY_RESOURCE; implementation of the open runtime; own choice: how many). */
static aclError take_notifies(mock_graph *g) {
    const uint16_t wanted = (uint16_t)(g->chain_count - 1);
    if (!mock_notify_ids_take(wanted)) return mock_no_notify();
    g->joins = wanted;
    return 0;
}

/* A sub graph goes with its root; a failed one spoils every capture around it (own choice). */
static void discard(mock_graph *g) {
    if (g->open_group != NULL && g->chains[g->open_chain].stream != NULL)
        g->chains[g->open_chain].stream->group_left = true;
    g->state = MOCK_GRAPH_FAULT;
    if (g->parent == NULL) {
        mock_graph_free(g);
        return;
    }
    mock_graph_leave(g);
    while (g->parent != NULL) {
        g = mock_cond_graph(g->parent);
        g->broken = true;
    }
}

/* After these checks the streams are free again, whatever the result (observed: capture_end). Another thread:
 * 107038 unless RELAXED (capture_end_thread); broken: 507903 (cross_graph, taskgrp); a sub graph without its
 * capture: 107045 (implementation of the open runtime); open group: 107033 (taskgrp_open_end); not joined:
 * 107025 (capture_end). */
static aclError finish(mock_graph *g) {
    if (g->capture.mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && g->capture.owner != mock_self()->id)
        return mock_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, "EE9999", "another thread began the capture");
    if (g->broken || g->capture.invalidated)
        return mock_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "EE1016", "the capture was broken before");
    const aclError subs = mock_conds_complete(g);
    if (subs != 0) return subs;
    if (g->open_group != NULL)
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "EE9999", "a task group is still open");
    if (!joined(g))
        return mock_fail(ACL_ERROR_RT_STREAM_UNJOINED, "EE1017", "a stream of the capture is not joined");
    const aclError notifies = take_notifies(g);
    if (notifies != 0) return notifies;
    if (!mock_graph_freeze(g)) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    return 0;
}

/* Not capturing: 107029; not the stream of the begin: 107036; both leave everything as it is (observed:
 * capture_end, capture_end_out). */
static aclError end(mock_stream *s, aclmdlRI *out) {
    const aclError code = check_stream(s);
    if (code != 0) return code;
    mock_graph *g = s->graph;
    if (g == NULL)
        return mock_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EE1018", "the stream does not capture");
    if (out != NULL) *out = NULL;
    if (s->chain != 0)
        return mock_fail(
            ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, "EE9999", "the capture began on another stream");
    const aclError result = finish(g);
    if (result != 0) {
        discard(g);
        return result;
    }
    mock_graph_leave(g);
    g->state = MOCK_GRAPH_READY;
    if (out != NULL) {
        *out = g->handle;
        mock_gave(*out);
    }
    return 0;
}

/* modelRI null while the stream captures: 107000 before the context, the capture goes on (observed: capture_end,
 * sequences); a sub graph needs none (implementation of the open runtime). Streams that cannot capture: 507000
 * (observed: capture_end_out). */
static aclError check_end(const mock_stream *s, const aclmdlRI *out) {
    if (out == NULL && mock_capturing(s) && s->graph->parent == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "modelRI must not be null");
    return bad_flags(s);
}

MOCK_EXPORT aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) {
    MOCK_ENTER_OF(aclmdlRICaptureEnd, stream);
    if (stream == NULL) return mock_null("stream");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0) code = check_end(s, modelRI);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = end(s, modelRI);
    mock_unlock();
    return code;
}

static bool takes_part(const mock_graph *g, const mock_ctx *ctx) {
    bool involved = g->ctx == ctx;
    for (uint16_t c = 0; c < g->chain_count; c++)
        involved = involved || (g->chains[c].stream != NULL && g->chains[c].stream->ctx == ctx);
    return involved;
}

/* The context goes away: so does every capture that one of its streams takes part in (own choice), with its
 * sub graphs, which stand in the list too. */
void mock_capture_abandon(mock_ctx *ctx) {
    for (mock_link *l = mock_captures.next; l != &mock_captures;) {
        mock_graph *g = MOCK_OWNER(MOCK_OWNER(l, mock_capture, active), mock_graph, capture);
        const bool over = takes_part(g, ctx);
        if (over) discard(mock_graph_root(g));
        l = over ? mock_captures.next : l->next;
    }
}
