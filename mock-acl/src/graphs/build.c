/* Model instances that are built explicitly: streams are bound to them and their tasks stored.
 *
 * (guide: model runtime instance, aclmdlRIBuildBegin; observed: build_ri, bind_capturing) */
#define _GNU_SOURCE
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"

MOCK_EXPORT aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag) {
    MOCK_ENTER(aclmdlRIBuildBegin);
    if (modelRI == NULL) return mock_null("modelRI");
    if (flag != 0) return mock_fail_acl(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %u", flag);
    mock_lock();
    mock_ctx *ctx = mock_current();
    mock_graph *g = ctx == NULL ? NULL : mock_graph_new(ctx, MOCK_GRAPH_BUILDING);
    if (g != NULL) {
        *modelRI = g->handle;
        mock_gave(*modelRI);
    }
    mock_unlock();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    return g != NULL ? 0 : mock_fail(ACL_ERROR_RT_NO_MODEL_RESOURCE, "EE1013", "no host memory");
}

static aclError invalid(const char *text) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%s", text);
}

static aclError captured_model(void) {
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1016", "the model was captured");
}

/* The handles alone: null is the default stream (observed: live_graph, sequences). */
static aclError look_at(aclmdlRI modelRI, aclrtStream stream, mock_graph **g, mock_stream **s) {
    aclError code = 0;
    *g = mock_graph_get(modelRI, &code);
    if (code == 0 && stream != NULL) code = mock_stream_to_look_at(stream, s);
    return code;
}

/* Then the context, of the model first (observed: other_context_graph); a capturing stream: 107027 (observed:
 * bind_capturing, sequences). */
static aclError settle(const mock_graph *g, aclrtStream stream, mock_stream **s, const char *call) {
    aclError code = mock_graph_at_home(g);
    if (code == 0) code = mock_stream_to_submit(stream, s);
    if (code != 0) return code;
    return mock_capturing(*s) ? mock_captured_illegal(*s, call) : 0;
}

/* A stream to become one of the model. Not persistent or a captured model: 107000 (implementation of the open runtime;
 * observed: build_ri, "bind capturing"), before the context (observed: other_context_graph); without one the default
 * stream is 107000, too (observed: thread_without_context_graph). */
static aclError to_bind(aclmdlRI modelRI, aclrtStream stream, mock_graph **g, mock_stream **s) {
    const aclError code = look_at(modelRI, stream, g, s);
    if (code != 0) return code;
    if (stream == NULL && mock_current_or_none() == NULL)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1018", "there is no default stream without a context");
    if (*s != NULL && ((*s)->flags & ACL_STREAM_PERSISTENT) == 0)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the stream is not persistent");
    if ((*g)->captured) return captured_model();
    return settle(*g, stream, s, "aclmdlRIBindStream");
}

/* FAST_LAUNCH, as the default stream has it, and stop on failure: 207000, DEVICE_USE_ONLY: 507000 (implementation of
 * the open runtime; observed: sequences). Bound before: 107005 (observed: build), a complete model: 107000 (own
 * choice). */
static aclError bind_stream(mock_graph *g, mock_stream *s, uint32_t flag) {
    if ((s->flags & ACL_STREAM_DEVICE_USE_ONLY) != 0)
        return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "streams for device use cannot be bound");
    if (s->bound) return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1007", "the stream is bound already");
    if (s->is_default || (s->flags & ACL_STREAM_FAST_LAUNCH) != 0 || s->stop_on_failure)
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1017", "streams of this kind cannot be bound");
    if (g->state != MOCK_GRAPH_BUILDING) return invalid("the model is complete");
    const aclError code = mock_graph_add_chain(g, s);
    if (code != 0) return code;
    s->bound = true;
    g->chains[s->chain].head = flag == ACL_MODEL_STREAM_FLAG_HEAD;
    return 0;
}

/* HEAD: it starts with the model; DEFAULT: when another stream starts it or jumps into it (header:
 * ACL_MODEL_STREAM_FLAG_HEAD, ACL_MODEL_STREAM_FLAG_DEFAULT). */
