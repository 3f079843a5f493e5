/* Tasks of a complete graph, one by one: what they are, their parameters, and changing them (guide: model
 * runtime instance; header: aclmdlRITaskType, aclmdlRITaskParams). Changes apply when aclmdlRIUpdate is
 * called. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"
#include "graphs/kernel_task.h"

#define LAST_ATTRIBUTE ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING

const mock_kernel_tasks *mock_kernel_tasks_in_use;

/* The task behind a handle. With the lock. */
static aclError find(aclmdlRITask task, mock_node_ref **ref, mock_task **t) {
    if (task == NULL) return mock_null("task");
    *ref = mock_handle_get(MOCK_NODE, task);
    if (*ref == NULL) return mock_stale(task, "task");
    *t = (*ref)->part != 0 ? &(*ref)->own : &(*ref)->graph->nodes[(*ref)->node];
    return 0;
}

MOCK_EXPORT aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type) {
    MOCK_ENTER_OF(aclmdlRITaskGetType, task);
    if (type == NULL) return mock_null("type");
    mock_node_ref *ref = NULL;
    mock_task *t = NULL;
    mock_lock();
    const aclError code = find(task, &ref, &t);
    if (code == 0) *type = (aclmdlRITaskType)t->type;
    mock_unlock();
    return code;
}

/* (own choice: the position in the capture) */
MOCK_EXPORT aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id) {
    MOCK_ENTER_OF(aclmdlRITaskGetSeqId, task);
    if (id == NULL) return mock_null("id");
    mock_node_ref *ref = NULL;
    mock_task *t = NULL;
    mock_lock();
    const aclError code = find(task, &ref, &t);
    if (code == 0) *id = ref->node;
    mock_unlock();
    return code;
}

static bool is_value(const mock_task *t) {
    return t->type == ACL_MODEL_RI_TASK_VALUE_WRITE || t->type == ACL_MODEL_RI_TASK_VALUE_WAIT;
}

/* The kernel was launched through a function handle. */
static bool has_handle(const mock_task *t) {
    return t->kind == MOCK_TASK_KERNEL && mock_kernel_tasks_in_use != NULL &&
           mock_kernel_tasks_in_use->owns(t->ops);
}

/* ---- reading ---- */

static void event_params(const mock_graph *g, const mock_task *t, aclmdlRITaskParams *p) {
    const void *event = NULL;
    uint32_t flags = 0;
    if (t->kind == MOCK_TASK_RECORD || t->kind == MOCK_TASK_WAIT) {
        event = g->records[t->u.wait.seq].event;
        flags = g->records[t->u.wait.seq].flags;
    } else {
        const mock_event *e = t->kind == MOCK_TASK_LATCH_SET ? t->u.wait.event : t->u.latch.event;
        event = e->handle;
        flags = e->flags;
    }
    aclrtEvent handle = (aclrtEvent)(uintptr_t)event;
    if (t->type == ACL_MODEL_RI_TASK_EVENT_RECORD) {
        p->eventRecordTaskParams.event = handle;
        p->eventRecordTaskParams.eventFlag = flags;
    } else if (t->type == ACL_MODEL_RI_TASK_EVENT_WAIT) {
        p->eventWaitTaskParams.event = handle;
        p->eventWaitTaskParams.eventFlag = flags;
    } else {
        p->eventResetTaskParams.event = handle;
        p->eventResetTaskParams.eventFlag = flags;
    }
}

static void *group_of(const mock_graph *g, uint32_t node) {
    for (const mock_group *group = g->groups; group != NULL; group = group->next)
        if (node >= group->first && node - group->first < group->count) return group->handle;
    return NULL;
}

/* A kernel of an operator has no function handle and no arguments that a program could read: null and 0 (own
 * choice). */
