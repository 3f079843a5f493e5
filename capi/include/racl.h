/* racl: Ascend NPUs for C, C++ and other languages. MIT OR Apache-2.0.
 *
 * Made by cbindgen from capi/src; not edited by hand.
 *
 * Status. Functions that can fail return RACL_OK or a status; racl_last_error_message() and its like have the rest, for
 * the thread that made the call. A function that fails sets all its results to zero first, but for memory that data is
 * copied to. A place of a result that is not aligned for its type gives RACL_INVALID_ARGUMENT.
 * Of every function that takes such, what is NULL and must not be gives RACL_NULL_POINTER, a handle of what is gone
 * RACL_STALE_HANDLE, one of another kind RACL_WRONG_KIND, what is no handle RACL_FOREIGN_HANDLE, one in use elsewhere
 * RACL_BUSY, a struct of no version's size RACL_STRUCT_SIZE, and sizes, places, numbers and texts that do not fit
 * RACL_INVALID_ARGUMENT; what the AscendCL library refuses has the status of its reason, such as RACL_OUT_OF_MEMORY.
 *
 * Handles. A handle is a number in the shape of a pointer, and never points at memory. NULL, the handle of what is gone,
 * that of another kind, and any other pointer give a status; racl_..._free takes NULL, and does nothing. Every handle that
 * a function puts into a place is the caller's, who gives it back once: to racl_..._free, racl_..._close,
 * racl_builder_build() or racl_capture_end(). One that a callback is lent, such as the builder of a racl_build_callback, is
 * not: it ends with the call, and before that RACL_BUSY refuses its end. racl_..._ref gives a handle for an object of
 * other code, which racl_..._free leaves alone. What an object needs stays alive by itself: a stream may be freed before a graph that was captured on it.
 *
 * Threads. Every function may be called on every thread, unless it says otherwise. A handle that another thread frees
 * or, for graphs, host memory, host outputs, builders, executables, bindings and registries, uses at the same time gives
 * RACL_BUSY, and nothing is done; so does one that the calling thread is using, in a callback, and the end of one that
 * another thread is inside a call with, such as a wait. A callback may run on several threads at once, as where two
 * executables have one plan: it locks what it shares. A thread that is cancelled (pthread_cancel()) inside a function that
 * waits, reads, ends something or calls functions of the program goes on until that returns. Inside one that queues work
 * the process may end: those wait for room, racl_executable_run() calls foreign launches and waits for conditions, and the
 * first call of a thread may read files. racl_operator() is put off where index checks are on, which wait.
 *
 * Callbacks. A function that racl calls may be called on any thread, with no lock of racl held. Another number than 0
 * fails the work that called it. An exception of C++ must not leave one: it ends the process with a text that says so;
 * racl.hpp catches what functions throw that it is given. A panic of Rust that leaves one ends the process as well, since
 * libracl has a standard library of its own, to which it is foreign; it is caught where the crate racl-capi is part of a
 * program of Rust. longjmp() to a place inside the callback is its own affair; one that leaves it is undefined, since it
 * leaves out the frames of racl and of the AscendCL library behind it: locks and handles that they use stay used.
 * pthread_exit() in one ends the process. Where a callback has a release, that is called once, when nothing will call the
 * former any more; not when the function that was given both fails.
 *
 * Releases, and deleters of DLPack, are such functions too: an exception that leaves one ends the process.
 *
 * Calls of AscendCL. What returns before its work is done says so: work is queued on streams, runs and launches return
 * when they are submitted, and racl_..._synchronize, racl_..._wait and what reads to the host wait.
 *
 * Texts are UTF-8 and end with a zero. One that is copied and has too little room ends before the first character that
 * has no room whole. Paths are bytes, as the system has them.
 *
 * A list of more than 1048576 elements gives RACL_INVALID_ARGUMENT, before any of it is looked at and with nothing written
 * to it: that is a count that is none, such as (uint32_t)-1. Data, whose size is one of bytes, may be larger.
 *
 * Structs that may grow begin with their size: set it to sizeof the struct, and the rest to zero. */

#ifndef RACL_H
#define RACL_H



#include <stddef.h>
#include <stdint.h>


/**
 * Given once, when an executable is made, and shared with it from then on.
 */
#define RACL_INPUT_FROZEN 0

/**
 * Memory of the executable, written in place between runs.
 */
#define RACL_INPUT_STATIC 1

/**
 * Bound for each run, and copied to memory of the executable.
 */
#define RACL_INPUT_COPIED 2

/**
 * Bound for each run and used where it is; another graph is captured for each of its addresses.
 */
#define RACL_INPUT_TRACKED 3

/**
 * The same, but a run with another address fails.
 */
#define RACL_INPUT_TRACKED_FAIL 4

/**
 * Bound for each run and used where it is; operators that use it are updated inside the graph when it moves.
 */
#define RACL_INPUT_UPDATABLE 5

/**
 * Host memory, uploaded by each run.
 */
#define RACL_INPUT_HOST 6

/**
 * Streams as they were recorded.
 */
#define RACL_STREAMS_AS_RECORDED 0

/**
 * One stream: scopes are refused.
 */
#define RACL_STREAMS_SINGLE 1

/**
 * One stream: scopes are left out.
 */
#define RACL_STREAMS_COLLAPSED 2

/**
 * Plans of sizes that are known (1); else dynamic ones. It is a part of the key.
 */
#define RACL_CACHE_STATIC 1

/**
 * What stands in the way of caching is an error, instead of a plan that is not cached.
 */
#define RACL_CACHE_STRICT 2

/**
 * Plans that were loaded are built as well, and compared.
 */
#define RACL_CACHE_VERIFY 4

/**
 * The program has told all that `user` says of the plan, or it says nothing.
 */
#define RACL_COMPILE_IGNORE_USER 1

/**
 * Nothing was compiled.
 */
#define RACL_CACHE_NONE 0

/**
 * The plan came from disk.
 */
#define RACL_CACHE_HIT 1

/**
 * It was built and stored.
 */
#define RACL_CACHE_MISS 2

/**
 * What was stored was no good; it was built and stored anew.
 */
#define RACL_CACHE_REBUILT 3

/**
 * The function makes different plans under one key, and is not cached any more.
 */
#define RACL_CACHE_ABANDONED 4

/**
 * It could not be stored, or nothing tells it from others, see racl_build_callback.
 */
#define RACL_CACHE_UNCACHED 5

/**
 * There is no plan.
 */
#define RACL_CACHE_FAILED 6

/**
 * What there is of elements, in ascending order, each once.
 */
#define RACL_UNIQUE_ELEMENTS 0

/**
 * What there is of slices along a dimension, in ascending order, each once: that dimension is the first of what is
 * found.
 */
#define RACL_UNIQUE_SLICES 1

/**
 * Elements, but for those that equal the one before them, in the order of the value.
 */
#define RACL_UNIQUE_CONSECUTIVE 2

/**
 * Slices along a dimension, in the same way.
 */
#define RACL_UNIQUE_CONSECUTIVE_SLICES 3

/**
 * Blocking copies are refused on all threads while a capture is active.
 */
#define RACL_CAPTURE_GLOBAL 0

/**
 * They are refused on the thread that captures.
 */
#define RACL_CAPTURE_THREAD_LOCAL 1

/**
 * They are refused nowhere.
 */
#define RACL_CAPTURE_RELAXED 2

/**
 * The version of this header: major, minor, patch, each two digits.
 */
#define RACL_VERSION 100

/**
 * Each call of AscendCL asks first which context is current on its thread, and makes its own current again where other
 * code has changed it. It counts for all libraries of the process from then on.
 */
#define RACL_LIBRARY_VERIFY_CONTEXT 1

/**
 * Nothing.
 */
#define RACL_LOG_OFF 0

/**
 * What went wrong and nobody else says.
 */
#define RACL_LOG_ERROR 1

/**
 * What may be meant otherwise.
 */
#define RACL_LOG_WARN 2

/**
 * What happened.
 */
#define RACL_LOG_INFO 3

/**
 * More of it.
 */
#define RACL_LOG_DEBUG 4

/**
 * All of it.
 */
#define RACL_LOG_TRACE 5

/**
 * Nothing is looked for.
 */
#define RACL_MOCK_RACES_OFF 0

/**
 * Each pair is said once on standard error, and kept for racl_mock_races().
 */
#define RACL_MOCK_RACES_REPORT 1

/**
 * The same, and the later task of the pair fails.
 */
#define RACL_MOCK_RACES_FAIL 2

/**
 * How many of the values that a call was given are kept.
 */
#define RACL_MOCK_CALL_GIVEN 8

/**
 * A tensor, a scalar, a list or a text that may be left out, and is.
 */
#define RACL_ARG_NONE 0

/**
 * `data` is a racl_tensor.
 */
#define RACL_ARG_TENSOR 1

/**
 * `data` is a list of `count` racl_tensor *.
 */
#define RACL_ARG_TENSORS 2

/**
 * `data` is a list of `count` int64_t.
 */
#define RACL_ARG_INTS 3

/**
 * `data` is a list of `count` float.
 */
#define RACL_ARG_FLOATS 4

/**
 * `data` is a list of `count` bytes, 0 or 1.
 */
#define RACL_ARG_BOOLS 5

/**
 * `data` is a text with a zero at its end.
 */
#define RACL_ARG_TEXT 6

/**
 * `integer`; also for a float, or a scalar, which is an int64_t then.
 */
#define RACL_ARG_INT 7

/**
 * `real`; also for a scalar, which is a double then.
 */
#define RACL_ARG_FLOAT 8

/**
 * `integer`, 0 or 1; also for a scalar.
 */
#define RACL_ARG_BOOL 9

/**
 * `integer` is an aclDataType.
 */
#define RACL_ARG_TYPE 10

/**
 * A scalar that is a float: `real`.
 */
#define RACL_ARG_SCALAR_FLOAT 11

/**
 * A scalar that is an int32_t: `integer`.
 */
#define RACL_ARG_SCALAR_INT32 12

/**
 * `data` is a list of `count` racl_arg, each of them a number: RACL_ARG_INT, RACL_ARG_FLOAT, RACL_ARG_BOOL or
 * RACL_ARG_SCALAR_...
 */
#define RACL_ARG_SCALARS 13

/**
 * A pass is not used.
 */
#define RACL_PASS_OFF 0

/**
 * It changes the plan.
 */
#define RACL_PASS_ON 1

/**
 * It changes the plan, and what it made is compared with what it was given, on random numbers on the host.
 */
#define RACL_PASS_VERIFIED 2

/**
 * Foreign operators and host functions only compute: work around them may be put together.
 */
#define RACL_PASSES_FOREIGN_ONLY_COMPUTES 1

/**
 * Text, a line for each piece of work.
 */
#define RACL_DUMP_TEXT 0

/**
 * The same, with the place in the source of each.
 */
#define RACL_DUMP_TEXT_WITH_LINES 1

/**
 * A graph for Graphviz.
 */
#define RACL_DUMP_DOT 2

/**
 * JSON, with the memory plan, for values of the symbols.
 */
#define RACL_DUMP_JSON 3

/**
 * `integer` is a racl_value.
 */
#define RACL_ARG_VALUE 14

/**
 * `data` is a list of `count` racl_value.
 */
#define RACL_ARG_VALUES 15

/**
 * `data` is a racl_value *, which gets a new value: the result, of the type and shape that the operator gives it.
 */
#define RACL_ARG_RESULT 16

/**
 * `data` is a list of `count` racl_value, which get new values.
 */
#define RACL_ARG_RESULTS 17

/**
 * `integer` is a racl_dim, as an integer.
 */
#define RACL_ARG_DIM 18

/**
 * `data` is a list of `count` racl_dim, as a list of integers.
 */
#define RACL_ARG_DIMS 19

/**
 * Runs replay captured graphs, which are made as they are needed.
 */
#define RACL_RUN_CAPTURED 0

/**
 * Runs give the stream operator by operator.
 */
#define RACL_RUN_EAGER 1

/**
 * The graph that was used least recently makes room.
 */
#define RACL_FULL_EVICT 0

/**
 * The run is an eager one.
 */
#define RACL_FULL_EAGER 1

/**
 * The run fails: RACL_GRAPH_LIMIT.
 */
#define RACL_FULL_FAIL 2

/**
 * Each run captures anew.
 */
#define RACL_RUN_FORCE_RECAPTURE 1

/**
 * Runs look at frozen inputs that are bound, and fail when they moved: RACL_ADDRESS_CHANGED.
 */
#define RACL_RUN_CHECK_FROZEN 2

/**
 * Operators that use updatable inputs are planned again at each move, instead of getting other addresses alone.
 */
#define RACL_RUN_NO_ADDRESS_UPDATES 4

/**
 * It was done.
 */
#define RACL_OK 0

/**
 * A pointer is NULL that must not be.
 */
#define RACL_NULL_POINTER 1

/**
 * The handle of an object that is gone.
 */
#define RACL_STALE_HANDLE 2

/**
 * A pointer that is no handle of this library.
 */
#define RACL_FOREIGN_HANDLE 3

/**
 * The handle of another kind of object.
 */
#define RACL_WRONG_KIND 4

/**
 * Another thread uses the object, or work has it; nothing was done.
 */
#define RACL_BUSY 5

/**
 * A fault of racl, which was caught; the text has what it said.
 */
#define RACL_PANIC 6

/**
 * A struct whose size no version of it has, or with more than this version knows.
 */
#define RACL_STRUCT_SIZE 7

/**
 * As many handles as there can be.
 */
#define RACL_NO_HANDLES 8

/**
 * A call came before initialisation.
 */
#define RACL_NOT_INITIALIZED 100

/**
 * A second initialisation or finalisation.
 */
#define RACL_ALREADY_INITIALIZED 101

/**
 * An argument that is wrong in itself.
 */
#define RACL_INVALID_ARGUMENT 102

/**
 * A device number outside the machine's.
 */
#define RACL_INVALID_DEVICE 103

/**
 * No context on this thread, or an object used with another context than its own.
 */
#define RACL_WRONG_CONTEXT 104

/**
 * A null, destroyed or foreign handle of the runtime.
 */
#define RACL_INVALID_HANDLE 105

/**
 * Device or host memory ran out.
 */
#define RACL_OUT_OF_MEMORY 106

