/* The internals that the runtime part shares: objects, the engine lock and the small helpers of every call.
 *
 * One lock, `mock_engine.lock`, guards every object here. It is never held while a task runs, a callback runs
 * or a host thread waits. Memory (memory/memory.h) and handles have their own leaf locks. Objects of one kind are
 * type-stable: a destroyed one returns to a free list and is never unmapped, so a stale pointer inside the
 * engine is harmless.
 *
 * A rule of the mock carries its source in brackets:
 * (observed: group) - recorded steps of the real runtime, tests/observed/observed.tsv, by group name;
 * (observed, not recorded) - seen there too, but no step was kept;
 * (header: name) - the public headers; (guide: chapter, function) - the public documentation of CANN;
 * (implementation of the open runtime) - read in the sources of the open-source runtime 9.1.0;
 * (own choice: why) - none of them says it, or the mock differs on purpose.
 * Null and zero arguments are judged by mock_null, handles by mock_handle_get, the missing context by
 * mock_no_context; calls that only use these need no further source. */
#ifndef MOCK_CORE_H_
#define MOCK_CORE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "acl/acl.h"
#include "engine/engine.h"
#include "base/entry.h"
#include "mock_acl.h"

#define MOCK_EXPORT __attribute__((visibility("default")))
#define MOCK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define MOCK_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* (own choice: more devices than a server has) */
#define MOCK_MAX_DEVICES 16
/* Virtual time of one task (own choice: a wait never depends on the speed of the host). */
#define MOCK_TASK_NS 1000
#define MOCK_FOREVER (-1)

/* ---- intrusive circular lists ---- */
typedef struct mock_link {
    struct mock_link *prev, *next;
} mock_link;

static inline void mock_list_init(mock_link *l) { l->prev = l->next = l; }
static inline bool mock_list_empty(const mock_link *l) { return l->next == l; }
static inline void mock_list_remove(mock_link *l) {
    l->prev->next = l->next;
    l->next->prev = l->prev;
    mock_list_init(l);
}
static inline void mock_list_push(mock_link *head, mock_link *l) {
    l->prev = head->prev;
    l->next = head;
    head->prev->next = l;
    head->prev = l;
}
#define MOCK_OWNER(link, type, field) ((type *)(void *)((char *)(link) - offsetof(type, field)))

/* ---- handles ---- */
typedef enum mock_kind {
    MOCK_CONTEXT = 1,
    MOCK_STREAM,
    MOCK_EVENT,
    MOCK_NOTIFY,
    MOCK_GRAPH,
    MOCK_TASKGRP,
    MOCK_NODE,
    MOCK_COND,
    MOCK_LABEL,
    MOCK_CHAIN,
    MOCK_POOL,
    MOCK_BINARY_TEXT,
    MOCK_BINARY,
    MOCK_FUNCTION,
    MOCK_BUFFER,
    MOCK_CORE_GROUP,
    MOCK_COUNT_NOTIFY,
    MOCK_LABEL_LIST,
    MOCK_PHYSICAL,
    MOCK_ALLOCATOR,
    MOCK_THING, /* of the libraries around the runtime, base/things.h */
    MOCK_OBJECT_FIRST /* MOCK_OBJECT_KINDS kinds of host-side objects follow */
} mock_kind;

void *mock_handle_new(mock_kind kind, void *object);
void *mock_handle_get(mock_kind kind, const void *handle);
void *mock_handle_take(mock_kind kind, const void *handle);
uint64_t mock_handle_count(mock_kind kind);
/* Visits live objects of a kind; `visit` may take handles. Only while nothing else runs. */
void mock_handle_each(mock_kind kind, void (*visit)(void *));

