/* Offline models: containers, loading, descriptions, dynamic sizes, runs; datasets, descriptors and attributes of
 * operators by name.
 *
 * Uses the operator calls for its work, streams and memory. The control interface and dumps use it. */
#ifndef MOCK_MODELS_MODELS_H_
#define MOCK_MODELS_MODELS_H_

#include "base/base.h"

/* ---- models/attributes.c ---- */
void mock_options_reset(void);

/* ---- models/bundle.c ---- */
void mock_bundles_reset(void);

/* ---- models/data_buffer.c ---- */
/* aclDataTypeSize without counting the call. */
size_t mock_dtype_bytes(aclDataType dataType);

/* ---- models/model.c ---- */
void mock_models_reset(void);

#endif
