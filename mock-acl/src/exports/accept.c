/* Calls that are accepted without effect: settings of things the mock does not have, and handles nothing
 * uses.
 *
 * Each checks its arguments as the real call does, as far as that is known. */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"

/* Of tasks on streams that are bound to a model (guide: execution control). Null: 100000; not bound:
 * 107005; another id: 107000; then 207000 (own choice: the mock has neither random numbers nor kernels that
 * lie in device memory). */
MOCK_EXPORT aclError aclrtTaskUpdateAsync(
    aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo *info, aclrtStream execStream) {
    MOCK_ENTER(aclrtTaskUpdateAsync);
    (void)taskId;
    if (info == NULL) return mock_null("info");
    mock_stream *task = NULL, *exec = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(taskStream, &task);
    if (code == 0) code = mock_stream_to_submit(execStream, &exec);
    if (code == 0 && !task->bound)
        code = mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1016", "the stream is not bound to a model");
    mock_unlock();
    if (code != 0) return code;
    if (info->id != ACL_RT_UPDATE_RANDOM_TASK && info->id != ACL_RT_UPDATE_AIC_AIV_TASK)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "attribute %d of a task", (int)info->id);
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the task cannot be updated");
}

/* Others than 0 and 1: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtSetTsDevice(aclrtTsId tsId) {
    MOCK_ENTER(aclrtSetTsDevice);
    if ((int)tsId < 0 || tsId > ACL_TS_ID_AIVECTOR)
        return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "id %d", (int)tsId);
    return 0;
}

/* Not needed, the hardware is coherent (guide: memory management, aclrtMemFlush). */
MOCK_EXPORT aclError aclrtMemFlush(void *devPtr, size_t size) {
    MOCK_ENTER(aclrtMemFlush);
    return devPtr == NULL || size == 0 ? mock_null("devPtr and size") : 0;
}

MOCK_EXPORT aclError aclrtMemInvalidate(void *devPtr, size_t size) {
    MOCK_ENTER(aclrtMemInvalidate);
    return devPtr == NULL || size == 0 ? mock_null("devPtr and size") : 0;
}