/* ---- tasks ---- */
/* The order matters: up to MOCK_TASK_WORK a task is a plain function that runs without the lock. */
typedef enum mock_task_kind {
    MOCK_TASK_KERNEL, /* run(arg), arg owned, with core limits */
    MOCK_TASK_WORK,   /* run(&payload) */
    MOCK_TASK_RECORD,
    MOCK_TASK_WAIT,
    MOCK_TASK_LATCH_SET,
    MOCK_TASK_LATCH_WAIT,
    MOCK_TASK_LATCH_RESET,
    MOCK_TASK_NOTIFY_SET,
    MOCK_TASK_NOTIFY_WAIT,
    MOCK_TASK_VALUE_WAIT,
    MOCK_TASK_HOST,
    MOCK_TASK_REPORT,
    MOCK_TASK_GRAPH,
    MOCK_TASK_REPLACE,
    MOCK_TASK_RELEASE,
    MOCK_TASK_POINT_WAIT,
    MOCK_TASK_EXTERNAL_WAIT, /* these two in graphs only */
    MOCK_TASK_EXTERNAL_RECORD,
    MOCK_TASK_COUNT_SET, /* of a counting notify: a record or a reset */
    MOCK_TASK_COUNT_WAIT,
    MOCK_TASK_SHARED_RECORD, /* of an event between processes */
    MOCK_TASK_SHARED_WAIT,
    MOCK_TASK_COND, /* these only in graphs too */
    MOCK_TASK_LABEL,
    MOCK_TASK_BRANCH,
    MOCK_TASK_KINDS
} mock_task_kind;

struct mock_stream;
struct mock_event;
struct mock_notify;
struct mock_graph;
struct mock_point;
struct mock_external;
struct mock_shared;
struct mock_count;
struct mock_cond;
struct mock_branch;

/* One row for a plain copy. */
typedef struct mock_copy {
    char *dst;
    const char *src;
    uint64_t dst_pitch, src_pitch, width, height;
} mock_copy;

typedef struct mock_fill {
    char *dst;
    uint64_t count;
    int32_t value;
    bool words;
} mock_fill;

typedef struct mock_reduce {
    void *dst;
    const void *src;
    uint64_t bytes;
    uint8_t kind, type; /* aclrtReduceKind, aclDataType */
} mock_reduce;

/* Addresses that are read from device memory when the task runs. */
typedef struct mock_indirect {
    void *dst, *src; /* where the addresses stand */
    uint64_t dst_offset, src_offset, dst_max, count;
} mock_indirect;

typedef struct mock_migration {
    const void *address;
    uint64_t size;
    int32_t type, id; /* aclrtMemManagedLocation */
} mock_migration;

typedef struct mock_cmo {
    void *src;
    uint32_t size; /* larger sizes wrap (implementation of the open runtime) */
} mock_cmo;

typedef struct mock_value {
    void *address;
    uint64_t value;
    uint32_t flag;
} mock_value;

typedef struct mock_kernel {
    void *arg;
    uint16_t cube, vector; /* the core limits of its launch */
} mock_kernel;

typedef struct mock_task {
    const mock_task_ops *ops;
    uint8_t kind;
    uint8_t type; /* aclmdlRITaskType of a captured task */
    uint16_t chain;
    int32_t fail; /* injected device error, 0 for none */
    union {
        mock_kernel kernel;
        struct {
            struct mock_stream *stream;
            uint64_t seq;
            struct mock_event *event;
            uint32_t seconds; /* time-out, 0 for none; likewise in what follows */
        } wait; /* also a record: its own stream and sequence number */
        struct {
            struct mock_event *event;
            uint32_t seconds;
        } latch;
        struct {
            struct mock_notify *notify;
            uint32_t seconds;
        } notify;
        struct {
            struct mock_count *count;
            uint32_t value, seconds;
            uint8_t mode;
            bool clear;
        } count;
        struct {
            struct mock_event *event;
            uint64_t ticket;
            uint32_t seconds;
            bool over; /* a record that was executed */
        } shared;
        mock_value value;
        mock_copy copy;
        mock_fill fill;
        mock_reduce reduce;
        mock_indirect indirect;
        mock_migration migration;
        mock_cmo cmo;
        struct {
            void (*fn)(void *);
            void *user;
            struct mock_report *report;
            uint64_t thread;
            bool blocking, of_host; /* a host function for a subscribed thread */
        } host;
        struct {
            struct mock_graph *graph;
            struct mock_stream *stream; /* set while its replay is under way */
            struct mock_external *externals;
        } graph;
        struct {
            struct mock_point *point;
            struct mock_event *event;
            uint32_t seconds;
        } point;
        struct {
            struct mock_event *event;
            uint32_t index;
        } external;
        struct mock_cond *cond;
        struct mock_branch *branch;
        struct {
            struct mock_graph *graph;
            uint64_t serial;
            const mock_task_ops *ops;
            mock_kernel kernel;
            uint32_t node;
            int32_t fail; /* of the new kernel */
        } replace;
    } u;
} mock_task;
_Static_assert(sizeof(mock_task) == 64, "a task fills a cache line");

