/* Devices: which there are and by which numbers, the card that they are, what they say of themselves, limits of
 * cores and of the process, faults, and callbacks for what happens to devices and streams.
 *
 * Uses the engine, for its lock and for what a call means. Memory, streams, contexts, kernels, channels, profiling,
 * the toolkit and the control interface use it. */
#ifndef MOCK_DEVICES_DEVICES_H_
#define MOCK_DEVICES_DEVICES_H_

#include "devices/profile.h"
#include "engine/engine.h"

/* ---- devices/devices.c ---- */
/* Whether the program sees a device of this number: 0 or 107001. */
aclError mock_device_check(int32_t id);
/* How many it sees. */
uint32_t mock_device_count(void);
/* How many there are, also those that it does not see. */
uint32_t mock_device_machine_count(void);

/* ---- devices/faults.c ---- */
void mock_device_faults_reset(void);
/* Remembers a fault of a device. */
void mock_device_fault(int32_t device, aclError code);
/* Ranges of the device's memory with errors, as many as there is room for; their number. */
size_t mock_memory_errors(int32_t device, aclrtMemUceInfo *out, size_t room);
/* They have errors no longer; false, and none is repaired, where one of them has none. */
bool mock_memory_repair(int32_t device, const aclrtMemUceInfo *errors, size_t count);

/* ---- devices/info.c ---- */
/* Whether a peer device exists: 0 or 107001. Takes the lock. */
aclError mock_device_peer_check(int32_t id);

/* ---- devices/limits.c ---- */
void mock_limits_reset(void);
/* The core limits of what the calling thread launches. */
void mock_limits_in_use(const mock_ctx *ctx, mock_kernel *kernel);

/* ---- devices/process_limits.c ---- */
aclError mock_stack_size(size_t bytes);
aclError mock_print_buffer_size(size_t bytes);
/* Whether a device can be set up with the limits of the process. */
aclError mock_device_limits_check(void);
void mock_device_limits_reset(void);

/* ---- devices/profile.c ---- */
/* Read once from the environment; never NULL. */
const mock_profile *mock_profile_get(void);

/* ---- devices/state_callback.c, without the engine lock unless it says otherwise ---- */
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
