/* Properties of streams: identity, failure mode, overflow switch, attributes (guide: stream management;
 * header: aclrtStreamAttr, aclrtStreamAttrValue). They are kept and given back; only the failure mode has an
 * effect (own choice: kernels of the mock do not overflow). */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graphs.h"

MOCK_EXPORT aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) {
    MOCK_ENTER_OF(aclrtStreamGetId, stream);
    if (streamId == NULL) return mock_null("streamId");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0) *streamId = s->id;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority) {
    MOCK_ENTER_OF(aclrtStreamGetPriority, stream);
    if (priority == NULL) return mock_null("priority");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) *priority = s->priority;
    mock_unlock();
    return code;
}

/* (observed: capture_default_stream, for the default stream) */
MOCK_EXPORT aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags) {
    MOCK_ENTER_OF(aclrtStreamGetFlags, stream);
    if (flags == NULL) return mock_null("flags");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_wait(stream, &s);
    if (code == 0) *flags = s->is_default ? ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC : s->flags;
    mock_unlock();
    return code;
}

/* Of the stream alone (observed: failure_mode_streams). On a stream in STOP all but STOP is 207000, on another one 0
 * without effect (observed: failmode, attributes, other_context_stream). 0 on a capturing stream (observed:
 * capturing_calls); bound: 207000 (implementation of the open runtime). */
static aclError set_failure_mode(mock_stream *s, uint64_t mode) {
    const bool stop = mode == 1;
    if (stop == s->stop_on_failure) return 0;
    if (s->bound)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "the stream is bound to a model");
    if (!stop)
        return mock_fail_acl(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1016", "a stream cannot go back to continue");
    s->stop_on_failure = true;
    return 0;
}

/* Null without a context: 107000 (observed: null_handles_before_set_device). */
static aclError no_default(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1018", "there is no default stream without a context");
}

MOCK_EXPORT aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    MOCK_ENTER_OF(aclrtSetStreamFailureMode, stream);
    mock_stream *s = NULL;
    mock_lock();
    aclError code = 0;
    if (stream == NULL && mock_current_or_none() == NULL) code = no_default();
    if (code == 0) code = mock_stream_to_wait(stream, &s);
    /* Only what changes something needs the stream's context (observed: other_context_stream). */
    if (code == 0 && mode == 1) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = set_failure_mode(s, mode);
    mock_unlock();
    return code;
}

/* With the lock: the stream of a call that a capture forbids, which is said before the context (observed:
 * other_context_stream). */
static aclError uncaptured(aclrtStream stream, mock_stream **s, const char *call) {
    const aclError code = mock_stream_to_look_at(stream, s);
    if (code != 0) return code;
    return mock_capturing(*s) ? mock_captured_illegal(*s, call) : mock_stream_to_submit(stream, s);
}

/* Other values: 100000 (implementation of the open runtime); capturing: 107027 (observed:
 * capturing_calls). */
MOCK_EXPORT aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    MOCK_ENTER_OF(aclrtSetStreamOverflowSwitch, stream);
    if (flag > 1) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0007", "flag %u", flag);
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = uncaptured(stream, &s, "aclrtSetStreamOverflowSwitch");
    if (code == 0) s->overflow_switch = flag != 0;
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) {
    MOCK_ENTER_OF(aclrtGetStreamOverflowSwitch, stream);
    if (flag == NULL) return mock_null("flag");
    mock_stream *s = NULL;
    mock_lock();
    const aclError code = mock_stream_to_submit(stream, &s);
    if (code == 0) *flag = s->overflow_switch;
    mock_unlock();
    return code;
}

/* ---- attributes ---- */

static bool known(int attr) {
    return attr >= ACL_STREAM_ATTR_FAILURE_MODE && attr <= ACL_STREAM_ATTR_PRIORITY;
}

/* The failure mode and the cache of operators are looked at without a context, the others are not; the default stream
 * has no priority to speak of (observed: attributes, other_context_stream, thread_without_context_stream). Unknown
 * attributes: 107000. */
