/* Graph objects: nodes in the order of their calls, one chain a stream, records that waits refer to.
 *
 * (guide: model runtime instance; implementation of the open runtime) */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

static mock_graph *free_graphs;
static uint64_t next_serial = 1;
static uint32_t next_id = 1;

mock_graph *mock_graph_new(mock_ctx *ctx, mock_graph_state state) {
    mock_graph *g = free_graphs;
    if (g != NULL) free_graphs = g->next_free;
    else g = calloc(1, sizeof *g);
    if (g == NULL) return NULL;
    memset(g, 0, sizeof *g);
    mock_list_init(&g->capture.active);
    mock_list_init(&g->launch_waiters);
    g->handle = mock_handle_new(MOCK_GRAPH, g);
    if (g->handle == NULL) {
        g->next_free = free_graphs;
        free_graphs = g;
        return NULL;
    }
    g->serial = next_serial++;
    g->id = next_id++;
    g->ctx = ctx;
    g->state = state;
    mock_list_push(&ctx->graphs, &g->in_context);
    return g;
}

/* Null: 100000; destroyed: 107017 (observed: execute). */
mock_graph *mock_graph_get(aclmdlRI handle, aclError *code) {
    mock_graph *g = NULL;
    if (handle == NULL) *code = mock_null("modelRI");
    else if ((g = mock_handle_get(MOCK_GRAPH, handle)) == NULL)
        *code = mock_stale(handle, "model instance");
    else *code = 0;
    return g;
}

/* (observed: null_handles_before_set_device) */
mock_graph *mock_graph_seen(aclmdlRI handle, aclError *code) {
    if (handle != NULL) return mock_graph_get(handle, code);
    *code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "modelRI must not be null");
    return NULL;
}

/* (observed: other_context_graph, thread_without_context_graph) */
aclError mock_graph_at_home(const mock_graph *g) {
    const mock_ctx *ctx = mock_current();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    if (g->ctx == ctx) return 0;
    return mock_fail(ACL_ERROR_RT_MODEL_CONTEXT, "EE1010", "the model belongs to another context");
}

aclError mock_graph_grow(void **array, uint32_t *room, uint32_t count, size_t size) {
    if (count < *room) return 0;
    const uint32_t wanted = *room == 0 ? 16 : *room * 2;
    void *grown = realloc(*array, (size_t)wanted * size);
    if (grown == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    *array = grown;
    *room = wanted;
    return 0;
}

aclError mock_graph_add_chain(mock_graph *g, mock_stream *s) {
    uint32_t room = g->chain_room;
    void *chains = g->chains;
    if (g->captured && mock_streams_left(g->ctx->device) == 0)
        return mock_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "EE1023", "no stream is left for the graph");
    if (g->chain_count == UINT16_MAX / 2)
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "too many streams in one graph");
    const aclError code = mock_graph_grow(&chains, &room, g->chain_count, sizeof *g->chains);
    if (code != 0) return code;
    g->chains = chains;
    g->chain_room = (uint16_t)room;
    g->chains[g->chain_count] = (mock_chain){.graph = g, .stream = s, .head = true};
    s->graph = g;
    s->chain = g->chain_count++;
    if (g->captured) mock_graph_stream_taken(g->ctx->device);
    return 0;
}

/* Takes over what the task owns. Without memory the capture is lost (implementation of the open runtime). */
aclError mock_graph_append(mock_graph *g, uint16_t chain, mock_task *t) {
    void *nodes = g->nodes;
    const aclError code = mock_graph_grow(&nodes, &g->node_room, g->node_count, sizeof *g->nodes);
    g->nodes = nodes;
    if (code != 0) {
        g->capture.invalidated = true;
        if (t->kind != MOCK_TASK_RECORD && t->kind != MOCK_TASK_WAIT) mock_task_release(t);
        return code;
    }
    t->chain = chain;
    g->stale = g->state != MOCK_GRAPH_CAPTURING && g->state != MOCK_GRAPH_BUILDING;
    if (mock_tasks_fail()) t->fail = mock_task_fault(t->ops->name);
    g->nodes[g->node_count] = *t;
    g->chains[chain].last = g->node_count++;
    g->chains[chain].count++;
    return 0;
}

/* A graph without tasks that can block runs in the order of its calls, which is an order that every edge
 * allows. Any other graph keeps the nodes of each chain together and advances chain by chain. */
