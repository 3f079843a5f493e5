/* Replay: one task on the launch stream that runs the whole graph.
 *
 * In order after the work before it on the stream (guide: model runtime instance, aclmdlRIExecuteAsync;
 * observed: execute, destroy_running). A failed task is reported like one of the launch stream and leaves
 * the model ready (implementation of the open runtime); the tasks behind it run (own choice: the default of
 * continuing). */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

static const mock_task_ops launch_ops = {"aclmdlRIExecuteAsync", NULL, NULL};

static void count(uint64_t nodes) {
    mock_engine.clock_ns += nodes * MOCK_TASK_NS;
    mock_engine.tasks_run += nodes;
}

/* Gives way to updates that wait until no node runs. */
static void pause_execution(mock_graph *g) {
    g->executing = false;
    if (!mock_list_empty(&g->launch_waiters)) mock_wake_all(&g->launch_waiters);
}

static void run_simple(mock_stream *s, mock_graph *g) {
    mock_thread *self = mock_self();
    mock_task *const nodes = g->nodes;
    const uint32_t *const order = g->order;
    const uint32_t n = g->order_count;
    aclError error = 0;
    g->executing = true;
    mock_unlock();
    self->in_task++;
    for (uint32_t i = 0; i < n; i++) {
        const aclError code = mock_task_run(&nodes[order[i]], s, g->id);
        if (!MOCK_UNLIKELY(code != 0)) continue;
        error = code;
        mock_parts.failed(s, &nodes[order[i]], code);
    }
    self->in_task--;
    mock_lock();
    count(n);
    mock_task_result(s, error);
    pause_execution(g);
}

/* The same with the records and waits, which are in an order that every edge allows, too. */
static void run_raced(mock_stream *s, mock_graph *g) {
    mock_thread *self = mock_self();
    aclError error = 0;
    g->executing = true;
    mock_unlock();
    self->in_task++;
    for (uint32_t i = 0; i < g->node_count; i++) {
        mock_task *t = &g->nodes[i];
        if (t->kind > MOCK_TASK_WORK) {
            mock_graph_racing_edge(g, t);
            continue;
        }
        mock_graph_racing_node(g, t);
        const aclError code = mock_task_run(t, s, g->id);
        if (MOCK_UNLIKELY(code != 0)) mock_parts.failed(s, t, code);
        if (code != 0) error = code;
    }
    mock_graph_racing_node(g, NULL);
    self->in_task--;
    mock_lock();
    count(g->order_count);
    mock_task_result(s, error);
    pause_execution(g);
}

static void run_node(mock_stream *s, mock_graph *g, mock_task *t) {
    mock_thread *self = mock_self();
    g->executing = true;
    mock_unlock();
    self->in_task++;
    const aclError code = mock_task_run(t, s, g->id);
    if (MOCK_UNLIKELY(code != 0)) mock_parts.failed(s, t, code);
    self->in_task--;
    mock_lock();
    mock_task_result(s, code);
    pause_execution(g);
}

static mock_step advance_node(mock_stream *s, mock_graph *g, mock_chain *c, mock_task *t) {
    if (t->kind == MOCK_TASK_RECORD) {
        g->records[t->u.wait.seq].replay = g->replay;
        mock_graph_racing_edge(g, t);
        return MOCK_NEXT;
    }
    if (t->kind == MOCK_TASK_WAIT) {
        if (g->records[t->u.wait.seq].replay != g->replay) return MOCK_STUCK;
        mock_graph_racing_edge(g, t);
        return MOCK_NEXT;
    }
    if (t->kind <= MOCK_TASK_WORK) {
        run_node(s, g, t);
        return MOCK_NEXT;
    }
    if (t->fail != 0) {
        g->executing = true;
        mock_parts.failed_locked(s, t, t->fail);
        mock_task_result(s, t->fail);
        pause_execution(g);
        return MOCK_NEXT;
    }
    if (t->kind == MOCK_TASK_EXTERNAL_WAIT || t->kind == MOCK_TASK_EXTERNAL_RECORD)
        return mock_external_step(g, t) ? MOCK_NEXT : MOCK_STUCK;
    if (t->kind == MOCK_TASK_COND) return mock_cond_step(s, g, t);
    if (t->kind == MOCK_TASK_BRANCH) return mock_branch_step(s, g, c, t);
    if (t->kind == MOCK_TASK_LABEL) return MOCK_NEXT;
    g->executing = true; /* some steps drop the lock */
    const mock_outcome outcome = mock_parts.step(s, t);
    pause_execution(g);
    if (outcome == MOCK_DONE) return MOCK_NEXT;
    /* The stream itself waits later, for anything: other chains may go on. */
    mock_list_remove(&s->in_queue);
    s->blocked = false;
    return MOCK_STUCK;
}

