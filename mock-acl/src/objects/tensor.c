/* aclTensor: a strided view of device memory that the program owns.
 *
 * Strides of null mean contiguous (own choice). Negative sizes, strides and offsets, more than 8
 * dimensions, unknown types and formats, and shapes beyond 63 bits of bytes are refused (own choice). An
 * address may be null until a kernel uses it. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "objects/dtype.h"
#include "objects/object.h"
#include "objects/objects.h"
#include "objects/public.h"
#include "objects/slab.h"

typedef struct tensor_args {
    const int64_t *dims;
    uint64_t rank;
    aclDataType dtype;
    const int64_t *strides;
    int64_t offset;
    aclFormat format;
    const int64_t *storage;
    uint64_t storage_rank;
    void *address;
} tensor_args;

static bool format_known(aclFormat format) {
    switch (format) {
        case ACL_FORMAT_UNDEFINED: case ACL_FORMAT_NCHW: case ACL_FORMAT_NHWC: case ACL_FORMAT_ND:
        case ACL_FORMAT_NC1HWC0: case ACL_FORMAT_FRACTAL_Z: case ACL_FORMAT_NC1HWC0_C04: case ACL_FORMAT_HWCN:
        case ACL_FORMAT_NDHWC: case ACL_FORMAT_FRACTAL_NZ: case ACL_FORMAT_NCDHW: case ACL_FORMAT_NDC1HWC0:
        case ACL_FRACTAL_Z_3D: case ACL_FORMAT_NC: case ACL_FORMAT_NCL: case ACL_FORMAT_FRACTAL_NZ_C0_16:
        case ACL_FORMAT_FRACTAL_NZ_C0_32: case ACL_FORMAT_FRACTAL_NZ_C0_2: case ACL_FORMAT_FRACTAL_NZ_C0_4:
        case ACL_FORMAT_FRACTAL_NZ_C0_8:
            return true;
    }
    return false;
}

static aclnnStatus check_args(const char *function, const tensor_args *a) {
    if (a->rank > MOCK_MAX_RANK || a->storage_rank > MOCK_MAX_RANK) {
        return mock_bad_parameter(function, "%llu view and %llu storage dimensions, at most %d are supported",
            (unsigned long long)a->rank, (unsigned long long)a->storage_rank, MOCK_MAX_RANK);
    }
    if (a->dims == NULL && a->rank != 0) return mock_null_parameter(function, "viewDims");
    if (a->storage == NULL && a->storage_rank != 0) return mock_null_parameter(function, "storageDims");
    if (mock_dtype_info(a->dtype) == NULL) {
        return mock_bad_parameter(function, "dataType %d is not a data type", (int)a->dtype);
    }
    if (!format_known(a->format)) {
        return mock_bad_parameter(function, "format %d is not a format", (int)a->format);
    }
    if (a->offset < 0) return mock_bad_parameter(function, "offset %lld is negative", (long long)a->offset);
    for (uint64_t i = 0; i < a->rank; i++) {
        if (a->dims[i] < 0) {
            return mock_bad_parameter(function, "viewDims[%d] is %lld", (int)i, (long long)a->dims[i]);
        }
        if (a->strides != NULL && a->strides[i] < 0) {
            return mock_bad_parameter(function, "stride[%d] is %lld", (int)i, (long long)a->strides[i]);
        }
    }
    for (uint64_t i = 0; i < a->storage_rank; i++) {
        if (a->storage[i] < 0) {
            return mock_bad_parameter(function, "storageDims[%d] is %lld", (int)i, (long long)a->storage[i]);
        }
    }
    return 0;
}

/* Dims, strides and span; false when the byte range does not fit in 63 bits. */
static bool fill_view(mock_view *v, const tensor_args *a) {
    const int64_t limit = INT64_MAX / 16;
    int64_t dense = 1;
    int64_t last = 0;
    bool empty = false;
    bool fits = a->offset <= limit;
    for (uint64_t i = a->rank; i-- > 0;) {
        const int64_t dim = a->dims[i];
        const int64_t stride = a->strides != NULL ? a->strides[i] : dense;
        int64_t reach;
        v->dims[i] = dim;
        v->strides[i] = stride;
        if (dim == 0) empty = true;
        if (dim > 1) {
            fits = fits && !__builtin_mul_overflow(dense, dim, &dense) && dense <= limit;
            fits = fits && !__builtin_mul_overflow(dim - 1, stride, &reach);
            fits = fits && !__builtin_add_overflow(last, reach, &last) && last <= limit - a->offset;
        }
        if (!fits) return false;
    }
    v->span = empty ? 0 : last + 1;
    v->rank = (uint8_t)a->rank;
    v->dtype = a->dtype;
    v->offset = a->offset;
    v->address = a->address;
    v->role = 0;
    v->absent = false;
    v->list = false;
    v->width = 0;
    v->turned = false;
    return true;
}

static aclnnStatus fill_tensor(const char *function, mock_tensor *t, const tensor_args *a) {
    const aclnnStatus status = check_args(function, a);
    if (status != 0) return status;
    if (!fill_view(&t->view, a)) return mock_bad_parameter(function, "the shape does not fit in memory");
    for (uint64_t i = 0; i < a->storage_rank; i++) t->storage[i] = a->storage[i];
    t->storage_rank = (uint8_t)a->storage_rank;
    t->format = a->format;
    return 0;
}

