/* racl: Ascend NPUs for C, C++ and other languages. MIT OR Apache-2.0.
 *
 * Made by cbindgen from capi/src; not edited by hand.
 *
 * Status. Functions that can fail return RACL_OK or a status; racl_last_error_message() and its like have the rest, for
 * the thread that made the call. A function that fails sets all its results to zero first.
 *
 * Handles. A handle is a number in the shape of a pointer, and never points at memory. NULL, the handle of what is gone,
 * that of another kind, and any other pointer give a status. racl_..._new gives a handle that the caller owns and gives
 * to racl_..._free once; racl_..._ref gives one for an object of other code, which racl_..._free leaves alone. What an
 * object needs stays alive by itself: a stream may be freed before a graph that was captured on it.
 *
 * Threads. Every function may be called on every thread, unless it says otherwise. A handle that another thread frees
 * or, for graphs and host memory, uses at the same time gives RACL_BUSY, and nothing is done.
 *
 * Structs that may grow begin with their size: set it to sizeof the struct, and the rest to zero. */

#ifndef RACL_H
#define RACL_H



#include <stddef.h>
#include <stdint.h>


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
 * A host function panicked; the panic was caught.
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
 * Memory of a device, or a part of it.
 */
typedef struct racl_buffer racl_buffer;

/**
 * A capture that has not ended.
 */
typedef struct racl_capture racl_capture;

/**
 * A device as streams and memory of it see it: its primary context, or one of the program's own.
 */
typedef struct racl_context racl_context;

/**
 * A point in the work of a stream.
 */
typedef struct racl_event racl_event;

/**
 * Work that was recorded and can be launched.
 */
typedef struct racl_graph racl_graph;

/**
 * Pinned memory of the host, which copies on a stream take.
 */
typedef struct racl_host racl_host;

/**
 * An AscendCL library that is initialised.
 */
typedef struct racl_library racl_library;

/**
 * A queue of work on a device.
 */
typedef struct racl_stream racl_stream;

/**
 * A shape over a buffer: an operand of operators.
 */
typedef struct racl_tensor racl_tensor;

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
 * The shape of a tensor and how it lies in its buffer.
 */
