/* Models that were built for several sizes: which there are, and the choice before an execution (guide:
 * models, dynamic batch, image size, dims; codes: implementation of the open graph engine). The choice is
 * written into the buffer of the input ACL_DYNAMIC_TENSOR_NAME, too. */
#define _GNU_SOURCE
#include <string.h>
#include "base/base.h"
#include "models/data_buffer.h"
#include "models/dataset.h"
#include "models/desc.h"
#include "models/file.h"
#include "models/model.h"

static const uint64_t *gear(const mock_model_file *f,
    uint32_t i) { return &f->gears[(size_t)i * f->gear_size]; }

/* The number of gears of a kind; none in a model of another kind. */
static uint32_t gears_of(const mock_model_desc *d, mock_model_dynamic kind) {
    return d->file != NULL && d->file->dynamic == kind ? d->file->gear_count : 0;
}

MOCK_EXPORT aclError aclmdlGetDynamicBatch(const aclmdlDesc *modelDesc, aclmdlBatch *batch) {
    MOCK_ENTER(aclmdlGetDynamicBatch);
    mock_model_desc *d = NULL;
    const aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    if (batch == NULL) return mock_null("batch");
    batch->batchCount = gears_of(d, MOCK_MODEL_BATCH);
    for (uint32_t i = 0; i < batch->batchCount; i++) batch->batch[i] = gear(d->file, i)[0];
    return 0;
}

/* The index is not looked at. */
MOCK_EXPORT aclError aclmdlGetDynamicHW(const aclmdlDesc *modelDesc, size_t index, aclmdlHW *hw) {
    MOCK_ENTER(aclmdlGetDynamicHW);
    (void)index;
    mock_model_desc *d = NULL;
    const aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    if (hw == NULL) return mock_null("hw");
    hw->hwCount = gears_of(d, MOCK_MODEL_IMAGE);
    for (uint32_t i = 0; i < hw->hwCount; i++) memcpy(hw->hw[i], gear(d->file, i), sizeof hw->hw[i]);
    return 0;
}

/* The index has to be -1. */
MOCK_EXPORT aclError aclmdlGetInputDynamicGearCount(
    const aclmdlDesc *modelDesc, size_t index, size_t *gearCount) {
    MOCK_ENTER(aclmdlGetInputDynamicGearCount);
    mock_model_desc *d = NULL;
    const aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    if (gearCount == NULL) return mock_null("gearCount");
    if (index != SIZE_MAX) return mock_invalid("index %zu, only -1 is known", index);
    *gearCount = gears_of(d, MOCK_MODEL_DIMS);
    return 0;
}

/* The dimensions of all inputs in a row, the choice's own input left out. */
static size_t all_dims(const mock_model_file *f, uint32_t g, int64_t *out) {
    size_t n = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i + 1 < f->input_count; i++) {
        const mock_model_shape *s = &f->tensors[f->inputs[i]].shape;
        for (unsigned k = 0; k < s->rank && n < ACL_MAX_DIM_CNT; k++)
            out[n++] = s->dims[k] < 0 ? (int64_t)gear(f, g)[used++] : s->dims[k];
    }
    return n;
}

MOCK_EXPORT aclError aclmdlGetInputDynamicDims(
    const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims, size_t gearCount) {
    MOCK_ENTER(aclmdlGetInputDynamicDims);
    mock_model_desc *d = NULL;
    const aclError code = mock_model_desc_find(modelDesc, &d);
    if (code != 0) return code;
    if (dims == NULL) return mock_null("dims");
    if (index != SIZE_MAX) return mock_invalid("index %zu, only -1 is known", index);
    const uint32_t n = gears_of(d, MOCK_MODEL_DIMS);
    if (gearCount < n) return mock_invalid("gearCount %zu, there are %u", gearCount, n);
    for (uint32_t g = 0; g < n; g++) dims[g].dimCount = all_dims(d->file, g, dims[g].dims);
    return 0;
}

/* ---- the choice ---- */

/* A dimension that does not fit the model, or no gear of that size: UINT32_MAX. */
static uint32_t matching(const mock_model_file *f, mock_model_dynamic kind, const uint64_t *values,
    size_t count) {
    if (f->dynamic != kind || count != f->gear_size) return UINT32_MAX;
    for (uint32_t i = 0; i < f->gear_count; i++)
        if (memcmp(gear(f, i), values, count * sizeof *values) == 0) return i;
    return UINT32_MAX;
}