static aclError find_for(aclrtStream stream, int attr, mock_stream **s) {
    aclError code = stream == NULL ? 0 : mock_stream_to_look_at(stream, s);
    if (code == 0 && !known(attr))
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "stream attribute %d", attr);
    if (code == 0 && stream == NULL && attr == ACL_STREAM_ATTR_PRIORITY)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "stream must not be null");
    if (code != 0) return code;
    if (attr != ACL_STREAM_ATTR_FAILURE_MODE && attr != ACL_STREAM_ATTR_CACHE_OP_INFO) return 0;
    if (stream == NULL && mock_current_or_none() == NULL) return no_default();
    return mock_stream_to_look_at(stream, s);
}

/* Values above 1: 107000 (observed: attributes). */
static aclError not_a_switch(const char *id, uint32_t value) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, id, "the switch %u is neither 0 nor 1", value);
}

/* Some context is needed, and to stop that of the stream (observed: thread_without_context_stream, sequences). */
static aclError failure_mode_context(aclrtStream stream, mock_stream *s, uint64_t mode) {
    if (mode == 1 && !s->stop_on_failure) return mock_stream_to_submit(stream, &s);
    return mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : 0;
}

/* A failure mode that cannot be had is remembered here (observed: attributes, "set 1 to 2"). */
static aclError set_attribute(
    aclrtStream stream, mock_stream *s, int attr, const aclrtStreamAttrValue *value) {
    aclError code = 0;
    switch (attr) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        code = failure_mode_context(stream, s, value->failureMode);
        return code != 0 ? code : mock_fail_untold(set_failure_mode(s, value->failureMode));
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        if (value->overflowSwitch > 1) return not_a_switch("EE1003", value->overflowSwitch);
        code = uncaptured(stream, &s, "aclrtSetStreamAttribute");
        if (code == 0) s->overflow_switch = value->overflowSwitch != 0;
        return code;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        code = uncaptured(stream, &s, "aclrtSetStreamAttribute");
        if (code == 0) s->custom_tag = value->userCustomTag;
        return code;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        if (value->cacheOpInfoSwitch > 1) return not_a_switch("EE1001", value->cacheOpInfoSwitch);
        s->cache_op_info = value->cacheOpInfoSwitch != 0;
        return 0;
    default:
        code = mock_stream_to_submit(stream, &s);
        if (code == 0) s->priority = value->streamPriority > 7 ? 7 : value->streamPriority;
        return code;
    }
}

MOCK_EXPORT aclError aclrtSetStreamAttribute(
    aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
    MOCK_ENTER_OF(aclrtSetStreamAttribute, stream);
    if (value == NULL) return mock_null("value");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = find_for(stream, (int)stmAttrType, &s);
    if (code == 0) code = set_attribute(stream, s, (int)stmAttrType, value);
    mock_unlock();
    return code;
}

static void get_attribute(const mock_stream *s, int attr, aclrtStreamAttrValue *value) {
    memset(value, 0, sizeof *value);
    switch (attr) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        value->failureMode = s->stop_on_failure;
        break;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        value->overflowSwitch = s->overflow_switch;
        break;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        value->userCustomTag = s->custom_tag;
        break;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        /* On only while the stream captures (guide: stream management, aclrtSetStreamAttribute). */
        value->cacheOpInfoSwitch = s->cache_op_info && mock_capturing(s);
        break;
    default:
        value->streamPriority = s->priority;
    }
}

MOCK_EXPORT aclError aclrtGetStreamAttribute(
    aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue *value) {
    MOCK_ENTER_OF(aclrtGetStreamAttribute, stream);
    if (value == NULL) return mock_null("value");
    const int attr = (int)stmAttrType;
    const bool anywhere = attr == ACL_STREAM_ATTR_FAILURE_MODE || attr == ACL_STREAM_ATTR_CACHE_OP_INFO;
    mock_stream *s = NULL;
    mock_lock();
    aclError code = find_for(stream, attr, &s);
    if (code == 0 && !anywhere) code = mock_stream_to_submit(stream, &s);
    if (code == 0) get_attribute(s, attr, value);
    mock_unlock();
    return code;
}
