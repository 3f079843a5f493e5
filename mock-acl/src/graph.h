/* Captured and explicitly built graphs (model runtime instances), and what the engine offers them. Guarded by the
 * engine lock. */
#ifndef MOCK_GRAPH_H_
#define MOCK_GRAPH_H_

#include "core.h"

aclError mock_task_run(mock_task *t);
void mock_task_result(mock_stream *s, aclError code);
void mock_control_release(mock_task *t);
mock_task *mock_ring_new(void);
unsigned mock_config_number(const char *name, unsigned fallback, unsigned limit);

mock_outcome mock_graph_step(mock_stream *s, mock_task *t);
void mock_graph_release_launch(mock_task *t);
mock_outcome mock_replace_step(mock_stream *s, mock_task *t);
void mock_replace_release(mock_task *t);
void mock_graph_destroy_all(mock_ctx *ctx);

#endif
