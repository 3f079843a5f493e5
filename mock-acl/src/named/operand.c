/* Descriptors and buffers as tensors. What is stored in blocks is turned into a dense copy first, results back
 * at the end; constants and host memory are copied to the device when the call is made. */
#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"
#include "named/call.h"

static bool plain(aclFormat format) {
    switch ((int)format) {
        case ACL_FORMAT_UNDEFINED:
        case ACL_FORMAT_NCHW:
        case ACL_FORMAT_NHWC:
        case ACL_FORMAT_ND:
        case ACL_FORMAT_HWCN:
        case ACL_FORMAT_NDHWC:
        case ACL_FORMAT_NCDHW:
        case ACL_FORMAT_NC:
        case ACL_FORMAT_NCL: return true;
        default: return false;
    }
}

static aclFormat stored_format(const mock_tensor_desc *d) {
    return d->storage_format != ACL_FORMAT_UNDEFINED ? d->storage_format : d->format;
}

/* An operand without type, shape and memory was left out. */
static bool left_out(const mock_tensor_desc *d, const mock_data_buffer *b) {
    return d->dtype == ACL_DT_UNDEFINED && d->dims.count == 0 && (b == NULL || b->data == NULL);
}

static bool take_dims(mock_named_operand *o) {
    const mock_desc_shape *shape = &o->desc->dims;
    if (shape->count > MOCK_MAX_RANK) return false;
    o->rank = (int)shape->count;
    o->known = true;
    for (int i = 0; i < o->rank; i++) {
        o->dims[i] = shape->values[i];
        if (o->dims[i] < MOCK_RANK_UNKNOWN) return false;
        if (o->dims[i] < 0) o->known = false;
    }
    return true;
}

static aclError take_host(mock_named_call *c, mock_named_operand *o, const char *what, int index) {
    if (o->desc->constant != NULL) {
        o->host = o->desc->constant;
        o->host_bytes = o->desc->constant_size;
    } else if (o->desc->placement != ACL_MEMTYPE_DEVICE && o->address != NULL) {
        o->host = mock_host_address(o->address, o->bytes);
        o->host_bytes = o->bytes;
        if (o->host == NULL) return mock_invalid("%s: %s[%d] is no memory", c->api, what, index);
    }
    return 0;
}

aclError mock_named_take(mock_named_call *c, mock_named_operand *o, const aclTensorDesc *desc,
    const aclDataBuffer *buffer, const char *what, int index) {
    o->desc = mock_tensor_desc_get(desc);
    const mock_data_buffer *b = mock_data_buffer_get(buffer);
    if (o->desc == NULL) return mock_invalid("%s: %sDesc[%d] is not a live aclTensorDesc", c->api, what, index);
    if (b == NULL && buffer != NULL)
        return mock_invalid("%s: %s[%d] is not a live aclDataBuffer", c->api, what, index);
    if (left_out(o->desc, b)) {
        o->absent = true;
        return 0;
    }
    if (b != NULL) {
        o->address = b->data;
        o->bytes = b->size;
    }
    if (!take_dims(o))
        return mock_invalid("%s: %sDesc[%d] has %zu dimensions, at most %d of any size", c->api, what, index,
            o->desc->dims.count, MOCK_MAX_RANK);
    return take_host(c, o, what, index);
}

/* ---- memory and tensors of the call ---- */

static void *allocate(mock_named_call *c, uint64_t bytes) {
    void *memory =
        c->memory_count == MOCK_NAMED_HELD ? NULL : mock_device_alloc(c->device, bytes == 0 ? 1 : bytes);
    if (memory == NULL)
        mock_named_fail(c, ACL_ERROR_BAD_ALLOC, "no %llu bytes of device memory", (unsigned long long)bytes);
    else
        c->memory[c->memory_count++] = memory;
    return memory;
}

static aclnnStatus drop_tensor(const void *tensor) { return aclDestroyTensor(tensor); }

