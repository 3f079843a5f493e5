/* Jumps in models that are built by hand: streams that start others, that give way to others on a
 * condition, or that jump to a label (guide: stream management, aclrtActiveStream and aclrtSwitchStream;
 * label management, aclrtSwitchLabelByIndex). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"
#include "graphs/label.h"
#include "memory/memory.h"

typedef enum branch_kind { BRANCH_START, BRANCH_SWITCH, BRANCH_JUMP } branch_kind;

typedef struct mock_branch {
    branch_kind kind;
    uint16_t target; /* chain to start */
    bool wide;       /* 64 bits are compared */
    uint32_t count;  /* labels to choose among */
    aclrtCondition condition;
    const void *left, *right; /* or the index of a label at `left` */
    mock_label_list *list;
} mock_branch;

static const mock_task_ops start_ops = {"aclrtActiveStream", NULL, NULL};
static const mock_task_ops switch_ops = {"aclrtSwitchStream", NULL, NULL};
static const mock_task_ops jump_ops = {"aclrtSwitchLabelByIndex", NULL, NULL};

void mock_branch_release(mock_task *t) {
    mock_branch *b = t->u.branch;
    if (b == NULL) return;
    if (b->list != NULL) mock_label_list_unref(b->list);
    free(b);
}

/* ---- building ---- */

static aclError not_bound(void) {
    return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE1011", "the stream is not bound to a model");
}

/* Streams that are not bound: 107005, as for labels, before the context (observed: other_context_stream); of different
 * models: 107000 (own choice). */
static aclError two_bound(aclrtStream handle, aclrtStream beside, mock_stream **s, mock_stream **other) {
    aclError code = mock_stream_to_look_at(beside, other);
    if (code == 0) code = mock_stream_to_look_at(handle, s);
    if (code == 0 && (!(*s)->bound || !(*other)->bound) && mock_current() != NULL) return not_bound();
    if (code == 0) code = mock_stream_to_submit(handle, s);
    if (code == 0) code = mock_stream_to_submit(beside, other);
    if (code != 0) return code;
    if ((*s)->graph == (*other)->graph) return 0;
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the streams are bound to different models");
}

static aclError add(mock_stream *s, const mock_task_ops *ops, mock_branch branch) {
    mock_branch *b = malloc(sizeof *b);
    if (b == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    *b = branch;
    if (b->list != NULL) b->list->refs++;
    mock_task t = {.ops = ops, .kind = MOCK_TASK_BRANCH, .u.branch = b};
    return mock_capture_task(s, &t);
}

/* Null: 100000 (observed: label). The other stream runs beside this one from here on. */
MOCK_EXPORT aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtActiveStream, activeStream, stream);
    if (activeStream == NULL || stream == NULL) return mock_null("activeStream and stream");
    mock_stream *s = NULL, *other = NULL;
    mock_lock();
    aclError code = two_bound(stream, activeStream, &s, &other);
    if (code == 0) code = add(s, &start_ops, (mock_branch){.kind = BRANCH_START, .target = other->chain});
    mock_unlock();
    return code;
}

/* falseStream must be null: 100000; other conditions and types: 107000 (implementation of the open
 * runtime). */
MOCK_EXPORT aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue,
    aclrtCompareDataType dataType, aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtSwitchStream, trueStream, falseStream, stream);
    if (leftValue == NULL || rightValue == NULL || trueStream == NULL || stream == NULL)
        return mock_null("values and streams");
    if (falseStream != NULL) return mock_fail(ACL_ERROR_INVALID_PARAM, "EH0008", "falseStream must be null");
    if ((int)cond < 0 || cond > ACL_RT_LESS_OR_EQUAL || (int)dataType < 0 || dataType > ACL_RT_SWITCH_INT64)
        return mock_fail(
            ACL_ERROR_RT_PARAM_INVALID, "EE1003", "condition %d of type %d", (int)cond, (int)dataType);
    const mock_branch b = {.kind = BRANCH_SWITCH,
        .wide = dataType == ACL_RT_SWITCH_INT64,
        .condition = cond,
        .left = leftValue,
        .right = rightValue};
    mock_stream *s = NULL, *other = NULL;
    mock_lock();
    aclError code = two_bound(stream, trueStream, &s, &other);
    if (code == 0) {
        mock_branch full = b;
        full.target = other->chain;
        code = add(s, &switch_ops, full);
    }
    mock_unlock();
    return code;
}

/* maxValue is the number of labels; 0 or more than the list has: 107000 (own choice of the code). */
static aclError add_jump(void *index, uint32_t count, mock_label_list *list, mock_stream *s) {
    if (count == 0 || count > list->count)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%u labels of %zu", count, list->count);
    return add(
        s, &jump_ops, (mock_branch){.kind = BRANCH_JUMP, .count = count, .left = index, .list = list});
}

