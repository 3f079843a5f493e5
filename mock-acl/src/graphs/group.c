/* Task groups: kernels of a captured graph that later launches replace, one by one in their order (guide:
 * capture, task update). The replacement happens when the update stream reaches it, not at the call. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"
#include "graphs/kernel_task.h"

static const mock_task_ops replace_ops = {"aclmdlRICaptureTaskUpdateEnd", NULL, NULL};

static aclError group_status(const char *text) {
    return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "EE1016", "%s", text);
}

/* Work on another stream of the graph: 107034, the capture is broken (observed: taskgrp_other_begin). A
 * task that is no kernel: 507009, again until the group ends (observed: taskgrp, taskgrp_memset,
 * taskgrp_d2d, invalid_107034_status). */
aclError mock_group_check(mock_graph *g, uint16_t chain, mock_task_kind kind) {
    const aclError lost = mock_capture_lost(g);
    if (lost != 0) return lost;
    if (g->open_group == NULL) return 0;
    if (g->open_chain != chain) {
        g->broken = true;
        g->group_error = ACL_ERROR_STREAM_TASK_GROUP_INTR;
        return mock_fail(
            ACL_ERROR_STREAM_TASK_GROUP_INTR, "EE9999", "a task group is open on another stream");
    }
    if (kind != MOCK_TASK_KERNEL) {
        g->group_error = ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT;
        g->broken = true;
    }
    if (g->group_error == 0) return 0;
    return mock_fail(g->group_error, "EE1006", "a task group holds kernels only");
}

void mock_groups_free(mock_graph *g) {
    if (g->open_group != NULL) free(g->open_group);
    while (g->groups != NULL) {
        mock_group *group = g->groups;
        g->groups = group->next;
        if (group->updating != NULL) group->updating->update = NULL;
        mock_handle_take(MOCK_TASKGRP, group->handle);
        free(group);
    }
}

/* ---- marking ---- */

/* 107029 (observed: taskgrp), before the context (observed: other_context_stream,
 * thread_without_context_stream). */
static aclError capturing(aclrtStream stream, mock_stream **out) {
    const aclError code = mock_stream_to_look_at(stream, out);
    if (code != 0) return code;
    if (mock_capturing(*out)) return mock_stream_to_submit(stream, out);
    return mock_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "EE1016", "the stream does not capture");
}

/* (observed: group_calls, group_left_open) */
static aclError wrong_order(const char *text) {
    return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "EE9999", "%s", text);
}

/* Twice: 107033 (observed: taskgrp); while the stream updates a group too (implementation of the open
 * runtime). */
static aclError group_begin(mock_stream *s) {
    mock_graph *g = s->graph;
    if (s->update != NULL) return group_status("the stream updates a task group");
    if (s->group_left) return wrong_order("an earlier capture of the stream left a task group open");
    if (g->open_group != NULL && g->open_chain == s->chain) return wrong_order("a task group is open already");
    if (g->open_group != NULL) return mock_group_check(g, s->chain, MOCK_TASK_KERNEL);
    mock_group *group = calloc(1, sizeof *group);
    if (group == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    group->graph = g;
    group->first = g->node_count;
    group->chain = s->chain;
    g->open_group = group;
    g->open_chain = s->chain;
    g->group_error = 0;
    return 0;
}

MOCK_EXPORT aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
    MOCK_ENTER_OF(aclmdlRICaptureTaskGrpBegin, stream);
    if (stream == NULL) return mock_null("stream");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = capturing(stream, &s);
    if (code == 0) code = group_begin(s);
    mock_unlock();
    return code;
}

/* Without a begin: 107033; after a bad task its code again, after work on another stream 107034, and the handle stays
 * untouched; an empty group is one (observed: taskgrp, taskgrp_empty_update, group_calls, group_wait_other).
 * Invalidated: 507903 (implementation of the open runtime). */
static aclError group_end(mock_stream *s, aclrtTaskGrp *out) {
    mock_graph *g = s->graph;
    mock_group *group = g->open_group;
    if (s->group_left)
        return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "an earlier capture left a task group open");
    if (group == NULL || g->open_chain != s->chain) return wrong_order("no task group is open");
    g->open_group = NULL;
    const aclError lost = mock_capture_lost(g);
    if (lost != 0 || g->group_error != 0) {
        free(group);
        if (lost != 0) return lost;
        return mock_fail(g->group_error, "EE1017", "the task group is not complete");
    }
    group->count = g->node_count - group->first;
    group->handle = mock_handle_new(MOCK_TASKGRP, group);
    group->next = g->groups;
    g->groups = group;
    *out = group->handle;
    mock_gave(*out);
    return 0;
}

MOCK_EXPORT aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle) {
    MOCK_ENTER_OF(aclmdlRICaptureTaskGrpEnd, stream);
    if (stream == NULL || handle == NULL) return mock_null("stream and handle");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = capturing(stream, &s);
    if (code == 0) code = group_end(s, handle);
    mock_unlock();
    return code;
}

/* ---- updating ---- */

/* Capturing: 107027 (observed: taskgrp_empty_update); bound: 107005 (implementation of the open runtime). */
static aclError not_capturing(aclrtStream stream, mock_stream **out, const char *call) {
    aclError code = mock_stream_to_look_at(stream, out);
    if (code == 0 && !mock_capturing(*out)) code = mock_stream_to_submit(stream, out);
    if (code != 0) return code;
    if ((*out)->bound)
        return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1016", "the stream is bound to a model");
    return mock_capturing(*out) ? mock_captured_illegal(*out, call) : 0;
}