static bool simple(const mock_graph *g) {
    for (uint16_t c = 0; c < g->chain_count; c++)
        if (!g->chains[c].head) return false;
    for (uint32_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].kind > MOCK_TASK_WAIT) return false;
    return true;
}

bool mock_graph_freeze(mock_graph *g) {
    free(g->order);
    g->order_count = 0;
    g->order = malloc((g->node_count + 1) * sizeof *g->order);
    if (g->order == NULL) return false;
    g->stale = false;
    g->simple = simple(g);
    g->calls_program = mock_conds_call_program(g);
    for (uint32_t i = 0; i < g->node_count; i++) g->calls_program |= g->nodes[i].kind == MOCK_TASK_HOST;
    if (g->simple) {
        for (uint32_t i = 0; i < g->node_count; i++)
            if (g->nodes[i].kind <= MOCK_TASK_WORK) g->order[g->order_count++] = i;
        return true;
    }
    for (uint16_t c = 0; c < g->chain_count; c++) {
        g->chains[c].first = g->chains[c].cursor = g->order_count;
        g->order_count += g->chains[c].count;
    }
    for (uint32_t i = 0; i < g->node_count; i++) g->order[g->chains[g->nodes[i].chain].cursor++] = i;
    return true;
}

mock_graph *mock_graph_root(mock_graph *g) {
    while (g->parent != NULL) g = mock_cond_graph(g->parent);
    return g;
}

/* Of an invalidated capture, not of one that is broken (observed: cross_graph, invalid_107034_status;
 * implementation of the open runtime). */
aclError mock_capture_lost(const mock_graph *g) {
    if (!g->capture.invalidated) return 0;
    return mock_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "EE1016", "the capture is invalidated");
}

/* (implementation of the open runtime) */
aclError mock_graph_no_sub(const mock_graph *g, const char *what) {
    if (g->parent == NULL) return 0;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1016", "%s: not for a sub graph", what);
}

/* Every stream leaves the capture or the binding. */
void mock_graph_leave(mock_graph *g) {
    for (uint16_t c = 0; c < g->chain_count; c++) {
        mock_stream *s = g->chains[c].stream;
        if (s == NULL) continue;
        s->graph = NULL;
        s->bound = false;
        g->chains[c].stream = NULL;
    }
    if (!mock_list_empty(&g->capture.active)) mock_list_remove(&g->capture.active);
}

void mock_graph_detach(mock_stream *s) {
    if (s->graph == NULL) return;
    s->graph->chains[s->chain].stream = NULL;
    s->graph = NULL;
    s->bound = false;
}

/* The tasks of one chain go, those of the others move up. Only for models that are built by hand, whose
 * tasks refer to no places in `nodes`. */
void mock_graph_clean(mock_graph *g, uint16_t chain) {
    uint32_t kept = 0;
    mock_listing_free(g);
    mock_labels_forget(g, chain);
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (g->nodes[i].chain == chain) {
            mock_task_release(&g->nodes[i]);
            continue;
        }
        g->chains[g->nodes[i].chain].last = kept;
        g->nodes[kept++] = g->nodes[i];
    }
    g->node_count = kept;
    g->chains[chain].count = g->chains[chain].last = 0;
    g->chains[chain].refill = g->stale = true;
}

static void free_refs(mock_graph *g) {
    mock_listing_free(g);
    for (uint16_t c = 0; c < g->chain_count; c++) {
        if (g->chains[c].ref == NULL) continue;
        mock_handle_take(MOCK_CHAIN, g->chains[c].ref->handle);
        free(g->chains[c].ref);
    }
}

/* Nothing of it may be queued or running. */
void mock_graph_free(mock_graph *g) {
    mock_handle_take(MOCK_GRAPH, g->handle);
    mock_graph_leave(g);
    mock_graph_racing_free(g);
    if (g->captured) mock_graph_streams_given(g->ctx->device, g->chain_count);
    mock_notify_ids_give(g->joins);
    mock_groups_free(g);
    free_refs(g);
    mock_conds_free(g);
    for (uint32_t i = 0; i < g->node_count; i++) {
        /* Inner records and waits name no event. */
        if (g->nodes[i].kind != MOCK_TASK_RECORD && g->nodes[i].kind != MOCK_TASK_WAIT)
            mock_task_release(&g->nodes[i]);
    }
    free(g->nodes);
    free(g->chains);
    free(g->records);
    free(g->order);
    free(g->callbacks);
    free(g->name);
    mock_list_remove(&g->in_context);
    g->handle = NULL;
    g->serial = 0;
    g->next_free = free_graphs;
    free_graphs = g;
}

