/* What programs are told of devices and streams. Without the engine lock, unless it says otherwise. */
#ifndef MOCK_STATE_CALLBACK_H_
#define MOCK_STATE_CALLBACK_H_

#include "engine/core.h"

void mock_tell_device(int32_t device, aclrtDeviceState state);
void mock_tell_stream(aclrtStream stream, aclrtStreamState state);
/* The first result that is not 0, else 0. */
int32_t mock_tell_abort(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout);
/* Whether anybody listens. */
bool mock_streams_told(void);
/* With the lock: a default stream was made; told by the next mock_tell_made_streams. */
void mock_stream_made(const mock_stream *s);
void mock_tell_made_streams(void);
void mock_state_callbacks_reset(void);

#endif
