/* Buffers for queues. */
#ifndef MOCK_BUFFER_H_
#define MOCK_BUFFER_H_

#include "core.h"

typedef struct mock_buffer mock_buffer;

/* What a queue does with a buffer and its chain. NULL for a stale handle or one inside a chain. While a queue
 * holds them their handles are stale. */
mock_buffer *mock_buffer_take(const void *handle);
/* New handles; the head's. */
void *mock_buffer_give(mock_buffer *b);
void mock_buffer_free(mock_buffer *b);
void mock_buffers_reset(void);

#endif
