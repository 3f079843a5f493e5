/* Loaded offline models. */
#ifndef MOCK_MODELS_MODEL_H_
#define MOCK_MODELS_MODEL_H_

#include "acl/error_codes/ge_error_codes.h"
#include "models/file.h"

/* Every size of one execution. */
typedef struct mock_model_plan {
    mock_model_shape *shapes; /* of each tensor */
    uint64_t *offsets;        /* of each inner tensor in the work memory */
    uint64_t work_bytes;      /* inner tensors and the largest workspace */
    uint64_t workspace;       /* where that one starts */
} mock_model_plan;

/* Referenced by its id and by every execution that is queued. */
typedef struct mock_model {
    _Atomic uint32_t refs;
    mock_model_file *file;
    int32_t device;
    char *work, *weights;     /* device memory */
    bool own_work, own_weights;
    uint64_t work_bytes;      /* 0 where each execution brings its own */
    void **addresses;         /* of each weight */
    uint32_t chosen;          /* gear + 1 of the last choice, for aclmdlGetCurOutputDims */
} mock_model;

/* Where a load takes its things from. */
typedef struct mock_model_source {
    const char *path;    /* of the model, or NULL */
    const char *folder;  /* of external weights, or NULL: beside the model */
    void *work, *weights;
    size_t work_size, weight_size;
    const struct mock_model_external *externals;
    size_t external_count;
} mock_model_source;

typedef struct mock_model_external {
    char *file;
    void *address;
    size_t size;
} mock_model_external;

/* ---- models/model.c ---- */
/* 145003 for an id that is not loaded. A found model has one more reference. */
aclError mock_model_load(mock_model_file *file, const mock_model_source *from, uint32_t *id);
aclError mock_model_find(uint32_t id, mock_model **out);
aclError mock_model_unload(uint32_t id);
void mock_model_unref(mock_model *m);
uint64_t mock_model_weight_bytes(const mock_model_file *f);

/* ---- models/plan.c ---- */
/* The greatest work size that any choice needs; 0 and `false` when nothing bounds it. 545000 for
 * operators that refuse their operands. */
aclError mock_model_work_size(const mock_model_file *f, uint64_t *bytes, bool *bounded);
/* `inputs` are the shapes of all inputs. 145021 when they do not fit. */
aclError mock_model_plan_make(const mock_model_file *f, const mock_model_shape *inputs,
    mock_model_plan *plan);
void mock_model_plan_free(mock_model_plan *plan);
/* Shapes of the inputs for a gear, or with every open size at its greatest; false when that is not known. */
void mock_model_gear_shapes(const mock_model_file *f, uint32_t gear, mock_model_shape *inputs);
size_t mock_model_shape_bytes(const mock_model_tensor *t, const mock_model_shape *shape);
/* The same for the greatest shape; 0 when it is not known. */
size_t mock_model_tensor_bytes(const mock_model_file *f, uint32_t tensor);
/* Creates the operands, runs the first phase, and the second one unless `stream` is NULL and `measure`
 * set. */
aclError mock_model_call_op(const mock_model_file *f, const mock_model_op *op, const mock_model_plan *plan,
    void *const *addresses, void *workspace, uint64_t *need, aclrtStream stream, bool measure);

#endif