/**
 * Chip, driver or library does not have the feature.
 */
#define RACL_NOT_SUPPORTED 107

/**
 * A wait ended before the work did; it can be repeated.
 */
#define RACL_TIMEOUT 108

/**
 * The device failed or was reset.
 */
#define RACL_DEVICE_LOST 109

/**
 * An operator or copy failed on the device; a later synchronising call says so.
 */
#define RACL_DEVICE_FAULT 110

/**
 * Work was stopped on request.
 */
#define RACL_ABORTED 111

/**
 * A stream of a capture does not lead back to its origin.
 */
#define RACL_CAPTURE_UNJOINED 112

/**
 * The call is not allowed while a capture is active.
 */
#define RACL_CAPTURE_FORBIDDEN 113

/**
 * The capture failed before and gives no graph.
 */
#define RACL_CAPTURE_INVALIDATED 114

/**
 * A capture is ended on another thread, or on another stream, than it began on.
 */
#define RACL_CAPTURE_WRONG_THREAD 115

/**
 * A capture waits for work outside it.
 */
#define RACL_CAPTURE_DEPENDENCY 116

/**
 * The call needs a capturing stream.
 */
#define RACL_NOT_CAPTURING 117

/**
 * No stream is left on the device.
 */
#define RACL_NO_STREAMS 118

/**
 * No event or notify is left on the device.
 */
#define RACL_NO_EVENTS 119

/**
 * A graph is still running or cannot be executed now.
 */
#define RACL_GRAPH_RUNNING 120

/**
 * No AscendCL library was found, or the file is none.
 */
#define RACL_LIBRARY_NOT_FOUND 121

/**
 * The AscendCL library does not have the function.
 */
#define RACL_MISSING_SYMBOL 122

/**
 * The AscendCL library gave a value that racl does not know.
 */
#define RACL_UNKNOWN_VALUE 123

/**
 * An operator refused its arguments.
 */
#define RACL_OPERATOR_ARGUMENT 124

/**
 * An operator failed inside.
 */
#define RACL_OPERATOR 125

/**
 * A callback failed: it gave another number than 0, or a panic left it that could be caught.
 */
#define RACL_CALLBACK_PANICKED 126

/**
 * A plan that cannot run as it was written.
 */
#define RACL_INVALID_PLAN 127

/**
 * A frozen or tracked input of a plan has another address than its graph knows.
 */
#define RACL_ADDRESS_CHANGED 128

/**
 * A graph store has reached its limit.
 */
#define RACL_GRAPH_LIMIT 129

/**
 * A file could not be read, written or understood.
 */
#define RACL_FILE 130

/**
 * Another rank of a communicator, or the link to it, failed.
 */
#define RACL_COMMUNICATION 131

/**
 * The driver failed.
 */
#define RACL_DRIVER 132

/**
 * The AscendCL library failed inside.
 */
#define RACL_INTERNAL 133

/**
 * A code of the AscendCL library that racl has no kind for.
 */
#define RACL_OTHER 134

/**
 * The call would wait for ever: for a signal that nobody can give meanwhile.
 */
#define RACL_DEADLOCK 135

/**
 * What a launch needs is set aside when the stream is made.
 */
#define RACL_STREAM_FAST_LAUNCH 1

/**
 * Waits for the stream ask again and again instead of sleeping.
 */
#define RACL_STREAM_FAST_SYNC 2

/**
 * A longer queue, on chips that have one.
 */
#define RACL_STREAM_LONG_QUEUE 4

/**
 * The first task that fails stops the stream.
 */
#define RACL_STREAM_STOP_ON_FAILURE 8

/**
 * Element types: floats of 32 bits.
 */
#define RACL_TYPE_FLOAT 0

/**
 * Floats of 16 bits.
 */
#define RACL_TYPE_FLOAT16 1

/**
 * Signed integers of 8 bits.
 */
#define RACL_TYPE_INT8 2

/**
 * Of 32 bits.
 */
#define RACL_TYPE_INT32 3

/**
 * Unsigned integers of 8 bits.
 */
#define RACL_TYPE_UINT8 4

/**
 * Signed integers of 16 bits.
 */
#define RACL_TYPE_INT16 6

/**
 * Unsigned integers of 16 bits.
 */
#define RACL_TYPE_UINT16 7

/**
 * Of 32 bits.
 */
#define RACL_TYPE_UINT32 8

/**
 * Signed integers of 64 bits.
 */
#define RACL_TYPE_INT64 9

/**
 * Unsigned ones of 64 bits.
 */
#define RACL_TYPE_UINT64 10

/**
 * Floats of 64 bits.
 */
#define RACL_TYPE_DOUBLE 11

/**
 * Truth values, a byte each.
 */
#define RACL_TYPE_BOOL 12

/**
 * Complex numbers of two floats of 32 bits.
 */
#define RACL_TYPE_COMPLEX64 16

/**
 * Of two floats of 64 bits.
 */
#define RACL_TYPE_COMPLEX128 17

/**
 * Floats of 16 bits with the exponent of 32.
 */
#define RACL_TYPE_BF16 27

/**
 * Integers of 4 bits, two in a byte.
 */
#define RACL_TYPE_INT4 29

/**
 * Unsigned integers of 1 bit, eight in a byte.
 */
#define RACL_TYPE_UINT1 30

/**
 * Complex numbers of two floats of 16 bits.
 */
#define RACL_TYPE_COMPLEX32 33

/**
 * Floats of 8 bits whose exponent and mantissa vary in size.
 */
#define RACL_TYPE_HIFLOAT8 34

/**
 * Floats of 8 bits with 5 of exponent and 2 of mantissa.
 */
#define RACL_TYPE_FLOAT8_E5M2 35

/**
 * With 4 of exponent and 3 of mantissa, without infinities.
 */
#define RACL_TYPE_FLOAT8_E4M3FN 36

/**
 * 8 bits of exponent alone: scales.
 */
#define RACL_TYPE_FLOAT8_E8M0 37

/**
 * Floats of 4 bits with 2 of exponent and 1 of mantissa.
 */
#define RACL_TYPE_FLOAT4_E2M1 40

/**
 * With 1 of exponent and 2 of mantissa.
 */
#define RACL_TYPE_FLOAT4_E1M2 41

/**
 * Formats: images as batch, channels, height, width.
 */
#define RACL_FORMAT_NCHW 0

/**
 * Images as batch, height, width, channels.
 */
#define RACL_FORMAT_NHWC 1

/**
 * Any dimensions, laid out by strides.
 */
#define RACL_FORMAT_ND 2

/**
 * Images in blocks of channels.
 */
#define RACL_FORMAT_NC1HWC0 3

/**
 * Filters in blocks.
 */
#define RACL_FORMAT_FRACTAL_Z 4

/**
 * Matrices in blocks, as the cube units read them.
 */
#define RACL_FORMAT_FRACTAL_NZ 29

/**
 * Volumes as batch, channels, depth, height, width.
 */
#define RACL_FORMAT_NCDHW 30

/**
 * Sequences as batch, channels, length.
 */
#define RACL_FORMAT_NCL 47

/**
 * What runs of an executable are given.
 */
typedef struct racl_bindings racl_bindings;

/**
 * Memory of a device, or a part of it.
 */
typedef struct racl_buffer racl_buffer;

/**
 * A plan that is being recorded.
 */
typedef struct racl_builder racl_builder;

/**
 * Plans on disk.
 */
typedef struct racl_cache racl_cache;

/**
 * A capture that has not ended.
 */
typedef struct racl_capture racl_capture;

/**
 * A device as streams and memory of it see it: its primary context, or one of the program's own.
 */
typedef struct racl_context racl_context;

/**
 * A list of errors.
 */
typedef struct racl_errors racl_errors;

/**
 * A point in the work of a stream.
 */
typedef struct racl_event racl_event;

/**
 * A plan with memory on a device, which runs.
 */
typedef struct racl_executable racl_executable;

/**
 * A foreign operator of plans.
 */
typedef struct racl_foreign racl_foreign;

/**
 * Work that was recorded and can be launched.
 */
typedef struct racl_graph racl_graph;

/**
 * Pinned memory of the host, which copies on a stream take.
 */
typedef struct racl_host racl_host;

/**
 * A host function of plans.
 */
typedef struct racl_host_function racl_host_function;

/**
 * Host outputs of one run.
 */
typedef struct racl_host_outputs racl_host_outputs;

/**
 * An AscendCL library that is initialised.
 */
typedef struct racl_library racl_library;

/**
 * A checked plan: work as data. Any thread may use it, several at once.
 */
typedef struct racl_plan racl_plan;

/**
 * Temporary memory that executables share.
 */
typedef struct racl_pool racl_pool;

/**
 * Foreign operators and host functions that stored plans find by name.
 */
typedef struct racl_registry racl_registry;

/**
 * What a plan left in memory of the host.
 */
typedef struct racl_simulation racl_simulation;

/**
 * A queue of work on a device.
 */
typedef struct racl_stream racl_stream;

/**
 * Operators of a captured graph that can be replaced.
 */
typedef struct racl_task_group racl_task_group;

/**
 * A shape over a buffer: an operand of operators.
 */
typedef struct racl_tensor racl_tensor;

/**
 * Gives `user` back, once, when nothing will be called with it any more, on any thread. An exception that leaves it ends
 * the process.
 */
typedef void (*racl_release_callback)(void *user);

/**
 * How a plan is built.
 */
typedef struct {
    /**
     * sizeof(racl_plan_options).
     */
    size_t size;
    /**
     * RACL_STREAMS_...
     */
    int32_t streams;
    /**
     * Prefetches of what was prefetched before are left out: 1 or 0.
     */
    int32_t drop_repeated_prefetches;
    /**
     * Over so many streams, up to 1024, the work is spread; 0 to leave it where it was recorded.
     */
    size_t auto_streams;
    /**
     * The share of the L2 cache that one prefetch takes at most, above 0 and up to 1; 0 for no such limit.
     */
    double prefetch_cap;
} racl_plan_options;

/**
 * A dimension in a builder: its size from 0 on, or what racl_builder_symbol() and its like gave, which is below 0.
 */
typedef int64_t racl_dim;

/**
 * A value of a builder; 0 is none.
 */
typedef uint64_t racl_value;

/**
 * What a symbol of a plan that is called is.
 */
typedef struct {
    /**
     * Its name.
     */
    const char *name;
    /**
     * A size, or a dimension of the builder that calls.
     */
    racl_dim dim;
} racl_told;

/**
 * How the stream of a scope is made.
 */
typedef struct {
    /**
     * sizeof(racl_scope_options).
     */
    size_t size;
    /**
     * The stream starts with the plan (1), not behind what the surrounding one has done so far (0).
     */
    int32_t at_start;
    /**
     * 1 when the next field counts.
     */
    int32_t has_priority;
    /**
     * 0 (highest) to 7; the same in all scopes of a tag.
     */
    uint32_t priority;
    /**
     * Limits of cores, together: matrix cores, and
     */
    uint32_t cube_cores;
    /**
     * vector cores. 0 for none.
     */
    uint32_t vector_cores;
} racl_scope_options;

/**
 * What is prefetched, and when.
 */
typedef struct {
    /**
     * sizeof(racl_prefetch_options).
     */
    size_t size;
    /**
     * The byte of the value that is the first.
     */
    size_t offset;
    /**
     * How many at most; 0 for all.
     */
    size_t bytes;
    /**
     * It starts when this value is there; 0 for none.
     */
    racl_value after_value;
    /**
     * It starts when the latest record of the event with this tag is done; NULL for none. With neither it starts with
     * the plan, and with both the call is refused.
     */
    const char *after_event;
} racl_prefetch_options;

/**
 * How a cache is set up.
 */
typedef struct {
    /**
     * sizeof(racl_cache_options).
     */
    size_t size;
    /**
     * The name of a model, by which folders are called: letters, digits, '_', '-' and '.'.
     */
    const char *name;
    /**
     * The folder of all caches; NULL for that of the environment variable RACL_CACHE_HOME, else ".racl_cache".
     */
    const char *folder;
    /**
     * What identifies the code that builds plans; NULL for the files that the program and the callbacks came from. Plans
     * of scripts need one, see racl_build_callback.
     */
    const char *salt;
    /**
     * How plans are built, or NULL.
     */
    const racl_plan_options *plans;
    /**
     * RACL_CACHE_... put together.
     */
    uint32_t flags;
    /**
     * How many processes work together; 0 for what the environment variable WORLD_SIZE says, else 1.
     */
    uint32_t world_size;
    /**
     * Which of them this one is, where world_size is not 0.
     */
    uint32_t global_rank;
    /**
     * Nanoseconds to wait for another process that builds the same plan; 0 for two minutes.
     */
    uint64_t lock_timeout;
} racl_cache_options;

/**
 * Records a plan: it is lent a builder, which ends with the call, and not before (RACL_BUSY). Another number than RACL_OK is what
 * racl_cache_compile() gives, with the last failure of this thread.
 *
 * The key has the code of a function that the program or a library of it was loaded with. One that is made while the
 * program runs, as cffi and ctypes of Python make them of functions of scripts, has no such code, and nothing tells an
 * edited script from what it was: such a plan is built and not stored, unless the cache has a `salt` or the compilation
 * has parts, which change with the script. So is one whose function is given a `user`, without parts and without
 * RACL_COMPILE_IGNORE_USER. racl_cache_status() says RACL_CACHE_UNCACHED then, and why; with RACL_CACHE_STRICT that is an
 * error.
 */
typedef int32_t (*racl_build_callback)(void *user, racl_builder *builder);

/**
 * One thing that a plan depends on.
 */
typedef struct {
    /**
     * What it is called.
     */
    const char *name;
    /**
     * Its value, as text.
     */
    const char *value;
} racl_part;

/**
 * What racl_cache_compile() compiles.
 */
typedef struct {
    /**
     * sizeof(racl_compile).
     */
    size_t size;
    /**
     * The name of the plan, one for each that the program has.
     */
    const char *function;
    /**
     * Records the plan when it is not stored.
     */
    racl_build_callback build;
    /**
     * What it is given.
     */
    void *user;
    /**
     * Where a stored plan finds its foreign operators and host functions, or NULL.
     */
    const racl_registry *registry;
    /**
     * What the plan depends on that the code alone does not say, such as sizes that were read from a file.
     */
    const racl_part *parts;
    /**
     * How many.
     */
    size_t part_count;
    /**
     * RACL_COMPILE_... put together.
     */
    uint32_t flags;
} racl_compile;

