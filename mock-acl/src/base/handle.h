/* The kinds of objects that stand behind handles. */
#ifndef MOCK_BASE_HANDLE_H_
#define MOCK_BASE_HANDLE_H_

/* Bookkeeping of host-side objects, for mock_acl_live_handles. */
typedef enum mock_object_kind {
    MOCK_OBJECT_TENSOR,
    MOCK_OBJECT_SCALAR,
    MOCK_OBJECT_ARRAY,
    MOCK_OBJECT_LIST,
    MOCK_OBJECT_EXECUTOR,
    MOCK_OBJECT_KINDS
} mock_object_kind;

typedef enum mock_kind {
    MOCK_CONTEXT = 1,
    MOCK_STREAM,
    MOCK_EVENT,
    MOCK_NOTIFY,
    MOCK_GRAPH,
    MOCK_TASKGRP,
    MOCK_NODE,
    MOCK_COND,
    MOCK_LABEL,
    MOCK_CHAIN,
    MOCK_POOL,
    MOCK_BINARY_TEXT,
    MOCK_KERNEL_BINARY,
    MOCK_FUNCTION,
    MOCK_BUFFER,
    MOCK_CORE_GROUP,
    MOCK_COUNT_NOTIFY,
    MOCK_LABEL_LIST,
    MOCK_PHYSICAL,
    MOCK_ALLOCATOR,
    MOCK_THING, /* of the libraries around the runtime, base/things.h */
    MOCK_OBJECT_FIRST /* MOCK_OBJECT_KINDS kinds of host-side objects follow */
} mock_kind;

#endif
