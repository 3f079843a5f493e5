/* Ending work before its time: of a stream, of a device (guide: stream management, aclrtStreamAbort and
 * aclrtStreamStop; error handling, aclrtDeviceTaskAbort). A task that runs is not interrupted (own choice); a
 * graph that goes round in a loop is. */
#define _GNU_SOURCE
#include "context.h"
#include "graph.h"

static aclError bound(void) {
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the stream is bound to a model");
}

static aclError in_host_function(void) {
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "not from a host function");
}

/* Waits that are under way give the code, once what they wait for was dropped. */
static void drop(mock_stream *s, aclError code) {
    s->aborts++;
    s->abort_code = code;
    mock_drop_queue(s);
}

/* 0 on a capturing stream (observed: capturing_calls); bound: 207000 (own choice: the guide rules it out).
 * Waits of other threads give 107023 (guide: stream management, aclrtStreamAbort). */
MOCK_EXPORT aclError aclrtStreamAbort(aclrtStream stream) {
    MOCK_ENTER(aclrtStreamAbort);
    if (mock_self()->in_task != 0) return in_host_function();
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && s->bound) code = bound();
    if (code == 0) drop(s, ACL_ERROR_RT_STREAM_ABORT);
    mock_unlock();
    return code;
}

/* Stopping keeps the queue, and the mock interrupts no task: nothing is left to do. Null: 107000
 * (implementation of the open runtime); a stream: 0 (observed: label); bound: 207000 (own choice: the guide
 * rules it out). */
MOCK_EXPORT aclError aclrtStreamStop(aclrtStream stream) {
    MOCK_ENTER(aclrtStreamStop);
    if (stream == NULL) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "stream must not be null");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && s->bound) code = bound();
    mock_unlock();
    return code;
}

static struct {
    mock_stream *next;
    int32_t device;
    uint64_t round;
} search;

static void pick(mock_stream *s) {
    if (s->ctx->device == search.device && s->abort_mark != search.round) search.next = s;
}

/* Dropping a queue may let go of the lock, so streams are looked for anew each time. */
static void abort_device(int32_t device) {
    static uint64_t round;
    const uint64_t mine = ++round;
    for (;;) {
        search.next = NULL;
        search.device = device;
        search.round = mine;
        mock_each_stream(pick);
        if (search.next == NULL) return;
        search.next->abort_mark = mine;
        drop(search.next, ACL_ERROR_RT_DEVICE_TASK_ABORT);
    }
}

/* Drops the work of every stream on the device, in all contexts; waits that are under way give 107022. The
 * time-out does not pass, nothing takes time (own choice). */
MOCK_EXPORT aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
    MOCK_ENTER(aclrtDeviceTaskAbort);
    (void)timeout;
    const aclError code = mock_device_check(deviceId);
    if (code != 0) return code;
    if (mock_self()->in_task != 0) return in_host_function();
    mock_lock();
    abort_device(deviceId);
    mock_unlock();
    return 0;
}