static void fill(const mock_node_ref *ref, const mock_task *t, aclmdlRITaskParams *p) {
    memset(p, 0, sizeof *p);
    p->type = (aclmdlRITaskType)t->type;
    p->taskGrp = ref->part != 0 ? NULL : group_of(ref->graph, ref->node);
    if (has_handle(t)) {
        mock_kernel_tasks_in_use->params(t->u.kernel.arg, &p->kernelTaskParams);
    } else if (is_value(t)) {
        /* The two kinds share their first members. */
        p->valueWaitTaskParams.devAddr = t->u.value.address;
        p->valueWaitTaskParams.value = t->u.value.value;
        if (t->type == ACL_MODEL_RI_TASK_VALUE_WAIT) p->valueWaitTaskParams.flag = t->u.value.flag;
    } else if (t->type != ACL_MODEL_RI_TASK_KERNEL) {
        event_params(ref->graph, t, p);
    }
}

/* Internal tasks: 107000 (implementation of the open runtime). */
MOCK_EXPORT aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params) {
    MOCK_ENTER_OF(aclmdlRITaskGetParams, task);
    if (params == NULL) return mock_null("params");
    mock_node_ref *ref = NULL;
    mock_task *t = NULL;
    mock_lock();
    aclError code = find(task, &ref, &t);
    if (code == 0 && t->type == ACL_MODEL_RI_TASK_DEFAULT)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "an internal task has no parameters");
    if (code == 0) fill(ref, t, params);
    mock_unlock();
    return code;
}

/* No kernel, or an unknown attribute: 107000 (own choice of the code). A launch without the attribute: 0 (own
 * choice). */
MOCK_EXPORT aclError aclmdlRIKernelTaskGetAttribute(
    aclmdlRITask task, aclrtLaunchKernelAttrId attrId, aclrtLaunchKernelAttrValue *attrValue) {
    MOCK_ENTER_OF(aclmdlRIKernelTaskGetAttribute, task);
    if (attrValue == NULL) return mock_null("attrValue");
    mock_node_ref *ref = NULL;
    mock_task *t = NULL;
    mock_lock();
    aclError code = find(task, &ref, &t);
    if (code == 0 && t->type != ACL_MODEL_RI_TASK_KERNEL)
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "a task of type %d is no kernel", t->type);
    if (code == 0 && ((int)attrId < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE || attrId > LAST_ATTRIBUTE))
        code = mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "attribute %d of a kernel", (int)attrId);
    if (code == 0) {
        memset(attrValue, 0, sizeof *attrValue);
        if (has_handle(t)) code = mock_kernel_tasks_in_use->attribute(t->u.kernel.arg, attrId, attrValue);
    }
    mock_unlock();
    return code;
}

/* ---- explicit update ---- */

/* Running, or neither ready nor updating: 107040 (implementation of the open runtime; observed: tasks, a
 * spoilt model). */
static aclError begin_update(mock_graph *g) {
    if (g->inflight != 0)
        return mock_fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED, "EE9999", "the model is running");
    if (g->state == MOCK_GRAPH_READY || g->state == MOCK_GRAPH_UPDATING) return 0;
    return mock_fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED, "EE9999", "the model cannot be updated");
}

/* A task that cannot be changed gives 107000 and makes the whole model unusable (observed: tasks). */
static aclError spoil(mock_graph *g, const mock_task *t) {
    g->state = MOCK_GRAPH_FAULT;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "a task of type %d cannot be changed", t->type);
}

static void set_value(mock_node_ref *ref, const mock_task *t, const aclmdlRIValueWaitTaskParams *p) {
    ref->value = (mock_value){p->devAddr, p->value, t->type == ACL_MODEL_RI_TASK_VALUE_WAIT ? p->flag : 0};
    ref->set = true;
}

void mock_node_ref_drop(mock_node_ref *ref) {
    if (ref->kernel_ops != NULL && ref->kernel_ops->drop != NULL) ref->kernel_ops->drop(ref->kernel_arg);
    ref->kernel_ops = NULL;
}

