/* Part of racl (mock-acl). Licensed under MIT or Apache-2.0; our own text. */
/* Operators that the mock does not compute, computed by functions of the program.
 *
 * A registered operator takes both phases like any other: the first one reads its parameters, asks `check` and makes
 * an executor; the second one queues a task, which calls `compute` when the stream gets to it, in a graph at every
 * replay. Only what needs no result on the host besides workspace and executor can be registered. */
#ifndef MOCK_ACL_OPERATOR_H_
#define MOCK_ACL_OPERATOR_H_

#include <stddef.h>
#include <stdint.h>
#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mock_acl_operand_kind {
    MOCK_ACL_OPERAND_TENSOR = 1,
    MOCK_ACL_OPERAND_TENSOR_LIST,
    MOCK_ACL_OPERAND_SCALAR,      /* also its list: `numbers` and `integers` both have them */
    MOCK_ACL_OPERAND_INTEGERS,    /* an integer, a data type, an aclIntArray */
    MOCK_ACL_OPERAND_BOOLEANS,    /* a bool, an aclBoolArray: 0 or 1 in `integers` */
    MOCK_ACL_OPERAND_NUMBERS,     /* a float, a double, an aclFloatArray */
    MOCK_ACL_OPERAND_TEXT
} mock_acl_operand_kind;

typedef struct mock_acl_operand_tensor {
    aclDataType dtype;
    aclFormat format;
    uint64_t rank;
    const int64_t *dims;
    const int64_t *strides; /* in elements */
    void *data; /* in `compute`: the first element, for the host; NULL in `check`, and for a tensor without elements */
} mock_acl_operand_tensor;

typedef struct mock_acl_operand {
    const char *name; /* as in the header */
    mock_acl_operand_kind kind;
    int is_null;
    int is_read, is_written; /* of tensors, as far as the interface tells */
    uint64_t count;          /* tensors, numbers, or characters */
    const mock_acl_operand_tensor *tensors;
    const int64_t *integers;
    const double *numbers;
    const char *text;
} mock_acl_operand;

/* Valid during the call that it is given to. */
typedef struct mock_acl_operator_call {
    size_t struct_size;
    const char *name;
    uint64_t count;
    const mock_acl_operand *operands; /* in the order of the parameters */
    void *workspace;                  /* in `compute`, for the host */
    uint64_t workspace_size;
} mock_acl_operator_call;

typedef struct mock_acl_operator {
    size_t struct_size;
    /* In the first phase, on its thread: 0, or the code that the first phase returns. `workspace_size` is 0 before.
     * May be NULL. It calls no function of AscendCL. */
    int (*check)(const mock_acl_operator_call *call, uint64_t *workspace_size, void *user);
    /* On the thread that runs the stream: 0, or the code that the stream fails with. It calls no function of
     * AscendCL. */
    int (*compute)(const mock_acl_operator_call *call, void *user);
    void *user;
} mock_acl_operator;

/* From now on `name`, such as "aclnnErfinv", is computed by `functions`; NULL takes that back, as does a reset. An
 * executor keeps the functions that it was made with, so they and `user` outlive executors, queued work and graphs.
 * MOCK_ACL_BAD_ARGUMENT for a name that is no operator, one that the mock computes itself, or one whose parameters
 * cannot be carried; src/operators/own/operators.def has all that can. */
int mock_acl_register_operator(const char *name, const mock_acl_operator *functions);

#ifdef __cplusplus
}
#endif

#endif
