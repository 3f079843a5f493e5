/* The streams and tasks of a graph, as a program enumerates them (header: aclmdlRITaskType).
 *
 * The real runtime makes more tasks of some calls than the mock has; they are parts without a task behind them
 * (observed: graph_tasks). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

static aclError no_memory(void) { return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory"); }

static aclError null_count(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "the count must not be null");
}

static aclError too_few(const char *what, uint32_t have) {
    return mock_fail(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, "EE1011", "there are %u %s", have, what);
}

/* ---- streams ---- */

static void *chain_handle(mock_graph *g, uint16_t chain) {
    mock_chain *c = &g->chains[chain];
    if (c->ref != NULL) return c->ref->handle;
    mock_chain_ref *ref = malloc(sizeof *ref);
    if (ref == NULL) return NULL;
    *ref = (mock_chain_ref){mock_handle_new(MOCK_CHAIN, ref), g, chain};
    c->ref = ref;
    return ref->handle;
}

/* Of a capture the latest that joined comes first, the origin last (observed: graph_tasks, sequences). */
static aclError list_streams(mock_graph *g, aclrtStream *streams, uint32_t room) {
    for (uint32_t i = 0; i < room; i++) {
        const uint32_t chain = g->captured ? g->chain_count - 1 - i : i;
        streams[i] = i < g->chain_count ? chain_handle(g, (uint16_t)chain) : NULL;
        if (i < g->chain_count && streams[i] == NULL) return no_memory();
    }
    return room < g->chain_count ? too_few("streams", g->chain_count) : 0;
}

/* The internal streams (observed: tasks), also of a model that is being captured (observed: graph_tasks).
 * Too small an array is filled and gives 107039, a larger one is padded with null (implementation of the open
 * runtime). */
MOCK_EXPORT aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams) {
    MOCK_ENTER_OF(aclmdlRIGetStreams, modelRI);
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_seen(modelRI, &code);
    if (code == 0 && numStreams == NULL) code = null_count();
    if (code == 0) code = mock_graph_at_home(g);
    if (code == 0) code = mock_graph_no_sub(g, "aclmdlRIGetStreams");
    if (code == 0 && streams != NULL) code = list_streams(g, streams, *numStreams);
    if (code == 0) *numStreams = g->chain_count;
    mock_unlock();
    return code;
}

/* ---- tasks ---- */

typedef struct listing {
    mock_graph *graph;
    uint16_t chain;
    aclmdlRITask *tasks; /* NULL: only counted */
    uint32_t room, count;
    aclError code;
} listing;

static mock_node_ref *ref_new(mock_graph *g, uint32_t node) {
    mock_node_ref *ref = calloc(1, sizeof *ref);
    if (ref == NULL) return NULL;
    ref->graph = g;
    ref->node = node;
    ref->handle = mock_handle_new(MOCK_NODE, ref);
    return ref;
}

static mock_node_ref *node_ref(mock_graph *g, uint32_t node) {
    if (node >= g->ref_count) {
        mock_node_ref **grown = realloc(g->refs, g->node_count * sizeof *grown);
        if (grown == NULL) return NULL;
        for (uint32_t i = g->ref_count; i < g->node_count; i++) grown[i] = NULL;
        g->refs = grown;
        g->ref_count = g->node_count;
    }
    if (g->refs[node] == NULL) g->refs[node] = ref_new(g, node);
    return g->refs[node];
}

static mock_node_ref *part_ref(
    mock_graph *g, const void *owner, uint32_t node, uint8_t part, const mock_task *own) {
    for (mock_node_ref *ref = g->parts; ref != NULL; ref = ref->next)
        if (ref->owner == owner && ref->node == node && ref->part == part) return ref;
    mock_node_ref *ref = ref_new(g, node);
    if (ref == NULL) return NULL;
    ref->owner = owner;
    ref->part = part;
    ref->own = *own;
    ref->next = g->parts;
    g->parts = ref;
    return ref;
}