/**
 * How often what came of compilations with this handle.
 */
typedef struct {
    /**
     * sizeof(racl_cache_stats).
     */
    size_t size;
    /**
     * RACL_CACHE_HIT.
     */
    uint64_t hits;
    /**
     * RACL_CACHE_MISS.
     */
    uint64_t misses;
    /**
     * RACL_CACHE_REBUILT.
     */
    uint64_t rebuilt;
    /**
     * RACL_CACHE_ABANDONED and RACL_CACHE_UNCACHED.
     */
    uint64_t uncached;
    /**
     * RACL_CACHE_FAILED, and what was refused before anything was compiled.
     */
    uint64_t failed;
} racl_cache_stats;

/**
 * A function that runs on the host when a stream gets there, on a thread of the AscendCL library or of racl; it is
 * given `user`, and the attributes of its racl_host_function, NULL where there are none. Another number than 0 fails the
 * work: the next wait for it gives RACL_CALLBACK_PANICKED, with the text that racl_last_error_set() was given where the
 * number is the status that was given there.
 * It makes no call of AscendCL, and none of racl that waits.
 */
typedef int32_t (*racl_host_callback)(void *user, const void *attributes, size_t size);

/**
 * A host function of plans.
 */
typedef struct {
    /**
     * sizeof(racl_host_function_info).
     */
    size_t size;
    /**
     * By which stored plans find it again; not empty.
     */
    const char *name;
    /**
     * A stored plan takes that of the same number alone.
     */
    uint32_t version;
    /**
     * Bytes that the function is given, which stored plans keep; NULL for none.
     */
    const void *attributes;
    /**
     * How many.
     */
    size_t attributes_size;
    /**
     * The function.
     */
    racl_host_callback run;
    /**
     * What it is given.
     */
    void *user;
    /**
     * What `user` is given to in the end, or NULL. Not when racl_host_function_new() fails.
     */
    racl_release_callback release;
} racl_host_function_info;

/**
 * One value of a foreign operator.
 */
typedef struct {
    /**
     * On the device.
     */
    void *address;
    /**
     * From the first to the last element.
     */
    size_t bytes;
    /**
     * Number of an aclDataType, RACL_TYPE_...
     */
    int32_t dtype;
    /**
     * How many dimensions.
     */
    uint32_t rank;
    /**
     * The size of each; NULL where there are none.
     */
    const size_t *shape;
    /**
     * How many elements lie between two neighbours of each; NULL where there are none.
     */
    const size_t *strides;
} racl_launch_value;

/**
 * What a foreign operator is launched with; all of it ends with the call.
 */
typedef struct {
    /**
     * sizeof(racl_launch) as the library knows it.
     */
    size_t size;
    /**
     * An aclrtStream, whose context is current.
     */
    void *stream;
    /**
     * Values that are read, then those that are written; NULL where there are none. Each begins `value_size` bytes behind
     * the one before, which is more in later versions than sizeof(racl_launch_value) is here: values + 1 is the second one
     * where both are the same.
     */
    const racl_launch_value *values;
    /**
     * How many.
     */
    size_t count;
    /**
     * The attributes of the operator; NULL where there are none.
     */
    const void *attributes;
    /**
     * Their bytes.
     */
    size_t attributes_size;
    /**
     * sizeof(racl_launch_value) as the library knows it.
     */
    size_t value_size;
} racl_launch;

/**
 * Puts the work of a foreign operator on `launch->stream`, with calls of AscendCL such as aclnn... or
 * aclrtLaunchKernel. It is called when the operator is captured, when a graph is updated, and at each eager run.
 * Another number than 0 fails the capture or run, and should be the code that such a call gave, or what
 * racl_last_error_set() gives.
 */
typedef int32_t (*racl_launch_callback)(void *user, const racl_launch *launch);

/**
 * Memory of the host.
 */
typedef struct {
    /**
     * Where it begins; NULL where there are no bytes.
     */
    void *data;
    /**
     * Its bytes.
     */
    size_t size;
} racl_bytes;

/**
 * Computes a foreign operator on the host, for racl_simulation_new(): values that are read, and those that are written,
 * each in the order in which the builder was given them, NULL where there are none. Another number than 0 fails the
 * simulation.
 */
typedef int32_t (*racl_simulate_callback)(void *user,
                                          const racl_bytes *reads,
                                          size_t read_count,
                                          const racl_bytes *writes,
                                          size_t write_count);

/**
 * A foreign operator of plans.
 */
typedef struct {
    /**
     * sizeof(racl_foreign_info).
     */
    size_t size;
    /**
     * By which stored plans find it again; not empty.
     */
    const char *name;
    /**
     * A stored plan takes that of the same number alone.
     */
    uint32_t version;
    /**
     * Cores that it needs at the same time to make progress: matrix cores; 0 for any.
     */
    uint32_t cube_cores;
    /**
     * Vector cores.
     */
    uint32_t vector_cores;
    /**
     * Bytes that its functions are given, which stored plans keep; NULL for none.
     */
    const void *attributes;
    /**
     * How many.
     */
    size_t attributes_size;
    /**
     * Puts its work on a stream.
     */
    racl_launch_callback launch;
    /**
     * Computes it on the host, or NULL: plans with it cannot be simulated then.
     */
    racl_simulate_callback simulate;
    /**
     * What the functions are given.
     */
    void *user;
    /**
     * What `user` is given to in the end, or NULL. Not when racl_foreign_new() fails.
     */
    racl_release_callback release;
} racl_foreign_info;

/**
 * What the allocator of a context did and holds.
 */
typedef struct {
    /**
     * sizeof(racl_memory_stats).
     */
    size_t size;
    /**
     * Bytes that buffers, scratch memory and graphs asked for and hold.
     */
    size_t allocated;
    /**
     * The most that was since the context was made, or since racl_context_reset_peaks().
     */
    size_t allocated_peak;
    /**
     * Bytes that the context has from the AscendCL library.
     */
    size_t reserved;
    /**
     * The most of them.
     */
    size_t reserved_peak;
    /**
     * Bytes that were given up and wait for work that may still use them.
     */
    size_t waiting;
    /**
     * Allocations by the AscendCL library that succeeded.
     */
    uint64_t device_allocations;
    /**
     * Frees by it.
     */
    uint64_t device_frees;
    /**
     * Allocations that found too little at first.
     */
    uint64_t retries;
    /**
     * Those that failed in the end.
     */
    uint64_t out_of_memory;
} racl_memory_stats;

/**
 * What a device has. 0 for what its library does not tell.
 */
typedef struct {
    /**
     * sizeof(racl_device_info).
     */
    size_t size;
    /**
     * Cores that multiply matrices.
     */
    uint64_t cube_cores;
    /**
     * Cores that compute on vectors.
     */
    uint64_t vector_cores;
    /**
     * Bytes of the L2 cache, which prefetches fill.
     */
    uint64_t l2_cache_bytes;
} racl_device_info;

/**
 * One error of a list; its texts stay as long as the list.
 */
typedef struct {
    /**
     * sizeof(racl_error).
     */
    size_t size;
    /**
     * RACL_...
     */
    int32_t status;
    /**
     * What the function of AscendCL gave, 0 for none.
     */
    int32_t code;
    /**
     * Its name, "" for none.
     */
    const char *call;
    /**
     * What went wrong.
     */
    const char *message;
    /**
     * The same with all that is known beside it, a line each.
     */
    const char *details;
} racl_error;

/**
 * How an executable runs.
 */
typedef struct {
    /**
     * sizeof(racl_run_options).
     */
    size_t size;
    /**
     * RACL_RUN_CAPTURED or RACL_RUN_EAGER.
     */
    int32_t mode;
    /**
     * What a run does that needs one graph more than the limit: RACL_FULL_...
     */
    int32_t on_full;
    /**
     * RACL_RUN_FORCE_RECAPTURE and its like put together.
     */
    uint32_t flags;
    /**
     * How many captured graphs are kept; 0 for 64.
     */
    size_t graph_limit;
    /**
     * So many runs have memory of the host of their own for host outputs; 0 for 1. racl_executable_read_host() reads
     * those of the latest run alone, whatever this is, racl_executable_take_host_outputs() takes 2 and more.
     */
    size_t host_output_buffers;
    /**
     * Nanoseconds after which a signal at a gate is given up when the executable ends; 0 for 60 seconds.
     */
    uint64_t signal_limit;
    /**
     * Temporary memory that it shares with other executables; NULL for memory of its own.
     */
    const racl_pool *pool;
} racl_run_options;

/**
 * Memory for an input of the class RACL_INPUT_FROZEN.
 */
typedef struct {
    /**
     * Its name.
     */
    const char *name;
    /**
     * A dense tensor, whose memory the executable keeps.
     */
    const racl_tensor *tensor;
} racl_frozen;

/**
 * How often what happened to an executable.
 */
typedef struct {
    /**
     * sizeof(racl_run_counters).
     */
    size_t size;
    /**
     * Graphs that are kept.
     */
    size_t graphs;
    /**
     * Runs that replayed a graph.
     */
    uint64_t replays;
    /**
     * Runs operator by operator.
     */
    uint64_t eager;
    /**
     * Captures for new sizes.
     */
    uint64_t captured_new;
    /**
     * Captures because a tracked input had another address.
     */
    uint64_t captured_moved;
    /**
     * Graphs that made room for others.
     */
    uint64_t evicted;
    /**
     * Runs that changed operators inside a graph.
     */
    uint64_t updates;
} racl_run_counters;

/**
 * What an operator found, of which the device decides how much it is.
 */
typedef struct {
    /**
     * Room for the most that there can be: its first rows are what was found, and the rest is 0.
     */
    racl_value values;
    /**
     * How many rows came: one int64_t.
     */
    racl_value count;
} racl_found;

/**
 * Gives a stream work, which it is handed. Another number than RACL_OK is what the function gives that called this, with
 * the last failure of this thread.
 */
typedef int32_t (*racl_give_callback)(void *user, const racl_stream *stream);

/**
 * How a library is opened.
 */
typedef struct {
    /**
     * sizeof(racl_library_options).
     */
    size_t size;
    /**
     * RACL_LIBRARY_... put together.
     */
    uint32_t flags;
} racl_library_options;

/**
 * Takes a line: its level, RACL_LOG_..., the part of racl that it is from, and its text; both end with the call. It is
 * called on whatever thread the line is from, on several at once. What it logs itself through racl is left out.
 */
typedef void (*racl_log_callback)(void *user, int32_t level, const char *target, const char *message);

/**
 * What is alive in the mock.
 */
typedef struct {
    /**
     * sizeof(racl_mock_live).
     */
    size_t size;
    /**
     * Contexts.
     */
    uint64_t contexts;
    /**
     * Streams.
     */
    uint64_t streams;
    /**
     * Events.
     */
    uint64_t events;
    /**
     * Captured graphs.
     */
    uint64_t graphs;
    /**
     * Bytes of device memory.
     */
    uint64_t device_bytes;
    /**
     * Bytes of pinned memory.
     */
    uint64_t pinned_bytes;
    /**
     * Executors of operators.
     */
    uint64_t executors;
} racl_mock_live;

/**
 * An operator that ran.
 */
typedef struct {
    /**
     * sizeof(racl_mock_launch).
     */
    size_t size;
    /**
     * Its C name, which stays.
     */
    const char *function;
    /**
     * The limit of matrix cores that it was launched or captured with.
     */
    uint32_t cube_cores;
    /**
     * That of vector cores.
     */
    uint32_t vector_cores;
    /**
     * The number of the graph that it ran in, 0 for none.
     */
    uint32_t graph;
    /**
     * The number of the stream that it ran on; in a graph that of the launch.
     */
    int32_t stream;
} racl_mock_launch;

/**
 * A call of AscendCL.
 */
typedef struct {
    /**
     * sizeof(racl_mock_call).
     */
    size_t size;
    /**
     * The C name of the function, which stays.
     */
    const char *function;
    /**
     * A number that only calls of the same thread have.
     */
    uint64_t thread;
    /**
     * The code of racl_mock_fail() that it gave, 0 for none.
     */
    int32_t injected;
    /**
     * How many of `given` there are.
     */
    uint32_t given_count;
    /**
     * The streams, events, graphs and their like that it was given, and addresses of device and pinned memory, as
     * AscendCL knows them and in the order of its parameters; of the first phase of an operator those of its operands.
     */
    const void *given[RACL_MOCK_CALL_GIVEN];
    /**
     * What it made, NULL for nothing.
     */
    const void *gave;
} racl_mock_call;

/**
 * The shape of a tensor and how it lies in its buffer.
 */
typedef struct {
    /**
     * sizeof(racl_tensor_layout).
     */
    size_t size;
    /**
     * Number of an aclDataType, such as RACL_TYPE_FLOAT.
     */
    int32_t dtype;
    /**
     * How many dimensions.
     */
    uint32_t rank;
    /**
     * The size of each, `rank` numbers; NULL for rank 0.
     */
    const size_t *shape;
    /**
     * How many elements lie between two neighbours of each dimension; NULL for a dense tensor.
     */
    const size_t *strides;
    /**
     * The element of the buffer that is the first of the tensor.
     */
    size_t offset;
    /**
     * Number of an aclFormat. What is not RACL_FORMAT_ND needs the shape that the elements have in it.
     */
    int32_t format;
    /**
     * How many dimensions this shape has.
     */
    uint32_t storage_rank;
    /**
     * This shape; NULL for ND.
     */
    const size_t *storage;
} racl_tensor_layout;

/**
 * One argument of an operator. The fields that its kind does not name are not looked at.
 */
typedef struct {
    /**
     * RACL_ARG_...
     */
    int32_t kind;
    /**
     * 0, so that later versions may say more with it; another number is refused.
     */
    uint32_t reserved;
    /**
     * How many elements a list has.
     */
    size_t count;
    /**
     * An object, or a list.
     */
    const void *data;
    /**
     * An integer.
     */
    int64_t integer;
    /**
     * A float.
     */
    double real;
} racl_arg;

/**
 * How one pass is used.
 */
