/* Image preprocessing as an operator of a model: an image of bytes becomes the tensor that the network takes, by
 * parameters that each run sets (kernel of the open operator library, which the order of its steps and its roundings
 * are of). Parameters that nobody set, or that do not fit, fail the task with 507015 (own choice: the kernel reads
 * what is there). */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "models/aipp.h"
#include "models/kinds.h"
#include "models/model.h"
#include "streams/streams.h"

enum { IMAGE, PARAMETERS };

const mock_model_op *mock_aipp_of(const mock_model_file *f, size_t index, bool parameters) {
    for (uint32_t i = 0; i < f->op_count; i++) {
        const mock_model_op *op = &f->ops[i];
        const mock_model_tensor *t = &f->tensors[op->inputs[parameters ? PARAMETERS : IMAGE]];
        if (op->kind->plan == NULL && t->place == MOCK_PLACE_INPUT && t->position == index) return op;
    }
    return NULL;
}

mock_aipp_axes mock_aipp_axes_of(const mock_model_op *op) {
    return mock_attr_int(op, "channels_last", 0) != 0 ? (mock_aipp_axes){3, 1, 2} : (mock_aipp_axes){1, 2, 3};
}

/* The shape is the model's own; as many images as the input has rows where it leaves that open. */
bool mock_shape_aipp(const mock_model_op *op, const mock_model_shape *const *in, mock_model_shape *out) {
    if (out->rank != 4 || in[PARAMETERS]->rank != 1) return false;
    if (out->dims[0] < 0 && in[IMAGE]->rank > 1) out->dims[0] = in[IMAGE]->dims[0];
    const int64_t channels = out->dims[mock_aipp_axes_of(op).channels];
    for (int i = 0; i < 4; i++)
        if (out->dims[i] < 1) return false;
    return channels == 1 || channels == 3;
}

/* ---- the kernel ---- */

typedef struct task {
    const char *image, *parameters;
    char *out;
    size_t image_bytes, parameter_bytes, out_bytes;
    int64_t images, channels, height, width;
    int64_t step_image, step_channel, step_row, step_pixel; /* of the result, in elements */
    bool half;
} task;

/* What is the same for all pixels of an image. */
typedef struct picture {
    const mock_aipp_head *head;
    const mock_aipp_part *part;
    const uint8_t *from;
    int64_t left, top, width, height; /* of what is taken from it */
} picture;

static void fetch(const picture *p, int64_t x, int64_t y, uint8_t *out) {
    const mock_aipp_head *h = p->head;
    const int64_t pixel = y * h->width + x;
    const uint8_t *at = p->from + pixel;
    const uint8_t *chroma = p->from + (int64_t)h->width * h->height + y / 2 * h->width + x / 2 * 2;
    if (h->format == MOCK_AIPP_RGB888) at = p->from + 3 * pixel;
    if (h->format == MOCK_AIPP_XRGB8888) at = p->from + 4 * pixel + (h->ax != 0);
    out[0] = at[0];
    if (h->format == MOCK_AIPP_YUV400) out[1] = out[2] = 0;
    else memcpy(out + 1, h->format == MOCK_AIPP_YUV420SP ? chroma : at + 1, 2);
}

/* Red and blue, or the two of colour. */
static void swap_channels(const mock_aipp_head *h, uint8_t *c) {
    if (h->rbuv == 0 || h->format == MOCK_AIPP_YUV400) return;
    const int other = h->format == MOCK_AIPP_YUV420SP ? 1 : 0;
    const uint8_t last = c[2];
    c[2] = c[other];
    c[other] = last;
}

