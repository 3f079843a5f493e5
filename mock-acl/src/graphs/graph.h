/* Captured and explicitly built graphs (model runtime instances). Guarded by the engine lock. */
#ifndef MOCK_GRAPHS_GRAPH_H_
#define MOCK_GRAPHS_GRAPH_H_

#include "base/base.h"
#include "engine/engine.h"

typedef enum mock_graph_state {
    MOCK_GRAPH_EMPTY, /* a sub graph before its capture */
    MOCK_GRAPH_CAPTURING,
    MOCK_GRAPH_BUILDING, /* between aclmdlRIBuildBegin and aclmdlRIBuildEnd */
    MOCK_GRAPH_READY,
    MOCK_GRAPH_UPDATING,
    MOCK_GRAPH_FAULT
} mock_graph_state;

/* What a program sees of a chain: an internal stream of the graph. */
typedef struct mock_chain_ref {
    void *handle;
    struct mock_graph *graph;
    uint16_t chain;
} mock_chain_ref;

/* The tasks of one stream. */
typedef struct mock_chain {
    struct mock_graph *graph;
    mock_stream *stream; /* while it captures or is bound */
    mock_chain_ref *ref;
    uint32_t last, count; /* last node, number of nodes */
    uint32_t first;       /* in order[], once ready */
    uint32_t cursor;      /* of the running replay */
    bool head;            /* starts with the replay */
    bool going;           /* started, and not at its end */
    bool refill;          /* its tasks were cleaned and may be queued again */
    mock_racer *racer;    /* of the replay, while races are looked for */
} mock_chain;

typedef struct mock_record {
    const void *event; /* the handle of the program */
    uint32_t node;
    uint32_t flags;
    uint16_t chain;
    uint64_t replay; /* the last replay that passed it */
    mock_mark *mark; /* likewise */
} mock_record;

/* Tasks whose kernels can be replaced; they lie next to each other. */
typedef struct mock_group {
    void *handle;
    struct mock_graph *graph;
    uint32_t first, count;
    uint16_t chain;
    mock_stream *updating;
    bool surplus;
    struct mock_group *next;
} mock_group;

typedef struct mock_destroy_callback {
    aclrtCallback fn;
    void *user;
} mock_destroy_callback;

/* What a program sees of a task, or of one that only the real runtime has (graphs/listing.c). */
typedef struct mock_node_ref {
    struct mock_graph *graph;
    void *handle;
    uint32_t node;
    uint8_t part;      /* 0: the task itself */
    const void *owner; /* what else has such parts */
    struct mock_node_ref *next;
    mock_task own; /* of a part */
    bool disable, set;
    mock_value value;
    const mock_task_ops *kernel_ops; /* a new kernel, until it is applied */
    void *kernel_arg;
} mock_node_ref;

typedef struct mock_graph {
    /* what a launch looks at, together: after a long replay it comes from memory */
    uint64_t serial; /* of this incarnation, 0 while dead */
    mock_ctx *ctx;
    struct mock_cond *conds;  /* created on it */
    struct mock_cond *parent; /* of a sub graph */
    uint64_t inflight;
    mock_graph_state state;
    uint32_t external_count;
    uint16_t chain_count, chain_room;
    bool captured, launched;
    bool stale; /* complete, but an order has to be made again */
    /* the rest of what it is */
    bool ended, broken, simple, calls_program;
    uint16_t joins; /* notifies that it holds */
    uint32_t id;
    void *handle;
    mock_link in_context; /* ctx->graphs */
    mock_capture capture;
    mock_task *nodes;
    uint32_t node_count, node_room;
    mock_chain *chains;
    mock_record *records;
    uint32_t record_count, record_room;
    uint32_t *order; /* simple: the nodes to run; else the nodes chain by chain */
    uint32_t order_count;
    /* task groups */
    mock_group *groups, *open_group;
    uint16_t open_chain;
    aclError group_error;
    /* replay */
    uint64_t replay;
    mock_stream *replaying; /* its stream, from the first task to the last, also while blocked */
    bool executing;         /* a thread runs nodes without the lock */
    struct mock_external *externals; /* of the launch that replays */
    uint64_t steps;  /* nodes run, those of sub graphs included */
    uint64_t rounds; /* of loops, in this replay */
    bool abort;      /* the replay that goes on, or the next one, ends early */
    aclError abort_error;
    mock_link launch_waiters;
    bool raced;      /* the chains of the running replay have racers */
    mock_mark *over; /* of the replays so far */
    /* the rest */
    mock_destroy_callback *callbacks;
    uint32_t callback_count;
    mock_node_ref **refs; /* by node, NULL for one that nobody has seen */
    uint32_t ref_count;
    mock_node_ref *parts;
    char *name;
    struct mock_graph *next_free;
} mock_graph;

