/* The state of the engine, its lock, and what a host thread can wait for. */
#ifndef MOCK_ENGINE_STATE_H_
#define MOCK_ENGINE_STATE_H_

#include "base/base.h"
#include "engine/objects.h"
#include "engine/task.h"

/* Virtual time of one task (own choice: a wait never depends on the speed of the host). */
#define MOCK_TASK_NS 1000
#define MOCK_FOREVER (-1)

typedef struct mock_engine_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* anything a waiting host thread may wait for */
    pthread_cond_t work;    /* runnable streams, for workers */
    mock_link runnable;
    mock_link callers; /* runnable, but next is a host function that waiting threads may not run */
    mock_link value_waiters;
    mock_link shared_waiters; /* for what another process may do */
    uint32_t shared_waits;    /* host threads that wait for the same */
    uint32_t timed_waits;     /* streams whose first task waits with a time-out */
    uint64_t clock_ns;
    uint64_t tasks_run;
    uint32_t executing; /* threads inside a stream */
    uint32_t executing_workers;
    uint32_t waiting;          /* host threads inside a wait */
    uint32_t roomless;         /* of them, those that wait for room in a queue */
    _Atomic uint32_t sleeping; /* host threads asleep in `changed` */
    uint32_t workers, workers_idle;
    uint64_t loop_turns; /* how often a loop in a replay let others run */
    bool eager_workers; /* MOCK_ACL_WORKERS: woken by every submission */
    bool still;         /* nothing starts by itself */
    bool starter_sleeps; /* until work is queued */
    bool paused;        /* a reset is going on */
    uint32_t streams;   /* live, default streams included */
    uint64_t cmo_tasks, cmo_bytes;
    uint64_t furthest_ns; /* up to when the busiest stream ever is */
} mock_engine_state;
extern mock_engine_state mock_engine;

static inline void mock_lock(void) { pthread_mutex_lock(&mock_engine.lock); }
static inline void mock_unlock(void) { pthread_mutex_unlock(&mock_engine.lock); }

/* What a host thread waits for. `needs` says whether the end of the wait depends on the next task of a stream
 * (NULL: on none for certain), `first` is the stream to run first, `ended` gives the virtual time of the end (NULL:
 * now). One that `serves` waits for what other threads give it: while there are some its time-out is real. */
typedef struct mock_wait_for {
    bool (*ready)(void *what);
    bool (*needs)(void *what, const mock_stream *s);
    void *what;
    mock_stream *first;
    uint64_t (*ended)(void *what);
    bool serves;
} mock_wait_for;

/* A position in a stream's queue, as a thing to wait for. What the stream says afterwards counts only while
 * it is the same one. */
typedef struct mock_target {
    mock_stream *stream;
    uint64_t seq;
    uint32_t aborts; /* of the stream, when the wait began */
    uint64_t serial; /* likewise */
    const mock_event *event; /* whose record it is, NULL: the stream's last task */
} mock_target;

static inline bool mock_target_lives(const mock_target *t) { return t->stream->serial == t->serial; }

/* Gives a thread without a context its own. */
typedef mock_ctx *mock_binder(void);
/* Runs a kernel instead of the engine, and looks at it. */
typedef aclError mock_watcher(mock_task *t, const struct mock_stream *s, uint32_t graph);

#endif
