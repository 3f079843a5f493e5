/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Control of the mock. A program that calls none of this behaves as with AscendCL. Every function may be called from
 * any thread. Functions that can fail return 0 or a negative number and change nothing on failure. */
#ifndef MOCK_ACL_H_
#define MOCK_ACL_H_

#include <stddef.h>
#include <stdint.h>
#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOCK_ACL_BAD_ARGUMENT (-1)
#define MOCK_ACL_BUSY (-2)

/* "mock-acl x.y.z". */
const char *mock_acl_version(void);

/* The address of an exported AscendCL function by its C name, NULL for a name the mock does not have. */
void *mock_acl_lookup(const char *name);

/* A fresh process state: releases every hold, runs or drops queued work, ends every capture, destroys every object,
 * and clears counters, failures, clock, error texts and the initialisation. Handles from before are stale after it.
 * MOCK_ACL_BUSY while another thread is inside a call that waits. */
int mock_acl_reset(void);

/* A gate: work queued on `stream` (the device side of it) does not start while held. A task already running ends. */
int mock_acl_hold_stream(aclrtStream stream);
int mock_acl_release_stream(aclrtStream stream);
/* The same by stream id, -1 for all streams when releasing. */
int mock_acl_hold_stream_id(int32_t id);
int mock_acl_release_stream_id(int32_t id);

/* Queued work that no thread waits for starts by itself after a moment, on a thread of the library. With `on` it does
 * not, so that a test sees a queue as it left it: work runs when a thread waits or polls for it. Stays so over resets.
 * Returns 1 when it stood still before, else 0. */
int mock_acl_stand_still(int on);

/* Runs everything that can run on any stream, on the calling thread, and waits for what other threads are running;
 * returns the number of tasks run meanwhile. */
uint64_t mock_acl_run_until_idle(void);

/* How many calls wait just now for room in the queue of a stream, so that a test knows that a queue is full. */
uint32_t mock_acl_waiting_for_room(void);

/* The virtual device clock, in nanoseconds. Every executed task takes 1,000 ns of it. A wait with a time-out whose
 * stream cannot make progress moves the clock to its deadline and times out at once. A kernel that says how long it
 * takes keeps its stream busy for so long; the clock follows when a thread waits for the stream or sees it done, and a
 * wait whose time-out lies before times out. Advancing stops at 2^63 - 1. */
uint64_t mock_acl_now_ns(void);
void mock_acl_advance_ns(uint64_t ns);

/* How often an exported function was called since the last reset; 0 for an unknown name. */
uint64_t mock_acl_calls(const char *name);

/* A log of the calls of exported functions by all threads, those of the mock included, in the order in which they begin.
 * Turning it on or off empties it, a reset turns it off; it holds 1,048,576 at most. */
void mock_acl_log_calls(int on);
uint64_t mock_acl_call_count(void);
/* Set `struct_size` before the call. MOCK_ACL_BAD_ARGUMENT for an index beyond the log. */
#define MOCK_ACL_CALL_GIVEN 8
typedef struct mock_acl_call {
    size_t struct_size;
    const char *function; /* its C name, a constant */
    uint64_t thread;      /* a number that only calls of the same thread have */
    int32_t injected;     /* the code of mock_acl_fail that it returned, 0 for none */
    uint32_t given_count; /* how many it was given; the first of them follow */
    /* Streams, events, contexts, graphs and their like, and addresses of device and pinned memory, in the order of the
     * parameters, NULL as it was given; of the first phase of an operator the memory of its operands. Calls of models,
     * profiling and other libraries beside the runtime have none. */
    const void *given[MOCK_ACL_CALL_GIVEN];
    const void *gave; /* the handle or the memory that it made, NULL for none and while it runs */
} mock_acl_call;
int mock_acl_call_at(uint64_t index, mock_acl_call *call);

/* Live objects. Set `struct_size` before the call. Default streams and contexts are not counted; each sub graph of
 * a condition is a graph. */
typedef struct mock_acl_live {
    size_t struct_size;
    uint64_t contexts;
    uint64_t streams;
    uint64_t events;
    uint64_t graphs;
    uint64_t device_allocations;
    uint64_t device_bytes;
    uint64_t pinned_allocations;
    uint64_t pinned_bytes;
    uint64_t tensors;
    uint64_t scalars;
    uint64_t arrays;
    uint64_t lists;
    uint64_t executors;
    uint64_t binaries; /* of own kernels */
    uint64_t buffers;  /* of aclrtAllocBuf */
    uint64_t library_objects; /* descriptors, datasets, models, channels, queues, labels, stamps and their like */
    uint64_t stream_configs;  /* of aclrtCreateStreamConfigHandle */
} mock_acl_live;
int mock_acl_live_handles(mock_acl_live *live);

/* The `nth` call (1 is the next one) of the function `name` from now on does nothing and returns `code`; a function
 * that returns a pointer gives NULL. MOCK_ACL_BAD_ARGUMENT for an unknown name, nth 0 or code 0. */
int mock_acl_fail(const char *name, uint64_t nth, int code);
/* The `nth` task queued from now on by the call `name` fails on the device with `code`. */
int mock_acl_fail_task(const char *name, uint64_t nth, int code);
void mock_acl_clear_failures(void);