MOCK_EXPORT aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
    MOCK_ENTER_OF(aclmdlRIBindStream, modelRI, stream);
    if (modelRI == NULL) return mock_null("modelRI");
    if (flag != ACL_MODEL_STREAM_FLAG_HEAD && flag != ACL_MODEL_STREAM_FLAG_DEFAULT)
        return mock_fail_acl(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "flag %u", flag);
    mock_graph *g = NULL;
    mock_stream *s = NULL;
    mock_lock();
    aclError code = to_bind(modelRI, stream, &g, &s);
    if (code == 0) code = bind_stream(g, s, flag);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
    MOCK_ENTER_OF(aclmdlRIUnbindStream, modelRI, stream);
    mock_graph *g = NULL;
    mock_stream *s = NULL;
    mock_lock();
    aclError code = look_at(modelRI, stream, &g, &s);
    if (code == 0 && g->captured) code = captured_model();
    if (code == 0) code = settle(g, stream, &s, "aclmdlRIUnbindStream");
    if (code == 0 && s->graph != g)
        code = mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE4002", "the stream is not bound to this model");
    if (code == 0) mock_graph_detach(s);
    mock_unlock();
    return code;
}

MOCK_EXPORT aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
    MOCK_ENTER_OF(aclmdlRIEndTask, modelRI, stream);
    mock_graph *g = NULL;
    mock_stream *s = NULL;
    mock_lock();
    aclError code = look_at(modelRI, stream, &g, &s);
    if (code == 0 && mock_current() == NULL) code = ACL_ERROR_RT_CONTEXT_NULL;
    if (code == 0 && g->captured) code = captured_model();
    if (code == 0) code = settle(g, stream, &s, "aclmdlRIEndTask");
    if (code == 0 && s->graph != g)
        code = mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE1017", "the stream is not bound to this model");
    if (code == 0) g->ended = true;
    mock_unlock();
    return code;
}

/* Again: 0; without streams: 107005, and the model stays open; captured: 107000 (observed: build, live_graph). */
static aclError build_end(mock_graph *g) {
    if (g->captured) return captured_model();
    if (g->state != MOCK_GRAPH_BUILDING) return 0;
    const aclError home = mock_graph_at_home(g);
    if (home != 0) return home;
    if (g->chain_count == 0) return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1018", "the model has no streams");
    if (!mock_graph_freeze(g)) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    /* Without an end task it can never be executed: 507011 (implementation of the open runtime). */
    g->state = g->ended ? MOCK_GRAPH_READY : MOCK_GRAPH_FAULT;
    return 0;
}

/* reserve must be null: 100000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) {
    MOCK_ENTER_OF(aclmdlRIBuildEnd, modelRI);
    if (reserve != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "reserve must be null");
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_get(modelRI, &code);
    if (code == 0) code = build_end(g);
    mock_unlock();
    return code;
}

/* ---- tasks queued anew ---- */

static aclError not_cleanable(const char *id, const char *text) {
    return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, id, "%s", text);
}

/* Before the context (observed: other_context_stream, thread_without_context_stream). */
static aclError check_persistent(const mock_stream *s) {
    if ((s->flags & ACL_STREAM_PERSISTENT) == 0)
        return not_cleanable("EE1011", "the stream is not persistent");
    return 0;
}

/* (implementation of the open runtime); while the model runs: 107037 (own choice). */
static aclError check_clean(const mock_stream *s) {
    if (!s->bound) return not_cleanable("EE1017", "the stream is not bound to a model");
    if ((s->flags & ACL_STREAM_CPU_SCHEDULE) != 0) return not_cleanable("EE1017", "not for streams of this kind");
    if (s->graph->state == MOCK_GRAPH_BUILDING) return not_cleanable("EE1017", "the model is not complete yet");
    if (s->graph->inflight == 0) return 0;
    return mock_fail(ACL_ERROR_RT_MODEL_RUNNING, "EE9999", "the model is running");
}

/* Null: 107000; not persistent, not bound, not complete: 507000 (implementation of the open runtime). What is
 * queued afterwards takes the place of the old tasks (guide: stream management, aclrtPersistentTaskClean). */
MOCK_EXPORT aclError aclrtPersistentTaskClean(aclrtStream stream) {
    MOCK_ENTER_OF(aclrtPersistentTaskClean, stream);
    if (stream == NULL) return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1004", "stream must not be null");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = mock_stream_to_look_at(stream, &s);
    if (code == 0) code = check_persistent(s);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = check_clean(s);
    if (code == 0) mock_graph_clean(s->graph, s->chain);
    mock_unlock();
    return code;
}
