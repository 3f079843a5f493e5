/* Tensor descriptors: made, read, changed (guide: data types and their operations, aclTensorDesc; codes
 * and the answers to null: implementation of the open graph engine). They hold no device memory. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "acl/error_codes/ge_error_codes.h"
#include "base/base.h"
#include "models/models.h"
#include "models/tensor_desc.h"

static void drop(void *thing) {
    mock_tensor_desc *d = thing;
    free(d->dims.values);
    free(d->storage.values);
    free(d->ranges.values);
    free(d->values.values);
    free(d->name);
    free(d->dynamic_input);
    free(d->constant);
}

static const mock_thing_type desc_type = {"aclTensorDesc", drop};

static aclError no_memory(void) {
    return mock_fail(ACL_ERROR_BAD_ALLOC, "EE1013", "no host memory for a tensor descriptor");
}

static aclError mock_shape_set(mock_desc_shape *shape, size_t count, const int64_t *values) {
    int64_t *fresh = NULL;
    if (count != 0) {
        fresh = malloc(count * sizeof *fresh);
        if (fresh == NULL) return no_memory();
        memcpy(fresh, values, count * sizeof *fresh);
    }
    free(shape->values);
    *shape = (mock_desc_shape){count, fresh};
    return 0;
}

static aclError ranges_set(mock_ranges *ranges, size_t count, int64_t (*values)[2]) {
    int64_t(*fresh)[2] = NULL;
    if (count != 0) {
        fresh = malloc(count * sizeof *fresh);
        if (fresh == NULL) return no_memory();
        memcpy(fresh, values, count * sizeof *fresh);
    }
    free(ranges->values);
    *ranges = (mock_ranges){count, fresh};
    return 0;
}

static aclError text_set(char **text, const char *value) {
    char *fresh = value == NULL ? NULL : strdup(value);
    if (value != NULL && fresh == NULL) return no_memory();
    free(*text);
    *text = fresh;
    return 0;
}

mock_tensor_desc *mock_tensor_desc_get(const aclTensorDesc *handle) {
    return mock_thing_get(&desc_type, handle);
}

void mock_tensor_desc_free(const aclTensorDesc *handle) {
    if (handle != NULL) mock_thing_destroy(&desc_type, handle, "desc");
}

mock_tensor_desc *mock_tensor_desc_new(aclDataType dtype, size_t count, const int64_t *dims,
    aclFormat format) {
    mock_tensor_desc *d = mock_thing_new(&desc_type, sizeof *d);
    if (d == NULL) return NULL;
    d->dtype = dtype;
    d->format = format;
    d->storage_format = ACL_FORMAT_UNDEFINED;
    if (mock_shape_set(&d->dims, count, dims) == 0) return d;
    mock_tensor_desc_free(d->thing.handle);
    return NULL;
}

mock_tensor_desc *mock_tensor_desc_copy(const mock_tensor_desc *from) {
    mock_tensor_desc *d = mock_tensor_desc_new(from->dtype, from->dims.count, from->dims.values,
        from->format);
    if (d == NULL) return NULL;
    d->storage_format = from->storage_format;
    d->placement = from->placement;
    d->address = from->address;
    aclError code = mock_shape_set(&d->storage, from->storage.count, from->storage.values);
    if (code == 0) code = ranges_set(&d->ranges, from->ranges.count, from->ranges.values);
    if (code == 0) code = ranges_set(&d->values, from->values.count, from->values.values);
    if (code == 0) code = text_set(&d->name, from->name);
    if (code == 0) code = text_set(&d->dynamic_input, from->dynamic_input);
    if (code == 0 && from->constant != NULL) {
        d->constant = malloc(from->constant_size);
        if (d->constant == NULL) code = no_memory();
        else memcpy(d->constant, from->constant, from->constant_size);
        d->constant_size = from->constant_size;
    }
    if (code == 0) return d;
    mock_tensor_desc_free(d->thing.handle);
    return NULL;
}

aclError mock_tensor_desc_reshape(mock_tensor_desc *desc, size_t count, const int64_t *dims) {
    return mock_shape_set(&desc->dims, count, dims);
}

/* A negative count, and null dimensions where some are said to be: NULL. More than 128: NULL too (own
 * choice: header ACL_MAX_DIM_CNT; the real one reads as many as it is told to). Types and formats are
 * taken as they are. */
static bool counted(int numDims, const int64_t *dims, const char *call) {
    if (numDims >= 0 && numDims <= MOCK_DESC_DIMS && (numDims == 0 || dims != NULL)) return true;
    mock_invalid("%s: %d dimensions at %p", call, numDims, (const void *)dims);
    return false;
}

