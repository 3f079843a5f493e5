/* External records and waits: a captured graph publishes a point of its replay, or waits for a record that
 * was submitted outside of it (guide: event management, aclrtRecordEventWithFlag; implementation of the open
 * runtime). Both are bound when the graph is launched: a wait to the latest record of its event at that
 * moment, without one it does not wait; a record becomes the latest one of its event. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/external.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

static const mock_task_ops record_ops = {"aclrtRecordEventWithFlag", NULL, NULL};
static const mock_task_ops wait_ops = {"aclrtStreamWaitEventWithFlag", NULL, NULL};

/* One external node in one launch: what it waits for, or what it reaches. */
typedef struct mock_external {
    mock_stream *stream; /* with seq; NULL for none */
    uint64_t seq;
    mock_point *point;
    mock_mark *mark; /* with stream */
    bool record;
} mock_external;

static uint64_t done(const mock_stream *s) { return atomic_load_explicit(&s->done, memory_order_acquire); }

/* ---- points ---- */

mock_point *mock_point_ref(mock_point *p) {
    p->refs++;
    return p;
}

void mock_point_unref(mock_point *p) {
    if (p == NULL || --p->refs != 0) return;
    mock_mark_drop(p->mark);
    free(p);
}

static mock_point *point_new(mock_stream *s, uint64_t seq) {
    mock_point *p = malloc(sizeof *p);
    if (p == NULL) return NULL;
    *p = (mock_point){.refs = 1, .stream = s, .seq = seq};
    mock_list_init(&p->waiters);
    return p;
}

static void reach(mock_point *p) {
    p->reached = true;
    if (p->mark == NULL && mock_races()) p->mark = mock_mark_of(mock_racing_now(p->stream));
    mock_wake_all(&p->waiters);
    mock_changed();
}

mock_outcome mock_point_step(mock_stream *s, mock_task *t) {
    if (!t->u.point.point->reached) {
        mock_block_on(s, &t->u.point.point->waiters);
        return MOCK_BLOCKED;
    }
    t->u.point.event->waits_done++;
    if (mock_races()) {
        mock_racer *r = mock_racing_now(s);
        mock_racer_join(r, t->u.point.point->mark);
        mock_mark_add(&t->u.point.event->waited, r);
    }
    return MOCK_DONE;
}

static bool point_reached(void *what) { return ((const mock_point *)what)->reached; }

static bool point_needs(void *what, const mock_stream *s) {
    const mock_point *p = what;
    return p->stream == s && done(s) < p->seq;
}

static uint64_t point_ended(void *what) { return ((const mock_point *)what)->stream->time_ns; }

aclError mock_point_synchronize(mock_point *p, int64_t timeout_ns) {
    return mock_wait(&(mock_wait_for){point_reached, point_needs, p, p->stream, point_ended, false}, timeout_ns);
}

/* ---- capture ---- */

/* Not capturing: 107029; not Ex with exactly SYNC: 207000; the same event twice in one graph, in whichever
 * roles: 107000, a wait for one that was recorded before the same (observed: sequences); in a sub graph: 207000
 * (implementation of the open runtime). */
static aclError check(const mock_stream *s, const mock_event *e, bool record) {
    if (!mock_capturing(s))
        return mock_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EE1016", "the stream does not capture");
    if (e->family != MOCK_EVENT_EX || e->flags != ACL_EVENT_SYNC)
        return mock_fail(
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the event needs exactly the flag ACL_EVENT_SYNC");
    const mock_graph *g = s->graph;
    const aclError sub = mock_graph_no_sub(g, "an external record or wait");
    if (sub != 0) return sub;
    if (!record && mock_has_record(e) && !mock_event_captured(e))
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1001", "the event was recorded outside of the capture");
    for (uint32_t i = 0; g->external_count != 0 && i < g->node_count; i++) {
        const mock_task *t = &g->nodes[i];
        const bool external = t->kind == MOCK_TASK_EXTERNAL_WAIT || t->kind == MOCK_TASK_EXTERNAL_RECORD;
        if (external && t->u.external.event == e)
            return mock_fail(
                ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the graph uses the event externally already");
    }
    return 0;
}

aclError mock_external_capture(mock_stream *s, mock_event *e, bool record) {
    aclError code = check(s, e, record);
    if (code != 0) return code;
    mock_graph *g = s->graph;
    mock_task t = {.ops = record ? &record_ops : &wait_ops,
        .kind = record ? MOCK_TASK_EXTERNAL_RECORD : MOCK_TASK_EXTERNAL_WAIT,
        .type = ACL_MODEL_RI_TASK_DEFAULT}; /* (observed: graph_tasks) */
    t.u.external.event = e;
    t.u.external.index = g->external_count;
    e->refs++;
    code = mock_capture_task(s, &t);
    if (code == 0) g->external_count++;
    return code;
}

/* ---- replay ---- */

static void bind_wait(mock_external *x, const mock_event *e) {
    x->stream = e->stream;
    x->seq = e->seq;
    x->mark = mock_mark_ref(e->mark);
    if (e->point != NULL) x->point = mock_point_ref(e->point);
}

static bool bind_record(mock_external *x, mock_event *e, mock_stream *s, uint64_t seq) {
    x->record = true;
    x->point = point_new(s, seq);
    if (x->point == NULL) return false;
    mock_point_unref(e->point);
    e->point = mock_point_ref(x->point);
    e->stream = NULL;
    e->stream_serial = s->serial;
    e->graph = NULL;
    e->seq = 0;
    e->timed = false;
    return true;
}

aclError mock_externals_bind(mock_graph *g, mock_stream *s, mock_task *launch) {
    mock_external *all = calloc(g->external_count, sizeof *all);
    bool bound = all != NULL;
    launch->u.graph.externals = all;
    for (uint32_t i = 0; bound && i < g->node_count; i++) {
        const mock_task *t = &g->nodes[i];
        if (t->kind == MOCK_TASK_EXTERNAL_WAIT) bind_wait(&all[t->u.external.index], t->u.external.event);
        if (t->kind == MOCK_TASK_EXTERNAL_RECORD)
            bound = bind_record(&all[t->u.external.index], t->u.external.event, s, s->tail + 1);
    }
    if (bound) return 0;
    mock_externals_release(launch);
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
}

bool mock_external_step(mock_graph *g, const mock_task *t) {
    mock_external *x = &g->externals[t->u.external.index];
    if (x->record) reach(x->point);
    const bool over = x->point != NULL ? x->point->reached : x->stream == NULL || done(x->stream) >= x->seq;
    if (over && !x->record && mock_races())
        mock_racer_join(mock_racing_now(g->replaying), x->point != NULL ? x->point->mark : x->mark);
    return over;
}

/* What the launch did not get to counts as reached: nobody waits for a dropped replay for ever (own choice,
 * as for records of a dropped queue). */
void mock_externals_release(mock_task *launch) {
    mock_external *all = launch->u.graph.externals;
    const uint32_t count = all == NULL ? 0 : launch->u.graph.graph->external_count;
    for (uint32_t i = 0; i < count; i++) {
        mock_mark_drop(all[i].mark);
        if (all[i].point == NULL) continue;
        if (all[i].record && !all[i].point->reached) reach(all[i].point);
        mock_point_unref(all[i].point);
    }
    free(all);
    launch->u.graph.externals = NULL;
}
