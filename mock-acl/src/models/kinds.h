/* The operators that an offline model can have: their shapes, and the operator calls that do the work. */
#ifndef MOCK_MODELS_KINDS_H_
#define MOCK_MODELS_KINDS_H_

#include "models/file.h"
#include "objects/objects.h"

/* One call: operands in the order of the container, and what the operator made for itself. */
typedef struct mock_model_call {
    const mock_model_op *op;
    aclTensor *inputs[MOCK_MODEL_INPUTS];
    const mock_model_shape *shapes[MOCK_MODEL_INPUTS];
    aclDataType dtype; /* of the first operand */
    aclTensor *output;
    aclDataType output_dtype;
    uint64_t *size;
    aclOpExecutor **executor;
} mock_model_call;

typedef struct mock_model_kind {
    const char *type;
    uint8_t least, most; /* operands */
    /* `out` has the shape that the model declares. */
    bool (*shape)(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
    /* Without these two it is that of preprocessing, which is no operator of aclnn. */
    aclnnStatus (*plan)(mock_model_call *call);
    aclnnStatus (*run)(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream);
} mock_model_kind;

/* NULL for a type that the mock does not have, or not with so many operands. */
const mock_model_kind *mock_model_kind_find(const char *type, unsigned operands);

bool mock_shape_same(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
bool mock_shape_broadcast(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
bool mock_shape_matmul(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
bool mock_shape_norm(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
bool mock_shape_reduce(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
bool mock_shape_permute(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
bool mock_shape_gather(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);

#endif
