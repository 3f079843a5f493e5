/* The table of calls that tools/bad_inputs.py generates. */
#ifndef MOCK_BAD_H_
#define MOCK_BAD_H_
#include <stdint.h>

enum { ARGUMENTS = 64 };

typedef enum kind {
    NONE,
    STREAM, EVENT, NOTIFY, CONTEXT, GRAPH, TENSOR, SCALAR, INTS, FLOATS, BOOLS, LIST, EXECUTOR, BUFFER, SCALARS,
    COUNT_NOTIFY, LABEL, LABELS, CONDITION, TASK_GROUP, TASK, BINARY_TEXT, BINARY, KERNEL, KERNEL_ARGUMENTS,
    PLACEHOLDER, PHYSICAL, POOL, ALLOCATOR, MESSAGE, QUEUE_MESSAGE, GROUP, STREAM_CONFIG, DESCRIPTION, ATTRIBUTES,
    MODEL_DESCRIPTION, DATASET, AIPP, LOAD_CONFIG, RUN_CONFIG, BUNDLE_QUERY, QUEUE_ATTRIBUTES, ROUTE, ROUTES,
    ROUTE_QUERY, CHANNEL, ITEM, ITEMS, PROFILE, STEP,
    MODEL, QUEUE, /* these two are numbers */
    KNOWN_HANDLES = QUEUE, /* those that the driver can make */
    HANDLE, /* another handle */
    OBJECT, /* another opaque structure */
    DEVICE, /* an address of device memory */
    PINNED, /* an address of pinned memory */
    POINTER, TEXT, FUNCTION, RECORD, ENUM, SIGNED, UNSIGNED, FLOAT, DOUBLE,
    FIXED /* a number that stays 1 */
} kind;

typedef struct parameter {
    kind kind;
    long long low, high; /* of an enum; `high` is the size of a number or a record in bytes */
    long long good; /* of an enum */
    const char *name;
} parameter;

typedef struct function {
    const char *name;
    long long (*call)(const uint64_t *arguments);
    int count;
    int gives_code;
    int stub;
    parameter parameters[ARGUMENTS];
} function;

extern const function functions[];
extern const int function_count;

typedef struct bad_maker {
    const char *name;
    void *(*make)(void);
    void (*destroy)(void *);
    kind wrong; /* a kind that is easily taken for it */
} bad_maker;
extern const bad_maker bad_makers[KNOWN_HANDLES + 1];
void bad_use_memory(void *device);

static inline void *at(uint64_t address) { return (void *)(uintptr_t)address; }

#endif
