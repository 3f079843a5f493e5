/* What the library knows of a thread of the program. */
#ifndef MOCK_BASE_THREAD_H_
#define MOCK_BASE_THREAD_H_

#include <stddef.h>
#include <stdint.h>
#include "acl/acl.h"

typedef struct mock_thread {
    uint64_t epoch, id;
    struct mock_ctx *ctx;
    uint64_t ctx_serial;
    uint32_t in_task;
    uint64_t spent; /* virtual time that the task which it runs took, beyond the usual */
    aclmdlRICaptureMode exchange;
    aclError last_error;
    char *text;
    size_t text_size;
    char *shown;
    uint32_t last_task; /* id of the last task that it submitted, 0 for none */
    uint64_t last_graph; /* serial of the graph that took it, 0 for none */
    uint32_t tid;
    int32_t device;
    const struct mock_stream *stream; /* whose work it executes */
    struct mock_racer *racer;         /* of the chain whose node it executes, while races are looked for */
    const struct mock_task *node;
    uint32_t graph, place; /* with it: the graph's id, the how manieth node it is */
    uint64_t noted;        /* what it called last, while calls are logged: base/calls.c */
} mock_thread;

#endif
