/* Graphs: captures, what they hold, replays, conditions, branches and labels, task groups and updates, records and
 * waits across their edge.
 *
 * Uses the engine, whose tasks it stores, and memory for what its conditions read. Streams hand it what they are
 * told while they capture; contexts, kernels and the control interface use it, too. */
#ifndef MOCK_GRAPHS_GRAPHS_H_
#define MOCK_GRAPHS_GRAPHS_H_

#include "engine/engine.h"
#include "graphs/external.h"
#include "graphs/graph.h"
#include "graphs/kernel_task.h"

/* ---- graphs/branch.c ---- */
void mock_branch_release(mock_task *t);

/* ---- graphs/capture.c ---- */
/* Ends every capture of the context without a graph. */
void mock_capture_abandon(mock_ctx *ctx);
/* The task on a capturing or bound stream; takes over what it owns. */
aclError mock_capture_task(mock_stream *s, mock_task *t);
bool mock_event_captured(const mock_event *e);
/* mock_captured_error for a stream that may capture; MOCK_ACL_STRICT=doc: its capture is invalid from now on. */
aclError mock_captured_illegal(mock_stream *s, const char *call);
aclError mock_capture_record(mock_stream *s, mock_event *e);
aclError mock_capture_wait(mock_stream *s, mock_event *e);

/* ---- graphs/external.c ---- */
mock_point *mock_point_ref(mock_point *p);
void mock_point_unref(mock_point *p);
mock_outcome mock_point_step(mock_stream *s, mock_task *t);
aclError mock_point_synchronize(mock_point *p, int64_t timeout_ns);
/* The node on a capturing stream: a record, or a wait. */
aclError mock_external_capture(mock_stream *s, mock_event *e, bool record);

/* ---- graphs/graph.c ---- */
void mock_graph_detach(mock_stream *s);
mock_graph *mock_graph_get(aclmdlRI handle, aclError *code);
void mock_graph_destroy_all(mock_ctx *ctx);

/* ---- graphs/group.c ---- */
aclError mock_update_task(mock_stream *s, mock_task *t);
void mock_update_leave(mock_stream *s);
mock_outcome mock_replace_step(mock_stream *s, mock_task *t);
void mock_replace_release(mock_task *t);

/* ---- graphs/label.c ---- */
void mock_labels_reset(void);

/* ---- graphs/replay.c ---- */
/* Of the latch that a replay waits for, 0 for none. */
uint32_t mock_graph_seconds(const mock_task *launch);
/* Whether a shared notify that the replay waits for is set, or can no more be. */
bool mock_graph_shared_ready(const mock_task *launch);
mock_outcome mock_graph_step(mock_stream *s, mock_task *t);
void mock_graph_release_launch(mock_task *t);
bool mock_graph_calls_program(const mock_task *launch);

/* ---- graphs/task.c ---- */
extern const mock_kernel_tasks *mock_kernel_tasks_in_use;

#endif
