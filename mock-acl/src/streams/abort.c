/* Ending the work of streams and devices before its time (guide: stream management, aclrtStreamAbort; device
 * management, aclrtDeviceTaskAbort). A task that runs is not interrupted (own choice). */
#define _GNU_SOURCE
#include "base/base.h"
#include "devices/devices.h"
#include "engine/engine.h"

/* The longest time-out of aclrtDeviceTaskAbort, 36 minutes (guide: aclrtDeviceTaskAbort). */
#define LONGEST_MS (36u * 60 * 1000)

static aclError in_task(const char *call) {
    if (mock_self()->in_task == 0) return 0;
    return mock_fail(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "%s must not be called by a host function", call);
}

/* Threads that wait for the stream, or for an event recorded on it, get the code. */
static void abort_stream(mock_stream *s, aclError code) {
    s->aborts++;
    s->abort_code = code;
    mock_drop_queue(s);
}

/* 0 on a capturing stream (observed: capturing_calls). Bound to a model, or for the device only: 207000
 * (guide: aclrtStreamAbort rules both out; own choice of the code). */
static aclError check(const mock_stream *s) {
    if (s->bound)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the stream is bound to a model");
    if (s->flags & ACL_STREAM_DEVICE_USE_ONLY)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the stream is used by the device only");
    return 0;
}

/* Drops what is queued, also what is queued meanwhile; waits for the stream give 107023 (guide:
 * aclrtStreamAbort). Other streams that wait for a dropped record go on, where the guide lets them hang (own
 * choice). An error that nobody has seen stays (own choice). */
MOCK_EXPORT aclError aclrtStreamAbort(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtStreamAbort, stream);
    aclError code = in_task("aclrtStreamAbort");
    if (code != 0) return code;
    mock_stream *s = NULL;
    mock_lock();
    code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = check(s);
    if (code == 0) abort_stream(s, ACL_ERROR_RT_STREAM_ABORT);
    mock_unlock();
    return code;
}

/* Stopping keeps the queue (guide: stream management, aclrtStreamStop), and the mock interrupts no task:
 * nothing is left to do. Null: 107000 (implementation of the open runtime); a stream: 0 (observed:
 * label); bound: 207000 (guide rules it out; own choice of the code). */
MOCK_EXPORT aclError aclrtStreamStop(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtStreamStop, stream);
    if (stream == NULL) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "stream must not be null");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && s->bound)
        code = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the stream is bound to a model");
    mock_unlock();
    return code;
}

/* ---- a whole device ---- */

static uint64_t rounds, this_round; /* begun, and the one that looks */
static int32_t round_device;
static mock_stream *next;

/* What a later round took is done for the earlier one. */
static void find_next(mock_stream *s) {
    if (next == NULL && s->ctx->device == round_device && s->abort_mark < this_round) next = s;
}

/* The lock is dropped meanwhile: streams may come and go. */
static void abort_device(int32_t device) {
    const uint64_t round = ++rounds;
    for (;;) {
        this_round = round;
        round_device = device;
        next = NULL;
        mock_each_stream(find_next);
        mock_stream *s = next;
        if (s == NULL) return;
        s->abort_mark = round;
        s->error = s->stop_error = 0;
        s->stopped = false;
        abort_stream(s, ACL_ERROR_RT_DEVICE_TASK_ABORT);
    }
}

/* Of all contexts. The callbacks of aclrtSetDeviceTaskAbortCallback run before and after; one that fails
 * before ends the call with 107035 (own choice). The errors of its streams are forgotten, and streams
 * that stopped go on (own choice: the call is for starting again). */
MOCK_EXPORT aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
    MOCK_ENTER(aclrtDeviceTaskAbort);
    aclError code = in_task("aclrtDeviceTaskAbort");
    if (code == 0) code = mock_device_check(deviceId);
    if (code == 0 && timeout > LONGEST_MS)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "the time-out %u is too long", timeout);
    if (code != 0) return code;
    if (mock_tell_abort(deviceId, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout) != 0)
        return mock_fail(ACL_ERROR_RT_TASK_ABORT_STOP, "EE9999", "a callback of the abort failed");
    mock_lock();
    abort_device(deviceId);
    mock_unlock();
    if (mock_tell_abort(deviceId, ACL_RT_DEVICE_TASK_ABORT_POST, timeout) != 0)
        return mock_fail(ACL_ERROR_RT_TASK_ABORT_STOP, "EE9999", "a callback of the abort failed");
    return 0;
}
