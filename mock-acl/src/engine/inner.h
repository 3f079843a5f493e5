/* What the engine offers inside of its room. */
#ifndef MOCK_ENGINE_INNER_H_
#define MOCK_ENGINE_INNER_H_

#include "engine/objects.h"
#include "engine/task.h"

/* What the thread's task spent is the stream's. */
void mock_stream_spends(mock_stream *s, mock_thread *self);

void mock_wake(mock_stream *s);
/* The queue of a stream, and behind it who queued each task; NULL without memory. */
mock_task *mock_ring_new(void);

/* Runs some tasks of a runnable stream on a worker. */
void mock_run_as_worker(mock_stream *s);

/* ---- engine/racing.c ---- */
/* The stream's latest task was queued. */
void mock_racing_queued(mock_stream *s);

/* ---- engine/workers.c ---- */
/* Gives host functions that no waiting thread may run to a worker; false when there are none. */
bool mock_call_worker(void);
void mock_starter_wake(void);

#endif