typedef struct {
    /**
     * "folded_constants", "needless_copies", "common_values", "needless_transposes", "needless_moves",
     * "fused_attention", "fused_norms", "fused_gates", "fused_rotations", "fused_products", "fused_elements",
     * "direct_results" or "dead_values"; or, where weights stay what they are, "relaid_weights" or "blocked_weights".
     */
    const char *name;
    /**
     * RACL_PASS_...
     */
    int32_t mode;
} racl_pass;

/**
 * Which passes a plan goes through.
 */
typedef struct {
    /**
     * sizeof(racl_passes).
     */
    size_t size;
    /**
     * RACL_PASS_... of all that `passes` does not name, but for those of weights, which are off then.
     */
    int32_t all;
    /**
     * RACL_PASSES_... put together.
     */
    uint32_t flags;
    /**
     * Those that are used in another way.
     */
    const racl_pass *passes;
    /**
     * How many.
     */
    size_t pass_count;
    /**
     * The bytes of constants that one folded operator may make; 0 for 1 MiB.
     */
    size_t most_folded;
    /**
     * The bytes of weights that may be laid anew, which the executable keeps; 0 for no limit.
     */
    uint64_t most_relaid;
    /**
     * The SoC that the plan will run on, as aclrtGetSocName() tells it: weights are brought into blocks only for those
     * whose library has such products, Atlas A2 and A3. NULL: for every one.
     */
    const char *soc;
    /**
     * The library that the plan will run with: passes make only operators that it has. NULL: all that they know.
     */
    const racl_library *library;
} racl_passes;

/**
 * What is in a plan.
 */
typedef struct {
    /**
     * sizeof(racl_plan_info).
     */
    size_t size;
    /**
     * Operators, foreign ones, copies, also those with the host, fills, prefetches and host functions.
     */
    size_t operators;
    /**
     * Streams, that of the run included.
     */
    size_t streams;
    /**
     * Events.
     */
    size_t events;
    /**
     * What is worth a look: racl_plan_lints() has it.
     */
    size_t lints;
    /**
     * Whether sizes depend on symbols: 1 or 0.
     */
    int32_t is_dynamic;
} racl_plan_info;

/**
 * An input of a simulation.
 */
typedef struct {
    /**
     * Its name.
     */
    const char *name;
    /**
     * Its elements.
     */
    const void *data;
    /**
     * Their bytes.
     */
    size_t bytes;
} racl_given;

/**
 * The value of a symbol.
 */
typedef struct {
    /**
     * Its name.
     */
    const char *name;
    /**
     * Its value.
     */
    size_t value;
} racl_symbol;

/**
 * How a stream is made.
 */
typedef struct {
    /**
     * sizeof(racl_stream_options).
     */
    size_t size;
    /**
     * 0 (highest) to 7.
     */
    uint32_t priority;
    /**
     * RACL_STREAM_... put together.
     */
    uint32_t flags;
} racl_stream_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Bindings of an executable, with nothing set: they are kept and used for run after run. One thread at a time uses
 * them. They keep the memory that is bound.
 */
int32_t racl_bindings_new(const racl_executable *executable,
                          racl_bindings **bindings);

/**
 * Binds a dense tensor to an input. What was bound before stays when this fails.
 */
int32_t racl_bindings_tensor(const racl_bindings *bindings,
                             uint32_t number,
                             const racl_tensor *tensor);

/**
 * Gives an input of the class RACL_INPUT_HOST: its aclDataType, its shape, and `size` bytes, which are copied.
 */
int32_t racl_bindings_host(const racl_bindings *bindings,
                           uint32_t number,
                           int32_t dtype,
                           const size_t *shape,
                           size_t rank,
                           const void *data,
                           size_t size);

/**
 * The value of a symbol that no input has, or of a number.
 */
int32_t racl_bindings_symbol(const racl_bindings *bindings, const char *name, size_t value);

/**
 * One more thing that captured graphs are kept by.
 */
int32_t racl_bindings_key(const racl_bindings *bindings, uint64_t key);

/**
 * Gives the handle back.
 */
int32_t racl_bindings_free(racl_bindings *bindings);

/**
 * So many bytes of device memory, of the context's allocator. What they hold is not said.
 */
int32_t racl_buffer_new(const racl_context *context, size_t bytes, racl_buffer **buffer);

/**
 * So many bytes of device memory for work of the stream: it may be what earlier work of the stream still uses, which later
 * work runs behind anyway, and for which copies from and to the host wait. While the stream captures, the graph has it.
 */
int32_t racl_stream_alloc(const racl_stream *stream,
                          size_t bytes,
                          racl_buffer **buffer);

/**
 * Device memory of other code: `bytes` from `address` on, of the context's device. It is left to its owner, which
 * keeps it until the handle, and every tensor, graph and stream that was given it, is done with it.
 */
int32_t racl_buffer_ref(const racl_context *context,
                        void *address,
                        size_t bytes,
                        racl_buffer **buffer);

/**
 * As racl_buffer_ref(), where the owner is told: `release`, which may be NULL, is given `user`, once, on any thread, when
 * neither racl nor work that racl gave to a stream uses the memory any more: with the last that has it, or, where work is
 * under way then, in the first call behind that work which waits for a stream, takes memory of the context or trims it.
 * It must not wait for work, nor take memory of the context. Not when this fails.
 */
int32_t racl_buffer_ref_with(const racl_context *context,
                             void *address,
                             size_t bytes,
                             racl_release_callback release,
                             void *user,
                             racl_buffer **buffer);

/**
 * A part of a buffer, which keeps the memory.
 */
int32_t racl_buffer_slice(const racl_buffer *whole,
                          size_t offset,
                          size_t bytes,
                          racl_buffer **part);

/**
 * Its bytes.
 */
int32_t racl_buffer_size(const racl_buffer *buffer, size_t *bytes);

/**
 * Its address on the device, for calls of AscendCL beside racl, which racl knows nothing of.
 */
int32_t racl_buffer_address(const racl_buffer *buffer, void **address);

/**
 * Copies from the host. Waits for work that uses the memory, and until the copy is done.
 */
int32_t racl_buffer_write(const racl_buffer *buffer, size_t offset, const void *data, size_t size);

/**
 * Copies to the host. Waits for work that writes the memory, and until the copy is done. RACL_INVALID_ARGUMENT for more
 * than there is; the status of that work's failure where it failed.
 */
int32_t racl_buffer_read(const racl_buffer *buffer,
                         size_t offset,
                         void *data,
                         size_t size);

/**
 * Copies between two buffers of a device when the stream gets there; all of them, which have one size. In a capture it
 * becomes part of the graph.
 */
int32_t racl_stream_copy(const racl_stream *stream,
                         const racl_buffer *to,
                         const racl_buffer *from);

/**
 * Sets every byte of a buffer when the stream gets there. In a capture it becomes part of the graph.
 */
int32_t racl_stream_fill(const racl_stream *stream,
                         const racl_buffer *buffer,
                         uint8_t byte);

/**
 * Brings bytes of a buffer into the L2 cache when the stream gets there: `bytes` of them at most, 0 for all, from byte
 * `offset` on. `fetched`, which may be NULL, gets how many were asked for. In a capture it becomes part of the graph.
 */
int32_t racl_stream_prefetch(const racl_stream *stream,
                             const racl_buffer *buffer,
                             size_t offset,
                             size_t bytes,
                             size_t *fetched);

/**
 * Gives the handle back. The memory is freed when nothing has it any more and work that uses it is done, without a
 * wait.
 */
int32_t racl_buffer_free(racl_buffer *buffer);

/**
 * Waits for work that uses the memory and frees it. RACL_INVALID_ARGUMENT while parts, tensors or graphs share it; the
 * handle stays then.
 */
int32_t racl_buffer_close(racl_buffer *buffer);

/**
 * A builder, which records a plan; `options` may be NULL. Nothing of it needs a library or a device. One thread at a
 * time uses a builder: others get RACL_BUSY.
 *
 * Whatever fails leaves the builder as it was. Errors, lints and dumps name work as "operator:N", the N-th from 0 on
 * of those that racl_builder_operators() counts, unless racl_builder_at() says more.
 */
int32_t racl_builder_new(const racl_plan_options *options,
                         racl_builder **builder);

/**
 * Gives the builder back, without a plan. RACL_BUSY for one that a function was lent, which ends with the call.
 */
int32_t racl_builder_free(racl_builder *builder);

/**
 * Checks what was recorded, joins what is still apart, and gives the plan. The handle of the builder is gone then,
 * also when the plan is refused: RACL_INVALID_PLAN, and racl_last_errors() has all that is wrong. It stays with a bad place
 * for the plan or none for its handle (RACL_NO_HANDLES). RACL_BUSY for one that a function was lent.
 */
int32_t racl_builder_build(racl_builder *builder,
                           racl_plan **plan);

/**
 * Says where what follows was written, such as __FILE__ and __LINE__: errors, lints and dumps name it then.
 */
int32_t racl_builder_at(const racl_builder *builder,
                        const char *file,
                        uint32_t line);

/**
 * How much work was recorded: operators, what finds something, copies, fills, prefetches, foreign operators, host
 * functions, calls, choices and loops, each as one. It is the number in errors of what comes next.
 */
int32_t racl_builder_operators(const racl_builder *builder,
                               uint32_t *count);

/**
 * A dimension that gets its value at each run, between these bounds: that of the inputs that have it.
 */
int32_t racl_builder_symbol(const racl_builder *builder,
                            const char *name,
                            size_t least,
                            size_t most,
                            racl_dim *dim);

/**
 * A number that each run gives with racl_bindings_symbol(), for RACL_ARG_DIM. It is no size of a value: operators that
 * are told it are replaced inside the graph when it is another one.
 */
int32_t racl_builder_number(const racl_builder *builder,
                            const char *name,
                            size_t least,
                            size_t most,
                            racl_dim *dim);

/**
 * The sum of two dimensions. What plans cannot express, such as a sum of two symbols, is refused where it is used.
 */
int32_t racl_builder_dim_plus(const racl_builder *builder,
                              racl_dim a,
                              racl_dim b,
                              racl_dim *dim);

/**
 * The product of two dimensions.
 */
int32_t racl_builder_dim_times(const racl_builder *builder, racl_dim a, racl_dim b, racl_dim *dim);

/**
 * An input: its name, the number of its aclDataType, RACL_TYPE_..., its shape and its class, RACL_INPUT_...
 */
int32_t racl_builder_input(const racl_builder *builder,
                           const char *name,
                           int32_t dtype,
                           const racl_dim *shape,
                           size_t rank,
                           int32_t input_class,
                           racl_value *value);

/**
 * Numbers that are part of the plan itself: `bytes` of them, which fill the shape. They are copied.
 */
int32_t racl_builder_constant(const racl_builder *builder,
                              int32_t dtype,
                              const racl_dim *shape,
                              size_t rank,
                              const void *data,
                              size_t size,
                              racl_value *value);

/**
 * Memory of the plan with undefined content, for operators to write.
 */
int32_t racl_builder_empty(const racl_builder *builder,
                           int32_t dtype,
                           const racl_dim *shape,
                           size_t rank,
                           racl_value *value);

/**
 * The same elements in another shape; no work.
 */
int32_t racl_builder_reshape(const racl_builder *builder,
                             racl_value of,
                             const racl_dim *shape,
                             size_t rank,
                             racl_value *value);

/**
 * The same elements with two dimensions, counted from 0, exchanged; no work.
 */
int32_t racl_builder_transpose(const racl_builder *builder,
                               racl_value of,
                               size_t a,
                               size_t b,
                               racl_value *value);

/**
 * The elements from `start` to before `stop` of one dimension; no work.
 */
int32_t racl_builder_narrow(const racl_builder *builder,
                            racl_value of,
                            size_t dim,
                            racl_dim start,
                            racl_dim stop,
                            racl_value *value);

/**
 * The bytes from `start` to before `stop` of a value, as a value of bytes: what a foreign operator touches.
 */
int32_t racl_builder_bytes(const racl_builder *builder,
                           racl_value of,
                           size_t start,
                           size_t stop,
                           racl_value *value);

/**
 * The shape of a value, as racl_tensor_shape() gives that of a tensor.
 */
int32_t racl_builder_value_shape(const racl_builder *builder,
                                 racl_value value,
                                 racl_dim *shape,
                                 size_t room,
                                 size_t *rank);

/**
 * The aclDataType of a value, RACL_TYPE_...
 */
int32_t racl_builder_value_dtype(const racl_builder *builder, racl_value value, int32_t *dtype);

/**
 * Makes a value an output. An input, a constant, a view and what is an output already is copied.
 */
int32_t racl_builder_output(const racl_builder *builder, const char *name, racl_value value);

/**
 * The same; each run also brings the output to the host, for racl_executable_read_host().
 */
int32_t racl_builder_output_to_host(const racl_builder *builder,
                                    const char *name,
                                    racl_value value);

/**
 * Copies a value to another one of its type and shape.
 */
int32_t racl_builder_copy(const racl_builder *builder, racl_value to, racl_value from);

/**
 * Sets every byte of a value.
 */
int32_t racl_builder_fill(const racl_builder *builder, racl_value value, uint8_t byte);

/**
 * Does the work of another plan, which was recorded once, on these values: its inputs in the order in which it declares
 * them, whatever their class is there. `results` gets a new value for each of its outputs, and `result_count` is how
 * many it has. Symbols of `plan` are what the shapes of the values say; `told` has those that no shape tells.
 *
 * All of `plan` comes behind the work before the call on its stream, and before the work behind it. `plan` is kept, may
 * be called any number of times, and its handle may be given back. One with updatable inputs, inputs or outputs in host
 * memory or gates cannot be called: RACL_INVALID_PLAN, as for values that do not fit.
 */
int32_t racl_builder_call(const racl_builder *builder,
                          const racl_plan *plan,
                          const racl_value *operands,
                          size_t operand_count,
                          const racl_told *told,
                          size_t told_count,
                          racl_value *results,
                          size_t result_count);

/**
 * Does the work of another plan so often, one time behind the other. The first inputs of `plan` are what is carried, and
 * its outputs, as many, are what the next step is given for them; further inputs are `others`, the same for each step.
 * `results` has `carried_count` places, for what the last step gives, or what was given where there is no step. What is
 * carried stays as it was, also where `plan` writes such an input. Otherwise as racl_builder_call().
 */