MOCK_EXPORT aclTensorDesc *aclCreateTensorDesc(
    aclDataType dataType, int numDims, const int64_t *dims, aclFormat format) {
    MOCK_ENTER_PTR(aclCreateTensorDesc);
    if (!counted(numDims, dims, "aclCreateTensorDesc")) return NULL;
    const mock_tensor_desc *d = mock_tensor_desc_new(dataType, (size_t)numDims, dims, format);
    return d == NULL ? NULL : d->thing.handle;
}

MOCK_EXPORT void aclDestroyTensorDesc(const aclTensorDesc *desc) {
    if (mock_enter(MOCK_API_aclDestroyTensorDesc) == 0) mock_tensor_desc_free(desc);
}

/* ---- what it says ---- */

static const mock_tensor_desc *reading(mock_api api, const aclTensorDesc *desc) {
    void *found = NULL;
    if (mock_enter(api) != 0 || mock_thing_find(&desc_type, desc, "desc", &found) != 0) return NULL;
    return found;
}

MOCK_EXPORT aclDataType aclGetTensorDescType(const aclTensorDesc *desc) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescType, desc);
    return d == NULL ? ACL_DT_UNDEFINED : d->dtype;
}

MOCK_EXPORT aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescFormat, desc);
    return d == NULL ? ACL_FORMAT_UNDEFINED : d->format;
}

bool mock_elements(size_t count, const int64_t *dims, size_t *elements) {
    size_t n = 1;
    for (size_t i = 0; i < count; i++)
        if (dims[i] < 0 || __builtin_mul_overflow(n, (size_t)dims[i], &n)) return false;
    *elements = n;
    return true;
}

/* No dimensions: one element. An unknown one, or more than 64 bits: 0. */
MOCK_EXPORT size_t aclGetTensorDescElementCount(const aclTensorDesc *desc) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescElementCount, desc);
    size_t n = 0;
    return d != NULL && mock_elements(d->dims.count, d->dims.values, &n) ? n : 0;
}

MOCK_EXPORT size_t aclGetTensorDescSize(const aclTensorDesc *desc) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescSize, desc);
    size_t n = 0, bytes = 0;
    if (d == NULL || !mock_elements(d->dims.count, d->dims.values, &n)) return 0;
    return __builtin_mul_overflow(n, mock_dtype_bytes(d->dtype), &bytes) ? 0 : bytes;
}

MOCK_EXPORT size_t aclGetTensorDescNumDims(const aclTensorDesc *desc) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescNumDims, desc);
    if (d == NULL) return 0;
    if (d->dims.count > 0 && d->dims.values[0] == MOCK_RANK_UNKNOWN) return (size_t)ACL_UNKNOWN_RANK;
    return d->dims.count;
}

MOCK_EXPORT int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescDim, desc);
    if (d != NULL && index < d->dims.count) return d->dims.values[index];
    if (d != NULL) mock_invalid("dimension %zu of %zu", index, d->dims.count);
    return -1;
}

MOCK_EXPORT aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index, int64_t *dimSize) {
    MOCK_ENTER(aclGetTensorDescDimV2);
    void *found = NULL;
    const aclError code = mock_thing_find(&desc_type, desc, "desc", &found);
    if (code != 0) return code;
    const mock_tensor_desc *d = found;
    if (dimSize == NULL) return mock_null("dimSize");
    if (index >= d->dims.count) return mock_invalid("dimension %zu of %zu", index, d->dims.count);
    *dimSize = d->dims.values[index];
    return 0;
}

MOCK_EXPORT aclError aclGetTensorDescDimRange(
    const aclTensorDesc *desc, size_t index, size_t dimRangeNum, int64_t *dimRange) {
    MOCK_ENTER(aclGetTensorDescDimRange);
    void *found = NULL;
    const aclError code = mock_thing_find(&desc_type, desc, "desc", &found);
    if (code != 0) return code;
    const mock_tensor_desc *d = found;
    if (dimRange == NULL) return mock_null("dimRange");
    if (index >= d->ranges.count) return mock_invalid("range %zu of %zu", index, d->ranges.count);
    if (dimRangeNum < ACL_TENSOR_SHAPE_RANGE_NUM) return mock_invalid("dimRangeNum %zu, 2 needed",
        dimRangeNum);
    memcpy(dimRange, d->ranges.values[index], 2 * sizeof *dimRange);
    return 0;
}

/* No descriptor, no name: "". */
MOCK_EXPORT const char *aclGetTensorDescName(aclTensorDesc *desc) {
    const bool failed = mock_enter(MOCK_API_aclGetTensorDescName) != 0;
    const mock_tensor_desc *d = failed ? NULL : mock_tensor_desc_get(desc);
    return d == NULL || d->name == NULL ? "" : d->name;
}

MOCK_EXPORT void *aclGetTensorDescAddress(const aclTensorDesc *desc) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescAddress, desc);
    return d == NULL ? NULL : d->address;
}