/* The bias in front is for images in YUV, the one behind for others. */
static void convert(const mock_aipp_head *h, uint8_t *c) {
    const bool yuv = h->format == MOCK_AIPP_YUV420SP;
    uint8_t out[3];
    for (int row = 0; row < 3; row++) {
        int32_t sum = 1;
        for (int i = 0; i < 3; i++) sum += 2 * h->matrix[row][i] * (c[i] - (yuv ? h->input_bias[i] : 0));
        const int32_t value = (int16_t)roundf((float)sum / 512) + (yuv ? 0 : h->output_bias[row]);
        out[row] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    memcpy(c, out, sizeof out);
}

/* Each step rounds to a half. */
static uint16_t normalised(const mock_aipp_part *part, int channel, uint8_t value) {
    const float centred = (float)(value - part->mean[channel]);
    const float least = mock_half_to_float(part->least[channel]), factor = mock_half_to_float(part->factor[channel]);
    return mock_float_to_half(mock_half_to_float(mock_float_to_half(centred - least)) * factor);
}

static void put(const task *t, char *to, int64_t channel, const picture *p, const uint8_t *c) {
    const uint16_t half = c == NULL ? 0 : normalised(p->part, (int)channel, c[channel]);
    if (t->half) memcpy(to + 2 * channel * t->step_channel, &half, 2);
    else to[channel * t->step_channel] = c == NULL ? 0 : (char)c[channel];
}

static void draw(const task *t, const picture *p, char *out) {
    const int64_t size = t->half ? 2 : 1;
    for (int64_t y = 0; y < t->height; y++)
        for (int64_t x = 0; x < t->width; x++) {
            const int64_t from_x = x - p->left, from_y = y - p->top;
            const bool inside = from_x >= 0 && from_x < p->width && from_y >= 0 && from_y < p->height;
            uint8_t c[3];
            if (inside) {
                fetch(p, from_x + (p->part->crop ? p->part->crop_x : 0), from_y + (p->part->crop ? p->part->crop_y : 0), c);
                swap_channels(p->head, c);
                if (p->head->csc) convert(p->head, c);
            }
            char *to = out + size * (y * t->step_row + x * t->step_pixel);
            for (int64_t k = 0; k < t->channels; k++) put(t, to, k, p, inside ? c : NULL);
        }
}

/* What is taken lies in the image, and makes as much as the result has. */
static bool frames(const task *t, picture *p) {
    const mock_aipp_part *part = p->part;
    int64_t width = 0, height = 0;
    mock_aipp_result(p->head, part, &width, &height);
    p->width = part->crop ? part->crop_width : p->head->width;
    p->height = part->crop ? part->crop_height : p->head->height;
    p->left = part->padding ? part->left : 0;
    p->top = part->padding ? part->top : 0;
    const int64_t right = (part->crop ? (int64_t)part->crop_x : 0) + p->width;
    const int64_t bottom = (part->crop ? (int64_t)part->crop_y : 0) + p->height;
    return width == t->width && height == t->height && right <= p->head->width && bottom <= p->head->height &&
           (!part->crop || (part->crop_x >= 0 && part->crop_y >= 0)) && p->width > 0 && p->height > 0;
}

static aclError run(void *arg) {
    const task *t = arg;
    if (!mock_touch_task(t->parameters, t->parameter_bytes, MOCK_READS)) return MOCK_DEVICE_FAULT;
    if (!mock_touch_task(t->image, t->image_bytes, MOCK_READS)) return MOCK_DEVICE_FAULT;
    if (!mock_touch_task(t->out, t->out_bytes, MOCK_WRITES)) return MOCK_DEVICE_FAULT;
    const char *told = mock_device_view(t->parameters, t->parameter_bytes);
    const uint8_t *image = mock_device_view(t->image, t->image_bytes);
    char *out = mock_device_view(t->out, t->out_bytes);
    if (told == NULL || image == NULL || out == NULL || t->parameter_bytes < mock_aipp_bytes((uint64_t)t->images))
        return MOCK_DEVICE_FAULT;
    mock_aipp_head head;
    memcpy(&head, told, sizeof head);
    if (head.width < 1 || head.width > 4096 || head.height < 1 || head.height > 4096) return MOCK_DEVICE_FAULT;
    const size_t each = mock_aipp_image_bytes(&head);
    if (each == 0 || each > t->image_bytes / (size_t)t->images) return MOCK_DEVICE_FAULT;
    for (int64_t n = 0; n < t->images; n++) {
        mock_aipp_part part;
        memcpy(&part, told + mock_aipp_bytes((uint64_t)n), sizeof part);
        picture p = {.head = &head, .part = &part, .from = image + (size_t)n * each};
        if (part.scf || !frames(t, &p)) return MOCK_DEVICE_FAULT;
        draw(t, &p, out + (t->half ? 2 : 1) * n * t->step_image);
    }
    return 0;
}

static const mock_task_ops task_ops = {"aclmdlExecuteAsync", run, free};

/* ---- in a model ---- */

static aclError bad_operands(const mock_model_op *op) {
    return mock_fail((aclError)ACL_ERROR_GE_INTERNAL_ERROR, "EE4001",
        "%s: an image and parameters of uint8, of inputs of the model, and a result of float16 or uint8", op->name);
}

static void lay_out(task *t, const mock_model_op *op, const int64_t *dims) {
    const mock_aipp_axes axes = mock_aipp_axes_of(op);
    const int64_t steps[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    t->images = dims[0];
    t->channels = dims[axes.channels];
    t->height = dims[axes.height];
    t->width = dims[axes.width];
    t->step_image = steps[0];
    t->step_channel = steps[axes.channels];
    t->step_row = steps[axes.height];
    t->step_pixel = steps[axes.width];
}

aclError mock_aipp_submit(const mock_model_file *f, const mock_model_op *op, const mock_model_shape *shapes,
    void *const *addresses, aclrtStream stream, bool measure) {
    const mock_model_tensor *out = &f->tensors[op->output];
    for (int i = 0; i < 2; i++) {
        const mock_model_tensor *t = &f->tensors[op->inputs[i]];
        if (t->dtype != ACL_UINT8 || t->place != MOCK_PLACE_INPUT) return bad_operands(op);
    }
    if (out->dtype != ACL_FLOAT16 && out->dtype != ACL_UINT8) return bad_operands(op);
    if (measure) return 0;
    task *t = calloc(1, sizeof *t);
    if (t == NULL) return mock_fail((aclError)ACL_ERROR_GE_MEMORY_ALLOCATION, "EE4001", "no host memory");
    lay_out(t, op, shapes[op->output].dims);
    t->half = out->dtype == ACL_FLOAT16;
    t->image = addresses[op->inputs[IMAGE]];
    t->image_bytes = mock_model_shape_bytes(&f->tensors[op->inputs[IMAGE]], &shapes[op->inputs[IMAGE]]);
    t->parameters = addresses[op->inputs[PARAMETERS]];
    t->parameter_bytes = mock_model_shape_bytes(&f->tensors[op->inputs[PARAMETERS]], &shapes[op->inputs[PARAMETERS]]);
    t->out = addresses[op->output];
    t->out_bytes = mock_model_shape_bytes(out, &shapes[op->output]);
    return mock_submit_kernel(stream, &task_ops, t);
}
