/* The container of offline models, docs/model-format.md, as it is in host memory once it was checked. */
#ifndef MOCK_MODELS_FILE_H_
#define MOCK_MODELS_FILE_H_

#include "base/base.h"

#define MOCK_MODEL_RANK 8
#define MOCK_MODEL_INPUTS 8 /* operands of one operator */
#define MOCK_MODEL_GEARS 128 /* header: ACL_MAX_BATCH_NUM, ACL_MAX_HW_NUM */
#define MOCK_MODEL_ALIGN 64

typedef enum mock_model_place {
    MOCK_PLACE_INPUT,
    MOCK_PLACE_OUTPUT,
    MOCK_PLACE_INNER,
    MOCK_PLACE_WEIGHT,
    MOCK_PLACE_EXTERNAL,
    MOCK_PLACES
} mock_model_place;

typedef enum mock_model_dynamic {
    MOCK_MODEL_STATIC,
    MOCK_MODEL_BATCH,
    MOCK_MODEL_IMAGE,
    MOCK_MODEL_DIMS,
    MOCK_MODEL_DYNAMICS
} mock_model_dynamic;

typedef enum mock_attr_kind { MOCK_ATTR_INT = 1, MOCK_ATTR_FLOAT, MOCK_ATTR_INTS,
    MOCK_ATTR_TEXT } mock_attr_kind;

typedef struct mock_model_shape {
    uint8_t rank;
    int64_t dims[MOCK_MODEL_RANK];
} mock_model_shape;

typedef struct mock_model_tensor {
    const char *name;
    aclDataType dtype;
    aclFormat format;
    mock_model_place place;
    mock_model_shape shape; /* -1 where it is known at execution only */
    bool ranged;
    int64_t range[MOCK_MODEL_RANK][2];
    uint64_t offset, size; /* of a weight */
    const char *file;      /* of an external one */
    uint32_t position;     /* among the inputs or outputs */
} mock_model_tensor;

struct mock_model_kind;

typedef struct mock_model_op {
    const char *name, *type;
    const struct mock_model_kind *kind;
    uint8_t input_count, attr_count;
    uint32_t inputs[MOCK_MODEL_INPUTS], output;
    const unsigned char *attrs; /* checked */
} mock_model_op;

typedef struct mock_model_file {
    _Atomic uint32_t refs;
    unsigned char *bytes; /* its own copy; names point into it */
    mock_model_tensor *tensors;
    mock_model_op *ops;
    uint32_t tensor_count, op_count;
    uint32_t *inputs, *outputs; /* indices of tensors */
    uint32_t input_count, output_count;
    mock_model_dynamic dynamic;
    uint32_t gear_count, gear_size;
    uint64_t *gears; /* gear_count rows of gear_size */
    const unsigned char *weights;
    uint64_t weight_bytes;
} mock_model_file;

/* A bundle: how many models, where each starts, and the bytes of variable weights. */
typedef struct mock_bundle_part {
    uint64_t offset, size;
} mock_bundle_part;
typedef struct mock_bundle_layout {
    uint32_t count;
    uint64_t variable_bytes;
    mock_bundle_part parts[64];
} mock_bundle_layout;

/* Attributes; the fallback when there is none of that name and kind. */
int64_t mock_attr_int(const mock_model_op *op, const char *name, int64_t fallback);
double mock_attr_float(const mock_model_op *op, const char *name, double fallback);
/* At most 8 numbers; SIZE_MAX when there is none. */
size_t mock_attr_ints(const mock_model_op *op, const char *name, int64_t *values);
const char *mock_attr_text(const mock_model_op *op, const char *name);

/* Any bytes: a model, or a code of the graph engine and a text. `name` is for the text. */
aclError mock_model_parse(const void *bytes, size_t size, const char *name, mock_model_file **out);
/* A whole file; 145002 when there is none to read. */
aclError mock_model_read(const char *path, unsigned char **bytes, size_t *size);
void mock_model_file_ref(mock_model_file *f);
void mock_model_file_unref(mock_model_file *f);
aclError mock_bundle_parse(const void *bytes, size_t size, const char *name, mock_bundle_layout *out);

#endif