static aclError set_kernel(mock_node_ref *ref, const mock_task *t, const aclmdlRIKernelTaskParams *p) {
    const mock_task_ops *ops = NULL;
    void *arg = NULL;
    const aclError code = mock_kernel_tasks_in_use->change(t->u.kernel.arg, p, &ops, &arg);
    if (code != 0) {
        ref->graph->state = MOCK_GRAPH_FAULT;
        return code;
    }
    mock_node_ref_drop(ref);
    ref->kernel_ops = ops;
    ref->kernel_arg = arg;
    return 0;
}

/* Values, and kernels with a function handle; those of operators have none here (own choice). */
MOCK_EXPORT aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params) {
    MOCK_ENTER_OF(aclmdlRITaskSetParams, task);
    if (params == NULL) return mock_null("params");
    mock_node_ref *ref = NULL;
    mock_task *t = NULL;
    mock_lock();
    aclError code = find(task, &ref, &t);
    if (code == 0) code = begin_update(ref->graph);
    const bool can = code == 0 && (is_value(t) || has_handle(t)) && (int)params->type == t->type;
    if (code == 0 && !can) code = spoil(ref->graph, t);
    if (code == 0 && is_value(t)) set_value(ref, t, &params->valueWaitTaskParams);
    else if (code == 0) code = set_kernel(ref, t, &params->kernelTaskParams);
    if (code == 0) ref->graph->state = MOCK_GRAPH_UPDATING;
    mock_unlock();
    return code;
}

/* Until aclmdlRIUpdate the model cannot be executed: 507011 (implementation of the open runtime). Kernels
 * and values only (observed: tasks). */
MOCK_EXPORT aclError aclmdlRITaskDisable(aclmdlRITask task) {
    MOCK_ENTER_OF(aclmdlRITaskDisable, task);
    mock_node_ref *ref = NULL;
    mock_task *t = NULL;
    mock_lock();
    aclError code = find(task, &ref, &t);
    if (code == 0) code = begin_update(ref->graph);
    if (code == 0 && !is_value(t) && t->type != ACL_MODEL_RI_TASK_KERNEL) code = spoil(ref->graph, t);
    if (code == 0) {
        ref->disable = true;
        ref->graph->state = MOCK_GRAPH_UPDATING;
    }
    mock_unlock();
    return code;
}

static aclError run_nothing(void *arg) {
    (void)arg;
    return 0;
}

static const mock_task_ops disabled_ops = {"aclmdlRITaskDisable", run_nothing, NULL};

static void apply(mock_graph *g) {
    for (uint32_t i = 0; i < g->ref_count; i++) {
        mock_node_ref *ref = g->refs[i];
        mock_task *t = &g->nodes[i];
        if (ref == NULL) continue;
        if (ref->disable) {
            mock_task_release(t);
            t->ops = &disabled_ops;
            t->kind = MOCK_TASK_WORK;
            t->type = ACL_MODEL_RI_TASK_DEFAULT;
        } else if (ref->set) {
            t->u.value = ref->value;
        } else if (ref->kernel_ops != NULL) {
            mock_task_release(t);
            t->ops = ref->kernel_ops;
            t->u.kernel.arg = ref->kernel_arg;
            ref->kernel_ops = NULL;
        }
        mock_node_ref_drop(ref);
        ref->disable = ref->set = false;
    }
    g->state = MOCK_GRAPH_READY;
}

/* Nothing changed: 0 (observed: tasks). Not captured: 207000 (observed: build). */
MOCK_EXPORT aclError aclmdlRIUpdate(aclmdlRI modelRI) {
    MOCK_ENTER_OF(aclmdlRIUpdate, modelRI);
    aclError code = 0;
    mock_lock();
    mock_graph *g = mock_graph_seen(modelRI, &code);
    if (code == 0) code = mock_graph_no_sub(g, "aclmdlRIUpdate");
    if (code == 0 && !g->captured)
        code = mock_fail_acl(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "EE1016", "the model was not captured");
    if (code == 0) code = begin_update(g);
    if (code == 0) apply(g);
    mock_unlock();
    return code;
}