/* Twice on a stream: 107033 (observed: taskgrp_empty_update); from two streams: the same (observed, not
 * recorded). */
static aclError update_begin(mock_stream *s, aclrtTaskGrp handle) {
    mock_group *group = mock_handle_get(MOCK_TASKGRP, handle);
    if (group == NULL)
        return mock_stale(handle, "task group");
    if (s->update != NULL) return group_status("the stream updates a task group already");
    if (group->updating != NULL) return group_status("another stream updates this task group");
    group->updating = s;
    group->surplus = false;
    s->update = group;
    s->update_next = 0;
    return 0;
}

MOCK_EXPORT aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
    MOCK_ENTER_OF(aclmdlRICaptureTaskUpdateBegin, stream, handle);
    if (stream == NULL || handle == NULL) return mock_null("stream and handle");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = not_capturing(stream, &s, "aclmdlRICaptureTaskUpdateBegin");
    if (code == 0) code = update_begin(s, handle);
    mock_unlock();
    return code;
}

void mock_update_leave(mock_stream *s) {
    if (s->update != NULL) s->update->updating = NULL;
    s->update = NULL;
}

/* Without a begin: 107033 (observed: taskgrp); an update of an empty group: 0 (observed:
 * taskgrp_empty_update); fewer kernels: 507000 (implementation of the open runtime). */
static aclError update_end(mock_stream *s) {
    const mock_group *group = s->update;
    if (group == NULL) return group_status("the stream updates no task group");
    /* The guide's example has an update without kernels. */
    const bool complete =
        s->update_next >= group->count || (mock_strict_doc() && s->update_next == 0);
    mock_update_leave(s);
    if (complete) return 0;
    return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE1016", "fewer kernels than the task group has");
}

MOCK_EXPORT aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
    MOCK_ENTER_OF(aclmdlRICaptureTaskUpdateEnd, stream);
    if (stream == NULL) return mock_null("stream");
    mock_stream *s = NULL;
    mock_lock();
    aclError code = not_capturing(stream, &s, "aclmdlRICaptureTaskUpdateEnd");
    if (code == 0) code = update_end(s);
    mock_unlock();
    return code;
}

/* Kernels of operators have no kind and go with everything (own choice). */
static bool fits(const mock_task *node, const mock_task *t) {
    const mock_kernel_tasks *k = mock_kernel_tasks_in_use;
    if (k == NULL || !k->owns(node->ops) || !k->owns(t->ops)) return true;
    return k->same_kind(node->u.kernel.arg, t->u.kernel.arg);
}

/* No kernel: 507009 (observed: taskgrp_empty_update); more kernels than the group has: 507000, and the end is
 * 0; another kind: 507000, and its place is used up (observed, not recorded). The kernel of an operator may
 * replace any other (own choice: operators of the mock have no kind). */
aclError mock_update_task(mock_stream *s, mock_task *t) {
    mock_group *group = s->update;
    aclError code = 0;
    if (t->kind != MOCK_TASK_KERNEL)
        code = mock_fail(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, "EE1016", "an update holds kernels only");
    else if (s->update_next >= group->count)
        code = mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE1016", "more kernels than the task group has");
    else if (!fits(&group->graph->nodes[group->first + s->update_next], t)) {
        s->update_next++;
        code = mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE1016", "the task has a kernel of another kind");
    } else code = mock_room(s);
    /* The queue may have been full, and the update over by now. */
    if (code == 0 && s->update != group) code = group_status("the update ended meanwhile");
    if (code != 0) {
        mock_task_release(t);
        return code;
    }
    mock_task r = {.ops = &replace_ops, .kind = MOCK_TASK_REPLACE};
    r.u.replace.graph = group->graph;
    r.u.replace.serial = group->graph->serial;
    r.u.replace.node = group->first + s->update_next++;
    r.u.replace.ops = t->ops;
    r.u.replace.kernel = t->u.kernel;
    if (mock_tasks_fail()) r.u.replace.fail = mock_task_fault(t->ops->name);
    mock_push(s, &r);
    return 0;
}

mock_outcome mock_replace_step(mock_stream *s, mock_task *t) {
    mock_graph *g = t->u.replace.graph;
    if (g->serial != t->u.replace.serial) return MOCK_DONE;
    if (g->executing) {
        mock_block_on(s, &g->launch_waiters);
        return MOCK_BLOCKED;
    }
    /* The old kernel goes into the task, which drops it. */
    mock_task *node = &g->nodes[t->u.replace.node];
    if (node->kind != MOCK_TASK_KERNEL) return MOCK_DONE; /* disabled meanwhile */
    const mock_task_ops *ops = node->ops;
    const mock_kernel kernel = node->u.kernel;
    node->ops = t->u.replace.ops;
    node->u.kernel = t->u.replace.kernel;
    node->fail = t->u.replace.fail;
    node->kind = MOCK_TASK_KERNEL; /* it may have been disabled */
    node->type = ACL_MODEL_RI_TASK_KERNEL;
    t->u.replace.ops = ops;
    t->u.replace.kernel = kernel;
    return MOCK_DONE;
}

void mock_replace_release(mock_task *t) {
    if (t->u.replace.ops->drop != NULL) t->u.replace.ops->drop(t->u.replace.kernel.arg);
}