/* Only lists of descriptors, which the mock never makes, have a second one: else NULL (own choice: the
 * real one adds to the pointer, whatever it finds there). */
MOCK_EXPORT aclTensorDesc *aclGetTensorDescByIndex(aclTensorDesc *desc, size_t index) {
    const mock_tensor_desc *d = reading(MOCK_API_aclGetTensorDescByIndex, desc);
    if (d != NULL && index == 0) return desc;
    if (d != NULL) mock_invalid("descriptor %zu of 1", index);
    return NULL;
}

/* ---- changing it ---- */

#define FIND_DESC(d, desc)                                               \
    void *d##_found = NULL;                                              \
    const aclError d##_code = mock_thing_find(&desc_type, desc, "desc", &d##_found); \
    if (d##_code != 0) return d##_code;                                  \
    mock_tensor_desc *d = d##_found

MOCK_EXPORT void aclSetTensorDescName(aclTensorDesc *desc, const char *name) {
    void *found = NULL;
    if (mock_enter(MOCK_API_aclSetTensorDescName) != 0 ||
        mock_thing_find(&desc_type, desc, "desc", &found) != 0)
        return;
    text_set(&((mock_tensor_desc *)found)->name, name);
}

/* These three take null without a word. */
MOCK_EXPORT aclError aclSetTensorStorageFormat(aclTensorDesc *desc, aclFormat format) {
    MOCK_ENTER(aclSetTensorStorageFormat);
    mock_tensor_desc *d = mock_tensor_desc_get(desc);
    if (d != NULL) d->storage_format = format;
    return 0;
}

/* The storage format, not the format: that is aclSetTensorOriginFormat's. */
MOCK_EXPORT aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format) {
    MOCK_ENTER(aclSetTensorFormat);
    mock_tensor_desc *d = mock_tensor_desc_get(desc);
    if (d != NULL) d->storage_format = format;
    return 0;
}

MOCK_EXPORT aclError aclSetTensorOriginFormat(aclTensorDesc *desc, aclFormat format) {
    MOCK_ENTER(aclSetTensorOriginFormat);
    mock_tensor_desc *d = mock_tensor_desc_get(desc);
    if (d != NULL) d->format = format;
    return 0;
}

/* Null dimensions: 100000, also for none of them. A negative count leaves none; more than 128: 100000
 * (own choice). */
static aclError set_shape(const aclTensorDesc *desc, int numDims, const int64_t *dims, bool storage) {
    FIND_DESC(d, desc);
    if (dims == NULL) return mock_null("dims");
    if (numDims > MOCK_DESC_DIMS) return mock_invalid("%d dimensions, at most %d", numDims, MOCK_DESC_DIMS);
    return mock_shape_set(storage ? &d->storage : &d->dims, numDims < 0 ? 0 : (size_t)numDims, dims);
}

MOCK_EXPORT aclError aclSetTensorStorageShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
    MOCK_ENTER(aclSetTensorStorageShape);
    return set_shape(desc, numDims, dims, true);
}

/* The storage shape, not the shape: that is aclSetTensorOriginShape's. */
MOCK_EXPORT aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
    MOCK_ENTER(aclSetTensorShape);
    return set_shape(desc, numDims, dims, true);
}

MOCK_EXPORT aclError aclSetTensorOriginShape(aclTensorDesc *desc, int numDims, const int64_t *dims) {
    MOCK_ENTER(aclSetTensorOriginShape);
    return set_shape(desc, numDims, dims, false);
}

/* Null ranges where some are said to be, and more than 128: 100000 (own choice: a crash there). */
static aclError set_ranges(
    const aclTensorDesc *desc, size_t count, int64_t (*ranges)[2], bool values, const char *param) {
    FIND_DESC(d, desc);
    if (count != 0 && ranges == NULL) return mock_null(param);
    if (count > MOCK_DESC_DIMS) return mock_invalid("%zu of %s, at most %d", count, param, MOCK_DESC_DIMS);
    return ranges_set(values ? &d->values : &d->ranges, count, ranges);
}

MOCK_EXPORT aclError aclSetTensorShapeRange(aclTensorDesc *desc, size_t dimsCount, int64_t dimsRange[][2]) {
    MOCK_ENTER(aclSetTensorShapeRange);
    return set_ranges(desc, dimsCount, dimsRange, false, "dimsRange");
}

MOCK_EXPORT aclError aclSetTensorValueRange(aclTensorDesc *desc, size_t valueCount, int64_t valueRange[][2]) {
    MOCK_ENTER(aclSetTensorValueRange);
    return set_ranges(desc, valueCount, valueRange, true, "valueRange");
}

