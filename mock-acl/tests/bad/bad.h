/* The table of calls that tools/bad_inputs.py generates. */
#ifndef MOCK_BAD_H_
#define MOCK_BAD_H_
#include <stdint.h>

enum { ARGUMENTS = 64 };

typedef enum kind {
    NONE,
    STREAM, EVENT, NOTIFY, CONTEXT, GRAPH, TENSOR, SCALAR, INTS, FLOATS, BOOLS, LIST, EXECUTOR, BUFFER,
    KNOWN_HANDLES = BUFFER, /* those that the driver can make */
    HANDLE, /* another handle */
    OBJECT, /* another opaque structure */
    DEVICE, /* an address of device memory */
    PINNED, /* an address of pinned memory */
    POINTER, TEXT, FUNCTION, RECORD, ENUM, SIGNED, UNSIGNED, FLOAT, DOUBLE
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

static inline void *at(uint64_t address) { return (void *)(uintptr_t)address; }

#endif