/* How many streams and events the process may have; 0 gives the number of the start back, as does a reset. Below what
 * is in use nothing new is made until enough is gone. MOCK_ACL_BAD_ARGUMENT above 2,047 streams or 65,536 events. */
int mock_acl_limit_streams(uint32_t streams);
int mock_acl_limit_events(uint32_t events);

/* The size of L2 that the device reports; 0 gives the card's 192 MiB back, as does a reset. While one is set,
 * aclrtGetDeviceInfo has it as well as aclGetDeviceCapability. MOCK_ACL_BAD_ARGUMENT above 2^63 - 1. */
int mock_acl_set_l2_bytes(uint64_t bytes);

/* Ranges of a device's memory with errors that it cannot correct (UCE), for aclrtGetMemUceInfo and, while the latest fault
 * is one of memory, aclrtGetErrorVerbose, until they are repaired, set anew or reset. MOCK_ACL_BAD_ARGUMENT for more than
 * 128 of them. */
int mock_acl_set_memory_errors(int32_t device, void *const *addresses, const size_t *sizes, size_t count);

/* A log of the kernels that operators launched, in the order in which they start to run; a kernel in a graph counts in
 * every replay. Turning it on or off empties it, a reset turns it off; it holds 1,048,576 at most. */
void mock_acl_log_launches(int on);
uint64_t mock_acl_launch_count(void);
/* Set `struct_size` before the call. The core limits are those that the launching thread had in use when it launched, or
 * captured, the operator. MOCK_ACL_BAD_ARGUMENT for an index beyond the log. */
typedef struct mock_acl_launch {
    size_t struct_size;
    const char *function; /* its C name, a constant */
    uint32_t cube_cores;
    uint32_t vector_cores;
    uint32_t graph_id; /* as of aclmdlRIGetId, 0 outside of a graph */
    int32_t stream_id; /* of the stream it runs on; in a graph the one of the replay's launch */
} mock_acl_launch;
int mock_acl_launch_at(uint64_t index, mock_acl_launch *launch);

/* Looks for accesses to memory that nothing orders: of tasks on different streams, or of a task and a call of the host,
 * of which one writes. REPORT says each pair once on standard error and counts it, FAIL does the same and lets the later
 * task fail as for a bad address. Work that is queued already is not looked at. Any change, and the same mode again,
 * forgets what was seen and reported; a reset does, too, and leaves the mode. Off unless MOCK_ACL_RACES says otherwise.
 * Returns the mode before, MOCK_ACL_BAD_ARGUMENT for another mode, MOCK_ACL_BUSY in a child of a fork that may not use
 * the device. */
#define MOCK_ACL_RACES_OFF 0
#define MOCK_ACL_RACES_REPORT 1
#define MOCK_ACL_RACES_FAIL 2
int mock_acl_check_races(int mode);
/* How many pairs were found: each has two accesses, the first of which was executed first. 4,096 at most. */
uint64_t mock_acl_race_count(void);
/* Set `struct_size` before the call. MOCK_ACL_BAD_ARGUMENT for an index beyond the pairs. */
typedef struct mock_acl_race {
    size_t struct_size;
    const char *first; /* C names of the functions that queued the tasks, or were called: constants */
    const char *second;
    int32_t first_stream; /* ids, -1 for a call of the host */
    int32_t second_stream;
    uint64_t first_task; /* the how manieth task of the stream since it was made, or node of the graph; 0 for a call */
    uint64_t second_task;
    uint32_t first_graph; /* as of aclmdlRIGetId, 0 outside of a graph */
    uint32_t second_graph;
    int32_t first_writes; /* 1, or 0 for a read */
    int32_t second_writes;
    const void *address; /* of the bytes that both touched, the first time */
    uint64_t bytes;
    const void *block; /* the live allocation around them, NULL for none */
    uint64_t block_bytes;
    uint64_t offset;
    uint64_t times; /* how often such a pair was found */
} mock_acl_race;
int mock_acl_race_at(uint64_t index, mock_acl_race *race);
/* The same in words, of several lines, as on standard error. Copies what fits into `size` bytes, ended with a zero;
 * returns the length of the whole, 0 for an index beyond the pairs. */
uint64_t mock_acl_race_text(uint64_t index, char *text, uint64_t size);

/* Cache maintenance that streams have executed: tasks and bytes, since the last reset. */
typedef struct mock_acl_cmo_totals {
    size_t struct_size;
    uint64_t tasks;
    uint64_t bytes;
} mock_acl_cmo_totals;
int mock_acl_cmo(mock_acl_cmo_totals *totals);

/* What the compiler for host and device registers on a card: `host` stands for the kernel or the variable of that
 * name in a loaded binary, for aclrtGetFuncBySymbol, aclrtGetSymbolAddress and the calls beside them.
 * MOCK_ACL_BAD_ARGUMENT for null, no such binary or name, or an address that stands for something already. */
int mock_acl_register_symbol(void *binary, const void *host, const char *name);

#ifdef __cplusplus
}
#endif

#endif