/* One node of a chain. */
static mock_step advance(mock_stream *s, mock_graph *g, mock_chain *c, mock_task *t) {
    if (!MOCK_UNLIKELY(g->raced)) return advance_node(s, g, c, t);
    mock_graph_racing_node(g, t);
    const mock_step step = advance_node(s, g, c, t);
    mock_graph_racing_node(g, NULL);
    return step;
}

/* Until the chain waits, ends, or a loop lets others run; returns the number of nodes. */
static uint64_t run_chain(mock_stream *s, mock_graph *g, mock_chain *c) {
    const mock_graph *root = mock_graph_root(g);
    uint64_t ran = 0;
    while (c->going && !root->abort && !s->again) {
        if (c->cursor == c->first + c->count) {
            c->going = false;
            break;
        }
        const mock_step step = advance(s, g, c, &g->nodes[g->order[c->cursor]]);
        if (step == MOCK_STUCK) break;
        if (step == MOCK_NEXT) c->cursor++;
        ran++;
    }
    return ran;
}

static bool any_going(const mock_graph *g) {
    for (uint16_t c = 0; c < g->chain_count; c++)
        if (g->chains[c].going) return true;
    return false;
}

static bool run_chains(mock_stream *s, mock_graph *g) {
    mock_graph *root = mock_graph_root(g);
    const uint64_t start = root->steps;
    uint64_t ran = 0, before;
    do {
        before = root->steps;
        for (uint16_t c = 0; c < g->chain_count; c++) {
            const uint64_t here = run_chain(s, g, &g->chains[c]);
            ran += here;
            root->steps += here;
        }
    } while (root->steps != before && any_going(g) && !root->abort && !s->again);
    count(ran);
    if (root->steps != start) mock_wake_all(&mock_engine.value_waiters);
    return !any_going(g);
}

void mock_graph_start(mock_graph *g) {
    g->replay++;
    for (uint16_t c = 0; c < g->chain_count; c++) {
        g->chains[c].cursor = g->chains[c].first;
        g->chains[c].going = g->chains[c].head;
    }
    mock_conds_start(g);
}

bool mock_graph_run(mock_stream *s, mock_graph *g) {
    if (!g->simple) return run_chains(s, g);
    if (MOCK_UNLIKELY(g->raced)) run_raced(s, g);
    else run_simple(s, g);
    mock_graph_root(g)->steps += g->order_count;
    return true;
}

/* A loop that does not end would keep its thread for ever, and every thread that waits for it: it lets
 * others run now and then, so that it can be aborted, held and waited for with a time-out, and after a
 * million rounds (a second and more of virtual time) the replay ends with 507011 (own choice). */
#define ROUND_LIMIT 1000000u
#define ROUNDS_AT_ONCE 64u

bool mock_graph_round(mock_stream *s, mock_graph *g) {
    mock_graph *root = mock_graph_root(g);
    root->steps++;
    if (++root->rounds >= ROUND_LIMIT) mock_graph_end_early(root, ACL_ERROR_RT_MODEL_EXECUTE);
    s->again = root->rounds % ROUNDS_AT_ONCE == 0;
    return !s->again && !root->abort;
}

