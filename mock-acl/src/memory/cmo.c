/* Cache maintenance (guide: cache memory operations). It has no effect on data (own choice: a CPU is
 * coherent); totals are kept. */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"

/* (own choice: the real size depends on the chip, and programs ask for it) */
#define DESC_BYTES 64u

static aclError run_cmo(void *arg) {
    const mock_cmo *c = arg;
    mock_lock();
    mock_engine.cmo_tasks++;
    mock_engine.cmo_bytes += c->size;
    mock_unlock();
    return 0;
}

/* What the descriptor holds when the task runs. */
static aclError run_desc(void *arg) {
    const mock_cmo *c = arg;
    const void *view = mock_device_view(c->src, DESC_BYTES);
    mock_cmo now;
    if (view == NULL) return ACL_ERROR_RT_DEVICE_MEM_ERROR;
    memcpy(&now, view, sizeof now);
    return run_cmo(&now);
}

static const mock_task_ops desc_ops = {"aclrtCmoAsyncWithDesc", run_desc, NULL};
static const mock_task_ops cmo_ops = {"aclrtCmoAsync", run_cmo, NULL};

/* Only a prefetch is documented (guide: cache memory operations, aclrtCmoAsync). */
static bool may_have(aclrtCmoType type) {
    const aclrtCmoType last = mock_strict_doc() ? ACL_RT_CMO_TYPE_PREFETCH : ACL_RT_CMO_TYPE_FLUSH;
    return (int)type >= 0 && type <= last;
}

/* All four types, others 207000; any size; captured like another task; not on a bound stream: 207000
 * (observed: cmo, build_ri). The task holds 32 bits of the size (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtCmoAsync, src, stream);
    if (src == NULL) return mock_null("src");
    if (size == 0) return mock_zero("size");
    if (!may_have(cmoType)) return mock_unable();
    const mock_cmo c = {src, (uint32_t)size};
    mock_task t = {.ops = &cmo_ops, .kind = MOCK_TASK_WORK, .u.cmo = c};
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && s->bound)
        code = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "not on a stream bound to a model");
    if (code == 0) code = mock_submit(s, &t);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtCmoGetDescSize(size_t *size) {
    MOCK_ENTER(aclrtCmoGetDescSize);
    if (size == NULL) return mock_null("size");
    *size = DESC_BYTES;
    return 0;
}

/* Writes the descriptor to device memory: a synchronous copy, so captures restrict it: 107030, and 0 under
 * RELAXED (observed: cmo). Other memory: 107000 (own choice: the driver answers there). */
MOCK_EXPORT aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size) {
    MOCK_ENTER_OF(aclrtCmoSetDesc, src);
    if (cmoDesc == NULL || src == NULL || size == 0) return mock_null("cmoDesc, src and size");
    mock_lock();
    mock_ctx *ctx = mock_current();
    const aclError code =
        ctx == NULL ? ACL_ERROR_RT_CONTEXT_NULL
                    : mock_capture_forbids(ctx, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, "aclrtCmoSetDesc");
    mock_unlock();
    if (code != 0) return code;
    const mock_cmo c = {src, (uint32_t)size};
    mock_views_take();
    void *view = mock_device_view(cmoDesc, DESC_BYTES);
    if (view != NULL) memset(view, 0, DESC_BYTES);
    if (view != NULL) memcpy(view, &c, sizeof c);
    mock_views_give();
    if (view != NULL) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not device memory", cmoDesc);
}

/* Only on streams bound to a model, else 507000; a capturing stream is not one (observed: cmo). Other types
 * than PREFETCH and a reserve: 107000 (header: aclrtCmoAsyncWithDesc; own choice of the code). */
MOCK_EXPORT aclError aclrtCmoAsyncWithDesc(
    void *cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void *reserve) {
    MOCK_ENTER_OF(aclrtCmoAsyncWithDesc, stream);
    if (cmoDesc == NULL) return mock_null("cmoDesc");
    if (reserve != NULL || cmoType != ACL_RT_CMO_TYPE_PREFETCH)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "only a prefetch without reserve");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && !s->bound)
        code = mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "the stream is not bound to a model");
    if (code == 0) {
        mock_task t = {.ops = &desc_ops, .kind = MOCK_TASK_WORK, .u.cmo = {cmoDesc, DESC_BYTES}};
        code = mock_device_view(cmoDesc, DESC_BYTES) == NULL
                   ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%p is not device memory", cmoDesc)
                   : mock_submit(s, &t);
    }
    mock_unlock();
    return code;
}

/* rsv must be null (header: aclrtDeviceL2CacheFlush; implementation of the open runtime) */
MOCK_EXPORT aclError aclrtDeviceL2CacheFlush(void *rsv) {
    MOCK_ENTER(aclrtDeviceL2CacheFlush);
    if (rsv != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "rsv must be null");
    return 0;
}

/* ---- barriers ---- */

static aclError invalid(const char *text) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", text);
}

/* The chip has no barriers: 207000 when all else is right (guide: cache memory operations; implementation
 * of the open runtime). */
static aclError no_barriers(aclrtStream stream) {
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    mock_unlock();
    if (code != 0) return code;
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the device has no barriers");
}

/* An id above 0 for INVALID, 0 for the others: else 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtCmoAsyncWithBarrier(
    void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtCmoAsyncWithBarrier, src, stream);
    if (src == NULL || size == 0) return mock_null("src and size");
    if ((int)cmoType < 0 || cmoType > ACL_RT_CMO_TYPE_FLUSH) return invalid("unknown cache operation");
    if ((cmoType == ACL_RT_CMO_TYPE_INVALID) != (barrierId != 0)) return invalid("ids are for INVALID only");
    return no_barriers(stream);
}

/* One to six ids above 0, all of INVALID; flag 0: else 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag) {
    MOCK_ENTER_OF(aclrtCmoWaitBarrier, stream);
    if (taskInfo == NULL) return mock_null("taskInfo");
    if (flag != 0) return invalid("flag must be 0");
    if (taskInfo->barrierNum == 0 || taskInfo->barrierNum > ACL_RT_CMO_MAX_BARRIER_NUM)
        return invalid("1 to 6 barriers");
    for (size_t i = 0; i < taskInfo->barrierNum; i++) {
        const aclrtBarrierCmoInfo *b = &taskInfo->cmoInfo[i];
        if (b->cmoType != ACL_RT_CMO_TYPE_INVALID || b->barrierId == 0)
            return invalid("a barrier waits for INVALID with an id above 0");
    }
    return no_barriers(stream);
}