typedef enum mock_outcome { MOCK_DONE, MOCK_BLOCKED } mock_outcome;

/* ---- objects ---- */
typedef struct mock_ctx {
    void *handle; /* NULL while dead */
    uint64_t serial;
    int32_t device;
    bool primary;
    bool in_callback; /* host functions of one context run one at a time */
    bool stop_on_failure;
    mock_link callback_waiters;
    mock_link streams;
    mock_link graphs;
    mock_link all;
    struct mock_stream *default_stream;
    int64_t options[4];
    bool option_set[4];
    struct mock_ctx *next_free;
} mock_ctx;

/* The queue of one stream: 2,013 of its 2,048 entries are for tasks (implementation of the open runtime); a
 * full one makes the submitting call wait (own choice: nothing names a code). */
#define MOCK_QUEUE_DEPTH 2048u
#define MOCK_QUEUE_TASKS 2013u
/* A process with its default stream and one more has 2,045 left (observed: host_notify). The guide names
 * 1,984 streams a device. engine/quota.c counts. */
#define MOCK_STREAM_LIMIT 2047u

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
    bool bound;
    struct mock_group *update; /* between TaskUpdateBegin and End */
    uint32_t update_next;
    uint64_t report_thread; /* pthread id of the subscriber, 0 for none */
    bool host_funcs;        /* used with aclrtLaunchHostFunc */
    bool report_host;       /* the subscriber runs host functions, not callbacks */
    uint32_t cube_limit, vector_limit;
    struct mock_stream *next_free;
} mock_stream;

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
    struct mock_shared *shared; /* of an event between processes */
    struct mock_event *next_free;
} mock_event;

typedef struct mock_notify {
    void *handle;
    uint32_t refs, id;
    bool set, device_only;
    mock_link waiters;
    struct mock_shared *shared; /* exported or imported: instead of `set` */
    struct mock_notify *next_free;
} mock_notify;

/* ---- the engine ---- */
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
    _Atomic uint32_t sleeping; /* host threads asleep in `changed` */
    uint32_t workers, workers_idle;
    uint64_t loop_turns; /* how often a loop in a replay let others run */
    bool eager_workers; /* MOCK_ACL_WORKERS: woken by every submission */
    bool paused;        /* a reset is going on */
    uint32_t streams;   /* live, default streams included */
    uint64_t cmo_tasks, cmo_bytes;
    bool task_faults;
} mock_engine_state;
extern mock_engine_state mock_engine;

static inline void mock_lock(void) { pthread_mutex_lock(&mock_engine.lock); }
static inline void mock_unlock(void) { pthread_mutex_unlock(&mock_engine.lock); }

/* What a host thread waits for. `needs` says whether the end of the wait depends on the next task of a stream
 * (NULL: on none for certain), `first` is the stream to run first. */
typedef struct mock_wait_for {
    bool (*ready)(void *what);
    bool (*needs)(void *what, const mock_stream *s);
    void *what;
    mock_stream *first;
} mock_wait_for;
bool mock_needs_all(void *what, const mock_stream *s);

/* Host threads that wait run ready work themselves. Called with the lock, returns with it; `timeout_ns`
 * negative waits without limit. 0, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, or an error when called from inside a
 * task. */
aclError mock_wait(const mock_wait_for *w, int64_t timeout_ns);
/* Ends all queued work of a stream: runs what can run, then drops the rest. The lock is dropped meanwhile, so
 * another thread may free the stream: its serial tells. */
void mock_drain(mock_stream *s);
/* A position in a stream's queue, as a thing to wait for. What the stream says afterwards counts only while
 * it is the same one. */
typedef struct mock_target {
    mock_stream *stream;
    uint64_t seq;
    uint32_t aborts; /* of the stream, when the wait began */
    uint64_t serial; /* likewise */
} mock_target;
mock_target mock_target_of(mock_stream *s, uint64_t seq);
static inline bool mock_target_lives(const mock_target *t) { return t->stream->serial == t->serial; }
aclError mock_wait_target(mock_target *t, int64_t timeout_ns);

