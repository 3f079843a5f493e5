/* What the engine leaves to the rooms that stand on it: they fill this one table (streams/tasks.c), so that the engine
 * knows none of them. Each is called with the engine lock unless it says otherwise. */
#ifndef MOCK_ENGINE_PARTS_H_
#define MOCK_ENGINE_PARTS_H_

#include "engine/objects.h"
#include "engine/task.h"

typedef struct mock_engine_parts {
    /* One step of a task that steers streams: it finishes, or links the stream to what it waits for. */
    mock_outcome (*step)(mock_stream *s, mock_task *t);
    /* Gives back what such a task holds. */
    void (*release)(mock_task *t);
    /* The time-out of a task that waits, 0 for none. */
    uint32_t (*seconds)(const mock_task *t);
    /* Its time-out passed. */
    void (*missed)(mock_task *t);
    /* Whether a task that waits for another process can go on. */
    bool (*shared_ready)(const mock_task *t);
    /* Whether the replay that a task launches calls functions of the program. */
    bool (*calls_program)(const mock_task *launch);
    /* The task on a stream that captures or is bound, and on one that updates a graph; both take over what it owns. */
    aclError (*capture)(mock_stream *s, mock_task *t);
    aclError (*update)(mock_stream *s, mock_task *t);
    /* A task failed: without the lock, and with it, which is dropped meanwhile. */
    void (*failed)(const mock_stream *s, const mock_task *t, aclError code);
    void (*failed_locked)(const mock_stream *s, const mock_task *t, aclError code);
    /* Whether another thread is about to run a callback, which it subscribed for. */
    bool (*coming)(void);
    /* A host thread waited for a stream. */
    void (*waited)(void);
} mock_engine_parts;
extern const mock_engine_parts mock_parts;

#endif