/* The first reason stays. */
void mock_graph_end_early(mock_graph *g, aclError code) {
    if (g->abort) return;
    g->abort = true;
    g->abort_error = code;
    mock_wake_all(&mock_engine.value_waiters);
    mock_changed();
}

static void begin_replay(mock_stream *s, mock_graph *g, mock_task *t) {
    g->replaying = t->u.graph.stream = s;
    g->externals = t->u.graph.externals;
    g->rounds = 0;
    if (mock_races()) mock_graph_racing_begin(g, mock_racing_now(s));
    mock_conds_assign(g);
    mock_graph_start(g);
}

/* The next node of a chain of the replay that the launch has under way. */
static const mock_task *next_node(const mock_task *launch, uint16_t c) {
    const mock_graph *g = launch->u.graph.graph;
    if (g->replaying == NULL || g->replaying != launch->u.graph.stream || g->simple) return NULL;
    const mock_chain *chain = &g->chains[c];
    return chain->cursor == chain->first + chain->count ? NULL : &g->nodes[g->order[chain->cursor]];
}

/* The task of a chain that waits for what another process does; NULL for none. */
static const mock_task *shared_wait(const mock_task *launch, uint16_t c) {
    const mock_task *t = next_node(launch, c);
    if (t == NULL) return NULL;
    const bool notify = t->kind == MOCK_TASK_NOTIFY_WAIT && t->u.notify.notify->shared != NULL;
    return notify || t->kind == MOCK_TASK_OUTSIDE ? t : NULL;
}

static bool graph_shared(const mock_task *launch) {
    for (uint16_t c = 0; c < launch->u.graph.graph->chain_count; c++)
        if (shared_wait(launch, c) != NULL) return true;
    return false;
}

mock_outcome mock_graph_step(mock_stream *s, mock_task *t) {
    mock_graph *g = t->u.graph.graph;
    if (g->replaying != NULL && g->replaying != s) {
        /* One replay of a graph at a time: launches from several streams are serialised (own choice: the real
         * runtime accepts them, and their ends may be mixed up). */
        mock_block_on(s, &g->launch_waiters);
        return MOCK_BLOCKED;
    }
    if (g->replaying == NULL) begin_replay(s, g, t);
    const bool finished = g->abort || mock_graph_run(s, g) || g->abort;
    if (!finished) {
        /* Not linked to anything, the stream can run again at once. */
        if (s->again) mock_engine.loop_turns++;
        else mock_block_on(s, graph_shared(t) ? &mock_engine.shared_waiters : &mock_engine.value_waiters);
        s->again = false;
        return MOCK_BLOCKED;
    }
    mock_graph_racing_end(g);
    if (g->abort) mock_task_result(s, g->abort_error);
    s->again = g->abort = false;
    g->replaying = t->u.graph.stream = NULL;
    mock_wake_all(&g->launch_waiters);
    return MOCK_DONE;
}

uint32_t mock_graph_seconds(const mock_task *launch) {
    for (uint16_t c = 0; c < launch->u.graph.graph->chain_count; c++) {
        const mock_task *t = next_node(launch, c);
        if (t == NULL) continue;
        if (t->kind == MOCK_TASK_LATCH_WAIT && t->u.latch.seconds != 0) return t->u.latch.seconds;
        if (t->kind == MOCK_TASK_NOTIFY_WAIT && t->u.notify.seconds != 0) return t->u.notify.seconds;
        if (t->kind == MOCK_TASK_COUNT_WAIT && t->u.count.seconds != 0) return t->u.count.seconds;
    }
    return 0;
}

bool mock_graph_shared_ready(const mock_task *launch) {
    for (uint16_t c = 0; c < launch->u.graph.graph->chain_count; c++) {
        const mock_task *t = shared_wait(launch, c);
        if (t != NULL && mock_parts.shared_ready(t)) return true;
    }
    return false;
}

