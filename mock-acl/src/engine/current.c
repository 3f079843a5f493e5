/* Which contexts and streams there are, and which of them a call means. With the engine lock. */
#include "base/base.h"
#include "engine/engine.h"
#include "engine/objects.h"
#include "engine/state.h"

mock_link mock_contexts = {&mock_contexts, &mock_contexts};
_Atomic(mock_binder *) mock_bind_default;

/* A thread whose context went away has none (observed: ctx, "createStream after own ctx destroyed"); that of a device is
 * the same one when it comes again. */
mock_ctx *mock_current_quiet(void) {
    const mock_thread *t = mock_self();
    return t->ctx != NULL && t->ctx->serial == t->ctx_serial ? t->ctx : NULL;
}

mock_bound mock_bind_for(mock_ctx *ctx) {
    mock_thread *self = mock_self();
    const mock_bound before = {self->ctx, self->ctx_serial};
    mock_lock();
    const uint64_t serial = ctx->serial; /* 0 while another thread destroys it */
    mock_unlock();
    self->ctx = serial != 0 ? ctx : NULL;
    self->ctx_serial = serial;
    return before;
}

void mock_bind_back(mock_bound before) {
    mock_thread *self = mock_self();
    self->ctx = before.ctx;
    self->ctx_serial = before.serial;
}

mock_ctx *mock_current_or_none(void) {
    mock_ctx *ctx = mock_current_quiet();
    if (ctx == NULL) {
        mock_binder *bind = atomic_load_explicit(&mock_bind_default, memory_order_acquire);
        if (bind != NULL) ctx = bind();
    }
    return ctx;
}

mock_ctx *mock_current(void) {
    mock_ctx *ctx = mock_current_or_none();
    if (ctx == NULL) mock_no_context();
    return ctx;
}

/* Destroyed or no stream (observed: stream_basic, stream_basic2). */
aclError mock_stream_check(aclrtStream handle) {
    mock_stream *s;
    return mock_stream_find(handle, &s);
}

aclError mock_stream_of_current(const mock_stream *s) {
    if (s->ctx == mock_current_quiet()) return 0;
    return mock_fail(ACL_ERROR_RT_STREAM_CONTEXT, "EE1010", "the stream belongs to another context");
}

/* Submissions need the stream's context to be current, else 107003 (observed: fork_foreign_ctx). */
aclError mock_stream_to_submit(aclrtStream handle, mock_stream **out) {
    const aclError code = mock_stream_find(handle, out);
    return code == 0 ? mock_stream_of_submission(out) : code;
}

aclError mock_stream_find(aclrtStream handle, mock_stream **out) {
    *out = NULL;
    if (handle == NULL) return 0;
    *out = mock_handle_get(MOCK_STREAM, handle);
    return *out != NULL ? 0 : mock_stale(handle, "stream");
}

aclError mock_stream_of_submission(mock_stream **s) {
    mock_ctx *ctx = mock_current();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    if (*s == NULL) *s = ctx->default_stream;
    return (*s)->ctx == ctx ? 0 : mock_stream_of_current(*s);
}

/* Waits and queries work across contexts (implementation of the open runtime), but need one (observed:
 * thread_without_context_stream, destroy_current_context); the stream of a destroyed one: 107017 (observed: ctx). */
aclError mock_stream_to_wait(aclrtStream handle, mock_stream **out) {
    const aclError code = mock_stream_to_look_at(handle, out);
    return code == 0 && mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : code;
}

/* What only the stream itself says needs no context, unless it is the default stream of one. */
aclError mock_stream_to_look_at(aclrtStream handle, mock_stream **out) {
    return handle == NULL ? mock_stream_to_submit(NULL, out) : mock_stream_find(handle, out);
}

mock_stream *mock_stream_by_id(int32_t id) {
    for (mock_link *c = mock_contexts.next; c != &mock_contexts; c = c->next) {
        mock_ctx *ctx = MOCK_OWNER(c, mock_ctx, all);
        for (mock_link *l = ctx->streams.next; l != &ctx->streams; l = l->next) {
            mock_stream *s = MOCK_OWNER(l, mock_stream, in_context);
            if (s->id == id) return s;
        }
    }
    return NULL;
}

void mock_each_stream(void (*visit)(mock_stream *)) {
    for (mock_link *c = mock_contexts.next; c != &mock_contexts; c = c->next) {
        mock_ctx *ctx = MOCK_OWNER(c, mock_ctx, all);
        for (mock_link *l = ctx->streams.next; l != &ctx->streams; l = l->next)
            visit(MOCK_OWNER(l, mock_stream, in_context));
    }
}

uint64_t mock_context_count(bool own) {
    uint64_t n = 0;
    for (mock_link *c = mock_contexts.next; c != &mock_contexts; c = c->next)
        n += !own || !MOCK_OWNER(c, mock_ctx, all)->primary;
    return n;
}
