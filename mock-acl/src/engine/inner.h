/* What engine/engine.c offers inside of its room. */
#ifndef MOCK_ENGINE_INNER_H_
#define MOCK_ENGINE_INNER_H_

#include "engine/objects.h"
#include "engine/task.h"

void mock_wake(mock_stream *s);
/* The queue of a stream, and behind it who queued each task; NULL without memory. */
mock_task *mock_ring_new(void);

#endif