bool mock_graph_calls_program(const mock_task *launch) { return launch->u.graph.graph->calls_program; }

/* The stream's next task is a launch of this graph. */
static bool graph_launches(void *graph, const mock_stream *s) {
    const mock_task *t = mock_next_task(s);
    return t->kind == MOCK_TASK_GRAPH && t->u.graph.graph == graph;
}

/* The launch is over, or dropped before or amid its replay. */
void mock_graph_release_launch(mock_task *t) {
    mock_graph *g = t->u.graph.graph;
    if (t->u.graph.stream != NULL && g->replaying == t->u.graph.stream) {
        mock_graph_racing_end(g);
        g->replaying->again = g->abort = false;
        g->replaying = NULL;
        mock_wake_all(&g->launch_waiters);
    }
    mock_externals_release(t);
    if (--g->inflight == 0) g->abort = false;
}

static aclError graph_launch(mock_graph *g, mock_stream *s) {
    g->launched = true;
    mock_task t = {.ops = &launch_ops, .kind = MOCK_TASK_GRAPH, .u.graph.graph = g};
    if (s->update != NULL) {
        g->inflight++;
        return mock_submit(s, &t);
    }
    const uint64_t serial = g->serial;
    const aclError code = mock_room(s);
    if (code != 0) return code;
    if (g->serial != serial)
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "the model was destroyed meanwhile");
    const aclError bound = g->external_count == 0 ? 0 : mock_externals_bind(g, s, &t);
    if (bound != 0) return bound;
    g->inflight++;
    mock_push(s, &t);
    return 0;
}

/* Queues of a device for graphs (guide: capture). */
#define QUEUES 1024u

static aclError not_ready(const char *id) {
    return mock_fail(ACL_ERROR_RT_MODEL_EXECUTE, id, "the model is not ready to be executed");
}

/* Capturing model: 107026 (observed: getinfo); not ready: 507011 (observed: tasks, build); more streams than queues:
 * 207005; bound stream: 107000 (implementation of the open runtime). */
static aclError check_launch(mock_graph *g, const mock_stream *s) {
    if (g->parent != NULL) return mock_graph_no_sub(g, "aclmdlRIExecuteAsync");
    if (g->state == MOCK_GRAPH_CAPTURING)
        return mock_fail(ACL_ERROR_RT_MODEL_CAPTURED, "EE1016", "the model is still being captured");
    if (s->bound) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the stream is bound to a model");
    if (g->captured && g->chain_count + (g->conds == NULL ? 0 : mock_conds_streams(g)) > QUEUES)
        return mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "EE1023", "too many streams in one graph");
    if (g->stale && g->inflight == 0 && !mock_graph_freeze(g))
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    return 0;
}

/* Capturing stream: 107027 (observed: execute, sequences), another context of the model: 107004, before that of the
 * stream (observed: other_context_graph). A null stream crashes the real runtime (implementation of the open runtime)
 * when nothing else is wrong; here it is an argument error (own choice). */
static aclError find_launch(const mock_graph *g, aclrtStream stream, mock_stream **s) {
    aclError code = mock_stream_find(stream, s);
    if (code != 0) return code;
    if (*s != NULL && mock_capturing(*s))
        return mock_fail(ACL_ERROR_RT_STREAM_CAPTURED, "EE1016", "the stream is capturing");
    code = mock_graph_at_home(g);
    if (code == 0 && stream != NULL && (*s)->ctx != g->ctx) code = mock_stream_of_current(*s);
    if (code == 0 && g->state != MOCK_GRAPH_READY && g->state != MOCK_GRAPH_CAPTURING)
        code = not_ready(g->state == MOCK_GRAPH_BUILDING && g->ended ? "EE9999" : "EE1018");
    return code == 0 && stream == NULL ? mock_null("stream") : code;
}

