/* Conditional sub graphs: a condition is a cell of device memory that a graph owns; when a replay reaches the
 * condition's task, the value picks the sub graph that runs there (guide: model runtime instance,
 * aclmdlRICondHandleCreate, aclmdlRIAddCondTask; implementation of the open runtime). Sub graphs are captured
 * one by one into the models that the task returned, before the capture around them ends, and live as long as
 * the root. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"
#include "memory/memory.h"

typedef struct mock_cond {
    void *handle;
    mock_graph *graph; /* whose capture it belongs to */
    uint64_t *cell;
    uint32_t initial, size; /* size 0: no task uses it yet */
    bool assign;
    aclmdlRICondTaskType type;
    mock_graph **subs;
    mock_graph *active; /* in the running replay */
    struct mock_cond *next;
} mock_cond;

static const mock_task_ops cond_ops = {"aclmdlRIAddCondTask", NULL, NULL};

static aclError invalid(const char *text) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "%s", text);
}

static aclError no_memory(void) {
    return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no memory for a condition");
}

mock_graph *mock_cond_graph(const mock_cond *c) { return c->graph; }

/* The cell is the second half of a block: aclrtFree refuses its address (own choice). */
#define BLOCK_BYTES (2 * sizeof(uint64_t))

static void write_cell(const mock_cond *c, uint64_t value) {
    _Atomic uint64_t *view = mock_device_view(c->cell, sizeof *c->cell);
    if (view != NULL) atomic_store_explicit(view, value, memory_order_release);
}

static bool make_cell(mock_cond *c) {
    uint64_t *block = mock_device_alloc(c->graph->ctx->device, BLOCK_BYTES);
    if (block == NULL) return false;
    c->cell = block + 1;
    write_cell(c, 0);
    return true;
}

static void drop_cell(mock_cond *c) {
    if (c->cell != NULL) mock_device_free(c->cell - 1);
}

/* ---- handles ---- */

/* Flag above 1 and a model past its capture: 107000 (observed: cond); a model of aclmdlRIBuildBegin:
 * 207000, of another context: 107004 (implementation of the open runtime). */
static aclError check_create(const mock_graph *g, aclmdlRICondHandleFlag flag) {
    if ((int)flag < 0 || (int)flag > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %d", (int)flag);
    if (!g->captured)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1006", "the model is not a captured one");
    if (g->state != MOCK_GRAPH_CAPTURING) return invalid("the model is not being captured");
    const mock_ctx *ctx = mock_current();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    if (g->ctx == ctx) return 0;
    return mock_fail(ACL_ERROR_RT_MODEL_CONTEXT, "EE1010", "the model belongs to another context");
}

/* The cell holds 0 at first (implementation of the open runtime). */
static aclError create(mock_graph *g, uint32_t initial, bool assign, void **out) {
    mock_cond *c = calloc(1, sizeof *c);
    if (c == NULL) return no_memory();
    *c = (mock_cond){.graph = g, .initial = initial, .assign = assign};
    c->handle = make_cell(c) ? mock_handle_new(MOCK_COND, c) : NULL;
    if (c->handle == NULL) {
        drop_cell(c);
        free(c);
        return no_memory();
    }
    c->next = g->conds;
    g->conds = c;
    *out = c->handle;
    mock_gave(*out);
    return 0;
}

MOCK_EXPORT aclError aclmdlRICondHandleCreate(
    aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag, aclmdlRICondHandle *handle) {
    MOCK_ENTER_OF(aclmdlRICondHandleCreate, modelRI);
    if (handle == NULL) return mock_null("handle");
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = check_create(g, flag);
    if (code == 0)
        code = create(g, defaultLaunchValue, flag == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, handle);
    mock_unlock();
    return code;
}

static aclError find(aclmdlRICondHandle handle, mock_cond **out) {
    *out = mock_handle_get(MOCK_COND, handle);
    if (*out != NULL) return 0;
    return mock_stale(handle, "condition");
}

MOCK_EXPORT aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t **ptr) {
    MOCK_ENTER_OF(aclmdlRICondHandleGetCondPtr, handle);
    if (handle == NULL || ptr == NULL) return mock_null("handle and ptr");
    mock_cond *c = NULL;
    mock_lock();
    aclError code = find(handle, &c);
    if (code == 0 && mock_current() == NULL) code = ACL_ERROR_RT_CONTEXT_NULL;
    if (code == 0) *ptr = c->cell;
    mock_unlock();
    return code;
}

