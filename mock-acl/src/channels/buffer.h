/* Buffers for queues. */
#ifndef MOCK_BUFFER_H_
#define MOCK_BUFFER_H_

#include "engine/core.h"

void mock_buffers_reset(void);

#endif
