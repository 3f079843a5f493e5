/* What a thread last submitted, and notes on it (guide: error handling, aclrtGetThreadLastTaskId; model
 * runtime instance, aclrtCacheLastTaskOpInfo). */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"

#define LONGEST_INFO 65536u

/* The place of the task in its stream, from 1 on; in a capture, its place in the graph; 0 before the
 * first (own choice). */
MOCK_EXPORT aclError aclrtGetThreadLastTaskId(uint32_t *taskId) {
    MOCK_ENTER(aclrtGetThreadLastTaskId);
    if (taskId == NULL) return mock_null("taskId");
    mock_lock();
    const bool bound = mock_current() != NULL;
    mock_unlock();
    if (!bound) return ACL_ERROR_RT_CONTEXT_NULL;
    *taskId = mock_self()->last_task;
    return 0;
}

static bool found;
static uint64_t wanted;

/* The graph of the last task captures, and one of its streams has the switch on. */
static void look(mock_stream *s) {
    if (mock_capturing(s) && s->graph->serial == wanted && s->cache_op_info) found = true;
}

/* Up to 64 KiB, others 107000 (guide: aclrtCacheLastTaskOpInfo, for the range). The last task of the
 * thread must have been captured into a graph that still captures, with ACL_STREAM_ATTR_CACHE_OP_INFO on,
 * else 107000 (own choice of the code). The notes are for profiles, which the mock does not write. */
static aclError cache(const void *info, size_t size) {
    if (info == NULL) return mock_null("infoPtr");
    if (size == 0 || size > LONGEST_INFO)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%zu bytes, not 1 to %u", size, LONGEST_INFO);
    mock_lock();
    aclError code = mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
    found = false;
    wanted = mock_self()->last_graph;
    if (code == 0 && wanted != 0) mock_each_stream(look);
    if (code == 0 && !found)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1016",
            "the last task of the thread is not in a capture that caches operator information");
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtCacheLastTaskOpInfo(const void *const infoPtr, const size_t infoSize) {
    MOCK_ENTER(aclrtCacheLastTaskOpInfo);
    return cache(infoPtr, infoSize);
}

MOCK_EXPORT aclError aclrtCacheLastTaskExtendInfo(const char *const extendInfoPtr, const size_t infoSize) {
    MOCK_ENTER(aclrtCacheLastTaskExtendInfo);
    return cache(extendInfoPtr, infoSize);
}