/* ---- tasks ---- */

/* In this order, all 107000 (implementation of the open runtime). */
static aclError check_params(const aclmdlRICondTaskParams *p, uint32_t flags) {
    if ((int)p->type < 0 || p->type > ACL_MODEL_RI_COND_TYPE_SWITCH) return invalid("unknown type");
    if (p->size == 0) return invalid("a condition needs a sub graph");
    if (flags != 0) return invalid("flags must be 0");
    if (p->handle == NULL || p->modelRIArray == NULL) return invalid("null in the parameters");
    return 0;
}

/* IF has one or two sub graphs, WHILE one, SWITCH any number (implementation of the open runtime). */
static bool good_size(const aclmdlRICondTaskParams *p) {
    switch (p->type) {
    case ACL_MODEL_RI_COND_TYPE_IF:
        return p->size <= 2;
    case ACL_MODEL_RI_COND_TYPE_WHILE:
        return p->size == 1;
    default:
        return true;
    }
}

/* Used before: 107000; not capturing: 107029; the condition of another model: 107000 (implementation of the
 * open runtime). An open task group: as for other tasks that are no kernels (own choice). */
static aclError check_task(const mock_cond *c, const aclmdlRICondTaskParams *p, const mock_stream *s) {
    if (c->size != 0) return invalid("a task uses the condition already");
    if (!mock_capturing(s))
        return mock_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EE1018", "the stream does not capture");
    if (c->graph != s->graph) return invalid("the condition belongs to another model");
    if (!good_size(p)) return invalid("the number of sub graphs does not fit the type of the condition");
    return mock_group_check(s->graph, s->chain, MOCK_TASK_COND);
}

static mock_graph *new_sub(mock_cond *c) {
    mock_graph *sub = mock_graph_new(c->graph->ctx, MOCK_GRAPH_EMPTY);
    if (sub == NULL) return NULL;
    mock_list_remove(&sub->in_context); /* the root frees it */
    sub->captured = true;
    sub->parent = c;
    return sub;
}

static void free_subs(mock_cond *c) {
    for (uint32_t i = 0; i < c->size; i++)
        if (c->subs[i] != NULL) mock_graph_free(c->subs[i]);
    free(c->subs);
    c->subs = NULL;
    c->size = 0;
}

static aclError make_subs(mock_cond *c, uint32_t size) {
    c->subs = calloc(size, sizeof *c->subs);
    if (c->subs == NULL) return no_memory();
    c->size = size;
    for (uint32_t i = 0; i < size; i++) {
        c->subs[i] = new_sub(c);
        if (c->subs[i] != NULL) continue;
        free_subs(c);
        return no_memory();
    }
    return 0;
}

static aclError add_task(mock_cond *c, const aclmdlRICondTaskParams *p, mock_stream *s) {
    aclError code = make_subs(c, p->size);
    if (code != 0) return code;
    mock_task t = {.ops = &cond_ops, .kind = MOCK_TASK_COND, .u.cond = c};
    code = mock_capture_task(s, &t);
    if (code != 0) {
        free_subs(c);
        return code;
    }
    c->type = p->type;
    for (uint32_t i = 0; i < c->size; i++) p->modelRIArray[i] = c->subs[i]->handle;
    return 0;
}

