/* What streams/notify.c offers to the rest of the notifies. With the engine lock. */
#ifndef MOCK_STREAMS_NOTIFY_H_
#define MOCK_STREAMS_NOTIFY_H_

#include "engine/engine.h"

void mock_notify_unref(mock_notify *n);
/* 207009 without an id, 207001 without memory. */
aclError mock_notify_new(mock_notify **out);
aclError mock_notify_stale(const void *handle);

#endif
