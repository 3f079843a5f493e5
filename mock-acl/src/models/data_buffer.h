/* A pair of address and size that a program hands to models. */
#ifndef MOCK_MODELS_DATA_BUFFER_H_
#define MOCK_MODELS_DATA_BUFFER_H_

#include "base/base.h"

typedef struct mock_data_buffer {
    mock_thing thing;
    void *data;
    size_t size;
} mock_data_buffer;

/* From the host, at once. 145012 where there is no room, 145011 for what is no device memory. */
aclError mock_data_buffer_write(const mock_data_buffer *b, const void *from, size_t bytes);

#endif
