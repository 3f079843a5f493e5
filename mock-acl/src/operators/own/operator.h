/* Operators that the program computes (include/mock_acl_operator.h): what their stubs hand over. */
#ifndef MOCK_OPERATORS_OWN_OPERATOR_H_
#define MOCK_OPERATORS_OWN_OPERATOR_H_

#include "base/base.h"
#include "engine/engine.h"
#include "objects/objects.h"

typedef enum mock_own_kind {
    MOCK_OWN_TENSOR, MOCK_OWN_TENSORS, MOCK_OWN_SCALAR, MOCK_OWN_SCALARS, MOCK_OWN_INTS, MOCK_OWN_FLOATS,
    MOCK_OWN_BOOLS, MOCK_OWN_TEXT, MOCK_OWN_INTEGER, MOCK_OWN_BOOLEAN, MOCK_OWN_NUMBER
} mock_own_kind;

/* A parameter of a first phase. */
typedef struct mock_own_parameter {
    const char *name;
    mock_own_kind kind;
    uint8_t role;
    bool optional;
} mock_own_parameter;

/* What it is in a call: a pointer, a number for MOCK_OWN_NUMBER, an integer for the two before that. */
typedef union mock_own_value {
    const void *pointer;
    int64_t integer;
    double number;
} mock_own_value;

/* An operator with its stubs. */
typedef struct mock_own_operator {
    mock_task_ops task;
    mock_api first, second;
    const char *first_name;
    const mock_own_parameter *parameters;
    size_t count;
} mock_own_operator;

/* The first phase, with a value for each parameter: 207000 without functions of the program. */
aclnnStatus mock_own_first(
    const mock_own_operator *own, const mock_own_value *values, uint64_t *size, aclOpExecutor **executor);
aclnnStatus mock_own_second(
    const mock_own_operator *own, void *workspace, uint64_t size, aclOpExecutor *executor,
    aclrtStream stream);
aclError mock_own_run(void *plan);

#endif
