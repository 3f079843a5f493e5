/* Offline models: containers, loading, descriptions, dynamic sizes, runs; datasets, descriptors and attributes of
 * operators by name.
 *
 * Uses objects, through which it calls operators as a program does, streams, memory and the engine. Dumps and the
 * control interface use it. */
#ifndef MOCK_MODELS_MODELS_H_
#define MOCK_MODELS_MODELS_H_

#include "base/base.h"
#include "models/attributes.h"
#include "models/data_buffer.h"
#include "models/tensor_desc.h"

/* ---- models/attributes.c ---- */
void mock_options_reset(void);
/* Null attributes are none: 0 with `out` null. 100000 for what is no live set. */
aclError mock_op_attr_find(const aclopAttr *attrs, const char *name, const mock_op_attr **out);
/* A set with the same attributes; NULL without memory or for what is no live set. */
aclopAttr *mock_op_attrs_copy(const aclopAttr *attrs);
void mock_op_attrs_free(const aclopAttr *attrs);

/* ---- models/bundle.c ---- */
void mock_bundles_reset(void);

/* ---- models/data_buffer.c ---- */
const mock_data_buffer *mock_data_buffer_get(const aclDataBuffer *handle);
/* aclDataTypeSize without counting the call. */
size_t mock_dtype_bytes(aclDataType dataType);

/* ---- models/model.c ---- */
void mock_models_reset(void);

/* ---- models/tensor_desc.c ---- */
mock_tensor_desc *mock_tensor_desc_get(const aclTensorDesc *handle);
mock_tensor_desc *mock_tensor_desc_copy(const mock_tensor_desc *from);
void mock_tensor_desc_free(const aclTensorDesc *handle);
/* The sizes of the shape; 100019 without memory. */
aclError mock_tensor_desc_reshape(mock_tensor_desc *desc, size_t count, const int64_t *dims);
/* The product of sizes; false beyond 64 bits or with a negative one. */
bool mock_elements(size_t count, const int64_t *dims, size_t *elements);

#endif
