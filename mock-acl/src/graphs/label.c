/* Labels: places in the streams of a model that is built by hand, and lists of them to jump by (guide: label
 * management). */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "engine/engine.h"
#include "graphs/graph.h"
#include "graphs/graphs.h"
#include "graphs/label.h"

/* (guide: label management, aclrtCreateLabel, aclrtCreateLabelList) */
#define LABEL_LIMIT 65535u

static aclError stale(const void *handle, const char *what) {
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "EE1017", "%p is not a live %s", handle, what);
}

static void label_unref(mock_label *l) {
    if (--l->refs == 0) free(l);
}

void mock_label_list_unref(mock_label_list *list) {
    if (--list->refs != 0) return;
    for (size_t i = 0; i < list->count; i++) label_unref(list->labels[i]);
    free(list);
}

/* More than 65,535: 507000 (implementation of the open runtime). */
static aclError create(aclrtLabel *out) {
    mock_ctx *ctx = mock_current();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    if (mock_handle_count(MOCK_LABEL) >= LABEL_LIMIT)
        return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "EE9999", "there are %u labels", LABEL_LIMIT);
    mock_label *l = calloc(1, sizeof *l);
    if (l != NULL) l->handle = mock_handle_new(MOCK_LABEL, l);
    if (l == NULL || l->handle == NULL) {
        free(l);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    }
    l->refs = 1;
    l->ctx = ctx;
    l->ctx_serial = ctx->serial;
    *out = l->handle;
    mock_gave(*out);
    return 0;
}

MOCK_EXPORT aclError aclrtCreateLabel(aclrtLabel *label) {
    MOCK_ENTER(aclrtCreateLabel);
    if (label == NULL) return mock_null("label");
    mock_lock();
    const aclError code = create(label);
    mock_unlock();
    return code;
}

/* Of another context: 507031 (observed: label_other_context), unless that is gone (own choice). */
static aclError at_home(const mock_label *l) {
    const mock_ctx *ctx = mock_current();
    if (ctx == NULL) return ACL_ERROR_RT_CONTEXT_NULL;
    if (l->ctx == ctx || l->ctx->serial != l->ctx_serial) return 0;
    return mock_fail(ACL_ERROR_RT_LABEL_CONTEXT, "EE1010", "the label belongs to another context");
}

/* Lists and tasks that have the label keep its place (own choice). */
MOCK_EXPORT aclError aclrtDestroyLabel(aclrtLabel label) {
    MOCK_ENTER_OF(aclrtDestroyLabel, label);
    if (label == NULL) return mock_null("label");
    mock_lock();
    mock_label *l = mock_handle_get(MOCK_LABEL, label);
    const aclError code = l == NULL ? stale(label, "label") : at_home(l);
    if (code == 0) {
        mock_handle_take(MOCK_LABEL, label);
        label_unref(l);
    }
    mock_unlock();
    return code;
}

static const mock_task_ops label_ops = {"aclrtSetLabel", NULL, NULL};

/* Only on streams bound to a model; any other is 107005 (observed: label). A label that has a place: 107000
 * (own choice). */
static aclError set(mock_label *l, mock_stream *s) {
    if (!s->bound)
        return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "EE9999", "the stream is not bound to a model");
    if (l->graph != NULL && l->graph->serial == l->serial)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1017", "the label has a place already");
    mock_graph *g = s->graph;
    const uint16_t chain = s->chain;
    mock_task t = {.ops = &label_ops, .kind = MOCK_TASK_LABEL};
    const aclError code = mock_capture_task(s, &t);
    if (code != 0) return code;
    l->graph = g;
    l->serial = g->serial;
    l->chain = chain;
    l->index = g->chains[chain].count - 1;
    return 0;
}

MOCK_EXPORT aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
    MOCK_ENTER_OF(aclrtSetLabel, label, stream);
    if (label == NULL || stream == NULL) return mock_null("label and stream");
    mock_stream *s = NULL;
    mock_lock();
    mock_label *l = mock_handle_get(MOCK_LABEL, label);
    aclError code = l == NULL ? stale(label, "label") : at_home(l);
    if (code == 0) code = mock_stream_to_submit(stream, &s);
    if (code == 0) code = set(l, s);
    mock_unlock();
    return code;
}

static const mock_graph *forget_graph;
static uint16_t forget_chain;

static void forget(void *object) {
    mock_label *l = object;
    if (l->graph == forget_graph && l->serial == forget_graph->serial && l->chain == forget_chain)
        l->graph = NULL;
}

void mock_labels_forget(const mock_graph *g, uint16_t chain) {
    forget_graph = g;
    forget_chain = chain;
    mock_handle_each(MOCK_LABEL, forget);
}

/* ---- lists ---- */

static aclError create_list(aclrtLabel *labels, size_t count, aclrtLabelList *out) {
    mock_label_list *list = malloc(sizeof *list + count * sizeof list->labels[0]);
    if (list == NULL) return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    *list = (mock_label_list){.refs = 1};
    for (; list->count < count; list->count++) {
        mock_label *l = mock_handle_get(MOCK_LABEL, labels[list->count]);
        if (l == NULL) {
            const aclError code = stale(labels[list->count], "label");
            mock_label_list_unref(list);
            return code;
        }
        l->refs++;
        list->labels[list->count] = l;
    }
    list->handle = mock_handle_new(MOCK_LABEL_LIST, list);
    if (list->handle == NULL) {
        mock_label_list_unref(list);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "EE1013", "no host memory");
    }
    *out = list->handle;
    mock_gave(*out);
    return 0;
}

/* 1 to 65,535 labels, else 107000; the handles are checked, the labels need no place yet (guide: label
 * management, aclrtCreateLabelList; implementation of the open runtime). */
MOCK_EXPORT aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num, aclrtLabelList *labelList) {
    MOCK_ENTER(aclrtCreateLabelList);
    if (labels == NULL || labelList == NULL) return mock_null("labels and labelList");
    if (num == 0 || num > LABEL_LIMIT)
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "EE1003", "%zu labels", num);
    mock_lock();
    const aclError code =
        mock_current() == NULL ? ACL_ERROR_RT_CONTEXT_NULL : create_list(labels, num, labelList);
    mock_unlock();
    return code;
}

/* Tasks that jump by the list keep it (own choice). */
MOCK_EXPORT aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
    MOCK_ENTER_OF(aclrtDestroyLabelList, labelList);
    if (labelList == NULL) return mock_null("labelList");
    mock_lock();
    mock_label_list *list = mock_handle_take(MOCK_LABEL_LIST, labelList);
    if (list != NULL) mock_label_list_unref(list);
    mock_unlock();
    return list != NULL ? 0 : stale(labelList, "list of labels");
}

static void drop_label(void *object) {
    mock_label *l = object;
    mock_handle_take(MOCK_LABEL, l->handle);
    label_unref(l);
}

static void drop_list(void *object) {
    mock_label_list *list = object;
    mock_handle_take(MOCK_LABEL_LIST, list->handle);
    mock_label_list_unref(list);
}

void mock_labels_reset(void) {
    mock_handle_each(MOCK_LABEL_LIST, drop_list);
    mock_handle_each(MOCK_LABEL, drop_label);
}
