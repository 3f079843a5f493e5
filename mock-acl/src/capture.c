#define _GNU_SOURCE
#include "capture.h"
#include "context.h"
#include "graph.h"
bool mock_capturing(const mock_stream *s) { return s->graph != NULL && !s->bound; }
bool mock_event_captured(const mock_event *e) { (void)e; return false; }
aclError mock_captured_error(const char *c) { return mock_fail(107027, "EE1016", "%s", c); }
aclError mock_capture_forbids(mock_ctx *c, aclError code, const char *w) { (void)c; (void)code; (void)w; return 0; }
aclError mock_capture_task(mock_stream *s, mock_task *t) { (void)s; mock_task_release(t); return 207000; }
aclError mock_update_task(mock_stream *s, mock_task *t) { (void)s; mock_task_release(t); return 207000; }
aclError mock_capture_record(mock_stream *s, mock_event *e) { (void)s; (void)e; return 207000; }
aclError mock_capture_wait(mock_stream *s, mock_event *e) { (void)s; (void)e; return 207000; }
void mock_capture_abandon(mock_ctx *c) { (void)c; }
mock_outcome mock_graph_step(mock_stream *s, mock_task *t) { (void)s; (void)t; return MOCK_DONE; }
void mock_graph_release_launch(mock_task *t) { (void)t; }
mock_outcome mock_replace_step(mock_stream *s, mock_task *t) { (void)s; (void)t; return MOCK_DONE; }
void mock_replace_release(mock_task *t) { (void)t; }
void mock_graph_destroy_all(mock_ctx *c) { (void)c; }