int32_t racl_builder_call_times(const racl_builder *builder,
                                const racl_plan *plan,
                                size_t steps,
                                const racl_value *carried,
                                size_t carried_count,
                                const racl_value *others,
                                size_t other_count,
                                racl_value *results);

/**
 * Does the work of `then` if the condition is not 0, else that of `otherwise`, on the same values; each run decides, on
 * the device. The condition is one integer of any type or a truth value, and is read before anything else. The values
 * are the inputs of both plans, and `results` gets a new value for each output, of which both have `result_count`, of
 * the same types and shapes. `otherwise` may be NULL: nothing is done then, and the results are the first values as they
 * were.
 *
 * A choice is one piece of work, on the current stream whatever scopes the plans have. In a captured graph the device
 * chooses, on a library with conditional graphs; on an older one a run is in parts, and waits for each condition.
 * Otherwise as racl_builder_call().
 */
int32_t racl_builder_if(const racl_builder *builder,
                        racl_value condition,
                        const racl_plan *then,
                        const racl_plan *otherwise,
                        const racl_value *operands,
                        size_t operand_count,
                        racl_value *results,
                        size_t result_count);

/**
 * Does the work of the case whose number the value `number` is, from 0, and that of `otherwise` for all other numbers;
 * there are 1 to 1023 cases. Otherwise as racl_builder_if() with two plans.
 */
int32_t racl_builder_switch(const racl_builder *builder,
                            racl_value number,
                            const racl_plan *const *cases,
                            size_t case_count,
                            const racl_plan *otherwise,
                            const racl_value *operands,
                            size_t operand_count,
                            racl_value *results,
                            size_t result_count);

/**
 * Does the work of `body` while the condition is not 0, one round behind the other: `condition` says whether there is a
 * first round, and the first output of `body` whether there is one more. Its other outputs, `carried_count` of them,
 * are what the next round is given for its first inputs; further inputs are `others`, the same for each round. `results`
 * has `carried_count` places, for what the last round gives, or what was given where there was no round.
 *
 * There are at most `rounds` rounds; 0 for no limit. `more`, which may be NULL, gets a value that is the condition behind
 * the last round: it is not 0 where the limit ended the loop. Otherwise as racl_builder_if().
 */
int32_t racl_builder_repeat(const racl_builder *builder,
                            uint32_t rounds,
                            racl_value condition,
                            const racl_plan *body,
                            const racl_value *carried,
                            size_t carried_count,
                            const racl_value *others,
                            size_t other_count,
                            racl_value *results,
                            racl_value *more);

/**
 * What follows goes to the stream with this tag, up to racl_builder_scope_end(); scopes nest. `options` may be NULL.
 * Work on different streams that touches the same memory has to be put in order by joins, events or waits:
 * racl_builder_build() says where it is not.
 */
int32_t racl_builder_scope_begin(const racl_builder *builder,
                                 const char *tag,
                                 const racl_scope_options *options);

/**
 * Ends the innermost scope.
 */
int32_t racl_builder_scope_end(const racl_builder *builder);

/**
 * Makes the current stream wait for all work of a tag so far, which ends there.
 */
int32_t racl_builder_join(const racl_builder *builder, const char *tag);

/**
 * An event with a tag, which the functions below take.
 */
int32_t racl_builder_event(const racl_builder *builder, const char *tag);

/**
 * Marks the point that the current stream has reached.
 */
int32_t racl_builder_record(const racl_builder *builder, const char *tag);

/**
 * Marks another point with an event, which may have been recorded before: later waits are for it.
 */
int32_t racl_builder_rerecord(const racl_builder *builder, const char *tag);

/**
 * Makes the current stream wait for the latest record of an event.
 */
int32_t racl_builder_wait(const racl_builder *builder, const char *tag);

/**
 * Gives the tag of an event back: another event may have it.
 */
int32_t racl_builder_event_end(const racl_builder *builder, const char *tag);

/**
 * Keeps the memory of a value until a tag is joined: for work on that stream which the plan does not know of.
 */
int32_t racl_builder_record_stream(const racl_builder *builder,
                                   racl_value value,
                                   const char *tag);

/**
 * A later version of a value, over the same memory: work that is given it waits for what produced `dependency`.
 */
int32_t racl_builder_wait_value(const racl_builder *builder,
                                racl_value of,
                                racl_value dependency,
                                racl_value *value);

/**
 * Makes the current stream wait for what produced the values.
 */
int32_t racl_builder_wait_all(const racl_builder *builder, const racl_value *values, size_t count);

/**
 * Brings memory of a value into the L2 cache, on a stream of its own outside of scopes. `options` may be NULL: all of
 * it, from the start of the plan on. `fetched`, which may be NULL, gets the bytes, as far as the value has them.
 */
int32_t racl_builder_prefetch(const racl_builder *builder,
                              racl_value value,
                              const racl_prefetch_options *options,
                              size_t *fetched);

/**
 * A gate between the plan and work beside it, by name: racl_executable_signal() and racl_executable_wait_signal() are
 * its other side.
 */
int32_t racl_builder_gate(const racl_builder *builder,
                          const char *name);

/**
 * The current stream waits at a gate for a signal.
 */
int32_t racl_builder_gate_wait(const racl_builder *builder, const char *name);

/**
 * The current stream gives a signal at a gate.
 */
int32_t racl_builder_gate_record(const racl_builder *builder, const char *name);

/**
 * A function that runs on the host when the current stream gets there.
 */
int32_t racl_builder_host_function(const racl_builder *builder, const racl_host_function *function);

/**
 * A foreign operator that reads and writes the bytes of these values; one in both lists is read and written.
 */
int32_t racl_builder_foreign(const racl_builder *builder,
                             const racl_foreign *foreign,
                             const racl_value *reads,
                             size_t read_count,
                             const racl_value *writes,
                             size_t write_count);

/**
 * A cache of plans on disk. RACL_NOT_SUPPORTED in a build without it.
 */
int32_t racl_cache_new(const racl_cache_options *options, racl_cache **cache);

/**
 * Gives the handle back; what is stored stays.
 */
int32_t racl_cache_free(racl_cache *cache);

/**
 * Copies the folder of the caches to `text`, as racl_library_name() does with a name.
 */
int32_t racl_cache_folder(const racl_cache *cache, char *text, size_t size, size_t *needed);

/**
 * The plan from disk, where the same was compiled before; else it is built by `build`, on this thread, and stored. The
 * key has the versions of racl, of the library, of the device and its software, the code of `build` and its file, the
 * registry, and the parts. A hit may call `build` as well: from the second compilation of an entry in a process on, to see
 * that it records the same.
 */
int32_t racl_cache_compile(const racl_cache *cache,
                           const racl_context *context,
                           const racl_compile *what,
                           racl_plan **plan);

/**
 * What the last compilation of a function was, RACL_CACHE_..., and why, as racl_library_name() gives a name. Of several
 * at once it is the one that ended last; one that was refused before anything was looked for is none.
 */
int32_t racl_cache_status(const racl_cache *cache,
                          const char *function,
                          int32_t *status,
                          char *why,
                          size_t size,
                          size_t *needed);

/**
 * How often what came of compilations with this handle. Set `size` of the struct first.
 */
int32_t racl_cache_count(const racl_cache *cache, racl_cache_stats *stats);

/**
 * A registry, with nothing in it. RACL_NOT_SUPPORTED in a build without the cache.
 */
int32_t racl_registry_new(racl_registry **registry);

/**
 * Adds a host function, by its name: a plan that was stored with another version does not find it.
 */
int32_t racl_registry_add_host_function(const racl_registry *registry,
                                        const racl_host_function *function);

/**
 * Adds a foreign operator, as racl_registry_add_host_function().
 */
int32_t racl_registry_add_foreign(const racl_registry *registry, const racl_foreign *foreign);

/**
 * Gives the handle back; plans that were loaded keep what they found.
 */
int32_t racl_registry_free(racl_registry *registry);

/**
 * A host function, for builders and registries. What it is given stays as long as a plan or an executable has it.
 */
int32_t racl_host_function_new(const racl_host_function_info *info,
                               racl_host_function **function);

/**
 * Gives the handle back.
 */
int32_t racl_host_function_free(racl_host_function *function);

/**
 * Runs a function on the host when the stream gets there; in a capture it becomes part of the graph, and runs at each
 * launch. `user` goes to `release`, which may be NULL, when it will not run any more; not when this fails.
 */
int32_t racl_stream_host_function(const racl_stream *stream,
                                  racl_host_callback function,
                                  void *user,
                                  racl_release_callback release);

/**
 * A foreign operator, for builders and registries. What it is given stays as long as a plan or an executable has it.
 */
int32_t racl_foreign_new(const racl_foreign_info *info,
                         racl_foreign **foreign);

/**
 * Gives the handle back.
 */
int32_t racl_foreign_free(racl_foreign *foreign);

/**
 * The primary context of a device, which it opens. Each call gives a handle of the same one. RACL_INVALID_DEVICE for a
 * number of no device.
 */
int32_t racl_context_primary(const racl_library *library,
                             int32_t device,
                             racl_context **context);

/**
 * A context of its own on the device of another one.
 */
int32_t racl_context_new(const racl_context *beside, racl_context **context);

/**
 * An aclrtContext of other code, made by the AscendCL library of `library`, which stays that code's: neither freeing
 * nor closing the handle destroys it or resets its device. The handle and all that was made in it go before the context
 * does. It is the current context of the calling thread afterwards. Each call gives a handle with memory and an order
 * between streams of its own; memory of one is memory of the device for the others.
 */
int32_t racl_context_ref(const racl_library *library,
                         void *raw,
                         racl_context **context);

/**
 * The number of its device.
 */
int32_t racl_context_device(const racl_context *context, int32_t *device);

/**
 * Its aclrtContext, which stays racl's.
 */
int32_t racl_context_raw(const racl_context *context, void **raw);

/**
 * Makes it the current context of the calling thread, for calls of AscendCL beside racl.
 */
int32_t racl_context_bind(const racl_context *context);

/**
 * Waits for all work of the context. Gives the error of work that failed.
 */
int32_t racl_context_synchronize(const racl_context *context);

/**
 * Bytes of device memory that are free, and all of them.
 */
int32_t racl_context_memory_info(const racl_context *context, size_t *free, size_t *total);

/**
 * What its allocator did and holds. Set `size` of the struct first.
 */
int32_t racl_context_memory_stats(const racl_context *context, racl_memory_stats *stats);

/**
 * Begins the peaks of racl_context_memory_stats() anew.
 */
int32_t racl_context_reset_peaks(const racl_context *context);

/**
 * Gives cached memory back to the AscendCL library until at most `keep` bytes are cached; `freed`, which may be NULL,
 * gets the bytes that were given back.
 */
int32_t racl_context_trim(const racl_context *context,
                          size_t keep,
                          size_t *freed);

/**
 * The most bytes that the context has at a time from the AscendCL library; 0 for what the device has. Allocations beyond
 * it give RACL_OUT_OF_MEMORY once what is cached is given back and what work held is waited for. Below what the context
 * has already, it counts for what comes.
 */
int32_t racl_context_set_memory_limit(const racl_context *context,
                                      size_t bytes);

/**
 * Whether work of the context's streams, and launches of graphs on them, wait by themselves for work of other streams
 * that uses the same memory: 1, as a context begins, or 0, for a program that puts its streams in order by events. It
 * counts for work that is given to streams from then on, by any thread.
 */
int32_t racl_context_set_tracking(const racl_context *context,
                                  int32_t on);

/**
 * Whether the host looks at indices before it gives an operator that uses them to a stream of the context: 0, as a
 * context begins unless RACL_CHECK_INDICES in the environment is 1, or 1, for tests and while a program is written,
 * since it waits for all work that uses their memory, for ever where that waits for the calling thread. One out of
 * range is RACL_INVALID_ARGUMENT of racl_operator() then, with its place, and nothing is queued; otherwise a kernel of
 * a card may read, or write, other memory of the device. Operators of captures and of runs of plans are not looked at.
 * It counts for what is given to streams from then on, by any thread.
 */
int32_t racl_context_set_index_checks(const racl_context *context,
                                      int32_t on);

/**
 * Drops the work of all streams of the device, of all contexts and of other code in this process, and ends what runs, so
 * that the process can go on after a failure: as racl_stream_abort() for each of them. Returns when that is over, or
 * after so many nanoseconds, in whole milliseconds, rounded up: RACL_TIMEOUT or RACL_ABORTED then. RACL_INVALID_ARGUMENT
 * for no time and for more than 36 minutes, RACL_NOT_SUPPORTED in a host function, RACL_MISSING_SYMBOL on a library that
 * cannot.
 */
int32_t racl_context_abort_device(const racl_context *context,
                                  uint64_t nanoseconds);

/**
 * What the device of the context has. Set `size` of the struct first.
 */
int32_t racl_context_device_info(const racl_context *context, racl_device_info *info);

/**
 * Gives the handle back. A primary context stays open for the next racl_context_primary().
 */
int32_t racl_context_free(racl_context *context);

/**
 * Ends the context: a primary one gives the device back, which may reset it. RACL_INVALID_ARGUMENT while objects of it
 * are alive; the handle stays then, as it does when the library refuses.
 */
int32_t racl_context_close(racl_context *context);

/**
 * A tensor that another framework gave by DLPack, in memory of the context's device, which it keeps: `managed` is a
 * DLManagedTensorVersioned where `versioned` is 1, and a DLManagedTensor where it is 0. It is taken over: one that is
 * refused is ended by its deleter, whatever the reason; only with NULL, one that is not aligned, another `versioned`, bad
 * handles, bad places and where no handle is left (RACL_NO_HANDLES) it stays the caller's. An exception that leaves the deleter ends the process. Work of
 * the other framework that writes the memory is the caller's to order. RACL_INVALID_ARGUMENT for memory of the host or
 * of another device, memory that may only be read, and types that no aclDataType is; RACL_NOT_SUPPORTED for another
 * major version of DLPack than 1, and where libracl was built without the feature dlpack, see racl_has().
 */
int32_t racl_tensor_from_dlpack(const racl_context *context,
                                void *managed,
                                int32_t versioned,
                                racl_tensor **tensor);

