/* One call of an operator by name. */
#ifndef MOCK_NAMED_CALL_H_
#define MOCK_NAMED_CALL_H_

#include "models/models.h"
#include "objects/objects.h"

#define MOCK_NAMED_OPERANDS 64
#define MOCK_NAMED_HELD 192

/* What a program handed over for one operand, and what became of it. `tensor` is NULL for one that was left
 * out. */
typedef struct mock_named_operand {
    mock_tensor_desc *desc;
    void *address;
    size_t bytes;
    const void *host; /* a constant, or a buffer of the host */
    size_t host_bytes;
    int64_t dims[MOCK_MAX_RANK];
    int rank;
    bool absent, known;         /* known: every dimension is */
    aclTensor *tensor, *stored; /* stored: in blocks, of which tensor is a dense copy */
} mock_named_operand;

typedef struct mock_named_call mock_named_call;

/* A name of the table. Without `shape` the dimensions of outputs have to be known. */
typedef struct mock_named_row {
    const char *type;
    uint8_t least, most, outputs;
    aclnnStatus (*plan)(mock_named_call *c);
    bool (*shape)(mock_named_call *c);
} mock_named_row;

struct mock_named_call {
    const char *api;
    const mock_named_row *row;
    int input_count, output_count;
    mock_named_operand inputs[MOCK_NAMED_OPERANDS], outputs[MOCK_NAMED_OPERANDS];
    const aclopAttr *attrs;
    aclrtStream stream;
    int32_t device;
    aclError code; /* of what is wrong with the call itself, with a text */
    /* Of the step that is made. */
    uint64_t size;
    aclOpExecutor *executor;
    void *memory[MOCK_NAMED_HELD];
    int memory_count;
    void *objects[MOCK_NAMED_HELD];
    aclnnStatus (*destroy[MOCK_NAMED_HELD])(const void *);
    int object_count;
};

/* Plans and queues one operator of aclnn. */
#define MOCK_STEP(C, OPERATOR, ...)                                                           \
    mock_named_step((C),                                                                      \
        (C)->code != 0 ? ACLNN_ERR_PARAM_INVALID                                              \
                       : OPERATOR##GetWorkspaceSize(__VA_ARGS__, &(C)->size, &(C)->executor), \
        OPERATOR)

/* ---- named/call.c ---- */
aclnnStatus mock_named_step(mock_named_call *c, aclnnStatus first,
    aclnnStatus (*second)(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream));
/* Sets the call's code and a text that names call and operator; gives a status that is no success. */
aclnnStatus mock_named_fail(mock_named_call *c, aclError code, const char *format, ...) MOCK_PRINTF(3, 4);

/* ---- named/operand.c ---- */
aclError mock_named_take(mock_named_call *c, mock_named_operand *o, const aclTensorDesc *desc,
    const aclDataBuffer *buffer, const char *what, int index);
/* Makes tensors of all inputs, or of all outputs; copies what is in blocks or on the host. */
aclnnStatus mock_named_inputs(mock_named_call *c);
aclnnStatus mock_named_outputs(mock_named_call *c);
/* Puts dense results into blocks. */
aclnnStatus mock_named_store(mock_named_call *c);
/* A tensor in memory of its own until the call has run; NULL after a failure. */
aclTensor *mock_named_temp(mock_named_call *c, aclDataType type, int rank, const int64_t *dims);
/* Another view of an operand's elements. */
aclTensor *mock_named_view(mock_named_call *c, const mock_named_operand *o, int rank, const int64_t *dims,
    const int64_t *strides, int64_t offset);
void mock_named_release(mock_named_call *c);

/* ---- named/values.c ---- */
/* The whole numbers of a constant input, at most `most`; the count, or -1 after a failure. */
int mock_named_ints(mock_named_call *c, int index, int64_t *values, int most);
/* The one number of a constant input. */
double mock_named_number(mock_named_call *c, int index);
/* Fails where there is none. */
void mock_named_need_attr(mock_named_call *c, const char *name);
int64_t mock_named_int_attr(mock_named_call *c, const char *name, int64_t fallback);
bool mock_named_bool_attr(mock_named_call *c, const char *name, bool fallback);
double mock_named_float_attr(mock_named_call *c, const char *name, double fallback);
/* NULL where there is none. */
const char *mock_named_text_attr(mock_named_call *c, const char *name);
/* A list, or one number; the count, -1 where there is none or after a failure. */
int mock_named_ints_attr(mock_named_call *c, const char *name, int64_t *values, int most);
/* Objects that live as long as the call. */
aclIntArray *mock_named_array(mock_named_call *c, const int64_t *values, int count);
aclScalar *mock_named_float(mock_named_call *c, double value);
aclScalar *mock_named_whole(mock_named_call *c, int64_t value);
aclTensorList *mock_named_list(mock_named_call *c, aclTensor *const *tensors, int count);
/* The place of a dimension that may count from the end; -1 after a failure. */
int mock_named_dim(mock_named_call *c, int64_t dim, int rank);

/* ---- named/shapes.c ---- */
bool mock_named_shape_same(mock_named_call *c);
bool mock_named_shape_both(mock_named_call *c);
bool mock_named_shape_of_ints(mock_named_call *c);
bool mock_named_shape_permuted(mock_named_call *c);
bool mock_named_shape_product(mock_named_call *c);

/* ---- named/table.c ---- */
/* NULL for a name that it does not have. */
const mock_named_row *mock_named_find(const char *type);

/* ---- rows ---- */
extern const mock_named_row mock_named_elements[], mock_named_moves[], mock_named_products[],
    mock_named_lines[], mock_named_picks[];

#endif
