/* Callbacks of programs about devices: when one opens or closes, is aborted, or the process is saved. */
#ifndef MOCK_DEVICE_STATE_H_
#define MOCK_DEVICE_STATE_H_

#include "core.h"

/* Calls what was registered. Without the lock. */
void mock_device_state(int32_t device, aclrtDeviceState state);
void mock_device_state_reset(void);
void mock_snapshot_reset(void);

#endif
