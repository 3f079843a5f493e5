/* What a program is told of failed tasks. */
#ifndef MOCK_STREAMS_EXCEPTION_H_
#define MOCK_STREAMS_EXCEPTION_H_

#include "engine/engine.h"

/* What a kernel was launched with; all zero when the mock does not know. */
typedef struct mock_launch_origin {
    void *device_args;
    uint32_t device_args_size;
    aclrtFuncHandle function;
    void *binary; /* for the callback of one binary */
} mock_launch_origin;

/* Tells the callbacks of a task of `s` that failed; without the lock. */
void mock_exception_raise(const mock_stream *s, const mock_task *t, aclError code);
/* The same with the lock, which is dropped meanwhile. */
void mock_exception_locked(const mock_stream *s, const mock_task *t, aclError code);

#endif