/* With the context: no destroy callback runs (own choice: the guide names aclmdlRIDestroy only). */
void mock_graph_destroy_all(mock_ctx *ctx) {
    while (!mock_list_empty(&ctx->graphs))
        mock_graph_free(MOCK_OWNER(ctx->graphs.next, mock_graph, in_context));
}

/* ---- destruction by the program ---- */

/* Running replays are waited for, then 107037 and the model lives on (observed: destroy_running); for 10
 * s (implementation of the open runtime), here of virtual time. */
#define DESTROY_LIMIT_NS INT64_C(10000000000)

/* Another context: 107004 (implementation of the open runtime); capturing: 107026 (observed: getinfo). */
static aclError check_destroy(aclmdlRI modelRI, mock_graph **out) {
    aclError code = 0;
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code != 0) return code;
    code = mock_graph_at_home(g);
    if (code != 0) return code;
    code = mock_graph_no_sub(g, "aclmdlRIDestroy");
    if (code != 0) return code;
    if (g->state == MOCK_GRAPH_CAPTURING)
        return mock_fail(ACL_ERROR_RT_MODEL_CAPTURED, "EE9999", "the model is still being captured");
    *out = g;
    return 0;
}

/* Callbacks run inside, on the calling thread (observed: destroy_cb; guide: model runtime instance,
 * aclmdlRIDestroyRegisterCallback). */
MOCK_EXPORT aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    MOCK_ENTER_OF(aclmdlRIDestroy, modelRI);
    mock_graph *g = NULL;
    mock_lock();
    aclError code = check_destroy(modelRI, &g);
    if (code == 0) {
        code = mock_graph_wait(g, NULL, DESTROY_LIMIT_NS);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
            code = mock_fail(ACL_ERROR_RT_MODEL_RUNNING, "EE9999", "the model is still running");
        /* Another thread may have destroyed it meanwhile. */
        if (code == 0) code = check_destroy(modelRI, &g);
    }
    if (code == 0) {
        mock_handle_take(MOCK_GRAPH, g->handle);
        mock_destroy_callback *callbacks = g->callbacks;
        const uint32_t count = g->callback_count;
        g->callbacks = NULL;
        mock_graph_free(g);
        mock_unlock();
        for (uint32_t i = 0; i < count; i++) callbacks[i].fn(callbacks[i].user);
        free(callbacks);
        return 0;
    }
    mock_unlock();
    return code;
}

/* A function twice: 107000 (observed: destroy_cb). */
MOCK_EXPORT aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void *userData) {
    MOCK_ENTER_OF(aclmdlRIDestroyRegisterCallback, modelRI);
    if (func == NULL) return mock_null("func");
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = mock_graph_no_sub(g, "aclmdlRIDestroyRegisterCallback");
    for (uint32_t i = 0; code == 0 && i < g->callback_count; i++)
        if (g->callbacks[i].fn == func)
            code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the function is registered already");
    if (code == 0) {
        mock_destroy_callback *grown = realloc(g->callbacks, (g->callback_count + 1) * sizeof *grown);
        if (grown == NULL) {
            code = mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
        } else {
            g->callbacks = grown;
            grown[g->callback_count++] = (mock_destroy_callback){func, userData};
        }
    }
    mock_unlock();
    return code;
}

/* An unknown function: 107000 (observed: destroy_cb). */
MOCK_EXPORT aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
    MOCK_ENTER_OF(aclmdlRIDestroyUnregisterCallback, modelRI);
    if (func == NULL) return mock_null("func");
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = mock_graph_no_sub(g, "aclmdlRIDestroyUnregisterCallback");
    bool found = false;
    for (uint32_t i = 0; code == 0 && i < g->callback_count && !found; i++) {
        if (g->callbacks[i].fn != func) continue;
        g->callbacks[i] = g->callbacks[--g->callback_count];
        found = true;
    }
    mock_unlock();
    if (code != 0 || found) return code;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the function is not registered");
}