/* Numbers of 8 bytes when there is room, of 4 when there is room for those, else 145012. */
static aclError write_choice(const mock_data_buffer *b, const uint64_t *values, size_t count) {
    if (b->size < count * sizeof(uint32_t))
        return mock_fail((aclError)ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID, "EE4001",
            "%zu bytes for %zu numbers", b->size, count);
    if (b->size >= count * sizeof(uint64_t)) return mock_data_buffer_write(b, values, count * sizeof(uint64_t));
    uint32_t narrow[ACL_MAX_DIM_CNT];
    for (size_t i = 0; i < count; i++) narrow[i] = (uint32_t)values[i];
    return mock_data_buffer_write(b, narrow, count * sizeof(uint32_t));
}

static aclError choose(uint32_t id, aclmdlDataset *dataset, size_t index, mock_model_dynamic kind,
    const uint64_t *values, size_t count) {
    const mock_data_buffer *b = NULL;
    mock_model *m = NULL;
    aclError code = mock_dataset_buffer(dataset, index, &b);
    if (code == 0) code = mock_model_find(id, &m);
    if (code != 0) return code;
    const uint32_t g = matching(m->file, kind, values, count);
    if (g == UINT32_MAX)
        code = mock_fail((aclError)ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, "EE4001",
            "model %u was not built for this size", id);
    if (code == 0) code = write_choice(b, values, count);
    if (code == 0) {
        m->chosen = g + 1;
        mock_dataset_get(dataset)->gear = g + 1;
    }
    mock_model_unref(m);
    return code;
}

MOCK_EXPORT aclError aclmdlSetDynamicBatchSize(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, uint64_t batchSize) {
    MOCK_ENTER(aclmdlSetDynamicBatchSize);
    if (dataset == NULL || batchSize == 0) return mock_null("dataset and batchSize");
    return choose(modelId, dataset, index, MOCK_MODEL_BATCH, &batchSize, 1);
}

MOCK_EXPORT aclError aclmdlSetDynamicHWSize(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, uint64_t height, uint64_t width) {
    MOCK_ENTER(aclmdlSetDynamicHWSize);
    if (dataset == NULL || height == 0 || width == 0) return mock_null("dataset, height and width");
    return choose(modelId, dataset, index, MOCK_MODEL_IMAGE, (uint64_t[]){height, width}, 2);
}

/* All dimensions of all inputs; those that are fixed have to be as they are. */
static aclError open_ones(const mock_model_file *f, const aclmdlIODims *dims, uint64_t *values,
    size_t *count) {
    size_t at = 0;
    *count = 0;
    for (uint32_t i = 0; f->gear_count != 0 && i + 1 < f->input_count; i++) {
        const mock_model_shape *s = &f->tensors[f->inputs[i]].shape;
        for (unsigned k = 0; k < s->rank; k++, at++) {
            if (at >= dims->dimCount || at >= ACL_MAX_DIM_CNT) return mock_invalid("%zu dimensions",
                dims->dimCount);
            if (s->dims[k] < 0) values[(*count)++] = (uint64_t)dims->dims[at];
            else if (s->dims[k] != dims->dims[at])
                return mock_fail((aclError)ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID, "EE4001",
                    "dimension %zu is fixed", at);
        }
    }
    return at == dims->dimCount || f->gear_count == 0 ? 0 : mock_invalid("%zu dimensions", dims->dimCount);
}

MOCK_EXPORT aclError aclmdlSetInputDynamicDims(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlIODims *dims) {
    MOCK_ENTER(aclmdlSetInputDynamicDims);
    if (dataset == NULL || dims == NULL ||
        dims->dimCount == 0) return mock_null("dataset, dims and dimCount");
    uint64_t values[ACL_MAX_DIM_CNT];
    size_t count = 0;
    mock_model *m = NULL;
    aclError code = mock_model_find(modelId, &m);
    if (code == 0) code = open_ones(m->file, dims, values, &count);
    if (m != NULL) mock_model_unref(m);
    return code != 0 ? code : choose(modelId, dataset, index, MOCK_MODEL_DIMS, values, count);
}