MOCK_EXPORT aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
    MOCK_ENTER_OF(aclmdlRIAddCondTask, stream);
    if (stream == NULL) return mock_null("stream");
    mock_cond *c = NULL;
    mock_stream *s = NULL;
    mock_lock();
    aclError code = check_params(&params, flags);
    if (code == 0) code = find(params.handle, &c);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = check_task(c, &params, s);
    if (code == 0) code = add_task(c, &params, s);
    mock_unlock();
    return code;
}

/* ---- the life of sub graphs ---- */

aclError mock_conds_complete(const mock_graph *g) {
    for (const mock_cond *c = g->conds; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->size; i++)
            if (c->subs[i]->state != MOCK_GRAPH_READY)
                return mock_fail(
                    ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, "EE1016", "a sub graph is not captured yet");
    return 0;
}

void mock_conds_each(const mock_graph *g, void (*visit)(const mock_graph *sub, void *user), void *user) {
    for (const mock_cond *c = g->conds; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->size; i++) visit(c->subs[i], user);
}

uint32_t mock_conds_streams(const mock_graph *g) {
    uint32_t n = 0;
    for (const mock_cond *c = g->conds; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->size; i++) n += c->subs[i]->chain_count + mock_conds_streams(c->subs[i]);
    return n;
}

bool mock_conds_call_program(const mock_graph *g) {
    for (const mock_cond *c = g->conds; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->size; i++)
            if (c->subs[i]->calls_program) return true;
    return false;
}

void mock_conds_free(mock_graph *g) {
    while (g->conds != NULL) {
        mock_cond *c = g->conds;
        g->conds = c->next;
        free_subs(c);
        mock_handle_take(MOCK_COND, c->handle);
        drop_cell(c);
        free(c);
    }
}

/* ---- replay ---- */

/* Default values hold from the start of a replay, in all sub graphs (guide: model runtime instance,
 * aclmdlRICondHandleCreate). */
void mock_conds_assign(mock_graph *g) {
    for (mock_cond *c = g->conds; c != NULL; c = c->next) {
        if (c->assign) write_cell(c, c->initial);
        for (uint32_t i = 0; i < c->size; i++) mock_conds_assign(c->subs[i]);
    }
}

void mock_conds_start(mock_graph *g) {
    for (mock_cond *c = g->conds; c != NULL; c = c->next) c->active = NULL;
}

/* IF: any value but 0 is the first sub graph, 0 the second; WHILE: 0 ends; SWITCH: the sub graph of that
 * number, for other values none (guide: model runtime instance, aclmdlRIAddCondTask). */
static mock_graph *choose(mock_stream *s, const mock_cond *c) {
    const _Atomic uint64_t *cell = mock_device_view(c->cell, sizeof *c->cell);
    if (cell == NULL) {
        mock_task_result(s, ACL_ERROR_RT_DEVICE_MEM_ERROR);
        return NULL;
    }
    uint64_t value = atomic_load_explicit(cell, memory_order_acquire);
    if (c->type != ACL_MODEL_RI_COND_TYPE_SWITCH) value = value == 0;
    const uint64_t choices = c->type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1 : c->size;
    return value < choices ? c->subs[value] : NULL;
}

mock_step mock_cond_step(mock_stream *s, mock_graph *g, mock_task *t) {
    mock_cond *c = t->u.cond;
    for (;;) {
        if (c->active == NULL) {
            c->active = choose(s, c);
            if (c->active == NULL) return MOCK_NEXT;
            if (g->raced) mock_graph_racing_begin(c->active, g->chains[t->chain].racer);
            mock_graph_start(c->active);
        }
        if (!mock_graph_run(s, c->active)) return MOCK_STUCK;
        mock_graph_racing_end(c->active);
        c->active = NULL;
        if (c->type != ACL_MODEL_RI_COND_TYPE_WHILE) return MOCK_NEXT;
        if (!mock_graph_round(s, g)) return MOCK_STUCK;
    }
}
