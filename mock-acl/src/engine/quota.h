/* What is left of streams and events. With the engine lock. */
#ifndef MOCK_QUOTA_H_
#define MOCK_QUOTA_H_

#include "engine/core.h"

void mock_quota_reset(void);
uint32_t mock_streams_left(void);
/* Streams inside captured graphs. */
void mock_graph_stream_taken(void);
void mock_graph_streams_given(uint32_t count);
/* The id of an event of the older calls: 0, also when it has one, or 207007. */
aclError mock_event_id_take(mock_event *e);
void mock_event_id_give(mock_event *e);
/* Room and an id for the record of an Ex event; may drop the lock, as mock_room. */
aclError mock_record_room(mock_stream *s);
void mock_record_queued(void);
void mock_record_over(void);

#endif
