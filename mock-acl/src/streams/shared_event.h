/* What streams/shared_event.c offers inside of its room. */
#ifndef MOCK_STREAMS_SHARED_EVENT_H_
#define MOCK_STREAMS_SHARED_EVENT_H_

#include "engine/engine.h"

aclError mock_shared_record(mock_stream *s, mock_event *e);
aclError mock_shared_wait(mock_stream *s, mock_event *e, uint32_t seconds);
aclError mock_shared_synchronize(mock_event *e, int64_t timeout_ns);
bool mock_shared_complete(const mock_event *e);
mock_outcome mock_shared_record_step(mock_stream *s, mock_task *t);
mock_outcome mock_shared_wait_step(mock_stream *s, mock_task *t);
void mock_shared_record_release(mock_task *t);
/* False when the driver of the device has none: MOCK_ACL_IPC_EVENTS=0. */
bool mock_ipc_events(void);

#endif