/* What became of a node. */
typedef enum mock_step {
    MOCK_STUCK, /* it cannot run yet */
    MOCK_NEXT,
    MOCK_MOVED /* the place in the chain is set already */
} mock_step;

/* ---- graphs/branch.c ---- */
mock_step mock_branch_step(mock_stream *s, mock_graph *g, mock_chain *c, mock_task *t);

/* ---- graphs/cond.c ---- */
mock_graph *mock_cond_graph(const struct mock_cond *c);
mock_step mock_cond_step(mock_stream *s, mock_graph *g, mock_task *t);
void mock_conds_start(mock_graph *g);
void mock_conds_assign(mock_graph *g);
void mock_conds_free(mock_graph *g);
bool mock_conds_call_program(const mock_graph *g);
void mock_conds_each(const mock_graph *g, void (*visit)(const mock_graph *sub, void *user), void *user);
/* Of all sub graphs. */
uint32_t mock_conds_streams(const mock_graph *g);
/* 107045 when a sub graph has not been captured. */
aclError mock_conds_complete(const mock_graph *g);

/* ---- graphs/external.c ---- */
/* False when the node has to wait. */
bool mock_external_step(mock_graph *g, const mock_task *t);
/* What the external nodes of one launch refer to, as of now; released when the launch is over or dropped. */
aclError mock_externals_bind(mock_graph *g, mock_stream *s, mock_task *launch);
void mock_externals_release(mock_task *launch);

/* ---- graphs/graph.c ---- */
mock_graph *mock_graph_new(mock_ctx *ctx, mock_graph_state state);
void mock_graph_free(mock_graph *g);
aclError mock_graph_grow(void **array, uint32_t *room, uint32_t count, size_t size);
/* 207001 without memory; a captured graph takes a stream of its own for it: 207008 when none is left. */
aclError mock_graph_add_chain(mock_graph *g, mock_stream *s);
aclError mock_graph_append(mock_graph *g, uint16_t chain, mock_task *t);
bool mock_graph_freeze(mock_graph *g);
mock_graph *mock_graph_root(mock_graph *g);
/* The same for the calls of the runtime layer, for which null is 107000. */
mock_graph *mock_graph_seen(aclmdlRI handle, aclError *code);
/* 107002 without a context, 107004 in another one. */
aclError mock_graph_at_home(const mock_graph *g);
/* 207000 for a sub graph. */
aclError mock_graph_no_sub(const mock_graph *g, const char *what);
/* 507903 when a task or a stream of the capture could not be had. */
aclError mock_capture_lost(const mock_graph *g);
void mock_graph_leave(mock_graph *g);
void mock_graph_clean(mock_graph *g, uint16_t chain);

/* ---- graphs/group.c ---- */
aclError mock_group_check(mock_graph *g, uint16_t chain, mock_task_kind kind);
void mock_groups_free(mock_graph *g);

/* ---- graphs/label.c ---- */
/* The labels of a chain have no place any more. */
void mock_labels_forget(const mock_graph *g, uint16_t chain);

/* ---- graphs/listing.c ---- */
void mock_listing_free(mock_graph *g);

/* ---- graphs/replay.c ---- */
/* Until no launch of it is queued or runs, or it is gone. */
aclError mock_graph_wait(mock_graph *g, mock_stream *first, int64_t timeout_ns);
/* Of a graph or a sub graph: its first state, and as much of it as can run; true at its end. */
void mock_graph_start(mock_graph *g);
bool mock_graph_run(mock_stream *s, mock_graph *g);
/* One more round of a loop. False when the loop has to stop for now, or for good. */
bool mock_graph_round(mock_stream *s, mock_graph *g);
/* Ends the replay that is under way, or the next one that was launched. */
void mock_graph_end_early(mock_graph *g, aclError code);

/* ---- graphs/racing.c ---- */
/* A replay, of a graph or a sub graph, begins behind what the racer did, and ends in front of what it does next. */
void mock_graph_racing_begin(mock_graph *g, mock_racer *outer);
void mock_graph_racing_end(mock_graph *g);
/* The node that the calling thread runs next; NULL: none. */
void mock_graph_racing_node(const mock_graph *g, const mock_task *t);
/* A record or a wait inside of the graph. */
void mock_graph_racing_edge(mock_graph *g, const mock_task *t);
/* One chain starts or continues another one. */
void mock_graph_racing_jump(const mock_graph *g, const mock_chain *from, const mock_chain *to);
void mock_graph_racing_free(mock_graph *g);

/* ---- graphs/task.c ---- */
void mock_node_ref_drop(mock_node_ref *ref);

#endif
