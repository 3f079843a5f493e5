/* Properties of streams: identity, failure mode, overflow switch, attributes (guide: stream management;
 * header: aclrtStreamAttr, aclrtStreamAttrValue). They are kept and given back; only the failure mode has an
 * effect (own choice: kernels of the mock do not overflow). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"

MOCK_EXPORT aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
    MOCK_ENTER(aclrtStreamGetId);
    if (streamId == NULL) return mock_null("streamId");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0) *streamId = s->id;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority) {
    MOCK_ENTER(aclrtStreamGetPriority);
    if (priority == NULL) return mock_null("priority");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) *priority = s->priority;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags) {
    MOCK_ENTER(aclrtStreamGetFlags);
    if (flags == NULL) return mock_null("flags");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) *flags = s->flags;
    mock_unlock();
    return code;
}

/* The same mode again: 0; back to continue: 207000 (observed: failmode). STOP also switches the other streams
 * of the context (guide: stream management, aclrtSetStreamFailureMode). 0 on a capturing stream (observed:
 * capturing_calls); bound: 207000 (implementation of the open runtime). */
static aclError set_failure_mode(mock_stream *s, uint64_t mode) {
    const bool stop = (mode & 1) != 0;
    if (stop == s->stop_on_failure) return 0;
    if (s->bound)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the stream is bound to a model");
    if (!stop)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "a stream cannot go back to continue");
    s->ctx->stop_on_failure = true;
    for (mock_link *l = s->ctx->streams.next; l != &s->ctx->streams; l = l->next)
        MOCK_OWNER(l, mock_stream, in_context)->stop_on_failure = true;
    return 0;
}

MOCK_EXPORT aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    MOCK_ENTER(aclrtSetStreamFailureMode);
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) code = set_failure_mode(s, mode);
    mock_unlock();
    return code;
}

/* Other values: 100000 (implementation of the open runtime); capturing: 107027 (observed:
 * capturing_calls). */
MOCK_EXPORT aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    MOCK_ENTER(aclrtSetStreamOverflowSwitch);
    if (flag > 1) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "flag %u", flag);
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0 && mock_capturing(s)) code = mock_captured_illegal(s, "aclrtSetStreamOverflowSwitch");
    if (code == 0) s->overflow_switch = flag != 0;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) {
    MOCK_ENTER(aclrtGetStreamOverflowSwitch);
    if (flag == NULL) return mock_null("flag");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) *flag = s->overflow_switch;
    mock_unlock();
    return code;
}

/* Unknown attributes: 107000 (own choice). Any value above 0 switches the overflow check on (own choice). */
static aclError set_attribute(mock_stream *s, aclrtStreamAttr attr, const aclrtStreamAttrValue *value) {
    switch ((int)attr) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        return set_failure_mode(s, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        if (mock_capturing(s)) return mock_captured_illegal(s, "aclrtSetStreamAttribute");
        s->overflow_switch = value->overflowSwitch != 0;
        return 0;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        s->custom_tag = value->userCustomTag;
        return 0;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        s->cache_op_info = value->cacheOpInfoSwitch != 0;
        return 0;
    case ACL_STREAM_ATTR_PRIORITY:
        s->priority = value->streamPriority > 7 ? 7 : value->streamPriority;
        return 0;
    default:
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "stream attribute %d", (int)attr);
    }
}

MOCK_EXPORT aclError aclrtSetStreamAttribute(
    aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
    MOCK_ENTER(aclrtSetStreamAttribute);
    if (value == NULL) return mock_null("value");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = set_attribute(s, stmAttrType, value);
    mock_unlock();
    return code;
}

static aclError get_attribute(const mock_stream *s, aclrtStreamAttr attr, aclrtStreamAttrValue *value) {
    memset(value, 0, sizeof *value);
    switch ((int)attr) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        value->failureMode = s->stop_on_failure;
        return 0;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        value->overflowSwitch = s->overflow_switch;
        return 0;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        value->userCustomTag = s->custom_tag;
        return 0;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        /* On only while the stream captures (guide: stream management, aclrtSetStreamAttribute). */
        value->cacheOpInfoSwitch = s->cache_op_info && mock_capturing(s);
        return 0;
    case ACL_STREAM_ATTR_PRIORITY:
        value->streamPriority = s->priority;
        return 0;
    default:
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "stream attribute %d", (int)attr);
    }
}

MOCK_EXPORT aclError aclrtGetStreamAttribute(
    aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
    MOCK_ENTER(aclrtGetStreamAttribute);
    if (value == NULL) return mock_null("value");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = get_attribute(s, stmAttrType, value);
    mock_unlock();
    return code;
}
