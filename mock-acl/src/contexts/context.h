/* Devices and contexts, for the control interface. With the engine lock. */
#ifndef MOCK_CONTEXT_H_
#define MOCK_CONTEXT_H_

#include "engine/core.h"

aclError mock_device_check(int32_t id);
/* Whether it has its default context. Takes the lock. */
bool mock_device_open(int32_t id);
/* Whether a device can be set up with the limits of the process. */
aclError mock_device_limits_check(void);
void mock_contexts_reset(void);
/* No stream left: 207008. Without the lock. */
aclError mock_stream_create(aclrtStream *out, uint32_t priority, uint32_t flags);
uint64_t mock_stream_configs_live(void);
void mock_stream_configs_reset(void);
/* Tells the program that the stream is about to go; drops the lock meanwhile. */
void mock_stream_goes(const mock_stream *s);
mock_stream *mock_stream_by_id(int32_t id);
void mock_each_stream(void (*visit)(mock_stream *));
uint64_t mock_own_contexts(void);
/* Ends every capture of the context without a graph. */
void mock_capture_abandon(mock_ctx *ctx);
void mock_init_reset(void);
void mock_events_reset(void);
void mock_notifies_reset(void);
void mock_limits_reset(void);
void mock_peers_reset(void);
void mock_device_limits_reset(void);
void mock_snapshot_reset(void);
void mock_timeouts_reset(void);
void mock_overflow_reset(void);
/* The overflow mode of new streams, and what a context that goes away holds. */
aclrtFloatOverflowMode mock_saturation_of(int32_t device);
void mock_overflow_leave(const mock_ctx *ctx);
void mock_counts_reset(void);
void mock_device_faults_reset(void);

#endif