MOCK_EXPORT aclError aclrtSwitchLabelByIndex(
    void *ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtSwitchLabelByIndex, ptr, labelList, stream);
    if (ptr == NULL || labelList == NULL || stream == NULL) return mock_null("ptr, labelList and stream");
    mock_stream *s = NULL;
    mock_lock();
    mock_label_list *list = mock_handle_get(MOCK_LABEL_LIST, labelList);
    aclError code = list == NULL ? mock_stale(labelList, "list of labels")
                                 : mock_stream_to_submit(stream, &s);
    if (code == 0 && !s->bound) code = not_bound();
    if (code == 0) code = add_jump(ptr, maxValue, list, s);
    mock_unlock();
    return code;
}

/* ---- replay ---- */

static bool compare(aclrtCondition condition, int64_t left, int64_t right) {
    switch (condition) {
    case ACL_RT_EQUAL:
        return left == right;
    case ACL_RT_NOT_EQUAL:
        return left != right;
    case ACL_RT_GREATER:
        return left > right;
    case ACL_RT_GREATER_OR_EQUAL:
        return left >= right;
    case ACL_RT_LESS:
        return left < right;
    default:
        return left <= right;
    }
}

static bool read_value(const void *at, bool wide, int64_t *out) {
    const void *view = mock_device_view(at, wide ? 8 : 4);
    if (view == NULL || !mock_touch_task(at, wide ? 8 : 4, MOCK_READS)) return false;
    if (wide) *out = (int64_t)atomic_load_explicit((const _Atomic uint64_t *)view, memory_order_acquire);
    else *out = (int32_t)atomic_load_explicit((const _Atomic uint32_t *)view, memory_order_acquire);
    return true;
}

/* Outside of a live block: 507053 (own choice, as for copies). */
static mock_step no_memory(mock_stream *s) {
    mock_task_result(s, ACL_ERROR_RT_DEVICE_MEM_ERROR);
    return MOCK_NEXT;
}

static void go_to(mock_chain *to, uint32_t index) {
    to->cursor = to->first + index;
    to->going = true;
}

/* The place is set; `c` stops unless it is the one that goes on. */
static mock_step leave_for(mock_stream *s, mock_graph *g, mock_chain *c, mock_chain *to, uint32_t index) {
    c->going = false;
    mock_graph_racing_jump(g, c, to);
    go_to(to, index);
    mock_graph_round(s, g);
    return MOCK_MOVED;
}

/* A stream that has not ended goes on as it was (own choice). */
static mock_step start(mock_stream *s, mock_graph *g, const mock_chain *c, mock_chain *to) {
    if (to == c) {
        go_to(to, 0);
        mock_graph_round(s, g);
        return MOCK_MOVED;
    }
    if (!to->going) go_to(to, 0);
    mock_graph_racing_jump(g, c, to);
    mock_graph_round(s, g);
    return MOCK_NEXT;
}

static mock_step step_switch(mock_stream *s, mock_graph *g, mock_chain *c, const mock_branch *b) {
    int64_t left = 0, right = 0;
    if (!read_value(b->left, b->wide, &left) || !read_value(b->right, b->wide, &right)) return no_memory(s);
    if (!compare(b->condition, left, right)) return MOCK_NEXT;
    return leave_for(s, g, c, &g->chains[b->target], 0);
}

/* An index past the end means the last label (guide: label management, aclrtSwitchLabelByIndex). A label
 * without a place in this model ends the replay with 507011 (own choice). */
static mock_step step_jump(mock_stream *s, mock_graph *g, mock_chain *c, const mock_branch *b) {
    int64_t value = 0;
    if (!read_value(b->left, false, &value)) return no_memory(s);
    const uint32_t index = (uint32_t)value;
    const mock_label *l = b->list->labels[index < b->count ? index : b->count - 1];
    const bool placed = l->graph == g && l->serial == g->serial && l->index < g->chains[l->chain].count;
    if (!placed) {
        mock_graph_end_early(g, ACL_ERROR_RT_MODEL_EXECUTE);
        return MOCK_STUCK;
    }
    return leave_for(s, g, c, &g->chains[l->chain], l->index);
}

mock_step mock_branch_step(mock_stream *s, mock_graph *g, mock_chain *c, mock_task *t) {
    const mock_branch *b = t->u.branch;
    if (b->kind == BRANCH_JUMP) return step_jump(s, g, c, b);
    if (b->kind == BRANCH_SWITCH) return step_switch(s, g, c, b);
    return start(s, g, c, &g->chains[b->target]);
}
