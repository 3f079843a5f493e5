/* The captures that go on, and what they forbid (guide: capture). With the engine lock. */
#include "base/base.h"
#include "engine/engine.h"
#include "engine/objects.h"

mock_link mock_captures = {&mock_captures, &mock_captures};

/* 107027 with EE1016 (observed: capturing_calls, destroy_side, bind_capturing). */
aclError mock_captured_error(const char *call) {
    return mock_fail(
        ACL_ERROR_RT_STREAM_CAPTURED, "EE1016", "%s is not allowed while the stream captures", call);
}

/* A call that a capture does not allow leaves it as it is (observed: capturing_calls); the guide says that it
 * fails then. */
void mock_capture_spoil(mock_capture *c) {
    if (mock_strict_doc()) c->invalidated = true;
}

/* The strictest mode among the captures of a context, or of a thread; RELAXED + 1 without any
 * (implementation of the open runtime). */
static int strictest(const mock_ctx *ctx, uint64_t thread) {
    int mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED + 1;
    for (mock_link *l = mock_captures.next; l != &mock_captures; l = l->next) {
        const mock_capture *c = MOCK_OWNER(l, mock_capture, active);
        const bool counts = ctx != NULL ? c->ctx == ctx : c->owner == thread;
        if (counts && (int)c->mode < mode) mode = (int)c->mode;
    }
    return mode;
}

/* Synchronous calls give 107030 (observed: sync_copy_modes); the guide's FAQ has 107041 for them too. */
static aclError deny(const mock_ctx *ctx, aclError code, const char *what) {
    for (mock_link *l = mock_captures.next; l != &mock_captures; l = l->next) {
        mock_capture *c = MOCK_OWNER(l, mock_capture, active);
        if (c->ctx == ctx && c->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED) mock_capture_spoil(c);
    }
    if (mock_strict_doc()) code = ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC;
    return mock_fail(code, "EE1016", "%s is not allowed beside a capture of this mode", what);
}

/* Of the captures of the context, of those of the thread and of its exchange mode (observed:
 * sync_copy_modes, pageable); other contexts are free (observed: sync_device_other_ctx_capture). */
aclError mock_capture_forbids(mock_ctx *ctx, aclError code, const char *what) {
    if (MOCK_UNLIKELY(!mock_list_empty(&mock_captures))) {
        const mock_thread *self = mock_self();
        const int all = strictest(ctx, 0), own = strictest(NULL, self->id);
        const bool restricted = own <= ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
        bool denied = all < ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
        if (self->exchange == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) denied = false;
        else if (self->exchange == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) denied = denied && restricted;
        else if (all == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL) denied = restricted;
        if (denied) return deny(ctx, code, what);
    }
    return 0;
}