static aclTensor *keep(mock_named_call *c, aclTensor *tensor) {
    if (tensor == NULL || c->object_count == MOCK_NAMED_HELD) {
        if (tensor != NULL) aclDestroyTensor(tensor);
        if (c->code == 0)
            mock_named_fail(c, ACL_ERROR_INVALID_PARAM, "an operand is not possible: %s", mock_error_show());
        return NULL;
    }
    c->objects[c->object_count] = tensor;
    c->destroy[c->object_count++] = drop_tensor;
    return tensor;
}

static aclTensor *make(mock_named_call *c, const mock_named_operand *o, aclFormat format,
    const int64_t *storage, int rank, void *address) {
    return keep(c, aclCreateTensor(o->dims, (uint64_t)o->rank, o->desc->dtype, NULL, 0, format, storage,
                       (uint64_t)rank, address));
}

aclTensor *mock_named_temp(mock_named_call *c, aclDataType type, int rank, const int64_t *dims) {
    uint64_t bytes = mock_dtype_size(type);
    for (int i = 0; i < rank; i++) bytes *= (uint64_t)dims[i];
    void *memory = c->code != 0 ? NULL : allocate(c, bytes);
    if (memory == NULL) return NULL;
    return keep(
        c, aclCreateTensor(dims, (uint64_t)rank, type, NULL, 0, ACL_FORMAT_ND, dims, (uint64_t)rank, memory));
}

aclTensor *mock_named_view(mock_named_call *c, const mock_named_operand *o, int rank, const int64_t *dims,
    const int64_t *strides, int64_t offset) {
    const mock_tensor *t = c->code != 0 ? NULL : mock_object_get(MOCK_OBJECT_TENSOR, o->tensor);
    if (t == NULL) return NULL;
    return keep(c, aclCreateTensor(dims, (uint64_t)rank, t->view.dtype, strides, offset, ACL_FORMAT_ND, o->dims,
                       (uint64_t)o->rank, t->view.address));
}

/* ---- operands as tensors ---- */

static aclnnStatus enough(mock_named_call *c, const mock_named_operand *o, aclError code, const char *what,
    int index, uint64_t count, size_t bytes) {
    const size_t size = mock_dtype_size(o->desc->dtype);
    if (size == 0)
        return mock_named_fail(
            c, ACL_ERROR_UNSUPPORTED_DATA_TYPE, "%s %d has data type %d", what, index, (int)o->desc->dtype);
    if (count > UINT64_MAX / 16 || bytes < count * size)
        return mock_named_fail(c, code, "%s %d has %zu bytes, its shape takes %llu", what, index, bytes,
            (unsigned long long)(count * size));
    if (count != 0 && o->address == NULL && o->host == NULL)
        return mock_named_fail(c, code, "%s %d is null", what, index);
    return 0;
}

static aclnnStatus upload(mock_named_call *c, mock_named_operand *o) {
    void *memory = allocate(c, o->host_bytes);
    if (memory == NULL) return ACLNN_ERR_INNER;
    mock_views_take();
    memcpy(mock_device_view(memory, o->host_bytes), o->host, o->host_bytes);
    mock_views_give();
    o->address = memory;
    o->bytes = o->host_bytes;
    return 0;
}

/* Where the descriptor has the storage's dimensions alone, those of the elements are the other side's. */
static void other_side(mock_named_call *c, mock_named_operand *o, int64_t *storage, int *rank, bool output) {
    const mock_desc_shape *told = &o->desc->storage;
    const mock_named_operand *other = output ? &c->inputs[0] : &c->outputs[0];
    *rank = (int)(told->count != 0 ? told->count : o->desc->dims.count);
    if (*rank > MOCK_MAX_RANK) *rank = 0;
    memcpy(storage, told->count != 0 ? told->values : o->desc->dims.values, (size_t)*rank * sizeof *storage);
    const bool alone = o->desc->storage_format == ACL_FORMAT_UNDEFINED;
    const bool given = other->desc != NULL && other->known && plain(stored_format(other->desc));
    if (!alone || !given) return;
    o->rank = other->rank;
    memcpy(o->dims, other->dims, sizeof o->dims);
}

