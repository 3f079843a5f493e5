/* Streams, events and notifies as a program calls them: made, destroyed, recorded, waited for, aborted; callbacks,
 * failures and what is told of them, time-outs, overflow; and the steps of every task that steers streams.
 *
 * Uses the engine, devices for what is told of them, memory, and graphs, to which captured calls go. Contexts and
 * whatever launches use it: kernels, objects, models, profiling; and the control interface. */
#ifndef MOCK_STREAMS_STREAMS_H_
#define MOCK_STREAMS_STREAMS_H_

#include "engine/engine.h"
#include "streams/exception.h"

/* ---- streams/callback.c ---- */
void mock_reports_clear(void);

/* ---- streams/config.c ---- */
uint64_t mock_stream_configs_live(void);
void mock_stream_configs_reset(void);

/* ---- streams/count_notify.c ---- */
void mock_counts_reset(void);

/* ---- streams/event.c ---- */
void mock_events_reset(void);

/* ---- streams/exception.c ---- */
void mock_exceptions_reset(void);
/* Set by the part that launches kernels of binaries: describes the kernel of a failed task, and calls the
 * callback of its binary. Either may be null. */
extern void (*mock_kernel_origin)(const mock_task_ops *ops, const void *arg, mock_launch_origin *out);
extern void (*mock_binary_exception)(void *binary, aclrtExceptionInfo *info);

/* ---- streams/notify.c ---- */
void mock_notifies_reset(void);

/* ---- streams/overflow.c ---- */
void mock_overflow_reset(void);
/* Gives back what a context that goes away holds. */
void mock_overflow_leave(const mock_ctx *ctx);

/* ---- streams/stream.c, with the lock ---- */
/* Tells the program that the stream is about to go; drops the lock meanwhile. */
void mock_stream_goes(const mock_stream *s);
mock_stream *mock_stream_new(mock_ctx *ctx, uint32_t priority, uint32_t flags, bool is_default);
void mock_stream_free(mock_stream *s);

/* ---- streams/submit.c ---- */
/* Queues a task on `stream` (NULL: the default stream of the calling thread's current context), or records it when
 * that stream captures. Takes `arg` over in every case: on failure it is dropped before the call returns. Gives the
 * codes of a kernel launch: 107002 no context, 107003 foreign context, 107017 stale stream, 107034 and so on. */
aclError mock_submit_kernel(aclrtStream stream, const mock_task_ops *ops, void *arg);

/* ---- streams/timeouts.c ---- */
void mock_timeouts_reset(void);

#endif