void mock_listing_free(mock_graph *g) {
    for (uint32_t i = 0; i < g->ref_count; i++) {
        if (g->refs[i] == NULL) continue;
        mock_handle_take(MOCK_NODE, g->refs[i]->handle);
        mock_node_ref_drop(g->refs[i]);
        free(g->refs[i]);
    }
    free(g->refs);
    g->refs = NULL;
    g->ref_count = 0;
    while (g->parts != NULL) {
        mock_node_ref *ref = g->parts;
        g->parts = ref->next;
        mock_handle_take(MOCK_NODE, ref->handle);
        free(ref);
    }
}

static bool wanted(const listing *l) { return l->tasks != NULL && l->count < l->room && l->code == 0; }

static void add(listing *l, const mock_node_ref *ref) {
    if (ref == NULL) l->code = no_memory();
    else l->tasks[l->count] = ref->handle;
}

static void add_parts(listing *l, const void *owner, uint32_t node, uint8_t count, const mock_task *own) {
    for (uint8_t i = 1; i <= count; i++) {
        if (wanted(l)) add(l, part_ref(l->graph, owner, node, i, own));
        l->count++;
    }
}

static const char of_host_functions, of_records; /* owners of parts, besides groups and the graph */
static const mock_task_ops part_ops = {"", NULL, NULL};
static const mock_task internal = {
    .ops = &part_ops, .kind = MOCK_TASK_WORK, .type = ACL_MODEL_RI_TASK_DEFAULT};

/* A group without a task has eight (observed: graph_tasks); nothing was recorded of one with kernels. */
static void add_empty_groups(listing *l, uint32_t first) {
    for (const mock_group *group = l->graph->groups; group != NULL; group = group->next)
        if (group->count == 0 && group->chain == l->chain && group->first == first)
            add_parts(l, group, first, 8, &internal);
}

/* A host function has two more. */
static void add_node(listing *l, uint32_t node) {
    if (wanted(l)) add(l, node_ref(l->graph, node));
    l->count++;
    if (l->graph->nodes[node].kind == MOCK_TASK_HOST)
        add_parts(l, &of_host_functions, node, 2, &internal);
}

/* The end of a capture resets each event that was recorded in it, and the first launch adds a task, both on the stream
 * that ends the graph. */
static void add_end(listing *l) {
    const mock_graph *g = l->graph;
    if (!g->captured || g->state == MOCK_GRAPH_CAPTURING || l->chain != 0) return;
    for (uint32_t i = 0; i < g->record_count; i++) {
        mock_task reset = {.ops = &part_ops, .kind = MOCK_TASK_RECORD, .type = ACL_MODEL_RI_TASK_EVENT_RESET};
        reset.u.wait.seq = i;
        add_parts(l, &of_records, i, 1, &reset);
    }
    if (g->launched) add_parts(l, g, 0, 1, &internal);
}

static void list_tasks(listing *l) {
    const mock_graph *g = l->graph;
    for (uint32_t i = 0; i < g->node_count; i++) {
        add_empty_groups(l, i);
        if (g->nodes[i].chain == l->chain) add_node(l, i);
    }
    add_empty_groups(l, g->node_count);
    add_end(l);
}

/* Null: 107000; a stream of the program: the same (observed: tasks); arrays as above. */
MOCK_EXPORT aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks) {
    MOCK_ENTER_OF(aclmdlRIGetTasksByStream, stream);
    if (stream == NULL || numTasks == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "stream and numTasks must not be null");
    listing l = {.tasks = tasks, .room = *numTasks};
    mock_lock();
    const mock_chain_ref *c = mock_handle_get(MOCK_CHAIN, stream);
    if (c == NULL && mock_handle_get(MOCK_STREAM, stream) != NULL)
        l.code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "not a stream of a model");
    else if (c == NULL)
        l.code = mock_stale(stream, "stream");
    if (l.code == 0) {
        l.graph = c->graph;
        l.chain = c->chain;
        list_tasks(&l);
    }
    if (l.code == 0 && tasks != NULL) {
        for (uint32_t i = l.count; i < l.room; i++) tasks[i] = NULL;
        if (l.room < l.count) l.code = too_few("tasks", l.count);
    }
    if (l.code == 0) *numTasks = l.count;
    mock_unlock();
    return l.code;
}
