/* Channels of tensors, queues of buffers and the buffers themselves.
 *
 * Uses memory, devices for their numbers, and the engine's context. The control interface resets it. */
#ifndef MOCK_CHANNELS_CHANNELS_H_
#define MOCK_CHANNELS_CHANNELS_H_

#include "base/base.h"

/* ---- channels/buffer.c ---- */
void mock_buffers_reset(void);

/* ---- channels/channel.c ---- */
void mock_channels_reset(void);

/* ---- channels/queue.c ---- */
void mock_queues_reset(void);

#endif