/**
 * The tensor for another framework, which shares and keeps its memory and ends it with its deleter: `managed` gets a
 * DLManagedTensorVersioned where `versioned` is 1, and a DLManagedTensor where it is 0. The handle stays. Waits until no work that
 * was queued before uses the memory. RACL_INVALID_ARGUMENT for formats that are not ND and types that DLPack has no
 * name for; RACL_NOT_SUPPORTED where libracl was built without the feature dlpack.
 */
int32_t racl_tensor_to_dlpack(const racl_tensor *tensor,
                              int32_t versioned,
                              void **managed);

/**
 * All that the last failure on the calling thread is about: more than one where a plan was refused for several
 * reasons. RACL_INVALID_ARGUMENT when there was none, which is the last failure then.
 */
int32_t racl_last_errors(racl_errors **errors);

/**
 * Makes this the last failure on the calling thread, with all that is known of it, and gives its status: as
 * racl_last_error_set(), for a failure that was kept while other calls failed. The texts are copied; `call` and `details`
 * may be NULL, for no function of AscendCL, which gave no code then, and for nothing beside the message. In a callback
 * that ends with this, whoever waits for its work gets the call, the code and the details too. Of a plan's findings it makes one, whose
 * details have them all.
 */
int32_t racl_last_error_put(const racl_error *error);

/**
 * The errors that ends of objects of a context met, where no call could give them: when racl_..._free() destroyed
 * something, or gave up to wait for it. Each is given once. The list may be empty.
 */
int32_t racl_context_take_errors(const racl_context *context,
                                 racl_errors **errors);

/**
 * How many there are.
 */
int32_t racl_errors_count(const racl_errors *errors, size_t *count);

/**
 * One of them, counted from 0. Set `size` of the struct first.
 */
int32_t racl_errors_get(const racl_errors *errors, size_t index, racl_error *error);

/**
 * Gives the list back, with its texts.
 */
int32_t racl_errors_free(racl_errors *errors);

/**
 * A new event. With `timing` 1 it takes the time too, and recording it costs more; with 0 captures take it.
 */
int32_t racl_event_new(const racl_context *context,
                       int32_t timing,
                       racl_event **event);

/**
 * An aclrtEvent of other code, made in this context by the same AscendCL library with the flag ACL_EVENT_SYNC, alone or
 * with ACL_EVENT_TIME_LINE. That code goes on to record it and to wait for it: what counts for waits, and for whether it
 * is done, is the latest record, by whomever. It is left to its owner when the handle is freed, which must be before it
 * is destroyed. Captures refuse it (RACL_CAPTURE_FORBIDDEN), now and where other code records it in one of its own;
 * racl_event_elapsed() does too (RACL_INVALID_ARGUMENT).
 */
int32_t racl_event_ref(const racl_context *context,
                       void *raw,
                       racl_event **event);

/**
 * Its aclrtEvent, which stays racl's, or its owner's. Of an event that racl made other code may wait for the latest record
 * that racl made. It must not record it: racl takes what it recorded itself for done when the event is, whatever was
 * recorded since. Nor may it be recorded or waited for in a capture of other code, since racl would take work for done
 * that a graph repeats. racl_event_ref() is for events that other code makes and records. Nothing refuses either.
 */
int32_t racl_event_raw(const racl_event *event,
                       void **raw);

/**
 * Marks the point that the stream has reached with what it was given so far.
 */
int32_t racl_event_record(const racl_event *event, const racl_stream *stream);

/**
 * Waits until the latest record is done, or for so many nanoseconds: RACL_TIMEOUT then. Limits as for
 * racl_stream_synchronize(). RACL_CALLBACK_PANICKED, once, where a host function in front of the record failed.
 */
int32_t racl_event_synchronize(const racl_event *event,
                               int64_t nanoseconds);

/**
 * Whether the latest record is done: 1 or 0; 1 for an event that was not recorded. Does not wait.
 */
int32_t racl_event_is_complete(const racl_event *event, int32_t *is_complete);

/**
 * Nanoseconds between the records of two events that take the time. Both must be done.
 */
int32_t racl_event_elapsed(const racl_event *start, const racl_event *end, uint64_t *nanoseconds);

/**
 * Gives the event back; one of other code is left to it.
 */
int32_t racl_event_free(racl_event *event);

/**
 * A plan with memory on the device of a context, and all of its frozen inputs. A captured one has a graph already when
 * nothing of it waits for a run. `options` may be NULL. One thread at a time uses an executable: others get RACL_BUSY. One
 * that reads lets others have it while it waits for a run at a gate of the plan, who may give the signal; it gets RACL_BUSY
 * itself where another has it then.
 */
int32_t racl_executable_new(const racl_plan *plan,
                            const racl_context *context,
                            const racl_run_options *options,
                            const racl_frozen *frozen,
                            size_t frozen_count,
                            racl_executable **executable);

/**
 * Gives the executable back, with its memory and graphs. Waits for its last run for at most 10 seconds, see
 * racl_free_limit_set(), and not for one that waits at a gate: what is not done by then is kept, and given back by a
 * thread of its own once it is; racl_context_take_errors() has what there is to say, among it what failed in its last run
 * and nobody was told before: wait for the stream first, for its next wait does not give that again.
 */
int32_t racl_executable_free(racl_executable *executable);

/**
 * The number of an input, by its name.
 */
int32_t racl_executable_input(const racl_executable *executable,
                              const char *name,
                              uint32_t *number);

/**
 * The number of an output, by its name.
 */
int32_t racl_executable_output(const racl_executable *executable,
                               const char *name,
                               uint32_t *number);

/**
 * How many inputs it has: their numbers are those from 0 on.
 */
int32_t racl_executable_input_count(const racl_executable *executable, uint32_t *count);

/**
 * Copies the name of an input to `name`, as racl_library_name() does.
 */
int32_t racl_executable_input_name(const racl_executable *executable,
                                   uint32_t number,
                                   char *name,
                                   size_t size,
                                   size_t *needed);

/**
 * How many outputs it has.
 */
int32_t racl_executable_output_count(const racl_executable *executable, uint32_t *count);

/**
 * Copies the name of an output to `name`, as racl_library_name() does.
 */
int32_t racl_executable_output_name(const racl_executable *executable,
                                    uint32_t output,
                                    char *name,
                                    size_t size,
                                    size_t *needed);

/**
 * Runs the plan on the stream: after the work before it there, and before the work after it. Returns when it is
 * submitted, and allocates no memory of the host when nothing has to be captured and no updatable input moved;
 * racl_stream_synchronize() and what reads outputs wait for it. Errors of the work come from those. It writes over the
 * outputs of the run before. Where four runs with memory of the host are under way, or as many as host outputs have
 * buffers, it waits for the first: RACL_DEADLOCK, and nothing is submitted, where that one waits at a gate that nobody
 * signalled, since nobody can while this has the executable. RACL_ADDRESS_CHANGED for another address than a graph was
 * captured with, RACL_GRAPH_LIMIT where it would take more graphs than may be, RACL_INVALID_ARGUMENT for inputs that are
 * missing or do not fit.
 */
int32_t racl_executable_run(const racl_executable *executable,
                            const racl_stream *stream,
                            const racl_bindings *bindings);

/**
 * Captures the graph that a run with these bindings would need, and does not run it. Nothing where it is there already,
 * and with RACL_RUN_EAGER.
 */
int32_t racl_executable_capture(const racl_executable *executable,
                                const racl_bindings *bindings);

/**
 * How many more graphs can be captured: up to the limit of racl_run_options, and with the streams that the device has
 * left, where it tells. 0 with RACL_RUN_EAGER.
 */
int32_t racl_executable_graph_room(const racl_executable *executable,
                                   size_t *graphs);

/**
 * Memory of a static input, to be written between runs: racl_tensor_write() waits for the run before.
 */
int32_t racl_executable_static_input(const racl_executable *executable,
                                     uint32_t number,
                                     racl_tensor **tensor);

/**
 * Memory of a copied input: a run that has this tensor bound copies nothing.
 */
int32_t racl_executable_copied_input(const racl_executable *executable,
                                     uint32_t number,
                                     racl_tensor **tensor);

/**
 * The type and shape of an output of the latest run, as racl_tensor_shape() gives them; `dtype` may be NULL.
 */
int32_t racl_executable_output_shape(const racl_executable *executable,
                                     uint32_t output,
                                     size_t *shape,
                                     size_t room,
                                     size_t *rank,
                                     int32_t *dtype);

/**
 * Waits for the latest run and copies an output to the host; `size` is that of the output. RACL_INVALID_ARGUMENT for
 * another size and where there was no run; the status of the run's failure where it failed.
 */
int32_t racl_executable_read(const racl_executable *executable,
                             uint32_t output,
                             void *data,
                             size_t size);

/**
 * Waits for the latest run and copies an output that it brought to the host, see racl_builder_output_to_host().
 */
int32_t racl_executable_read_host(const racl_executable *executable,
                                  uint32_t output,
                                  void *data,
                                  size_t size);

/**
 * Copies an output of the latest run to a dense tensor of its type and shape when the stream gets there.
 */
int32_t racl_executable_copy_output(const racl_executable *executable,
                                    uint32_t output,
                                    const racl_stream *stream,
                                    const racl_tensor *tensor);

/**
 * How often what happened so far. Set `size` of the struct first.
 */
int32_t racl_executable_counters(const racl_executable *executable, racl_run_counters *counters);

/**
 * Drops every captured graph, once its last run is over.
 */
int32_t racl_executable_clear_graphs(const racl_executable *executable);

/**
 * Limits the cores of graphs that are captured from now on; 0 and 0 for no limit.
 */
int32_t racl_executable_limit_cores(const racl_executable *executable,
                                    uint32_t cube_cores,
                                    uint32_t vector_cores);

/**
 * Gives a signal to runs that wait at a gate of the plan, when the stream gets there.
 */
int32_t racl_executable_signal(const racl_executable *executable,
                               const char *gate,
                               const racl_stream *stream);

/**
 * Makes the stream wait for a signal that runs give at a gate of the plan.
 */
int32_t racl_executable_wait_signal(const racl_executable *executable,
                                    const char *gate,
                                    const racl_stream *stream);

/**
 * A way out of runs that wait at gates for signals that will not come: gives signals that were given time to arrive, as
 * long as racl_run_options says, then opens the gates until every run so far is over. Waits until then. What is behind a
 * gate that was opened ran without what it waits for: `gates` has these, RACL_OK for the status of each and its name for
 * the message. RACL_TIMEOUT where runs of another executable, which is to be released first, hold these up.
 */
int32_t racl_executable_release_gates(const racl_executable *executable,
                                      racl_errors **gates);

/**
 * The text of the last failure on the calling thread, "" when there was none. It stays until the next failure on this
 * thread, and ends with the thread.
 */
const char *racl_last_error_message(void);

/**
 * The same text with all that is known beside it, a line each: what was being done, what the AscendCL library said,
 * what else is wrong with a plan, and what the failure came from. It stays as racl_last_error_message(), and is that
 * text where nothing is known beside it.
 */
const char *racl_last_error_details(void);

/**
 * The name of the AscendCL function that the last failure on the calling thread came from, "" when it came from none.
 * It stays as racl_last_error_message().
 */
const char *racl_last_error_call(void);

/**
 * The code that this function gave; 0 when the failure came from none.
 */
int32_t racl_last_error_code(void);

/**
 * The status of the last failure on the calling thread, RACL_OK when there was none.
 */
int32_t racl_last_error_status(void);

/**
 * Makes this the last failure on the calling thread, and gives `status`, for callbacks and for layers over this
 * header: a callback that ends with `return racl_last_error_set(RACL_CALLBACK_PANICKED, "the disk is full");` fails
 * the work with this text. `status` is RACL_... or a number of the caller's own; RACL_INVALID_ARGUMENT for RACL_OK.
 */
int32_t racl_last_error_set(int32_t status,
                            const char *message);

/**
 * How many failures there were on the calling thread: another number than before tells that something failed meanwhile.
 */
uint64_t racl_last_error_count(void);

/**
 * Copies the text of racl_last_error_message() to `text`, of `size` bytes with the zero at its end; characters that have
 * no room are left out. Gives the bytes that all of it needs. `text` may be NULL when `size` is 0.
 */
size_t racl_last_error_copy(char *text,
                            size_t size);

/**
 * The name of a status, such as "RACL_BUSY"; "" for another number.
 */
const char *racl_status_name(int32_t status);

/**
 * The indices of elements that are not 0, in order: rows of int64_t with one index for each dimension.
 */
int32_t racl_builder_nonzero(const racl_builder *builder,
                             racl_value of,
                             racl_found *found);

/**
 * The elements of a value where `mask`, of truth values or bytes, is not 0, in order. They broadcast to each other.
 */
int32_t racl_builder_masked_select(const racl_builder *builder,
                                   racl_value of,
                                   racl_value mask,
                                   racl_found *found);

/**
 * What there is of elements or of slices, each once: `how` is RACL_UNIQUE_..., and `dim` the dimension of slices, from
 * the end where it is negative. `places` gets the place of each element or slice among what was found, int64_t, and
 * `counts` how many there are of each. NaN equals nothing.
 */
int32_t racl_builder_unique(const racl_builder *builder,
                            racl_value of,
                            int32_t how,
                            int64_t dim,
                            racl_found *found,
                            racl_value *places,
                            racl_found *counts);

/**
 * Truth values of the rows of a racl_found: true for those that came. An operator on its values works on all of the
 * room; this keeps out what did not come.
 */
int32_t racl_builder_found_mask(const racl_builder *builder,
                                const racl_found *found,
                                racl_value *value);

/**
 * Makes what was found an output, for racl_executable_read_found(), and the number of its rows one that each run brings
 * to the host, whose name has ".count" behind it.
 */
int32_t racl_builder_output_found(const racl_builder *builder,
                                  const char *name,
                                  const racl_found *found);

/**
 * Waits for the latest run, and gives how many rows of an output it found, see racl_builder_output_found().
 */
int32_t racl_executable_found_count(const racl_executable *executable,
                                    uint32_t output,
                                    size_t *rows);

/**
 * Waits for the latest run, and copies the rows that it found of an output to `data`, which has room for `size` bytes;
 * `needed` gets how many bytes came. A `size` of 0 asks for that alone; RACL_INVALID_ARGUMENT, and nothing is copied,
 * where it is less than came, and `needed` is set all the same.
 */