MOCK_EXPORT aclError aclSetTensorDynamicInput(aclTensorDesc *desc, const char *dynamicInputName) {
    MOCK_ENTER(aclSetTensorDynamicInput);
    FIND_DESC(d, desc);
    if (dynamicInputName == NULL) return mock_null("dynamicInputName");
    return text_set(&d->dynamic_input, dynamicInputName);
}

/* The bytes are copied; they are host memory. */
MOCK_EXPORT aclError aclSetTensorConst(aclTensorDesc *desc, void *dataBuffer, size_t length) {
    MOCK_ENTER(aclSetTensorConst);
    FIND_DESC(d, desc);
    if (dataBuffer == NULL || length == 0) return mock_null("dataBuffer and length");
    void *fresh = malloc(length);
    if (fresh == NULL) return no_memory();
    memcpy(fresh, dataBuffer, length);
    free(d->constant);
    d->constant = fresh;
    d->constant_size = length;
    return 0;
}

/* Any value is kept, and not looked at (implementation of the open graph engine). */
MOCK_EXPORT aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType) {
    MOCK_ENTER(aclSetTensorPlaceMent);
    FIND_DESC(d, desc);
    d->placement = memType;
    return 0;
}

/* ---- the shape in another format ---- */

/* Where N, C, H and W stand in the plain formats of four dimensions. */
static const char *order_of(aclFormat format) {
    switch (format) {
    case ACL_FORMAT_NCHW:
        return "NCHW";
    case ACL_FORMAT_NHWC:
        return "NHWC";
    case ACL_FORMAT_HWCN:
        return "HWCN";
    default:
        return NULL;
    }
}

static int64_t axis(const mock_tensor_desc *d, const char *order, char name) {
    return d->dims.values[strchr(order, name) - order];
}

static int64_t blocks(int64_t n, int64_t size) { return n / size + (n % size != 0); }

/* C0 is 32 for one byte, else 16 (guide: formats). */
static size_t in_format(const mock_tensor_desc *d, aclFormat to, int64_t *out) {
    const char *from_order = order_of(d->format), *to_order = order_of(to);
    const int64_t c0 = mock_dtype_bytes(d->dtype) == 1 ? 32 : 16;
    const size_t n = d->dims.count;
    if (to == d->format) {
        if (n != 0) memcpy(out, d->dims.values, n * sizeof *out);
        return n;
    }
    if (from_order != NULL && n == 4 && to_order != NULL) {
        for (int i = 0; i < 4; i++) out[i] = axis(d, from_order, to_order[i]);
        return 4;
    }
    if (from_order != NULL && n == 4 && to == ACL_FORMAT_NC1HWC0) {
        out[0] = axis(d, from_order, 'N');
        out[1] = blocks(axis(d, from_order, 'C'), c0);
        out[2] = axis(d, from_order, 'H');
        out[3] = axis(d, from_order, 'W');
        out[4] = c0;
        return 5;
    }
    if (d->format == ACL_FORMAT_ND && n >= 2 && n < MOCK_DESC_DIMS - 2 && to == ACL_FORMAT_FRACTAL_NZ) {
        memcpy(out, d->dims.values, (n - 2) * sizeof *out);
        out[n - 2] = blocks(d->dims.values[n - 1], c0);
        out[n - 1] = blocks(d->dims.values[n - 2], 16);
        out[n] = 16;
        out[n + 1] = c0;
        return n + 2;
    }
    return SIZE_MAX;
}

/* The new descriptor keeps the old format's name. Pairs of formats: plain ones among each other and to
 * NC1HWC0, ND to FRACTAL_NZ; others and unknown sizes give 145020 (header: ACL_ERROR_GE_FORMAT_INVALID;
 * own choice which). */
MOCK_EXPORT aclError aclTransTensorDescFormat(
    const aclTensorDesc *srcDesc, aclFormat dstFormat, aclTensorDesc **dstDesc) {
    MOCK_ENTER(aclTransTensorDescFormat);
    FIND_DESC(d, srcDesc);
    if (dstDesc == NULL) return mock_null("dstDesc");
    int64_t dims[MOCK_DESC_DIMS];
    size_t elements = 0;
    const bool known = mock_elements(d->dims.count, d->dims.values, &elements);
    const size_t n = known ? in_format(d, dstFormat, dims) : SIZE_MAX;
    if (n == SIZE_MAX)
        return mock_fail((aclError)ACL_ERROR_GE_FORMAT_INVALID, "EE4001",
            "format %d of %zu dimensions to format %d",
            (int)d->format, d->dims.count, (int)dstFormat);
    const mock_tensor_desc *fresh = mock_tensor_desc_new(d->dtype, n, dims, d->format);
    if (fresh == NULL) return ACL_ERROR_BAD_ALLOC;
    *dstDesc = fresh->thing.handle;
    return 0;
}
