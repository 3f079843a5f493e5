/* Contexts, streams, events and notifies, as the engine sees them. */
#ifndef MOCK_ENGINE_OBJECTS_H_
#define MOCK_ENGINE_OBJECTS_H_

#include "base/base.h"
#include "engine/task.h"
#include "races/races.h"

typedef struct mock_ctx {
    void *handle; /* NULL while dead */
    uint64_t serial;
    int32_t device;
    bool primary;
    bool in_callback; /* host functions of one context run one at a time */
    mock_link callback_waiters;
    mock_link streams;
    mock_link graphs;
    mock_link all;
    struct mock_stream *default_stream;
    int64_t options[4];
    bool option_set[4];
    struct mock_ctx *next_free;
} mock_ctx;

/* A capture that goes on, as far as others must know of it. */
typedef struct mock_capture {
    mock_link active; /* mock_captures */
    mock_ctx *ctx;
    aclmdlRICaptureMode mode;
    uint64_t owner; /* its thread */
    bool invalidated;
} mock_capture;

/* The queue of one stream: 2,013 of its 2,048 entries are for tasks (implementation of the open runtime); a
 * full one makes the submitting call wait (own choice: nothing names a code). */
#define MOCK_QUEUE_DEPTH 2048u
#define MOCK_QUEUE_TASKS 2013u
/* A process with its default stream and one more has 2,045 left (observed: host_notify). The guide names
 * 1,984 streams a device. engine/quota.c counts. */
#define MOCK_STREAM_LIMIT 2047u
#define MOCK_QUOTA_DEVICES 16

typedef struct mock_stream {
    void *handle; /* NULL while dead */
    uint64_t serial;
    mock_ctx *ctx;
    int32_t id;
    uint32_t priority, flags;
    bool is_default;
    atomic_bool held;
    bool running;  /* a host thread executes it */
    bool blocked;  /* its first task waits for something */
    bool stopped;  /* STOP_ON_FAILURE met a failure */
    uint32_t dropping; /* threads that end its work: the running thread stops */
    bool again;    /* its replay goes round in a loop and lets others run */
    bool stop_on_failure;
    bool overflow_switch, cache_op_info;
    uint32_t custom_tag;
    aclError error; /* latest unreported device error */
    aclError stop_error;
    /* The first task waits with a time-out (engine/deadline.c). */
    bool timed, timed_out;
    uint64_t deadline_seq, deadline_ns, real_deadline_ns;
    aclError abort_code; /* what waits that were under way during an abort give */
    uint32_t aborts;
    uint64_t abort_mark; /* of the device, that reached it last */
    uint64_t base; /* `tail` at its creation: ids of tasks count from there */
    aclrtFloatOverflowMode saturation;
    mock_task *ring;
    _Atomic uint64_t done;    /* tasks finished; never goes back, also not when the object is reused */
    uint64_t tail;            /* tasks queued */
    mock_link in_context;     /* ctx->streams */
    mock_link in_queue;       /* engine.runnable, or the waiter list of what blocks it */
    mock_link waiters;        /* streams whose first task waits for a record on this one */
    struct mock_graph *graph; /* capturing, or bound to an explicitly built graph */
    uint16_t chain;
    bool bound, group_left; /* the end of a capture met an open task group of it */
    struct mock_group *update; /* between TaskUpdateBegin and End */
    uint32_t update_next;
    uint64_t report_thread; /* pthread id of the subscriber, 0 for none */
    bool host_funcs;        /* used with aclrtLaunchHostFunc */
    bool report_host;       /* the subscriber runs host functions, not callbacks */
    uint32_t cube_limit, vector_limit;
    uint64_t time_ns; /* when what it executed ends, on the virtual clock: may lie ahead of it */
    _Atomic(mock_racer *) racer; /* NULL until it has work while races are looked for */
    struct mock_stream *next_free;
} mock_stream;

static inline bool mock_capturing(const mock_stream *s) { return s->graph != NULL && !s->bound; }

typedef enum mock_event_family {
    MOCK_EVENT_EX,
    MOCK_EVENT_PLAIN,
    MOCK_EVENT_FLAGGED,
    MOCK_EVENT_OUTSIDE,
    MOCK_EVENT_IPC
} mock_event_family;

typedef struct mock_event {
    void *handle;
    uint32_t refs; /* the handle, and every queued or captured task that names it */
    uint32_t id, flags;
    mock_event_family family;
    mock_ctx *ctx;
    mock_stream *stream; /* latest record, NULL for none */
    uint64_t seq, stream_serial;
    struct mock_point *point; /* the latest record stands inside a replay: instead of stream and seq */
    uint64_t time_ns;
    uint64_t ends_ns; /* of its stream when it was recorded: `time_ns` there */
    bool timed;
    bool latch;
    bool has_id;
    uint64_t waits_queued, waits_done;
    uint8_t record_use, wait_use; /* flag + 1 of the first flagged record or wait: it sticks to the event */
    mock_link waiters;            /* streams blocked on the latch */
    struct mock_graph *graph;     /* latest record was captured in it (valid while it captures) */
    uint64_t graph_serial;
    uint32_t graph_record;
    bool in_model; /* the latest record went into a bound stream */
    bool stored;   /* into one that keeps its tasks and is bound to nothing: it never comes */
    struct mock_shared *shared; /* of an event between processes */
    mock_mark *mark;   /* of the latest record */
    mock_mark *passed; /* of the records that set the latch */
    mock_mark *waited; /* of the waits that are done */
    struct mock_event *next_free;
} mock_event;

/* Whether streams may wait for it: external, or made with ACL_EVENT_SYNC; of the Ex kind also with 4, which has no name
 * (observed: sequences). */
static inline bool mock_event_waitable(const mock_event *e) {
    if (e->family == MOCK_EVENT_OUTSIDE || (e->flags & ACL_EVENT_SYNC) != 0) return true;
    return e->family == MOCK_EVENT_EX && (e->flags & 4u) != 0;
}

/* Whether it was ever recorded outside of a capture. */
static inline bool mock_has_record(const mock_event *e) { return e->stream != NULL || e->point != NULL; }

typedef struct mock_notify {
    void *handle;
    uint32_t refs, id;
    bool set, device_only;
    mock_link waiters;
    struct mock_shared *shared; /* exported or imported: instead of `set` */
    mock_mark *mark;            /* of the records since the last wait */
    struct mock_notify *next_free;
} mock_notify;

#endif