int32_t racl_executable_read_found(const racl_executable *executable,
                                   uint32_t output,
                                   void *data,
                                   size_t size,
                                   size_t *needed);

/**
 * Begins to record what the stream is given, instead of executing it. Other streams join by racl_stream_wait() for an
 * event that was recorded on it, and must lead back to it the same way. The capture gives its graph on this thread, a relaxed one on any.
 * What its streams are refused meanwhile is missing in the graph, so that there is none: racl_capture_end() gives
 * RACL_CAPTURE_INVALIDATED then. After RACL_BUSY nothing is missing, and the call may be tried again.
 */
int32_t racl_capture_begin(const racl_stream *stream,
                           int32_t mode,
                           racl_capture **capture);

/**
 * Ends the capture and gives its graph. The handle of the capture is gone then, also when the capture gives no graph;
 * it stays on another thread than that which began it (RACL_CAPTURE_WRONG_THREAD), unless the capture is
 * RACL_CAPTURE_RELAXED, which ends on any, and with a bad place for the graph or none for its handle (RACL_NO_HANDLES).
 */
int32_t racl_capture_end(racl_capture *capture,
                         racl_graph **graph);

/**
 * An aclmdlRI of other code, which was captured in this context with the same AscendCL library and is in no capture. What
 * it uses is that code's to keep; racl does not know it, so that work on the same memory has to be ordered with launches
 * by streams and events. Nobody else launches it while there is a handle, and it outlives the handle. It is left to its
 * owner when the handle is freed.
 */
int32_t racl_graph_ref(const racl_context *context,
                       void *raw,
                       racl_graph **graph);

/**
 * Ends the capture without a graph, on any thread, also when that which began it is gone: its streams are free again. Of
 * one that ends on another thread, and is not RACL_CAPTURE_RELAXED, the AscendCL library keeps what it recorded.
 */
int32_t racl_capture_free(racl_capture *capture);

/**
 * Queues one execution of all that was recorded. It is ordered behind the launch before, and behind other work of racl
 * that uses the same memory.
 */
int32_t racl_graph_launch(const racl_graph *graph,
                          const racl_stream *stream);

/**
 * Waits until the last launch is done. Gives the error of work that failed.
 */
int32_t racl_graph_wait(const racl_graph *graph);

/**
 * Ends the launch that runs, of a graph of other code that it built by hand: the next wait for it gives RACL_ABORTED, and
 * what it was to write is as it was, or half written. Nothing happens when no launch runs. RACL_NOT_SUPPORTED for a graph
 * that was captured by racl: racl_stream_abort() of the stream that it was launched on ends its work.
 */
int32_t racl_graph_abort(const racl_graph *graph);

/**
 * Its aclmdlRI, which stays racl's, or its owner's.
 */
int32_t racl_graph_raw(const racl_graph *graph, void **raw);

/**
 * Writes what is in the graph as a trace (JSON) that chrome://tracing and Perfetto show.
 */
int32_t racl_graph_write_trace(const racl_graph *graph, const char *path);

/**
 * Gives the handle back. The graph is destroyed, with all that it keeps, when its last launch is done, after a wait of
 * at most 10 seconds, see racl_free_limit_set(), and later when it goes on. One of other code is waited for as long and
 * left to its owner, also where its work failed: racl_context_take_errors() has the error then, as it has what failed in
 * launches of any graph that nobody was told before, which a later wait for their stream does not give again. It stays, with its
 * handle, where its last launch is not done (RACL_TIMEOUT).
 */
int32_t racl_graph_free(racl_graph *graph);

/**
 * Waits for the last launch and destroys the graph; the handle stays when that fails. RACL_INVALID_ARGUMENT for a graph
 * of other code, which racl_graph_free() gives back.
 */
int32_t racl_graph_close(racl_graph *graph);

/**
 * Records what `give` gives to a stream that captures, on this thread, as a group that racl_graph_update() can replace in
 * the graph: operators alone, in one group at a time. The capture gives no graph when this fails. RACL_NOT_CAPTURING for a
 * stream that captures nothing, RACL_NOT_SUPPORTED for other work than operators.
 */
int32_t racl_stream_task_group(const racl_stream *stream,
                               racl_give_callback give,
                               void *user,
                               racl_task_group **task_group);

/**
 * Replaces the operators of a group by what `give` gives to the stream it is handed, on this thread, from the next launch
 * on: as many, of the same kinds in the same order, on other tensors or with other numbers. Nothing of it runs now. Waits
 * for the last launch. The stream ends with the call, and not before: `give` gets RACL_BUSY for that.
 *
 * RACL_INVALID_ARGUMENT for a group of another graph, and for another operator in the place of one of the group;
 * RACL_INTERNAL for operators that do not fit those of the group otherwise, as more of them. When
 * it fails after some work was given, racl_graph_launch() gives RACL_GRAPH_RUNNING until an update of the group succeeds.
 */
int32_t racl_graph_update(const racl_graph *graph,
                          const racl_task_group *task_group,
                          racl_give_callback give,
                          void *user);

/**
 * Gives the handle back; what is in the graph stays there.
 */
int32_t racl_task_group_free(racl_task_group *task_group);

/**
 * So many bytes of pinned host memory, which are zero.
 */
int32_t racl_host_new(const racl_context *context, size_t bytes, racl_host **host);

/**
 * Where the memory is. RACL_BUSY while a copy has it: until racl_host_wait() the program must not touch it then.
 */
int32_t racl_host_data(const racl_host *host,
                       void **data);

/**
 * Its bytes. RACL_BUSY while a copy has it.
 */
int32_t racl_host_size(const racl_host *host, size_t *bytes);

/**
 * Copies host memory to a buffer of the same size when the stream gets there. The memory is the copy's until
 * racl_host_wait(). RACL_CAPTURE_FORBIDDEN on a stream that captures.
 */
int32_t racl_stream_upload(const racl_stream *stream,
                           const racl_buffer *to,
                           const racl_host *from);

/**
 * Copies a buffer to host memory of the same size when the stream gets there; otherwise as racl_stream_upload().
 */
int32_t racl_stream_download(const racl_stream *stream,
                             const racl_host *to,
                             const racl_buffer *from);

/**
 * Waits until the copy that has the memory is done; returns at once when none has. Gives the error of the copy, or of
 * work before it on the stream; a second call may give the memory back then.
 */
int32_t racl_host_wait(const racl_host *host);

/**
 * Gives the handle back. The memory is freed when its copy is done: here, after a wait of at most as long as
 * racl_free_limit_set() says, or later by a thread of racl. It is kept for good where nobody will know that.
 */
int32_t racl_host_free(racl_host *host);

/**
 * Waits for its copy and frees the memory; the handle stays when that fails.
 */
int32_t racl_host_close(racl_host *host);

/**
 * The host outputs of the latest run, to be read while later runs are under way, and when the executable is gone: of a
 * plan with racl_builder_output_to_host(), and with 2 `host_output_buffers` or more in racl_run_options. Does not wait.
 * racl_executable_read_host() has nothing to read until the next run. One thread at a time uses them: others get
 * RACL_BUSY. RACL_INVALID_ARGUMENT with fewer buffers, without a run that succeeded as far as is known, and when they were
 * taken already.
 */
int32_t racl_executable_take_host_outputs(const racl_executable *executable,
                                          racl_host_outputs **outputs);

/**
 * Whether reading would not wait: 1 or 0. Does not wait. A run that failed is ready, and reading says how it ended.
 */
int32_t racl_host_outputs_is_ready(const racl_host_outputs *outputs,
                                   int32_t *is_ready);

/**
 * The type and shape of an output in that run, as racl_tensor_shape() gives them; `dtype` may be NULL. Does not wait.
 */
int32_t racl_host_outputs_shape(const racl_host_outputs *outputs,
                                uint32_t output,
                                size_t *shape,
                                size_t room,
                                size_t *rank,
                                int32_t *dtype);

/**
 * Waits for that run, not for later ones, and copies an output to `data`; `size` is that of the output. Gives the error of
 * the run. The library tells a failure once, and not of which run it is: those that were under way then are refused, but
 * for those that were read before.
 */
int32_t racl_host_outputs_read(const racl_host_outputs *outputs,
                               uint32_t output,
                               void *data,
                               size_t size);

/**
 * Gives the memory back to the executable, without a wait; a run that is given it waits for the copies.
 */
int32_t racl_host_outputs_free(racl_host_outputs *outputs);

/**
 * The version of the library that the program runs with, to compare with RACL_VERSION.
 */
uint32_t racl_version(void);

/**
 * Opens and initialises an AscendCL library. NULL: what the environment variable RACL_LIBRARY names, else the library
 * of the machine. "mock": the built-in mock, where it was compiled in. Otherwise a file, or a name that the dynamic
 * loader searches, whose initialisers run. The same library may be opened several times.
 *
 * racl remembers which context it made current on a thread, and makes no call for that while it stays the same. A
 * program that makes other contexts current beside racl, with aclrtSetCurrentContext or aclrtSetDevice, either calls
 * racl_context_bind() before it calls racl again, or opens the library with RACL_LIBRARY_VERIFY_CONTEXT.
 */
int32_t racl_library_open(const char *path,
                          racl_library **library);

/**
 * As racl_library_open(), with options, which may be NULL. RACL_LIBRARY_VERIFY_CONTEXT is for programs that make other
 * contexts current beside racl. It costs a call of aclrtGetCurrentContext for each call that racl makes.
 */
int32_t racl_library_open_with(const char *path,
                               const racl_library_options *options,
                               racl_library **library);

/**
 * Copies what the library is, for people, to `name`, of `size` bytes; `needed`, which may be NULL, gets the bytes that
 * all of it needs.
 */
int32_t racl_library_name(const racl_library *library,
                          char *name,
                          size_t size,
                          size_t *needed);

/**
 * Whether it is the built-in mock: 1 or 0.
 */
int32_t racl_library_is_mock(const racl_library *library, int32_t *is_mock);

/**
 * How many devices there are.
 */
int32_t racl_library_device_count(const racl_library *library, uint32_t *count);

/**
 * Copies the name of the chip, such as "Ascend910B2", to `name`, as racl_library_name() does; device 0's where devices
 * differ. It is the `soc` of racl_passes.
 */
int32_t racl_library_soc_name(const racl_library *library,
                              char *name,
                              size_t size,
                              size_t *needed);

/**
 * Gives the handle back. The library stays initialised.
 */
int32_t racl_library_free(racl_library *library);

/**
 * Ends the initialisation, and resets devices that were kept open. RACL_INVALID_ARGUMENT while contexts or other
 * handles use it; the handle stays then, as it does when the library refuses.
 */
int32_t racl_library_close(racl_library *library);

/**
 * Whether something was compiled into libracl: 1 or 0. `feature` is "cache", "dlopen", "dlpack", "link" or "mock"; the
 * functions of what was not give RACL_NOT_SUPPORTED. RACL_INVALID_ARGUMENT for another name.
 */
int32_t racl_has(const char *feature,
                 int32_t *has);

/**
 * How long racl_..._free() waits for work, in nanoseconds, for the whole process: 10 seconds unless told otherwise.
 * What is not done by then is kept, and destroyed by a thread of its own once it is; racl_context_take_errors() has it
 * then. Whole milliseconds count.
 */
int32_t racl_free_limit_set(uint64_t nanoseconds);

/**
 * Gives what racl logs, up to this level, to a function, instead of nobody; NULL and RACL_LOG_OFF end that. It counts
 * for the process. It waits for calls of the former function that are under way, and once it returned there are none any
 * more, so that its `user` may be freed: whoever calls it must hold nothing that the former function waits for. Only when
 * called from inside such a function it waits for nobody, and the former one may still run, also on other threads. Nor
 * does it wait, in a fork, for a function that was set before the fork, since calls of then have no end there.
 * RACL_ALREADY_INITIALIZED where code in Rust that is linked to the same racl has a logger of its own.
 */
int32_t racl_log_set(int32_t level,
                     racl_log_callback function,
                     void *user);

/**
 * As racl_log_set(), with a `release`, which may be NULL: it is given `user`, once, when nothing will call the function
 * any more, also where nobody waits for that. Not when this fails, nor where `function` is NULL.
 */
int32_t racl_log_set_with(int32_t level,
                          racl_log_callback function,
                          void *user,
                          racl_release_callback release);

/**
 * Lets nothing of the stream run until racl_mock_release(). As all racl_mock_... functions it is for tests, acts on
 * the mock of the process, and gives RACL_NOT_SUPPORTED in a build without the mock. RACL_INVALID_ARGUMENT for a stream of
 * another library.
 */
int32_t racl_mock_hold(const racl_stream *stream);

/**
 * Lets the stream run again.
 */
int32_t racl_mock_release(const racl_stream *stream);

/**
 * Lets all streams run again, also one that was freed before its work was done, which keeps its context open until it
 * is.
 */
int32_t racl_mock_release_all(void);

/**
 * Whether queued work waits until somebody waits or asks for it (1), or also runs by itself (0). `former`, which is
 * what it was, must not be NULL.
 */
int32_t racl_mock_stand_still(int32_t on,
                              int32_t *former);

/**
 * Runs what can run, and gives how many tasks that were.
 */
int32_t racl_mock_run(uint64_t *tasks);

/**
 * The virtual clock, in nanoseconds.
 */
int32_t racl_mock_now(uint64_t *nanoseconds);

/**
 * Puts the clock forward: waits with limits see the time as gone.
 */
int32_t racl_mock_advance(uint64_t nanoseconds);

/**
 * How often a function of AscendCL was called since the last reset. RACL_INVALID_ARGUMENT for a name of none.
 */
int32_t racl_mock_calls(const char *function,
                        uint64_t *count);

/**
 * Lets the `nth` call from now on, counted from 1, of a function of AscendCL give `code`, without doing anything.
 */
int32_t racl_mock_fail(const char *function,
                       uint64_t nth,
                       int32_t code);

/**
 * Lets the `nth` task from now on that a function of AscendCL queues fail with `code` when it runs.
 */
int32_t racl_mock_fail_task(const char *function, uint64_t nth, int32_t code);

/**
 * Takes back all failures that have not come yet.
 */
int32_t racl_mock_clear_failures(void);

/**
 * What is alive. Set `size` of the struct first.
 */