void mock_drop_queue(mock_stream *s);
/* Runs some ready work on the calling thread; false when there is none it may run. */
bool mock_step_runnable(const mock_wait_for *w);
/* Runs all that can run, and waits for what other threads have in hand. */
void mock_run_all(void);
void mock_make_runnable(mock_stream *s);
void mock_block_on(mock_stream *s, mock_link *waiters);
void mock_wake(mock_stream *s);
void mock_wake_all(mock_link *waiters);
void mock_wake_reached(mock_stream *source);
void mock_changed(void);
void mock_poll_wakes_worker(void);
void mock_start_workers(void);
void mock_memory_changed(void);
/* The error that a wait for the stream reports, with its text. */
aclError mock_stream_take_error(mock_stream *s);
aclError mock_stream_finish(mock_stream *s); /* with the lock; waits without limit */
aclError mock_synchronize_current(void);

/* Room for one more task; drops the lock while the queue is full, so the stream is checked again. */
aclError mock_room(mock_stream *s);
void mock_push(mock_stream *s, const mock_task *t);
/* Queues or records the task and takes over what it owns, also on failure. With the lock. */
aclError mock_submit(mock_stream *s, mock_task *t);
void mock_task_release(mock_task *t);
int32_t mock_task_fault(const char *name);
mock_outcome mock_task_step(mock_stream *s, mock_task *t);

/* The core limits of what the calling thread launches. */
void mock_limits_in_use(const mock_ctx *ctx, mock_kernel *kernel);

/* ---- threads and errors ---- */
typedef struct mock_thread {
    uint64_t epoch, id;
    mock_ctx *ctx;
    uint64_t ctx_serial;
    uint32_t in_task;
    aclmdlRICaptureMode exchange;
    aclError last_error;
    char *text;
    size_t text_size;
    char *shown;
    uint32_t last_task; /* id of the last task that it submitted, 0 for none */
    uint64_t last_graph; /* serial of the graph that took it, 0 for none */
    uint32_t tid;
    int32_t device;
} mock_thread;
mock_thread *mock_self(void);
/* Threads of the program that have used the library and live. */
uint32_t mock_threads_alive(void);
/* Calls of this thread are those of a worker of the mock itself. */
void mock_thread_is_worker(void);
extern _Atomic uint64_t mock_epoch;

/* Sets text and, for codes of the runtime layer, the thread's last error; returns `code`. */
aclError mock_fail(aclError code, const char *id, const char *format, ...) MOCK_PRINTF(3, 4);
aclError mock_null(const char *what);
/* The calling thread's live context, or NULL after reporting 107002. */
mock_ctx *mock_current(void);
mock_ctx *mock_current_quiet(void);
aclError mock_no_context(void);
/* Whether MOCK_ACL_STRICT has `doc`: then rules follow the documentation where the implementation differs. */
int mock_strict_doc(void);

/* NULL is the default stream. `submit` streams must belong to the current context. */
aclError mock_stream_to_submit(aclrtStream handle, mock_stream **out);
aclError mock_stream_to_wait(aclrtStream handle, mock_stream **out);
mock_event *mock_event_get(const void *handle);
void mock_event_unref(mock_event *e);
void mock_notify_unref(mock_notify *n);
bool mock_recorded(const mock_event *e);
/* Whether it was ever recorded outside of a capture. */
bool mock_has_record(const mock_event *e);

mock_stream *mock_stream_new(mock_ctx *ctx, uint32_t priority, uint32_t flags, bool is_default);
void mock_stream_free(mock_stream *s);
void mock_context_teardown(mock_ctx *ctx, bool force);
uint32_t mock_device_count(void);
void mock_unsubscribe(mock_stream *s);
/* What a wait reports when the stream was aborted meanwhile. */
aclError mock_aborted(const mock_stream *s);

/* ---- capture (graphs/capture.c) ---- */
/* The task on a capturing or bound stream; takes over what it owns. */
aclError mock_capture_task(mock_stream *s, mock_task *t);
/* 107030 or `code` when the capture modes forbid the calling thread a synchronous call, else 0. */
aclError mock_capture_forbids(mock_ctx *ctx, aclError code, const char *what);
bool mock_event_captured(const mock_event *e);
bool mock_capturing(const mock_stream *s);
aclError mock_captured_error(const char *call);
/* The same for a stream that may capture; MOCK_ACL_STRICT=doc: its capture is invalid from now on. */
aclError mock_captured_illegal(mock_stream *s, const char *call);
void mock_capture_spoil(struct mock_graph *g);
aclError mock_update_task(mock_stream *s, mock_task *t);
void mock_update_leave(mock_stream *s);
void mock_graph_detach(mock_stream *s);

#endif
