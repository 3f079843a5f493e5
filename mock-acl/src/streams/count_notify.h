/* What streams/count_notify.c offers inside of its room. */
#ifndef MOCK_STREAMS_COUNT_NOTIFY_H_
#define MOCK_STREAMS_COUNT_NOTIFY_H_

#include "engine/engine.h"

void mock_count_unref(struct mock_count *n);
mock_outcome mock_count_set_step(mock_stream *s, mock_task *t);
mock_outcome mock_count_wait_step(mock_stream *s, mock_task *t);

#endif
