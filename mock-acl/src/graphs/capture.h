/* Capturing of records and waits. With the engine lock. */
#ifndef MOCK_CAPTURE_H_
#define MOCK_CAPTURE_H_

#include "engine/core.h"

aclError mock_capture_record(mock_stream *s, mock_event *e);
aclError mock_capture_wait(mock_stream *s, mock_event *e);

#endif
