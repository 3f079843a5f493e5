/* What streams/event.c offers inside of its room. */
#ifndef MOCK_STREAMS_EVENT_H_
#define MOCK_STREAMS_EVENT_H_

#include "engine/engine.h"

mock_event *mock_event_get(const void *handle);
void mock_event_unref(mock_event *e);
bool mock_recorded(const mock_event *e);

#endif
