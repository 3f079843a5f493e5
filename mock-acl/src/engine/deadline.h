/* Waits of streams with a time-out. With the engine lock. */
#ifndef MOCK_ENGINE_DEADLINE_H_
#define MOCK_ENGINE_DEADLINE_H_

#include "engine/objects.h"
#include "engine/task.h"

/* The first task of the stream waits: from its first attempt on, its time passes. */
void mock_deadline_start(mock_stream *s, const mock_task *t);
void mock_deadline_stop(mock_stream *s);
/* The time-out passed: the task fails instead of running. */
void mock_deadline_missed(mock_stream *s, mock_task *t);
/* Ends the earliest wait whose deadline has come, or that comes up to `limit` on the virtual clock, which
 * then moves there. False when there is none. */
bool mock_deadlines_pass(uint64_t limit);

#endif