int32_t racl_mock_count(racl_mock_live *live);

/**
 * How many prefetches ran, and how many bytes they named.
 */
int32_t racl_mock_prefetched(uint64_t *tasks, uint64_t *bytes);

/**
 * Lets the process have at most so many streams, default streams and those inside graphs included; 0 for the number of the
 * start, as after a reset. RACL_NO_STREAMS for those beyond it.
 */
int32_t racl_mock_limit_streams(uint32_t count);

/**
 * Lets the process have at most so many records of events under way; 0 for the number of the start, as after a reset.
 */
int32_t racl_mock_limit_events(uint32_t count);

/**
 * Lets the devices tell of an L2 cache of so many bytes; 0 for those of the start, as after a reset.
 */
int32_t racl_mock_set_l2_cache(uint64_t bytes);

/**
 * Whether the mock looks for accesses to memory that nothing orders, RACL_MOCK_RACES_...: of tasks on different streams,
 * or of a task and a call of the host. What was found before is forgotten, and what is queued already not looked at.
 * `former`, which is what it was, must not be NULL. Where racl_context_set_tracking() is on there is nothing to find.
 */
int32_t racl_mock_check_races(int32_t mode,
                              int32_t *former);

/**
 * The pairs that were found, in the order in which they were met: RACL_OK for the status of each, and for the message who
 * does what, with which memory, and what would order the two.
 */
int32_t racl_mock_races(racl_errors **races);

/**
 * Begins a log of the operators that run (1), or ends it (0). Either empties it.
 */
int32_t racl_mock_log_launches(int32_t on);

/**
 * How many ran since racl_mock_log_launches(), those in graphs once for each launch.
 */
int32_t racl_mock_launch_count(uint64_t *count);

/**
 * One of those that ran, counted from 0 in the order in which they started. Set `size` of the struct first.
 */
int32_t racl_mock_launch_get(uint64_t index,
                             racl_mock_launch *launch);

/**
 * Begins a log of the calls of AscendCL by all threads (1), or ends it (0). Either empties it.
 */
int32_t racl_mock_log_calls(int32_t on);

/**
 * How many calls there were since racl_mock_log_calls(); racl_mock_calls() counts those of one function.
 */
int32_t racl_mock_call_count(uint64_t *count);

/**
 * One of the calls, counted from 0 in the order in which they began. Set `size` of the struct first.
 */
int32_t racl_mock_call_get(uint64_t index,
                           racl_mock_call *call);

/**
 * Puts the mock back to its start. Handles from before are refused by it; free them.
 */
int32_t racl_mock_reset(void);

/**
 * A tensor over a buffer, whose memory it keeps. The buffer has to have all of its elements: RACL_INVALID_ARGUMENT else,
 * for a type that racl does not know, and for a format below 0. Which others there are the AscendCL library knows, and says
 * when it is given the tensor.
 */
int32_t racl_tensor_new(const racl_buffer *buffer,
                        const racl_tensor_layout *layout,
                        racl_tensor **tensor);

/**
 * Its aclDataType, RACL_TYPE_...
 */
int32_t racl_tensor_dtype(const racl_tensor *tensor, int32_t *dtype);

/**
 * Its dimensions: `rank` gets how many there are, and `shape`, which has room for `room` numbers and may be NULL when
 * that is 0, gets as many of them.
 */
int32_t racl_tensor_shape(const racl_tensor *tensor,
                          size_t *shape,
                          size_t room,
                          size_t *rank);

/**
 * Its strides, in elements, as racl_tensor_shape() gives the shape.
 */
int32_t racl_tensor_strides(const racl_tensor *tensor, size_t *strides, size_t room, size_t *rank);

/**
 * The memory of a dense tensor, from its first element on, as a buffer that keeps it: for copies in the order of a stream
 * (racl_stream_upload() and its like) and for other code. RACL_INVALID_ARGUMENT for one with gaps, one whose format is not
 * ND, and elements that do not fill bytes.
 */
int32_t racl_tensor_buffer(const racl_tensor *tensor,
                           racl_buffer **buffer);

/**
 * Copies `size` bytes from the host to a dense tensor, which has as many. Waits as racl_buffer_write() does.
 */
int32_t racl_tensor_write(const racl_tensor *tensor,
                          const void *data,
                          size_t size);

/**
 * Copies a dense tensor to the host; `size` is its bytes. Waits as racl_buffer_read() does.
 */
int32_t racl_tensor_read(const racl_tensor *tensor, void *data, size_t size);

/**
 * Gives the handle back.
 */
int32_t racl_tensor_free(racl_tensor *tensor);

/**
 * Gives an operator of AscendCL to the stream by its C name, such as "aclnnAdd". The arguments are those of the
 * function aclnn...GetWorkspaceSize, in its order, without its last two; results are tensors too. Returns when the
 * operator is queued; in a capture it becomes part of the graph. RACL_INVALID_ARGUMENT for an unknown name, another number
 * of arguments or another kind of one; RACL_MISSING_SYMBOL where the library lacks the operator; what the library refuses
 * has the status of its reason.
 */
int32_t racl_operator(const racl_stream *stream,
                      const char *name,
                      const racl_arg *args,
                      size_t count);

/**
 * A plan that computes the same with less work; `plan` stays as it is. Names, inputs, outputs, streams, events, and
 * the order of what is left are the same. racl_plan_changes() has what was changed.
 *
 * RACL_INVALID_PLAN when a pass that is verified gives other numbers. Such a pass calls host functions, on this thread:
 * RACL_CALLBACK_PANICKED when one fails; and needs a computation on the host of every operator: RACL_NOT_SUPPORTED.
 */
int32_t racl_plan_optimise(const racl_plan *plan,
                           const racl_passes *passes,
                           racl_plan **optimised);

/**
 * What passes changed since the plan was recorded, in that order: RACL_OK for the status of each, and for the message
 * the pass, the work that is gone, why, and what is there instead. Nothing for a plan that was stored.
 */
int32_t racl_plan_changes(const racl_plan *plan,
                          racl_errors **changes);

/**
 * Gives the handle back; executables keep the plan.
 */
int32_t racl_plan_free(racl_plan *plan);

/**
 * What is in the plan. Set `size` of the struct first.
 */
int32_t racl_plan_describe(const racl_plan *plan, racl_plan_info *info);

/**
 * What is worth a look, though the plan can run: RACL_OK for the status of each.
 */
int32_t racl_plan_lints(const racl_plan *plan, racl_errors **lints);

/**
 * Copies what the plan is to `text`, of `size` bytes; `needed`, which may be NULL, gets the bytes that all of it
 * needs. `symbols` are the values of the plan's symbols, in the order in which they were made, for RACL_DUMP_JSON;
 * NULL and 0 otherwise.
 */
int32_t racl_plan_dump(const racl_plan *plan,
                       int32_t format,
                       const size_t *symbols,
                       size_t symbol_count,
                       char *text,
                       size_t size,
                       size_t *needed);

/**
 * Copies the plan as bytes, for racl_plan_load() in another process, to `bytes`, of `size` bytes; `needed` gets how
 * many there are. A `size` of 0 asks for that alone; RACL_INVALID_ARGUMENT, and nothing is copied, where it is less than
 * there are, and `needed` is set all the same. RACL_NOT_SUPPORTED in a build without the cache.
 */
int32_t racl_plan_store(const racl_plan *plan,
                        void *bytes,
                        size_t size,
                        size_t *needed);

/**
 * A plan of racl_plan_store()'s bytes, which may come from anywhere: it is checked as one from a builder is. Its
 * foreign operators and host functions are those of the registry, which may be NULL. RACL_FILE for bytes that are no
 * plan; RACL_INVALID_PLAN when the registry lacks what it needs; RACL_NOT_SUPPORTED in a build without the cache.
 */
int32_t racl_plan_load(const void *data,
                       size_t size,
                       const racl_registry *registry,
                       racl_plan **plan);

/**
 * Runs a plan on memory of the host, without a device, with all its inputs and all its symbols. Work in no order runs
 * in one that `seed` chooses. Host functions run on this thread. RACL_CALLBACK_PANICKED when one, or the simulation of
 * a foreign operator, fails.
 */
int32_t racl_simulation_new(const racl_plan *plan,
                            uint64_t seed,
                            const racl_given *given,
                            size_t given_count,
                            const racl_symbol *symbols,
                            size_t symbol_count,
                            racl_simulation **simulation);

/**
 * Copies an output to `data`, which has room for `size` bytes; `needed` gets how many there are. A `size` of 0 asks for
 * that alone; RACL_INVALID_ARGUMENT, and nothing is copied, where it is less than there are, and `needed` is set all the
 * same.
 */
int32_t racl_simulation_read(const racl_simulation *simulation,
                             const char *output,
                             void *data,
                             size_t size,
                             size_t *needed);

/**
 * The type and shape of an output, as racl_executable_output_shape() gives them.
 */
int32_t racl_simulation_output_shape(const racl_simulation *simulation,
                                     const char *output,
                                     size_t *shape,
                                     size_t room,
                                     size_t *rank,
                                     int32_t *dtype);

/**
 * Gives the handle back.
 */
int32_t racl_simulation_free(racl_simulation *simulation);

/**
 * Memory for the temporaries of several executables on the device of a context, which racl_run_options name. Their runs
 * are ordered one behind the other on the device, on whatever streams they are, and the memory grows to what the largest
 * of them needs. A run that waits at a gate holds up those behind it.
 */
int32_t racl_pool_new(const racl_context *context,
                      racl_pool **pool);

/**
 * Bytes that it has for temporaries now; scratch memory of operators in captured graphs comes on top.
 */
int32_t racl_pool_size(const racl_pool *pool,
                       size_t *bytes);

/**
 * Gives the handle back; executables keep the pool.
 */
int32_t racl_pool_free(racl_pool *pool);

/**
 * Records an operator of AscendCL by its C name. The arguments are those of racl_operator() with values in place of
 * tensors: RACL_ARG_VALUE and RACL_ARG_VALUES for operands and for results that are written to memory that is there,
 * RACL_ARG_RESULT and RACL_ARG_RESULTS for new ones, RACL_ARG_DIM and RACL_ARG_DIMS for numbers that depend on
 * symbols. What does not fit is refused here, with both shapes. New values are 0 when this fails. They are written when
 * all the rest was read: a list of values may be that of the results too.
 */
int32_t racl_builder_operator(const racl_builder *builder,
                              const char *name,
                              const racl_arg *args,
                              size_t count);

/**
 * A new stream; `options` may be NULL.
 */
int32_t racl_stream_new(const racl_context *context,
                        const racl_stream_options *options,
                        racl_stream **stream);

/**
 * The default stream of a context, which stays the context's.
 */
int32_t racl_stream_default(const racl_context *context, racl_stream **stream);

/**
 * An aclrtStream of other code, made in this context by the same AscendCL library. It is left to its owner when the
 * handle is freed, which must be before it is destroyed. racl does not know what the owner gives to it meanwhile.
 * RACL_CAPTURE_FORBIDDEN, now and for work that it is to be given later, while the stream is in a capture that other
 * code began, since racl would keep nothing for the graph.
 */
int32_t racl_stream_ref(const racl_context *context,
                        void *raw,
                        racl_stream **stream);

/**
 * Its aclrtStream, which stays racl's, or its owner's. Other code may give work to it, which racl does not know: what the
 * work uses stays until it is done, by that code's care. It must begin no capture with a stream that racl made, nor bring
 * it into one: racl would count work as done that a graph repeats, and keep nothing for the graph. racl_capture_begin()
 * captures such a stream; racl_stream_ref() is for those that other code makes. Nothing refuses it.
 */
int32_t racl_stream_raw(const racl_stream *stream,
                        void **raw);

/**
 * Names the stream, for errors and traces, which call it by its number otherwise.
 */
int32_t racl_stream_set_name(const racl_stream *stream, const char *name);

/**
 * Whether it records a graph, in a capture of racl or of other code: 1 or 0.
 */
int32_t racl_stream_is_capturing(const racl_stream *stream, int32_t *is_capturing);

/**
 * Drops the stream's work that has not run and ends what runs, such as a task that hangs. Returns when that is over; the
 * stream takes new work then. Who waits for the stream meanwhile, or later for an event or a copy of work that was
 * dropped, gets RACL_ABORTED, and what that work was to write is as it was, or half written. Other streams that wait for
 * records of this one may hang: abort them as well. RACL_CAPTURE_FORBIDDEN while it records a graph, RACL_NOT_SUPPORTED in
 * a host function, RACL_MISSING_SYMBOL on a library that cannot.
 */
int32_t racl_stream_abort(const racl_stream *stream);

/**
 * Waits until its work is done, or for so many nanoseconds, at most 24 days of them: RACL_TIMEOUT then, and the work
 * goes on. Below 0 without a limit; 0 is none, racl_stream_is_complete() does not wait. Gives the error of work that
 * failed; RACL_CAPTURE_FORBIDDEN while it records a graph, whose capture gives none then.
 */
int32_t racl_stream_synchronize(const racl_stream *stream,
                                int64_t nanoseconds);

/**
 * Whether its work is done: 1 or 0. Does not wait. Gives the error of work that failed, also one that somebody was told
 * already, until the stream has done later work. While it records a graph as racl_stream_synchronize().
 */
int32_t racl_stream_is_complete(const racl_stream *stream,
                                int32_t *is_complete);

/**
 * Lets what the stream is given from now on wait until the event's latest record is done.
 */
int32_t racl_stream_wait(const racl_stream *stream, const racl_event *event);

/**
 * Gives the handle back. A stream of racl's own is destroyed when nothing uses it any more, after a wait for its work
 * of at most 10 seconds, see racl_free_limit_set(), and later when that goes on. One of other code is waited for as
 * long and left to its owner, also where its work failed: racl_context_take_errors() has the error then. It stays,
 * with its handle, where that work is not done (RACL_TIMEOUT), which is told at once where it may wait at a gate of a
 * plan, and while a capture or a graph of racl has it (RACL_INVALID_ARGUMENT).
 */
int32_t racl_stream_free(racl_stream *stream);

/**
 * Waits for its work and destroys the stream. The handle stays when that fails, as while something uses the stream.
 * RACL_INVALID_ARGUMENT for one of other code.
 */
int32_t racl_stream_close(racl_stream *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* RACL_H */
