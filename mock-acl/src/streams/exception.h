/* What a program is told of failed tasks. */
#ifndef MOCK_EXCEPTION_H_
#define MOCK_EXCEPTION_H_

#include "engine/core.h"

/* Tells the callbacks of a task of `s` that failed; without the lock. */
void mock_exception_raise(const mock_stream *s, const mock_task *t, aclError code);
/* The same with the lock, which is dropped meanwhile. */
void mock_exception_locked(const mock_stream *s, const mock_task *t, aclError code);
void mock_exceptions_reset(void);

/* What a kernel was launched with; all zero when the mock does not know. */
typedef struct mock_launch_origin {
    void *device_args;
    uint32_t device_args_size;
    aclrtFuncHandle function;
    void *binary; /* for the callback of one binary */
} mock_launch_origin;
/* Set by the part that launches kernels of binaries: describes the kernel of a failed task, and calls the
 * callback of its binary. Either may be null. */
extern void (*mock_kernel_origin)(const mock_task_ops *ops, const void *arg, mock_launch_origin *out);
extern void (*mock_binary_exception)(void *binary, aclrtExceptionInfo *info);

/* engine/engine.c: the thread that queued the first task of a stream. */
uint32_t mock_submitter(const mock_stream *s);
/* devices/faults.c: remembers a fault of a device. */
void mock_device_fault(int32_t device, aclError code);

#endif
