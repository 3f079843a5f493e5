/* Parameters of image preprocessing (AIPP) as they lie in the memory of the device (layout: kernel of the open operator
 * library). */
#ifndef MOCK_MODELS_AIPP_H_
#define MOCK_MODELS_AIPP_H_

#include "base/base.h"
#include "models/file.h"

/* What the kernel calls the formats of images. */
typedef enum mock_aipp_format {
    MOCK_AIPP_YUV420SP = 1,
    MOCK_AIPP_XRGB8888 = 2,
    MOCK_AIPP_RGB888 = 5,
    MOCK_AIPP_YUV400 = 10
} mock_aipp_format;

/* For the whole batch. */
typedef struct mock_aipp_head {
    uint8_t format;
    int8_t csc, rbuv, ax, batches, unused1[3];
    int32_t width, height;
    int16_t matrix[3][3], unused2[3];
    uint8_t output_bias[3], input_bias[3], unused3[2];
    int8_t unused4[16];
} mock_aipp_head;

/* For one image. */
typedef struct mock_aipp_part {
    int8_t crop, scf, padding, rotate, unused1[4];
    int32_t crop_x, crop_y, crop_width, crop_height;
    int32_t scf_input_width, scf_input_height, scf_output_width, scf_output_height;
    int32_t top, bottom, left, right;
    int16_t mean[4];
    uint16_t least[4], factor[4]; /* halves */
    int8_t unused2[16];
} mock_aipp_part;

_Static_assert(sizeof(mock_aipp_head) == 64 && sizeof(mock_aipp_part) == 96, "the layout of the kernel");

typedef struct mock_aipp {
    mock_thing thing;
    uint64_t batches;
    mock_aipp_head head;
    mock_aipp_part *parts;
} mock_aipp;

/* ---- models/aipp.c ---- */
aclError mock_aipp_find(const aclmdlAIPP *handle, mock_aipp **out);
size_t mock_aipp_bytes(uint64_t batches);
/* Of one image; 0 for formats that the chip does not take. */
size_t mock_aipp_image_bytes(const mock_aipp_head *head);
/* Width and height behind a crop and padding. */
void mock_aipp_result(const mock_aipp_head *head, const mock_aipp_part *part, int64_t *width, int64_t *height);

/* ---- models/preprocess.c ---- */
/* The operator that reads the image `index` of the inputs, or NULL; with `parameters` the one that reads those there. */
const mock_model_op *mock_aipp_of(const mock_model_file *f, size_t index, bool parameters);
bool mock_shape_aipp(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out);
/* Looks at its operands, and queues it but to measure. */
aclError mock_aipp_submit(const mock_model_file *f, const mock_model_op *op, const mock_model_shape *shapes,
    void *const *addresses, aclrtStream stream, bool measure);
/* Where the result has its channels, height and width. */
typedef struct mock_aipp_axes {
    unsigned channels, height, width;
} mock_aipp_axes;
mock_aipp_axes mock_aipp_axes_of(const mock_model_op *op);

#endif