static mock_tensor *get_tensor(const char *function, const aclTensor *tensor, aclnnStatus *status) {
    mock_tensor *t = mock_object_get(MOCK_OBJECT_TENSOR, tensor);
    *status = 0;
    if (tensor == NULL) *status = mock_null_parameter(function, "tensor");
    else if (t == NULL) *status = mock_bad_parameter(function, "tensor is not a live aclTensor");
    return t;
}

aclTensor *aclCreateTensor(
    const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t *stride,
    int64_t offset, aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData) {
    MOCK_ENTER_PTR(aclCreateTensor);
    const tensor_args args = {
        viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum, tensorData};
    mock_tensor *t = mock_slab_take(MOCK_SLAB_TENSOR);
    if (t == NULL) return NULL;
    if (fill_tensor("aclCreateTensor", t, &args) == 0) {
        void *handle = mock_object_new(MOCK_OBJECT_TENSOR, t);
        if (handle != NULL) return handle;
    }
    mock_slab_give(MOCK_SLAB_TENSOR, t);
    return NULL;
}

aclnnStatus aclInitTensor(
    aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
    const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storageDims,
    uint64_t storageDimsNum, void *tensorDataAddr) {
    MOCK_ENTER_OF(aclInitTensor, tensor);
    aclnnStatus status;
    mock_tensor *t = get_tensor("aclInitTensor", tensor, &status);
    if (t == NULL) return status;
    const tensor_args args = {
        viewDims, viewDimsNum, dataType, stride, offset, format, storageDims, storageDimsNum, tensorDataAddr};
    mock_tensor fresh = {.slot = t->slot};
    status = fill_tensor("aclInitTensor", &fresh, &args);
    if (status == 0) *t = fresh;
    return status;
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor) {
    MOCK_ENTER_OF(aclDestroyTensor, tensor);
    if (tensor == NULL) return 0;
    mock_tensor *t = mock_object_take(MOCK_OBJECT_TENSOR, tensor);
    if (t == NULL) {
        get_tensor("aclDestroyTensor", tensor, &(aclnnStatus){0});
        return ACLNN_ERR_PARAM_INVALID;
    }
    mock_slab_give(MOCK_SLAB_TENSOR, t);
    return 0;
}

/* A getter of one field. */
#define GETTER(FUNCTION, TYPE, OUT, EXPR)                        \
    aclnnStatus FUNCTION(const aclTensor *tensor, TYPE *OUT) {   \
        MOCK_ENTER_OF(FUNCTION, tensor);                         \
        aclnnStatus status;                                      \
        mock_tensor *t = get_tensor(#FUNCTION, tensor, &status); \
        if (t == NULL) return status;                            \
        if (OUT == NULL) return mock_null_parameter(#FUNCTION, #OUT); \
        *OUT = (EXPR);                                           \
        return 0;                                                \
    }

GETTER(aclGetDataType, aclDataType, dataType, (aclDataType)t->view.dtype)
GETTER(aclGetFormat, aclFormat, format, t->format)
GETTER(aclGetRawTensorAddr, void *, addr, t->view.address)
GETTER(aclGetViewOffset, int64_t, offset, t->view.offset)

/* The caller owns the copy and releases it with free() (own choice: a copy that outlives the tensor). */
static aclnnStatus copy_out(
    const char *function, const int64_t *values, uint64_t count, int64_t **out, uint64_t *out_count) {
    int64_t *copy = malloc((count + 1) * sizeof *copy);
    if (copy == NULL) return mock_bad_parameter(function, "out of memory");
    if (count != 0) memcpy(copy, values, count * sizeof *copy);
    *out = copy;
    *out_count = count;
    return 0;
}

#define ARRAY_GETTER(FUNCTION, OUT, COUNT, VALUES, RANK)                                   \
    aclnnStatus FUNCTION(const aclTensor *tensor, int64_t **OUT, uint64_t *COUNT) {        \
        MOCK_ENTER_OF(FUNCTION, tensor);                                                   \
        aclnnStatus status;                                                                \
        mock_tensor *t = get_tensor(#FUNCTION, tensor, &status);                           \
        if (t == NULL) return status;                                                      \
        if (OUT == NULL) return mock_null_parameter(#FUNCTION, #OUT);                      \
        if (COUNT == NULL) return mock_null_parameter(#FUNCTION, #COUNT);                  \
        return copy_out(#FUNCTION, VALUES, RANK, OUT, COUNT);                              \
    }

ARRAY_GETTER(aclGetViewShape, viewDims, viewDimsNum, t->view.dims, t->view.rank)
ARRAY_GETTER(aclGetViewStrides, stridesValue, stridesNum, t->view.strides, t->view.rank)
ARRAY_GETTER(aclGetStorageShape, storageDims, storageDimsNum, t->storage, t->storage_rank)

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr) {
    MOCK_ENTER_OF(aclSetRawTensorAddr, tensor, addr);
    aclnnStatus status;
    mock_tensor *t = get_tensor("aclSetRawTensorAddr", tensor, &status);
    if (t != NULL) t->view.address = addr;
    return status;
}