typedef struct {
    /**
     * sizeof(racl_tensor_layout).
     */
    size_t size;
    /**
     * Number of an aclDataType.
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
     * Number of an aclFormat. What is not 2 (ND) needs the shape that the elements have in it.
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
 * So many bytes of device memory, of the context's allocator. What they hold is not said.
 */
int32_t racl_buffer_new(const racl_context *context, size_t bytes, racl_buffer **buffer);

/**
 * Device memory of other code: `bytes` from `address` on, of the context's device. It is left to its owner, which keeps
 * it until the handle, and every tensor, graph and stream that was given it, is done with it.
 */
int32_t racl_buffer_ref(const racl_context *context,
                        void *address,
                        size_t bytes,
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
 * Copies to the host. Waits for work that writes the memory, and until the copy is done.
 */
int32_t racl_buffer_read(const racl_buffer *buffer, size_t offset, void *data, size_t size);

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
 * Gives the handle back. The memory is freed when nothing has it any more and work that uses it is done, without a wait.
 */
int32_t racl_buffer_free(racl_buffer *buffer);

/**
 * Waits for work that uses the memory and frees it. RACL_INVALID_ARGUMENT while parts, tensors or graphs share it; the
 * handle stays then.
 */
int32_t racl_buffer_close(racl_buffer *buffer);

/**
 * The primary context of a device, which it opens. Each call gives a handle of the same one.
 */
int32_t racl_context_primary(const racl_library *library, int32_t device, racl_context **context);

/**
 * A context of its own on the device of another one.
 */
int32_t racl_context_new(const racl_context *beside, racl_context **context);

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
 * Takes the errors that the library met in the context since the last call where nobody could be told, such as that of
 * work whose handle was freed while it ran. RACL_OK when there are none; else the first is the error of this call, and
 * its message goes on with the others, one on each line.
 */
int32_t racl_context_drop_errors(const racl_context *context);

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
 * A new event. With `timing` 1 it takes the time too, and recording it costs more; with 0 captures take it.
 */
int32_t racl_event_new(const racl_context *context,
                       int32_t timing,
                       racl_event **event);

/**
 * Its aclrtEvent, which stays racl's.
 */
int32_t racl_event_raw(const racl_event *event, void **raw);

/**
 * Marks the point that the stream has reached with what it was given so far.
 */
int32_t racl_event_record(const racl_event *event, const racl_stream *stream);

/**
 * Waits until the latest record is done, or for so many nanoseconds: RACL_TIMEOUT then. Limits as for
 * racl_stream_synchronize().
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
 * Gives the event back.
 */
int32_t racl_event_free(racl_event *event);

/**
 * The text of the last failure on the calling thread, "" when there was none. It stays until the next failure on this
 * thread, and ends with the thread.
 */
const char *racl_last_error_message(void);

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
 * Copies the text of racl_last_error_message() to `text`, of `size` bytes with the zero at its end; what has no room
 * is left out. Gives the bytes that all of it needs. `text` may be NULL when `size` is 0.
 */
size_t racl_last_error_copy(char *text,
                            size_t size);

/**
 * The name of a status, such as "RACL_BUSY"; "" for another number.
 */
const char *racl_status_name(int32_t status);

/**
 * Begins to record what the stream is given, instead of executing it. Other streams join by racl_stream_wait() for an
 * event that was recorded on it, and must lead back to it the same way. The capture ends on this thread.
 */
int32_t racl_capture_begin(const racl_stream *stream,
                           int32_t mode,
                           racl_capture **capture);

/**
 * Ends the capture and gives its graph. The handle of the capture is gone then, also when the capture gives no graph;
 * it stays on another thread than that which began it.
 */
int32_t racl_capture_end(racl_capture *capture,
                         racl_graph **graph);

/**
 * Ends the capture without a graph, on the thread that began it.
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
 * Its aclmdlRI, which stays racl's.
 */
int32_t racl_graph_raw(const racl_graph *graph, void **raw);

/**
 * Writes what is in the graph as a trace (JSON) that chrome://tracing and Perfetto show.
 */
int32_t racl_graph_write_trace(const racl_graph *graph, const char *path);

/**
 * Gives the handle back. The graph is destroyed, with all that it keeps, when its last launch is done, after a wait of at
 * most 10 seconds, and later when it goes on.
 */
int32_t racl_graph_free(racl_graph *graph);

/**
 * Waits for the last launch and destroys the graph; the handle stays when that fails.
 */
int32_t racl_graph_close(racl_graph *graph);

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
 * Gives the handle back. The memory is freed when its copy is done, after a wait of at most 10 seconds, and kept for good
 * when that goes on.
 */
int32_t racl_host_free(racl_host *host);

/**
 * Waits for its copy and frees the memory; the handle stays when that fails.
 */
int32_t racl_host_close(racl_host *host);

/**
 * The version of the library that the program runs with, to compare with RACL_VERSION.
 */
uint32_t racl_version(void);

/**
 * Opens and initialises an AscendCL library. NULL: what the environment variable RACL_LIBRARY names, else the library
 * of the machine. "mock": the built-in mock, where it was compiled in. Otherwise a file, or a name that the dynamic
 * loader searches, whose initialisers run. The same library may be opened several times.
 */
int32_t racl_library_open(const char *path,
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
 * Gives the handle back. The library stays initialised.
 */
int32_t racl_library_free(racl_library *library);

/**
 * Ends the initialisation, and resets devices that were kept open. RACL_INVALID_ARGUMENT while contexts or other
 * handles use it; the handle stays then, as it does when the library refuses.
 */
int32_t racl_library_close(racl_library *library);

/**
 * A tensor over a buffer, whose memory it keeps. The buffer has to have all of its elements.
 */
int32_t racl_tensor_new(const racl_buffer *buffer,
                        const racl_tensor_layout *layout,
                        racl_tensor **tensor);

/**
 * Its aclDataType.
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
 * Gives the handle back.
 */
int32_t racl_tensor_free(racl_tensor *tensor);

/**
 * Gives an operator of AscendCL to the stream by its C name, such as "aclnnAdd". The arguments are those of the
 * function aclnn...GetWorkspaceSize, in its order, without its last two; results are tensors too. Returns when the
 * operator is queued; in a capture it becomes part of the graph.
 */
int32_t racl_operator(const racl_stream *stream,
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
 * Its aclrtStream, which stays racl's.
 */
int32_t racl_stream_raw(const racl_stream *stream, void **raw);

/**
 * Waits until its work is done, or for so many nanoseconds, at most 24 days of them: RACL_TIMEOUT then, and the work goes
 * on. Below 0 without a limit; 0 is none, racl_stream_is_complete() does not wait. Gives the error of work that failed.
 */
int32_t racl_stream_synchronize(const racl_stream *stream,
                                int64_t nanoseconds);

/**
 * Whether its work is done: 1 or 0. Does not wait.
 */
int32_t racl_stream_is_complete(const racl_stream *stream, int32_t *is_complete);

/**
 * Lets what the stream is given from now on wait until the event's latest record is done.
 */
int32_t racl_stream_wait(const racl_stream *stream, const racl_event *event);

/**
 * Gives the handle back. A stream of racl's own is destroyed when nothing uses it any more, after a wait for its work
 * of at most 10 seconds, and later when that goes on. One of
 * other code is waited for and left to its owner; RACL_INVALID_ARGUMENT while a capture or a graph of racl has it.
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
