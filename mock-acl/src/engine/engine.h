/* What the operator part (nn_*.c, op_*.c) needs from the runtime part. Nothing else is shared between the two. */
#ifndef MOCK_ENGINE_H_
#define MOCK_ENGINE_H_

#include <stddef.h>
#include <stdint.h>
#include "acl/acl.h"
#include "base/entry.h"

/* The behaviour of one kind of task. `name` is the C name of the call that queued it and outlives every task.
 * `run` executes the task once and returns 0 or the device error that the stream then carries (507015 for a bad
 * address); it may run any number of times (a replayed graph) and on any thread, but never twice at once for the
 * same `arg` on one stream. `drop` frees `arg`; it is called exactly once, after the last run, and may
 * not call the runtime: the engine lock can be held. */
typedef struct mock_task_ops {
    const char *name;
    aclError (*run)(void *arg);
    void (*drop)(void *arg);
} mock_task_ops;

/* Queues a task on `stream` (NULL: the default stream of the calling thread's current context), or records it when
 * that stream captures. Takes `arg` over in every case: on failure it is dropped before the call returns. Gives the
 * codes of a kernel launch: 107002 no context, 107003 foreign context, 107017 stale stream, 107034 and so on. */
aclError mock_submit_kernel(aclrtStream stream, const mock_task_ops *ops, void *arg);

/* The host view of the device bytes [device, device + size), or NULL when they are not inside one live device
 * allocation. Size 0 gives a non-null pointer for any address. For use inside `run`. Never hand the result out. */
void *mock_device_view(const void *device, size_t size);

/* Sets the calling thread's error text as aclGetRecentErrMsg returns it: "CODE: text". */
void mock_error_text(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bookkeeping of host-side objects, for mock_acl_live_handles. */
typedef enum mock_object_kind {
    MOCK_OBJECT_TENSOR,
    MOCK_OBJECT_SCALAR,
    MOCK_OBJECT_ARRAY,
    MOCK_OBJECT_LIST,
    MOCK_OBJECT_EXECUTOR,
    MOCK_OBJECT_KINDS
} mock_object_kind;

/* Handles of host-side objects: a value that looks like a pointer, carries kind and generation and faults when it is
 * dereferenced. `mock_object_get` gives NULL for null, stale, foreign and wrong-kind handles. */
void *mock_object_new(mock_object_kind kind, void *object);
void *mock_object_get(mock_object_kind kind, const void *handle);
/* Takes the object out and makes the handle stale; NULL as above. */
void *mock_object_take(mock_object_kind kind, const void *handle);
/* Takes every object of the kind out and calls `release` for it. One that another thread takes meanwhile is left to
 * that thread. */
void mock_object_take_all(mock_object_kind kind, void (*release)(void *object));

/* Takes back every object that a program still holds; for a reset of the whole mock. */
void mock_nn_reset(void);
/* Takes back what the program computes itself. */
void mock_own_reset(void);

#endif
