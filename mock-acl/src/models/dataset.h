/* Inputs or outputs of a model: buffers, their descriptors, and the chosen dynamic size. */
#ifndef MOCK_MODELS_DATASET_H_
#define MOCK_MODELS_DATASET_H_

#include "base/base.h"
#include "models/data_buffer.h"

typedef struct mock_blob {
    aclDataBuffer *buffer; /* the program's */
    aclTensorDesc *desc;   /* the dataset's own copy */
} mock_blob;

typedef struct mock_dataset {
    mock_thing thing;
    mock_blob *blobs;
    size_t count, room;
    uint32_t gear; /* the choice + 1; 0 for none */
} mock_dataset;

mock_dataset *mock_dataset_get(const aclmdlDataset *handle);
aclError mock_dataset_find(const aclmdlDataset *handle, const char *param, mock_dataset **out);
/* The buffer at `index` with an address, or 100000. */
aclError mock_dataset_buffer(const aclmdlDataset *handle, size_t index, const mock_data_buffer **out);

#endif
