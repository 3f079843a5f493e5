/* Tensor descriptors of the model interface. */
#ifndef MOCK_MODELS_TENSOR_DESC_H_
#define MOCK_MODELS_TENSOR_DESC_H_

#include "base/base.h"

#define MOCK_DESC_DIMS 128 /* header: ACL_MAX_DIM_CNT */
#define MOCK_DIM_UNKNOWN (-1)
#define MOCK_RANK_UNKNOWN (-2)

typedef struct mock_desc_shape {
    size_t count;
    int64_t *values;
} mock_desc_shape;

/* Pairs of least and greatest value. */
typedef struct mock_ranges {
    size_t count;
    int64_t (*values)[2];
} mock_ranges;

typedef struct mock_tensor_desc {
    mock_thing thing;
    aclDataType dtype;
    aclFormat format, storage_format;
    aclMemType placement;
    mock_desc_shape dims, storage;
    mock_ranges ranges, values;
    char *name, *dynamic_input;
    void *constant;
    size_t constant_size;
    void *address;
} mock_tensor_desc;

mock_tensor_desc *mock_tensor_desc_new(aclDataType dtype, size_t count, const int64_t *dims,
    aclFormat format);

#endif
