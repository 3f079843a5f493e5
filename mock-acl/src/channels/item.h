/* Tensors that go through channels. */
#ifndef MOCK_CHANNELS_ITEM_H_
#define MOCK_CHANNELS_ITEM_H_

#include "acl/acl_tdt.h"
#include "base/base.h"
#include "channels/fifo.h"

#define MOCK_ITEM_DIMS 128 /* implementation of the open runtime */

typedef struct mock_item_value {
    acltdtTensorType kind;
    aclDataType dtype;
    size_t rank, size;
    int64_t dims[MOCK_ITEM_DIMS];
    void *data;
} mock_item_value;

typedef struct mock_item {
    mock_thing thing;
    mock_item_value value;
    bool owns_data; /* it was received */
} mock_item;

typedef struct mock_tensors {
    mock_thing thing;
    acltdtDataItem **items;
    size_t count, room;
    bool received; /* its items are its own, and nothing can be added */
} mock_tensors;

/* A message: copies of items. */
typedef struct mock_tensor_message {
    mock_message message;
    size_t count;
    mock_item_value *values;
} mock_tensor_message;

aclError mock_tensors_find(const acltdtDataset *handle, mock_tensors **out);
/* Copies everything; 100000 for a kind that cannot be sent. */
aclError mock_tensors_pack(const mock_tensors *t, mock_tensor_message **out);
/* The dataset takes the message's values over. */
aclError mock_tensors_unpack(mock_tensors *t, mock_tensor_message *m);

#endif
