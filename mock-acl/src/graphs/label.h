/* Labels of models that are built by hand. With the engine lock. */
#ifndef MOCK_GRAPHS_LABEL_H_
#define MOCK_GRAPHS_LABEL_H_

#include "graphs/graph.h"

typedef struct mock_label {
    void *handle;
    uint32_t refs;     /* the handle, and lists */
    mock_ctx *ctx;
    uint64_t ctx_serial;
    mock_graph *graph; /* where it stands, with its serial; NULL without a place */
    uint64_t serial;
    uint32_t index; /* of its task in the chain */
    uint16_t chain;
} mock_label;

typedef struct mock_label_list {
    void *handle;
    uint32_t refs; /* the handle, and tasks */
    size_t count;
    mock_label *labels[];
} mock_label_list;

void mock_label_list_unref(mock_label_list *list);

#endif
