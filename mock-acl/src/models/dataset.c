/* Lists of a model's inputs or outputs (guide: models, aclmdlDataset; codes: implementation of the open graph
 * engine). A dataset owns the copies of descriptors it was given, not the buffers. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "base/base.h"
#include "models/data_buffer.h"
#include "models/dataset.h"
#include "models/models.h"
#include "models/tensor_desc.h"

static void drop(void *thing) {
    mock_dataset *d = thing;
    for (size_t i = 0; i < d->count; i++) mock_tensor_desc_free(d->blobs[i].desc);
    free(d->blobs);
}

static const mock_thing_type dataset_type = {"aclmdlDataset", drop};

mock_dataset *mock_dataset_get(const aclmdlDataset *handle) { return mock_thing_get(&dataset_type, handle); }

aclError mock_dataset_find(const aclmdlDataset *handle, const char *param, mock_dataset **out) {
    void *found = NULL;
    const aclError code = mock_thing_find(&dataset_type, handle, param, &found);
    if (code == 0) *out = found;
    return code;
}

aclError mock_dataset_buffer(const aclmdlDataset *handle, size_t index, const mock_data_buffer **out) {
    mock_dataset *d = NULL;
    const aclError code = mock_dataset_find(handle, "dataset", &d);
    if (code != 0) return code;
    if (index >= d->count) return mock_invalid("buffer %zu of %zu", index, d->count);
    *out = mock_data_buffer_get(d->blobs[index].buffer);
    if (*out == NULL) return mock_invalid("the data buffer %zu was destroyed", index);
    return (*out)->data == NULL ? mock_null("the buffer's address") : 0;
}

MOCK_EXPORT aclmdlDataset *aclmdlCreateDataset(void) {
    MOCK_ENTER_PTR(aclmdlCreateDataset);
    const mock_dataset *d = mock_thing_new(&dataset_type, sizeof *d);
    return d == NULL ? NULL : d->thing.handle;
}

MOCK_EXPORT aclError aclmdlDestroyDataset(const aclmdlDataset *dataset) {
    MOCK_ENTER(aclmdlDestroyDataset);
    return mock_thing_destroy(&dataset_type, dataset, "dataset");
}

static aclError grow(mock_dataset *d) {
    const size_t room = d->room == 0 ? 8 : 2 * d->room;
    mock_blob *blobs = realloc(d->blobs, room * sizeof *blobs);
    if (blobs == NULL) return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a dataset");
    d->blobs = blobs;
    d->room = room;
    return 0;
}

MOCK_EXPORT aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer) {
    MOCK_ENTER(aclmdlAddDatasetBuffer);
    mock_dataset *d = NULL;
    aclError code = mock_dataset_find(dataset, "dataset", &d);
    if (code != 0) return code;
    if (dataBuffer == NULL) return mock_null("dataBuffer");
    if (mock_data_buffer_get(dataBuffer) == NULL)
        return mock_invalid("dataBuffer: %p is not a live aclDataBuffer", (void *)dataBuffer);
    if (d->count == d->room) code = grow(d);
    if (code == 0) d->blobs[d->count++] = (mock_blob){dataBuffer, NULL};
    return code;
}

MOCK_EXPORT size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset) {
    mock_dataset *d = NULL;
    if (mock_enter(MOCK_API_aclmdlGetDatasetNumBuffers) != 0) return 0;
    return mock_dataset_find(dataset, "dataset", &d) == 0 ? d->count : 0;
}

MOCK_EXPORT aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index) {
    MOCK_ENTER_PTR(aclmdlGetDatasetBuffer);
    mock_dataset *d = NULL;
    if (mock_dataset_find(dataset, "dataset", &d) != 0) return NULL;
    if (index < d->count) return d->blobs[index].buffer;
    mock_invalid("buffer %zu of %zu", index, d->count);
    return NULL;
}

/* Null where none was set. */
MOCK_EXPORT aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index) {
    MOCK_ENTER_PTR(aclmdlGetDatasetTensorDesc);
    mock_dataset *d = NULL;
    if (mock_dataset_find(dataset, "dataset", &d) != 0) return NULL;
    if (index < d->count) return d->blobs[index].desc;
    mock_invalid("buffer %zu of %zu", index, d->count);
    return NULL;
}

/* Copies the descriptor; null takes the former one away. */
MOCK_EXPORT aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc,
    size_t index) {
    MOCK_ENTER(aclmdlSetDatasetTensorDesc);
    mock_dataset *d = NULL;
    const aclError code = mock_dataset_find(dataset, "dataset", &d);
    if (code != 0) return code;
    if (index >= d->count) return mock_invalid("buffer %zu of %zu", index, d->count);
    const mock_tensor_desc *from = mock_tensor_desc_get(tensorDesc), *copy = NULL;
    if (tensorDesc != NULL && from == NULL)
        return mock_invalid("tensorDesc: %p is not a live aclTensorDesc", (void *)tensorDesc);
    if (from != NULL && (copy = mock_tensor_desc_copy(from)) == NULL) return ACL_ERROR_BAD_ALLOC;
    mock_tensor_desc_free(d->blobs[index].desc);
    d->blobs[index].desc = copy == NULL ? NULL : copy->thing.handle;
    return 0;
}