MOCK_EXPORT aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
    MOCK_ENTER_OF(aclmdlRIExecuteAsync, modelRI, stream);
    aclError code = 0;
    mock_stream *s = NULL;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = find_launch(g, stream, &s);
    if (code == 0) code = check_launch(g, s);
    if (code == 0) code = graph_launch(g, s);
    mock_unlock();
    return code;
}

typedef struct idle_wait {
    mock_graph *graph;
    uint64_t serial;
    const mock_stream *stream; /* of the launch, or NULL */
} idle_wait;

/* Another thread may destroy it meanwhile, and a new graph stand in its place. */
static bool idle(void *what) {
    const idle_wait *w = what;
    return w->graph->serial != w->serial || w->graph->inflight == 0;
}

static uint64_t launch_ended(void *what) {
    const idle_wait *w = what;
    return w->stream == NULL ? 0 : w->stream->time_ns;
}

static bool of_graph(void *what, const mock_stream *s) {
    return graph_launches(((const idle_wait *)what)->graph, s);
}

aclError mock_graph_wait(mock_graph *g, mock_stream *first, int64_t timeout_ns) {
    idle_wait w = {g, g->serial, first};
    const aclError code = mock_wait(&(mock_wait_for){idle, of_graph, &w, first, launch_ended, false}, timeout_ns);
    if (mock_races() && code == 0 && g->serial == w.serial) mock_racer_join(mock_host_racer, g->over);
    return code;
}

/* Only for models of aclmdlRIBuildBegin, a captured one is 107000; one with an end task runs before its build is over
 * (observed: build); the time-out is -1 or above 0, else 107000
 * (observed: execute, build_ri); when it passes, 507046, and the execution is aborted (implementation of the
 * open runtime). It runs on the default stream (own choice). */
MOCK_EXPORT aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    MOCK_ENTER_OF(aclmdlRIExecute, modelRI);
    aclError code = 0;
    mock_stream *s = NULL;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0 && timeout != -1 && timeout <= 0)
        code = mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the time-out %d is neither -1 nor above 0", timeout);
    if (code == 0 && g->captured)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1016", "a captured model runs asynchronously only");
    if (code == 0) code = mock_graph_at_home(g);
    if (code == 0) code = mock_stream_to_submit(NULL, &s);
    if (code == 0 && !(g->state == MOCK_GRAPH_READY || (g->state == MOCK_GRAPH_BUILDING && g->ended)))
        code = not_ready("EE1018");
    if (code == 0 && g->state == MOCK_GRAPH_BUILDING) g->stale = true;
    if (code == 0) code = check_launch(g, s);
    if (code == 0) code = graph_launch(g, s);
    if (code == 0) {
        const uint64_t serial = g->serial;
        mock_target t = mock_target_of(s, s->tail);
        code = mock_graph_wait(g, s, timeout < 0 ? MOCK_FOREVER : (int64_t)timeout * 1000000);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
            mock_fail(code, "EE1002", "the model did not finish in time");
            if (g->serial == serial && g->inflight != 0) mock_graph_end_early(g, 0);
        }
        if (code == 0 && mock_target_lives(&t) && s->error != 0) {
            code = mock_fail(s->error, "EE9999", "a task of the model failed");
            s->error = 0;
        }
    }
    mock_unlock();
    return code;
}

/* 0 on a captured model, whose replay goes on (observed: execute; guide: model runtime instance,
 * aclmdlRIAbort). Of a model built by hand, the replay that is under way ends, or the next one that was
 * launched; waits report 507023 (header: ACL_ERROR_RT_MODEL_ABORT_NORMAL; own choice of the place). */
MOCK_EXPORT aclError aclmdlRIAbort(aclmdlRI modelRI) {
    MOCK_ENTER_OF(aclmdlRIAbort, modelRI);
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_seen(modelRI, &code);
    if (code == 0) code = mock_graph_at_home(g);
    if (code == 0 && !g->captured && g->inflight != 0)
        mock_graph_end_early(g, ACL_ERROR_RT_MODEL_ABORT_NORMAL);
    mock_unlock();
    return code;
}
