/* Parameters of image preprocessing on the inputs of a loaded model (guide: models, AIPP; checks and their order:
 * implementation of the open graph engine). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "models/aipp.h"
#include "models/dataset.h"
#include "models/model.h"

/* A found model has one more reference. */
static aclError input_of(uint32_t id, size_t index, mock_model **out) {
    const aclError code = mock_model_find(id, out);
    if (code != 0) return code;
    const uint32_t n = (*out)->file->input_count;
    if (index < n) return 0;
    mock_model_unref(*out);
    return mock_invalid("input %zu of %u", index, n);
}

MOCK_EXPORT aclError aclmdlGetAippType(
    uint32_t modelId, size_t index, aclmdlInputAippType *type, size_t *dynamicAttachedDataIndex) {
    MOCK_ENTER(aclmdlGetAippType);
    mock_model *m = NULL;
    if (type == NULL || dynamicAttachedDataIndex == NULL)
        return mock_null("type and dynamicAttachedDataIndex");
    const aclError code = input_of(modelId, index, &m);
    if (code != 0) return code;
    const mock_model_op *op = mock_aipp_of(m->file, index, false);
    *dynamicAttachedDataIndex = op == NULL ? ACL_INVALID_NODE_INDEX : m->file->tensors[op->inputs[1]].position;
    *type = op != NULL                             ? ACL_DATA_WITH_DYNAMIC_AIPP
          : mock_aipp_of(m->file, index, true) != NULL ? ACL_DYNAMIC_AIPP_NODE
                                                   : ACL_DATA_WITHOUT_AIPP;
    mock_model_unref(m);
    return 0;
}

/* No container has preprocessing whose parameters are fixed: 145015; and 100038 for an input whose parameters each run
 * sets (header: ACL_ERROR_NOT_STATIC_AIPP). */
MOCK_EXPORT aclError aclmdlGetFirstAippInfo(uint32_t modelId, size_t index, aclAippInfo *aippInfo) {
    MOCK_ENTER(aclmdlGetFirstAippInfo);
    mock_model *m = NULL;
    if (aippInfo == NULL) return mock_null("aippInfo");
    const aclError code = input_of(modelId, index, &m);
    if (code != 0) return code;
    const bool dynamic = mock_aipp_of(m->file, index, false) != NULL;
    mock_model_unref(m);
    if (dynamic) return mock_fail(ACL_ERROR_NOT_STATIC_AIPP, "EE4001", "input %zu takes parameters in each run", index);
    return mock_fail((aclError)ACL_ERROR_GE_AIPP_NOT_EXIST, "EE4001", "input %zu has no preprocessing",
        index);
}

/* ---- checks ---- */

static aclError check_crop(const mock_aipp_head *h, const mock_aipp_part *part) {
    const int64_t right = (int64_t)part->crop_x + part->crop_width, bottom = (int64_t)part->crop_y + part->crop_height;
    if (right > h->width || bottom > h->height)
        return mock_invalid("a crop up to %lld, %lld of %d x %d", (long long)right, (long long)bottom, h->width,
            h->height);
    if (h->format == MOCK_AIPP_YUV420SP && (part->crop_x % 2 != 0 || part->crop_y % 2 != 0))
        return mock_invalid("a crop of YUV420SP starts at even places, not %d, %d", part->crop_x, part->crop_y);
    return 0;
}

#define WIDEST_WITH_PADDING 1080

static aclError check_part(const mock_aipp *a, uint64_t index) {
    const mock_aipp_part *part = &a->parts[index];
    int64_t width = 0, height = 0, first_width = 0, first_height = 0;
    if (part->scf == 1) return mock_invalid("batch %llu is scaled", (unsigned long long)index);
    const aclError code = part->crop ? check_crop(&a->head, part) : 0;
    if (code != 0) return code;
    mock_aipp_result(&a->head, part, &width, &height);
    mock_aipp_result(&a->head, &a->parts[0], &first_width, &first_height);
    if (part->padding && width > WIDEST_WITH_PADDING)
        return mock_invalid("%lld wide with padding, at most %d", (long long)width, WIDEST_WITH_PADDING);
    if (width == first_width && height == first_height) return 0;
    return mock_invalid("batch %llu becomes %lld x %lld, the first %lld x %lld", (unsigned long long)index,
        (long long)width, (long long)height, (long long)first_width, (long long)first_height);
}

static aclError check_head(const mock_aipp_head *h) {
    if (h->format == 0) return mock_invalid("no format");
    if (mock_aipp_image_bytes(&(mock_aipp_head){.format = h->format, .width = 2, .height = 2}) == 0)
        return mock_invalid("a format that this chip does not take");
    if (h->format == MOCK_AIPP_YUV400 && h->csc) return mock_invalid("YUV400 has no colours to convert");
    if (h->width == 0 || h->height == 0) return mock_invalid("no size of the image");
    if (h->format == MOCK_AIPP_YUV420SP && (h->width % 2 != 0 || h->height % 2 != 0))
        return mock_invalid("YUV420SP has even sizes, not %d x %d", h->width, h->height);
    return 0;
}

