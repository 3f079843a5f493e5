/* What streams/stream.c offers inside of its room. */
#ifndef MOCK_STREAMS_STREAM_H_
#define MOCK_STREAMS_STREAM_H_

#include "engine/engine.h"

/* No stream left: 207008. Without the lock. */
aclError mock_stream_create(aclrtStream *out, uint32_t priority, uint32_t flags);
/* The error that a wait for the stream reports, with its text. */
aclError mock_stream_take_error(mock_stream *s);
aclError mock_synchronize_current(void);
/* What a wait reports when the stream was aborted meanwhile. */
aclError mock_aborted(const mock_stream *s);

#endif
