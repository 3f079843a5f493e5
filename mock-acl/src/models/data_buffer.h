/* A pair of address and size that a program hands to models. */
#ifndef MOCK_DATA_BUFFER_H_
#define MOCK_DATA_BUFFER_H_

#include "base/things.h"

typedef struct mock_data_buffer {
    mock_thing thing;
    void *data;
    size_t size;
} mock_data_buffer;

const mock_data_buffer *mock_data_buffer_get(const aclDataBuffer *handle);
/* aclDataTypeSize without counting the call. */
size_t mock_dtype_bytes(aclDataType dataType);

#endif