/* The greatest number of images that the model was built for. */
static int64_t images_of(const mock_model_file *f, const mock_model_op *op) {
    const int64_t fixed = f->tensors[op->output].shape.dims[0];
    int64_t most = 0;
    if (fixed >= 0) return fixed;
    const mock_model_shape *image = &f->tensors[op->inputs[0]].shape;
    if (f->dynamic != MOCK_MODEL_BATCH || image->dims[0] >= 0) return image->dims[0];
    for (uint32_t i = 0; i < f->gear_count; i++)
        if ((int64_t)f->gears[i] > most) most = (int64_t)f->gears[i];
    return most;
}

static aclError check_model(const mock_model_file *f, const mock_model_op *op, const mock_aipp *a) {
    const size_t most = mock_model_tensor_bytes(f, op->inputs[0]);
    const size_t each = mock_aipp_image_bytes(&a->head);
    if (each != 0 && a->batches > most / each)
        return mock_invalid("%llu images of %zu bytes, where the model takes %zu", (unsigned long long)a->batches, each,
            most);
    const int64_t *dims = f->tensors[op->output].shape.dims;
    const mock_aipp_axes axes = mock_aipp_axes_of(op);
    int64_t width = 0, height = 0;
    mock_aipp_result(&a->head, &a->parts[0], &width, &height);
    if ((int64_t)a->batches == images_of(f, op) && width == dims[axes.width] && height == dims[axes.height]) return 0;
    return mock_invalid("%llu images become %lld x %lld, where the model takes %lld of %lld x %lld",
        (unsigned long long)a->batches, (long long)width, (long long)height, (long long)images_of(f, op),
        (long long)dims[axes.width], (long long)dims[axes.height]);
}

static aclError check(const mock_model_file *f, const mock_model_op *op, const mock_aipp *a) {
    aclError code = check_model(f, op, a);
    if (code == 0) code = check_head(&a->head);
    for (uint64_t i = 0; i < a->batches && code == 0; i++) code = check_part(a, i);
    return code;
}

/* ---- on a model ---- */

static aclError write(const mock_aipp *a, const mock_data_buffer *b) {
    const size_t bytes = mock_aipp_bytes(a->batches);
    char *all = malloc(bytes);
    if (all == NULL) return mock_fail((aclError)ACL_ERROR_GE_MEMORY_ALLOCATION, "EE4001", "no host memory");
    memcpy(all, &a->head, sizeof a->head);
    memcpy(all + sizeof a->head, a->parts, bytes - sizeof a->head);
    const aclError code = mock_data_buffer_write(b, all, bytes);
    free(all);
    return code;
}

static aclError set(uint32_t id, const aclmdlDataset *dataset, size_t index, const mock_aipp *a) {
    const mock_data_buffer *b = NULL;
    mock_model *m = NULL;
    aclError code = input_of(id, index, &m);
    if (code != 0) return code;
    const mock_model_op *op = mock_aipp_of(m->file, index, true);
    code = op == NULL ? mock_invalid("input %zu takes no parameters of preprocessing", index) : check(m->file, op, a);
    if (code == 0) code = mock_dataset_buffer(dataset, index, &b);
    if (code == 0) code = write(a, b);
    mock_model_unref(m);
    return code;
}

MOCK_EXPORT aclError aclmdlSetInputAIPP(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlAIPP *aippParmsSet) {
    MOCK_ENTER(aclmdlSetInputAIPP);
    mock_aipp *a = NULL;
    mock_dataset *d = NULL;
    aclError code = mock_dataset_find(dataset, "dataset", &d);
    if (code == 0) code = mock_aipp_find(aippParmsSet, &a);
    return code != 0 ? code : set(modelId, dataset, index, a);
}

/* An input without preprocessing: 500001. */
MOCK_EXPORT aclError aclmdlSetAIPPByInputIndex(
    uint32_t modelId, aclmdlDataset *dataset, size_t index, const aclmdlAIPP *aippParmsSet) {
    MOCK_ENTER(aclmdlSetAIPPByInputIndex);
    mock_aipp *a = NULL;
    mock_dataset *d = NULL;
    mock_model *m = NULL;
    aclError code = mock_aipp_find(aippParmsSet, &a);
    if (code == 0) code = mock_dataset_find(dataset, "dataset", &d);
    if (code == 0 && index >= d->count) code = mock_invalid("buffer %zu of %zu", index, d->count);
    if (code == 0) code = input_of(modelId, index, &m);
    if (code != 0) return code;
    const mock_model_op *op = mock_aipp_of(m->file, index, false);
    const size_t at = op == NULL ? 0 : m->file->tensors[op->inputs[1]].position;
    mock_model_unref(m);
    if (op == NULL) return mock_fail(ACL_ERROR_FAILURE, "EE4001", "input %zu has no preprocessing", index);
    return set(modelId, dataset, at, a);
}
