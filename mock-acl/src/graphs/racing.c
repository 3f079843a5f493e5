/* Replays as the room of races sees them: each chain is a racer, the first one is whoever launched. What ran before the
 * launch comes before every node, what is queued behind it after; in between count the edges that were recorded (guide:
 * capture). */
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"

static void drop_racers(mock_graph *g) {
    if (!g->raced) return;
    for (uint16_t c = 1; c < g->chain_count; c++) mock_racer_free(g->chains[c].racer);
    for (uint16_t c = 0; c < g->chain_count; c++) g->chains[c].racer = NULL;
    g->raced = false;
}

/* A replay that was dropped may have left its own. */
void mock_graph_racing_begin(mock_graph *g, mock_racer *outer) {
    drop_racers(g);
    g->raced = outer != NULL;
    for (uint16_t c = 0; c < g->chain_count; c++) g->chains[c].racer = c == 0 ? outer : mock_racer_new(outer);
}

void mock_graph_racing_end(mock_graph *g) {
    if (!g->raced) return;
    mock_racer *outer = g->chains[0].racer;
    for (uint16_t c = 1; c < g->chain_count; c++) mock_racer_follow(outer, g->chains[c].racer);
    drop_racers(g);
    mock_mark_clear(&g->over);
    g->over = mock_mark_of(outer);
}

/* A chain for which there was no racer counts as the first one. */
void mock_graph_racing_node(const mock_graph *g, const mock_task *t) {
    mock_thread *self = mock_self();
    self->racer = NULL;
    if (t == NULL || !g->raced) return;
    self->racer = g->chains[t->chain].racer;
    if (self->racer == NULL) self->racer = g->chains[0].racer;
    self->node = t;
    self->graph = g->id;
    self->place = (uint32_t)(t - g->nodes) + 1;
}

void mock_graph_racing_edge(mock_graph *g, const mock_task *t) {
    if (!g->raced) return;
    mock_record *r = &g->records[t->u.wait.seq];
    mock_racer *racer = g->chains[t->chain].racer;
    if (t->kind == MOCK_TASK_WAIT) {
        mock_racer_join(racer, r->mark);
        return;
    }
    mock_mark_clear(&r->mark);
    r->mark = mock_mark_of(racer);
}

void mock_graph_racing_jump(const mock_graph *g, const mock_chain *from, const mock_chain *to) {
    if (g->raced) mock_racer_follow(to->racer, from->racer);
}

void mock_graph_racing_free(mock_graph *g) {
    drop_racers(g);
    mock_mark_clear(&g->over);
    for (uint32_t i = 0; i < g->record_count; i++) mock_mark_clear(&g->records[i].mark);
}