static aclnnStatus take_blocks(
    mock_named_call *c, mock_named_operand *o, bool output, aclError code, int index) {
    const aclFormat format = stored_format(o->desc);
    const char *what = output ? "output" : "input";
    int64_t storage[MOCK_MAX_RANK];
    mock_blocked l;
    int rank;
    if (!mock_blocked_format(format))
        return mock_named_fail(c, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
            "%s %d has format %d, which is not supported by mock-acl", what, index, (int)format);
    other_side(c, o, storage, &rank, output);
    const size_t size = mock_dtype_size(o->desc->dtype);
    if (rank == 0 || !mock_blocked_lay(&l, format, size, o->dims, o->rank, storage[rank - 1]) ||
        !mock_blocked_is(&l, storage, (size_t)rank))
        return mock_named_fail(c, code, "the storage shape of %s %d does not fit its shape and format %d", what,
            index, (int)format);
    if (enough(c, o, code, what, index, (uint64_t)l.count, o->bytes) != 0) return ACLNN_ERR_PARAM_INVALID;
    o->stored = make(c, o, format, storage, rank, o->address);
    o->tensor = mock_named_temp(c, o->desc->dtype, o->rank, o->dims);
    if (o->tensor == NULL || o->stored == NULL) return ACLNN_ERR_INNER;
    return output ? 0 : MOCK_STEP(c, aclnnNpuFormatCast, o->stored, o->tensor);
}

static aclnnStatus make_tensor(mock_named_call *c, mock_named_operand *o, bool output, int index) {
    const aclError code = output ? ACL_ERROR_OP_OUTPUT_NOT_MATCH : ACL_ERROR_OP_INPUT_NOT_MATCH;
    const char *what = output ? "output" : "input";
    size_t count = 0;
    if (o->absent) return 0;
    if (!o->known) return mock_named_fail(c, code, "the shape of %s %d is not known", what, index);
    if (output && o->host != NULL) return mock_named_fail(c, code, "output %d is not in device memory", index);
    if (!plain(stored_format(o->desc))) return take_blocks(c, o, output, code, index);
    if (!mock_elements((size_t)o->rank, o->dims, &count)) count = SIZE_MAX;
    if (enough(c, o, code, what, index, count, o->host != NULL ? o->host_bytes : o->bytes) != 0)
        return ACLNN_ERR_PARAM_INVALID;
    if (o->host != NULL && upload(c, o) != 0) return ACLNN_ERR_INNER;
    const aclFormat format = o->desc->format == ACL_FORMAT_UNDEFINED ? ACL_FORMAT_ND : o->desc->format;
    o->tensor = make(c, o, format, o->dims, o->rank, o->address);
    return o->tensor == NULL ? ACLNN_ERR_INNER : 0;
}

aclnnStatus mock_named_inputs(mock_named_call *c) {
    aclnnStatus status = 0;
    for (int i = 0; i < c->input_count && status == 0; i++) status = make_tensor(c, &c->inputs[i], false, i);
    return status;
}

aclnnStatus mock_named_outputs(mock_named_call *c) {
    aclnnStatus status = 0;
    for (int i = 0; i < c->output_count && status == 0; i++) status = make_tensor(c, &c->outputs[i], true, i);
    return status;
}

aclnnStatus mock_named_store(mock_named_call *c) {
    aclnnStatus status = 0;
    for (int i = 0; i < c->output_count && status == 0; i++) {
        const mock_named_operand *o = &c->outputs[i];
        if (o->stored != NULL) status = MOCK_STEP(c, aclnnNpuFormatCast, o->tensor, o->stored);
    }
    return status;
}

void mock_named_release(mock_named_call *c) {
    while (c->object_count > 0) {
        c->object_count--;
        c->destroy[c->object_count](c->objects[c->object_count]);
    }
}
