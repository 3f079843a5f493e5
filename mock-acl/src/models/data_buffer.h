/* A pair of address and size that a program hands to models. */
#ifndef MOCK_MODELS_DATA_BUFFER_H_
#define MOCK_MODELS_DATA_BUFFER_H_

#include "base/base.h"

typedef struct mock_data_buffer {
    mock_thing thing;
    void *data;
    size_t size;
} mock_data_buffer;

#endif
