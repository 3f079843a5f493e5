/* Tasks: what a stream is told to do, one cache line each. */
#ifndef MOCK_ENGINE_TASK_H_
#define MOCK_ENGINE_TASK_H_

#include "base/base.h"

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
    MOCK_TASK_OUTSIDE, /* what it waits for other processes bring about */
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
    uint32_t told;         /* when it was queued, for a profile: of mock_told */
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
            struct mock_mark *mark; /* of the record, NULL while races are not looked for */
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
            const struct mock_outside *how;
            void *what; /* owned */
        } outside;
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

/* A task that does its work in steps, between which it waits for other threads or processes. With the engine lock,
 * which a step may drop; a step that gives MOCK_BLOCKED is repeated when `ready` says so. */
typedef struct mock_outside {
    mock_outcome (*step)(struct mock_stream *s, mock_task *t);
    bool (*ready)(void *what);
    void (*drop)(void *what);
} mock_outside;

#endif
