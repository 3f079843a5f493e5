/* Offline models: containers, loading, descriptions, dynamic sizes, runs; datasets, descriptors and attributes of
 * operators by name.
 *
 * Uses objects, through which it calls operators as a program does, streams, memory and the engine. Dumps and the
 * control interface use it. */
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
